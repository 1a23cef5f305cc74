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
from threading import Condition, Event, Thread
from typing import Any, BinaryIO

from priming import extensions
from priming.config.caller import Caller, calling
from priming.config.environment import USER
from priming.config.params.limits import SOCKET, VECTORS, SocketParams
from priming.config.params.services import SERVER
from priming.config.variables import VERSION
from priming.errors import NotFound, PrimingError
from priming.operations import local_socket
from priming.operations.connection import JSON_LINES
from priming.operations.local_http import (
    STATUS,
    BadRequest,
    LocalListener,
    LocalRequest,
    chunk,
    head,
    read_request,
    response,
)
from priming.operations.service import LocalService, reason_of
from priming.serialization import full_error_payload
from priming.types import Progress
from priming.verbs.op import Op

LOG = logging.getLogger("priming.local")
METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"PATC", b"DELE", b"OPTI")
"""The first four bytes of HTTP: no message of the other framings begins with them."""
CLOSING = 1.0
"""Seconds beyond its grace after which a server that was told to end is ended, whatever it does."""
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"
Adapter = Callable[["LocalServer", socket.socket, bytes], None]
"""Answers a connection that is not HTTP, from its first bytes on."""
Observer = Callable[[str, str | None, str | None, int, float], None]
"""Is told of each answer: operation, namespace, code of the error, status, seconds."""


class Cancelled(Exception):
    """Raised by a progress callback when the call is to end."""


class LocalServer:
    """Answers at the socket of a store, each connection in a thread, until it is stopped.

    With ``idle``, in seconds, it also ends when nobody called for that long, or the store or its socket is gone; and
    makes vectors that memories wait for, between calls, when the user's agent decides on unclear rules, and sources
    that the settings name are followed.
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
        self._calls = self._working = self._answering = 0
        self._changed = Condition()
        self._connections = set[socket.socket]()
        self._wake, self._waker = socket.socketpair()
        self._settling = Thread()
        self._added: dict[str, Callable[[Mapping[str, Any]], Any]] = {}
        self.address: str | None = None
        """Where the same process also serves HTTP, if it does."""
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
                self._changed.wait_for(lambda: not self._answering, self.params.drain)
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
            "address": self.address,
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

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Answer a request in the block; the end of the server waits a short time for it, after the calls at work."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
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
        """Tell whether the server has no reason to end by itself."""
        if self._idle is None:
            return True
        with suppress(OSError, PrimingError):
            if self.local.is_in_place():
                local_socket.check_in_place(self.local.greeting)
                return bool(self._working) or time.monotonic() - self._called < self._idle
        return False

    def _accept(self) -> None:
        """Take the next connection, if one comes before it is time to look around."""
        patience = None if self._idle is None else min(SOCKET.look, self._idle)
        ready, _, _ = select.select([self.local.socket, self._wake], [], [], patience)
        if self.local.socket in ready:
            with suppress(OSError):
                end, _ = self.local.socket.accept()
                end.setblocking(True)
                Thread(target=self._serve, args=(end,), daemon=True).start()
        elif not ready and not self._working:
            self.service.make_vectors(VECTORS.idle)
            if not self._settling.is_alive():
                self._settling = Thread(target=self._tend, daemon=True)
                self._settling.start()

    def _tend(self) -> None:
        """Do between calls what nobody waits for."""
        self.service.settle()
        self.service.follow()

    def take_over(self, end: socket.socket, start: bytes) -> None:
        """Answer a connection of another socket, whose first bytes are none of HTTP."""
        Thread(target=self._serve, args=(end, start), daemon=True).start()

    def _serve(self, end: socket.socket, start: bytes = b"") -> None:
        """Answer a connection of a process of the same user until it ends."""
        with self._changed:
            self._connections.add(end)
        try:
            with end, suppress(OSError, Cancelled):
                if local_socket.peer_is_us(end):
                    self._converse(end, start)
        finally:
            with self._changed:
                self._connections.discard(end)
                self._changed.notify_all()

    def _converse(self, end: socket.socket, start: bytes) -> None:
        """Find out whether the connection speaks HTTP, by its first bytes, and answer it."""
        while len(start) < 4 and any(method.startswith(start) for method in METHODS):
            if not (part := end.recv(4 - len(start))):
                break
            start += part
        if start in METHODS:
            with end.makefile("rb") as reading:
                while self._answer(end, reading, start):
                    start = b""
        elif start and self._adapter is not None:
            self._adapter(self, end, start)

    def _answer(self, end: socket.socket, reading: BinaryIO, start: bytes) -> bool:
        """Answer the next request, which begins with bytes that were read; returns whether another may follow."""
        try:
            request = read_request(reading, start, lambda: end.sendall(_GO_ON))
        except BadRequest as error:
            end.sendall(response(error.status, {"error": error.payload}, is_last=True))
            return False
        if request is None:
            return False
        began = time.monotonic()
        op = request.op
        with self.answering():
            if op is not None and op.long and request.headers.get("accept") == JSON_LINES:
                status, payload = self._stream(end, op, request)
            else:
                status, payload, reason = _result(partial(self._carry_out, op, request))
                end.sendall(response(status, payload, reason=reason, is_last=request.is_last))
        if self._observe is not None:
            code = payload["error"]["code"] if status >= 400 else None
            self._observe(*request.named, code, status, time.monotonic() - began)
        return not request.is_last and not self.ending.is_set()

    def _carry_out(self, op: Op | None, request: LocalRequest) -> tuple[Any, str | None]:
        """Return the answer to a request, and the reason why it is empty."""
        if op is not None:
            return self._call(op, request, None)
        match request.method, request.path:
            case "GET", [local_socket.GREETING]:
                return dict(self.local.greeting), None
            case "GET", [local_socket.STATE]:
                return self.state(), None
            case "GET", ["health"]:
                return {"status": "alive", "version": VERSION}, None
            case "POST", ["local", name]:
                with self.at_work():
                    return self._answers_of(name)(request.json()), None
        raise NotFound(f"there is nothing at /{'/'.join(request.path)}: see docs/socket.md")

    def _stream(self, end: socket.socket, op: Op, request: LocalRequest) -> tuple[int, Any]:
        """Answer a long call with a line for each step, and the answer or the error as the last."""
        headers = {"Content-Type": JSON_LINES, "Transfer-Encoding": "chunked"}
        end.sendall(head(200, headers, is_last=request.is_last))
        report = self.progress(end, lambda step: end.sendall(chunk(step)))
        status, payload, _ = _result(lambda: self._call(op, request, report))
        end.sendall(chunk(payload if status >= 400 else {"answer": payload}) + b"0\r\n\r\n")
        return status, payload

    def _call(self, op: Op, request: LocalRequest, progress: Progress | None) -> tuple[Any, str | None]:
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

    def _answers_of(self, name: str) -> Callable[[Mapping[str, Any]], Any]:
        """Return what answers a route below ``/local``, which a package adds."""
        with self._changed:
            if name not in self._added:
                for make in extensions.load(extensions.LOCAL, name):
                    self._added[name] = make(self)
        if name not in self._added:
            raise NotFound(f"there is nothing at /local/{name}: the package that answers it is not installed")
        return self._added[name]


def _result(call: Callable[[], tuple[Any, str | None]]) -> tuple[int, Any, str | None]:
    """Return the status of a call, its answer or error, and the reason why the answer is empty."""
    try:
        return (200, *call())
    except Cancelled:
        raise
    except PrimingError as error:
        return STATUS.get(error.code, 500), {"error": full_error_payload(error)}, None
    except Exception as error:
        LOG.error("a bug", exc_info=error)
        return 500, {"error": {"code": "internal", "message": "a bug: the server's log has it"}}, None
