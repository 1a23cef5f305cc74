"""A server on a team's store, and its page."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.conftest import Served

from priming.config.params.services import ServerParams

from ..conftest import PATIENCE
from .team import fill


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """The file of a team's store, which each test copies."""
    folder = tmp_path_factory.mktemp("team")
    path = folder / "memory.db"
    fill(f"sqlite:///{path}", folder)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def served(filled, tmp_path, monkeypatch):
    """A server in a thread, on a store of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = Path(shutil.copy(filled, tmp_path / "memory.db"))
    server = Served(f"sqlite:///{path}", ServerParams())
    yield server
    server.close()


@pytest.fixture
def page(chromium, served):
    """A page of the server; in the end no script may have failed, and none of others have run."""
    context = chromium.new_context(base_url=served.at, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page
    context.close()
    assert complaints == []
