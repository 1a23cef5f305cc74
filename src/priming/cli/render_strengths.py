"""How weights moved, in words, tables and small bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY, WARN, at, operation, operations
from priming.cli.screen import Part, Table, line

if TYPE_CHECKING:
    from priming.types import Operation
    from priming.verdicts import Oscillation, StrengthEvent, Strengths

_BAR, _LEVELS, _EMPTY = "█", "▁▂▃▄▅▆▇█", "·"
_WIDEST = 40
_DECIMALS = 6


def number(value: float | None, sign: str = "") -> str:
    """A weight, without digits that say nothing; – where there is none."""
    if value is None:
        return "–"
    text = f"{value:{sign}.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "+0") else text


def events(found: Sequence[StrengthEvent]) -> Iterator[Part]:
    """Each weight that moved, newest first."""
    for one in found:
        moved = f"{number(one.old)} → {number(one.new)} ({number(one.delta, '+')})"
        yield line((at(one.ts), DIM), f"  {one.event}  ", (edge(one.edge), KEY), f"  {moved}")
        said = [text for text in (one.source, one.reason, one.operation) if text]
        yield line(("; ".join(said), DIM), indent=4)
    if not found:
        yield line(("no weight was moved", DIM))


def edge(parts: Sequence[str]) -> str:
    """A link as an arrow, a memory by its key."""
    return f"{parts[0]} ─{parts[1]}→ {parts[2]}" if len(parts) > 1 else parts[0]


def strengths(found: Sequence[Strengths]) -> Iterator[Part]:
    """One distribution with its bars, or several, a row each."""
    if len(found) == 1:
        yield from _distribution(found[0])
        return
    rows = [
        (at(one.at), f"{one.links:,}", _mean(one.mean), _mean(one.median), _spark(one.bins)) for one in found
    ]
    yield Table(("at", "links", "mean", "median", "0 to 1"), tuple(rows))


def _distribution(one: Strengths) -> Iterator[Part]:
    links = "1 link" if one.links == 1 else f"{one.links:,} links"
    yield line((at(one.at), DIM), f"  {links}, mean {_mean(one.mean)}, median {_mean(one.median)}")
    wide, most = len(one.bins), max(one.bins)
    rows = []
    for i, held in enumerate(one.bins):
        # What is there is seen, however little of the whole it is.
        bar = _BAR * -(-_WIDEST * held // most) if held else ""
        rows.append((f"{i / wide:.1f}–{(i + 1) / wide:.1f}", f"{held:,}", bar))
    yield Table(("weight", "links", ""), tuple(rows))


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _spark(bins: Sequence[int]) -> str:
    """A character for each bin, as high as its share of the largest."""
    most = max(bins)
    return "".join(_LEVELS[-(-len(_LEVELS) * held // most) - 1] if held else _EMPTY for held in bins)


def oscillating(found: Sequence[Oscillation]) -> Iterator[Part]:
    """The links that were pulled both ways, those that turned most often first."""
    if not found:
        yield line(("no link was pulled both ways so often", DIM))
        return
    rows = [
        (
            f"{one.turns:,}",
            f"{one.moves:,}",
            number(one.travelled),
            number(one.net, "+"),
            number(one.weight),
            edge((one.source, one.relation, one.target)),
        )
        for one in found
    ]
    yield Table(("turns", "moves", "travelled", "net", "weight", "link"), tuple(rows), cut=True)


def normalised(found: Sequence[StrengthEvent], *, applied: bool) -> Iterator[Part]:
    """What normalising moves, and whether it has."""
    for one in found:
        yield line((edge(one.edge), KEY), f"  {number(one.old)} → {number(one.new)}")
    links = "1 link" if len(found) == 1 else f"{len(found):,} links"
    if not found:
        yield line(("every weight is what the neighbourhoods say: nothing to move", DIM))
    elif applied:
        yield line(("moved", "green"), f"  {links}; to take it back: priming undo {found[0].operation}")
    else:
        yield line((f"{links} would move: --apply moves them", WARN))


def rolled_back(one: Operation) -> Iterator[Part]:
    """A rollback, and how to take it back."""
    yield from operation(one)
    yield line((f"to take it back: priming undo {one.id}", DIM), indent=4)


def proposed(found: Sequence[Operation]) -> Iterator[Part]:
    """What a rollback would undo."""
    yield from operations(found)
    number_of = "1 operation" if len(found) == 1 else f"{len(found):,} operations"
    yield line((f"{number_of} would be undone", WARN))
