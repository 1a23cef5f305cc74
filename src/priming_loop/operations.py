"""The operations of the loop: its steps, and what runs commands, which is for this machine only."""

from __future__ import annotations

from functools import partial
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
_RUNS = "it has an agent work in a folder, and runs the gates of its tasks"
_THINK = "it asks an agent of this machine"


def _op(at: str, name: str, about: str = "", **properties: Any) -> Op:
    """Return a row of the table, of the group of the loop."""
    return Op(name, f"priming_loop.{at}", f"loop {about}", words=_WORDS, **properties)


_lesson, _task, _report = (partial(_op, f"steps.{at}") for at in ("lessons", "tasks", "report"))
_run = partial(_op, "run")


_AGAIN = "writes idempotent"

OPERATIONS: tuple[Op, ...] = (
    _lesson("loop_context", own=("folder",), example={"cue": {"environment": "staging"}}),
    _lesson("loop_store", "writes", example={"trigger": "The registry answered 403", "resolution": "Log in"}),
    _lesson(
        "loop_chunk",
        "writes",
        example={"task": "Release a version", "outcome": "success", "approach": "Log in, then push the tag"},
    ),
    _lesson("loop_recall", example={"query": "the registry refuses the release", "type": "failure"}),
    _lesson("loop_feedback", "writes", example={"utilized": ["deploy"], "injected": ["deploy", "port"]}),
    _lesson("loop_connected", example={"name": "deploy"}),
    _lesson("loop_prune", _AGAIN),
    _lesson("loop_consolidate", _AGAIN),
    _lesson("loop_decay", example={"days": 14}),
    _lesson("loop_health"),
    _task("loop_task_new_session", "writes", own=("folder",), example={"objective": "Release version 2.2"}),
    _task("loop_task_add", _AGAIN, own=("verify",), example={"seq": 2, "objective": "Push the tag"}),
    _task(
        "loop_task_close",
        _AGAIN,
        stands_for="loop_task_complete",
        verb=False,
        example={"delivered": "Wrote the notes.", "utilized": ["deploy"]},
    ),
    _task("loop_task_block", _AGAIN, example={"reason": "The registry answered 403."}),
    _task("loop_task_get"),
    _report("loop_meta_record", _AGAIN, example={"success": True, "notes": "the notes are written"}),
    _report("loop_meta_assess"),
    _report("loop_meta_summary"),
    _report("loop_meta_clear", _AGAIN),
    _report("loop_report", example={"session": "01890a5d-ac96-774b-bcce-b302099a8060"}),
    _report("loop_list", example={"limit": 5}),
    _task("loop_task_complete", "writes destructive", local=_GATE),
    _run("loop_think", "asks", local=_THINK, verb=False),
    _run("loop_run", "writes destructive asks", local=_RUNS, verb=False),
    _run("loop_resume", "writes destructive asks", local=_RUNS, verb=False),
)
