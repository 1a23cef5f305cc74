"""The inverse of one row change, whatever came after it: what it added is subtracted, what it set is set back.

A weight goes back by the step that it took, within the bounds of the profile; a count by what it gained; a list of
times loses those that the change added. Any other field goes back if it still is what the change made it, and
otherwise stays as it was made later. Texts, runs and settings have no inverse but their earlier state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

from priming.config.params.laws import PlasticityParams
from priming.core.plasticity import nudge
from priming.serialization import parse_time
from priming.storage.rows import LinkRow, MemoryRow, PairRow, Row, RowChange, VerdictRow

R = TypeVar("R", LinkRow, MemoryRow, VerdictRow)
_COUNTS = ("uses", "helped", "failed", "confirmed", "followed", "overridden")
_STATE = ("key", "kind", "status")
_RETENTION = ("stability", "difficulty", "endurance", "reviewed_at")
"""Fields that are the outcome of one review: they go back together, or not at all."""
_DIGITS = 12


class Superseded(Exception):
    """A later change set the same value: taking this one back alone would lose the later one."""


def taken_back(change: RowChange, current: Row | None, bounds: PlasticityParams) -> Row | None:
    """``current`` without ``change``; None for no row. Raises ``Superseded`` if that cannot be determined."""
    before, after = change.before, change.after
    if current == after:
        return before
    if isinstance(change.row, PairRow):
        return _without_times(before, after, current)
    if isinstance(before, LinkRow) and isinstance(after, LinkRow) and isinstance(current, LinkRow | None):
        return None if current is None else _link(before, after, current, bounds)
    if isinstance(before, MemoryRow) and isinstance(after, MemoryRow) and isinstance(current, MemoryRow):
        return _memory(before, after, current, bounds)
    if isinstance(before, VerdictRow) and isinstance(after, VerdictRow) and isinstance(current, VerdictRow):
        return _set_back(before, after, current, ("tier", "at"))
    if isinstance(change.row, (LinkRow, VerdictRow)):
        return current if after is None else None  # it came again since, or what it made is to go
    raise Superseded


def _link(before: LinkRow, after: LinkRow, current: LinkRow, bounds: PlasticityParams) -> LinkRow:
    row = _set_back(before, after, current, ("given", "created_at", "last_activated"))
    return replace(row, weight=_less(current.weight, after.weight - before.weight, bounds))


def _memory(before: MemoryRow, after: MemoryRow, current: MemoryRow, bounds: PlasticityParams) -> MemoryRow:
    if any(getattr(before, name) != getattr(after, name) != getattr(current, name) for name in _STATE):
        raise Superseded
    row = _set_back(
        before, after, current, (*_STATE, "priority", "confidence", "last_used_at", "first_used_at")
    )
    if all(getattr(current, name) == getattr(after, name) for name in _RETENTION):
        row = replace(row, **{name: getattr(before, name) for name in _RETENTION})
    gains = {name: getattr(after, name) - getattr(before, name) for name in _COUNTS}
    counts = {name: max(0, getattr(current, name) - gain) for name, gain in gains.items()}
    added = Counter(after.recent) - Counter(before.recent)
    recent = tuple(_but(current.recent, added))
    first, last = row.first_used_at, row.last_used_at
    if counts["uses"] and first is None:
        first = min(map(parse_time, recent), default=last)
    weight = _less(current.weight, after.weight - before.weight, bounds)
    return replace(
        row, weight=weight, recent=recent, first_used_at=first, last_used_at=_last(recent, last), **counts
    )


def _last(recent: tuple[str, ...], last: datetime | None) -> datetime | None:
    """The last use: that of the row, unless a use is left that was later."""
    return max([*map(parse_time, recent), *([last] if last else [])], default=None)


def _less(weight: float, step: float, bounds: PlasticityParams) -> float:
    """A weight without a step that it once took, within the bounds."""
    return round(float(nudge(weight, -step, bounds.low, bounds.high)), _DIGITS) if step else weight


def _set_back(before: R, after: R, current: R, names: tuple[str, ...]) -> R:
    """``current`` with those fields set back that a change set and no later change did."""
    own = {f.name for f in fields(current)}
    changes: dict[str, Any] = {
        name: getattr(before, name)
        for name in names
        if name in own and getattr(current, name) == getattr(after, name)
    }
    return replace(current, **changes)


def _without_times(before: Row | None, after: Row | None, current: Row | None) -> Row | None:
    """A pair without the times that a change added; None if no time is left."""
    earlier, later, present = (
        row.times if isinstance(row, PairRow) else () for row in (before, after, current)
    )
    times = tuple(_but(present, Counter(later) - Counter(earlier)))
    return replace(current, times=times) if isinstance(current, PairRow) and times else None


def _but(values: tuple[str, ...], without: Counter[str]) -> list[str]:
    left, rest = Counter(without), []
    for value in values:
        if left[value]:
            left[value] -= 1
        else:
            rest.append(value)
    return rest
