"""The client of a running server of a store, and a memory behind it, both on the file without it; light to import."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from priming.config import environment
from priming.config.ids import uuid7
from priming.config.params.limits import SOCKET
from priming.config.store_urls import url_of
from priming.errors import Conflict, NotFound, PrimingError
from priming.operations import local_socket
from priming.operations.connection import ConnectionLost, NotSendable, ServerConnection, connect
from priming.operations.service import How, may_be_empty
from priming.results import Listing, Status
from priming.serialization import decode, encode
from priming.types import Cue
from priming.verbs.op import Op
from priming.verbs.rows import find, named, served

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.memory import Memory
    from priming.operations.service import LocalService
    from priming.types import Proposal


def reach(
    url: str | None = None, *, profile: str = "priming", settings: Settings | None = None
) -> Client | None:
    """Return a client of the running server of a store, or None if no server can replace the file.

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

    def call(self, namespace: str, operation: str, request: Any, **how: Unpack[How]) -> Any:
        """Carry out an operation of the table and return its answer as JSON: see ``LocalService.call``."""
        op = served(operation)
        if how.get("operation_id") is None and _has_id(op):
            how["operation_id"] = uuid7(datetime.now(UTC))
        connection = self._connection()
        if connection is not None:
            try:
                answer = connection.call(namespace, operation, request, long=op.long, **how)
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
        return self._on_file(op, namespace, request, how)

    @contextmanager
    def memory(self, namespace: str) -> Iterator[Memory]:
        """Open the memory of a namespace in the file itself, for operations that a server does not offer."""
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
        """Return an idle connection, or a new one; None while there is no server."""
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

    def _on_file(self, op: Op, namespace: str, request: Any, how: How) -> Any:
        """Return the file's answer, or the log's, if the server had carried out the call before it went away."""
        local = self._file()
        logged_id = how.get("operation_id") if _has_id(op) else None
        answer = self._from_log(op, namespace, logged_id)
        if answer is not None:
            return answer
        try:
            return local.call(namespace, op.name, request, **how)
        except Conflict:  # the server may have carried it out while the log was read
            answer = self._from_log(op, namespace, logged_id)
            if answer is None:
                raise
            return answer

    def _from_log(self, op: Op, namespace: str, operation_id: str | None) -> Any:
        """Return the answer of a call that the log has, as JSON; None if the log does not have it."""
        from priming.operations.service import answer_of

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
    """Tell whether a call is one operation that can have an id of its own."""
    return op.writes and not op.long


_NO_VALUES = ("agent", "beside")
"""Arguments that are not plain values: a call with one of them works on the file, in this process."""


def open_memory(
    url: str | None = None,
    *,
    namespace: str = "default",
    profile: str = "priming",
    settings: Settings | None = None,
    server: bool = True,
) -> Memory:
    """Open a memory through a running server of its store, if ``server`` allows it and one runs, else its file."""
    client = reach(url, profile=profile, settings=settings) if server else None
    if client is not None:
        return cast("Memory", RemoteMemory(client, namespace))
    environment.load_numpy()
    from priming.memory import Memory

    return Memory.open(url, namespace=namespace, profile=profile, settings=settings)


class RemoteMemory:
    """The verbs of a ``Memory``, with the same arguments, answers and errors, in a server or on the file."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self.namespace = namespace

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection to the server; a second call does nothing."""
        self._client.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = find(name)
        if op is None:
            raise AttributeError(f"a memory behind a server has no {name!r}")
        return partial(self._call, op)

    def apply(self, proposal: Proposal | str, **options: Any) -> Any:
        """Apply a proposal: by its id while the server that made it runs, else by its items."""
        proposal_id = proposal if isinstance(proposal, str) else proposal.id
        try:
            return self._call(named("apply"), proposal_id, **options)
        except NotFound:
            if proposal_id is proposal:
                raise
            return self._on_file(named("apply"), (proposal,), options)

    def _call(self, op: Op, *positional: Any, **named: Any) -> Any:
        values = {name: value for name, value in named.items() if value or name not in _NO_VALUES}
        progress = values.pop("progress", None)
        if (
            op.local
            or len(positional) > len(op.takes)
            or not all(map(_survives_json, (*positional, *values.values())))
        ):
            return self._on_file(op, positional, named)
        arguments = {**dict(zip(op.takes, positional, strict=False)), **values}
        request = {name: _as_json(value) for name, value in arguments.items()}
        answer = decode(op.answer, self._client.call(self.namespace, op.name, request, progress=progress))
        if not isinstance(answer, list) or not may_be_empty(op, answer):
            return answer
        return Listing(answer, self._empty_reason())

    def _empty_reason(self) -> str | None:
        """Tell why a list is empty, as the file itself would say."""
        status: Status = self._call(named("status"))
        return status.reason

    def _on_file(self, op: Op, positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Return the same call on the file, in this process."""
        with self._client.memory(self.namespace) as memory:
            return op.function(memory, *positional, **named)


def _survives_json(value: Any) -> bool:
    """Tell whether a value is the same after it went through JSON; others are left to the library to judge."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, datetime):
        return value.tzinfo is not None
    if isinstance(value, Cue):
        return _survives_json(value.context()) and _survives_json(value.at)
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _survives_json(inner) for name, inner in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_survives_json, value))
    return value is None or isinstance(value, (str, int))


def _as_json(value: Any) -> Any:
    """Return a value as a request has it."""
    if isinstance(value, Cue):
        return encode({"text": value.text, "at": value.at, **value.context()})
    return encode(value)
