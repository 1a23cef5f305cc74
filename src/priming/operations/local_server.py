"""The server at a store's Unix socket: HTTP for the user's own processes, by the standard library alone.

It answers the operations of the table and what other packages add below ``/local``, such as the hooks of agents.
``priming serve`` runs it beside its address, and ``priming serve --local`` alone, as a session of an agent does.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from threading import Condition, Event, Thread
from typing import Any
from urllib.parse import unquote

from priming import extensions
from priming.config.caller import Caller, calling
from priming.config.environment import USER, VERSION
from priming.config.params.embedding import EMBEDDER
from priming.config.params.hooks import HOOK
from priming.config.params.server import SERVER, SOCKET, SocketParams
from priming.core.arguments.measured import parse_json
from priming.errors import NotFound, PrimingError
from priming.operations import local_socket
from priming.operations.connection import JSON, JSON_LINES
from priming.operations.local_listener import LocalListener
from priming.operations.service import LocalService, reason_of
from priming.operations.table import BY_NAME, SERVED
from priming.serialization import full_error_payload
from priming.text.quotation import json_text, visible
from priming.types import Progress
from priming.verbs.op import Op

LOG = logging.getLogger("priming.local")
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

_METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"PATC", b"DELE", b"OPTI")
"""The first four bytes of HTTP: no message of the other framings begins with them."""
_LINE, _HEAD_LINES = 1 << 16, 100
_SERVED = frozenset(SERVED)
Adapter = Callable[["LocalServer", socket.socket, bytes], None]
"""Answers a connection that is not HTTP, from its first bytes on."""
Observer = Callable[[str, str | None, str | None, int, float], None]
"""Is told of each answer: operation, namespace, code of the error, status, seconds."""


class Cancelled(Exception):
    """Raised by a progress callback when the call is to end."""


class BadRequest(Exception):
    """A request that is not HTTP as this server reads it; the connection ends after the error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.payload = status, {"code": code, "message": message}


class LocalServer:
    """Answers at the socket of a store, each connection in a thread, until it is stopped.

    With ``idle``, in seconds, it also ends when nobody called for that long, or the store or its socket is gone; and
    makes vectors that memories wait for, between calls.
    """

    def __init__(
        self,
        service: LocalService,
        local: LocalListener,
        *,
        idle: float | None = None,
        grace: float = SERVER.grace_seconds,
        adapter: Adapter | None = None,
        observe: Observer | None = None,
        params: SocketParams = SOCKET,
    ) -> None:
        self.service, self.local, self.params = service, local, params
        self.ending = Event()
        """Set when the server is asked to end: long calls end after their step."""
        self._idle, self._grace, self._adapter, self._observe = idle, grace, adapter, observe
        self._began = self._called = time.monotonic()
        self._calls = self._working = self._sending = 0
        self._changed = Condition()
        self._connections = set[socket.socket]()
        self._wake, self._waker = socket.socketpair()
        self._added: dict[str, Callable[[Mapping[str, Any]], Any]] = {}
        self.is_of_session = idle is not None
        """Whether a session left it behind, and it ends by itself."""

    def run(self) -> None:
        """Accept connections until the end, and then wait for what is at work as long as its grace."""
        with self._wake, self._waker:
            while not self.ending.is_set() and self._is_wanted():
                self._accept()
            self.ending.set()
            self.local.socket.close()
            with self._changed:
                self._changed.wait_for(lambda: not self._working, self._grace)
                self._changed.wait_for(lambda: not self._sending, self.params.drain)
                for end in self._connections:
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
                self._changed.wait_for(lambda: not self._connections, 1.0)

    def stop(self, *_signal: Any) -> None:
        """Ask the server to end."""
        self.ending.set()
        with suppress(OSError):
            self._waker.send(b"x")

    def end_session(self) -> None:
        """End the server if a session left it behind, because it is not wanted any more."""
        if self.is_of_session:
            self.stop()

    def warm(self, namespace: str) -> None:
        """Open a namespace, and load what the first calls need, so that they do not wait for it."""
        with self.service.memory(namespace) as memory, memory.lock:
            memory.working(memory.now())
            memory.embedder.embed(["warm"])
        for name in extensions.names(extensions.LOCAL):
            self._answers_of(name)

    def state(self) -> dict[str, Any]:
        """Return what the server says of itself: process, version, age and idle time in seconds, calls so far."""
        now = time.monotonic()
        return {
            "pid": os.getpid(),
            "version": VERSION,
            "seconds": now - self._began,
            "idle": now - self._called,
            "ends_after": self._idle,
            "calls": self._calls,
        }

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Carry out a call in the block; the end of the server waits for it.

        Raises:
            Cancelled: the server ends already.

        """
        with self._changed:
            if self.ending.is_set():
                raise Cancelled
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._calls += 1
                self._called = time.monotonic()
                self._changed.notify_all()

    def send(self, end: socket.socket, data: bytes) -> None:
        """Send bytes; at the end of the server a client that does not read them is waited for a short time."""
        with self._changed:
            self._sending += 1
        try:
            end.sendall(data)
        finally:
            with self._changed:
                self._sending -= 1
                self._changed.notify_all()

    def progress(self, end: socket.socket, send: Callable[[dict[str, Any]], None] | None) -> Progress:
        """Return the callback of a long call: it reports, and ends the call when the client or the server does."""
        last = 0.0

        def report(done: int, total: int | None) -> None:
            nonlocal last
            if self.ending.is_set() or local_socket.hung_up(end.fileno()):
                raise Cancelled
            if send and (total is None or done == total or time.monotonic() - last >= self.params.between):
                last = time.monotonic()
                send({"progress": [done, total]})

        return report

    def _is_wanted(self) -> bool:
        """Whether the server has no reason to end by itself."""
        if self._idle is None:
            return True
        with suppress(OSError, PrimingError):
            if self.local.is_in_place():
                if "file" in self.local.greeting:
                    local_socket.check_in_place(self.local.greeting)
                return bool(self._working) or time.monotonic() - self._called < self._idle
        return False

    def _accept(self) -> None:
        """Take the next connection, if one comes before it is time to look around."""
        patience = None if self._idle is None else min(HOOK.look, self._idle)
        ready, _, _ = select.select([self.local.socket, self._wake], [], [], patience)
        if self.local.socket in ready:
            with suppress(OSError):
                end, _ = self.local.socket.accept()
                end.setblocking(True)
                Thread(target=self._serve, args=(end,), daemon=True).start()
        elif not ready and not self._working:
            self.service.make_vectors(EMBEDDER.idle)

    def _serve(self, end: socket.socket) -> None:
        """Answer a connection of a process of the same user until it ends."""
        with self._changed:
            self._connections.add(end)
        try:
            with end, suppress(OSError, Cancelled):
                if local_socket.peer_is_us(end):
                    self._converse(end)
        finally:
            with self._changed:
                self._connections.discard(end)
                self._changed.notify_all()

    def _converse(self, end: socket.socket) -> None:
        """Find out whether the connection speaks HTTP, by its first bytes, and answer it."""
        start = b""
        while part := end.recv(4 - len(start)):
            start += part
            if len(start) == 4 or not any(method.startswith(start) for method in _METHODS):
                break
        if start in _METHODS:
            connection = _Connection(self, end)
            while connection.answer(start):
                start = b""
        elif start and self._adapter is not None:
            self._adapter(self, end, start)

    def carry_out(self, request: _Request) -> Any:
        """Return the answer of a call below ``/local``, or of one about the server."""
        match request.method, request.path:
            case "GET", [local_socket.GREETING]:
                return dict(self.local.greeting)
            case "GET", [local_socket.STATE]:
                return self.state()
            case "GET", ["health"]:
                return {"status": "alive", "version": VERSION}
            case "POST", ["local", name]:
                with self.at_work():
                    return self._answers_of(name)(request.json())
        raise NotFound(f"there is nothing at /{'/'.join(request.path)}: see docs/socket.md")

    def call(self, op: Op, request: _Request, progress: Progress | None) -> tuple[Any, str | None]:
        """Return the answer of an operation, and the reason why it is empty."""
        namespace = request.path[1]
        caller = Caller(USER, f"http {op.name}").after(request.headers)
        with self.at_work(), calling(caller):
            answer = self.service.call(
                namespace,
                op.name,
                request.json(),
                forgiving=request.headers.get("prefer") == "handling=lenient",
                progress=progress,
                operation_id=request.headers.get("idempotency-key") if op.writes and not op.long else None,
            )
            return answer, reason_of(self.service, namespace, op, answer)

    def observe(self, request: _Request, status: int, code: str | None, seconds: float) -> None:
        """Tell who observes the server of an answer."""
        if self._observe is not None:
            operation, namespace = request.named
            self._observe(operation, namespace, code, status, seconds)

    def _answers_of(self, name: str) -> Callable[[Mapping[str, Any]], Any]:
        """Return what answers a route below ``/local``, which a package adds."""
        with self._changed:
            if name not in self._added:
                for make in extensions.load(extensions.LOCAL, name):
                    self._added[name] = make(self)
        if name not in self._added:
            raise NotFound(f"there is nothing at /local/{name}: the package that answers it is not installed")
        return self._added[name]


class _Headers(dict[str, str]):
    """The headers of a request, whatever the case of their names."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a header."""
        return super().get(name.lower(), default)


class _Request:
    """A request: its method, the parts of its path, its headers and its body."""

    def __init__(self, method: str, target: str, headers: _Headers, body: bytes) -> None:
        self.method, self.headers, self._body = method, headers, body
        self.path = [unquote(part) for part in target.partition("?")[0].split("/")[1:]]

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


class _Connection:
    """A connection that speaks HTTP, one request after another."""

    def __init__(self, server: LocalServer, end: socket.socket) -> None:
        self._server, self._end = server, end
        self._reading = end.makefile("rb")
        self._is_last = False

    def answer(self, start: bytes) -> bool:
        """Answer the next request, which begins with bytes that were read; returns whether another may follow."""
        try:
            request = self._read(start)
        except BadRequest as error:
            self._is_last = True
            self._respond(error.status, {"error": error.payload})
            return False
        if request is None:
            return False
        began = time.monotonic()
        status, code = self._answer(request)
        self._server.observe(request, status, code, time.monotonic() - began)
        return not self._is_last and not self._server.ending.is_set()

    def _read(self, start: bytes) -> _Request | None:
        """Return the next request; None where the client has ended."""
        line = start + self._reading.readline(_LINE)
        if not line.strip():
            return None
        words = line.decode("latin-1").split()
        if len(words) != 3 or not words[1].startswith("/") or not line.endswith(b"\n"):
            raise BadRequest(400, "bad_param", "the request is not HTTP")
        headers = _Headers()
        for _ in range(_HEAD_LINES):
            line = self._reading.readline(_LINE)
            if not line.strip():
                break
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        else:
            raise BadRequest(400, "bad_param", f"a request has at most {_HEAD_LINES} headers")
        self._is_last = words[2] == "HTTP/1.0" or headers.get("connection", "").lower() == "close"
        return _Request(words[0], words[1], headers, self._body(headers))

    def _body(self, headers: _Headers) -> bytes:
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers:
            raise BadRequest(411, "bad_param", "a body needs a Content-Length here")
        if not length.isdecimal() or int(length[:20]) > local_socket.MESSAGE_BYTES:
            message = f"the body has more than {local_socket.MESSAGE_BYTES} bytes: send less at once"
            raise BadRequest(413, "too_large", message)
        if headers.get("expect", "").lower() == "100-continue":
            self._server.send(self._end, b"HTTP/1.1 100 Continue\r\n\r\n")
        body: bytes = self._reading.read(int(length))
        if len(body) < int(length):
            raise Cancelled
        return body

    def _answer(self, request: _Request) -> tuple[int, str | None]:
        """Answer a request; returns the status and the code of the error."""
        op = request.op
        if op is not None and op.long and request.headers.get("accept") == JSON_LINES:
            return self._stream(op, request)
        status, payload, reason = self._result(partial(self._carry_out, op, request))
        self._respond(status, payload, reason)
        return status, payload["error"]["code"] if status >= 400 else None

    def _carry_out(self, op: Op | None, request: _Request) -> tuple[Any, str | None]:
        if op is None:
            return self._server.carry_out(request), None
        return self._server.call(op, request, None)

    def _stream(self, op: Op, request: _Request) -> tuple[int, str | None]:
        """Answer a long call with a line for each step, and the answer or the error as the last."""
        self._head(200, {"Content-Type": JSON_LINES, "Transfer-Encoding": "chunked"})
        report = self._server.progress(self._end, self._send_line)
        status, payload, _ = self._result(lambda: self._server.call(op, request, report))
        self._send_line(payload if status >= 400 else {"answer": payload})
        self._server.send(self._end, b"0\r\n\r\n")
        return status, payload["error"]["code"] if status >= 400 else None

    def _result(self, call: Callable[[], tuple[Any, str | None]]) -> tuple[int, Any, str | None]:
        """Return the status of a call, its answer or error, and the reason why the answer is empty."""
        try:
            return (200, *call())
        except Cancelled:
            raise
        except PrimingError as error:
            return STATUS.get(error.code, 500), {"error": full_error_payload(error)}, None
        except Exception as error:
            LOG.error("a bug", exc_info=error)
            message = "a bug: the server's log has it"
            return 500, {"error": {"code": "internal", "message": message}}, None

    def _respond(self, status: int, payload: Any, reason: str | None = None) -> None:
        body = json_bytes(payload)
        headers = {"Content-Type": JSON, "Content-Length": str(len(body)), **reason_header(reason)}
        self._head(status, headers, body)

    def _head(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        more = {"Connection": "close"} if self._is_last else {}
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in {**headers, **more}.items()]
        self._server.send(self._end, "\r\n".join([*lines, "", ""]).encode("ascii") + body)

    def _send_line(self, payload: Any) -> None:
        line = json_bytes(payload) + b"\n"
        self._server.send(self._end, f"{len(line):x}\r\n".encode() + line + b"\r\n")


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON."""
    return json_text(value, separators=(",", ":")).encode()


def reason_header(reason: str | None) -> dict[str, str]:
    """Return the header that says why an answer without a field for it is empty."""
    if reason is None:
        return {}
    return {"Priming-Reason": visible(" ".join(reason.split())).encode("ascii", "backslashreplace").decode()}
