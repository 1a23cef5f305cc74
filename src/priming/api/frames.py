"""The two framings of the socket, told apart by the fourth byte of a connection.

JSON lines are one object a line, in UTF-8. MessagePack frames begin with their length, four bytes little-endian, so
that the fourth is 0 up to the limit; the fourth byte of a JSON object never is. Both carry what JSON holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from priming.errors import ParamError

JSON, MESSAGEPACK = "json", "messagepack"
LIMIT = (1 << 24) - 1
"""Most bytes of a message, 16 MiB - 1: the fourth byte of its length is then 0."""
DEEPEST = 100
"""Most levels of objects and arrays within each other."""
_PREFIX = 4
_HOLDS = (str, int, float, dict, list, type(None))
_RULE = "must be one JSON object a line, or MessagePack frames of one map each"


class TooLong(ParamError):
    """A message longer than the limit."""


class Decoder:
    """Cuts what comes in over a connection into messages, however it arrives in pieces."""

    def __init__(self, framing: str | None = None) -> None:
        self.framing = framing
        self._held = bytearray()
        self._searched = 0

    @property
    def undecided(self) -> bool:
        """Whether what came is a line of under four bytes, or the beginning of a frame."""
        return self.framing is None and b"\n" in self._held

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages that ``data`` completes; ``TooLong`` after the last good one."""
        self._held += data
        if self.framing is None and len(self._held) >= _PREFIX:
            self.framing = JSON if self._held[_PREFIX - 1] else MESSAGEPACK
        if self.framing == JSON:
            yield from self._lines()
        elif self.framing == MESSAGEPACK:
            yield from self._frames()

    def settle(self) -> Iterator[bytes]:
        """The messages that are there when nothing more comes for a while: a line shorter than four bytes is one."""
        if self.undecided:
            self.framing = JSON
            yield from self._lines()

    def end(self) -> Iterator[bytes]:
        """The last message, if the end of the connection completes it: a line need not end in a line break."""
        if self.framing is None and self._held:
            self.framing = JSON
        if self.framing == JSON:
            yield from self._lines()
            if self._held.strip():
                yield bytes(self._held)
        elif self._held:
            raise ParamError(
                "message", f"{len(self._held)} bytes", "must be whole: the connection ended in it"
            )

    def _lines(self) -> Iterator[bytes]:
        while (end := self._held.find(b"\n", self._searched)) >= 0:
            if end > LIMIT:
                break
            line = bytes(self._held[:end])
            del self._held[: end + 1]
            self._searched = 0
            if line.strip():
                yield line
        self._searched = len(self._held) if end < 0 else 0
        if len(self._held) > LIMIT:
            raise _too_long(f"more than {LIMIT:,} bytes without a line break")

    def _frames(self) -> Iterator[bytes]:
        while len(self._held) >= _PREFIX:
            length = int.from_bytes(self._held[:_PREFIX], "little")
            if length > LIMIT:
                raise _too_long(f"{length:,} bytes")
            if len(self._held) < _PREFIX + length:
                return
            frame = bytes(self._held[_PREFIX : _PREFIX + length])
            del self._held[: _PREFIX + length]
            yield frame


def parse(framing: str | None, message: bytes) -> dict[str, Any]:
    """The object that a message holds, or ``ParamError``.

    >>> parse("json", b'{"action": "ping"}')
    {'action': 'ping'}
    """
    try:
        value = _unpacked(message) if framing == MESSAGEPACK else _loaded(message)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # both libraries' own errors are among them
        raise ParamError("message", message[:80], f"{_RULE} ({str(error) or type(error).__name__})") from None
    _check(value)
    if not isinstance(value, dict):
        raise ParamError("message", value, _RULE)
    return value


def pack(framing: str | None, message: Mapping[str, Any]) -> bytes:
    r"""A message as bytes, for either framing; ``TooLong`` if it is longer than a message may be.

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
    if len(body) > LIMIT:
        raise _too_long(f"{len(body):,} bytes")
    return framed


def _loaded(message: bytes) -> Any:
    return json.loads(message.decode("utf-8"), parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _unpacked(message: bytes) -> Any:
    import msgpack

    try:
        return msgpack.unpackb(message)
    except msgpack.StackError:
        raise RecursionError from None


def _check(value: Any) -> None:
    """Refuse what JSON has no word for, and what lies too deep, level by level."""
    level, depth = [value], 0
    while level:
        depth += 1
        for one in level:
            if not isinstance(one, _HOLDS) or one != one or _infinite(one):
                raise ParamError("message", one, "must hold only what JSON can")
            if depth > DEEPEST and isinstance(one, (dict, list)):
                raise _too_deep()
        level = [inner for one in level for inner in _inside(one)]


def _infinite(value: Any) -> bool:
    return isinstance(value, float) and math.isinf(value)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


def _too_long(size: str) -> TooLong:
    return TooLong("message", size, f"must have at most {LIMIT:,} bytes: send less at a time")


def _too_deep() -> ParamError:
    return ParamError("message", "…", f"must nest objects and arrays at most {DEEPEST} deep")
