"""The operations of the loop: its steps, and what runs commands, which is for this machine only."""

from __future__ import annotations

from typing import Any

from priming.verbs.op import Op

_WORDS = {
    "session": "id",
    "seq": "task number",
    "utilized": "used",
    "injected": "shown",
    "delta": "files",
    "name": "key",
    "type": "kind",
    "trigger": "when",
    "resolution": "instead",
}
_GATE = "it may run a command, the gate of the task"
_RUN = "it has an agent work in a folder, and runs the gates of its tasks"
_THINK = "it asks an agent of this machine"


def _op(name: str, at: str, about: str = "", **properties: Any) -> Op:
    """Return a row of the table, of the group of the loop."""
    return Op(name, f"priming_loop.{at}", f"loop {about}", words=_WORDS, **properties)


OPERATIONS: tuple[Op, ...] = (
    _op("loop_context", "steps.lessons", own=("folder",), example={"cue": {"environment": "staging"}}),
    _op(
        "loop_store",
        "steps.lessons",
        "writes",
        example={
            "trigger": "Release a version: the registry answered 403",
            "resolution": "Log in to the registry before tagging",
        },
    ),
    _op(
        "loop_chunk",
        "steps.lessons",
        "writes",
        example={"task": "Release a version", "outcome": "success", "approach": "Log in, then push the tag"},
    ),
    _op(
        "loop_recall",
        "steps.lessons",
        example={"query": "the registry refuses the release", "type": "failure"},
    ),
    _op(
        "loop_feedback",
        "steps.lessons",
        "writes",
        example={"utilized": ["deploy"], "injected": ["deploy", "port"]},
    ),
    _op("loop_connected", "steps.lessons", example={"name": "deploy"}),
    _op("loop_prune", "steps.lessons", "writes idempotent"),
    _op("loop_consolidate", "steps.lessons", "writes idempotent"),
    _op("loop_decay", "steps.lessons", example={"days": 14}),
    _op("loop_health", "steps.lessons"),
    _op(
        "loop_task_new_session",
        "steps.tasks",
        "writes",
        own=("folder",),
        example={"objective": "Release version 2.2"},
    ),
    _op(
        "loop_task_add",
        "steps.tasks",
        "writes idempotent",
        own=("verify",),
        example={"seq": 2, "objective": "Push the tag", "injected": ["deploy"]},
    ),
    _op(
        "loop_task_close",
        "steps.tasks",
        "writes idempotent",
        stands_for="loop_task_complete",
        verb=False,
        example={"delivered": "Wrote the notes.", "utilized": ["deploy"]},
    ),
    _op(
        "loop_task_block",
        "steps.tasks",
        "writes idempotent",
        example={"reason": "The registry answered 403."},
    ),
    _op("loop_task_get", "steps.tasks"),
    _op(
        "loop_meta_record",
        "steps.report",
        "writes idempotent",
        example={"success": True, "notes": "the notes are written"},
    ),
    _op("loop_meta_assess", "steps.report"),
    _op("loop_meta_summary", "steps.report"),
    _op("loop_meta_clear", "steps.report", "writes idempotent"),
    _op("loop_report", "steps.report", example={"session": "01890a5d-ac96-774b-bcce-b302099a8060"}),
    _op("loop_list", "steps.report", example={"limit": 5}),
    _op("loop_task_complete", "steps.tasks", "writes destructive", local=_GATE),
    _op("loop_think", "run", "asks", local=_THINK, verb=False),
    _op("loop_run", "run", "writes destructive asks", local=_RUN, verb=False),
    _op("loop_resume", "run", "writes destructive asks", local=_RUN, verb=False),
)
