"""Sixty days of a coding agent that is corrected, with learning and without, and what its rules are worth.

    python demo/rules_life                  five lives of sixty days, each lived twice
    python demo/rules_life --days 30        shorter ones
    python demo/rules_life --lives 1        one life

Everything is drawn from a seed; the clock is set by hand, and only the times spent are the machine's.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from desk import desk, process_seconds
from drawn import BEGIN, SESSIONS, Life
from measures import Expected, Figures, checks, figures
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from sitting import Lived, live

from lives import Check, checked, progress
from priming import FixedClock

FEWEST = 30
"""Days without which too little is repeated."""


def main() -> int:
    """Live, sleep, look; 1 if something does not hold that must."""
    arguments = _arguments()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    found = lived_through(
        console,
        arguments.days,
        range(arguments.seed, arguments.seed + arguments.lives),
        plain=arguments.plain,
    )
    return checked(console, found)


def lived_through(console: Console, days: int, seeds: range, *, plain: bool) -> list[Check]:
    """Live some lives with learning and without, tell what they came to, and check it."""
    console.print(
        Rule(
            f"{days} days of a coding agent, {SESSIONS} sessions a day, {len(seeds)} × with learning and without"
        )
    )
    on, off = (figures(_lives(console, days, seeds, learning=learning)) for learning in (True, False))
    _print_figures(console, on, off, plain=plain)
    return checks(on, off, Expected())


def _lives(console: Console, days: int, seeds: range, *, learning: bool) -> list[Lived]:
    lives = []
    for number, seed in enumerate(seeds, start=1):
        name = f"life {number} {'with' if learning else 'without'} learning"
        with ExitStack() as exits:
            step = exits.enter_context(progress(console, name, days))
            folder = exits.enter_context(tempfile.TemporaryDirectory(prefix="priming-rules-"))
            place = exits.enter_context(desk(Path(folder, "shop"), FixedClock(BEGIN), learning=learning))
            lived = live(Life(days, seed), place, step)
            lived.process = process_seconds(place.folder)
            lives.append(lived)
    return lives


def _print_figures(console: Console, on: Figures, off: Figures, *, plain: bool) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("", "with learning", "without"):
        table.add_column(name, justify="left" if not name else "right")
    for row in _rows(on, off):
        table.add_row(*row)
    if not plain:
        table.add_row(
            "a hook takes, in a process that runs (median)", *(f"{each.hook:.1f} ms" for each in (on, off))
        )
        table.add_row("  99 of 100 at most", *(f"{each.slowest:.0f} ms" for each in (on, off)))
        table.add_row(
            "  as a process of its own, without a server", *(f"{each.process:.0f} ms" for each in (on, off))
        )
    console.print(table)


def _rows(on: Figures, off: Figures) -> list[tuple[str, str, str]]:
    rows = [
        ("corrections learned", "{0.corrections:,}"),
        ("verdicts that the user gave", "{1:,}"),
        ("active rules that are present wishes", "{0.wishes:.1%}"),
        ("  of those on the last evening", "{0.last:.1%}"),
        ("rules told", "{0.tellings:,}"),
        ("  by their names alone", "{0.named:,}"),
        ("  stale", "{0.stale:.1%}"),
        ("  wished, but beside the point", "{0.beside:.1%}"),
        ("  only by spreading", "{0.spread:,}"),
        ("    of those right", "{0.spread_share:.0%}"),
        ("wishes told where they applied", "{0.reached:.1%}"),
        ("constraints dropped", "{0.dropped:,} of {0.constraints:,}"),
        ("tokens a session", "{0.tokens:.0f}"),
        ("links learned, that stand in the end", "{0.links:.0f}"),
    ]
    return [
        (name, *(form.format(each, sum(each.verdicts.values())) for each in (on, off))) for name, form in rows
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="demo/rules_life", description="A coding agent that is corrected.")
    parser.add_argument("--days", type=_at_least(FEWEST), default=60, help=f"how long, from {FEWEST} on (60)")
    parser.add_argument("--lives", type=_at_least(1), default=5, help="how many lives (5)")
    parser.add_argument("--seed", type=int, default=1, help="of the first life (1)")
    parser.add_argument("--plain", action="store_true", help="leave out times, which are the machine's")
    return parser.parse_args()


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number ≥ {least}")
        return int(text)

    return number


if __name__ == "__main__":
    sys.exit(main())
