"""Values as JSON, and back where a caller sends them: one form for the command line and every server."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

TIMES = ("occurred_at", "recorded_at", "valid_from", "valid_to")
"""Fields of a filter whose values are times."""


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


def with_times(filters: Any, moment: Callable[[str, str], datetime]) -> Any:
    """A filter read from JSON, its times parsed by ``moment(name, text)``: JSON itself has none."""
    if isinstance(filters, Mapping):
        return {
            name: _times(str(name), one, moment) if name in TIMES else with_times(one, moment)
            for name, one in filters.items()
        }
    if isinstance(filters, (list, tuple)):
        return [with_times(one, moment) for one in filters]
    return filters


def _times(name: str, value: Any, moment: Callable[[str, str], datetime]) -> Any:
    if isinstance(value, str):
        return moment(f"filters.{name}", value)
    if isinstance(value, Mapping):
        return {operator: _times(name, one, moment) for operator, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_times(name, one, moment) for one in value]
    return value
