"""Values as JSON, and back where a caller sends them: one form for the command line and every server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from priming.encoding import decode as decode
from priming.encoding import encode as encode

TIMES = ("occurred_at", "recorded_at", "valid_from", "valid_to")
"""Fields of a filter whose values are times."""


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
