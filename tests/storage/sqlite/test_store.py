import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from priming.storage.protocol import Store
from priming.storage.sqlite.store import SqliteStore

from ..contract import *  # noqa: F403
from ..making import NOW, create, link, remember, trace, verdict, whole
from .files import check_text_index


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An empty store, to copy: making one takes the disk a while."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    create(path)
    return path.read_bytes()


@pytest.fixture(params=["file", pytest.param("memory", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path, empty: bytes) -> Iterator[Store]:
    path = tmp_path / "memory.db" if request.param == "file" else None
    if path is not None:
        path.write_bytes(empty)
    opened = SqliteStore(path, synchronous="off")
    yield opened
    opened.close()
    if path is not None:
        check_text_index(path)


def test_bytes_are_those_of_texts_and_eight_for_each_number(store: Store, tmp_path: Path) -> None:
    remember(store, whole("a", content="Å" * 500), whole("b"), link("a", "b"), verdict("a"))
    store.add_trace("mine", trace("r"), keep=9, keep_flows=9, not_before=NOW)
    remember(store, whole("a"), namespace="other")
    store.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        names = [name for (name,) in copy.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables = [copy.execute(f"SELECT * FROM {name}") for name in names if name != "tokens"]
        sizes = [_bytes(row) for rows in tables for row in rows if _is_mine(rows, row)]
    assert store.counts("mine").bytes == sum(sizes)


def _is_mine(rows: sqlite3.Cursor, row: tuple[Any, ...]) -> bool:
    return ("namespace", "mine") in zip([column[0] for column in rows.description], row, strict=True)


def _bytes(row: tuple[Any, ...]) -> int:
    texts = [value.encode() if isinstance(value, str) else value for value in row if value is not None]
    return sum(8 if isinstance(value, (int, float)) else len(value) for value in texts)
