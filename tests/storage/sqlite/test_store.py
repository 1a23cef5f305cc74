from collections.abc import Iterator
from pathlib import Path

import pytest

from priming.storage.protocol import Store
from priming.storage.sqlite.store import SqliteStore

from ..contract import *  # noqa: F403
from ..making import create
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
