"""Places where a store cannot be, or cannot grow: a clear error, nothing half-written, and usable afterwards."""

import os
import resource
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from priming.errors import Busy, StoreError
from priming.storage.protocol import Changes
from priming.storage.rows import MemoryRow
from priming.storage.sqlite.files import migrations
from priming.storage.sqlite.store import SqliteStore

from ..making import NOW, dump, operation, remember, whole
from ..processes import Gate, in_child, start

NOBODY = 65534


def as_nobody(run: Callable[[], Any]) -> Any:
    """The result of a function that ran without the rights of root."""

    def drop_and_run() -> Any:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return run()

    migrations()  # the interpreter may lie where nobody can read: what is imported late is imported now
    return in_child(drop_and_run)


def refusal(run: Callable[[], Any]) -> tuple[str, str] | None:
    """The code and words of the error of a function, None if there was none."""
    try:
        run()
    except StoreError as error:
        return error.code, str(error)
    return None


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can reach, which is not so of the folders of tests."""
    with tempfile.TemporaryDirectory(dir=reachable()) as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        path.chmod(0o755)


def reachable() -> Path:
    for place in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):
        if all(item.stat().st_mode & stat.S_IXOTH for item in (place, *place.parents)):
            return place
    raise AssertionError("no folder for temporary files can be reached by every user")


@pytest.mark.slow
def test_a_store_cannot_be_made_where_nobody_may_write(folder: Path) -> None:
    folder.chmod(0o555)
    for path in (folder / "memory.db", folder / "below" / "memory.db"):
        result = as_nobody(partial(refusal, lambda: remember(SqliteStore(path), whole("a"))))  # noqa: B023
        assert result is not None
        code, words = result
        assert code == "store"
        assert str(folder) in words
        assert "permission" in words.lower()
    assert os.listdir(folder) == []


@pytest.mark.slow
def test_a_store_in_a_folder_that_may_only_be_read_says_so(folder: Path) -> None:
    path = folder / "memory.db"
    store = SqliteStore(path)
    remember(store, whole("a"))
    before = dump(store)
    store.close()
    path.chmod(0o644)
    folder.chmod(0o555)

    def write() -> None:
        other = SqliteStore(path)
        remember(other, whole("b"))

    code, words = as_nobody(lambda: refusal(write))
    assert (code, "change their permissions" in words) == ("store", True)
    folder.chmod(0o755)
    store = SqliteStore(path)
    assert dump(store) == before
    store.close()


@pytest.mark.slow
def test_a_file_that_may_not_be_read_says_so(folder: Path) -> None:
    path = folder / "memory.db"
    with closing(SqliteStore(path)) as store:
        remember(store, whole("a"))
    path.chmod(0)
    code, words = as_nobody(lambda: refusal(lambda: SqliteStore(path)))
    assert (code, str(path) in words) == ("store", True)


@pytest.mark.slow
def test_a_folder_that_may_not_be_entered_says_so(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    with closing(SqliteStore(inner / "memory.db")) as store:
        remember(store, whole("a"))
    inner.chmod(0)
    code, words = as_nobody(lambda: refusal(lambda: SqliteStore(inner / "memory.db")))
    assert (code, "cannot be read" in words) == ("store", True)
    inner.chmod(0o755)


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 5_000, 40_000, 200_000])
def test_a_full_disk_keeps_what_was_written_and_no_more(tmp_path: Path, room: int) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    remember(store, whole("first"))
    store.close()

    def fill() -> tuple[int, str, bool, int]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = SqliteStore(path, synchronous="off")
        rest = store.head("mine")
        limit_files(room + 4096)
        words = ""
        for i in range(1000):
            rows = whole(f"m{i}", f"{i} " * 3000)
            words = (refusal(partial(remember, store, rows, id=f"f{i}")) or ("", ""))[1]
            if words:
                break
            rest += 1
        same = store.head("mine") == rest
        limit_files(resource.RLIM_INFINITY)
        return rest, words, same, remember(store, whole("after"), id="after")

    retained, words, same, after = in_child(fill)
    assert "is the disk full? Nothing was changed" in words
    assert (same, after) == (True, retained + 1)
    store = SqliteStore(path)
    assert [entry.number for entry in store.operations("mine", after=0)] == list(range(1, retained + 2))
    assert len(store.rows("mine", MemoryRow)) == retained + 1
    assert store.check("mine") == []
    store.close()


@pytest.mark.slow
def test_a_purge_on_a_full_disk_says_that_its_bytes_are_still_there(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def purge() -> tuple[tuple[str, str] | None, list[str]]:
        store = SqliteStore(path)
        remember(store, whole("a", "unmistakeable " * 2000), whole("b", "words " * 2000))
        store.purge(Changes("mine", "p", "purge", NOW), ["a"])
        limit_files(4096)
        result = refusal(store.flush)
        limit_files(resource.RLIM_INFINITY)
        rest = [row.id for row in store.rows("mine", MemoryRow)]
        store.flush()
        return result, rest

    outcome, retained = in_child(purge)
    assert outcome is not None
    assert (outcome[0], "bytes remain until the file can be rewritten" in outcome[1]) == ("store", True)
    assert retained == ["b"]
    assert b"unmistakeable" not in path.read_bytes()


@pytest.mark.slow
def test_a_disk_that_is_full_from_the_start_leaves_nothing_to_stumble_over(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def make() -> tuple[str, str] | None:
        limit_files(10_000)
        return refusal(lambda: remember(SqliteStore(path), whole("a")))

    code, words = in_child(make)
    assert (code, "disk" in words) == ("store", True)
    store = SqliteStore(path)
    assert remember(store, whole("a")) == 1
    store.close()


@pytest.mark.slow
def test_a_store_that_another_process_writes_to_is_busy_until_it_is_done(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    holder, done = Gate.closed(), Gate.closed()

    def hold() -> None:
        store = SqliteStore(path)
        with store.transaction():
            remember(store, whole("a"), id="a")
            holder.open()
            done.wait()
        store.close()

    child = start(hold)
    holder.wait()
    store = SqliteStore(path, busy_timeout=0.05)
    with pytest.raises(Busy, match="which is writing"):
        remember(store, whole("b"))
    assert store.rows("mine", MemoryRow) == []
    done.open()
    child.result()
    assert remember(store, whole("b")) == 2
    store.close()


@pytest.mark.slow
def test_a_lock_goes_with_the_process_that_held_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    holder, never = Gate.closed(), Gate.closed()

    def hold() -> None:
        store = SqliteStore(path)
        with store.transaction():
            remember(store, whole("a"))
            holder.open()
            never.wait()

    child = start(hold)
    holder.wait()
    child.kill()
    store = SqliteStore(path, busy_timeout=0.05)
    assert remember(store, whole("b")) == 1
    assert store.check("mine") == []
    store.close()


@pytest.mark.slow
def test_a_backup_in_a_folder_that_may_only_be_read_is_put_back(folder: Path) -> None:
    """SQLite would write a journal beside what it opens."""
    (folder / "fixed").mkdir()
    (folder / "own").mkdir()
    (folder / "own").chmod(0o777)
    store = SqliteStore(folder / "own" / "memory.db")
    remember(store, whole("a"))
    store.backup(folder / "fixed" / "backup.db")
    store.close()
    (folder / "fixed").chmod(0o555)
    (folder / "fixed" / "backup.db").chmod(0o444)

    def restored() -> int:
        with closing(SqliteStore(folder / "own" / "other.db")) as other:
            other.restore_backup(folder / "fixed" / "backup.db", [operation(kind="restore-backup")])
            return len(other.rows("mine", MemoryRow))

    assert as_nobody(restored) == 1
    (folder / "fixed").chmod(0o755)
