"""A project whose store has the hostile memories: a few of them in the fast tests, all in the slow ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from priming import HashedEmbedder, Memory

from .attacks import ATTACKS
from .scene import fill

FEW = [
    *("order", "closing quote", "quote and line", "long fence", "function calls", "system reminder"),
    *("line of direction", "title of the window", "tags of Unicode", "separators", "hit", "JSON"),
]


@dataclass(frozen=True)
class Scene:
    """A project's folder, the store in it, the attacks in the store, and every field that may be packed."""

    folder: Path
    url: str
    names: tuple[str, ...]
    fields: frozenset[str]

    def open(self):
        return Memory.open(self.url, embedder=HashedEmbedder())


@pytest.fixture(scope="session", params=["few", pytest.param("all", marks=pytest.mark.slow)])
def scene(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".priming").mkdir()
    url = f"sqlite:///{folder}/.priming/memory.db"
    names = tuple(FEW if request.param == "few" else ATTACKS)
    with Memory.open(url, embedder=HashedEmbedder()) as memory:
        fields = fill(memory, names)
    return Scene(folder, url, names, frozenset(fields))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder of the test's own, and the fast embedder."""
    for name in [name for name in os.environ if name.startswith(("PRIMING_", "ARC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PRIMING_EMBEDDER", "hashed")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
