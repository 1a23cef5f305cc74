"""The memory of the loop: the context of an objective, lessons, their verdicts, their upkeep and their state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace

from priming.config.params.laws import SCORE
from priming.config.params.limits import SLEEP
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_number, check_text, check_unique
from priming.core.score import effectiveness
from priming.errors import NotFound, ParamError
from priming.namespace import Namespace
from priming.recall.recall import recall
from priming.recall.records import get, list_memories
from priming.remember.links import links
from priming.sleep.decay import rarely_helps
from priming.sleep.night import apply, sleep
from priming.types import Cue, MemoryRecord, Proposal, days_between
from priming_loop import lessons
from priming_loop.codebase import CONTEXT
from priming_loop.context import PROFILE, gather
from priming_loop.knowledge import FAILURE, PATTERN, LessonMetadata, cut, existing, lesson
from priming_loop.learning import store_patterns
from priming_loop.neighbours import neighbors
from priming_loop.session_store import Sessions, check_folder, check_objective
from priming_loop.steps.results import (
    ChunkReply,
    ConnectedMemory,
    ConsolidateReply,
    ContextFiles,
    ContextMemories,
    DormantLessons,
    FeedbackReply,
    LessonCounts,
    LessonReply,
    LoopContext,
    LoopHealth,
    LoopMemory,
    PruneReply,
    RecalledLesson,
)

TYPES = (FAILURE, PATTERN)
ADDED, MERGED, STRENGTHENED, SUPERSEDED, SKIPPED = "added", "merged", "strengthened", "superseded", "skipped"
_DIGITS = 3
_SHORT = 120
"""Maximum length of a resolution that a reply quotes."""


def loop_context(
    memory: Namespace,
    objective: str,
    *,
    session: str | None = None,
    cue: Cue | None = None,
    folder: str | None = None,
) -> LoopContext:
    """Gather the context of an objective: lessons, memories linked to them, the project's files, complexity.

    Args:
        objective: what is to be done.
        session: the session of the loop that it is for, so that verdicts reach the recalls.
        cue: what surrounds the objective, where no folder shows it: files, language, environment, and others by name.
        folder: the absolute path of the project; null: no files are looked at. Only this machine's own processes
            may name it.

    """
    check_objective(objective)
    gathered = gather(memory, objective, check_folder(folder), session=session, cue=cue)
    failures, patterns, connected = (
        tuple(memory_shape(get(memory, shown.key)) for shown in part)
        for part in (gathered.failures, gathered.patterns, gathered.connected)
    )
    return LoopContext(
        objective,
        ContextMemories(failures, patterns, connected, gathered.injected, gathered.fired),
        ContextFiles(bool(gathered.codebase.tests), *astuple(gathered.codebase)),
        gathered.complexity,
        gathered.failed,
        gathered.ways if gathered.failed else (),
        None if gathered.injected else memory.empty_reason(),
    )


def loop_store(
    memory: Namespace, trigger: str, resolution: str, *, type: str = FAILURE, source: str | None = None
) -> LessonReply:
    """Store a failure or a pattern; the one that says the same is strengthened, the opposite one gets a new version.

    Args:
        trigger: what went wrong, or when it applies.
        resolution: what to do then.
        type: ``failure`` or ``pattern``.
        source: where it comes from.

    """
    _check_type(type)
    if len(check_text("trigger", trigger).strip()) < CONTEXT.trigger:
        raise ParamError("trigger", trigger, f"is too short: give at least {CONTEXT.trigger} characters")
    if not check_text("resolution", resolution).strip():
        raise ParamError("resolution", resolution, "is empty: say what to do")
    arguments = lesson(type, trigger, resolution, source=source or None)
    stored = lessons.store_lesson(memory, arguments)
    if stored.status == lessons.STORED:
        return LessonReply(ADDED, stored.key)
    if stored.status == lessons.SUPERSEDED:
        reason = f"it takes the place of {cut(stored.replaced or '', _SHORT)!r}, which stays in its history"
        return LessonReply(SUPERSEDED, stored.key, reason)
    return LessonReply(MERGED, stored.key, f"similar exists: {stored.cosine:.2f} alike, strengthened")


def loop_chunk(
    memory: Namespace,
    session: str | None = None,
    *,
    task: str | None = None,
    outcome: str | None = None,
    approach: str | None = None,
) -> ChunkReply:
    """Make patterns of what worked, or strengthen the similar ones that exist.

    Args:
        session: a session of the loop, whose delivered tasks become patterns.
        task: instead of a session: what was to be done.
        outcome: how it went; only what begins with "success" makes a pattern.
        approach: what worked.

    """
    if session is not None and (task, outcome, approach) == (None, None, None):
        current = Sessions(memory).get(session)
        learnt = store_patterns(memory, current)
        status = ADDED if learnt.stored else STRENGTHENED if learnt.strengthened else SKIPPED
        reason = "" if status != SKIPPED else "no task was delivered whose pattern is not stored yet"
        return ChunkReply(status, learnt.stored, learnt.strengthened, reason)
    if session is not None or task is None or outcome is None or approach is None:
        rule = "must be given, or else all of task, outcome and approach: one of the two"
        raise ParamError("session", session, rule)
    if not check_text("outcome", outcome).casefold().startswith("success"):
        return ChunkReply(SKIPPED, reason="only successes make patterns")
    reply = loop_store(memory, task, approach, type=PATTERN, source="chunked")
    if reply.status != MERGED:
        return ChunkReply(reply.status, stored=(reply.name,), reason=reply.reason)
    return ChunkReply(STRENGTHENED, strengthened=(reply.name,), reason=reply.reason)


def loop_recall(
    memory: Namespace, query: str, *, type: str | None = None, limit: int = 5, session: str | None = None
) -> list[RecalledLesson]:
    """Recall failures and patterns by relevance, effectiveness and recency.

    Args:
        query: the question.
        type: ``failure`` or ``pattern``; null means both.
        limit: at most so many.
        session: the session of the loop that it is for, so that verdicts reach the recall.

    """
    if type is not None:
        _check_type(type)
    kinds = TYPES if type is None else (type,)
    result = recall(memory, query, kinds=kinds, limit=limit, profile=PROFILE, session=session)
    return memory.listed(
        RecalledLesson(
            memory_shape(hit.memory),
            round(hit.components["relevance"], _DIGITS),
            round(hit.components["recency"], _DIGITS),
            round(hit.score, _DIGITS),
        )
        for hit in result.hits
    )


def loop_feedback(memory: Namespace, utilized: Sequence[str], injected: Sequence[str]) -> FeedbackReply:
    """Credit the memories that were used, and debit those that were only shown.

    Args:
        utilized: the names of the memories that were used.
        injected: the names of all that were shown.

    """
    names = check_unique("utilized", utilized, PAGE_LIMIT)
    shown = {name: existing(memory, name) for name in check_unique("injected", injected, PAGE_LIMIT)}
    missing = [name for name, record in shown.items() if record is None]
    missing += [name for name in names if name not in shown]
    used = [name for name in shown if name in names and name not in missing]
    unused = [name for name in shown if name not in (*names, *missing)]
    lessons.judge_shown(memory, used, unused, "loop feedback")
    return FeedbackReply(len(used), len(unused), tuple(missing))


def loop_connected(memory: Namespace, name: str) -> list[ConnectedMemory]:
    """Return the memories that strong links lead to from a memory, at most two links away.

    Args:
        name: the name of the memory; no memory of that name has no links.

    """
    if existing(memory, name) is None:
        return memory.listed([])
    reached = neighbors(memory, [name], hops=CONTEXT.hops, least=CONTEXT.link_weight)
    return [ConnectedMemory(memory_shape(node.memory), node.hop, node.via) for node in reached]


def memory_shape(record: MemoryRecord) -> LoopMemory:
    """Return a memory as the loop sees it."""
    own, helped, failed = LessonMetadata.of(record), record.use.helped, record.use.failed
    worth = float(effectiveness(helped, failed)) if helped + failed else SCORE.neutral
    return LoopMemory(
        name=record.key,
        type=record.kind,
        trigger=own.trigger or record.heading or record.gist,
        resolution=(own.resolution or record.content) + own.recurrence,
        helped=helped,
        failed=failed,
        effectiveness=round(worth, _DIGITS),
        created_at=record.recorded_at,
        source=record.source or "",
    )


def _check_type(type: str) -> None:
    if type not in TYPES:
        raise ParamError("type", type, f"must be {FAILURE} or {PATTERN}")


_MOST = 1_000_000
_DORMANT_DAYS, _DORMANT_USES = 30.0, 2
"""Time without use after which a lesson is dormant, unless it has so many verdicts (Arc)."""
_NAMED = 5
"""Maximum number of memories that an issue names."""


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
    """List dormant failures and patterns: unused for longer, with fewer verdicts. Their rank sinks by recency alone.

    Args:
        days: the days without use after which one is dormant; null: 30.
        min_uses: with so many verdicts it is not; null: 2.

    """
    threshold = _DORMANT_DAYS if days is None else check_number("days", days, low=0, high=_MOST)
    uses = _DORMANT_USES if min_uses is None else check_count("min_uses", min_uses, 0, _MOST)
    now = memory.now()
    dormant = [
        record.key
        for record in _all(memory)
        if record.use.helped + record.use.failed < uses
        and days_between(record.use.last_used_at or record.recorded_at or now, now) > threshold
    ]
    reason = None if dormant else memory.empty_reason()
    return DormantLessons(tuple(dormant), len(dormant), threshold, uses, reason)


def loop_health(memory: Namespace) -> LoopHealth:
    """Return the state of the failures and patterns: their number, how many helped, and what needs attention."""
    records = _all(memory)
    keys = {record.key for record in records}
    by_type = {kind: _counts([record for record in records if record.kind == kind]) for kind in TYPES}
    every, judged = _counts(records), sum(1 for record in records if record.use.helped + record.use.failed)
    issues = tuple(_issues(memory, records, every, judged))
    return LoopHealth(
        status="NEEDS_ATTENTION" if issues else "HEALTHY",
        total=every.count,
        by_type={kind: counts for kind, counts in by_type.items() if counts.count},
        effectiveness=round(float(effectiveness(every.helped, every.failed)), _DIGITS),
        with_feedback=judged,
        relationships=sum({link.source, link.target} <= keys for link in links(memory)) if keys else 0,
        issues=issues,
        reason=None if records else memory.empty_reason(),
    )


def _issues(
    memory: Namespace, records: Sequence[MemoryRecord], every: LessonCounts, judged: int
) -> Iterator[str]:
    """Yield the problems of the failures and patterns, and what would help."""
    if not records:
        yield "No memories yet"
    elif not judged:
        yield "No feedback recorded: the learning loop is not closed"
    poor = _poor(records)
    if poor:
        names = _first([f"{r.key} ({r.use.helped} of {r.use.helped + r.use.failed})" for r in poor])
        yield f"{len(poor)} of {len(records)} rarely helped: {names}; {_remedy(memory, poor)}"
    if every.failed > every.helped:
        verdicts = f"{every.helped} of {every.helped + every.failed} verdicts"
        yield f"Memories helped in {verdicts}: most of what is shown does not help"


def _remedy(memory: Namespace, poor: Sequence[MemoryRecord]) -> str:
    """Return what 'priming loop prune' would do now about memories that rarely helped."""
    gone = {key for item in _planned(memory, "prune", "archive").items for key in item.keys}
    staying = [record for record in poor if record.key not in gone]
    if not staying:
        return "'priming loop prune' archives them"
    reasons = _first([f"{record.key} ({_why_it_stays(memory, record)})" for record in staying])
    return f"'priming loop prune' archives {len(poor) - len(staying)} of them now; not {reasons}"


def _first(names: Sequence[str]) -> str:
    """Return the first of some names, and the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _poor(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Return the memories that have enough verdicts, and too few good verdicts."""
    return [record for record in records if rarely_helps(record.use.helped, record.use.failed)]


def _why_it_stays(memory: Namespace, record: MemoryRecord) -> str:
    """Tell why a memory that rarely helped is not pruned."""
    age = days_between(record.recorded_at or memory.now(), memory.now())
    return f"younger than {SLEEP.days:g} d" if age < SLEEP.days else "it was restored after it was archived"


def _all(memory: Namespace) -> list[MemoryRecord]:
    """Return all failures and patterns in use."""
    try:
        return list_memories(memory, kinds=TYPES, limit=_MOST)
    except NotFound:
        return []


def _counts(records: Sequence[MemoryRecord]) -> LessonCounts:
    return LessonCounts(
        count=len(records),
        helped=sum(record.use.helped for record in records),
        failed=sum(record.use.failed for record in records),
    )


def _planned(memory: Namespace, stage: str, action: str) -> Proposal:
    """Return what a stage of sleep proposes now for failures and patterns only."""
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
