"""A store in memory."""

from __future__ import annotations

import pytest

from priming import Memory
from priming.embedding.protocol import HashedEmbedder


@pytest.fixture
def memory():
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as opened:
        yield opened
