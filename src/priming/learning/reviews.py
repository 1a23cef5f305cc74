"""``fading`` lists the memories that are about to be forgotten; ``done`` and ``strengthen`` count what was used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from priming.config.params.laws import ForgettingParams
from priming.config.words import TEXT_KINDS
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_fraction, check_name, check_text
from priming.core.forgetting import (
    GOOD,
    fsrs_retrievability,
    fsrs_update,
    power_retrievability,
    recency_half_life,
)
from priming.core.plasticity import nudge
from priming.core.score import priority_score
from priming.errors import ParamError
from priming.learning.runs import DONE
from priming.learning.verdict_effect import (
    Credited,
    EffectLine,
    VerdictEffect,
    check_recalled,
    credit_path,
    profile_of,
    with_use,
)
from priming.namespace import Namespace
from priming.recall import traces
from priming.results import Fading
from priming.storage.protocol import Trace
from priming.storage.rows import MemoryRow, RowChange, VerdictRow, use_of
from priming.text.quotation import count_text
from priming.types import MemoryRecord, Operation, days_between, executions

_DAYS = 7.0
"""The days ahead for which retrievability is computed."""
_BELOW = 0.75
"""The retrievability at that time below which a memory is fading."""
_WORTH = 0.5
"""The least worth of a memory that is listed."""
_YOUNG_DAYS = 1.0
"""The least age of a memory that is listed, in days."""

RetentionLaw = Callable[[Sequence[MemoryRecord], Floats, ForgettingParams], Any]
"""The retrievability of memories, each after a number of days."""


def fading(memory: Namespace, *, limit: int = 20, below: float | None = None) -> list[Fading]:
    """List important memories that are about to be forgotten.

    The law of forgetting is that of the profile.

    Args:
        limit: the maximum number of memories, those with the greatest loss first.
        below: maximum retrievability in a week; 0.75 by default.

    Raises:
        ParamError: an argument outside its range.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    bar = _BELOW if below is None else check_fraction("below", below)
    with memory.lock:
        law = _LAWS.get(memory.profile.forgetting)
        if law is None:
            return memory.listed([])
        now = memory.now()
        page = memory.page_of(now, kinds=TEXT_KINDS)
    records = [
        record
        for record in page
        if expected_loss(record) > _WORTH and days_between(record.recorded_at or now, now) >= _YOUNG_DAYS
    ]
    if not records:
        return memory.listed([])
    weakening = [entry for entry in _forecasts(memory, law, records, now) if entry.later < bar]
    return sorted(weakening, key=lambda entry: (-entry.lost, entry.key))[:most]


def _forecasts(
    memory: Namespace, law: RetentionLaw, records: Sequence[MemoryRecord], now: datetime
) -> list[Fading]:
    """Return the retrievability of memories now and a week from now."""
    since = [_last_practice(memory.profile.forgetting, record) or now for record in records]
    days, params = np.array([days_between(at, now) for at in since]), memory.profile.forgetting_params
    left, later = (np.asarray(law(records, days + more, params)).tolist() for more in (0.0, _DAYS))
    return [
        Fading(
            key=record.key,
            kind=record.kind,
            gist=record.gist,
            worth=expected_loss(record),
            retrievability=left[i],
            later=later[i],
            lost=expected_loss(record) * (left[i] - later[i]),
            since=since[i],
            reason=_reason(record, days[i]),
        )
        for i, record in enumerate(records)
    ]


def expected_loss(record: MemoryRecord) -> float:
    """Return how much a memory matters, in [0, 1]: its importance, raised by its priority and by its successful uses.

        1 − (1 − importance) · (1 − priority / 10) / (1 + uses − failures)

    A new memory with default values has .5.
    """
    good = max(0, record.use.uses - record.use.failed - record.use.overridden)
    return 1.0 - (1.0 - record.importance) * (1.0 - float(priority_score(record.priority))) / (1.0 + good)


def _last_practice(forgetting: str, record: MemoryRecord) -> datetime | None:
    """Return the time from which a law counts: the last review or use, else when the memory was recorded."""
    last = record.retention.reviewed_at if forgetting == "fsrs" else record.use.last_used_at
    return last or record.recorded_at


def _fsrs(records: Sequence[MemoryRecord], days: Floats, params: ForgettingParams) -> Any:
    """FSRS; a memory without a review counts as rated good when it was recorded."""
    learned = fsrs_update(None, GOOD, 0.0).stability
    stability = [
        learned if record.retention.stability is None else record.retention.stability for record in records
    ]
    return fsrs_retrievability(days, stability, params.fsrs_decay)


def _power(records: Sequence[MemoryRecord], days: Floats, params: ForgettingParams) -> Any:
    endurance = [record.retention.endurance for record in records]
    return power_retrievability(days, endurance, params.factor, params.exponent)


def _half_life(_: Sequence[MemoryRecord], days: Floats, params: ForgettingParams) -> Any:
    return recency_half_life(days, params.half_life)


_LAWS: dict[str, RetentionLaw] = {"fsrs": _fsrs, "power": _power, "half-life": _half_life}
"""The laws by their names in profiles; under any other name, nothing is forgotten."""


def _reason(record: MemoryRecord, days: float) -> str:
    """Tell why a memory matters and when it was last used, in words."""
    matters = [f"importance {record.importance:g}"]
    if record.priority > 0:
        matters.append(f"priority {record.priority:g}")
    if record.use.uses:
        matters.append(f"used {_count_text(record.use.uses)}")
    since = "recalled" if record.use.last_used_at or record.retention.reviewed_at else "told"
    return f"{', '.join(matters)}; last {since} {_age_text(days)}"


def _count_text(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _age_text(days: float) -> str:
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
    """Record that a procedure was carried out, and whether it worked.

    The execution is counted and is a review.

    Args:
        key: the key of the procedure.
        success: whether it worked.
        recall_id: the recall that returned the procedure; it gets the verdict used or not useful.
        reason: a reason for the log.

    Raises:
        NotFound: no such memory, or no such recall.
        ParamError: the memory is not a procedure, or the recall did not return it.

    """
    recall = None if recall_id is None else check_text("recall_id", recall_id)
    why = check_name("reason", reason)
    with memory.changing() as now:
        record = memory.find(key, now)
        if record.kind != KIND:
            rule = f"is of kind {record.kind}, and only a {KIND} can be carried out: judge it with feedback"
            raise ParamError("key", key, rule)
        effect = VerdictEffect(now, memory.next_operation_id(now), memory.profile.forgetting_params)
        credited = Credited()
        if recall is not None:
            trace = traces.find_trace(memory, recall)
            credited = _credit_recall(memory, effect, record, trace, success=success)
        row = with_use(effect.state(memory, record.id), now)
        name = "helped" if success else "failed"
        row = effect.memories[record.id] = replace(row, **{name: getattr(row, name) + 1})
        effect.review(record, _TIER, recalled=success)
        effect.lines.append(EffectLine(_success_text(memory, row), credited))
        return effect.write(memory, DONE, _TIER, why, {record.id} if success else ())


def _credit_recall(
    memory: Namespace, effect: VerdictEffect, record: MemoryRecord, trace: Trace, *, success: bool
) -> Credited:
    """Give the recall the verdict used or not useful; a verdict that the recall already has counts no more."""
    verdict = "used" if success else "not-useful"
    check_recalled(trace, record, "recall_id", trace.recall_id)
    before = memory.rows(VerdictRow, ids=[record.id], recall=trace.recall_id)
    if any(row.verdict == verdict for row in before):
        return Credited(f"recall {trace.recall_id} has this verdict already, so no link moved")
    effect.add(record, verdict, _TIER, trace)
    if success:
        step = profile_of(memory, trace).plasticity.step(_TIER)
        effect.useful[trace.recall_id] = (trace, [record.id])
        return credit_path(memory, effect, record, trace, step)
    return Credited()


def _success_text(memory: Namespace, row: MemoryRow) -> str:
    """Return how often a procedure worked, in words: its executions, or with them the verdicts that count alike."""
    number = executions(use_of(row))
    if any(_is_counted_verdict(memory, verdict) for verdict in memory.rows(VerdictRow, ids=[row.id])):
        return f"useful {row.helped} of {number} times, verdicts included"
    return f"{row.helped} of {count_text(number, 'execution')} succeeded"


def _is_counted_verdict(memory: Namespace, verdict: VerdictRow) -> bool:
    """Tell whether a verdict counts like an execution and was given without one."""
    if verdict.verdict not in ("used", "not-useful"):
        return False
    logged = memory.operation_of(verdict.operation)
    return logged is None or logged.kind != DONE


def strengthen(
    memory: Namespace, record: MemoryRecord, *, has_helped: bool, reason: str | None, message: str
) -> str:
    """Count a memory as used, and as helpful if it helped, because it was learned again; return the operation's id.

    Its weight rises by the conscious step where verdicts move weights.
    """
    with memory.writing() as now:
        (row,) = memory.rows(MemoryRow, ids=[record.id])
        p = memory.profile.plasticity
        step = p.step(_TIER) if memory.profile.learning.verdicts == "path" else 0.0
        weight = float(nudge(row.weight, step, p.low, p.high))
        repeated = with_use(replace(row, helped=row.helped + has_helped, weight=weight), now)
        change = RowChange(row, repeated)
        return memory.write("strengthen", now, [change], source=_TIER, reason=reason, message=message).id
