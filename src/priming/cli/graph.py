"""Commands that work on the graph: ``priming graph …``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from priming.cli import parse, screen
from priming.cli.completing import one_of
from priming.cli.options import TIME, Kinds, Limit, Place, Relation, Since, Source, Target
from priming.cli.verb import Answer, verb
from priming.errors import StoreError
from priming.words import FORMATS

DRAW = "draw"


class Drawing(TyperGroup):
    """The group of commands on the graph; without the name of a command it draws."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name in that may be left out."""
        if not args or (args[0].startswith("-") and args[0] not in self.get_help_option_names(ctx)):
            args = [DRAW, *args]
        return list(super().parse_args(ctx, args))


app = typer.Typer(cls=Drawing)


@verb(app, DRAW)
def draw(
    place: Place,
    form: Annotated[
        str,
        Option("--format", metavar="NAME", help=", ".join(FORMATS), autocompletion=one_of(FORMATS)),
    ] = "dot",
    output: Annotated[Path | None, Option("--output", metavar="FILE", help="Write it to a file")] = None,
    key: Annotated[str | None, Option("--key", metavar="KEY", help="Draw around this memory")] = None,
    depth: Annotated[int, Option("--depth", metavar="N", help="Up to so many links away from it")] = 2,
    limit: Limit = 500,
    kinds: Kinds = None,
    known_at: Annotated[
        str | None, Option("--known-at", metavar="TIME", help=f"As it was then; {TIME}")
    ] = None,
) -> Answer:
    """Draw memories and their links. The name of this command may be left out."""
    at = parse.optional_moment("known_at", known_at)
    with place.memory() as memory:
        text = memory.graph(form, key=key, depth=depth, limit=limit, kinds=kinds, known_at=at)
    if output is not None:
        return _written(text, form, output)
    if not place.as_json:
        typer.echo(screen.clean(text) if sys.stdout.isatty() else text, nl=False)
    return Answer(_value(text, form), [])


def _value(text: str, form: str) -> dict[str, Any]:
    """A drawing for programs: JSON is itself, another format is a text in it."""
    value: dict[str, Any] = json.loads(text) if form == "json" else {"format": form, "text": text}
    return value


def _written(text: str, form: str, output: Path) -> Answer:
    try:
        output.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreError(f"{output} could not be written: {error.strerror}") from error
    value = {"format": form, "path": str(output), "bytes": len(text.encode())}
    return Answer(value, [screen.line(("drawn", "green"), f"  {form} to {output}")])


@verb(app, "link-strength")
def link_strength(
    place: Place,
    source: Source,
    target: Target,
    weight: Annotated[float, Argument(metavar="WEIGHT", help="In [0, 1], kept within [0.05, 0.95]")],
    relation: Relation = None,
) -> Answer:
    """Set the weight of all links between two memories, in either direction."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.set_strength(source, target, weight, relation)
    return Answer(done, render.operation(done))


@verb(app)
def strengths(
    place: Place,
    over: Annotated[
        int, Option("--over", metavar="N", help="At so many times, equally spaced, up to the last")
    ] = 1,
    since: Annotated[
        str | None,
        Option("--since", metavar="TIME", help=f"The first of these, else the first operation's; {TIME}"),
    ] = None,
    at: Annotated[
        str | None,
        Option("--at", metavar="TIME", help=f"The last of these, or the only one, else now; {TIME}"),
    ] = None,
    relation: Relation = None,
) -> Answer:
    """Show how the weights of links are distributed, now or over time."""
    from priming.cli import render_strengths

    start, end = parse.optional_moment("since", since), parse.optional_moment("at", at)
    with place.memory() as memory:
        found = memory.strengths(at=end, over=over, since=start, relation=relation)
    return Answer(found, render_strengths.strengths(found))


@verb(app)
def oscillating(
    place: Place,
    since: Since = None,
    turns: Annotated[int, Option("--turns", metavar="N", help="At least so many turns")] = 2,
    limit: Limit = 20,
) -> Answer:
    """List the links whose weight was pulled both ways, most turns first."""
    from priming.cli import render_strengths

    start = parse.optional_moment("since", since)
    with place.memory() as memory:
        found = memory.oscillating(since=start, turns=turns, limit=limit)
    return Answer(found, render_strengths.oscillating(found))


@verb(app, "normalize-strengths")
def normalize_strengths(
    place: Place,
    relation: Relation = None,
    apply: Annotated[bool, Option("--apply", help="Move them, rather than list what would move")] = False,
) -> Answer:
    """Weigh links by how much the neighbourhoods of their ends overlap. A dry run without --apply."""
    from priming.cli import render_strengths

    with place.memory() as memory:
        found = memory.normalize_strengths(relation=relation, apply=apply)
    return Answer(found, render_strengths.normalised(found, applied=apply))
