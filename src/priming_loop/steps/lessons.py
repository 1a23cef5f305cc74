"""The memory of the loop: the context of an objective, lessons, their verdicts, and their state."""

from __future__ import annotations

from collections.abc import Sequence

from priming.config.params.laws import SCORE
from priming.core.arguments.checks import check_text
from priming.core.score import effectiveness
from priming.errors import NotFound, ParamError
from priming.namespace import Namespace
from priming.recall.recall import recall
from priming.recall.records import get
from priming.types import Cue, MemoryRecord
from priming_loop import lessons
from priming_loop.codebase import CONTEXT
from priming_loop.context import PROFILE, cut, gather
from priming_loop.knowledge.neighbours import neighbors
from priming_loop.knowledge.relevance import RESOLUTION, TRIGGER, recurrence
from priming_loop.knowledge.writing import FAILURE, PATTERN, lesson
from priming_loop.learning import store_patterns
from priming_loop.session_store import Sessions, check_folder, check_objective
from priming_loop.steps.results import (
    ChunkReply,
    ConnectedMemory,
    ContextFiles,
    ContextMemories,
    FeedbackReply,
    LessonReply,
    LoopContext,
    LoopMemory,
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
    codebase = gathered.codebase
    return LoopContext(
        objective,
        ContextMemories(failures, patterns, connected, gathered.injected, gathered.fired),
        ContextFiles(
            bool(codebase.tests),
            codebase.tests,
            codebase.languages,
            codebase.frameworks,
            codebase.relevant,
            codebase.files,
        ),
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
    has_helped = type == PATTERN  # a failure that is stored again has happened again
    stored = lessons.store_lesson(memory, arguments, least=CONTEXT.similar, has_helped=has_helped)
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
        learnt = store_patterns(memory, current, only_new=True)
        status = ADDED if learnt.stored else STRENGTHENED if learnt.strengthened else SKIPPED
        reason = "" if status != SKIPPED else "no task was delivered whose pattern is not stored yet"
        return ChunkReply(status, learnt.stored, learnt.strengthened, reason)
    if session is not None or task is None or outcome is None or approach is None:
        rule = "must be given, or else all of task, outcome and approach: one of the two"
        raise ParamError("session", session, rule)
    if not check_text("outcome", outcome).casefold().startswith("success"):
        return ChunkReply(SKIPPED, reason="only successes make patterns")
    reply = loop_store(memory, task, approach, type=PATTERN, source="chunked")
    if reply.status == ADDED:
        return ChunkReply(ADDED, stored=(reply.name,))
    if reply.status == SUPERSEDED:
        return ChunkReply(SUPERSEDED, stored=(reply.name,), reason=reply.reason)
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
    existing, missing = list[str](), list[str]()
    for name in dict.fromkeys(injected):
        (existing if _exists(memory, name) else missing).append(name)
    missing += [name for name in dict.fromkeys(utilized) if name not in injected]
    used = [name for name in existing if name in utilized]
    unused = [name for name in existing if name not in utilized]
    lessons.judge_shown(memory, used, unused, "loop feedback")
    return FeedbackReply(len(used), len(unused), tuple(missing))


def loop_connected(memory: Namespace, name: str) -> list[ConnectedMemory]:
    """The memories that strong links lead to from a memory, at most two links away.

    Args:
        name: the name of the memory; no memory of that name has no links.

    """
    if not _exists(memory, name):
        return memory.listed([])
    reached = neighbors(memory, [name], hops=CONTEXT.hops, least=CONTEXT.link_weight)
    return [ConnectedMemory(memory_shape(node.memory), node.hop, node.via) for node in reached]


def memory_shape(record: MemoryRecord) -> LoopMemory:
    """A memory as the loop sees it."""
    when, what = (record.metadata.get(name) for name in (TRIGGER, RESOLUTION))
    helped, failed = record.use.helped, record.use.failed
    worth = float(effectiveness(helped, failed)) if helped + failed else SCORE.neutral
    return LoopMemory(
        name=record.key,
        type=record.kind,
        trigger=when if isinstance(when, str) else record.heading or record.gist,
        resolution=(what if isinstance(what, str) else record.content) + recurrence(record),
        helped=helped,
        failed=failed,
        effectiveness=round(worth, _DIGITS),
        created_at=record.recorded_at,
        source=record.source or "",
    )


def _check_type(type: str) -> None:
    if type not in TYPES:
        raise ParamError("type", type, f"must be {FAILURE} or {PATTERN}")


def _exists(memory: Namespace, name: str) -> bool:
    try:
        get(memory, name)
    except NotFound:
        return False
    return True
