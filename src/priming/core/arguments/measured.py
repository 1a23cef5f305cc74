"""Limits of nesting and of number for JSON, held before a text becomes a value.

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
