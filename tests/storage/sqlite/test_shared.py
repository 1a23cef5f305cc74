import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from priming.errors import Busy
from priming.storage.protocol import Changes, Store, Trace
from priming.storage.rows import MemoryRow
from priming.storage.sqlite.store import SqliteStore

from ..contract_sharing import *  # noqa: F403
from ..making import NOW, remember, trace, whole


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    opened: list[SqliteStore] = []

    def connect(busy_timeout: float = 5.0) -> Store:
        opened.append(SqliteStore(tmp_path / "memory.db", busy_timeout=busy_timeout))
        return opened[-1]

    yield connect
    for item in opened:
        item.close()


def test_nothing_is_flushed_while_another_reads_what_was_before(open_store: Callable[..., Store]) -> None:
    item, other = open_store(busy_timeout=0.05), open_store()
    remember(item, whole("a"))
    with other.transaction(write=False):
        assert other.head("mine") == 1
        item.purge(Changes("mine", "p", "purge", NOW), ["a"])
        with pytest.raises(Busy, match="bytes remain until the file can be rewritten"):
            item.flush()
    item.flush()
    assert other.rows("mine", MemoryRow) == []


def test_a_trace_does_not_wait_long_for_a_writer(open_store: Callable[..., Store]) -> None:
    item, other = open_store(), open_store(busy_timeout=600)
    with item.transaction(), pytest.raises(Busy):
        other.add_trace("mine", trace("r"), keep=9, keep_flows=9, not_before=NOW)
    assert other.rows("mine", Trace, limit=100) == []


OPEN_AND_CLOSE = """
import sqlite3, sys
one = sqlite3.connect(sys.argv[1])
one.execute("SELECT count(*) FROM memories").fetchone()
one.close()
"""


@pytest.mark.slow
def test_opening_a_store_twice_in_a_process_keeps_the_locks_of_the_first(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    first = open_store()
    remember(first, whole("a"))
    open_store().close()
    subprocess.run([sys.executable, "-I", "-c", OPEN_AND_CLOSE, tmp_path / "memory.db"], check=True)
    assert (tmp_path / "memory.db-wal").stat().st_size > 0, "the other process took itself for the last one"
    remember(first, whole("b"))
