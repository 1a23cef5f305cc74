"""Commands that ask about other times, and change nothing."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument

from priming.cli import parse
from priming.cli.options import TIME, Key, Limit, Place, Then
from priming.cli.verb import Answer, verb

app = typer.Typer()


@verb(app, "as-of")
def as_of(place: Place, key: Key, then: Then) -> Answer:
    """Show the version of a memory that was true at a time, as known at one."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.as_of(key, **then.times())
    return Answer(found, render.memory(found))


@verb(app)
def diff(
    place: Place,
    d1: Annotated[str, Argument(metavar="D1", help=f"The earlier time: {TIME}")],
    d2: Annotated[str, Argument(metavar="D2", help="The later time")],
    question: Annotated[
        str | None, Argument(metavar="QUESTION", help="What is asked as of both times")
    ] = None,
    limit: Limit = 10,
) -> Answer:
    """Show what became different between two times.

    Lists memories, links and, with a question, how the answer changed.
    """
    from priming.cli import render_diff

    first, last = parse.moment("d1", d1), parse.moment("d2", d2)
    with place.memory() as memory:
        asked = None if question is None else parse.text_of(question, "question")
        found = memory.diff(first, last, question=asked, limit=limit)
    return Answer(found, render_diff.diff(found))
