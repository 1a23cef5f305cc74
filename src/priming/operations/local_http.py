"""The socket of a store as its server has it: HTTP as it is read and written, and the socket that is listened on.

The socket is made for its owner alone, and removed at the end.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

from priming.config import environment
from priming.config.params.limits import SOCKET
from priming.config.values import dataclass
from priming.core.arguments.checks import parse_json
from priming.core.arguments.normal_forms import normalized
from priming.errors import Conflict, ParamError, StoreError
from priming.operations import local_socket
from priming.operations.connection import JSON, about
from priming.operations.replies import compact
from priming.operations.service import LocalService
from priming.text.quotation import visible
from priming.verbs.op import Op
from priming.verbs.rows import BY_NAME, SERVED

STATUS: Mapping[str, int] = {
    "bad_param": 400,
    "not_found": 404,
    "conflict": 409,
    "store": 500,
    "corrupt": 500,
    "schema_too_new": 500,
    "priming": 500,
    "missing_extra": 501,
    "embedder": 502,
    "agent": 502,
    "busy": 503,
}
"""The status of an answer by the code of the error."""

_LINE, _HEAD_LINES = 1 << 16, 100
_SERVED = frozenset(SERVED)


class BadRequest(Exception):
    """A request that is not HTTP as this server reads it; the connection ends after the error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.payload = status, {"code": code, "message": message}


class Headers(dict[str, str]):
    """The headers of a request, whatever the case of their names."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a header."""
        return super().get(name.lower(), default)


class LocalRequest:
    """A request: its method, the parts of its path, its headers and its body."""

    def __init__(self, method: str, target: str, headers: Headers, body: bytes, is_last: bool) -> None:
        self.method, self.headers, self._body = method, headers, body
        self.is_last = is_last
        """Whether the client wants the connection to end with the answer."""
        self.path = [normalized("NFC", unquote(part)) for part in target.partition("?")[0].split("/")[1:]]

    @property
    def op(self) -> Op | None:
        """The operation that the request calls, if it calls one."""
        is_call = self.method == "POST" and len(self.path) == 3 and self.path[0] == "v1"
        op = BY_NAME.get(self.path[2]) if is_call else None
        return op if op in _SERVED else None

    @property
    def named(self) -> tuple[str, str | None]:
        """The operation and the namespace, for a log."""
        if self.op is not None:
            return self.op.name, self.path[1]
        return self.path[-1] if self.path[0] in ("local", *local_socket.ABOUT) else "other", None

    def json(self) -> Any:
        """Return the value of the body; none is a request without arguments."""
        depth, values = local_socket.MESSAGE_DEPTH, local_socket.MESSAGE_VALUES
        return parse_json("body", self._body, depth, values) if self._body.strip() else {}


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON."""
    return compact(value).encode()


def reason_header(reason: str | None) -> dict[str, str]:
    """Return the header that says why an answer without a field for it is empty."""
    if reason is None:
        return {}
    return {"Priming-Reason": visible(" ".join(reason.split())).encode("ascii", "backslashreplace").decode()}


def read_request(reading: BinaryIO, start: bytes, go_on: Callable[[], None]) -> LocalRequest | None:
    """Return the next request, which begins with bytes that were read; None where the client has ended.

    ``go_on`` tells a client that waits for it to send the body.

    Raises:
        BadRequest: it is not HTTP, or too large.

    """
    line = start + reading.readline(_LINE)
    if not line.strip():
        return None
    words = line.decode("latin-1").split()
    if len(words) != 3 or not words[1].startswith("/") or not line.endswith(b"\n"):
        raise BadRequest(400, "bad_param", "the request is not HTTP")
    headers = Headers()
    for _ in range(_HEAD_LINES):
        line = reading.readline(_LINE)
        if not line.strip():
            break
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    else:
        raise BadRequest(400, "bad_param", f"a request has at most {_HEAD_LINES} headers")
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers:
        raise BadRequest(411, "bad_param", "a body needs a Content-Length here")
    if not length.isdecimal() or int(length[:20]) > local_socket.MESSAGE_BYTES:
        message = f"the body has more than {local_socket.MESSAGE_BYTES} bytes: send less at once"
        raise BadRequest(413, "too_large", message)
    if headers.get("expect", "").lower() == "100-continue":
        go_on()
    body = reading.read(int(length))
    is_last = words[2] == "HTTP/1.0" or headers.get("connection", "").lower() == "close"
    return LocalRequest(words[0], words[1], headers, body, is_last) if len(body) == int(length) else None


def response(status: int, payload: Any, *, reason: str | None = None, is_last: bool = False) -> bytes:
    """Return a response as bytes, with the reason why its answer is empty."""
    body = json_bytes(payload)
    headers = {"Content-Type": JSON, "Content-Length": str(len(body)), **reason_header(reason)}
    return head(status, headers, is_last=is_last) + body


def head(status: int, headers: Mapping[str, str], *, is_last: bool) -> bytes:
    """Return the head of a response."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += ["Connection: close"] if is_last else []
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def chunk(payload: Any) -> bytes:
    """Return a line of JSON as a chunk of a response."""
    line = json_bytes(payload) + b"\n"
    return f"{len(line):x}\r\n".encode() + line + b"\r\n"


@dataclass(frozen=True, slots=True)
class LocalListener:
    """The socket of a store, the greeting of its server, and which file the socket is."""

    socket: socket.socket
    path: Path
    greeting: Mapping[str, str]
    inode: int

    def is_in_place(self) -> bool:
        """Return whether the socket is still at its path."""
        with suppress(OSError):
            return self.path.lstat().st_ino == self.inode
        return False


def create_store(service: LocalService) -> None:
    """Create the store of a service if it does not exist, because some clients can only use its socket."""
    with service.memory("default") as memory:
        if not memory.store.place.exists:
            with memory.store.transaction(memory.namespace):
                pass


@contextmanager
def local_listener(
    service: LocalService, path: Path | None = None, *, takes_over: bool = False
) -> Iterator[LocalListener]:
    """Listen at a socket that only the user can reach; the socket of a dead server is replaced.

    With ``takes_over`` a server that a session left behind is ended: the user started another.

    Raises:
        Conflict: another server listens there.
        StoreError: a socket cannot be created there.

    """
    greeting = _greeting(service)
    at = local_socket.of_store(service.url) if path is None else path.absolute()
    assert at is not None, "a store with a greeting has a socket"
    if len(os.fsencode(at)) > local_socket.LONGEST:
        raise ParamError("socket", str(at), f"must have at most {local_socket.LONGEST} bytes")
    local_socket.prepare(at.parent)
    if takes_over:
        state = about(at, SOCKET.knock)
        if state is not None and state["ends_after"] is not None:
            local_socket.end_server(at)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with _locked(at.parent):
            _clear(at)
            try:
                bind_privately(listener, at)
            except OSError as error:
                raise StoreError(f"{at} cannot be created ({error.strerror}): name another socket") from error
            local = LocalListener(listener, at, greeting, at.lstat().st_ino)
        listener.listen(SOCKET.waiting)
        try:
            yield local
        finally:
            with suppress(OSError), _locked(at.parent):
                if local.is_in_place():
                    at.unlink()


def bind_privately(listener: socket.socket, path: Path) -> None:
    """Bind a socket that only its owner can use, from its creation."""
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)


def _greeting(service: LocalService) -> dict[str, str]:
    """Return the greeting of the server, whose store is opened before."""
    where = local_socket.real(service.url) or environment.locate(service.url)
    if where.path is None and where.url is None:
        raise ParamError("url", service.url, "must be a store in a file, because the socket is beside it")
    with service.memory("default") as memory:
        if not memory.store.place.exists:
            raise StoreError(f"{where.path} does not exist yet, and the socket is beside the store")
        return local_socket.greeting(where, service.profile, service.settings, service.stamp)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that no other server creates or removes a socket in it."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _clear(path: Path) -> None:
    """Remove the socket of a dead server; ``Conflict`` for anything else at its path."""
    if not path.exists() and not path.is_symlink():
        return
    if not local_socket.is_ours(path):
        raise Conflict(f"{path} is not a socket of yours: remove it, or name another")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError:
            pass  # a server is there, and too busy to answer
    raise Conflict(f"a server is already listening on {path}: use it, or stop it first")
