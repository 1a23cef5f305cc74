"""Checks of plain arguments: a function for each kind of argument, and one form of message.

Each function returns the value in the form that the package stores, or raises ``ParamError`` with the name, the value
and the rule. ``arrays.py`` checks arrays; this module does not import numpy.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from priming.config.params.limits import STORE
from priming.config.words import NIGHT, PACK, SOURCES
from priming.core.arguments.normal_forms import normalized
from priming.errors import ParamError

T = TypeVar("T")
PAGE_LIMIT = 1_000_000
"""The longest page that may be requested at once."""
PACK_NAME = r"[a-z0-9]+(?:[-_.][a-z0-9]+)*"
PACK_VERSION = r"[0-9A-Za-z]+(?:[-_.+][0-9A-Za-z]+)*"
_NAME_LENGTH, _PACK_NAME_LENGTH = 512, 64
_DEPTH = 100
_BREAKS = ("Cc", "Zl", "Zp")
_JSON = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode


def check_text(name: str, value: Any) -> str:
    """Return a text without NUL and lone surrogates."""
    if not isinstance(value, str):
        raise ParamError(name, value, "must be a text")
    if "\x00" in value:
        raise ParamError(name, value, "must not contain the NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParamError(name, value, "must be valid Unicode, without lone surrogates") from None
    return value


def check_content(value: Any) -> str:
    """Return the text of a memory: a text that is not blank and not too long."""
    text = check_text("content", value)
    if not text.strip():
        raise ParamError("content", text, "must not be blank")
    if len(text) > STORE.content_limit:
        rule = f"has {len(text):,} characters, at most {STORE.content_limit:,}: split it into parts"
        raise ParamError("content", text, rule)
    return text


def check_name(name: str, value: Any) -> str | None:
    """Return a short text that names something, its letters composed, or None."""
    if value is None:
        return None
    text = check_text(name, value)
    if not text.strip() or len(text) > _NAME_LENGTH or _has_breaks(text):
        raise ParamError(name, text, f"must be one printable line of 1 to {_NAME_LENGTH} characters")
    return normalized("NFC", text)


def check_key(value: Any) -> str:
    """Return the key or id of a memory, composed as it is stored."""
    key = normalized("NFC", check_text("key", value))
    if not key.strip():
        raise ParamError("key", value, "must be a memory's key or id")
    return key


def _has_breaks(text: str) -> bool:
    """Tell whether a text has a line break or a control character; other scripts' spaces and joiners are allowed."""
    return not text.isprintable() and any(unicodedata.category(letter) in _BREAKS for letter in text)


def check_uuid(name: str, value: Any) -> str:
    """Return a UUID in its usual form."""
    try:
        return str(UUID(check_text(name, value)))
    except ValueError:
        rule = "must be a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057"
        raise ParamError(name, value, rule) from None


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Check that a value is one of a fixed set of words."""
    if value not in choices:
        raise ParamError(name, value, f"must be one of {', '.join(choices)}")
    return str(value)


def check_choices(name: str, value: Any, choices: Collection[str]) -> tuple[str, ...]:
    """Check that a value is one or several of a fixed set of words."""
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Collection):
        raise ParamError(name, value, f"must be some of {', '.join(choices)}")
    return tuple(check_choice(name, word, choices) for word in words)


def absent_if_empty(value: T) -> T | None:
    """Return an argument, or None for an empty list or mapping, which strict clients send in place of nothing."""
    is_empty = isinstance(value, Collection) and not isinstance(value, (str, bytes)) and not value
    return None if is_empty else value


def check_number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number in ``[low, high]``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParamError(name, value, "must be one number")
    number = float(value)
    if not math.isfinite(number) or not low <= number <= high:
        raise ParamError(name, number, f"must be {interval(low, high)}")
    return number


def check_fraction(name: str, value: Any, high: float = 1.0) -> float:
    """Return a number in [0, ``high``]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= high:
        raise ParamError(name, value, f"must be {interval(0, high)}")
    return float(value)


def check_whole(name: str, value: Any, *, low: int = 0) -> int:
    """Return a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise ParamError(name, value, f"must be a whole number ≥ {low}")
    return int(value)


def check_count(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParamError(name, value, f"must be a whole number in [{low:,}, {high:,}]")
    return value


def interval(low: float, high: float, below: float | None = None) -> str:
    """Return a range in words: ``finite``, ``finite and ≥ 0``, ``in [0, 1]`` or ``in [0, 1)``."""
    if below is not None:
        return f"in [{low:g}, {below:g})"
    if math.isfinite(low) and math.isfinite(high):
        return f"in [{low:g}, {high:g}]"
    if math.isfinite(low):
        return f"finite and ≥ {low:g}"
    return f"finite and ≤ {high:g}" if math.isfinite(high) else "finite"


def check_time(name: str, value: Any) -> datetime:
    """Return a time with a zone, in UTC."""
    if not isinstance(value, datetime):
        raise ParamError(name, value, "must be a datetime")
    if value.tzinfo is None:
        raise ParamError(name, value, "must carry a time zone, e.g. datetime.now(timezone.utc)")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ParamError(name, value, "must lie between the years 1 and 9999 in UTC") from None


def check_path(value: str | Path) -> Path:
    """Return a path that a file can have."""
    text = str(value)
    if text in ("", "-") or "\x00" in text:
        raise ParamError("path", text, "must name a file, without the NUL character; - is none")
    return Path(value)


def check_tags(value: Any) -> tuple[str, ...]:
    """Check tags and return them: short texts, each once, in their order."""
    return check_unique("tags", value, STORE.tags)


def check_keys(name: str, value: Any) -> tuple[str, ...]:
    """Check keys of memories and return each once, in their order."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Collection):
        raise ParamError(name, value, "must be a list of keys")
    return tuple(dict.fromkeys(check_text(name, key) for key in value))


def check_unique(name: str, value: Any, most: int) -> tuple[str, ...]:
    """Check short texts and return each once, in their order."""
    if isinstance(value, tuple) and not value:
        return ()
    if isinstance(value, (str, Mapping)) or not isinstance(value, (Sequence, set, frozenset)):
        raise ParamError(name, value, "must be a list of texts")
    if len(value) > most:
        raise ParamError(
            name, value, f"has {len(value):,} entries, at most {most:,}: leave out what says least"
        )
    names = [check_name(name, check_text(name, item)) or "" for item in value]
    return tuple(dict.fromkeys(sorted(names) if isinstance(value, (set, frozenset)) else names))


def check_metadata(value: Any) -> Mapping[str, Any]:
    """Return a mapping that JSON can hold."""
    if not isinstance(value, Mapping):
        raise ParamError("metadata", value, "must be a mapping")
    if not value:
        return {}
    try:
        encoded = _JSON(dict(value))
        encoded.encode()
    except (TypeError, ValueError) as error:
        raise ParamError("metadata", value, f"must hold what JSON holds ({error})") from None
    except RecursionError:
        raise ParamError("metadata", list(value), "must not be nested so deep") from None
    decoded: Mapping[str, Any] = json.loads(encoded)
    if _is_deeper(decoded, _DEPTH + 1):
        raise ParamError("metadata", list(value), f"must be nested at most {_DEPTH} deep")
    return decoded


def check_predicates(value: Any) -> Mapping[str, Any]:
    """Check the conditions under which a memory applies: by predicate a value, or a list of alternatives."""
    if not isinstance(value, Mapping):
        raise ParamError("when", value, "must be a mapping of predicates, such as {'language': 'python'}")
    if len(value) > STORE.conditions:
        raise ParamError(
            "when", value, f"has {len(value):,} conditions, at most {STORE.conditions}: leave some out"
        )
    checked = {}
    for name, condition in value.items():
        own = check_name("when", check_text("when", name)) or ""
        place = f"when.{own}"
        options = condition if isinstance(condition, (list, tuple)) else [condition]
        if not options or not all(_is_plain(place, option) for option in options):
            raise ParamError(place, condition, "must be a text, a number, true, false or a list of these")
        if len(options) > STORE.condition_values:
            rule = f"has {len(options):,} values, at most {STORE.condition_values}: name what they share"
            raise ParamError(place, condition, rule)
        checked[own] = list(condition) if isinstance(condition, tuple) else condition
    return checked


def _is_plain(name: str, value: Any) -> bool:
    """Tell whether a value is a text that can be kept, a finite number, true or false."""
    if isinstance(value, str):
        if len(value) > STORE.condition_letters:
            rule = f"has {len(value):,} characters, at most {STORE.condition_letters}: shorten it"
            raise ParamError(name, value, rule)
        return check_text(name, value) == value
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def check_source(value: object) -> str | None:
    """Check who made a change: one of ``SOURCES``, a pack ``pack:NAME@VERSION``, a night ``sleep:ID``, or None."""
    if isinstance(value, str) and value.startswith((PACK, NIGHT)):
        return check_name("source", value)
    return None if value is None else check_choice("source", value, SOURCES)


def check_pack_name(name: str, value: Any) -> str:
    """Return the name of a pack."""
    return _check_pattern(name, value, PACK_NAME, "lower-case letters and digits, joined by - _ or .")


def check_pack_version(name: str, value: Any) -> str:
    """Return the version of a pack."""
    return _check_pattern(name, value, PACK_VERSION, "letters and digits, joined by - _ . or +")


def _check_pattern(name: str, value: Any, pattern: str, rule: str) -> str:
    text = check_text(name, value)
    if not re.fullmatch(pattern, text) or len(text) > _PACK_NAME_LENGTH:
        raise ParamError(name, text, f"must be {rule}, at most {_PACK_NAME_LENGTH}")
    return text


def check_description(name: str, value: Any) -> str:
    """Return a line about a pack; empty for a blank text."""
    text = check_text(name, value)
    return "" if not text.strip() else check_name(name, text) or ""


_OUTSIDE = re.compile(rb"[\",]|[\[{](?!\s{0,9}[\]}])")
_INSIDE = re.compile(rb"\\.|\"", re.DOTALL)
"""What counts in a JSON text outside of texts, and what ends a text: a value takes some fifty bytes of memory for a
byte or two of text, and is counted before it comes into being."""


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
    """Return the error for a value that is nested too deep."""
    return ParamError(name, "…", f"must be nested at most {depth} deep")


def too_many(name: str, values: int) -> ParamError:
    """Return the error for a value with too many others in it."""
    return ParamError(name, "…", f"must hold at most {values:,} values: send less at a time")


def parse_json(name: str, text: bytes, depth: int, values: int) -> Any:
    """Return the value of a JSON text within limits; a ``ParamError`` refers to it by ``name``."""
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
        raise ParamError(name, decoded[:60], f"must be JSON: {error}") from None
    if _is_deeper(value, depth):
        raise too_deep(name, depth)
    return value


def _is_deeper(value: Any, depth: int) -> bool:
    """Tell whether an object or an array is within so many others."""
    level = [value]
    for _ in range(depth):
        containers = [each for each in level if isinstance(each, (dict, list))]
        level = [
            each for outer in containers for each in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(each, (dict, list)) for each in level)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number
