"""Times in a filter that was read from JSON, which has no type for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

TIMES = ("occurred_at", "recorded_at", "valid_from", "valid_to")
"""Fields of a filter whose values are times."""


def with_times(filters: Any, moment: Callable[[str, str], datetime]) -> Any:
    """A filter read from JSON, with its times parsed by ``moment(name, text)``."""
    if isinstance(filters, Mapping):
        return {
            name: _times(str(name), value, moment) if name in TIMES else with_times(value, moment)
            for name, value in filters.items()
        }
    if isinstance(filters, (list, tuple)):
        return [with_times(part, moment) for part in filters]
    return filters


def _times(name: str, value: Any, moment: Callable[[str, str], datetime]) -> Any:
    if isinstance(value, str):
        return moment(f"filters.{name}", value)
    if isinstance(value, Mapping):
        return {operator: _times(name, operand, moment) for operator, operand in value.items()}
    if isinstance(value, (list, tuple)):
        return [_times(name, item, moment) for item in value]
    return value
