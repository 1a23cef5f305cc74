"""Metacognition: whether an approach is working, and whether a rule should still be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

import numpy as np

from priming.config.values import dataclass
from priming.errors import ParamError

WINDOW = 5
"""The latest deliberate judgements of a rule that are considered."""
OVERRIDDEN = 4
"""How many of them must be ``overridden``."""
_PIVOT_FAILURES = 3
"""The failures in a row for ``pivot_now`` (Arc)."""
_LOW_RATE = 0.4
"""The success rate below which to consider a pivot (Arc)."""
_LOW_RATE_TASKS = 2
"""The least number of tasks for a success rate (Arc)."""
_DIGITS = 3
"""The decimals of the reported rate."""

OUTCOMES = {"success": True, "failure": False}


@dataclass(frozen=True, slots=True)
class Assessment:
    """How a session is going.

    ``state`` is failing, struggling, healthy or no_data; ``advice`` pivot_now, consider_pivot, slow_down
    or keep_going; ``success_rate`` in [0, 1], None without outcomes; ``confidence`` high or medium.
    """

    state: str
    advice: str
    success_rate: float | None
    confidence: str
    consecutive_failures: int


def assess(outcomes: Iterable[bool | str]) -> Assessment:
    """Assess a run of tasks: whether to go on, slow down, or try something else.

    The first that holds decides:

        no outcomes                          no_data      keep_going
        ≥ 3 failures at the end              failing      pivot_now
        success rate < .4 of ≥ 2 tasks       struggling   consider_pivot
        ≥ 1 failure at the end               struggling   slow_down
        else                                 healthy      keep_going

    Parameters
    ----------
    outcomes : oldest first; booleans, or "success" and "failure".

    Returns
    -------
    The assessment, its rate rounded to three decimals (the unrounded one decides); confidence is high for
    failing and healthy, else medium.

    Raises
    ------
    ParamError : an outcome that is none.

    Notes
    -----
    The seed's lesson: after three failures with one approach the fourth attempt fails too.

    Examples
    --------
    >>> assess(["success", "failure", "failure", "failure"]).advice
    'pivot_now'
    >>> assess([True, True, False])
    Assessment(state='struggling', advice='slow_down', success_rate=0.667, confidence='medium', \
consecutive_failures=1)
    """
    results = [_succeeded(outcome) for outcome in outcomes]
    if not results:
        return Assessment("no_data", "keep_going", None, "medium", 0)
    failures = sum(1 for _ in takewhile(lambda ok: not ok, reversed(results)))
    rate = sum(results) / len(results)
    state, advice = _judge(failures, rate, len(results))
    confidence = "high" if state in ("failing", "healthy") else "medium"
    return Assessment(state, advice, round(rate, _DIGITS), confidence, failures)


def _judge(failures: int, rate: float, tasks: int) -> tuple[str, str]:
    if failures >= _PIVOT_FAILURES:
        return "failing", "pivot_now"
    if rate < _LOW_RATE and tasks >= _LOW_RATE_TASKS:
        return "struggling", "consider_pivot"
    if failures:
        return "struggling", "slow_down"
    return "healthy", "keep_going"


def _succeeded(outcome: object) -> bool:
    if isinstance(outcome, (bool, np.bool_)):
        return bool(outcome)
    if isinstance(outcome, str) and outcome in OUTCOMES:
        return OUTCOMES[outcome]
    raise ParamError("outcomes", outcome, "must be true, false, success or failure")


JUDGEMENTS = ("overridden", "confirmed", "silent")


def is_quiet(judgements: Iterable[str]) -> bool:
    """Tell whether a rule with these judgements, oldest first, is to be quiet: mostly overridden recently.

    A rule goes quiet when at least ``overridden`` of the last ``window`` judgements that somebody gave say so, and
    silence since the first of them does not outnumber them. A quiet rule speaks again after the first confirmation.

    Parameters
    ----------
    judgements : each "overridden", "confirmed", or "silent": nobody objected. While a rule is quiet, silence means
        nothing.

    Raises
    ------
    ParamError : another judgement.

    Examples
    --------
    >>> is_quiet(["confirmed"] + 4 * ["overridden"]), is_quiet(4 * ["overridden"] + ["confirmed"])
    (True, False)
    >>> is_quiet(["overridden", "silent", "silent", "silent"] * 4)
    False
    """
    events: list[str] = []
    quiet = False
    for judgement in judgements:
        if judgement not in JUDGEMENTS:
            raise ParamError("judgement", judgement, f"must be one of {', '.join(JUDGEMENTS)}")
        if judgement == "silent" and quiet:
            continue
        events.append(judgement)
        if judgement == "confirmed":
            quiet = False
        elif judgement == "overridden":
            quiet = quiet or _mostly_overridden(events)
    return quiet


def _mostly_overridden(events: Sequence[str]) -> bool:
    stated = [i for i, event in enumerate(events) if event != "silent"][-WINDOW:]
    against = [i for i in stated if events[i] == "overridden"]
    since = events[against[0] :]
    return len(against) >= OVERRIDDEN and since.count("silent") <= since.count("overridden")
