"""A file that is no store of ours is refused by name, and stays as it was, byte for byte."""

import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from priming.errors import Corrupt, SchemaTooNew, StoreError
from priming.storage.rows import LinkRow
from priming.storage.sqlite.files import APPLICATION_ID, migrations
from priming.storage.sqlite.store import SqliteStore

from ..making import create, dump, link, remember, whole
from ..processes import start
from .files import contents, execute, schema

PAGE = 4096


def ours(path: Path, memories: int = 40) -> None:
    """A store of some pages, closed."""
    store = SqliteStore(path, synchronous="off")
    remember(store, *(whole(f"m{i}", "words " * 50) for i in range(memories)))
    store.close()


def left_by_a_killed_process(path: Path, *statements: str) -> None:
    """Statements that reached the journal and not the file, because their process was killed."""

    def write() -> None:
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("PRAGMA cache_size = 5")
        for statement in statements:
            raw.execute(statement)
        os.kill(os.getpid(), signal.SIGKILL)

    assert start(write).killed()
    assert path.with_name(path.name + "-wal").stat().st_size > 0


def cut(path: Path, size: int) -> None:
    os.truncate(path, size)


def another(path: Path, *statements: str) -> None:
    execute(path, "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", *statements)


def newer_in_journal(path: Path) -> None:
    ours(path)
    left_by_a_killed_process(path, "PRAGMA user_version = 99")


def other_in_journal(path: Path) -> None:
    execute(path, "PRAGMA journal_mode = WAL")
    left_by_a_killed_process(path, "CREATE TABLE t (x)")


def cut_beside_its_journal(path: Path) -> None:
    ours(path)
    left_by_a_killed_process(path, "UPDATE memories SET weight = 0.6 WHERE number = 1")
    cut(path, 2 * PAGE)


def emptied_beside_its_journal(path: Path) -> None:
    ours(path)
    left_by_a_killed_process(path, "UPDATE memories SET weight = 0.6 WHERE number = 1")
    cut(path, 0)


def spoil(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """One of our stores, changed."""

    def make(path: Path) -> None:
        ours(path)
        change(path)

    return make


def bytes_of(holder: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(holder)


SPOILT: dict[str, tuple[Callable[[Path], object], type[StoreError], str]] = {
    "a newer schema": (
        spoil(lambda path: execute(path, "PRAGMA user_version = 99")),
        SchemaTooNew,
        "schema 99",
    ),
    "a newer schema in the journal": (newer_in_journal, SchemaTooNew, "install a newer Priming"),
    "a text": (bytes_of(b"Dear diary,\n" * 500), Corrupt, "not a Priming database"),
    "a few letters": (bytes_of(b"hello"), Corrupt, "not a Priming database"),
    "a header without a database": (bytes_of(b"SQLite format 3\x00" + bytes(84)), Corrupt, "memory.db"),
    "noise after a header": (bytes_of(b"SQLite format 3\x00" + bytes(range(256)) * 40), Corrupt, "memory.db"),
    "half a file": (spoil(lambda path: cut(path, path.stat().st_size // 2)), Corrupt, "damaged or truncated"),
    "all but a page": (
        spoil(lambda path: cut(path, path.stat().st_size - PAGE)),
        Corrupt,
        "damaged or truncated",
    ),
    "one page": (spoil(lambda path: cut(path, PAGE)), Corrupt, "damaged or truncated"),
    "half a page": (spoil(lambda path: cut(path, PAGE // 2)), Corrupt, "memory.db"),
    "a few bytes": (spoil(lambda path: cut(path, 50)), Corrupt, "memory.db"),
    "a cut file beside its journal": (cut_beside_its_journal, Corrupt, "damaged or truncated"),
    "an empty file beside its journal": (emptied_beside_its_journal, Corrupt, "empty, but has a journal"),
    "another program's database": (another, Corrupt, "another program"),
    "another program's numbered database": (
        lambda path: another(path, "PRAGMA user_version = 1", "PRAGMA application_id = 7"),
        Corrupt,
        "another program",
    ),
    "another program's empty database": (
        lambda path: execute(path, "PRAGMA application_id = 7"),
        Corrupt,
        "another program",
    ),
    "another program's journal": (other_in_journal, Corrupt, "another program"),
}


@pytest.mark.parametrize(("make", "error", "words"), SPOILT.values(), ids=SPOILT)
def test_what_is_no_store_of_ours_is_refused_and_left_as_it_was(
    tmp_path: Path, make: Callable[[Path], object], error: type[StoreError], words: str
) -> None:
    path = tmp_path / "memory.db"
    make(path)
    before = contents(tmp_path)
    with pytest.raises(error, match=words) as caught:
        SqliteStore(path)
    assert type(caught.value) is error
    assert str(path) in str(caught.value)
    assert contents(tmp_path) == before


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder: name a file, such as .*memory\.db"):
        SqliteStore(tmp_path)
    assert contents(tmp_path) == {}


def test_a_pipe_is_no_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is not a file"):
        SqliteStore(tmp_path / "pipe")


def test_a_file_is_no_folder_for_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(StoreError, match="file"):
        SqliteStore(tmp_path / "file" / "memory.db")
    assert contents(tmp_path) == {"file": b"here"}


def only_a_header(path: Path) -> None:
    execute(path, "PRAGMA journal_mode = WAL", "VACUUM")


@pytest.mark.parametrize("make", [id, Path.touch, only_a_header])
def test_what_holds_nothing_becomes_a_store(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "new folder" / "memory.db"
    path.parent.mkdir()
    make(path)
    create(path)
    assert schema(path) >= 1
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_folders_are_made_on_the_way(tmp_path: Path) -> None:
    create(tmp_path / "a" / "b" / "memory.db")
    assert list(contents(tmp_path)) == ["a/b/memory.db"]


def test_a_name_may_hold_what_a_url_may_not(tmp_path: Path) -> None:
    path = tmp_path / "100% of #1 ?mode=ro&x=ü.db"
    ours(path, 2)
    store = SqliteStore(path)
    assert store.head("mine") == 1
    store.close()
    assert list(contents(tmp_path)) == [path.name]


@pytest.mark.slow
def test_a_journal_left_by_a_killed_process_is_brought_in(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def die() -> None:
        store = SqliteStore(path, synchronous="off")
        remember(store, *(whole(f"m{i}", "words " * 50) for i in range(40)))
        remember(store, link("m0", "m1"))
        os.kill(os.getpid(), signal.SIGKILL)

    assert start(die).killed()
    store = SqliteStore(path)
    assert len(dump(store)["memories"]) == 40
    assert store.rows("mine", LinkRow) == [link("m0", "m1")]
    assert store.check("mine") == []
    store.close()


@pytest.mark.slow
def test_what_was_not_committed_before_a_kill_is_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ours(path)
    spill = "INSERT INTO namespaces SELECT hex(randomblob(500)) FROM memories, memories"
    left_by_a_killed_process(path, "BEGIN", "PRAGMA user_version = 99", spill)
    store = SqliteStore(path)
    assert store.namespaces() == ["mine"]
    store.close()
    assert schema(path) == len(migrations())


def test_damage_that_shows_only_later_is_named_then(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ours(path)
    with path.open("r+b") as file:
        last = path.stat().st_size // PAGE - 1
        for page in range(last * 3 // 4, last):  # behind those of the schema
            file.seek(page * PAGE)
            file.write(b"\xff" * PAGE)
    store = SqliteStore(path)
    result = store.check("mine")
    assert {(item.rule, item.subject) for item in result} == {("integrity", str(path))}
    with pytest.raises(Corrupt, match="restore it from a backup"):
        dump(store)
    store.close()


def test_a_pipe_in_place_of_the_journal_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    execute(path, "CREATE TABLE there (id)")
    os.mkfifo(tmp_path / "memory.db-wal")
    with pytest.raises(StoreError, match=r"memory\.db-wal cannot be read: is no file"):
        SqliteStore(path)
