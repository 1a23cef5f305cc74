"""Kills a process at each of the statements that it sends to SQLite, one after the other."""

import os
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .processes import start


@dataclass
class Doom:
    """Ends this process before a certain statement, counted over all connections from ``begin`` on."""

    last: int
    begun: bool = False
    count: int = 0

    def watch(self) -> None:
        """Follow every connection that this process opens from now on; there is no way back."""
        connect = sqlite3.connect

        def watched(*arguments: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*arguments, **named)
            connection.set_trace_callback(self._tick)
            return connection

        sqlite3.connect = watched  # type: ignore[assignment]

    def begin(self) -> None:
        self.begun = True

    def _tick(self, statement: str) -> None:
        """Count a statement, but not those that the text index makes of one of ours."""
        self.count += self.begun and "'main'." not in statement
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def everywhere(
    folder: Path, act: Callable[[Path, Callable[[], None]], None], base: Path | None
) -> list[Path]:
    """The files that are left by a process that is killed at its 1st, 2nd, … statement, until it lives to its end.

    ``act`` gets a copy of ``base`` (None: no file) and a function to call where the statements begin to count.
    """
    left: list[Path] = []
    while True:
        path = folder / f"{len(left):04}" / "memory.db"
        path.parent.mkdir()
        if base is not None:
            path.write_bytes(base.read_bytes())
        left.append(path)
        doom = Doom(len(left))

        def run(path: Path = path, doom: Doom = doom) -> None:
            doom.watch()
            act(path, doom.begin)

        if not start(run).killed():
            return left
