"""Tasks that others carry out, such as a coding agent's plugin: ``loop task …`` and ``loop meta …``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Option

from priming.cli.command import Answer, Group, command, group
from priming.cli.options import StoreOptions
from priming.cli.output import Part, line
from priming.cli.parse import STDIN, json_texts, optional_text, session_or_stdin, text_or_stdin
from priming.errors import ParamError
from priming.serialization import encode

if TYPE_CHECKING:
    from priming_loop.bound import LoopVerbs
    from priming_loop.steps.results import TaskAdded, TaskReply

_STATUS = {"pending": 3, "blocked": 3, "waiting": 4}
"""The exit statuses of a completed task that is not done."""
_STATUSES = ("pending", "complete", "unverified", "blocked")
_VALUES = "--values"

ValuesFile = Annotated[
    str | None,
    Option(
        _VALUES, metavar="FILE", help="Read options from a JSON object in this file; - reads it from stdin"
    ),
]


class ValuesFromFile(Group):
    """A group whose commands can read their options from a file, so that no shell reads what they say."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Insert the options of the file of ``--values``, for a command that has that option."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and any(param.name == "values" for param in command.params):
            rest = _with_values(rest)
        return name, command, rest


def _with_values(args: list[str]) -> list[str]:
    """Arguments in which the options of a file stand for ``--values FILE``."""
    if _VALUES in args[:-1]:
        at = args.index(_VALUES)
        return [*args[:at], *_options(args[at + 1]), *args[at + 2 :]]
    at, path = next(
        ((i, arg.partition("=")[2]) for i, arg in enumerate(args) if arg.startswith(f"{_VALUES}=")), (-1, "")
    )
    return args if at < 0 else [*args[:at], *_options(path), *args[at + 1 :]]


def _options(path: str) -> list[str]:
    """The options that a file of JSON, or standard input for ``-``, holds."""
    try:
        text = text_or_stdin(STDIN, "values") if path == STDIN else Path(path).read_text("utf-8")
        values = json.loads(text)
    except OSError as error:
        raise ParamError("values", path, f"must be a file: {error.strerror}") from None
    except ValueError:
        raise ParamError("values", path, "must hold one JSON object, as UTF-8") from None
    if not isinstance(values, dict):
        raise ParamError("values", path, 'must hold a JSON object, such as {"objective": "Mend it"}')
    # A value in one word with its option is never taken for an option, whatever it begins with.
    return [
        f"--{name.replace('_', '-')}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
        if value is not None
    ]


class AssessByDefault(Group):
    """The group of ``meta``; a word that is not a command is a session to assess."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Insert the name of the default command. The classes depend on the version of typer."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["assess", "--session", *args]
        return super().resolve_command(ctx, args)


app = group("Loop", "task", "Tasks that others carry out, through the same gate.", cls=ValuesFromFile)
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
Seq = Annotated[int, Option("--seq", metavar="N", help="Number of the task")]
Utilized = Annotated[str, Option("--utilized", metavar="JSON", help="Keys of used memories, as a JSON array")]


@command(app, "new-session")
def new_session(
    store: StoreOptions,
    objective: Annotated[
        str | None,
        Option("--objective", metavar="TEXT", help="The objective of its tasks; - reads it from stdin"),
    ] = None,
) -> Answer:
    """Start a session whose tasks are added one by one."""
    text = optional_text(objective, "objective")
    with opened(store) as memory:
        begun = memory.loop_task_new_session(text, folder=str(Path.cwd()))
    return Answer(begun, [line(begun.session_id)])


@command(app)
def add(
    store: StoreOptions,
    session: SessionOption,
    seq: Seq,
    objective: Annotated[str, Option("--objective", metavar="TEXT", help="What is to be done")],
    delta: Annotated[
        str, Option("--delta", metavar="JSON", help="The files it concerns, as a JSON array")
    ] = "[]",
    injected: Annotated[
        str,
        Option("--injected", metavar="JSON", help="Keys of the memories shown to the agent, as a JSON array"),
    ] = "[]",
    verify: Annotated[
        str | None, Option("--verify", metavar="CMD", help="The command that verifies it")
    ] = None,
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """Add a task to a session."""
    files, shown = json_texts("delta", delta), json_texts("injected", injected)
    with opened(store) as memory:
        added = memory.loop_task_add(session, seq, objective, delta=files, injected=shown, verify=verify)
    return _answer(_without_nulls(added))


@command(app)
def complete(
    store: StoreOptions,
    session: SessionOption,
    seq: Seq,
    delivered: Annotated[str, Option("--delivered", metavar="TEXT", help="What was done")],
    utilized: Utilized = "[]",
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """Close a task as done if its gate passes. Exit status 3 if it fails, 4 if a person must first say yes to it."""
    used = json_texts("utilized", utilized)
    with opened(store) as memory:
        reply = memory.loop_task_complete(session, seq, delivered, utilized=used)
    return _answer(_without_nulls(reply), _STATUS.get(reply.status, 0))


@command(app)
def block(
    store: StoreOptions,
    session: SessionOption,
    seq: Seq,
    reason: Annotated[str, Option("--reason", metavar="TEXT", help="What blocks it")],
    utilized: Utilized = "[]",
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """Close a task as blocked: memories are judged, and the failure is stored."""
    used = json_texts("utilized", utilized)
    with opened(store) as memory:
        reply = memory.loop_task_block(session, seq, reason, utilized=used)
    return _answer(_without_nulls(reply))


@command(app)
def get(
    store: StoreOptions,
    session: SessionOption,
    seq: Annotated[int | None, Option("--seq", metavar="N", help="Only this task")] = None,
) -> Answer:
    """Show the tasks of a session, or a single task."""
    with opened(store) as memory:
        rows = [encode(task) for task in memory.loop_task_get(session, seq=seq)]
    return Answer(rows, _rows(rows)) if seq is None else _answer(rows[0])


@command(app)
def pending(store: StoreOptions, session: SessionOption) -> Answer:
    """Show the open tasks of a session."""
    with opened(store) as memory:
        rows = [encode(task) for task in memory.loop_task_get(session) if task.status == "pending"]
    return Answer(rows, _rows(rows))


@command(app)
def summary(store: StoreOptions, session: SessionOption) -> Answer:
    """Count the tasks of a session by status."""
    with opened(store) as memory:
        statuses = [task.status for task in memory.loop_task_get(session)]
    counts = {status: statuses.count(status) for status in _STATUSES}
    return _answer({"session_id": session, "total": len(statuses), **counts})


@command(meta_app)
def record(
    store: StoreOptions,
    session: SessionOption,
    seq: Seq,
    success: Annotated[bool, Option("--success/--fail", help="Whether the task succeeded")] = False,
    notes: Annotated[str, Option("--notes", metavar="TEXT", help="Notes")] = "",
) -> Answer:
    """Record how a task ended; without --success it failed."""
    with opened(store) as memory:
        return _answer(encode(memory.loop_meta_record(session, seq, success, notes=notes)))


@command(meta_app)
def assess(store: StoreOptions, session: SessionOption) -> Answer:
    """Assess whether the approach of a session works."""
    with opened(store) as memory:
        assessment = memory.loop_meta_assess(session)
    return _answer({name: value for name, value in encode(assessment).items() if name != "pivot"})


@command(meta_app, "should-pivot")
def should_pivot(store: StoreOptions, session: SessionOption) -> Answer:
    """Advise whether to take another approach."""
    with opened(store) as memory:
        return _answer(encode(memory.loop_meta_assess(session).pivot))


@command(meta_app, "summary")
def outcomes(store: StoreOptions, session: SessionOption) -> Answer:
    """Show how the tasks of a session ended."""
    with opened(store) as memory:
        return _answer(encode(memory.loop_meta_summary(session)))


@command(meta_app)
def clear(store: StoreOptions, session: SessionOption) -> Answer:
    """Clear the record of how tasks ended, before another approach."""
    with opened(store) as memory:
        return _answer(encode(memory.loop_meta_clear(session)))


def _without_nulls(reply: TaskReply | TaskAdded) -> dict[str, Any]:
    """A reply without its empty fields."""
    return {name: value for name, value in encode(reply).items() if value is not None}


def _answer(value: Mapping[str, Any], status: int = 0) -> Answer:
    return Answer(value, _rows([value]), status)


def _rows(values: list[Mapping[str, Any]] | list[dict[str, Any]]) -> Iterator[Part]:
    """ValuesFile for people: a line each, without empty fields."""
    for value in values:
        fields = encode(value)
        pairs = (f"{name} {_text(item)}" for name, item in fields.items() if item not in (None, [], ""))
        yield line("; ".join(pairs))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def opened(store: StoreOptions) -> LoopVerbs:
    """Open the memory, through a running server of its store if there is one; the caller closes it."""
    return cast("LoopVerbs", store.open())
