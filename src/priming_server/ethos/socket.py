"""The socket of Ethos: its actions and plain operations, as JSON lines or MessagePack frames.

The two framings differ in the fourth byte of a connection. A frame begins with its length, four bytes little-endian,
so that the fourth is 0 up to the limit; the fourth byte of a JSON object never is. Both hold what JSON can.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from threading import Event
from time import monotonic
from typing import Any

from priming.config.caller import Caller, calling
from priming.config.environment import USER, VERSION
from priming.config.params.server import SocketParams
from priming.config.values import dataclass
from priming.core.arguments.measured import check_messagepack, parse_json
from priming.errors import ParamError, PrimingError
from priming.operations.local_socket import MESSAGE_BYTES, MESSAGE_DEPTH, MESSAGE_VALUES, hung_up
from priming.operations.service import LocalService
from priming.serialization import full_error_payload
from priming.types import Progress
from priming_server import telemetry
from priming_server.ethos.actions import act, greet
from priming_server.jobs import Cancelled
from priming_server.limits import WorkerPool

JSON, MESSAGEPACK = "json", "messagepack"
FIELDS = ("op", "namespace", "args", "id", "operation_id", "progress", "forgiving")
_PREFIX, _CHUNK = 4, 1 << 16
_RULE = "must be one JSON object a line, or MessagePack frames of one map each"


class TooLong(ParamError):
    """A message longer than the limit."""

    def __init__(self, size: str) -> None:
        super().__init__("message", size, f"must have at most {MESSAGE_BYTES:,} bytes: send less at a time")


class Decoder:
    """Cuts the bytes of a connection into messages, in whatever pieces they arrive."""

    def __init__(self, framing: str | None = None) -> None:
        self.framing = framing
        self._buffer = bytearray()
        self._searched = 0

    @property
    def undecided(self) -> bool:
        """Whether the bytes are a line of under four bytes, or the beginning of a frame."""
        return self.framing is None and b"\n" in self._buffer

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages that ``data`` completes; ``TooLong`` after the last good one."""
        self._buffer += data
        if self.framing is None and len(self._buffer) >= _PREFIX:
            self.framing = JSON if self._buffer[_PREFIX - 1] else MESSAGEPACK
        if self.framing == JSON:
            yield from self._lines()
        elif self.framing == MESSAGEPACK:
            yield from self._frames()

    def messages(self, data: bytes | None) -> Iterator[bytes]:
        """The messages that ``data`` completes; nothing is the end, None that nothing follows for a while."""
        return self.settle() if data is None else self.feed(data) if data else self.end()

    def settle(self) -> Iterator[bytes]:
        """The messages so far if nothing follows for a while: a line shorter than four bytes is a message."""
        if self.undecided:
            self.framing = JSON
            yield from self._lines()

    def end(self) -> Iterator[bytes]:
        """The last message, which the end of the connection completes: a line needs no line break."""
        if self.framing is None and self._buffer:
            self.framing = JSON
        if self.framing == JSON:
            yield from self._lines()
            if self._buffer.strip():
                yield bytes(self._buffer)
        elif size := len(self._buffer):
            raise ParamError("message", f"{size} bytes", "must be complete: the connection ended inside it")

    def _lines(self) -> Iterator[bytes]:
        while (end := self._buffer.find(b"\n", self._searched)) >= 0:
            if end > MESSAGE_BYTES:
                break
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._searched = 0
            if line.strip():
                yield line
        self._searched = len(self._buffer) if end < 0 else 0
        if len(self._buffer) > MESSAGE_BYTES:
            raise TooLong(f"more than {MESSAGE_BYTES:,} bytes without a line break")

    def _frames(self) -> Iterator[bytes]:
        while len(self._buffer) >= _PREFIX:
            length = int.from_bytes(self._buffer[:_PREFIX], "little")
            if length > MESSAGE_BYTES:
                raise TooLong(f"{length:,} bytes")
            if len(self._buffer) < _PREFIX + length:
                return
            frame = bytes(self._buffer[_PREFIX : _PREFIX + length])
            del self._buffer[: _PREFIX + length]
            yield frame


def parse(framing: str | None, message: bytes) -> dict[str, Any]:
    """The object that a message holds, or ``ParamError``.

    >>> parse("json", b'{"action": "ping"}')
    {'action': 'ping'}
    """
    text = _as_json(message) if framing == MESSAGEPACK else message
    value = parse_json("message", text, MESSAGE_DEPTH, MESSAGE_VALUES)
    if not isinstance(value, dict):
        raise ParamError("message", value, _RULE)
    return value


def pack(framing: str | None, message: Mapping[str, Any]) -> bytes:
    r"""A message as bytes, for either framing; ``TooLong`` if it is longer than the limit.

    >>> pack("json", {"status": "ok"})
    b'{"status":"ok"}\n'
    """
    if framing == MESSAGEPACK:
        import msgpack

        # A whole number beyond 64 bits has no form there, and is sent as text.
        body: bytes = msgpack.packb(message, unicode_errors="replace", default=str)
        framed = len(body).to_bytes(_PREFIX, "little") + body
    else:
        body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
        framed = body + b"\n"
    if len(body) > MESSAGE_BYTES:
        raise TooLong(f"{len(body):,} bytes")
    return framed


def _as_json(frame: bytes) -> bytes:
    """A frame as JSON, which cannot hold all that MessagePack can."""
    import msgpack

    check_messagepack("message", frame, depth=MESSAGE_DEPTH, values=MESSAGE_VALUES)
    try:
        return json.dumps(msgpack.unpackb(frame), ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise ParamError("message", frame[:80], f"{_RULE} ({reason})") from None


def envelope(data: Any = None, error: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The envelope of an answer or an error.

    >>> envelope("pong")
    {'status': 'ok', 'data': 'pong', 'error': None, 'version': '0.1.0'}
    """
    status = "ok" if error is None else "error"
    return {"status": status, "data": data, "error": error, "version": VERSION}


def reply(
    service: LocalService, message: Mapping[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """The envelope that answers a message; it repeats the ``id`` of a request for an operation."""
    try:
        caller = Caller(USER, f"socket {message.get('action') or message.get('op')}"[:64])
        answer = envelope(calling(caller)(_carry_out)(service, message, progress))
    except PrimingError as error:
        answer = envelope(error=full_error_payload(error))
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001
        telemetry.write(logging.ERROR, "a bug", error=error)
        answer = envelope(error={"code": "internal", "message": "a bug: the server's log has it"})
    return {**answer, "id": message["id"]} if "op" in message and "id" in message else answer


def _carry_out(service: LocalService, message: Mapping[str, Any], progress: Progress | None) -> Any:
    if "action" in message:
        return act(service, message, progress)
    if not isinstance(message.get("op"), str):
        raise ParamError("op", message.get("op"), 'must name an operation, such as "recall"')
    for name in message:
        if name not in FIELDS:
            raise ParamError(name, message[name], f"is not part of a request, which has {', '.join(FIELDS)}")
    namespace, operation_id = message.get("namespace"), message.get("operation_id")
    if operation_id is not None and not isinstance(operation_id, str):
        raise ParamError("operation_id", operation_id, "must be a UUID, as text")
    return service.call(
        "default" if namespace is None else namespace,
        message["op"],
        {} if (arguments := message.get("args")) is None else arguments,
        forgiving=message.get("forgiving") is True,
        progress=progress,
        operation_id=operation_id,
    )


@dataclass(frozen=True, slots=True)
class Shared:
    """The state shared by a server's connections; ``ending`` is set when the server is asked to end."""

    service: LocalService
    greeting: Mapping[str, str]
    workers: WorkerPool
    ending: Event
    params: SocketParams


class Conversation:
    """One connection: its messages are answered in their order, its calls in the threads of the server."""

    def __init__(self, shared: Shared, connections: set[Any]) -> None:
        self._shared, self._connections = shared, connections
        self._idle = self._at_work = False
        self._writer: asyncio.StreamWriter
        self._task: asyncio.Task[Any] | None = None

    def shutdown(self) -> None:
        """End after the answer under way; a client that does not read it is not waited for."""
        if self._idle and self._task is not None:
            self._task.cancel()
        elif not self._at_work:
            self._lose_patience()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the messages of the connection until it ends."""
        self._task, self._writer = asyncio.current_task(), writer
        self._connections.add(self)
        try:
            await self._converse(reader)
        except (ConnectionError, Cancelled, asyncio.CancelledError):
            pass  # the other end went away, or the server ends
        finally:
            writer.close()
            if self._shared.ending.is_set():
                self._lose_patience()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._connections.discard(self)

    async def _converse(self, reader: asyncio.StreamReader) -> None:
        decoder = Decoder()
        data: bytes | None = None
        while data != b"":
            data = await self._read(reader, decoder)
            try:
                for message in decoder.messages(data):
                    await self._answer(decoder.framing, message)
            except ParamError as error:
                await self._send(pack(decoder.framing, envelope(error=full_error_payload(error))))
                return

    async def _read(self, reader: asyncio.StreamReader, decoder: Decoder) -> bytes | None:
        """The next bytes, none at the end; None where the framing is open and nothing more has come."""
        patience = self._shared.params.settle if decoder.undecided else None
        self._idle = True
        try:
            return await asyncio.wait_for(reader.read(_CHUNK), patience)
        except TimeoutError:
            return None
        finally:
            self._idle = False

    async def _answer(self, framing: str | None, message: bytes) -> None:
        """Answer one message; ``ParamError`` if it is not valid, after which the connection ends."""
        parsing = partial(parse, framing, message)
        request = parsing() if len(message) <= _CHUNK else await self._in_thread(parsing)
        if request.get("action") == "hello":
            answer = _greeted(self._shared.greeting, request)
        else:
            progress = self._progress(framing, request.get("progress") is True)
            lane = str(request.get("namespace") or "default")
            answer = await self._in_thread(partial(reply, self._shared.service, request, progress), lane)
        await self._send(_packed(framing, answer))

    async def _in_thread(self, call: Callable[[], dict[str, Any]], lane: str = "") -> dict[str, Any]:
        if self._shared.ending.is_set():
            raise Cancelled
        self._at_work = True
        try:
            return await self._shared.workers.run_patiently(call, lane)
        finally:
            self._at_work = False

    def _progress(self, framing: str | None, reports: bool) -> Progress:
        """The callback of a long call, in its thread: it ends the call when the client is gone."""
        loop, writer = asyncio.get_running_loop(), self._writer
        end = writer.get_extra_info("socket")
        last = 0.0

        def progress(done: int, total: int | None) -> None:
            nonlocal last
            if self._shared.ending.is_set() or writer.is_closing() or hung_up(end.fileno()):
                raise Cancelled
            due = total is None or done == total or monotonic() - last >= self._shared.params.between
            if reports and due:
                last = monotonic()
                loop.call_soon_threadsafe(writer.write, pack(framing, {"progress": [done, total]}))

        return progress

    async def _send(self, data: bytes) -> None:
        """Send, and wait until the other end has read enough of it."""
        self._writer.write(data)
        if self._shared.ending.is_set():
            self._lose_patience()
        await self._writer.drain()

    def _lose_patience(self) -> None:
        transport = self._writer.transport
        asyncio.get_running_loop().call_later(self._shared.params.drain, transport.abort)


def _greeted(greeting: Mapping[str, str], request: Mapping[str, Any]) -> dict[str, Any]:
    """The envelope that answers a hello."""
    try:
        return envelope(greet(greeting, request))
    except ParamError as error:
        return envelope(error=full_error_payload(error))


def _packed(framing: str | None, answer: dict[str, Any]) -> bytes:
    """An envelope as bytes; one that is too long is replaced by an error."""
    try:
        return pack(framing, answer)
    except TooLong:
        text = f"the answer has more than {MESSAGE_BYTES:,} bytes: ask for less at a time"
        return pack(framing, {**answer, **envelope(error={"code": "too_long", "message": text})})
