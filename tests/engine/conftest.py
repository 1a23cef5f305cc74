"""What the tests of the engine share: one embedder, a clock that stands where it is put, memories that close."""

from datetime import UTC, datetime

import pytest

from priming import FixedClock, HashedEmbedder, Memory


@pytest.fixture(scope="session")
def embedder():
    # At 256 dimensions unrelated texts are nearly at right angles.
    return HashedEmbedder(256)


@pytest.fixture
def clock():
    return FixedClock(datetime(2024, 5, 17, 9, 30, tzinfo=UTC))


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def open_memory(embedder, clock):
    opened = []

    def open_(url="sqlite://", **settings):
        memory = Memory.open(url, **{"embedder": embedder, "clock": clock, **settings})
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory):
    return open_memory()
