"""The lessons of a closed task: what went wrong and what to do instead, and what worked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from priming_loop.codebase import CONTEXT
from priming_loop.knowledge.relevance import (
    BLOCKED_IN,
    FAILED,
    HITS,
    OBJECTIVE,
    RESOLUTION,
    SOLVED,
    TASK,
    TRIGGER,
)
from priming_loop.knowledge.texts import DELTA, cut, symptom
from priming_loop.session import BLOCKED, DELIVERED, Attempt, Session, Task

FAILURE, PATTERN = "failure", "pattern"
_TRUST = "agent"
"""The trust in a lesson: that of its author."""


def lesson(kind: str, trigger: str, resolution: str, **metadata: Any) -> dict[str, Any]:
    """The arguments of ``remember`` for a lesson; ``session``, ``source`` and ``trust`` are not its metadata.

    Its content has a line for each of its texts, so that each can be matched.
    """
    when, what = cut(trigger, CONTEXT.lesson), cut(resolution, CONTEXT.lesson)
    for name in (OBJECTIVE, TASK, FAILED):
        if metadata.get(name):
            metadata[name] = cut(metadata[name], CONTEXT.lesson)
    own = {
        name: metadata.pop(name) for name in ("session", "source", "trust") if metadata.get(name) is not None
    }
    rest = {name: value for name, value in metadata.items() if value not in (None, [], "")}
    lines = [when, what]
    for name in (OBJECTIVE, TASK, FAILED):
        if (text := rest.get(name)) and not any(text.casefold() in line.casefold() for line in lines):
            lines.append(text)
    return {
        "content": "\n".join(lines),
        "kind": kind,
        "metadata": {TRIGGER: when, RESOLUTION: what, **rest},
        **own,
    }


def failure(session: Session, task: Task) -> dict[str, Any] | None:
    """The lesson of a task that is blocked or took several attempts: what went wrong, and what to do instead."""
    failed = failed_attempts(task.attempts)
    if task.status == BLOCKED:
        attempt = task.attempts[-1] if task.attempts else None
        cause = _obstacle(attempt) if attempt else None
        learning = _learning(task.attempts)
        resolution = learning or f"not solved; tried: {_details(attempt) or 'nothing'}"
    elif task.status == DELIVERED and failed:
        attempt, cause = failed[0], None
        learning = resolution = _learning(task.attempts[-1:]) or _details(task.attempts[-1]) or ""
    else:
        return None
    cause = cause or (symptom(attempt.verified) if attempt and attempt.verified else None)
    if not resolution or (cause is None and not task.attempts):
        return None
    trigger = task.plan.objective if cause is None else f"{task.plan.objective}: {cause}"
    tried = "; ".join(dict.fromkeys(text for text in (cause, *map(_details, failed)) if text))
    outcome = {
        FAILED: tried,
        SOLVED: task.status == DELIVERED or bool(learning),
        HITS: 1,
        BLOCKED_IN: [session.id] if task.status == BLOCKED else [],
    }
    return _lesson_of(FAILURE, trigger, resolution, session, task, **outcome)


def pattern(session: Session, task: Task) -> dict[str, Any] | None:
    """The lesson of a delivered task: what worked, if its result says how."""
    if task.status != DELIVERED or not task.attempts:
        return None
    how = _learning(task.attempts[-1:]) or _details(task.attempts[-1])
    return _lesson_of(PATTERN, task.plan.objective, how, session, task) if how else None


def _lesson_of(
    kind: str, trigger: str, resolution: str, session: Session, task: Task, **outcome: Any
) -> dict[str, Any]:
    return lesson(
        kind,
        trigger,
        resolution,
        **{OBJECTIVE: session.objective, TASK: task.plan.objective},
        **outcome,
        session=session.id,
        source=f"{session.id}-{task.seq}",
        trust=_TRUST,
        **{DELTA: list(task.plan.delta)},
        verify=task.plan.verify,
        attempts=len(task.attempts),
        project=session.project,
    )


def failed_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts whose gate did not pass."""
    return [each for each in attempts if each.verified and each.verified.status in ("failed", "late")]


def _obstacle(attempt: Attempt) -> str | None:
    if attempt.error is not None:
        return attempt.error
    return attempt.acted.obstacle if attempt.acted else None


def _learning(attempts: Sequence[Attempt]) -> str | None:
    """The latest lesson that a result states."""
    learnings = (attempt.acted.learning for attempt in reversed(attempts) if attempt.acted)
    return next((learning for learning in learnings if learning), None)


def _details(attempt: Attempt | None) -> str | None:
    return attempt.acted.details or None if attempt and attempt.acted else None
