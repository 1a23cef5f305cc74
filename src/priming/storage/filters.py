"""Filters: a small language that restricts a recall to some memories.

    {"kind": "fact"}                                     equality
    {"importance": {"gte": 0.5, "lt": 0.9}}              eq ne in nin gt gte lt lte contains exists
    {"metadata.author": {"in": ["ann", "bo"]}}           a field of the user's metadata
    {"or": [{"tags": {"contains": "db"}}, {"not": {"outcome": "failure"}}]}

All fields, and all operators of a field, must hold. Comparisons are case-sensitive. ``null`` means
that the field is absent: it equals nothing else, so ``ne`` and ``nin`` hold for an absent field and comparisons of
order do not. A tag filter tests whether a memory has the tag. ``trust`` is ordered from low to high. Times are
datetimes, or ISO 8601 texts, with a time zone. Metadata values are compared only with values of the same type:
true is not 1.

A filter is parsed once, at the edge, into a ``Condition``, which a backend compiles into its own query.
"""

from __future__ import annotations

import math
import operator as op
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from priming.config.values import dataclass
from priming.config.words import KINDS, OUTCOMES, TRUST
from priming.core.arguments.checks import check_time
from priming.core.arguments.normal_forms import normalized
from priming.errors import ParamError

_AS_WRITTEN = ("content", "gist")
"""Texts that are stored as somebody wrote them; names are composed."""
_EQUAL, _ORDER = ("eq", "ne", "in", "nin"), ("gt", "gte", "lt", "lte")
OPERATORS = (*_EQUAL, *_ORDER, "contains", "exists")
_CHOICES = {"kind": KINDS, "trust": TRUST, "outcome": OUTCOMES}
_TYPES = {
    "text": ("id", "key", "content", "gist", "heading", "session", "speaker", "source"),
    "choice": tuple(_CHOICES),
    "number": ("importance", "priority", "weight", "version", "uses"),
    "time": ("occurred_at", "recorded_at", "valid_from", "valid_to"),
    "tags": ("tags",),
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names}
FIELDS = tuple(_TYPE_OF)
_OPERATORS_OF = {
    "text": OPERATORS,
    "choice": (*_EQUAL, "exists"),
    "number": (*_EQUAL, *_ORDER, "exists"),
    "time": (*_EQUAL, *_ORDER, "exists"),
    "tags": (*_EQUAL, "contains", "exists"),
    "metadata": OPERATORS,
}
_MAX_DEPTH, _MAX_COMPARISONS = 16, 500
_HOLDS = {"gt": op.gt, "gte": op.ge, "lt": op.lt, "lte": op.le}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of one field. ``path`` names a field, or the parts of ``metadata.a.b``."""

    path: tuple[str, ...]
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Combination:
    """Conditions joined by ``and`` or ``or``, or one negated by ``not``."""

    operator: str
    parts: tuple[Condition, ...]


Condition = Comparison | Combination


def parse(filters: Any) -> Condition:
    """Parse a filter mapping; ``ParamError`` names the part that is invalid."""
    condition = _parse(filters, 1)
    if _size(condition) > _MAX_COMPARISONS:
        raise ParamError("filters", filters, f"must hold at most {_MAX_COMPARISONS} comparisons")
    return condition


def excluded_ids(condition: Condition) -> Sequence[str] | None:
    """Return the ids that a condition excludes, if it does nothing else; else None.

    >>> excluded_ids(parse({"id": {"nin": ["a", "b"]}})), excluded_ids(parse({"kind": "fact"}))
    (['a', 'b'], None)
    """
    while isinstance(condition, Combination) and condition.operator == "and" and len(condition.parts) == 1:
        (condition,) = condition.parts
    excludes = isinstance(condition, Comparison) and (condition.path, condition.operator) == (("id",), "nin")
    return list(condition.value) if isinstance(condition, Comparison) and excludes else None


def _parse(filters: Any, depth: int) -> Condition:
    if not isinstance(filters, Mapping):
        raise ParamError("filters", filters, "must be a mapping of field names to values")
    if depth > _MAX_DEPTH:
        raise ParamError("filters", filters, f"must be nested at most {_MAX_DEPTH} deep")
    return Combination("and", tuple(_clause(name, value, depth) for name, value in filters.items()))


def _size(condition: Condition) -> int:
    return 1 if isinstance(condition, Comparison) else sum(map(_size, condition.parts))


def _clause(name: Any, value: Any, depth: int) -> Condition:
    if name in ("and", "or"):
        parts = _list(f"filters.{name}", value, "must be a list of filters")
        return Combination(name, tuple(_parse(part, depth + 1) for part in parts))
    if name == "not":
        return Combination("not", (_parse(value, depth + 1),))
    path = _path(name)
    if isinstance(value, Mapping):
        if not value:
            raise ParamError(f"filters.{name}", value, f"must name an operator: {', '.join(OPERATORS)}")
        return Combination(
            "and", tuple(_comparison(path, operator, operand) for operator, operand in value.items())
        )
    return _comparison(path, "eq", value)


def _path(name: Any) -> tuple[str, ...]:
    parts = tuple(name.split(".")) if isinstance(name, str) else ()
    if parts and parts[0] == "metadata" and len(parts) > 1 and all(parts) and '"' not in name:
        _stored("filters", name)
        return parts
    if len(parts) == 1 and parts[0] in FIELDS:
        return parts
    raise ParamError("filters", name, f"must be metadata.NAME, and, or, not, or one of {', '.join(FIELDS)}")


def _comparison(path: tuple[str, ...], operator: Any, value: Any) -> Condition:
    kind = _TYPE_OF.get(path[0], "metadata")
    allowed = _OPERATORS_OF[kind] + (_ORDER if path == ("trust",) else ())
    if operator not in allowed:
        raise ParamError(f"filters.{'.'.join(path)}", operator, f"must be one of {', '.join(allowed)}")
    where = f"filters.{'.'.join(path)}.{operator}"
    if operator == "exists":
        if not isinstance(value, bool):
            raise ParamError(where, value, "must be true or false")
        return Comparison(path, operator, value)
    if operator in ("in", "nin"):
        values = _list(where, value, "must be a list")
        return Comparison(path, operator, tuple(_value(where, path, kind, item) for item in values))
    if value is None and operator not in _EQUAL:
        raise ParamError(where, value, "must not be null: use exists instead")
    operand = _value(where, path, kind, value)
    return (
        _ordered(where, path, operator, operand)
        if operator in _ORDER
        else Comparison(path, operator, operand)
    )


def _ordered(where: str, path: tuple[str, ...], operator: str, operand: Any) -> Condition:
    if isinstance(operand, bool):
        raise ParamError(where, operand, "must be a number or a text: true and false have no order")
    if path != ("trust",):
        return Comparison(path, operator, operand)
    rank, holds = TRUST.index(operand), _HOLDS[operator]
    return Comparison(path, "in", tuple(trust for i, trust in enumerate(TRUST) if holds(i, rank)))


def _list(where: str, value: Any, rule: str) -> Sequence[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise ParamError(where, value, rule)
    return value


def _value(where: str, path: tuple[str, ...], kind: str, value: Any) -> Any:
    """Check that a value can be compared with the field."""
    if value is None:
        return None
    if kind == "time":
        return _time(where, value)
    if kind == "choice":
        choices = _CHOICES[path[0]]
        if value not in choices:
            raise ParamError(where, value, f"must be one of {', '.join(choices)}")
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "number" and not is_number:
        raise ParamError(where, value, "must be a number")
    if kind in ("text", "tags"):
        if not isinstance(value, str):
            raise ParamError(where, value, "must be a text")
        if path[0] not in _AS_WRITTEN:
            value = normalized("NFC", value)
    if not isinstance(value, (str, int, float)):
        raise ParamError(where, value, "must be a text, a number, true, false or null")
    return _stored(where, value)


def _time(where: str, value: Any) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ParamError(where, value, "must be a time such as 2026-05-01T12:00:00+00:00") from None
    return check_time(where, value)


def _stored(where: str, value: Any) -> Any:
    """Return ``value`` if a database can store it: valid Unicode, or a number of 64 bits."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ParamError(where, value, "must be valid Unicode, without lone surrogates") from None
    elif not (-(2**63) <= value < 2**63 if isinstance(value, int) else math.isfinite(value)):
        raise ParamError(where, value, "must be finite, and an integer within 64 bits")
    return value
