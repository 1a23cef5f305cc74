"""How well memories are retained: what uses and reviews leave in them, and what is left of that later (LAWS §3, §4).

A verdict is a review: by FSRS-6 a recall rated good or again, by World Weaver one that succeeded or failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from priming.config.params.laws import ForgettingParams
from priming.config.params.recall import FADING
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_fraction, check_name, check_text
from priming.core.forgetting import (
    GOOD,
    fsrs_retrievability,
    fsrs_update,
    power_retrievability,
    recency_half_life,
)
from priming.core.plasticity import CONSCIOUS
from priming.core.score import priority_score
from priming.errors import ParamError
from priming.learning.feedback import VerdictEffect, followed_path, recalled_in
from priming.learning.retention import days_between, executions, with_use
from priming.maintenance.merge import STATUS_IN_WORDS
from priming.namespace import Namespace
from priming.recall import traces
from priming.results import Fading
from priming.storage.protocol import Trace
from priming.storage.rows import MemoryRow, VerdictRow, use_of
from priming.types import MemoryRecord, Operation

Law = Callable[[Sequence[MemoryRecord], Floats, ForgettingParams], Any]
"""Retrievability of some memories after so many days."""


def fading(memory: Namespace, *, limit: int = 20, below: float | None = None) -> list[Fading]:
    """What matters and is about to be forgotten, by the law of forgetting of the profile.

    Args:
        limit: at most so many, those first of which most would be lost.
        below: only what will be less retrievable than this a week from now; None: ``FadingParams.below``.

    Raises:
        ParamError: an argument outside its range.
        NotFound: a namespace that does not exist.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    bar = FADING.below if below is None else check_fraction("below", below)
    with memory.lock:
        memory.require_exists()
        law = _LAWS.get(memory.profile.forgetting)
        if law is None:
            return []
        now = memory.now()
        page = memory.store.page(memory.namespace, now, kinds=STATUS_IN_WORDS, limit=None)
    records = [
        one for one in page if expected_loss(one) > FADING.worth and _told(one, now) >= FADING.young_days
    ]
    if not records:
        return []
    weakening = [entry for entry in _seen(memory, law, records, now) if entry.later < bar]
    return sorted(weakening, key=lambda entry: (-entry.lost, entry.key))[:most]


def _seen(memory: Namespace, law: Law, some: Sequence[MemoryRecord], now: datetime) -> list[Fading]:
    """What is left of some memories, and what will be."""
    since = [_since(memory.profile.forgetting, one) or now for one in some]
    days, params = np.array([days_between(at, now) for at in since]), memory.profile.forgetting_params
    left, later = (np.asarray(law(some, days + more, params)).tolist() for more in (0.0, FADING.days))
    return [
        Fading(
            key=one.key,
            kind=one.kind,
            gist=one.gist,
            worth=expected_loss(one),
            retrievability=left[i],
            later=later[i],
            lost=expected_loss(one) * (left[i] - later[i]),
            since=since[i],
            reason=_reason(one, days[i]),
        )
        for i, one in enumerate(some)
    ]


def expected_loss(one: MemoryRecord) -> float:
    """How much a memory matters, in [0, 1]: its importance, raised by its priority and by uses that did not fail.

        1 − (1 − importance) · (1 − priority / 10) / (1 + uses − failures)

    It is .5 for a memory of which nobody said anything.
    """
    good = max(0, one.use.uses - one.use.failed - one.use.overridden)
    return 1.0 - (1.0 - one.importance) * (1.0 - float(priority_score(one.priority))) / (1.0 + good)


def _told(one: MemoryRecord, now: datetime) -> float:
    """Days since a memory was recorded."""
    return days_between(one.recorded_at or now, now)


def _since(forgetting: str, one: MemoryRecord) -> datetime | None:
    """From when a law counts: the last review or use, else when the memory was told."""
    last = one.retention.reviewed_at if forgetting == "fsrs" else one.use.last_used_at
    return last or one.recorded_at


def _fsrs(some: Sequence[MemoryRecord], days: Floats, params: ForgettingParams) -> Any:
    """What was never reviewed is taken for learned well when it was told."""
    learned = fsrs_update(None, GOOD, 0.0).stability
    stability = [learned if one.retention.stability is None else one.retention.stability for one in some]
    return fsrs_retrievability(days, stability, params.fsrs_decay)


def _power(some: Sequence[MemoryRecord], days: Floats, params: ForgettingParams) -> Any:
    endurance = [one.retention.endurance for one in some]
    return power_retrievability(days, endurance, params.factor, params.exponent)


def _half_life(_: Sequence[MemoryRecord], days: Floats, params: ForgettingParams) -> Any:
    return recency_half_life(days, params.half_life)


_LAWS: dict[str, Law] = {"fsrs": _fsrs, "power": _power, "half-life": _half_life}
"""By the name of a profile's law of forgetting; the others forget nothing."""


def _reason(one: MemoryRecord, days: float) -> str:
    """Why a memory matters, and what became of it lately."""
    matters = [f"importance {one.importance:g}"]
    if one.priority > 0:
        matters.append(f"priority {one.priority:g}")
    if one.use.uses:
        matters.append(f"used {_times(one.use.uses)}")
    since = "recalled" if one.use.last_used_at or one.retention.reviewed_at else "told"
    return f"{', '.join(matters)}; last {since} {_ago(days)}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _ago(days: float) -> str:
    whole = int(days)
    return "today" if whole < 1 else "a day ago" if whole == 1 else f"{whole} days ago"


KIND = "procedure"
_TIER = "conscious"


def done(
    memory: Namespace,
    key: str,
    *,
    success: bool = True,
    recall_id: str | None = None,
    reason: str | None = None,
) -> Operation:
    """Say that a procedure was carried out, and whether it worked: that counts, and is a review of it.

    Args:
        key: the procedure.
        success: whether it worked.
        recall_id: the recall that brought it up: it is judged too, as used or not useful.
        reason: why, for the log.

    Raises:
        NotFound: no such memory, or no such recall.
        ParamError: the memory is no procedure, or the recall did not bring it up.

    """
    if not isinstance(success, bool):
        raise ParamError("success", success, "must be true or false")
    recall = None if recall_id is None else check_text("recall_id", recall_id)
    why = check_name("reason", reason)
    with memory.writing() as now:
        record = memory.find(key, now)
        if record.kind != KIND:
            rule = f"is of kind {record.kind}, and only a {KIND} is carried out: judge it with feedback"
            raise ParamError("key", key, rule)
        effect = VerdictEffect(now, memory.next_operation_id(now))
        if recall is not None:
            _credit(memory, effect, record, traces.find_trace(memory, recall), success=success)
        row = with_use(effect.state(memory, record.id), now)
        name = "helped" if success else "failed"
        row = effect.memories[record.id] = replace(row, **{name: getattr(row, name) + 1})
        effect.review(record, _TIER, recalled=success)
        logged = memory.write(
            "done",
            now,
            effect.rows(memory),
            source=_TIER,
            reason=why,
            message="; ".join([_record(row), *effect.messages]),
            operation_id=effect.operation,
        )
        return memory.to_operation(logged)


def _credit(
    memory: Namespace, effect: VerdictEffect, record: MemoryRecord, trace: Trace, *, success: bool
) -> None:
    """Judge the recall by the execution, as used or not useful; said before of that recall, it counts no more."""
    verdict = "used" if success else "not-useful"
    recalled_in(trace, record, "recall_id", trace.recall_id)
    before = memory.store.verdicts(memory.namespace, [record.id], recall=trace.recall_id)
    if any(row.verdict == verdict for row in before):
        effect.messages.append(f"recall {trace.recall_id} has this verdict already, so no link moved")
        return
    effect.verdicts.append(
        VerdictRow(
            record.id, verdict, effect.operation, trace.recall_id, effect.now, _TIER, trace.session, trace.cue
        )
    )
    if success:
        followed_path(memory, effect, record, trace, CONSCIOUS)
        effect.useful[trace.recall_id] = (trace, [record.id])


def _record(row: MemoryRow) -> str:
    """How often a procedure worked, in words."""
    number = executions(use_of(row))
    return f"{row.helped} of {number} {'execution' if number == 1 else 'executions'} succeeded"
