"""Values as JSON, and back: one form for the command line, every server, and what is kept of the loop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import repeat
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def encode(value: Any) -> Any:
    """``value`` in what JSON holds: dataclasses become objects, times ISO 8601 in UTC, None stays null.

    A number that JSON cannot hold (NaN, infinity) becomes null.

    >>> from priming.types import Step
    >>> encode(Step("a", "next", "b", 0.5))
    {'source': 'a', 'relation': 'next', 'target': 'b', 'amount': 0.5}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): encode(one) for name, one in value.items()}
    if isinstance(value, Set):
        return sorted(encode(one) for one in value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [encode(one) for one in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(kind: Any, value: Any) -> Any:
    """The value of a type from its JSON: what ``encode`` made of it. A client reads a server's answers so.

    >>> from priming.types import Step
    >>> decode(tuple[Step, ...], [{"source": "a", "relation": "next", "target": "b", "amount": 0.5}])
    (Step(source='a', relation='next', target='b', amount=0.5),)
    """
    if value is None or kind is Any:
        return value
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return decode(next(one for one in inner if one is not NoneType), value)
    if origin in (list, tuple):
        return origin(decode(one, each) for one, each in zip(_kinds(inner, len(value)), value, strict=True))
    if origin is not None:  # a mapping
        return MappingProxyType({name: decode(inner[1], each) for name, each in value.items()})
    if is_dataclass(kind):
        return _record(kind, value)
    if kind is datetime:
        return datetime.fromisoformat(value)
    return kind(value) if kind in (float, Path) else value


def _kinds(inner: tuple[Any, ...], count: int) -> Iterable[Any]:
    """The types of the members of a list or tuple."""
    return inner if len(inner) == count and inner[-1] is not Ellipsis else repeat(inner[0], count)


def _record(kind: Any, value: Mapping[str, Any]) -> Any:
    """A dataclass from the fields that are there; one that makes itself otherwise is filled in as it is."""
    hints = _hints(kind)
    given = {name: decode(hints[name], each) for name, each in value.items() if name in hints}
    return kind(**given)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
