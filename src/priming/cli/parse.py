"""What people type, as values: parsed once, here."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from priming.errors import ParamError

STDIN = "-"
_DEEPEST = 100
_STRINGS = re.compile(r'"(?:\\.|[^"\\])*"')
_BYTES_PER_CHARACTER = 4
_AGO = re.compile(r"(\d{1,6})([mhdw])")
_SPAN = re.compile(r"(\d{1,6})([smhdw])")
_CLOCK = re.compile(r"\d{2}:\d{2}(?::\d{2})?")
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def text_of(argument: str, name: str = "content") -> str:
    """A text as typed; ``-`` reads it from stdin, as UTF-8, without the newline at its end."""
    if argument != STDIN:
        return argument
    from priming.config.params.store import STORE

    most = STORE.content_limit * _BYTES_PER_CHARACTER
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        raise ParamError(
            name, STDIN, f"must be at most {STORE.content_limit:,} characters: split it into parts"
        )
    try:
        return data.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ParamError(
            name, STDIN, f"must be UTF-8 text: stdin has the byte 0x{data[error.start]:02x} at {error.start}"
        ) from None


def moment(name: str, text: str) -> datetime:
    """A time in ISO 8601, or how long ago, such as ``10m``, ``2h`` or ``3d``.

    Without a zone it is this machine's local time, a date alone is its midnight, a time of day alone is today's.
    """
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago is not None:
            return datetime.now(UTC) - int(ago[1]) * _UNITS[ago[2]]
        if _CLOCK.fullmatch(text.strip()):
            text = f"{datetime.now().astimezone():%Y-%m-%d}T{text.strip()}"
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        rule = "must be a date or time, such as 2026-03-01, 2026-03-01T09:30+01:00 or 09:30, or how long ago, as 10m"
        raise ParamError(name, text, rule) from None


def optional_moment(name: str, text: str | None) -> datetime | None:
    """A time, if one was given."""
    return None if text is None else moment(name, text)


def duration(name: str, text: str) -> timedelta:
    """A length of time, such as ``90s``, ``30m``, ``8h`` or ``1d``."""
    met = _SPAN.fullmatch(text.strip())
    span = int(met[1]) * _UNITS[met[2]] if met else timedelta(0)
    if not span:
        raise ParamError(name, text, "must be a number > 0 with s, m, h, d or w, such as 8h")
    return span


def json_object(name: str, text: str) -> dict[str, Any]:
    """A JSON object, nested as deeply as people nest."""
    if _depth(text) > _DEEPEST:
        raise ParamError(name, text, f"must be nested at most {_DEEPEST} deep")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ParamError(name, text, f"must be JSON ({error})") from None
    if not isinstance(value, dict):
        raise ParamError(name, text, 'must be a JSON object, such as {"language": "python"}')
    return value


def _depth(text: str) -> int:
    """How deeply brackets are nested outside strings."""
    steps = ({"[": 1, "{": 1, "]": -1, "}": -1}.get(letter, 0) for letter in _STRINGS.sub("", text))
    return max(accumulate(steps), default=0)


def predicates(name: str, items: Sequence[str]) -> dict[str, Any]:
    """JSON objects and KEY=VALUE pairs in one mapping; a key given twice holds both values."""
    found: dict[str, Any] = {}
    for item in items:
        if item.lstrip().startswith("{"):
            found.update(json_object(name, item))
            continue
        key, equals, value = item.partition("=")
        if not (key.strip() and equals):
            raise ParamError(name, item, "must be KEY=VALUE or a JSON object")
        there = found.get(key.strip())
        found[key.strip()] = (
            value if there is None else [*(there if isinstance(there, list) else [there]), value]
        )
    return found
