"""MCP on standard input and output.

What needs no store is answered as it is read, with nothing heavy loaded; other requests are answered in threads. The
engine is loaded behind the list of tools, or when a client calls one. A thread reads standard input, so that nothing
waits for a silent client when the server is to end.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from queue import SimpleQueue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from priming.config.params.services import SERVER
from priming.errors import ParamError
from priming.mcp.beside import silent_answer
from priming.mcp.messages import (
    INTERNAL_ERROR,
    RequestError,
    as_bytes,
    error_message,
    progress_message,
    read_message,
    refusal,
)
from priming.mcp.protocol import READY, McpClient, McpConversation, method_of, number_of, progress_token

if TYPE_CHECKING:
    from priming.operations.service import Service

_CHUNK = 65_536
_LINE_BYTES = 1 << 24
_GRACE = 0.5
"""Seconds after SIGINT in which running calls may end and the store is closed."""
_INTERRUPTED = 130
_THREADS = 16
"""Requests that are answered at once."""
Lines = SimpleQueue[bytes | None]


def run(
    *,
    service: Callable[[], Service],
    namespace: str,
    groups: str = "core",
    agent: Callable[[], Any] = lambda: None,
    offers: bool = True,
) -> None:
    """Speak on stdin and stdout until the client closes them. ``agent`` opens the agent that the loop asks.

    Without ``offers``, the client is told that there is nothing.
    """
    lines, output = Lines(), _claimed_output()
    signal.signal(signal.SIGINT, lambda *_: _end(lines))
    threading.Thread(target=_read, args=(_claimed_input(), lines), daemon=True).start()
    if not offers:
        while (line := lines.get()) is not None:
            if answer := silent_answer(line):
                _write(output, answer + b"\n")
        return
    opened = _Opened(service)
    exchange = StdioExchange(
        McpConversation(McpClient(opened, namespace, groups, agent)), partial(_write, output)
    )
    try:
        while (line := lines.get()) is not None:
            exchange.receive(line)
    finally:
        exchange.close()
        opened.close()


def _end(lines: Lines) -> None:
    """End as if the client had gone away, and soon: a call that does not stop is left alone, as in a crash."""
    lines.put(None)
    last = threading.Timer(_GRACE, os._exit, [_INTERRUPTED])
    last.daemon = True
    last.start()


class RequestCancelled(Exception):
    """The client cancelled the request, or went away: there is nobody to answer."""


class StdioExchange:
    """Requests and their answers: several at once, each line written whole."""

    def __init__(self, conversation: McpConversation, write: Callable[[bytes], None]) -> None:
        self._conversation, self._write = conversation, write
        self._turn = Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="priming-mcp")
        self._loaded: Future[None] | None = None
        self._cancelled: dict[str | int, Event] = {}
        """The requests under way, and whether each was cancelled."""

    def receive(self, line: bytes) -> None:
        """Answer a line of the client, or let a thread answer it."""
        if not line.strip():
            return
        try:
            message = read_message(line, SERVER.depth, SERVER.values)
        except ParamError as error:
            self._send(refusal(line, error))
            return
        method, number = method_of(message), number_of(message)
        if method == "notifications/cancelled":
            self._cancel(message.get("params"))
        elif number is None:
            return
        elif method in READY:
            self._send(self._conversation.answer(message))
            if method == "tools/list":
                self._load()
        else:
            self._load()
            self._cancelled[number] = Event()
            self._threads.submit(self._answer, number, message)

    def close(self) -> None:
        """End long calls after their present step, and wait for all."""
        for cancelled in [*self._cancelled.values()]:
            cancelled.set()
        self._threads.shutdown()

    def _answer(self, number: str | int, message: Mapping[str, Any]) -> None:
        """Answer a request, in a thread."""
        assert self._loaded is not None
        self._loaded.result()  # two threads that import the same modules can wait for each other for ever
        cancelled, token = self._cancelled[number], progress_token(message)

        def step(done: int, total: int | None) -> None:
            if cancelled.is_set():
                raise RequestCancelled
            if token is not None:
                self._send(progress_message(token, done, total))

        try:
            self._send(self._conversation.answer(message, step))
        except RequestCancelled:
            pass
        except Exception:  # noqa: BLE001 - a bug: the client is not left waiting
            traceback.print_exc()
            error = RequestError(INTERNAL_ERROR, "a bug: standard error has it")
            self._send(error_message(number, error))
        finally:
            self._cancelled.pop(number, None)

    def _cancel(self, params: Any) -> None:
        request = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request, (str, int)) and (cancelled := self._cancelled.get(request)):
            cancelled.set()

    def _load(self) -> None:
        """Load what the first call will need."""
        if self._loaded is None:
            self._loaded = self._threads.submit(load)

    def _send(self, message: Mapping[str, Any] | None) -> None:
        if message is not None:
            with self._turn, suppress(OSError):  # a client that went away needs no answer
                self._write(as_bytes(message) + b"\n")


def load() -> None:
    """Load the engine."""
    for name in ("priming.operations.schema", "priming.memory"):
        import_module(name)


class _Opened:
    """The service, opened at its first use, by one thread for all."""

    def __init__(self, open_it: Callable[[], Service]) -> None:
        self._open, self._turn = open_it, Lock()
        self._service: Service | None = None

    def __call__(self) -> Service:
        with self._turn:
            if self._service is None:
                self._service = self._open()
            return self._service

    def close(self) -> None:
        """Close it, if it was opened."""
        if self._service is not None:
            self._service.close()


def _chunk(source: int) -> bytes:
    """The next bytes of the client; none at its end, or if this process was begun without standard input."""
    try:
        return os.read(source, _CHUNK)
    except OSError:
        return b""


def _read(source: int, lines: Lines) -> None:
    """Queue the lines of the client, and None behind the last; one beyond the limit is cut, and is no JSON then."""
    rest = bytearray()
    while chunk := _chunk(source):
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest += line
            lines.put(bytes(rest[:_LINE_BYTES]))
            rest.clear()
        if len(rest) < _LINE_BYTES:
            rest += last
    if rest:
        lines.put(bytes(rest[:_LINE_BYTES]))
    lines.put(None)


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]


def _claimed_input() -> int:
    """Standard input for this module alone: whatever else reads it, such as a command of the loop, reads nothing."""
    own, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


def _claimed_output() -> int:
    """Standard output for this module alone: what anything else prints goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own
