"""Commands on the graph: draw it, and set, show and normalise the weights of its links."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from priming.cli import parse, records
from priming.cli.command import Answer, Group, command, give_reason, group
from priming.cli.options import TIME, Kinds, KnownAt, StoreOptions, option
from priming.cli.output import DIM, OK, WARN, Part, Table, line, timestamp
from priming.cli.plain import plain
from priming.config.words import FORMATS
from priming.errors import StoreError
from priming.text.quotation import count_text, label, terminal_text

if TYPE_CHECKING:
    from priming.history.weights_over_time import Oscillation, StrengthEvent, Strengths

DRAW = "draw"
_BAR, _LEVELS, _EMPTY = "█", "▁▂▃▄▅▆▇█", "·"
_BAR_WIDTH = 40
_DECIMALS = 6


class DrawByDefault(Group):
    """The group of commands on the graph; without the name of a command it draws."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the name of the default command."""
        if not args or (args[0].startswith("-") and args[0] not in self.get_help_option_names(ctx)):
            args = [DRAW, *args]
        return list(super().parse_args(ctx, args))


app = group("Graph", "graph", "Draw the graph, and inspect and set the weights of links.", cls=DrawByDefault)
GROUPS = (app,)


@command(app, DRAW)
def draw(
    store: StoreOptions,
    form: Annotated[str, option("--format", "NAME", ", ".join(FORMATS), FORMATS)] = "dot",
    output: Annotated[Path | None, option("--output", "FILE", "Write to this file")] = None,
    key: Annotated[str | None, option("--key", "KEY", "Draw around this memory")] = None,
    depth: Annotated[int, option("--depth", "N", "With --key: maximum number of links away from it")] = 2,
    limit: Annotated[int, option("--limit", "N", "Maximum number of memories")] = 500,
    kinds: Kinds = None,
    known_at: KnownAt = None,
) -> Answer:
    """Draw memories and their links. This command is the default of the group."""
    at = parse.optional_moment("known_at", known_at)
    with store.open() as memory:
        text = memory.graph(form, key=key, depth=depth, limit=limit, kinds=kinds, known_at=at)
        reason = memory.status().reason
    if reason is not None:
        give_reason(store, reason, apart=True)
    if output is not None:
        return _written(text, form, output)
    if not store.as_json:
        typer.echo(terminal_text(text) if sys.stdout.isatty() else text, nl=False)
    value: dict[str, Any] = json.loads(text) if form == "json" else {"format": form, "text": text}
    return Answer(value, [])


def _written(text: str, form: str, output: Path) -> Answer:
    try:
        output.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreError(f"{output} could not be written: {error.strerror}") from error
    value = {"format": form, "path": str(output), "bytes": len(text.encode())}
    return Answer(value, [line(("drawn", OK), f"  {form} to {output}")])


plain(app, "set_strength", name="link-strength")


def _strengths(distributions: Sequence[Strengths]) -> Iterator[Part]:
    """Yield a single distribution as bars, several as a row each."""
    if len(distributions) == 1:
        yield from _distribution(distributions[0])
        return
    rows = [
        (timestamp(each.at), f"{each.links:,}", _mean(each.mean), _mean(each.median), _sparkline(each.bins))
        for each in distributions
    ]
    yield Table(("at", "links", "mean", "median", "0 to 1"), tuple(rows))


def _distribution(strengths: Strengths) -> Iterator[Part]:
    values = f"mean {_mean(strengths.mean)}, median {_mean(strengths.median)}"
    yield line((timestamp(strengths.at), DIM), f"  {count_text(strengths.links, 'link')}, {values}")
    bins, largest = len(strengths.bins), max(strengths.bins)
    rows = []
    for i, size in enumerate(strengths.bins):
        # A bin that is not empty is visible, however small its share.
        bar = _BAR * -(-_BAR_WIDTH * size // largest) if size else ""
        rows.append((f"{i / bins:.1f}–{(i + 1) / bins:.1f}", f"{size:,}", bar))
    yield Table(("weight", "links", ""), tuple(rows))


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _sparkline(bins: Sequence[int]) -> str:
    """Return a character for each bin, as high as its share of the largest."""
    largest = max(bins)
    return "".join(_LEVELS[-(-len(_LEVELS) * size // largest) - 1] if size else _EMPTY for size in bins)


plain(
    app,
    "strengths",
    _strengths,
    over="Number of times to show, equally spaced up to --at",
    since=f"The first of these; by default the first operation: {TIME}",
    at=f"The last or only time; now by default: {TIME}",
)


def _oscillating(links: Sequence[Oscillation]) -> Iterator[Part]:
    if not links:
        yield line(("no link turned so often", DIM))
        return
    rows = [
        (
            f"{link.turns:,}",
            f"{link.moves:,}",
            number(link.travelled),
            number(link.net, "+"),
            number(link.weight),
            records.edge(link.source, link.relation, link.target),
        )
        for link in links
    ]
    yield Table(("turns", "moves", "travelled", "net", "weight", "link"), tuple(rows), cut=True)


plain(app, "oscillating", _oscillating, turns="Minimum number of turns")


def _normalised(changes: Sequence[StrengthEvent], *, apply: bool) -> Iterator[Part]:
    for change in changes:
        yield line((_subject(change.edge), "bold"), f"  {number(change.old)} → {number(change.new)}")
    links = count_text(len(changes), "link")
    if not changes:
        yield line(("every weight is as computed: nothing to change", DIM))
    elif apply:
        yield line(("changed", OK), f"  {links}; to undo this: priming undo {changes[0].operation}")
    else:
        yield line((f"{links} would change: --apply changes them", WARN))


plain(
    app,
    "normalize_strengths",
    _normalised,
    apply="Set the weights instead of listing the changes",
    help="Weigh links by the overlap of their ends' neighbourhoods. A dry run without --apply.",
)


def events(changes: Sequence[StrengthEvent]) -> Iterator[Part]:
    """Yield changes of weights, newest first."""
    for change in changes:
        values = f"{number(change.old)} → {number(change.new)} ({number(change.delta, '+')})"
        yield line(
            (timestamp(change.ts), DIM), f"  {change.event}  ", (_subject(change.edge), "bold"), f"  {values}"
        )
        caller = records.caller_text(change.actor, change.via, change.session)
        details = [text for text in (change.source, change.reason, caller, change.operation) if text]
        yield line(("; ".join(details), DIM), indent=4)
    if not changes:
        yield line(("no weight changed", DIM))


def number(value: float | None, sign: str = "") -> str:
    """Return a weight without trailing zeros; – if there is none."""
    if value is None:
        return "–"
    text = f"{value:{sign}.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "+0") else text


def _subject(edge: Sequence[str]) -> str:
    """Return a link as an arrow, or a memory by its key."""
    return records.edge(edge[0], edge[1], edge[2]) if len(edge) > 1 else label(edge[0])
