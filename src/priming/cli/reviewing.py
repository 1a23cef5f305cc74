"""Commands for what wants a second look: aliases."""

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
