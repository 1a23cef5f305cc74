"""The operations of the loop: its steps, and what runs commands, which is for this machine only."""

from __future__ import annotations

from typing import Any

from priming.operations.op import Op

_SESSION = {"session_id": "session", "id": "session"}
_NAMES = {"used": "utilized", "shown": "injected"}
_TASK = {**_SESSION, "task": "seq", "number": "seq"}
_GATE = "it may run a command, the gate of the task"
_RUN = "it has an agent work in a folder, and runs the gates of its tasks"
_THINK = "it asks an agent of this machine"

_HERE = "priming_loop.run"


def _op(name: str, answers: str, takes: tuple[str, ...] = (), *, at: str = "", **properties: Any) -> Op:
    """Return a row of the table: its function is a verb, its answer a result of the loop."""
    home = "priming_loop.steps.results"
    return Op(
        name,
        answers,
        takes,
        at=at or f"priming_loop.steps.verbs:{name}",
        home=home,
        group="loop",
        **properties,
    )


OPERATIONS: tuple[Op, ...] = (
    _op(
        "loop_context",
        "LoopContext",
        ("objective",),
        own=("folder",),
        other_names={"text": "objective", "task": "objective", "context": "cue", "session_id": "session"},
    ),
    _op(
        "loop_store",
        "LessonReply",
        ("trigger", "resolution"),
        writes=True,
        other_names={"kind": "type", "when": "trigger", "instead": "resolution"},
    ),
    _op("loop_chunk", "ChunkReply", ("session",), writes=True, other_names=_SESSION),
    _op(
        "loop_recall",
        "list[RecalledLesson]",
        ("query",),
        other_names={"text": "query", "question": "query", "kind": "type", "k": "limit"},
    ),
    _op("loop_feedback", "FeedbackReply", ("utilized", "injected"), writes=True, other_names=_NAMES),
    _op("loop_connected", "list[ConnectedMemory]", ("name",), other_names={"key": "name"}),
    _op("loop_prune", "PruneReply", writes=True, idempotent=True),
    _op("loop_consolidate", "ConsolidateReply", writes=True, idempotent=True),
    _op("loop_decay", "DormantLessons"),
    _op("loop_health", "LoopHealth"),
    _op("loop_task_new_session", "SessionBegun", ("objective",), writes=True, own=("folder",)),
    _op(
        "loop_task_add",
        "TaskAdded",
        ("session", "seq", "objective"),
        writes=True,
        idempotent=True,
        own=("verify",),
        other_names={**_TASK, "files": "delta", "shown": "injected"},
    ),
    _op(
        "loop_task_close",
        "TaskReply",
        ("session", "seq", "delivered"),
        writes=True,
        idempotent=True,
        stands_for="loop_task_complete",
        at="priming_loop.steps.tasks:loop_task_close",
        other_names={**_TASK, "used": "utilized"},
    ),
    _op(
        "loop_task_block",
        "TaskReply",
        ("session", "seq", "reason"),
        writes=True,
        idempotent=True,
        other_names={**_TASK, "used": "utilized"},
    ),
    _op("loop_task_get", "list[SessionTask]", ("session",), other_names=_TASK),
    _op(
        "loop_meta_record",
        "OutcomeRecorded",
        ("session", "seq", "success"),
        writes=True,
        idempotent=True,
        other_names=_TASK,
    ),
    _op("loop_meta_assess", "SessionAssessment", ("session",), other_names=_SESSION),
    _op("loop_meta_summary", "SessionOutcomes", ("session",), other_names=_SESSION),
    _op(
        "loop_meta_clear", "OutcomesCleared", ("session",), writes=True, idempotent=True, other_names=_SESSION
    ),
    _op("loop_report", "SessionReport", ("session",), other_names=_SESSION),
    _op("loop_list", "list[SessionSummary]"),
    _op(
        "loop_task_complete",
        "TaskReply",
        ("session", "seq", "delivered"),
        writes=True,
        local=_GATE,
        other_names={**_TASK, "used": "utilized"},
    ),
    _op("loop_think", "Thought", ("objective", "folder"), asks=True, local=_THINK, at=f"{_HERE}:loop_think"),
    _op(
        "loop_run",
        "SessionReport",
        ("objective", "folder"),
        writes=True,
        destructive=True,
        long=True,
        asks=True,
        local=_RUN,
        at=f"{_HERE}:loop_run",
    ),
    _op(
        "loop_resume",
        "SessionReport",
        ("session",),
        writes=True,
        destructive=True,
        long=True,
        asks=True,
        local=_RUN,
        other_names=_SESSION,
        at=f"{_HERE}:loop_resume",
    ),
)
