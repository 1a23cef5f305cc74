"""The store of a project that is set up: made with it, and taken away with it as long as nothing was stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from priming.config import environment
from priming.config.store_urls import Location
from priming.errors import StoreError
from priming.operations import local_socket as places
from priming_agents.stores import is_store, place_of_new_store

if TYPE_CHECKING:
    from priming.config.settings import Settings

_IGNORING = "*\n"
"""The text of the ``.gitignore`` that a store writes beside itself."""


def missing(settings: Settings) -> Location | None:
    """Where the project's store is to be created; None if it has one, needs no file, or hooks may create none."""
    return place_of_new_store(settings) if settings["hooks.create"] == "on" else None


def present(settings: Settings) -> Path | None:
    """The file of the project's store, if it exists."""
    location = places.real(settings.store_url)
    return location.path if location is not None and location.path and is_store(location.path) else None


def create(location: Location) -> None:
    """Create a store, with a folder that git ignores.

    Raises:
        StoreError: it cannot be created.

    """
    from priming.memory import Memory

    with Memory.open(location.as_url()) as empty, empty.writing():
        pass  # the first write creates it


def unused(settings: Settings) -> Path | None:
    """The file of the project's store, if nothing was ever stored in it; never the store of all projects."""
    path = present(settings)
    if path is None or path == Path(environment.global_store()).resolve():
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (is_used,) = connection.execute("SELECT EXISTS (SELECT 1 FROM operations)").fetchone()
    except sqlite3.Error:
        return None
    return None if is_used else path


def remove(path: Path) -> None:
    """Delete an unused store, and its folder if nothing else is in it.

    Raises:
        StoreError: it cannot be deleted.

    """
    ignoring = path.with_name(".gitignore")
    try:
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        if path.parent.name != environment.DEFAULT_PATH.parent.name:
            return
        if ignoring.is_file() and ignoring.read_text("utf-8") == _IGNORING:
            ignoring.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    except OSError as error:
        raise StoreError(f"{path} cannot be deleted ({error.strerror}): delete it by hand") from error
