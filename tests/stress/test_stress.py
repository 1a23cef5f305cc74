"""Short forms of what ``make stress`` runs for long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.server.postgres.server import running

from .databases import Database, postgres, sqlite
from .faults import repeated
from .kills import SCENES, Scene, kill_often
from .postgres_faults import FAULTS
from .writers import write_at_once

pytestmark = pytest.mark.slow
SEED = 7
FAULTS_BY_BACKEND = [(backend, name) for backend, faults in FAULTS.items() for name in faults]
New = Callable[[str, Path], Database]


@pytest.fixture(scope="session")
def new() -> Iterator[New]:
    """Makes a new database of a backend, beside a folder; PostgreSQL is started when it is first needed."""
    with ExitStack() as stack:
        urls: list[str] = []

        def make(backend: str, folder: Path) -> Database:
            if backend == "SQLite":
                return sqlite(folder)
            urls.extend([] if urls else [stack.enter_context(running())])
            return postgres(urls[0], folder)

        yield make


@pytest.mark.parametrize("backend", FAULTS)
def test_of_many_writers_nothing_is_lost_or_doubled_and_nobody_is_refused(
    tmp_path: Path, new: New, backend: str
) -> None:
    writing = write_at_once(new(backend, tmp_path), processes=8, writes=12, seed=SEED)
    assert (writing.wrong, dict(writing.errors), writing.writes) == ([], {}, 96)
    assert min(writing.recalls, writing.nights) > 0


@pytest.mark.parametrize("backend", FAULTS)
@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_a_kill_at_any_moment_leaves_a_store_that_goes_on(
    tmp_path: Path, new: New, scene: Scene, backend: str
) -> None:
    tally = kill_often(new(backend, tmp_path), scene, times=2, seed=SEED)
    assert (tally.tried, tally.wrong) == (2, [])


@pytest.mark.parametrize(("backend", "name"), FAULTS_BY_BACKEND)
def test_a_fault_is_a_named_error_or_none_and_leaves_nothing_half_done(
    tmp_path: Path, new: New, backend: str, name: str
) -> None:
    tally = repeated(
        FAULTS[backend][name], lambda number: new(backend, tmp_path / number), times=1, seed=SEED
    )
    assert (tally.tried, tally.wrong) == (1, [])
