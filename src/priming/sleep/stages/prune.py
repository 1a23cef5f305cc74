"""The stage ``prune``: archives memories that rarely helped, and duplicates that ``light`` marked long ago.

It never erases anything (``restore`` undoes it), and never archives entities, constraints or restored memories.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from priming.config.params.sleep import SLEEP, SleepParams
from priming.config.values import dataclass
from priming.core.score import effectiveness
from priming.recall.formatting import rule_kind
from priming.sleep.plan import DUPLICATE_OF, PlannedItem
from priming.storage.rows import MemoryRow, RowChange
from priming.types import MemoryRecord, days_between

ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class PruneCandidate:
    """A memory, its row, and for a marked duplicate when its version got the mark."""

    record: MemoryRecord
    row: MemoryRow
    marked_at: datetime | None = None


def plan_prune(
    candidates: Iterable[PruneCandidate],
    now: datetime,
    *,
    originals: Collection[str] = (),
    restored: Collection[str] = (),
    params: SleepParams = SLEEP,
) -> list[PlannedItem]:
    """Plan the archiving of ineffective memories and old duplicates.

    ``originals`` are keys of active memories: a duplicate is archived only if its original stays. ``restored`` are
    the ids of memories that somebody restored: they stay.
    """
    eligible = [
        candidate
        for candidate in candidates
        if candidate.row.status == "active"
        and candidate.row.id not in restored
        and not _is_protected(candidate.record)
    ]
    planned_by_key = {
        candidate.row.key: planned
        for candidate in eligible
        if (planned := _ineffective(candidate, now, params)) is not None
    }
    staying = set(originals).difference(planned_by_key)
    for candidate in eligible:
        planned = (
            None if candidate.row.key in planned_by_key else _old_duplicate(candidate, staying, now, params)
        )
        if planned is not None:
            planned_by_key[candidate.row.key] = planned
            staying.discard(candidate.row.key)
    return list(planned_by_key.values())


def _is_protected(record: MemoryRecord) -> bool:
    """Whether a memory is never pruned: entities, and constraints, whose success leaves no trace."""
    return record.kind == "entity" or (record.kind == "behavior" and rule_kind(record) == "constraint")


def is_ineffective(row: MemoryRow, params: SleepParams = SLEEP) -> bool:
    """Whether enough verdicts report that a memory rarely helps."""
    return rarely_helps(row.helped, row.failed, params)


def rarely_helps(helped: int, failed: int, params: SleepParams = SLEEP) -> bool:
    """Whether these verdicts are enough, and too few of them good."""
    return helped + failed >= params.uses and float(effectiveness(helped, failed)) < params.effectiveness


def _ineffective(candidate: PruneCandidate, now: datetime, params: SleepParams) -> PlannedItem | None:
    if (
        not is_ineffective(candidate.row, params)
        or days_between(candidate.record.recorded_at or now, now) < params.days
    ):
        return None
    helped, judged = candidate.row.helped, candidate.row.helped + candidate.row.failed
    share = float(effectiveness(candidate.row.helped, candidate.row.failed))
    reason = f"helped {helped} of {judged} times: {share:.2f} is below {params.effectiveness:g}"
    evidence = {"helped": helped, "failed": candidate.row.failed, "effectiveness": share}
    return _archived(candidate, reason, evidence)


def _old_duplicate(
    candidate: PruneCandidate, originals: Collection[str], now: datetime, params: SleepParams
) -> PlannedItem | None:
    original = candidate.record.metadata.get(DUPLICATE_OF)
    if not isinstance(original, str) or original not in originals or candidate.record.importance > 0.0:
        return None
    days = days_between(candidate.marked_at or candidate.record.recorded_at or now, now)
    if days <= params.duplicate_days:
        return None
    reason = f"marked as a duplicate of {original} {days:.0f} days ago"
    return _archived(candidate, reason, {DUPLICATE_OF: original, "days": days})


def _archived(candidate: PruneCandidate, reason: str, evidence: Mapping[str, object]) -> PlannedItem:
    change = RowChange(candidate.row, replace(candidate.row, status=ARCHIVED))
    return PlannedItem("archive", (candidate.row.id,), None, reason, evidence, (change,))
