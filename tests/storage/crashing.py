"""What a process leaves behind that is killed at one of the statements that it sends to SQLite.

A killed process leaves its files as the system has them at that moment. So ``everywhere`` runs an action once,
in this process, and copies its folder before every statement; ``killed_at`` kills a real process at one of them.
"""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .processes import start

Action = Callable[[Path, Callable[[], None]], object]
"""Gets a file and a function to call where the statements begin to count."""


@dataclass
class Statements:
    """Calls ``tick`` before each statement, counted over all connections from ``begin`` on."""

    tick: Callable[[int], None]
    begun: bool = False
    count: int = 0
    connections: list[sqlite3.Connection] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Follow every connection that is opened in the block; whatever is still open at its end is closed."""
        connect = sqlite3.connect

        def watched(*arguments: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*arguments, **named)
            connection.set_trace_callback(self._count)
            self.connections.append(connection)
            return connection

        sqlite3.connect = watched  # type: ignore[assignment]
        try:
            yield
        finally:
            sqlite3.connect = connect
            for connection in self.connections:
                connection.close()

    def begin(self) -> None:
        self.begun = True

    def _count(self, statement: str) -> None:
        """Count a statement, but not those that the text index makes of one of ours."""
        if self.begun and "'main'." not in statement:
            self.count += 1
            try:
                self.tick(self.count)
            except BaseException as error:  # noqa: BLE001 - SQLite would swallow it
                self.errors.append(error)


@dataclass
class Left:
    """Files that a killed process would leave, each different from the one before; the last is of one that ended."""

    paths: list[Path] = field(default_factory=list)
    statements: int = 0


def everywhere(folder: Path, act: Action, base: Path | None) -> Left:
    """The files that are left by a process that is killed at its 1st, 2nd, … statement, or comes to its end.

    ``act`` works on a copy of ``base`` (None: no file).
    """
    work, left = folder / "work", Left()
    work.mkdir()
    if base is not None:
        shutil.copyfile(base, work / "memory.db")
    latest: dict[str, bytes] = {}

    def copy(number: int) -> None:
        files = {path.name: path.read_bytes() for path in work.iterdir() if path.is_file()}
        # The -shm file is of living processes only: the next one to open the file makes it anew.
        present = {name: data for name, data in files.items() if not name.endswith("-shm")}
        if left.paths and present == latest:
            return
        latest.clear()
        latest.update(present)
        left.paths.append(folder / f"{number:04}" / "memory.db")
        left.paths[-1].parent.mkdir()
        for name, data in files.items():
            left.paths[-1].with_name(name).write_bytes(data)

    statements = Statements(copy)
    with statements.watched():
        act(work / "memory.db", statements.begin)
        copy(statements.count + 1)
    assert statements.errors == []
    left.statements = statements.count
    return left


def killed_at(number: int, path: Path, act: Action) -> bool:
    """Run ``act`` on a file in a process that is killed before its ``number``-th statement; whether it was."""

    def kill(count: int) -> None:
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        statements = Statements(kill)
        with statements.watched():
            act(path, statements.begin)

    return start(run).killed()
