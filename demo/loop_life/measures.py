"""What a life came to, and what must hold of it."""

from __future__ import annotations

from dataclasses import dataclass

from objectives import PRACTISED
from pursuit import Life, Pursued

from lives import Check, none


@dataclass(frozen=True, slots=True)
class Expected:
    """The thresholds."""

    third: float = 0.6
    """Most calls of the third of a kind, as a share of those of the first."""
    beside: float = 0.05
    """Most lessons that are told where they do not apply."""


def of_kind(life: Life, kind: str) -> list[Pursued]:
    """What was pursued of a kind, in order."""
    return [one for one in life.pursued if one.objective.kind == kind]


def practised(life: Life) -> list[str]:
    """The practised kinds of a life."""
    return [kind for kind in PRACTISED if of_kind(life, kind)]


def tellings(life: Life) -> tuple[int, list[str]]:
    """How many lessons were told, each once an objective, and those that another kind of work had taught."""
    told = [(one, key) for one in life.pursued for key in one.told]
    beside = [
        f"{key} for {one.objective.text!r}" for one, key in told if life.taught.get(key) != one.objective.kind
    ]
    return len(told), beside


def checks(on: Life, off: Life, expected: Expected) -> list[Check]:
    """What must hold with the memory on, and must not happen with it off."""
    return [
        _practice(on, expected),
        _attempts(on),
        _beside(on, expected),
        none("no trap is stepped into", "the first attempt delivers", f"{_misses(on)}", _stepped(on)),
        none(
            "no innocent memory is blamed",
            "no verdict against a lesson",
            f"{len(on.taught)} lessons",
            [*on.failed],
        ),
        none("totals are true", "as the gates say, run again", f"{len(on.pursued)} ends", _untrue(on)),
        none("totals are true without memory", "as the gates say", f"{len(off.pursued)} ends", _untrue(off)),
        _without(off),
    ]


def calls(life: Life, turn: int) -> list[int]:
    """The calls of each practised kind at its first, second … objective."""
    return [of_kind(life, kind)[turn].calls for kind in practised(life)]


def attempts(life: Life, turn: int) -> list[int]:
    """The attempts of each practised kind at its first, second … objective."""
    return [of_kind(life, kind)[turn].acts for kind in practised(life)]


def beside(life: Life) -> list[Pursued]:
    """What was pursued beside the practised kinds: near misses and traps."""
    return [one for one in life.pursued if one.objective.kind not in PRACTISED]


def _practice(life: Life, expected: Expected) -> Check:
    shares = {kind: of_kind(life, kind)[2].calls / of_kind(life, kind)[0].calls for kind in practised(life)}
    worst = max(shares, key=lambda kind: shares[kind])
    return Check(
        "calls fall with practice",
        f"the third of each kind takes ≤ {expected.third:.0%} of the first",
        f"{sum(calls(life, 2))} after {sum(calls(life, 0))}; at most {shares[worst]:.0%} ({worst})",
        shares[worst] <= expected.third,
    )


def _attempts(life: Life) -> Check:
    sums = [sum(attempts(life, turn)) for turn in range(4)]
    return Check(
        "attempts fall with practice",
        "never more than before",
        ", ".join(map(str, sums)),
        sums == sorted(sums, reverse=True) and sums[-1] < sums[0],
    )


def _beside(life: Life, expected: Expected) -> Check:
    told, beside = tellings(life)
    share = len(beside) / told if told else 0.0
    named = f": {beside[0]}" if beside else ""
    return Check(
        "lessons are told where they apply",
        f"≤ {expected.beside:.0%} elsewhere",
        f"{len(beside)} of {told} elsewhere{named}",
        told > 0 and share <= expected.beside,
    )


def _misses(life: Life) -> str:
    return f"{sum(one.objective.kind not in PRACTISED for one in life.pursued)} near misses and traps"


def _stepped(life: Life) -> list[str]:
    return [
        one.objective.text for one in life.pursued if one.objective.kind not in PRACTISED and one.acts != 1
    ]


def _untrue(life: Life) -> list[str]:
    """The ends whose report is not what the gate, the number of calls and the tasks say."""
    wrong = []
    for one in life.pursued:
        delivered = [task.status == "delivered" for task in one.report.tasks]
        tried = sum(len(task.attempts) for task in one.report.tasks)
        share = f"{sum(delivered)} of {len(delivered)} tasks delivered"
        true = all(delivered) is one.passed and (one.report.status == 0) is one.passed
        if not (delivered and true and tried == one.acts and share in one.report.line):
            wrong.append(one.objective.text)
    return wrong


def _without(life: Life) -> Check:
    first, last = sum(calls(life, 0)), sum(calls(life, 3))
    return Check(
        "without memory nothing is learnt",
        "as many calls at the end",
        f"{last} after {first}; lessons told: {tellings(life)[0]}",
        first == last == sum(calls(life, 2)) and not tellings(life)[0],
    )
