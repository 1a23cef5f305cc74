"""Tasks that others carry out, such as a coding agent's plugin: ``loop task …`` and ``loop meta …``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from priming.cli.command import BAD_INPUT, Answer, Group, group
from priming.cli.output import DIM, Part, line
from priming.cli.parse import STDIN, json_object, session_or_stdin, text_or_stdin
from priming.cli.plain import plain
from priming.errors import ParamError
from priming.serialization import encode

if TYPE_CHECKING:
    from priming_loop.steps.results import SessionTask

_STATUS = {"pending": 3, "blocked": 3, "waiting": 4}
"""The exit statuses of a completed task that is not done."""
_STATUSES = ("pending", "complete", "unverified", "blocked")


def _from_file(context: typer.Context, path: str | None) -> None:
    """Take the options that are not typed from a file of JSON, or from stdin: so no shell reads them."""
    if path is None or context.resilient_parsing:
        return
    try:
        text = text_or_stdin(STDIN, "values") if path == STDIN else Path(path).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ParamError("values", path, f"must be a file of UTF-8 text: {error}") from None
    texts = {
        name.replace("-", "_"): value if isinstance(value, str) else json.dumps(value)
        for name, value in json_object("values", text).items()
        if value is not None
    }
    for name in texts.keys() - {param.name for param in context.command.params}:
        raise ParamError(
            "values", path, f"must hold options of the command: there is no --{name.replace('_', '-')}"
        )
    context.default_map = texts


ValuesFile = Annotated[
    str | None,
    Option(
        "--values",
        metavar="FILE",
        help="Read options from a JSON object in this file; - reads it from stdin",
        callback=_from_file,
        is_eager=True,
    ),
]


class AssessByDefault(Group):
    """The group of ``meta``; a word that is not a command is a session to assess."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Insert the name of the default command. The classes depend on the version of typer."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["assess", "--session", *args]
        return super().resolve_command(ctx, args)


app = group("Loop", "task", "Tasks that others carry out, through the same gate.")
meta_app = group(
    "Loop", "meta", "Assess how a session proceeds; 'meta SESSION' assesses it.", cls=AssessByDefault
)


SessionOption = Annotated[
    str,
    Option(
        "--session",
        metavar="ID",
        help="The session, see 'loop list'; - reads it from stdin",
        callback=session_or_stdin,
    ),
]


def from_file(_sent: Mapping[str, Any], *, values: str | None = None) -> dict[str, Any]:  # noqa: ARG001
    """Take the option of a file, whose values its callback has read."""
    return {}


_report = partial(plain, app, send=from_file, by_name=True, session=SessionOption, values=ValuesFile)
"""Register the command of a report on a task."""


def here(_sent: Mapping[str, Any]) -> dict[str, Any]:
    """Name the folder of the command, which is that of the project."""
    return {"folder": str(Path.cwd())}


def answer(value: Any, status: int = 0) -> Answer:
    """Return a value, a line a field; an error or a rejection has the status of bad input."""
    fields = encode(value)
    is_refused = "error" in fields or fields.get("status") == "rejected"
    return Answer(fields, list(pairs(fields)), BAD_INPUT if is_refused else status)


def pairs(value: Mapping[str, Any]) -> Iterator[Part]:
    """Yield a line for each field, but for a reason where there is none."""
    for name, item in value.items():
        if name != "reason" or item:
            yield line((f"{name.replace('_', ' ')}: ", DIM), _flat(item))


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_flat(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_flat, value)) or "none"
    return "none" if value in (None, "") else str(value)


def whole(value: Any, status: int = 0) -> Answer:
    """Return a reply without its empty fields."""
    return answer({name: item for name, item in encode(value).items() if item not in (None, "")}, status)


def _tasks(tasks: Sequence[SessionTask], *, seq: int | None = None) -> Answer:
    rows = [encode(task) for task in tasks]
    shown = [line(f"{task.seq}. {task.status}  {task.objective}") for task in tasks]
    return Answer(rows, shown) if seq is None else answer(tasks[0])


def _counts(tasks: Sequence[SessionTask], *, session: str) -> Answer:
    """Return the number of tasks by status."""
    statuses = [task.status for task in tasks]
    counts = {status: statuses.count(status) for status in _STATUSES}
    return answer({"session_id": session, "total": len(tasks), **counts})


plain(
    app,
    "loop_task_new_session",
    lambda begun: [line(begun.session_id)],
    send=here,
    name="new-session",
    folder=False,
    objective="The objective of its tasks; - reads it from stdin",
)
_report(verb="loop_task_add", show=whole, name="add")
_report(
    verb="loop_task_complete",
    show=lambda reply: whole(reply, _STATUS.get(reply.status, 0)),
    name="complete",
    help="Close a task as done if its gate passes. Exit status 3 if it fails, 4 if a person must say yes first.",
)
_report(verb="loop_task_block", show=whole, name="block", reason="what blocks it")
_tasks_of = partial(plain, app, "loop_task_get", session=SessionOption)
_tasks_of(_tasks, name="get")
_tasks_of(
    lambda tasks: _tasks([task for task in tasks if task.status == "pending"]),
    name="pending",
    help="Show the open tasks of a session.",
    seq=False,
)


_tasks_of(_counts, name="summary", help="Count the tasks of a session by status.", seq=False)


_meta = partial(plain, meta_app, session=SessionOption)
_meta(
    "loop_meta_record",
    whole,
    send=lambda sent: {"success": sent.get("success", False)},
    name="record",
    help="Record how a task ended; without --success it failed.",
    by_name=True,
    success=Annotated[bool | None, Option("--success/--fail", help="Whether the task succeeded")],
)
_meta(
    "loop_meta_assess",
    lambda value: answer({name: part for name, part in encode(value).items() if name != "pivot"}),
    name="assess",
)
_meta(
    "loop_meta_assess",
    lambda value: answer(value.pivot),
    name="should-pivot",
    help="Advise whether to take another approach.",
)
_meta("loop_meta_summary", answer, name="summary")
_meta("loop_meta_clear", whole, name="clear")
