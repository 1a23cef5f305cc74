"""Fixtures of the index tests: one embedder, a clock that stands still, and memories that are closed afterwards."""

from datetime import UTC, datetime

import pytest

from priming import FixedClock, HashedEmbedder, Memory


@pytest.fixture(scope="session")
def embedder():
    # At 256 dimensions unrelated texts are nearly orthogonal.
    return HashedEmbedder(256)


@pytest.fixture
def clock():
    return FixedClock(datetime(2024, 5, 17, 9, 30, tzinfo=UTC))


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def open_memory(embedder, clock):
    memories = []

    def open_(url="sqlite://", **settings):
        memory = Memory.open(url, **{"embedder": embedder, "clock": clock, **settings})
        memories.append(memory)
        return memory

    yield open_
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(open_memory):
    return open_memory()
