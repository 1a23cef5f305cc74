"""Commands on what is kept by practice."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli.options import Limit, Place
from priming.cli.verb import Answer, verb

app = typer.Typer()


@verb(app)
def done(
    place: Place,
    key: Annotated[str, Argument(metavar="KEY", help="A procedure's key or id")],
    success: Annotated[bool, Option("--success/--fail", help="Whether it worked")] = True,
    recall: Annotated[
        str | None, Option("--recall", metavar="ID", help="The recall that brought it up, judged too")
    ] = None,
    reason: Annotated[str | None, Option("--reason", metavar="TEXT", help="Why, for the log")] = None,
) -> Answer:
    """Say that a procedure was carried out, and whether it worked."""
    from priming.cli import render

    with place.memory() as memory:
        made = memory.done(key, success=success, recall_id=recall, reason=reason)
    return Answer(made, render.operation(made))


@verb(app)
def fading(
    place: Place,
    limit: Limit = 20,
    below: Annotated[
        float | None,
        Option("--below", metavar="X", help="Only what is less retrievable in a week; 0.75 if not given"),
    ] = None,
) -> Answer:
    """List what matters and is about to be forgotten."""
    from priming.cli import render_practising

    with place.memory() as memory:
        found = memory.fading(limit=limit, below=below)
    return Answer(found, render_practising.fading(found))
