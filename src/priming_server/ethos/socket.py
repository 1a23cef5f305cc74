"""The socket of Ethos: its actions and plain operations, as JSON lines or MessagePack frames.

The two framings differ in the fourth byte of a connection. A frame begins with its length, four bytes little-endian,
so that the fourth is 0 up to the limit; the fourth byte of a JSON object never is. Both hold what JSON can.
"""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from priming.config.caller import Caller, calling
from priming.config.environment import USER
from priming.config.variables import VERSION
from priming.core.arguments.checks import parse_json, too_deep, too_many
from priming.errors import ParamError, PrimingError
from priming.operations.local_server import LOG, Cancelled, LocalServer
from priming.operations.local_socket import MESSAGE_BYTES, MESSAGE_DEPTH, MESSAGE_VALUES
from priming.operations.service import LocalService
from priming.serialization import full_error_payload
from priming.types import Progress
from priming_server.ethos.actions import act, greet

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
        """Yield the messages that ``data`` completes; ``TooLong`` after the last good one."""
        self._buffer += data
        if self.framing is None and len(self._buffer) >= _PREFIX:
            self.framing = JSON if self._buffer[_PREFIX - 1] else MESSAGEPACK
        if self.framing == JSON:
            yield from self._lines()
        elif self.framing == MESSAGEPACK:
            yield from self._frames()

    def messages(self, data: bytes | None) -> Iterator[bytes]:
        """Return the messages that ``data`` completes; nothing is the end, None that nothing follows for a while."""
        return self.settle() if data is None else self.feed(data) if data else self.end()

    def settle(self) -> Iterator[bytes]:
        """Yield the messages so far if nothing follows for a while: a line shorter than four bytes is a message."""
        if self.undecided:
            self.framing = JSON
            yield from self._lines()

    def end(self) -> Iterator[bytes]:
        """Yield the last message, which the end of the connection completes: a line needs no line break."""
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
    """Return the object that a message holds, or ``ParamError``.

    >>> parse("json", b'{"action": "ping"}')
    {'action': 'ping'}
    """
    text = _as_json(message) if framing == MESSAGEPACK else message
    value = parse_json("message", text, MESSAGE_DEPTH, MESSAGE_VALUES)
    if not isinstance(value, dict):
        raise ParamError("message", value, _RULE)
    return value


def pack(framing: str | None, message: Mapping[str, Any]) -> bytes:
    r"""Return a message as bytes, for either framing; ``TooLong`` if it is longer than the limit.

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
    """Return a frame as JSON, which cannot hold all that MessagePack can."""
    import msgpack

    check_messagepack("message", frame, depth=MESSAGE_DEPTH, values=MESSAGE_VALUES)
    try:
        return json.dumps(msgpack.unpackb(frame), ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise ParamError("message", frame[:80], f"{_RULE} ({reason})") from None


def check_messagepack(name: str, frame: bytes, *, depth: int, values: int) -> None:
    r"""Raise ``ParamError`` for a MessagePack frame beyond the limits, whether it holds its values or announces them.

    >>> check_messagepack("message", b"\x93\x01\x90\xa1a", depth=2, values=4)
    >>> check_messagepack("message", b"\xdd\xff\xff\xff\xff", depth=2, values=4)
    Traceback (most recent call last):
    ...
    priming.errors.ParamError: message = '…': must hold at most 4 values: send less at a time
    """
    at = count = announced = 0
    missing: list[int] = []
    """How many values each container that is open still lacks."""
    while at < len(frame):
        while missing and not missing[-1]:
            missing.pop()
        if missing:
            missing[-1] -= 1
            announced -= 1
        count += 1
        members, at = _next_value(frame, at)
        announced += members
        if count + announced > values:
            raise too_many(name, values)
        if members:
            missing.append(members)
            if len(missing) > depth:
                raise too_deep(name, depth)


def _next_value(frame: bytes, at: int) -> tuple[int, int]:
    """Return how many values the value at a place has in it, and where the next begins."""
    mark = frame[at]
    at += 1
    if mark <= 0x7F or mark >= 0xE0:
        return 0, at
    if mark <= 0x8F:
        return 2 * (mark & 15), at
    if mark <= 0x9F:
        return mark & 15, at
    if mark <= 0xBF:
        return 0, at + (mark & 31)
    width = _LENGTHS.get(mark)
    if width is None:
        return 0, at + _SIZES.get(mark, 0)
    length = int.from_bytes(frame[at : at + width], "big")
    at += width
    if mark in _ARRAYS:
        return length, at
    if mark in _MAPS:
        return 2 * length, at
    return 0, at + length + (mark in _EXTENSIONS)


_ARRAYS, _MAPS, _EXTENSIONS = (0xDC, 0xDD), (0xDE, 0xDF), (0xC7, 0xC8, 0xC9)
_LENGTHS = {
    **dict.fromkeys((0xC4, 0xC7, 0xD9), 1),
    **dict.fromkeys((0xC5, 0xC8, 0xDA, *_ARRAYS[:1], *_MAPS[:1]), 2),
    **dict.fromkeys((0xC6, 0xC9, 0xDB, *_ARRAYS[1:], *_MAPS[1:]), 4),
}
"""Bytes of the length that follows a mark."""
_SIZES = {
    **dict(zip(range(0xCA, 0xD4), (4, 8, 1, 2, 4, 8, 1, 2, 4, 8), strict=True)),
    **dict(zip(range(0xD4, 0xD9), (2, 3, 5, 9, 17), strict=True)),
}
"""Bytes that follow a mark of a number or an extension of fixed size."""


def envelope(data: Any = None, error: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the envelope of an answer or an error.

    >>> envelope("pong")
    {'status': 'ok', 'data': 'pong', 'error': None, 'version': '0.1.0'}
    """
    status = "ok" if error is None else "error"
    return {"status": status, "data": data, "error": error, "version": VERSION}


def reply(
    service: LocalService, message: Mapping[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """Return the envelope that answers a message; it repeats the ``id`` of a request for an operation."""
    try:
        caller = Caller(USER, f"socket {message.get('action') or message.get('op')}"[:64])
        answer = envelope(calling(caller)(_carry_out)(service, message, progress))
    except PrimingError as error:
        answer = envelope(error=full_error_payload(error))
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001
        LOG.error("a bug", exc_info=error)
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


def converse(server: LocalServer, end: socket.socket, start: bytes) -> None:
    """Answer a connection of the store's socket that does not begin like HTTP, its messages in their order."""
    decoder = Decoder()
    data: bytes | None = start
    while True:
        try:
            for message in decoder.messages(data):
                with server.answering():
                    end.sendall(_answered(server, end, decoder.framing, message))
        except ParamError as error:
            end.sendall(pack(decoder.framing, envelope(error=full_error_payload(error))))
            return
        if data == b"" or server.ending.is_set():
            return
        data = _next(server, end, decoder)


def _next(server: LocalServer, end: socket.socket, decoder: Decoder) -> bytes | None:
    """Return the next bytes, none at the end; None where the framing is open and nothing more has come."""
    if decoder.undecided and not select.select([end], [], [], server.params.settle)[0]:
        return None
    return end.recv(_CHUNK)


def _answered(server: LocalServer, end: socket.socket, framing: str | None, message: bytes) -> bytes:
    """Return the answer to a message; ``ParamError`` if it is not valid, after which the connection ends."""
    request = parse(framing, message)
    if request.get("action") == "hello":
        return _packed(framing, _greeted(server.local.greeting, request))
    send = partial(_send, end, framing) if request.get("progress") is True else None
    with server.at_work():
        return _packed(framing, reply(server.service, request, server.progress(end, send)))


def _send(end: socket.socket, framing: str | None, message: Mapping[str, Any]) -> None:
    end.sendall(pack(framing, message))


def _greeted(greeting: Mapping[str, str], request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the envelope that answers a hello."""
    try:
        return envelope(greet(greeting, request))
    except ParamError as error:
        return envelope(error=full_error_payload(error))


def _packed(framing: str | None, answer: dict[str, Any]) -> bytes:
    """Return an envelope as bytes; one that is too long is replaced by an error."""
    try:
        return pack(framing, answer)
    except TooLong:
        text = f"the answer has more than {MESSAGE_BYTES:,} bytes: ask for less at a time"
        return pack(framing, {**answer, **envelope(error={"code": "too_long", "message": text})})
