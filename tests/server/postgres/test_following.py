"""Sources that change are followed in a store of PostgreSQL as in a file."""

from __future__ import annotations

import random

import pytest
from tests.transfer.test_following import Vault, first_import, state

from priming import HashedEmbedder, Memory
from priming.transfer.run import run

from .server import empty


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20, 21])
def test_notes_in_postgresql_are_followed_as_in_a_file(tmp_path, postgres, seed):
    empty(postgres, "followed")
    with Memory.open(f"{postgres}&schema=followed", embedder=HashedEmbedder()) as memory:
        vault = Vault(tmp_path / "notes", random.Random(seed))
        for _ in range(5):
            vault.write()
            run(memory, "markdown", vault.folder, prune=True)
            assert state(memory) == first_import("markdown", vault.folder)
            for _ in range(3):
                vault.change()
        assert memory.validate() == []
