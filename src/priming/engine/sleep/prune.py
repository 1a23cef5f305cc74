"""prune: what did not help when it was used, and duplicates that nobody missed, leave recall for the archive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from priming.config.params.sleep import SLEEP, SleepParams
from priming.core.score import effectiveness
from priming.engine.present import rule_kind
from priming.engine.retention import days_between
from priming.engine.sleep.planned import DUPLICATE_OF, Planned
from priming.store.rows import MemoryRow, RowChange
from priming.types import MemoryRecord

ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory as it is now, and its state."""

    record: MemoryRecord
    row: MemoryRow


def plan(
    candidates: Iterable[Candidate],
    now: datetime,
    *,
    originals: Collection[str] = (),
    settled: Collection[str] = (),
    params: SleepParams = SLEEP,
) -> list[Planned]:
    """Archive what is to be pruned; nothing is erased, and ``restore`` brings it back.

    ``originals`` are the keys of active memories: a duplicate goes only where what it repeats stays. ``settled`` are
    the ids of those that somebody brought back already: they stay.
    """
    there = [
        one
        for one in candidates
        if one.row.status == "active" and one.row.id not in settled and not _is_kept(one.record)
    ]
    found = {one.row.key: planned for one in there if (planned := _ineffective(one, now, params)) is not None}
    staying = set(originals).difference(found)
    for one in there:
        planned = None if one.row.key in found else _old_duplicate(one, staying, now, params)
        if planned is not None:
            found[one.row.key] = planned
            staying.discard(one.row.key)
    return list(found.values())


def _is_kept(one: MemoryRecord) -> bool:
    """Whether a memory is none to prune: names, and what forbids: it is worth most where nothing happens."""
    return one.kind == "entity" or (one.kind == "behavior" and rule_kind(one) == "constraint")


def is_ineffective(row: MemoryRow, params: SleepParams = SLEEP) -> bool:
    """Whether verdicts enough say that a memory rarely helps."""
    judged = row.helped + row.failed
    return judged >= params.uses and float(effectiveness(row.helped, row.failed)) < params.effectiveness


def _ineffective(one: Candidate, now: datetime, params: SleepParams) -> Planned | None:
    if not is_ineffective(one.row, params) or days_between(one.record.recorded_at or now, now) < params.days:
        return None
    helped, judged = one.row.helped, one.row.helped + one.row.failed
    share = float(effectiveness(one.row.helped, one.row.failed))
    reason = f"helped {helped} of {judged} times: {share:.2f} is below {params.effectiveness:g}"
    evidence = {"helped": helped, "failed": one.row.failed, "effectiveness": share}
    return _archived(one, reason, evidence)


def _old_duplicate(
    one: Candidate, originals: Collection[str], now: datetime, params: SleepParams
) -> Planned | None:
    original = one.record.metadata.get(DUPLICATE_OF)
    if not isinstance(original, str) or original not in originals or one.record.importance > 0.0:
        return None
    days = days_between(one.record.recorded_at or now, now)
    if days <= params.duplicate_days:
        return None
    reason = f"marked as a duplicate of {original} {days:.0f} days ago"
    return _archived(one, reason, {DUPLICATE_OF: original, "days": days})


def _archived(one: Candidate, reason: str, evidence: Mapping[str, object]) -> Planned:
    change = RowChange(one.row, replace(one.row, status=ARCHIVED))
    return Planned("archive", (one.row.id,), None, reason, evidence, (change,))
