"""What lives came to, in figures; what must hold of them, and that learning is worth it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sitting import Lived
from truth import BESIDE, RIGHT, STALE

from lives import Check

MILLI = 1000


@dataclass(frozen=True, slots=True)
class Expected:
    """What must hold of the lives in which verdicts are learned from."""

    wishes: float = 0.95
    stale: float = 0.02
    spread: float = 0.7
    reached: float = 0.95


@dataclass(frozen=True, slots=True)
class Figures:
    """Some lives, taken together. Shares are of all evenings, tellings or moments of all of them.

    ``wishes``: of the rules in force, evening by evening, those that the user wishes; ``last``: of the last evenings.
    ``stale`` and ``beside``: of the rules whose text was told; ``named`` counts those that were told by name alone.
    ``spread`` counts what came up only by spreading, ``spread_right`` those that were right. ``dropped``: constraints
    that applied and were not told, of ``constraints``; ``reached``: the share of wishes that applied and were told.
    ``links`` are those of the last evenings. Times are milliseconds.
    """

    wishes: float
    last: float
    stale: float
    beside: float
    spread: int
    spread_right: int
    dropped: int
    constraints: int
    reached: float
    tokens: float
    links: float
    hook: float
    slowest: float
    process: float
    corrections: int
    tellings: int
    named: int
    verdicts: Counter[str]

    @property
    def spread_share(self) -> float:
        """The share of what came up only by spreading that was right."""
        return self.spread_right / self.spread if self.spread else 0.0


def figures(lives: Sequence[Lived]) -> Figures:
    """The figures of some lives."""
    lines = [telling for lived in lives for telling in lived.tellings]
    tellings = [telling for telling in lines if telling.has_text]
    judged = Counter(telling.judged for telling in tellings)
    spread = [telling.judged for telling in tellings if telling.spread]
    moments = [moment for lived in lives for moment in lived.moments]
    evenings = [[evening for evening in lived.evenings if evening.rules] for lived in lives]
    constraints = [moment for moment in moments if moment.forbids]
    seconds = sorted(each for lived in lives for times in lived.seconds.values() for each in times)
    return Figures(
        wishes=statistics.mean(_share(evening.rules, evening.wrong) for each in evenings for evening in each),
        last=statistics.mean(_share(each[-1].rules, each[-1].wrong) for each in evenings),
        stale=judged[STALE] / len(tellings),
        beside=judged[BESIDE] / len(tellings),
        spread=len(spread),
        spread_right=spread.count(RIGHT),
        dropped=sum(not moment.told for moment in constraints),
        constraints=len(constraints),
        reached=sum(moment.told for moment in moments) / len(moments),
        tokens=statistics.mean(tokens for lived in lives for tokens in lived.tokens),
        links=statistics.mean(lived.links for lived in lives),
        hook=statistics.median(seconds) * MILLI,
        slowest=seconds[len(seconds) * 99 // 100] * MILLI,
        process=statistics.mean(lived.process for lived in lives) * MILLI,
        corrections=sum(len(lived.learned) for lived in lives),
        tellings=len(tellings),
        named=len(lines) - len(tellings),
        verdicts=sum((lived.verdicts for lived in lives), Counter[str]()),
    )


def _share(rules: int, wrong: Sequence[str]) -> float:
    return 1 - len(wrong) / rules


def checks(on: Figures, off: Figures, expected: Expected) -> list[Check]:
    """What must hold of the lives with learning, and beside those without."""
    return [
        Check(
            "active rules are wishes",
            f"≥ {expected.wishes:.0%}",
            f"{on.wishes:.1%}",
            on.wishes >= expected.wishes,
        ),
        Check(
            "stale rules told",
            f"≤ {expected.stale:.0%} of what is told",
            f"{on.stale:.1%}",
            on.stale <= expected.stale,
        ),
        Check(
            "what spreading brings is right",
            f"some, ≥ {expected.spread:.0%} of it",
            f"{on.spread_right} of {on.spread}",
            on.spread > 0 and on.spread_share >= expected.spread,
        ),
        Check("constraints dropped", "none", f"{on.dropped} of {on.constraints:,}", on.dropped == 0),
        Check(
            "wishes told where they apply",
            f"≥ {expected.reached:.0%}",
            f"{on.reached:.1%}",
            on.reached >= expected.reached,
        ),
        _wins("learning wins on wishes", on, off, lambda each: each.wishes, "{:.1%}"),
        _wins("learning wins on stale rules", on, off, lambda each: -each.stale, "{:.1%}"),
        _wins("learning wins on what spreading brings", on, off, lambda each: each.spread_right, "{:.0f}"),
        _keeps("learning loses no constraint", on, off, lambda each: -each.dropped, "{:.0f}"),
        _keeps("learning loses no wish", on, off, lambda each: each.reached, "{:.1%}"),
        _keeps("learning loses no link", on, off, lambda each: each.links, "{:.0f}"),
        _keeps("learning tells no more tokens", on, off, lambda each: -each.tokens, "{:.0f} a session"),
    ]


def _wins(name: str, on: Figures, off: Figures, better: Callable[[Figures], float], form: str) -> Check:
    """Whether learning is better."""
    return Check(name, "better than without", _both(on, off, better, form), better(on) > better(off))


def _keeps(name: str, on: Figures, off: Figures, better: Callable[[Figures], float], form: str) -> Check:
    """Whether learning is no worse."""
    return Check(name, "no worse than without", _both(on, off, better, form), better(on) >= better(off))


def _both(on: Figures, off: Figures, better: Callable[[Figures], float], form: str) -> str:
    return f"{form.format(abs(better(on)))}, without {form.format(abs(better(off)))}"
