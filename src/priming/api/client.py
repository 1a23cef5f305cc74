"""A running server of a store, as other processes use it: light to import, and it outlives the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from priming import serialization
from priming.api import envelope, frames, places
from priming.api.line import Broken, Line, Progress, connect
from priming.api.ops import Op, served
from priming.config import environment
from priming.config.params.server import SOCKET
from priming.errors import Conflict, PrimingError
from priming.ids import uuid7

if TYPE_CHECKING:
    from priming.api.host import Host
    from priming.config.settings import Settings
    from priming.memory import Memory


def reach(
    url: str | None = None, *, profile: str = "priming", settings: Settings | None = None
) -> Client | None:
    """A client of the running server of a store, or None where there is none that can stand for the file.

    It must be the user's own, of this version, of this very file, with the same vectors and profile, and retrieve by
    the same settings.
    """
    if not places.available() or not environment.server_wanted():
        return None
    where = places.real(url)
    if where is None or where.path is None:
        return None
    try:
        path = places.socket_path(where.path)
        wanted = places.greeting(where, profile, settings)
    except (OSError, PrimingError):
        return None
    line = connect(path, wanted, SOCKET.knock)
    return None if line is None else Client(path, wanted, line, settings)


class Client:
    """Calls are answered by the server; where it goes away, by the file itself, until one is back.

    No call is lost and none is carried out twice: each one that writes has an id, and the log is asked for it.
    """

    def __init__(
        self, path: Path, wanted: Mapping[str, str], line: Line, settings: Settings | None = None
    ) -> None:
        self._url = f"{environment.url_of(Path(wanted['database']))}?synchronous={wanted['synchronous']}"
        self._path, self._wanted, self._settings = path, wanted, settings
        self._lock = Lock()
        self._idle = [line]
        self._host: Host | None = None

    def call(
        self,
        namespace: str,
        operation: str,
        request: Any,
        *,
        forgiving: bool = False,
        progress: Progress | None = None,
        operation_id: str | None = None,
    ) -> Any:
        """Carry out an operation of the table and answer it as JSON: see ``Host.call``."""
        op = served(operation)
        if operation_id is None and _is_named(op):
            operation_id = uuid7(datetime.now(UTC))
        asked = {
            "op": operation,
            "namespace": namespace,
            "args": request,
            "forgiving": forgiving,
            "progress": progress is not None,
            "operation_id": operation_id,
        }
        told = self._asked(asked, progress)
        if told is not None:
            return envelope.data_of(told)
        return self._on_file(op, namespace, request, forgiving, progress, operation_id)

    @contextmanager
    def memory(self, namespace: str) -> Iterator[Memory]:
        """The memory of a namespace in the file itself, for what a server does not do."""
        with self._on_this_machine().memory(namespace) as memory:
            yield memory

    def close(self) -> None:
        """End the connections, and close the file if it was opened."""
        with self._lock:
            lines, self._idle = self._idle, []
            host, self._host = self._host, None
        for one in lines:
            one.close()
        if host is not None:
            host.close()

    def _asked(self, message: Mapping[str, Any], progress: Progress | None) -> dict[str, Any] | None:
        """The server's envelope; None if there is no server, it went away, or either message is too long for it."""
        line = self._line()
        if line is None:
            return None
        try:
            told = line.ask(message, progress)
        except (Broken, frames.TooLong):
            line.close()
            return None
        with self._lock:
            self._idle.append(line)
        return None if (told["error"] or {}).get("code") == envelope.TOO_LONG else told

    def _line(self) -> Line | None:
        """A connection that nobody uses, or a new one; None while there is no server."""
        with self._lock:
            while self._idle:
                line = self._idle.pop()
                if line.is_open():
                    return line
                line.close()
        return connect(self._path, self._wanted, SOCKET.knock)

    def _on_file(
        self,
        op: Op,
        namespace: str,
        request: Any,
        forgiving: bool,
        progress: Progress | None,
        operation_id: str | None,
    ) -> Any:
        """The answer of the file, or of the log, if the server had carried the call out before it went away."""
        host = self._on_this_machine()
        named = operation_id if _is_named(op) else None
        done = self._carried_out(op, namespace, named)
        if done is not None:
            return done
        try:
            return host.call(
                namespace,
                op.name,
                request,
                forgiving=forgiving,
                progress=progress,
                operation_id=operation_id,
            )
        except Conflict:  # it may have been on its way while the log was read
            done = self._carried_out(op, namespace, named)
            if done is None:
                raise
            return done

    def _carried_out(self, op: Op, namespace: str, operation_id: str | None) -> Any:
        """The answer of a call that the log has, as JSON; None if it has not."""
        from priming.api.recover import answer

        if operation_id is None:
            return None
        with self.memory(namespace) as memory:
            done = memory.operation(operation_id)
            return None if done is None else serialization.encode(answer(op, memory, done))

    def _on_this_machine(self) -> Host:
        from priming.api.host import Host

        with self._lock:
            if self._host is None:
                self._host = Host(self._url, profile=self._wanted["profile"], settings=self._settings)
            return self._host


def _is_named(op: Op) -> bool:
    """Whether a call is one operation that can have an id of its own."""
    return op.writes and not op.long
