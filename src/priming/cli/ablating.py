"""The command that replays judged recalls without each term."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli.completing import term_names
from priming.cli.options import Place
from priming.cli.screen import progress
from priming.cli.verb import Answer, verb

app = typer.Typer()


@verb(app)
def ablate(
    place: Place,
    terms: Annotated[
        list[str] | None,
        Argument(
            metavar="[TERM]...",
            help="Only these, such as spread; all if none is given",
            autocompletion=term_names,
        ),
    ] = None,
    limit: Annotated[
        int, Option("--limit", metavar="N", help="Replay the latest judged recalls, so many of them")
    ] = 200,
    propose: Annotated[
        bool, Option("--propose/--no-propose", help="Look for better weights, which takes longest")
    ] = True,
    apply: Annotated[
        bool, Option("--apply", help="Set the weights that are proposed, if they stand")
    ] = False,
) -> Answer:
    """Say what each term of recall is worth on the recalls that were judged, and propose weights."""
    from priming.cli import render_ablating

    with place.memory() as memory, progress("replays") as step:
        found = memory.ablate(terms or None, limit=limit, propose=propose, apply=apply, progress=step)
    return Answer(found, render_ablating.ablation(found, asked=apply))
