"""Thirty objectives of an agent that makes the typical mistakes, with the memory on and off, and what it learnt.

    python demo/loop_life                   with the memory on, then off: about a minute
    python demo/loop_life --plain           without times

The project is a real one under git, its gates run its unit tests, and the agent is a program that reads its prompt.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from measures import Expected, attempts, beside, calls, checks, tellings
from objectives import OBJECTIVES
from pursuit import Life, live
from rich.console import Console
from rich.rule import Rule
from rich.table import Table

from lives import Check, checked, progress


def main() -> int:
    """Live twice and look; 1 if something does not hold that must."""
    parser = argparse.ArgumentParser(
        prog="demo/loop_life", description="Thirty objectives, lived and checked."
    )
    parser.add_argument("--plain", action="store_true", help="leave out times, which are the machine's")
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    return checked(console, lived_through(console, plain=arguments.plain))


def lived_through(console: Console, *, plain: bool) -> list[Check]:
    """Live with the memory on and off, tell what it came to, and check it."""
    console.print(Rule(f"{len(OBJECTIVES)} objectives of an agent, with the memory on and off"))
    began = time.perf_counter()
    on, off = (_life(console, memory=memory) for memory in (True, False))
    table = Table(box=None, pad_edge=False)
    for name in ("", "memory on", "off"):
        table.add_column(name, justify="left" if not name else "right")
    turns = ("first", "second, in other words", "third, in others again", "fourth, as the first")
    for turn, name in enumerate(turns):
        table.add_row(f"calls, {name}", *(str(sum(calls(life, turn))) for life in (on, off)))
    for turn, name in enumerate(turns):
        table.add_row(f"attempts, {name}", *(str(sum(attempts(life, turn))) for life in (on, off)))
    for name, count in (("calls", "calls"), ("attempts", "acts")):
        totals = (sum(getattr(one, count) for one in beside(life)) for life in (on, off))
        table.add_row(f"{name}, near misses", *map(str, totals))
    table.add_row("lessons kept", str(len(on.taught)), "")
    table.add_row("lessons told", *(str(tellings(life)[0]) for life in (on, off)))
    table.add_row("  where they do not apply", *(str(len(tellings(life)[1])) for life in (on, off)))
    if not plain:
        table.add_row("took", f"{time.perf_counter() - began:.0f} s", "")
    console.print(table)
    return checks(on, off, Expected())


def _life(console: Console, *, memory: bool) -> Life:
    with (
        tempfile.TemporaryDirectory(prefix="priming-loop-") as folder,
        progress(console, f"objectives, memory {'on' if memory else 'off'}", len(OBJECTIVES)) as step,
    ):
        return live(OBJECTIVES, Path(folder), memory=memory, step=step)


if __name__ == "__main__":
    sys.exit(main())
