"""The upkeep of failures and patterns: pruning, merging, what is dormant, and their health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from priming.config.params.limits import SLEEP
from priming.core.arguments.checks import check_count
from priming.core.score import effectiveness
from priming.errors import NotFound, ParamError
from priming.namespace import Namespace
from priming.recall.records import get, list_memories
from priming.remember.links import links
from priming.sleep.decay import rarely_helps
from priming.sleep.night import apply, sleep
from priming.types import MemoryRecord, Proposal, days_between
from priming_loop.codebase import CONTEXT
from priming_loop.steps.lessons import TYPES
from priming_loop.steps.results import ConsolidateReply, DormantLessons, LessonCounts, LoopHealth, PruneReply

_MOST = 1_000_000
_DIGITS = 3
_NAMED = 5
"""Maximum number of memories that an issue names."""
_SECONDS_A_DAY = 86_400.0


def loop_prune(memory: Namespace) -> PruneReply:
    """Archive failures and patterns that rarely helped: 3 verdicts or more, effectiveness below .25, a day old."""
    pruned = _sleep(memory, "prune", "archive")
    records = _all(memory)
    staying = tuple(f"{record.key}: {_why_it_stays(memory, record)}" for record in _poor(records))
    return PruneReply(pruned, len(records), staying)


def loop_consolidate(memory: Namespace) -> ConsolidateReply:
    """Merge failures, and patterns, that say the same: their counts add up, and their links move."""
    return ConsolidateReply(_sleep(memory, "link", "merge"), len(_all(memory)))


def loop_decay(
    memory: Namespace, *, days: float | None = None, min_uses: int | None = None
) -> DormantLessons:
    """The dormant failures and patterns: unused for longer, with fewer verdicts. Their rank sinks by recency alone.

    Args:
        days: the days without use after which one is dormant; null: 30.
        min_uses: with so many verdicts it is not; null: 2.

    """
    threshold = CONTEXT.dormant_days if days is None else days
    uses = CONTEXT.dormant_uses if min_uses is None else check_count("min_uses", min_uses, 0, _MOST)
    if not 0 <= threshold <= _MOST:
        raise ParamError("days", threshold, f"must be a number of days from 0 to {_MOST:,}")
    now = memory.now()
    dormant = [
        record.key
        for record in _all(memory)
        if record.use.helped + record.use.failed < uses
        and (now - (record.use.last_used_at or record.recorded_at or now)).total_seconds()
        > threshold * _SECONDS_A_DAY
    ]
    reason = None if dormant else memory.empty_reason()
    return DormantLessons(tuple(dormant), len(dormant), threshold, uses, reason)


def loop_health(memory: Namespace) -> LoopHealth:
    """The state of the failures and patterns: their number, how many helped, and what needs attention."""
    records = _all(memory)
    by_type = {kind: _counts([record for record in records if record.kind == kind]) for kind in TYPES}
    by_type = {kind: counts for kind, counts in by_type.items() if counts.count}
    helped = sum(counts.helped for counts in by_type.values())
    failed = sum(counts.failed for counts in by_type.values())
    judged = sum(1 for record in records if record.use.helped + record.use.failed)
    issues = []
    if not records:
        issues.append("No memories yet")
    elif not judged:
        issues.append("No feedback recorded: the learning loop is not closed")
    issues += _figures(memory, records, helped, failed)
    return LoopHealth(
        status="NEEDS_ATTENTION" if issues else "HEALTHY",
        total=len(records),
        by_type=by_type,
        effectiveness=round(float(effectiveness(helped, failed)), _DIGITS),
        with_feedback=judged,
        relationships=_count_links(memory, {record.key for record in records}),
        issues=tuple(issues),
        reason=None if records else memory.empty_reason(),
    )


def _figures(memory: Namespace, records: Sequence[MemoryRecord], helped: int, failed: int) -> list[str]:
    """The problems shown by the counts of verdicts."""
    poor = _poor(records)
    issues = []
    if poor:
        names = _first([f"{r.key} ({r.use.helped} of {r.use.helped + r.use.failed})" for r in poor])
        issues.append(f"{len(poor)} of {len(records)} rarely helped: {names}; {_remedy(memory, poor)}")
    if failed > helped:
        total = helped + failed
        issues.append(f"Memories helped in {helped} of {total} verdicts: most of what is shown does not help")
    return issues


def _remedy(memory: Namespace, poor: Sequence[MemoryRecord]) -> str:
    """What 'priming loop prune' would do now about memories that rarely helped."""
    gone = {key for item in _planned(memory, "prune", "archive").items for key in item.keys}
    staying = [record for record in poor if record.key not in gone]
    if not staying:
        return "'priming loop prune' archives them"
    reasons = _first([f"{record.key} ({_why_it_stays(memory, record)})" for record in staying])
    return f"'priming loop prune' archives {len(poor) - len(staying)} of them now; not {reasons}"


def _first(names: Sequence[str]) -> str:
    """The first of some names, and the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _poor(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The memories that have enough verdicts, and too few good verdicts."""
    return [record for record in records if rarely_helps(record.use.helped, record.use.failed)]


def _why_it_stays(memory: Namespace, record: MemoryRecord) -> str:
    """Why a memory that rarely helped is not pruned."""
    age = days_between(record.recorded_at or memory.now(), memory.now())
    return f"younger than {SLEEP.days:g} d" if age < SLEEP.days else "it was restored after it was archived"


def _all(memory: Namespace) -> list[MemoryRecord]:
    """All failures and patterns in use."""
    try:
        return list_memories(memory, kinds=TYPES, limit=_MOST)
    except NotFound:
        return []


def _count_links(memory: Namespace, keys: set[str]) -> int:
    """The number of links among memories."""
    return sum({link.source, link.target} <= keys for link in links(memory)) if keys else 0


def _counts(records: Sequence[MemoryRecord]) -> LessonCounts:
    return LessonCounts(
        count=len(records),
        helped=sum(record.use.helped for record in records),
        failed=sum(record.use.failed for record in records),
    )


def _planned(memory: Namespace, stage: str, action: str) -> Proposal:
    """What a stage of sleep proposes now for failures and patterns only."""
    proposal = sleep(memory, [stage], dry_run=True)
    items = [
        item
        for item in proposal.items
        if item.action == action and all(get(memory, key).kind in TYPES for key in item.keys)
    ]
    return replace(proposal, items=tuple(items))


def _sleep(memory: Namespace, stage: str, action: str) -> int:
    """Apply what a stage of sleep proposes for failures and patterns only; returns the number of these."""
    if not _all(memory):
        return 0
    proposal = _planned(memory, stage, action)
    if proposal.items:
        apply(memory, proposal, only=[item.id for item in proposal.items])
    return sum(len(item.keys) for item in proposal.items)
