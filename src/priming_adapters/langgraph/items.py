"""Items of a store: what their memories hold, the texts in their values, and the conditions of searches."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from priming import Memory, MemoryRecord, ParamError

_OPERATORS = {"$eq": "eq", "$ne": "ne", "$gt": "gt", "$gte": "ge", "$lt": "lt", "$lte": "le"}


def item_parts(record: MemoryRecord, namespace: tuple[str, ...]) -> dict[str, Any]:
    """Return what an item is made of."""
    created_at, updated_at = item_times(record)
    return {
        "namespace": namespace,
        "key": record.metadata.get("key", record.key),
        "value": item_value(record),
        "created_at": created_at,
        "updated_at": updated_at,
    }


def item_value(record: MemoryRecord) -> dict[str, Any]:
    """Return the value of an item; of a memory that was remembered otherwise, its text."""
    value = record.metadata.get("value")
    return value if isinstance(value, dict) else {"text": record.content}


def item_times(record: MemoryRecord) -> list[datetime]:
    """Return when an item was created, and when it was put last."""
    times = (record.metadata.get(name, record.recorded_at) for name in ("created_at", "updated_at"))
    return [datetime.fromisoformat(str(time)) for time in times]


def has_expired(memory: Memory, record: MemoryRecord) -> bool:
    """Return whether the time to live of an item is over."""
    return "ttl" in record.metadata and bool(record.metadata["expires_at"] <= memory.now().timestamp())


def value_texts(value: Any) -> list[str]:
    """Return the texts and figures in a value, each with the names that lead to it, unless there is one alone."""
    pairs = [*_leaves(value)]
    return [text for _, text in pairs] if len(pairs) == 1 else [f"{name}: {text}" for name, text in pairs]


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _leaves(item, f"{name} {inner}".strip())
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, name)
    elif value is not None and str(value).strip():
        yield name, str(value)


def path_fits(path: tuple[str, ...], match_type: str, pattern: Sequence[str]) -> bool:
    """Return whether a namespace begins or ends with a pattern, in which a star is any label."""
    if match_type not in ("prefix", "suffix"):
        raise ParamError("match_type", match_type, "must be prefix or suffix")
    step = 1 if match_type == "prefix" else -1
    pairs = zip(path[::step], pattern[::step], strict=False)
    return len(path) >= len(pattern) and all(part in ("*", label) for label, part in pairs)


def holds(value: Any, condition: Any) -> bool:
    """Return whether a value fits a condition of a filter."""
    if isinstance(condition, Mapping):
        fits = isinstance(value, Mapping) or any(str(name)[:1] == "$" for name in condition)
        return fits and all(_compares(value, str(name), each) for name, each in condition.items())
    if isinstance(condition, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(condition)
        return same and all(map(holds, value, condition))
    return bool(value == condition)


def _compares(value: Any, name: str, other: Any) -> bool:
    """Whether a field or an operator holds: an order is that of numbers, or of texts."""
    if name[:1] != "$":
        return isinstance(value, Mapping) and holds(value.get(name), other)
    if name not in _OPERATORS:
        raise ParamError("filter", name, f"must be one of {', '.join(_OPERATORS)}")
    if name not in ("$eq", "$ne") and not (isinstance(value, str) and isinstance(other, str)):
        try:
            value, other = float(value), float(other)
        except (TypeError, ValueError):
            return False
    return bool(getattr(operator, _OPERATORS[name])(value, other))
