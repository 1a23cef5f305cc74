"""What a setup, or its removal, would do: planned first, shown, and then carried out as a whole."""

from __future__ import annotations

import re
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.store_urls import Location
from priming.config.values import dataclass
from priming.errors import ParamError, StoreError
from priming.operations import local_socket
from priming_agents.setup import clients, files
from priming_agents.stores import create_store, is_everywhere, is_store, place_of_new_store

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming_agents.setup.clients import Installation
    from priming_agents.setup.files import FileChange

_CAPTURE = re.compile(r"^(?:hooks\.)?capture *=.*\n?", re.MULTILINE)
CREATE, DELETE = "create", "delete"
_IGNORING = "*\n"
"""The text of the ``.gitignore`` that a store writes beside itself."""


@dataclass(frozen=True, slots=True)
class SetupWork:
    """A planned setup: the files to change, the store to create or to delete, and the program that it is for.

    ``database`` is the project's store, if it has one or gets one. ``new_store`` is where one is to be created.
    """

    agent: str
    scope: str
    command: tuple[str, ...]
    changes: tuple[FileChange, ...]
    installation: Installation | None
    database: Path | None
    new_store: Location | None = None
    deletes_store: bool = False

    @property
    def store_action(self) -> str | None:
        """What happens to the store."""
        return CREATE if self.new_store is not None else DELETE if self.deletes_store else None

    @property
    def is_empty(self) -> bool:
        """Whether all is as it should be."""
        return not self.changes and self.store_action is None

    def carry_out(self) -> None:
        """Write the files, and create or delete the store.

        Raises:
            Conflict: a file was changed since the plan; nothing is written.
            StoreError: a file cannot be written.

        """
        files.write(self.changes)
        if self.new_store is not None:
            create_store(self.new_store)
        elif self.deletes_store and self.database is not None:
            _delete_store(self.database)

    def report(self) -> dict[str, Any]:
        """Return the work as JSON, the changes of files as diffs."""
        installation = self.installation
        return {
            "agent": self.agent,
            "scope": self.scope,
            "command": [*self.command],
            "client": installation
            and {
                "path": installation.path,
                "version": installation.version and clients.dotted(installation.version),
            },
            "files": [
                {"path": str(change.path), "diff": files.difference(change)} for change in self.changes
            ],
            "store": {"path": self.database and str(self.database), "action": self.store_action},
        }


def set_capture(value: str) -> None:
    """Write into the user's own settings whether sessions are stored.

    Raises:
        ParamError: the file has the setting in a form that is not replaced.
        StoreError: the file cannot be written.

    """
    path = environment.global_folder() / environment.SETTINGS
    try:
        text = _CAPTURE.sub("", private_files.read_text(path) if path.exists() else "")
        before, table, after = text.partition("[hooks]\n")
        line = f'capture = "{value}"\n'
        text = f"{before}{table}{line}{after}" if table else f"hooks.{line}{text}"
        if tomllib.loads(text)["hooks"]["capture"] == value:
            private_files.make_folder(path.parent)
            private_files.write_text(path, text)
            return
    except (ValueError, KeyError):
        pass
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}): change its permissions") from error
    raise ParamError("--capture", value, f"cannot be added to {path}: write hooks.capture there by hand")


def plan_setup(
    agent: str, settings: Settings, *, user: bool, shared: bool = False, tools: str | None = None
) -> SetupWork:
    """Return what would set an agent up.

    Raises:
        Conflict: the agent's program cannot load what would be written, or a file cannot be changed.

    """
    installation = clients.installed(agent)
    clients.require_loadable(installation)
    command = files.launcher(shared=shared)
    scope = files.USER if user else files.PROJECT
    changes = files.plan(agent, scope, remove=False, tools=tools, command=command)
    new_store = None if user else place_of_new_store(settings)
    database = new_store.path if new_store is not None else None if user else _present_store(settings)
    return SetupWork(agent, scope, tuple(command), tuple(changes), installation, database, new_store)


def plan_removal(agent: str, settings: Settings, *, user: bool) -> SetupWork:
    """Return what would take a setup away: the entries in the files, and a store in which nothing was ever stored."""
    scope = files.USER if user else files.PROJECT
    changes = files.plan(agent, scope, remove=True)
    database = None if user else _present_store(settings)
    deletes = bool(changes) and database is not None and _is_unused(database)
    return SetupWork(
        agent, scope, tuple(files.launcher()), tuple(changes), None, database, deletes_store=deletes
    )


def _present_store(settings: Settings) -> Path | None:
    """Return the file of the project's store, if it exists."""
    location = local_socket.real(settings.store_url)
    return location.path if location is not None and location.path and is_store(location.path) else None


def _is_unused(path: Path) -> bool:
    """Tell whether nothing was ever stored in a store; the store of all projects never is."""
    if is_everywhere(path):
        return False
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (is_used,) = connection.execute("SELECT EXISTS (SELECT 1 FROM operations)").fetchone()
    except sqlite3.Error:
        return False
    return not is_used


def _delete_store(path: Path) -> None:
    """Delete an unused store, and its folder if nothing else is in it; ``StoreError`` if that fails."""
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
