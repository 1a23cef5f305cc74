"""A connection to the server of a store: HTTP over its Unix socket."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import quote

from priming.config.caller import present_caller
from priming.operations import local_socket
from priming.serialization import error_from_payload

if TYPE_CHECKING:
    from priming.operations.service import How

JSON, JSON_LINES = "application/json", "application/x-ndjson"


class ConnectionLost(Exception):
    """The connection ended before the answer: the call may have been carried out."""


class NotSendable(Exception):
    """The call cannot be sent as a request: it is too long, not JSON, or its namespace does not fit in a path."""


class ServerConnection(HTTPConnection):
    """HTTP over a Unix socket. It is never reconnected by itself: another server may be at the socket by then."""

    auto_open = 0

    def __init__(self, path: Path, patience: float | None = None) -> None:
        super().__init__("localhost", timeout=patience)
        self.path = path

    def connect(self) -> None:
        """Connect, to a server of the same user only."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))
        if not local_socket.peer_is_us(self.sock):
            raise ConnectionRefusedError("another user answers at the socket")

    def is_open(self) -> bool:
        """Tell whether the server is still connected and has sent nothing unrequested."""
        if self.sock is None:
            return False
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return not poll.poll(0)

    def about(self, route: str) -> Any:
        """Request the greeting of the server, or what it says of itself."""
        self.request("GET", route)
        return json.loads(self.getresponse().read())

    def call(
        self, namespace: str, operation: str, request: Any, *, long: bool = False, **how: Unpack[How]
    ) -> Any:
        """Carry out an operation and return its answer as JSON; ``long`` ones report ``progress``.

        Raises:
            PrimingError: what the operation raises.
            NotSendable: nothing was sent.
            ConnectionLost: no answer came.

        """
        headers = {"Content-Type": JSON, "Accept": JSON_LINES if long else JSON, **present_caller().headers()}
        if how.get("forgiving"):
            headers["Prefer"] = "handling=lenient"
        if (operation_id := how.get("operation_id")) is not None:
            headers["Idempotency-Key"] = operation_id
        path, body = _path(namespace, operation), _body(request)
        try:
            for payload in self._responses(path, body, headers):
                if "progress" not in payload:
                    break
                if (progress := how.get("progress")) is not None:
                    progress(*payload["progress"])
        except BaseException:
            self.close()  # a later response must not be taken for that of the next call
            raise
        if "error" in payload:
            raise error_from_payload(payload["error"])
        return payload["answer"]

    def _responses(self, path: str, body: bytes, headers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the payloads that the server sends: reports of progress, then one answer or error."""
        try:
            self.request("POST", path, body, headers)
            response = self.getresponse()
            if response.headers.get_content_type() == JSON_LINES:
                yield from _lines(response)
            else:
                payload = json.loads(response.read())
                yield payload if response.status >= 400 else {"answer": payload}
        except (OSError, HTTPException, ValueError) as error:
            raise ConnectionLost from error


def connect(path: Path, expected: Mapping[str, str], patience: float) -> ServerConnection | None:
    """Return a connection to the server at a socket, if it is the user's own and its greeting is the expected one."""
    connection, greeting = _greeted(path, patience)
    if connection is not None and greeting != dict(expected):
        connection.close()
        return None
    return connection


def about(path: Path, patience: float, route: str = local_socket.STATE_PATH) -> dict[str, Any] | None:
    """Return what the server at a socket says of itself (``LocalServer.state``), or its greeting by that route.

    None: none answers in time.
    """
    connection, answer = _greeted(path, patience, route)
    if connection is not None:
        connection.close()
    return answer if isinstance(answer, dict) and "error" not in answer else None


def _greeted(
    path: Path, patience: float, route: str = local_socket.GREETING_PATH
) -> tuple[ServerConnection | None, Any]:
    if not local_socket.is_ours(path):
        return None, None
    connection = ServerConnection(path, patience)
    try:
        connection.connect()
        greeting = connection.about(route)
        connection.sock.settimeout(None)
        return connection, greeting
    except (OSError, HTTPException, ValueError):
        connection.close()  # no server listens, or it is too busy to answer: the file is used
        return None, None


def _lines(response: HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the JSON lines of a response, up to and including the last."""
    while line := response.readline():
        payload = json.loads(line)
        if "progress" not in payload:
            response.read()
        yield payload
    raise ConnectionLost


def _path(namespace: str, operation: str) -> str:
    """Return the route of an operation; ``NotSendable`` for a namespace that cannot be part of one."""
    if not isinstance(namespace, str) or not 0 < len(namespace) <= 512 or "/" in namespace:
        raise NotSendable
    try:
        return f"/v1/{quote(namespace, safe='')}/{operation}"
    except UnicodeEncodeError:
        raise NotSendable from None


def _body(request: Any) -> bytes:
    try:
        body = json.dumps(request, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (ValueError, TypeError, RecursionError):
        raise NotSendable from None
    if len(body) > local_socket.MESSAGE_BYTES:
        raise NotSendable
    return body
