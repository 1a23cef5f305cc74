"""A year of one agent's life: ten thousand episodes, a night after every day, and what is left of it checked.

    python demo/year                    the whole year, some minutes
    python demo/year --days 60          a shorter life, at the same pace

Everything is made up from a seed; the clock is set by hand, and only the times spent are the machine's.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import telling
from checks import CHECKS, Expected, looked_at
from life import BEGIN, PER_DAY, Life
from living import Lived, live
from rich.console import Console

from lives import Check, checked, progress
from priming import FixedClock, Memory

FEWEST = 30
"""Days without which too little recurs to ask about."""


def main() -> int:
    """Live, sleep, look; 1 if something does not hold that must."""
    arguments = _arguments()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    life = Life(arguments.days, arguments.episodes or round(arguments.days * PER_DAY), arguments.seed)
    clock = FixedClock(BEGIN)
    with (
        _store(arguments.store) as store,
        Memory.open(f"sqlite:///{quote(str(store))}", clock=clock) as memory,
    ):
        _, checks = lived_through(console, life, memory, clock, plain=arguments.plain)
    return 0 if all(check.holds for check in checks) else 1


def lived_through(
    console: Console, life: Life, memory: Memory, clock: FixedClock, *, plain: bool
) -> tuple[Lived, list[Check]]:
    """Live a life, tell what happened and check what is left of it."""
    telling.heading(console, life)
    began = time.perf_counter()
    with progress(console, "days", life.days) as step:
        lived = live(life, memory, clock, step)
    spent = time.perf_counter() - began
    telling.story(console, memory, lived, plain=plain)
    with progress(console, "checks", len(CHECKS)) as step:
        checks = list(looked_at(memory, lived, Expected(), step))
    checked(console, checks)
    if not plain:
        telling.times(console, memory, lived, spent)
    return lived, checks


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="demo/year", description="A year of one agent's life, lived and checked."
    )
    parser.add_argument("--days", type=_days, default=365, help=f"how long it is, from {FEWEST} on (365)")
    parser.add_argument("--episodes", type=_episodes, help="how many episodes in all (10,000 a year)")
    parser.add_argument("--seed", type=int, default=1, help="another life (1)")
    parser.add_argument("--store", type=_new, help="a new database to keep (else a temporary one)")
    parser.add_argument(
        "--plain", action="store_true", help="leave out times and bytes, which are the machine's"
    )
    return parser.parse_args()


def _days(text: str) -> int:
    return _at_least(text, FEWEST)


def _episodes(text: str) -> int:
    return _at_least(text, 1)


def _at_least(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number ≥ {least}")
    return int(text)


def _new(text: str) -> Path:
    path = Path(text).resolve()
    if path.exists():
        raise argparse.ArgumentTypeError(f"{text!r} is there already: name a new file, or remove it")
    return path


@contextmanager
def _store(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="priming-year-") as folder:
        yield Path(folder, "memory.db")


if __name__ == "__main__":
    sys.exit(main())
