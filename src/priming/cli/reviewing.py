"""Commands for what wants a second look: aliases, contradictions."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from priming.cli.options import Place
from priming.cli.verb import Answer, verb

app = typer.Typer()


@verb(app)
def aliases(
    place: Place,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be merged")] = False,
    limit: Annotated[int, Option("--limit", metavar="N", help="The most names to merge")] = 100,
) -> Answer:
    """Merge names that stand for one thing, where the texts say so."""
    from priming.cli import render_reviewing

    with place.memory() as memory:
        found = memory.aliases(dry_run=dry_run, limit=limit)
    return Answer(found, render_reviewing.aliases(found, dry_run=dry_run))


@verb(app)
def review(
    place: Place,
    limit: Annotated[int, Option("--limit", metavar="N", help="The most to list")] = 50,
    keep: Annotated[
        str | None, Option("--keep", metavar="ID", help="Both may hold: settle this one, and list nothing")
    ] = None,
) -> Answer:
    """List facts that contradict each other, and settle them."""
    from priming.cli import render, render_reviewing

    with place.memory() as memory:
        if keep is not None:
            done = memory.keep_both(keep)
            return Answer(done, render.operation(done))
        found = memory.review(limit=limit)
    return Answer(found, render_reviewing.reviews(found))
