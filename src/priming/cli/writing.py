"""Commands that change what is remembered."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.completing import one_of, relation_names
from priming.cli.failures import FAILURE
from priming.cli.options import (
    TIME,
    Facts,
    Key,
    Mover,
    Place,
    Source,
    Target,
    Text,
)
from priming.cli.verb import Answer, verb
from priming.errors import NotFound, ParamError
from priming.words import KINDS

if TYPE_CHECKING:
    from priming.memory import Memory

LAST = "last"
_NOT_MEANT = ("undo", "run-start", "run-end")
"""Operations that are no deed of their own: what takes one back, and where a piece of work begins and ends."""

app = typer.Typer()


@verb(app)
def remember(
    place: Place,
    text: Text,
    facts: Facts,
    kind: Annotated[
        str | None,
        Option("--kind", metavar="KIND", help=", ".join(KINDS), autocompletion=one_of(KINDS)),
    ] = None,
    key: Annotated[str | None, Option("--key", metavar="KEY", help="A name of its own")] = None,
    step: Annotated[
        list[str] | None,
        Option("--step", metavar="TEXT", help="A step of a procedure (repeatable, in order)"),
    ] = None,
    trigger: Annotated[
        str | None, Option("--trigger", metavar="TEXT", help="When a procedure is to be carried out")
    ] = None,
) -> Answer:
    """Store a memory and link it at once."""
    from priming.cli import render

    arguments = facts.arguments()
    if kind is not None:
        arguments["kind"] = kind
    _put_procedure(arguments, {"steps": step, "trigger": trigger})
    content = parse.text_of(text)
    with place.memory() as memory:
        done = memory.remember(content, key=key, **arguments)
    return Answer(done, render.remembered(done))


def _put_procedure(arguments: dict[str, Any], given: Mapping[str, Any]) -> None:
    """How and when a procedure is carried out stands in its metadata."""
    said = {name: value for name, value in given.items() if value is not None}
    known = arguments.get("metadata", {})
    for name, value in said.items():
        option = f"--{name.removesuffix('s')}"
        if arguments.get("kind") != "procedure":
            raise ParamError(option, value, "belongs to a procedure: give --kind procedure, or leave it out")
        if name in known:
            raise ParamError(option, value, f"must not stand beside metadata with {name!r}: leave one out")
    if said:
        arguments["metadata"] = {**known, **said}


@verb(app)
def supersede(
    place: Place,
    key: Key,
    text: Text,
    facts: Facts,
    valid_from: Annotated[
        str | None,
        Option("--valid-from", metavar="TIME", help=f"From when it holds, now if not given; {TIME}"),
    ] = None,
) -> Answer:
    """Give a memory a new version. The old one stays in its history."""
    from priming.cli import render

    changes = facts.arguments()
    start = parse.optional_moment("valid_from", valid_from)
    content = parse.text_of(text)
    with place.memory() as memory:
        done = memory.supersede(key, content, valid_from=start, **changes)
    return Answer(done, render.memory(done))


@verb(app)
def link(
    place: Place,
    source: Source,
    target: Target,
    relation: Annotated[
        str,
        Option("--relation", metavar="NAME", help="Any name", autocompletion=relation_names),
    ] = "similar-to",
    weight: Annotated[
        float | None, Option("--weight", metavar="X", help="In [0, 1]; 0.5 if not given")
    ] = None,
) -> Answer:
    """Link two memories. Made twice, it is the same link with the weight set anew."""
    from priming.cli import render

    given = {} if weight is None else {"weight": weight}
    with place.memory() as memory:
        done = memory.link(source, target, relation, **given)
    return Answer(done, render.links([done]))


@verb(app)
def forget(place: Place, key: Key) -> Answer:
    """Take a memory out of recall. An undo brings it back."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.forget(key)
    return Answer(done, render.operation(done))


@verb(app)
def purge(
    place: Place,
    key: Key,
    yes: Annotated[bool, Option("--yes", help="Do not ask")] = False,
) -> Answer:
    """Erase a memory for good. Its versions, vectors, links and log rows go with it."""
    from priming.cli import render

    if place.as_json and not yes:
        raise ParamError("--yes", False, "must be given with --json: a purge cannot be undone")
    with place.memory() as memory:
        if not yes and not agreed(f"Erase {key!r} for good? [y/N] "):
            typer.echo("nothing was erased", err=True)
            raise typer.Exit(FAILURE)
        done = memory.purge(key)
    return Answer(done, render.receipt(done))


def agreed(question: str) -> bool:
    """Ask a person, who must say yes."""
    typer.echo(question, nl=False, err=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


@verb(app)
def undo(
    place: Place,
    operation: Annotated[
        str,
        Argument(
            metavar="ID",
            help="An operation's id, or 'last': the newest that is no undo, not undone, and no run's begin or end",
        ),
    ],
) -> Answer:
    """Take an operation back. The undo is an operation too, and can be undone."""
    from priming.cli import render

    with place.memory() as memory:
        chosen = _last(memory) if operation == LAST else operation
        done = memory.undo(chosen)
    return Answer(done, render.undone(done))


@verb(app)
def rollback(
    place: Place,
    since: Annotated[str, Option("--since", metavar="TIME", help=f"What was done from then on: {TIME}")],
    source: Mover = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only list what would be undone")] = False,
) -> Answer:
    """Undo all that was done since a time. The rollback is one operation too, and can be undone."""
    from priming.cli import render_strengths

    start = parse.moment("since", since)
    with place.memory() as memory:
        if dry_run:
            found = memory.would_undo(since=start, source=source)
            return Answer(found, render_strengths.proposed(found))
        done = memory.rollback(since=start, source=source)
    return Answer(done, render_strengths.rolled_back(done))


def _last(memory: Memory) -> str:
    """The id of the newest operation that somebody meant and that is not undone."""
    limit, read = 1, 0
    while True:
        found = memory.log(limit=limit)
        for one in found[read:]:
            if one.kind not in _NOT_MEANT and one.undone_by is None:
                return one.id
        if len(found) < limit:
            raise NotFound("there is no operation to undo: see the log")
        limit, read = 2 * limit, len(found)
