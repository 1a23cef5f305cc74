"""Commands that ask, and change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.completing import term_names
from priming.cli.options import (
    TIME,
    Context,
    Key,
    Kinds,
    Limit,
    Mover,
    Place,
    Relation,
    Since,
    Status,
    Then,
)
from priming.cli.verb import Answer, verb
from priming.operations.filter_times import with_times

ANY = "any"

app = typer.Typer()


@verb(app)
def recall(
    place: Place,
    text: Annotated[str | None, Argument(metavar="TEXT", help="What is asked; - reads it from stdin")] = None,
    kind: Kinds = None,
    limit: Limit = 10,
    tokens: Annotated[
        int | None, Option("--tokens", metavar="N", help="Also pack the hits into so many tokens")
    ] = None,
    floor: Annotated[
        float | None, Option("--floor", metavar="X", help="Say nothing unless so sure, 0 to 1")
    ] = None,
    session: Annotated[
        str | None, Option("--session", metavar="NAME", help="The session to keep the recall under")
    ] = None,
    filter: Annotated[
        str | None, Option("--filter", metavar="JSON", help='Which may come up: {"tags": {"contains": "db"}}')
    ] = None,
    spread: Annotated[bool, Option("--spread/--no-spread", help="Whether activation spreads")] = True,
    ablate: Annotated[
        list[str] | None,
        Option("--ablate", metavar="TERM", help="Leave out (repeatable)", autocompletion=term_names),
    ] = None,
    trace: Annotated[
        bool, Option("--trace", help="Draw how activation spread, and show it after each step")
    ] = False,
    plot: Annotated[
        Path | None, Option("--plot", metavar="FILE", help="Draw it as a picture, to FILE.svg or FILE.png")
    ] = None,
    *,
    then: Then,
    superseded: Annotated[
        bool, Option("--include-superseded", help="Also what held no longer, marked as such")
    ] = False,
    context: Context,
) -> Answer:
    """Bring up the memories that matter.

    Each comes with its score, what the score is made of, and the path that led to it.
    """
    from priming.cli import render

    wanted = None if filter is None else parse.json_object("filter", filter)
    times, asked = then.times(), None if text is None else parse.text_of(text, "text")
    if plot is not None:
        from priming.cli import plotting

        plotting.refuse(plot)
    with place.memory() as memory:
        found = memory.recall(
            asked,
            cue=context.cue(),
            kinds=kind or None,
            limit=limit,
            tokens=tokens,
            session=session,
            floor=floor,
            filters=with_times(wanted, parse.moment),
            valid_at=times["valid_at"],
            known_at=times["known_at"],
            include_superseded=superseded,
            spread=spread,
            ablate=ablate or (),
            trace=trace or plot is not None,
        )
    if plot is not None:
        plotting.write(found, asked or " ".join(map(str, context.cue().context().values())), plot)
    return Answer(found, render.recall(found, trace=trace, packed=tokens is not None, plot=plot))


@verb(app)
def show(place: Place, key: Key) -> Answer:
    """Show one memory in full, whatever its status."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.get(key)
    return Answer(found, render.memory(found))


@verb(app, "list")
def list_(
    place: Place,
    kind: Kinds = None,
    status: Status = "active",
    limit: Limit = 100,
    after: Annotated[
        str | None, Option("--after", metavar="ID", help="The last id of the page before")
    ] = None,
    matching: Annotated[
        str | None, Option("--matching", metavar="WORDS", help="Only those that hold all these words")
    ] = None,
    *,
    then: Then,
) -> Answer:
    """List memories in the order in which they were remembered."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.list(
            kinds=kind or None,
            status=None if status == ANY else status,
            limit=limit,
            after=after,
            matching=matching,
            **then.times(),
        )
    return Answer(found, render.memories(found, limit))


@verb(app)
def history(place: Place, key: Key) -> Answer:
    """Show the versions of a memory, oldest first."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.history(key)
    return Answer(found, render.versions(found))


@verb(app)
def links(
    place: Place,
    key: Annotated[
        str | None, Argument(metavar="KEY", help="A memory's key or id; all links without")
    ] = None,
    relation: Relation = None,
    known_at: Annotated[
        str | None, Option("--known-at", metavar="TIME", help=f"As they were then: {TIME}")
    ] = None,
) -> Answer:
    """List the links of a memory in both directions, or all."""
    from priming.cli import render

    at = parse.optional_moment("known_at", known_at)
    with place.memory() as memory:
        found = memory.links(key, relation=relation, known_at=at)
    return Answer(found, render.links(found))


@verb(app)
def log(
    place: Place,
    key: Annotated[str | None, Option("--key", metavar="KEY", help="Only what changed this memory")] = None,
    since: Since = None,
    until: Annotated[str | None, Option("--until", metavar="TIME", help=f"Only before then: {TIME}")] = None,
    source: Mover = None,
    limit: Limit = 100,
    events: Annotated[
        bool, Option("--events", help="List each weight that was moved, rather than operations")
    ] = False,
) -> Answer:
    """List operations, newest first, or the weights that they moved."""
    from priming.cli import render, render_strengths

    first, end = parse.optional_moment("since", since), parse.optional_moment("until", until)
    with place.memory() as memory:
        if events:
            moved = memory.events(key=key, since=first, until=end, source=source, limit=limit)
            return Answer(moved, render_strengths.events(moved))
        found = memory.log(key=key, since=first, until=end, source=source, limit=limit)
    return Answer(found, render.operations(found))
