"""What the tests of the loop share: a memory whose clock stands where it is put."""

from datetime import UTC, datetime

import pytest
from tests.cli.conftest import prepared, shell, shown  # noqa: F401

from priming import FixedClock, HashedEmbedder, Memory

from .scripted_runs import Runs


@pytest.fixture(scope="session")
def embedder():
    # At 256 dimensions unrelated texts are nearly at right angles.
    return HashedEmbedder(256)


@pytest.fixture
def clock():
    return FixedClock(datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


@pytest.fixture
def memory(embedder, clock):
    with Memory.open("sqlite://", embedder=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def runs(memory, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return Runs(memory, folder)


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Programs that the tests rewrite within a second: Python would take the old bytecode for the new file's."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
