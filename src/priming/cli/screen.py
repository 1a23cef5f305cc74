"""Drawing for people: with rich on a terminal, as plain aligned text into a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unicodedata import combining, east_asian_width

import typer

Span = str | tuple[str, str]
Progress = Callable[[int, int | None], None]
_GAP = "  "
_BRANCHES = ("└── ", "├── ", "    ", "│   ")
_ASCII_BRANCHES = ("`-- ", "|-- ", "    ", "|   ")
_RICH_GAP, _LEAST_ROOM = 3, 20
_DIRECTION = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HARMLESS = (ord("\n"), ord("\t"))
_SHOWN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in _HARMLESS}
_SHOWN |= {code: f"\\u{code:04x}" for code in _DIRECTION}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of spans, each a text or a (text, style); it wraps under its indent."""

    spans: tuple[Span, ...]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. On a terminal the last column is cut to fit where ``cut``; others fold."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """A line and what hangs from it."""

    spans: tuple[Span, ...]
    below: tuple[Tree, ...] = ()


Part = Line | Table | Tree


def line(*spans: Span, indent: int = 0) -> Line:
    """A line of spans."""
    return Line(spans, indent)


def clean(text: str) -> str:
    """Text that cannot steer a terminal: control characters and changes of direction are shown escaped."""
    return text.translate(_SHOWN)


def draw(parts: Iterable[Part]) -> None:
    """Write parts to stdout."""
    if sys.stdout.isatty():
        _draw_rich(parts)
        return
    rows = (row for part in parts for row in _rows(part))
    if text := "\n".join(rows):
        typer.echo(text)


def is_unicode() -> bool:
    """Whether stdout can show every character."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A bar on stderr while the block runs, if people look at it."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _silent(_done: int, _total: int | None) -> None:
    """Nobody looks."""


def _rows(part: Part) -> Iterable[str]:
    """A part as plain text."""
    if isinstance(part, Table):
        return _aligned(part)
    if isinstance(part, Tree):
        return _branches(part, _BRANCHES if is_unicode() else _ASCII_BRANCHES)
    return [" " * part.indent + "".join(text for text, _ in _pairs(part))]


def _branches(tree: Tree, shapes: tuple[str, str, str, str]) -> Iterator[str]:
    """A tree with its branches drawn to the left."""
    last, other, under_last, under_other = shapes
    yield "".join(text for text, _ in _pairs(tree)).replace("\n", " ")
    for one in tree.below:
        ends = one is tree.below[-1]
        first, *others = _branches(one, shapes)
        yield (last if ends else other) + first
        yield from ((under_last if ends else under_other) + row for row in others)


def _pairs(part: Line | Tree) -> list[tuple[str, str]]:
    spans = [(span, "") if isinstance(span, str) else span for span in part.spans]
    return [(clean(text), style) for text, style in spans]


def _aligned(table: Table) -> Iterator[str]:
    """Columns two spaces apart, numbers to the right, no space at the end of a row."""
    rows = [[clean(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    right = _numeric(table)
    for row in rows:
        cells = [
            " " * (wide - _width(cell)) + cell if i in right else cell + " " * (wide - _width(cell))
            for i, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ]
        if text := _GAP.join(cells).rstrip():
            yield text


def _width(text: str) -> int:
    return sum(2 if east_asian_width(one) in "WF" else not combining(one) for one in text)


def _numeric(table: Table) -> set[int]:
    columns = list(zip(*table.rows, strict=True))
    return {
        i
        for i, cells in enumerate(columns)
        if all(cell.replace(",", "").replace(".", "").isdigit() for cell in cells)
    }


def _draw_rich(parts: Iterable[Part]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for part in parts:
        if isinstance(part, Table):
            console.print(_rich_table(part, console.width))
        elif isinstance(part, Tree):
            console.print(_rich_tree(part))
        else:
            console.print(Padding(Text.assemble(*_pairs(part)), (0, 0, 0, part.indent), expand=False))


def _rich_tree(tree: Tree) -> Any:
    from rich.text import Text
    from rich.tree import Tree as Drawn

    drawn = Drawn(Text.assemble(*_pairs(tree)), guide_style="dim")
    waiting = [(drawn, tree)]
    while waiting:
        above, part = waiting.pop()
        waiting += [(above.add(Text.assemble(*_pairs(one))), one) for one in part.below]
    return drawn


def _rich_table(table: Table, width: int) -> Any:
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        show_header=any(table.columns),
        header_style="bold",
    )
    right, last = _numeric(table), len(table.columns) - 1
    for i, name in enumerate(table.columns):
        if table.cut and i == last:
            drawn.add_column(name, no_wrap=True, overflow="ellipsis", max_width=_room(table, width))
        else:
            justify: Any = "right" if i in right else "left"
            drawn.add_column(name, no_wrap=0 < i < last, overflow="fold", justify=justify)
    for row in table.rows:
        drawn.add_row(*(Text(clean(cell)) for cell in row))
    return drawn


def _room(table: Table, width: int) -> int:
    """What the last column of a terminal this wide can have beside the others."""
    others = list(zip(table.columns, *table.rows, strict=True))[:-1]
    taken = sum(max(map(_width, cells)) + _RICH_GAP for cells in others)
    return max(_LEAST_ROOM, width - taken)
