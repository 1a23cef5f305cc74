"""Who waits for a namespace whose log grows: a thread with a connection of its own, which the server wakes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

import psycopg

from priming.config.params.store import POSTGRES

CHANNEL = "priming_log"
"""The channel on which a commit tells which log it made longer: ``SCHEMA NAMESPACE``."""


class Listener:
    """Calls whoever waits for a namespace: after commits, and after a lost connection, which may have missed one."""

    def __init__(self, url: str, place: str) -> None:
        self._url = url
        self._waiting: dict[str, Callable[[], None]] = {}
        self._end = Event()
        self._thread = Thread(target=self._listen, name=f"listens to {place}", daemon=True)
        self._thread.start()

    def add(self, name: str, wake: Callable[[], None]) -> None:
        """Call ``wake`` after commits that name a schema and a namespace."""
        self._waiting[name] = wake

    def close(self) -> None:
        """End the thread; a call in progress is waited for shortly."""
        self._end.set()
        self._thread.join(POSTGRES.listening_interval * 2)

    def _listen(self) -> None:
        while not self._end.is_set():
            with (
                suppress(psycopg.Error),
                psycopg.connect(
                    self._url, autocommit=True, connect_timeout=POSTGRES.connect_timeout
                ) as connection,
            ):
                connection.execute(f"LISTEN {CHANNEL}")
                self._wake_all()
                self._follow(connection)
            self._end.wait(POSTGRES.listening_interval)

    def _follow(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        while not self._end.is_set():
            for notified in connection.notifies(timeout=POSTGRES.listening_interval):
                wake = self._waiting.get(notified.payload)
                if wake is not None:
                    wake()
                if self._end.is_set():
                    return

    def _wake_all(self) -> None:
        for wake in list(self._waiting.values()):
            wake()
