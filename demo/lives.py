"""What the lives of this folder share: things that must hold of them, and how these are shown on a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was expected, what was found, and whether that is it."""

    name: str
    expected: str
    found: str
    holds: bool


def share(name: str, expected: float, ranks: Mapping[str, int | None], what: str) -> Check:
    """At least so many of the questions are answered rightly, at some rank; those that are not are named."""
    found = [rank for rank in ranks.values() if rank is not None]
    missing = [question for question, rank in ranks.items() if rank is None]
    median = f", median rank {statistics.median(found):g}" if found else ""
    told = f"{len(found)} of {len(ranks)}{median}{named(missing)}"
    return Check(name, f"≥ {expected:.0%} {what}", told, len(found) >= expected * len(ranks) > 0)


def none(name: str, expected: str, looked: str, wrong: Sequence[str]) -> Check:
    """Of all that was looked at nothing is wrong; the first things that are get named."""
    return Check(name, expected, f"{looked}{named(wrong)}", not wrong)


def named(wrong: Sequence[str]) -> str:
    """The first things that are wrong, and how many more there are."""
    if not wrong:
        return ""
    more = f" and {len(wrong) - SHOWN:,} more" if len(wrong) > SHOWN else ""
    return f"; not so: {' | '.join(wrong[:SHOWN])}{more}"


@contextmanager
def progress(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar that is told how much is done, and is gone afterwards."""
    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def checked(console: Console, found: Sequence[Check]) -> int:
    """What must hold, with what was found; 1 if any of it does not."""
    table = Table(title="\nWhat must hold", title_justify="left", box=None, pad_edge=False)
    for name in ("", "", "expected", "found"):
        table.add_column(name, overflow="fold")
    for one in found:
        mark = Text("ok", "green") if one.holds else Text("FAILED", "red bold")
        table.add_row(mark, Text(one.name), Text(one.expected), Text(one.found))
    console.print(table)
    held = sum(one.holds for one in found)
    console.print(f"\n{held} of {len(found)} hold")
    return 0 if held == len(found) else 1
