"""Commands for whoever drives the loop from outside, such as a coding agent's plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from priming.cli.options import Place
from priming.cli.screen import Part, line
from priming.cli.verb import Answer, verb
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.loop.session import Sessions

_NOT_DELIVERED = 3


class OrAssess(TyperGroup):
    """Takes a word that is no command for a session to assess."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, ``assess`` where none is named. Whose classes these are depends on typer."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["assess", "--session", *args]
        return super().resolve_command(ctx, args)


task = typer.Typer()
meta = typer.Typer(cls=OrAssess)

SessionOption = Annotated[str, Option("--session", metavar="ID", help="The session, see 'loop list'")]
Seq = Annotated[int, Option("--seq", metavar="N", help="The number of the task")]
Utilized = Annotated[
    str, Option("--utilized", metavar="JSON", help="Keys of the memories that were used, as a JSON list")
]


@verb(task, "new-session")
def new_session(
    place: Place,
    objective: Annotated[
        str | None,
        Option("--objective", metavar="TEXT", help="What its tasks are for; - reads it from stdin"),
    ] = None,
) -> Answer:
    """Begin a session whose tasks are added one by one."""
    from priming.cli.parse import text_of
    from priming.loop import outside

    told = outside.DRIVEN if objective is None else text_of(objective, "objective")
    with _sessions(place) as sessions:
        made = outside.new_session(sessions, told, Path.cwd())
    return Answer({"session_id": made.id}, [line(made.id)])


@verb(task)
def add(
    place: Place,
    session: SessionOption,
    seq: Seq,
    objective: Annotated[str, Option("--objective", metavar="TEXT", help="What is to be done")],
    delta: Annotated[
        str, Option("--delta", metavar="JSON", help="The files that it is about, as a JSON list")
    ] = "[]",
    injected: Annotated[
        str, Option("--injected", metavar="JSON", help="Keys of the memories that the agent is shown")
    ] = "[]",
    verify: Annotated[
        str | None, Option("--verify", metavar="CMD", help="The command that says whether it is done")
    ] = None,
) -> Answer:
    """Add a task to a session."""
    from priming.loop import outside
    from priming.looping import TaskPlan

    plan = TaskPlan(objective, tuple(_texts("delta", delta)), verify)
    with _sessions(place) as sessions:
        _, made = outside.add(sessions, session, seq, plan, _texts("injected", injected))
    return _shown({"session_id": session, "seq": made.seq, "status": made.status})


@verb(task)
def complete(
    place: Place,
    session: SessionOption,
    seq: Seq,
    delivered: Annotated[str, Option("--delivered", metavar="TEXT", help="What was done")],
    utilized: Utilized = "[]",
) -> Answer:
    """Close a task as done, if its gate passes; memories are judged and lessons kept. Status 3 if it does not."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        done = outside.complete(sessions, session, seq, delivered, _texts("utilized", utilized))
    has_passed = done.task.status in ("delivered", "unverified")
    return _shown(outside.answer(done), 0 if has_passed else _NOT_DELIVERED)


@verb(task)
def block(
    place: Place,
    session: SessionOption,
    seq: Seq,
    reason: Annotated[str, Option("--reason", metavar="TEXT", help="What stands in the way")],
    utilized: Utilized = "[]",
) -> Answer:
    """Close a task as blocked; memories are judged, and the failure is kept."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        done = outside.block(sessions, session, seq, reason, _texts("utilized", utilized))
    return _shown(outside.answer(done))


@verb(task)
def get(
    place: Place,
    session: SessionOption,
    seq: Annotated[int | None, Option("--seq", metavar="N", help="Only this task")] = None,
) -> Answer:
    """Show the tasks of a session, or one of them."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        held = sessions.get(session)
        if seq is not None:
            return _shown(outside.shaped(held, outside.task_of(held, seq)))
        found = [outside.shaped(held, one) for one in held.tasks]
    return Answer(found, _rows(found))


@verb(task)
def pending(place: Place, session: SessionOption) -> Answer:
    """Show the tasks of a session that are not closed."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        held = sessions.get(session)
    found = [outside.shaped(held, one) for one in held.tasks if one.status == "pending"]
    return Answer(found, _rows(found))


@verb(task)
def summary(place: Place, session: SessionOption) -> Answer:
    """Count the tasks of a session by status."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        return _shown(outside.counted(sessions.get(session)))


@verb(meta)
def record(
    place: Place,
    session: SessionOption,
    seq: Seq,
    success: Annotated[bool, Option("--success/--fail", help="Whether the task succeeded")] = False,
    notes: Annotated[str, Option("--notes", metavar="TEXT", help="What is to be said of it")] = "",
) -> Answer:
    """Note how a task ended; without --success it failed."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        before = outside.record(sessions, session, seq, success, notes)
    return _shown({"status": "updated" if before else "recorded"})


@verb(meta)
def assess(place: Place, session: SessionOption) -> Answer:
    """Say whether the approach of a session works."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        return _shown(outside.assessed(sessions.get(session)))


@verb(meta, "should-pivot")
def should_pivot(place: Place, session: SessionOption) -> Answer:
    """Say whether to take another approach."""
    from priming.loop import outside
    from priming.loop.session import how_it_goes

    with _sessions(place) as sessions:
        return _shown(outside.should_pivot(how_it_goes(sessions.get(session))))


@verb(meta, "summary")
def outcomes(place: Place, session: SessionOption) -> Answer:
    """Show how the tasks of a session ended."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        return _shown(outside.outcomes(sessions.get(session)))


@verb(meta)
def clear(place: Place, session: SessionOption) -> Answer:
    """Forget how the tasks of a session ended: another approach begins."""
    from priming.loop import outside

    with _sessions(place) as sessions:
        return _shown({"cleared": outside.clear(sessions, session)})


@contextmanager
def _sessions(place: Place) -> Iterator[Sessions]:
    from priming.loop.session import Sessions

    with place.file() as memory:
        yield Sessions(memory)


def _texts(name: str, text: str) -> list[str]:
    """A JSON list of texts."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParamError(name, text, f"must be a JSON list of texts ({error})") from None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ParamError(name, text, 'must be a JSON list of texts, such as ["a", "b"]')
    return value


def _shown(value: Mapping[str, Any], status: int = 0) -> Answer:
    return Answer(value, _rows([value]), status)


def _rows(values: list[Mapping[str, Any]] | list[dict[str, Any]]) -> Iterator[Part]:
    """Values as people read them: a line for each, of what there is."""
    from priming import encoding as forms

    for one in values:
        told = forms.encode(one)
        pairs = (f"{name} {_said(value)}" for name, value in told.items() if value not in (None, [], ""))
        yield line("; ".join(pairs))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
