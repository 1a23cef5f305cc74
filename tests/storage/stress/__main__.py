"""``make stress``: many writers, kills and faults on every backend; what was tried, survived and lost."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .databases import Database, sqlite
from .faults import FAULTS, repeated
from .kills import SCENES, kill_often, left_over
from .writers import write_at_once

BACKENDS = ("sqlite",)


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the table: what was tried, how often, how often it was survived, and what is wrong."""

    backend: str
    what: str
    tried: int
    note: str
    wrong: Sequence[str]

    @property
    def survived(self) -> int:
        """How many of the tries left nothing wrong."""
        return max(0, self.tried - len(self.wrong))


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="make stress", description=__doc__)
    parser.add_argument("--seed", type=int, default=7, help="the same seed draws the same verbs and moments")
    parser.add_argument("--kills", type=int, default=240, help="kills on each backend, over all scenes")
    parser.add_argument("--processes", type=int, default=8, help="processes that write at once")
    parser.add_argument("--writes", type=int, default=1000, help="writes of each of them")
    parser.add_argument("--faults", type=int, default=20, help="times that each other fault is tried")
    parser.add_argument("--backend", choices=BACKENDS, action="append", help="only this backend")
    return parser.parse_args()


def results(options: argparse.Namespace, folder: Path, console: Console) -> Iterator[Result]:
    """Everything that is tried, one after the other."""
    for backend in options.backend or BACKENDS:
        for scene in SCENES:
            with console.status(f"{backend}: kill -9 in {scene.name}"):
                database = sqlite(folder / backend / scene.name)
                tally = kill_often(database, scene, -(-options.kills // len(SCENES)), options.seed)
            wrong = [*tally.wrong, *(f"half-written: {name}" for name in left_over(database.folder))]
            note = f"{tally.killed} before they ended by themselves"
            yield Result(backend, f"kill -9 in {scene.name}", tally.tried, note, wrong)
        for name, fault in FAULTS.items():
            with console.status(f"{backend}: {name}"):
                tally = repeated(fault, folder / backend / name, options.faults, options.seed)
            yield Result(backend, name, tally.tried, "", tally.wrong)
        with console.status(f"{backend}: {options.processes} writers"):
            yield _written(sqlite(folder / backend / "writers"), backend, options)


def _written(database: Database, backend: str, options: argparse.Namespace) -> Result:
    writing = write_at_once(database, options.processes, options.writes, options.seed)
    wrong = [*writing.wrong, *(f"{count} × {error}" for error, count in writing.errors.items())]
    missing = options.processes * options.writes - writing.writes
    wrong += [f"{missing} writes failed"] if missing else []
    note = (
        f"{writing.writes / writing.seconds:,.0f} a second, the slowest {writing.slowest:.1f} s; beside them"
        f" {writing.recalls} recalls and {writing.nights} nights; {writing.unrecorded} recalls left no trace"
    )
    tried = options.processes * options.writes
    return Result(backend, f"writes of {options.processes} processes", tried, note, wrong)


def main() -> int:
    """Try everything and print the table; 1 if anything is wrong."""
    options, console, began = arguments(), Console(), time.monotonic()
    table = Table("backend", "what", "tried", "survived", "lost or wrong", "", box=None, pad_edge=False)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="priming-stress-") as folder:
        for row in results(options, Path(folder), console):
            table.add_row(
                *(row.backend, row.what, f"{row.tried:,}", f"{row.survived:,}", str(len(row.wrong)), row.note)
            )
            wrong += [f"{row.backend}, {row.what}: {each}" for each in row.wrong]
    console.print(table)
    for each in wrong[:20]:
        console.print(each, style="red", markup=False)
    console.print(f"seed {options.seed}, {time.monotonic() - began:.0f} s, {len(wrong)} lost or wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
