"""Backups of SQLite files: of older schemas, in use, damaged, and the store itself."""

import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from priming.errors import Conflict, Corrupt, SchemaTooNew, StoreError
from priming.storage.rows import MemoryRow
from priming.storage.sqlite.store import SqliteStore

from ..making import dump, operation, remember, whole
from ..processes import in_child
from .files import check_text_index, contents, execute, make_schema_1, schema


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    path = tmp_path / "memory.db"
    opened = SqliteStore(path, synchronous="off")
    remember(opened, whole("here"))
    yield opened
    opened.close()
    check_text_index(path)


def test_a_backup_is_a_store_of_its_own(store: SqliteStore, tmp_path: Path) -> None:
    store.backup(tmp_path / "backup.db")
    copy = SqliteStore(tmp_path / "backup.db")
    assert dump(copy) == dump(store)
    assert copy.check("mine") == []
    copy.close()
    check_text_index(tmp_path / "backup.db")


def test_what_is_not_committed_is_not_in_a_backup(store: SqliteStore, tmp_path: Path) -> None:
    with store.transaction():
        remember(store, whole("c"))
        store.backup(tmp_path / "backup.db")
    copy = SqliteStore(tmp_path / "backup.db")
    assert [row.id for row in copy.rows("mine", MemoryRow)] == ["here"]
    copy.close()


def test_a_closed_store_is_not_backed_up(store: SqliteStore, tmp_path: Path) -> None:
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.backup(tmp_path / "backup.db")
    assert not list(tmp_path.glob("backup*"))


@pytest.mark.slow
def test_a_full_disk_leaves_no_backup(store: SqliteStore, tmp_path: Path) -> None:
    remember(store, *(whole(f"m{i}", "many words " * 50) for i in range(200)))
    store.close()

    def attempt() -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        again = SqliteStore(tmp_path / "memory.db")
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        with pytest.raises(StoreError) as caught:
            again.backup(tmp_path / "backup.db")
        assert len(again.rows("mine", MemoryRow)) == 201
        return str(caught.value)

    message = in_child(attempt)
    assert message.startswith(f"{tmp_path / 'backup.db'} could not be read or written")
    assert "is the disk full?" in message
    assert not list(tmp_path.glob("backup*"))


def test_a_store_in_memory_is_not_copied_in_the_middle_of_a_write(tmp_path: Path) -> None:
    store = SqliteStore(None)
    with store.transaction(), pytest.raises(Conflict, match="during a write"):
        store.backup(tmp_path / "backup.db")
    assert contents(tmp_path) == {}
    store.close()


def test_a_backup_of_schema_1_is_brought_up_to_date_and_left_as_it_was(
    store: SqliteStore, tmp_path: Path
) -> None:
    old = tmp_path / "old" / "memory.db"
    old.parent.mkdir()
    make_schema_1(old)
    before = contents(old.parent)
    store.restore_backup(old, [operation(kind="restore-backup")])
    assert contents(old.parent) == before
    assert schema(old) == 1
    assert [row.key for row in store.rows("mine", MemoryRow) if row.kind == "episode"] == [
        "office",
        "meeting",
    ]
    assert {row.confidence for row in store.rows("mine", MemoryRow)} == {1.0}
    assert store.namespaces() == ["mine", "theirs"]
    assert store.check("mine") == []


def test_a_backup_that_is_in_use_is_taken_with_its_journal(store: SqliteStore, tmp_path: Path) -> None:
    other = SqliteStore(tmp_path / "other.db")
    remember(other, whole("there"))
    assert (tmp_path / "other.db-wal").stat().st_size > 0
    store.restore_backup(tmp_path / "other.db", [operation(kind="restore-backup")])
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["there"]
    remember(other, whole("more"))
    assert other.check("mine") == []
    other.close()


def test_a_store_is_no_backup_of_itself(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "alias.db").symlink_to(tmp_path / "memory.db")
    for path in (tmp_path / "memory.db", tmp_path / "alias.db"):
        with pytest.raises(Conflict, match="is the store itself"):
            store.restore_backup(path, [operation(kind="restore-backup")])
    assert store.head("mine") == 1


def test_a_backup_of_a_newer_schema_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    store.backup(tmp_path / "backup.db")
    execute(tmp_path / "backup.db", "PRAGMA user_version = 99")
    with pytest.raises(SchemaTooNew, match="install a newer Priming"):
        store.restore_backup(tmp_path / "backup.db", [operation(kind="restore-backup")])
    assert store.head("mine") == 1


def test_a_database_of_another_program_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    execute(tmp_path / "other.db", "CREATE TABLE notes (x)")
    with pytest.raises(Corrupt, match="another program"):
        store.restore_backup(tmp_path / "other.db", [operation(kind="restore-backup")])
    assert store.head("mine") == 1


def test_a_backup_with_damaged_pages_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    remember(store, *(whole(f"m{i}", "many words " * 50) for i in range(200)))
    path = tmp_path / "backup.db"
    store.backup(path)
    with closing(sqlite3.connect(path)) as raw:
        ((page,),) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'versions_by_digest'")
    damaged = bytearray(path.read_bytes())
    damaged[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(damaged)
    before = dump(store)
    with pytest.raises(Corrupt, match="damaged"):
        store.restore_backup(path, [operation(kind="restore-backup")])
    assert dump(store) == before
