"""The inverse of one row change, whatever came after it: what it added is subtracted, what it set is set back.

A weight goes back by the step that it took, within the bounds of the profile; a count by what it gained; a list of
times loses those that the change added. Any other field goes back if it still is what the change made it, and
otherwise stays as it was made later. Texts, runs and settings have no inverse but their earlier state. Where
nights let a link fade after a step, they fade what is left without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

from priming.config.params.laws import FORGETTING, PlasticityParams
from priming.core.forgetting import edge_decay_linear
from priming.core.plasticity import nudge
from priming.namespace import Namespace
from priming.serialization import parse_time
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, PairRow, Row, RowChange, VerdictRow, identity
from priming.types import days_between

R = TypeVar("R", LinkRow, MemoryRow, VerdictRow)
_COUNTS = ("uses", "helped", "failed", "confirmed", "followed", "overridden")
_STATE = ("key", "kind", "status")
_RETENTION = ("stability", "difficulty", "endurance", "reviewed_at")
"""Fields that are the outcome of one review: they go back together, or not at all."""
_DIGITS = 12
_FADES = ("decay", "proposal")
"""The reasons of operations in which links fade."""


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


def refaded(
    memory: Namespace, done: Logged, change: RowChange, restored: LinkRow, together: Collection[str]
) -> LinkRow:
    """A link without a step of an operation, where later nights let it fade: as if the step had never been.

    A step that is subtracted from a faded weight would leave more, or less, than there was without it. The later
    steps and nights are repeated on the weight before it instead. Without such a night the link is ``restored``.
    """
    before, after = change.before, change.after
    if not (isinstance(before, LinkRow) and isinstance(after, LinkRow)):
        return restored
    operations = memory.store.operations(memory.namespace, memory_id=before.source)
    moves = [
        (logged, own)
        for logged in reversed(operations)
        if logged.undone_by is None and logged.id not in together
        for own in logged.rows
        if identity(own.row) == identity(before)
    ]
    later = [(logged, own) for logged, own in moves if logged.number > done.number]
    if not any(_fades(logged, own) for logged, own in later):
        return restored
    row, faded = before, _last_fading(moves, done, before)
    for logged, own in later:
        was, then = own.before, own.after
        if not (isinstance(was, LinkRow) and isinstance(then, LinkRow)):
            return restored  # it was removed, or made anew
        if _fades(logged, own):
            row, faded = _faded(row, faded, logged.at), logged.at
        else:
            bounds = memory.profile.plasticity
            weight = float(nudge(row.weight, then.weight - was.weight, bounds.low, bounds.high))
            row = replace(row, weight=weight)
        if then.last_activated != was.last_activated:
            row, faded = replace(row, last_activated=then.last_activated), None
    return replace(restored, weight=round(row.weight, _DIGITS), last_activated=row.last_activated)


def _fades(logged: Logged, change: RowChange) -> bool:
    """Whether an operation let a link fade."""
    before, after = change.before, change.after
    rows = isinstance(before, LinkRow) and isinstance(after, LinkRow) and after.weight < before.weight
    return rows and logged.reason in _FADES


def _last_fading(moves: Collection[tuple[Logged, RowChange]], done: Logged, link: LinkRow) -> datetime | None:
    """When a link faded last before an operation, since its last use."""
    used = link.last_activated or link.created_at
    times = [
        logged.at
        for logged, own in moves
        if logged.number < done.number and logged.at > used and _fades(logged, own)
    ]
    return max(times, default=None)


def _faded(link: LinkRow, faded: datetime | None, at: datetime) -> LinkRow:
    """A link after a night, of which an earlier night may have taken a share."""
    used = link.last_activated or link.created_at
    rate = FORGETTING.linear_rate
    left = float(edge_decay_linear(1.0, days_between(used, at), rate))
    left_before = float(edge_decay_linear(1.0, days_between(used, faded or used), rate))
    return replace(link, weight=link.weight * left / left_before) if 0.0 <= left < left_before else link
