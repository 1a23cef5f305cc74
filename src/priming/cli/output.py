"""What commands print: with rich on a terminal, as plain aligned text into a pipe or a file.

rich is loaded only on a terminal: into a pipe, where agents read, it would cost more than many a command. What a
folder brings is asked about once, of a person at a terminal; elsewhere the answer is no.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

import typer

from priming.config.adoption import NO
from priming.config.values import dataclass
from priming.errors import StoreError
from priming.text.quotation import label, terminal_text
from priming.types import Progress

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.maintenance.adoption import FolderContent


Span = str | tuple[str, str]
"""A text, or a text with its rich style."""

KEY, DIM, OK, WARN, ERROR = "bold cyan", "dim", "green", "yellow", "red"
"""Styles. What has the style of a key is a name from outside, and is shown as it stands only if it is plain."""
_LOGGER = "priming"
_GAP = "  "
_BRANCHES = ("└── ", "├── ", "    ", "│   ")
_ASCII_BRANCHES = ("`-- ", "|-- ", "    ", "|   ")
_RICH_GAP, _MIN_WIDTH = 3, 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line of spans; on a terminal it wraps under its indent."""

    spans: tuple[Span, ...]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. On a terminal the last column is cut to fit if ``cut``; other columns fold."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """A line and its branches."""

    spans: tuple[Span, ...]
    children: tuple[Tree, ...] = ()


Part = Line | Table | Tree


def line(*spans: Span, indent: int = 0) -> Line:
    """Return a line of spans."""
    return Line(spans, indent)


def lines(text: str) -> list[Line]:
    """Return each line of a text."""
    return [Line((row,)) for row in text.splitlines()]


def names(keys: Iterable[str]) -> list[Span]:
    """Return the keys, separated by commas."""
    spans: list[Span] = [span for key in keys for span in (", ", (key, KEY))]
    return spans[1:]


def timestamp(moment: datetime | None) -> str:
    """Return a time in this machine's zone, to the second."""
    return "" if moment is None else moment.astimezone().isoformat(" ", "seconds")


def clean(text: str) -> str:
    """Return a text on one line that cannot steer a terminal."""
    return terminal_text(text).replace("\n", " ")


def is_unicode() -> bool:
    """Tell whether stdout can show every character."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def confirm(question: str) -> bool:
    """Ask a person for a yes."""
    typer.echo(question, nl=False, err=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def choose(question: str, *words: str) -> str:
    """Ask a person for one of several words, or its letter; return the letter, where the input ends of the last."""
    letters = {form: word[0] for word in words for form in (word, word[0])}
    while True:
        typer.echo(question, nl=False, err=True)
        answer = sys.stdin.readline()
        if not answer:
            return words[-1][0]
        if letter := letters.get(answer.strip().casefold()):
            return letter


def draw(parts: Iterable[Part]) -> None:
    """Write parts to stdout."""
    if sys.stdout.isatty():
        _draw_rich(parts)
        return
    lines = (text for part in parts for text in _plain(part))
    if text := "\n".join(lines):
        typer.echo(text)


@contextmanager
def progress(description: str) -> Iterator[Progress]:
    """Show a progress bar on stderr while the block runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
    )
    with Bars(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(clean(description), total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def start_logging(level: str) -> None:
    """Log from this level on. Only debug logs anything of a command; servers configure their own log."""
    logger = logging.getLogger(_LOGGER)
    logger.setLevel(level.upper())
    if level == "debug" and not any(isinstance(handler, _StderrHandler) for handler in logger.handlers):
        logger.addHandler(_StderrHandler())


class _StderrHandler(logging.Handler):
    """Writes to what stderr is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line, which cannot steer a terminal."""
        text = " ".join(record.getMessage().split())
        sys.stderr.write(f"{record.levelname.lower()}: {clean(text)}\n")


def _plain(part: Part) -> Iterable[str]:
    """Return the lines of a part as plain text."""
    if isinstance(part, Table):
        return _plain_table(part)
    if isinstance(part, Tree):
        return _plain_tree(part, _BRANCHES if is_unicode() else _ASCII_BRANCHES)
    return [" " * part.indent + _text(part)]


def _text(part: Line | Tree) -> str:
    return "".join(text for text, _ in _pairs(part))


def _pairs(part: Line | Tree) -> list[tuple[str, str]]:
    spans = [(span, "") if isinstance(span, str) else span for span in part.spans]
    return [(label(text) if style == KEY else clean(text), style) for text, style in spans]


def _plain_tree(tree: Tree, shapes: tuple[str, str, str, str]) -> Iterator[str]:
    """Yield a tree with its branches drawn to the left."""
    last, other, below_last, below_other = shapes
    yield _text(tree)
    for child in tree.children:
        is_last = child is tree.children[-1]
        first, *rest = _plain_tree(child, shapes)
        yield (last if is_last else other) + first
        yield from ((below_last if is_last else below_other) + text for text in rest)


def _plain_table(table: Table) -> Iterator[str]:
    """Yield rows with columns two spaces apart, numbers to the right, no space at the end of a row."""
    rows = [[clean(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    numeric = _numeric(table)
    for row in rows:
        cells = [
            " " * (width - _width(cell)) + cell if i in numeric else cell + " " * (width - _width(cell))
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        if text := _GAP.join(cells).rstrip():
            yield text


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text)


def _numeric(table: Table) -> set[int]:
    columns = zip(*table.rows, strict=True)
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
    width = console.width
    for part in parts:
        if isinstance(part, Table):
            console.width = max(width, _least_width(part))
            console.print(_rich_table(part, width), crop=False)
            console.width = width
        elif isinstance(part, Tree):
            console.print(_rich_tree(part))
        else:
            console.print(Padding(Text.assemble(*_pairs(part)), (0, 0, 0, part.indent), expand=False))


def _rich_tree(tree: Tree) -> Any:
    from rich.text import Text
    from rich.tree import Tree as RichTree

    root = RichTree(Text.assemble(*_pairs(tree)), guide_style="dim")
    waiting = [(root, tree)]
    while waiting:
        above, part = waiting.pop()
        waiting += [(above.add(Text.assemble(*_pairs(child))), child) for child in part.children]
    return root


def _rich_table(table: Table, width: int) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        show_header=any(table.columns),
        header_style="bold",
    )
    numeric, last = _numeric(table), len(table.columns) - 1
    for i, name in enumerate(table.columns):
        if table.cut and i == last:
            drawn.add_column(name, no_wrap=True, overflow="ellipsis", max_width=_last_width(table, width))
        else:
            justify: Any = "right" if i in numeric else "left"
            drawn.add_column(name, no_wrap=0 < i < last, overflow="fold", justify=justify)
    for row in table.rows:
        drawn.add_row(*(Text(clean(cell)) for cell in row))
    return drawn


def _least_width(table: Table) -> int:
    """Return the width below which columns would be squeezed out: a narrower terminal breaks the lines itself."""
    widths = [max(map(_width, cells)) for cells in zip(table.columns, *table.rows, strict=True)]
    widths[0], widths[-1] = min(widths[0], _MIN_WIDTH), min(widths[-1], _MIN_WIDTH)
    return sum(widths) + _RICH_GAP * (len(widths) - 1)


def _last_width(table: Table, width: int) -> int:
    """Return the width left for the last column of a terminal this wide."""
    others = list(zip(table.columns, *table.rows, strict=True))[:-1]
    taken = sum(max(map(_width, cells)) + _RICH_GAP for cells in others)
    return max(_MIN_WIDTH, width - taken)


_HANDLED = set[str]()
"""The messages that this process has printed, or asked about."""


def settled(read: Callable[[], Settings], *, as_json: bool, serves: bool) -> Settings:
    """Read settings, ask or tell what of the folder they leave out, and read them again if it was adopted.

    Raises:
        StoreError: ``serves`` them to others, and the folder has what nobody adopted.

    """
    from priming.maintenance.adoption import content_of

    settings = read()
    content = content_of(settings)
    if not content.message:
        return settings
    is_new = content.message not in _HANDLED
    _HANDLED.add(content.message)
    if is_new and not as_json and content.answer != NO and is_attended() and ask(content):
        return read()
    if serves:
        raise StoreError(content.message)
    if is_new:
        typer.echo(f"note: {clean(content.message)}", err=True)
    return settings


def is_attended() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(content: FolderContent, *, yes: bool = False) -> bool:
    """Show a person what would count, and ask, unless the answer is ``yes`` already; it is kept."""
    heading = ("Adopted as your own:",) if yes else (f"{content.message}.", "It has:")
    for text in (*heading, *content.description()):
        typer.echo(clean(text), err=True)
    agreed = yes or confirm("Adopt it as your own? [y/N] ")
    if agreed:
        content.settle(adopt=True)
    else:
        content.record(NO)
    return agreed
