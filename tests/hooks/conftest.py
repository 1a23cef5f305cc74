"""A filled project for each test, copied from one that is made once; no test sees the user's own environment."""

from __future__ import annotations

import os

import pytest
from tests.cli.conftest import shell  # noqa: F401

from priming import HashedEmbedder

from .project import Project, filled


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder and a working directory of the test's own, the fast embedder by default."""
    for name in [name for name in os.environ if name.startswith(("PRIMING_", "ARC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PRIMING_EMBEDDER", "hashed")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template") / "shop"
    return filled(Project(folder, embedder=HashedEmbedder()))


@pytest.fixture
def project(template, tmp_path):
    """A project with a filled store of the test's own, without a server."""
    return template.copy(tmp_path / "shop")
