"""A store is created by its first write, never by a read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from priming.errors import Corrupt, StoreError
from priming.storage.sqlite.store import SqliteStore

from ..making import NOW, create, mine, remember, whole


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "project" / ".priming" / "memory.db")
    yield opened
    opened.close()


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_reading_finds_nothing_and_makes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    assert store.namespaces() == []
    assert mine(store).page_of(NOW, limit=100) == []
    with store.transaction(write=False):
        assert store.head("mine") == 0
    assert not store.place.exists
    store.flush()
    assert files(tmp_path) == []


def test_the_first_write_makes_the_store_in_a_folder_that_git_ignores(
    store: SqliteStore, tmp_path: Path
) -> None:
    remember(store, whole("a"))
    assert store.place.exists
    folder = tmp_path / "project" / ".priming"
    assert (folder / ".gitignore").read_text() == "*\n"
    store.close()
    with_it = SqliteStore(folder / "memory.db")
    assert with_it.head("mine") == 1
    with_it.close()


def test_a_gitignore_of_somebody_else_stays(store: SqliteStore, tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".priming"
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("memory.db*\n")
    remember(store, whole("a"))
    assert (folder / ".gitignore").read_text() == "memory.db*\n"


def test_a_store_in_another_folder_brings_no_gitignore(tmp_path: Path) -> None:
    create(tmp_path / "notes.db")
    assert files(tmp_path) == ["notes.db"]


def test_what_another_process_writes_is_read_from_then_on(store: SqliteStore, tmp_path: Path) -> None:
    assert store.head("mine") == 0
    other = SqliteStore(tmp_path / "project" / ".priming" / "memory.db")
    remember(other, whole("a"))
    assert store.place.exists
    assert store.head("mine") == 1
    remember(store, whole("b"))
    assert other.head("mine") == 2
    other.close()


def test_an_empty_file_stays_as_it_is_until_the_first_write(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    store = SqliteStore(tmp_path / "memory.db")
    assert store.namespaces() == []
    assert files(tmp_path) == ["memory.db"]
    assert (tmp_path / "memory.db").stat().st_size == 0
    remember(store, whole("a"))
    assert store.head("mine") == 1
    store.close()


def test_a_file_of_another_program_that_appears_meanwhile_is_left_alone(
    store: SqliteStore, tmp_path: Path
) -> None:
    path = tmp_path / "project" / ".priming" / "memory.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database " * 20)
    for use in (lambda: store.head("mine"), lambda: remember(store, whole("a"))):
        with pytest.raises(Corrupt, match="is not a Priming database"):
            use()
    assert path.read_bytes() == b"no database " * 20


def test_a_store_that_was_closed_before_it_existed_stays_closed(store: SqliteStore, tmp_path: Path) -> None:
    store.close()
    create(tmp_path / "project" / ".priming" / "memory.db")
    with pytest.raises(StoreError, match="was closed"):
        store.head("mine")
