"""A store in PostgreSQL is migrated while processes of the release before read and write it."""

import importlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import md5
from pathlib import Path
from random import Random
from threading import Event

import psycopg
import pytest
from tests.storage.processes import Child, start
from tests.stress.databases import problems
from tests.stress.work import Diary, Worker

from priming import HashedEmbedder, Memory
from priming.errors import Busy, SchemaTooNew
from priming_server.postgres.migrations.runner import prepare
from priming_server.postgres.schema import lock_key, migrations
from priming_server.postgres.store import PostgresStore

from .next_release import ADDED, CONSTRAINT, INDEX, MISSED, NEWER, upgraded
from .server import as_superuser, empty

pytestmark = pytest.mark.slow
SCHEMA, EACH, COPIES = "upgraded", 500, 24
USED = "used"
"""The namespace that others write to."""
HELD = max((f"copy-{i}" for i in range(COPIES)), key=lambda name: md5(name.encode()).hexdigest())
"""That which a backfill comes to last."""
EMBEDDER = HashedEmbedder(16)


@pytest.fixture
def multiply(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    copy: Callable[..., None] = importlib.import_module("copies").multiply
    return copy


@pytest.fixture
def url(postgres: str, multiply: Callable[..., None]) -> Iterator[str]:
    """A store of some twenty thousand memories in several namespaces."""
    empty(postgres, SCHEMA)
    with opened(postgres, "copy-0") as memory:
        memory.remember_many(
            [{"content": f"Host {i} runs service {i * 7}.", "key": f"host-{i}"} for i in range(EACH)]
        )
    multiply(postgres, SCHEMA, "copy-0", [f"copy-{i}" for i in range(1, COPIES)])
    yield postgres
    empty(postgres, SCHEMA)


def opened(url: str, namespace: str = USED) -> Memory:
    return Memory.open(f"{url}&schema={SCHEMA}", namespace=namespace, embedder=EMBEDDER)


def upgrade(url: str) -> None:
    """What a process of the next release does when it opens the store."""
    PostgresStore(url, schema=SCHEMA, steps=NEWER).close()


@dataclass
class Helper:
    """A process of this release that calls Priming without a pause, and writes a byte after each call."""

    child: Child
    calls: int
    end: int

    def goes_on(self, calls: int = 5) -> None:
        """Wait until it has returned from further calls; one that was under way does not count."""
        os.set_blocking(self.calls, False)
        with suppress(BlockingIOError):
            while os.read(self.calls, 1 << 16):
                pass
        os.set_blocking(self.calls, True)
        for _ in range(calls + 1):
            assert os.read(self.calls, 1), self.child.result()

    def finish(self) -> None:
        os.write(self.end, b".")
        self.child.result()


def helper(call: Callable[[Memory, Worker], object], url: str, diary: Diary, seed: int) -> Helper:
    calls, wrote = os.pipe()
    until, end = os.pipe()

    def run() -> None:
        os.close(end)
        os.set_blocking(until, False)
        os.set_blocking(wrote, False)
        with opened(url) as memory:
            worker = Worker(memory, Random(seed), diary, f"w{seed}")
            while True:
                call(memory, worker)
                with suppress(BlockingIOError):
                    os.write(wrote, b".")
                with suppress(BlockingIOError):
                    os.read(until, 1)
                    return

    child = start(run)
    os.close(wrote)
    os.close(until)
    return Helper(child, calls, end)


def write(_: Memory, worker: Worker) -> None:
    worker.remember()


def read(memory: Memory, _: Worker) -> None:
    assert len(memory.recall("who painted the cellar?", limit=3).hits) <= 3
    assert len(memory.list(limit=5)) <= 5


@contextmanager
def session(url: str, *, begin: str = "BEGIN") -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of somebody else, in a transaction until the end of the block."""
    with psycopg.connect(
        as_superuser(url), autocommit=True, options=f"-c search_path={SCHEMA},public"
    ) as connection:
        connection.execute(begin.encode())
        yield connection
        connection.execute("ROLLBACK")


def value(url: str, sql: str) -> object:
    with session(url) as connection:
        rows = connection.execute(sql.encode()).fetchall()
    return rows[0][0] if rows else None


def until(url: str, sql: str) -> None:
    """Wait until a statement answers true."""
    for _ in range(20_000):
        with suppress(psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
            if value(url, sql):
                return
        Event().wait(0.005)
    raise AssertionError(f"never true: {sql}")


WAITS_FOR_TABLE = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ADD COLUMN letters%'"
    " AND pid <> pg_backend_pid()"
)
NULLS = "SELECT count(*) FROM memories WHERE letters IS NULL"
VERSION = "SELECT max(number) FROM schema_versions"
MIGRATING = (
    "SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND granted AND"
    f" (classid::bigint << 32) | objid::bigint = hashtextextended('{SCHEMA} schema', 0)"
)


@contextmanager
def at_work(url: str, diary: Diary) -> Iterator[list[Helper]]:
    """Two processes that write and one that reads, until the end of the block."""
    helpers = [helper(call, url, diary, seed) for seed, call in enumerate((write, write, read))]
    try:
        yield helpers
    except BaseException:
        for each in helpers:
            os.kill(each.child.pid, signal.SIGKILL)
        raise
    for each in helpers:
        each.finish()


def test_a_migration_is_killed_twice_and_completed_while_others_read_and_write(url, tmp_path):
    before, diary = migrations()[-1].number, Diary(tmp_path / "diary")
    with at_work(url, diary) as helpers:
        kill_twice_and_complete(url, before, helpers)
    assert (value(url, VERSION), value(url, NULLS), value(url, INDEX)) == (before + 1, 0, True)
    assert value(url, "SELECT to_regclass('schema_steps')") is None
    assert value(url, CONSTRAINT)
    assert value(url, MISSED) == 0

    with upgraded(url, SCHEMA, USED, EMBEDDER) as memory:
        assert problems(memory, diary.acknowledged, diary.begun) == []
        assert memory.verify().findings == ()


def kill_twice_and_complete(url, before, helpers):
    holder = value(url, f"SELECT count(*) FROM memories WHERE namespace = '{HELD}'")
    with session(url) as long_read:
        long_read.execute("SELECT count(*) FROM memories")
        migrator = start(partial(upgrade, url))
        until(url, WAITS_FOR_TABLE)
        for each in helpers:  # its request for the table stands in nobody's way for long
            each.goes_on()
    with last_namespace_held(url):
        until(url, "SELECT count(DISTINCT namespace) = 1 FROM memories WHERE letters IS NULL")
        for each in helpers:
            each.goes_on()
        migrator.kill()
        assert (value(url, VERSION), value(url, NULLS)) == (before, holder)
    until(url, MIGRATING)
    rows = value(url, "SELECT rows FROM schema_steps")

    with session(url, begin="BEGIN ISOLATION LEVEL REPEATABLE READ") as old_reader:
        old_reader.execute("SELECT 1")
        migrator = start(partial(upgrade, url))
        until(url, "SELECT to_regclass('memories_by_letters') IS NOT NULL")
        for each in helpers:
            each.goes_on()
        assert value(url, "SELECT rows FROM schema_steps") == rows + holder, "it went on where it was"
        migrator.kill()
        until(url, MIGRATING)
    assert (value(url, VERSION), value(url, NULLS), value(url, INDEX)) == (before, 0, False)

    both = [start(partial(upgrade, url)), start(partial(upgrade, url))]
    for each in both:
        each.result()
    for each in helpers:
        each.goes_on()
    with pytest.raises(SchemaTooNew, match=f"schema {before + 1}, this one knows {before}"):
        opened(url)


@contextmanager
def last_namespace_held(url: str) -> Iterator[None]:
    key = lock_key(SCHEMA, "write", HELD)
    with session(url) as writer:
        writer.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
        yield


def test_an_opening_during_a_migration_waits_and_then_says_who_migrates_and_how_far_it_is(url):
    with last_namespace_held(url):
        migrator = start(partial(upgrade, url))
        until(url, "SELECT count(DISTINCT namespace) = 1 FROM memories WHERE letters IS NULL")
        with (
            psycopg.connect(url, autocommit=True, options=f"-c search_path={SCHEMA},public") as connection,
            pytest.raises(
                Busy,
                match=rf"migrated by priming \d+ .*to schema {ADDED.number} \(1 steps and [\d,]+ rows are done",
            ),
        ):
            prepare(connection, SCHEMA, "the store", NEWER, patience=0.05)
    migrator.result()


def test_a_process_that_was_open_before_goes_on_but_copies_nothing_that_it_does_not_know(url, tmp_path):
    with opened(url) as older:
        older.remember("The lamp was mended.")
        start(partial(upgrade, url)).result()
        note = older.remember("The boat was sold.")
        assert older.recall("who sold the boat?").hits[0].memory.key == note.key
        with pytest.raises(SchemaTooNew, match="upgrade Priming"):
            older.store.backup(tmp_path / "copy.db")
        assert not (tmp_path / "copy.db").exists()
