"""MCP on standard input and output: first the ready-made answers, then the protocol library for the rest.

The library and the engine are loaded behind the list of tools, or when a client asks for more. A thread reads
standard input, so that nothing waits for a silent client when the server is to end.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from priming.mcp.beside import silent_answer
from priming.mcp.greeting import Greeting

if TYPE_CHECKING:
    from priming.operations.service import Service

_CHUNK = 65_536
_LINE_BYTES = 1 << 24
_GRACE = 0.5
"""Seconds after SIGINT in which running calls may end and the store is closed."""
_INTERRUPTED = 130
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
    rest = _greet(Greeting(groups), lines, output)
    if rest is None:
        return
    opened = cache(service)
    try:
        _speak(opened, namespace, groups, agent, (rest, lines, output))
    finally:
        lines.put(None)
        if opened.cache_info().currsize:
            opened().close()


def _end(lines: Lines) -> None:
    """End as if the client had gone away, and soon: a call that does not stop is left alone, as in a crash."""
    lines.put(None)
    last = threading.Timer(_GRACE, os._exit, [_INTERRUPTED])
    last.daemon = True
    last.start()


def _greet(greeting: Greeting, lines: Lines, output: int) -> Sequence[bytes] | None:
    """Answer until the library is needed, and return what it has to read first; None if the client went away."""
    loading = threading.Thread(target=_load, daemon=True)
    while (line := lines.get()) is not None:
        answer = greeting.answer(line)
        if answer is None:
            if loading.ident is not None:
                loading.join()  # two threads that import the same modules can wait for each other for ever
            return [*greeting.opening, line]
        if answer:
            _write(output, answer + b"\n")
        if greeting.is_listed and loading.ident is None:
            loading.start()
    return None


def _load() -> None:
    """Load what the first call will need."""
    for name in ("priming.mcp.protocol", "priming.operations.schema", "priming.memory"):
        import_module(name)


def _speak(
    service: Callable[[], Service],
    namespace: str,
    groups: str,
    agent: Callable[[], Any],
    streams: tuple[Sequence[bytes], Lines, int],
) -> None:
    """Let the protocol library answer what the client writes from now on."""
    import anyio
    from mcp.server.stdio import stdio_server

    from priming.mcp.protocol import server

    protocol = server(service, lambda _: namespace, groups, agent=agent)
    wire: Any = _Wire(*streams)

    async def speak() -> None:
        async with stdio_server(wire, wire) as (reading, writing):
            await protocol.run(reading, writing, protocol.create_initialization_options())

    anyio.run(speak)


class _Wire:
    """Both streams as the library reads and writes them. What was answered before it was loaded is not sent again."""

    def __init__(self, first: Sequence[bytes], lines: Lines, output: int) -> None:
        self._first, self._lines, self._output = first, lines, output
        self._answered = json.loads(first[0])["id"] if len(first) > 1 else None

    async def __aiter__(self) -> AsyncIterator[str]:
        """The lines of the client, the first answered before the next is read."""
        from anyio import sleep, to_thread

        from priming.mcp.limits import refusal_of

        for line in self._first:
            if refused := refusal_of(line):
                _write(self._output, refused + b"\n")
                continue
            yield _decoded(line)
            while self._answered is not None:
                await sleep(0)
        while (rest := await to_thread.run_sync(self._lines.get, abandon_on_cancel=True)) is not None:
            if refused := refusal_of(rest):
                _write(self._output, refused + b"\n")
            else:
                yield _decoded(rest)

    async def write(self, text: str) -> None:
        """Write a message, unless it is the second answer to the first request."""
        if self._answered is not None and json.loads(text).get("id") == self._answered:
            self._answered = None
        else:
            _write(self._output, text.encode())

    async def flush(self) -> None:
        """Nothing waits: each message is written whole."""


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")


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
