"""The answers of the loop's steps. Their fields are named as those of Arc's commands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from priming.config.values import dataclass
from priming_loop.session import (
    Complexity,
    ObjectiveContext,
    PlanningResult,
    ShownMemory,
    Task,
    Verification,
    Wait,
)


@dataclass(frozen=True, slots=True)
class LoopMemory:
    """A memory as the loop sees it: when it applies, what to do then, and how often that helped."""

    name: str
    type: str
    trigger: str
    resolution: str
    helped: int
    failed: int
    effectiveness: float
    created_at: datetime | None
    source: str


@dataclass(frozen=True, slots=True)
class RecalledLesson:
    """A failure or a pattern that a recall returned: .5 · relevance + .3 · effectiveness + .2 · recency."""

    memory: LoopMemory
    relevance: float
    recency: float
    score: float


@dataclass(frozen=True, slots=True)
class ConnectedMemory:
    """A memory that strong links lead to: over how many links, and the relation of the last."""

    memory: LoopMemory
    hop: int
    via: str


@dataclass(frozen=True, slots=True)
class ContextMemories:
    """The memories about an objective by their role; only ``injected_names`` count as shown."""

    failures: tuple[LoopMemory, ...]
    patterns: tuple[LoopMemory, ...]
    connected: tuple[LoopMemory, ...]
    injected_names: tuple[str, ...]
    fired: tuple[str, ...]
    """The names of those whose trigger matches: they apply here."""


@dataclass(frozen=True, slots=True)
class ContextFiles:
    """The files of a project, so far as an objective is concerned."""

    has_tests: bool
    languages: tuple[str, ...]
    tests: tuple[str, ...]
    framework_hints: tuple[str, ...]
    relevant_files: tuple[str, ...]
    files: int


@dataclass(frozen=True, slots=True)
class LoopContext:
    """The context of an objective before anything is done."""

    objective: str
    memory: ContextMemories
    codebase: ContextFiles
    complexity: Complexity
    failed: int = 0
    """How many sessions were blocked at this and not overcome: from two on, another way is due."""
    ways: tuple[str, ...] = ()
    """What failed there."""
    reason: str | None = None
    """Why nothing is known, if the namespace has no memories."""


@dataclass(frozen=True, slots=True)
class LessonReply:
    """The result of storing a lesson: ``added``, ``merged`` with the one that says the same, or ``superseded``."""

    status: str
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChunkReply:
    """The patterns of what worked: ``added``, ``strengthened``, ``superseded`` or ``skipped``."""

    status: str
    stored: tuple[str, ...] = ()
    strengthened: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FeedbackReply:
    """How many memories helped and how many did not; ``missing`` are names that were not shown, or do not exist."""

    helped: int
    unhelpful: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PruneReply:
    """How many failures and patterns were archived, how many remain, and why those stay that rarely helped."""

    pruned: int
    remaining: int
    staying: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsolidateReply:
    """How many failures and patterns were merged, and how many remain."""

    merged: int
    remaining: int


@dataclass(frozen=True, slots=True)
class DormantLessons:
    """The failures and patterns that have not been used for a long time."""

    candidates_for_decay: tuple[str, ...]
    count: int
    threshold_days: float
    min_uses_to_survive: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LessonCounts:
    """The lessons of a type, and their verdicts."""

    count: int
    helped: int
    failed: int


@dataclass(frozen=True, slots=True)
class LoopHealth:
    """The state of the failures and patterns; ``issues`` are what needs attention."""

    status: str
    total: int
    by_type: Mapping[str, LessonCounts]
    effectiveness: float
    with_feedback: int
    relationships: int
    issues: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SessionBegun:
    """A session without a plan, to which tasks are added."""

    session_id: str


@dataclass(frozen=True, slots=True)
class TaskAdded:
    """A task of a session, its status, and what it needs before it can be completed."""

    session_id: str
    seq: int
    status: str
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class TaskFeedback(FeedbackReply):
    """What a closed task taught."""

    stored: tuple[str, ...]
    strengthened: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskReply:
    """The result of a reported task: ``gate`` if its command ran, ``attempt`` if another is due."""

    status: str
    verified: bool
    gate: Verification | None = None
    attempt: int | None = None
    reason: str | None = None
    feedback: TaskFeedback | None = None


@dataclass(frozen=True, slots=True)
class SessionTask:
    """A task of a session: what it is about, what was shown, and how it ended."""

    session_id: str
    seq: int
    objective: str
    delta: tuple[str, ...]
    verify: str | None
    status: str
    verified: bool
    delivered: str | None
    injected: tuple[str, ...]
    utilized: tuple[str, ...]
    created_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class OutcomeRecorded:
    """Whether the outcome of a task was ``recorded``, or ``updated`` in the place of an earlier one."""

    status: str


@dataclass(frozen=True, slots=True)
class OutcomesCleared:
    """How many outcomes of tasks were cleared."""

    cleared: int


@dataclass(frozen=True, slots=True)
class PivotAdvice:
    """Whether to take another approach: True, False or "maybe"."""

    should_pivot: bool | str
    confidence: str
    suggestion: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionAssessment:
    """Whether the approach of a session works, and whether to take another."""

    status: str
    success_rate: float | None
    total_tasks: int
    successes: int
    consecutive_failures: int
    recommendation: str
    reason: str
    pivot: PivotAdvice


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """How a task ended."""

    seq: int
    success: bool
    notes: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class SessionOutcomes:
    """How the tasks of a session ended."""

    session_id: str
    total_tasks: int
    successes: int
    success_rate: float | None
    tasks: tuple[RecordedOutcome, ...]
    failure_notes: tuple[str, ...]
    success_notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as a row of a list; ``stands`` describes its state in words."""

    session: str
    parent: str | None
    objective: str
    state: str
    stands: str
    tasks: int
    delivered: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What a session tried and learnt, which memories helped, and how it is going."""

    session: str
    objective: str
    state: str
    ended: str | None
    stopped: str | None
    why: str | None
    status: int | None
    tasks: tuple[Task, ...]
    helped: tuple[str, ...]
    unused: tuple[str, ...]
    unknown: tuple[str, ...]
    stored: tuple[str, ...]
    strengthened: tuple[str, ...]
    alternatives: tuple[ShownMemory, ...]
    waits: Wait | None
    advice: str
    line: str
    """The metacognitive assessment, in words."""
    seconds: float
    children: tuple[SessionReport, ...] = ()
    recurred: tuple[str, ...] = ()
    proven: int = 0
    next_command: str | None = None
    """The command that continues the session; None if nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Thought:
    """An agent's plan for an objective, and the context it was shown."""

    context: ObjectiveContext
    reasoned: PlanningResult
