"""``make stress``: many writers, kills and faults on every backend; what was tried, survived and lost."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.server.postgres.server import running

from .databases import Database, postgres, sqlite
from .faults import repeated
from .kills import SCENES, kill_often
from .postgres_faults import FAULTS
from .writers import write_at_once


@contextmanager
def _sqlite() -> Iterator[Callable[[Path], Database]]:
    yield sqlite


@contextmanager
def _postgres() -> Iterator[Callable[[Path], Database]]:
    with running() as url:
        yield lambda folder: postgres(url, folder)


BACKENDS = {"SQLite": _sqlite, "PostgreSQL": _postgres}


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
    parser.add_argument("--backend", choices=tuple(BACKENDS), action="append", help="only this backend")
    return parser.parse_args()


def results(options: argparse.Namespace, folder: Path, console: Console) -> Iterator[Result]:
    """Everything that is tried, one after the other."""
    for backend in options.backend or BACKENDS:
        with BACKENDS[backend]() as new:
            yield from _on(backend, new, options, folder / backend, console)


def _on(
    backend: str,
    new: Callable[[Path], Database],
    options: argparse.Namespace,
    folder: Path,
    console: Console,
) -> Iterator[Result]:
    for scene in SCENES:
        database = new(folder / scene.name)
        console.print(f"{backend}: kill -9 in {scene.name}", style="dim")
        tally = kill_often(database, scene, -(-options.kills // len(SCENES)), options.seed)
        note = f"{tally.killed} before they ended by themselves"
        yield Result(backend, f"kill -9 in {scene.name}", tally.tried, note, tally.wrong)
    for name, fault in FAULTS[backend].items():
        console.print(f"{backend}: {name}", style="dim")
        tally = repeated(
            fault, lambda number, name=name: new(folder / name / number), options.faults, options.seed
        )
        yield Result(backend, name, tally.tried, "", tally.wrong)
    console.print(f"{backend}: {options.processes} processes that write", style="dim")
    yield _written(new(folder / "writers"), backend, options)


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
