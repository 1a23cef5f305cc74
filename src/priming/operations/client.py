"""The client of a running server of a store; light to import. Without the server it works on the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from priming.config import environment
from priming.config.ids import uuid7
from priming.config.params.server import SOCKET
from priming.config.store_urls import url_of
from priming.errors import Conflict, PrimingError
from priming.operations import local_socket
from priming.operations.connection import ConnectionLost, NotSendable, ServerConnection, connect
from priming.operations.table import served
from priming.serialization import encode
from priming.types import Progress
from priming.verbs.op import Op

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.memory import Memory
    from priming.operations.service import LocalService


def reach(
    url: str | None = None, *, profile: str = "priming", settings: Settings | None = None
) -> Client | None:
    """A client of the running server of a store, or None if no server can replace the file.

    The server must be the user's own, of this version and this very file, with the same vectors, profile and
    settings of retrieval; and no link of a folder may have led to it.
    """
    if not local_socket.available() or not environment.server_wanted():
        return None
    where = local_socket.real(url)
    if where is None or where.path is None or where.origin not in (None, str(where.path)):
        return None
    try:
        path = local_socket.socket_path(where.path)
        expected = local_socket.greeting(where, profile, settings)
    except (OSError, PrimingError):
        return None
    connection = connect(path, expected, SOCKET.knock)
    return None if connection is None else Client(path, expected, connection, settings)


class Client:
    """Calls are answered by the server; when it goes away, by the file, until a server is back.

    No call is lost and none is carried out twice: the log is searched for the id that each call that writes has.
    """

    def __init__(
        self,
        path: Path,
        expected: Mapping[str, str],
        connection: ServerConnection,
        settings: Settings | None = None,
    ) -> None:
        database = url_of(Path(expected["database"]))
        self._url = f"{database}?synchronous={expected['synchronous']}"
        self._path, self._expected, self._settings = path, expected, settings
        self._lock = Lock()
        self._idle = [connection]
        self._local: LocalService | None = None

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
        """Carry out an operation of the table and return its answer as JSON: see ``LocalService.call``."""
        op = served(operation)
        if operation_id is None and _has_id(op):
            operation_id = uuid7(datetime.now(UTC))
        connection = self._connection()
        if connection is not None:
            try:
                answer = connection.call(
                    namespace,
                    operation,
                    request,
                    forgiving=forgiving,
                    operation_id=operation_id,
                    long=op.long,
                    progress=progress,
                )
            except ConnectionLost:
                pass
            except NotSendable:
                self._give_back(connection)
            except PrimingError:
                self._give_back(connection)
                raise
            else:
                self._give_back(connection)
                return answer
        return self._on_file(op, namespace, request, forgiving, progress, operation_id)

    @contextmanager
    def memory(self, namespace: str) -> Iterator[Memory]:
        """The memory of a namespace in the file itself, for operations that a server does not offer."""
        with self._file().memory(namespace) as memory:
            yield memory

    def close(self) -> None:
        """End the connections, and close the file if it was opened."""
        with self._lock:
            connections, self._idle = self._idle, []
            local, self._local = self._local, None
        for connection in connections:
            connection.close()
        if local is not None:
            local.close()

    def _connection(self) -> ServerConnection | None:
        """An idle connection, or a new one; None while there is no server."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_open():
                    return connection
                connection.close()
        return connect(self._path, self._expected, SOCKET.knock)

    def _give_back(self, connection: ServerConnection) -> None:
        with self._lock:
            self._idle.append(connection)

    def _on_file(
        self,
        op: Op,
        namespace: str,
        request: Any,
        forgiving: bool,
        progress: Progress | None,
        operation_id: str | None,
    ) -> Any:
        """The answer of the file, or of the log, if the server had carried out the call before it went away."""
        local = self._file()
        logged_id = operation_id if _has_id(op) else None
        answer = self._from_log(op, namespace, logged_id)
        if answer is not None:
            return answer
        try:
            return local.call(
                namespace,
                op.name,
                request,
                forgiving=forgiving,
                progress=progress,
                operation_id=operation_id,
            )
        except Conflict:  # the server may have carried it out while the log was read
            answer = self._from_log(op, namespace, logged_id)
            if answer is None:
                raise
            return answer

    def _from_log(self, op: Op, namespace: str, operation_id: str | None) -> Any:
        """The answer of a call that the log has, as JSON; None if the log does not have it."""
        from priming.operations.recovery import answer_of

        if operation_id is None:
            return None
        with self.memory(namespace) as memory:
            logged = memory.operation(operation_id)
            return None if logged is None else encode(answer_of(op, memory, logged))

    def _file(self) -> LocalService:
        from priming.operations.service import LocalService

        with self._lock:
            if self._local is None:
                self._local = LocalService(
                    self._url, profile=self._expected["profile"], settings=self._settings
                )
            return self._local


def _has_id(op: Op) -> bool:
    """Whether a call is one operation that can have an id of its own."""
    return op.writes and not op.long
