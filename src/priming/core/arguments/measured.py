"""Limits of nesting and of number for JSON and MessagePack, held before a text or a frame becomes a value.

A value takes some fifty bytes of memory for a byte or two of text: counted first, it never comes into being.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from priming.errors import ParamError

_OUTSIDE = re.compile(rb"[\",]|[\[{](?!\s{0,9}[\]}])")
_INSIDE = re.compile(rb"\\.|\"", re.DOTALL)


def check_json(name: str, text: bytes, values: int) -> None:
    """Raise ``ParamError`` for a JSON text that has more than ``values`` items and members in its arrays and objects.

    What is not JSON at all fails when it is parsed, without having grown.

    >>> check_json("body", b'[[], {"a": "[[[["}]', 3)
    >>> check_json("body", b"[[], [], []]", 2)
    Traceback (most recent call last):
    ...
    priming.errors.ParamError: body = '…': must hold at most 2 values: send less at a time
    """
    if text.count(b",") + text.count(b"[") + text.count(b"{") <= values:
        return
    at = count = 0
    while match := _OUTSIDE.search(text, at):
        at = match.end()
        if match[0] != b'"':
            count += 1
            if count > values:
                raise too_many(name, values)
            continue
        while (match := _INSIDE.search(text, at)) and match[0] != b'"':
            at = match.end()
        if match is None:
            return
        at = match.end()


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
        members, at = _next(frame, at)
        announced += members
        if count + announced > values:
            raise too_many(name, values)
        if members:
            missing.append(members)
            if len(missing) > depth:
                raise too_deep(name, depth)


def _next(frame: bytes, at: int) -> tuple[int, int]:
    """How many values the value at a place has in it, and where the next begins."""
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


def too_deep(name: str, depth: int) -> ParamError:
    """The error for a value that is nested too deep."""
    return ParamError(name, "…", f"must be nested at most {depth} deep")


def too_many(name: str, values: int) -> ParamError:
    """The error for a value with too many others in it."""
    return ParamError(name, "…", f"must hold at most {values:,} values: send less at a time")


def parse_json(name: str, text: bytes, depth: int, values: int) -> Any:
    """The value of a JSON text within limits; a ``ParamError`` refers to it by ``name``."""
    check_json(name, text, values)
    try:
        decoded = text.decode("utf-8")
        value = json.loads(decoded, parse_constant=_refuse, parse_float=_finite)
        if "\\u" in decoded:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise ParamError(name, text[:60], "must be text in UTF-8") from None
    except RecursionError:
        raise too_deep(name, depth) from None
    except ValueError as error:
        raise ParamError(name, text[:60], f"must be JSON: {error}") from None
    level = _containers([value])
    for _ in range(depth):
        level = [inner for outer in level for inner in _containers(outer)]
    if level:
        raise too_deep(name, depth)
    return value


def _containers(container: Any) -> list[Any]:
    """The objects and arrays directly within an object or an array."""
    values = container.values() if isinstance(container, dict) else container
    return [value for value in values if isinstance(value, (dict, list))]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number
