"""Commands that keep memories in order: why, deprecate, restore, merge, deduplicate, connect."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli.completing import one_of
from priming.cli.options import Context, Key, Place
from priming.cli.verb import Answer, verb
from priming.cli.writing import link
from priming.words import KINDS

app = typer.Typer()
verb(app, "connect")(link)


@verb(app)
def why(
    place: Place,
    key: Key,
    recall: Annotated[
        str | None,
        Option(
            "--recall", metavar="ID", help="The recall to explain; the latest that brought it up if not given"
        ),
    ] = None,
    *,
    context: Context,
) -> Answer:
    """Show why a memory comes up as it does: its route, conditions, rivals, verdicts and changes."""
    from priming.cli import render_curating

    cue = context.cue()
    with place.memory() as memory:
        found = memory.why(key, recall_id=recall, cue=cue if cue.context() else None)
    return Answer(found, render_curating.why(found))


@verb(app)
def deprecate(
    place: Place,
    key: Key,
    by: Annotated[str | None, Option("--by", metavar="KEY", help="What holds instead")] = None,
    reason: Annotated[str | None, Option("--reason", metavar="TEXT", help="Why, for the log")] = None,
) -> Answer:
    """Take a memory out of recall because it no longer holds."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.deprecate(key, by=by, reason=reason)
    return Answer(done, render.operation(done))


@verb(app)
def restore(place: Place, key: Key) -> Answer:
    """Bring back a memory that was deprecated, merged, archived or forgotten."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.restore(key)
    return Answer(done, render.operation(done))


@verb(app)
def merge(
    place: Place,
    key: Key,
    into: Annotated[str, Argument(metavar="INTO", help="Key of the memory that is kept")],
) -> Answer:
    """Merge a memory into another of its kind, which takes over its uses and links."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.merge(key, into)
    return Answer(done, render.operation(done))


@verb(app)
def deduplicate(
    place: Place,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be merged")] = False,
    threshold: Annotated[
        float | None, Option("--threshold", metavar="X", help="Merge above this, in [0, 1]; 0.9 if not given")
    ] = None,
    kind: Annotated[
        str, Option("--kind", metavar="KIND", help="The kind to look at", autocompletion=one_of(KINDS))
    ] = "behavior",
) -> Answer:
    """Merge memories that say the same, in one operation."""
    from priming.cli import render_curating

    with place.memory() as memory:
        found = memory.deduplicate(kind=kind, threshold=threshold, dry_run=dry_run)
    return Answer(found, render_curating.twins(found, dry_run=dry_run))
