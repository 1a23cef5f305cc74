"""The inverse of one row change, whatever came after it: what it added is subtracted, what it set is set back.

A weight goes back by the step that it took, within the bounds of the profile; a count by what it gained; a list of
times loses those that the change added. Any other field goes back if it still is what the change made it, and
otherwise stays as it was made later. Texts, runs and settings have no inverse but their earlier state. Where
nights let a link fade after a step, they fade what is left without it. What is taken back together is planned as a
set of changes, which shows the rows as they will be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from priming.config.params.laws import FORGETTING, PlasticityParams
from priming.core.forgetting import edge_decay_linear
from priming.core.plasticity import nudge
from priming.namespace import Namespace
from priming.serialization import parse_time
from priming.storage.protocol import Logged
from priming.storage.rows import (
    ROOMS,
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RowIdentity,
    VerdictRow,
    VersionRow,
    identity,
)
from priming.types import days_between

R = TypeVar("R", bound=Row)
F = TypeVar("F", LinkRow, MemoryRow, VerdictRow)
COUNTS = ("uses", "helped", "failed", "confirmed", "followed", "overridden")
_STATE = ("key", "kind", "status")
_RETENTION = ("stability", "difficulty", "endurance", "reviewed_at")
"""Fields that are the outcome of one review: they go back together, or not at all."""
_DIGITS = 12
_FADES = ("decay", "proposal")
"""The reasons of operations in which links fade."""


class Superseded(Exception):
    """A later change set the same value: taking this one back alone would lose the later one."""


def taken_back(change: RowChange, current: Row | None, bounds: PlasticityParams) -> Row | None:
    """Return ``current`` without ``change``; None for no row. Raise ``Superseded`` if that cannot be determined."""
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
    gains = {name: getattr(after, name) - getattr(before, name) for name in COUNTS}
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
    """Return the last use: that of the row, unless a use is left that was later."""
    return max([*map(parse_time, recent), *([last] if last else [])], default=None)


def _less(weight: float, step: float, bounds: PlasticityParams) -> float:
    """Return a weight without a step that it once took, within the bounds."""
    return round(float(nudge(weight, -step, bounds.low, bounds.high)), _DIGITS) if step else weight


def _set_back(before: F, after: F, current: F, names: tuple[str, ...]) -> F:
    """Return ``current`` with those fields set back that a change set and no later change did."""
    changes: dict[str, Any] = {
        name: getattr(before, name) for name in names if getattr(current, name) == getattr(after, name)
    }
    return replace(current, **changes)


def _without_times(before: Row | None, after: Row | None, current: Row | None) -> Row | None:
    """Return a pair without the times that a change added; None if no time is left."""
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
    """Return a link without a step of an operation, where later nights let it fade: as if the step had never been.

    A step that is subtracted from a faded weight would leave more, or less, than there was without it. The later
    steps and nights are repeated on the weight before it instead. Without such a night the link is ``restored``.
    """
    before, after = change.before, change.after
    if not (isinstance(before, LinkRow) and isinstance(after, LinkRow)):
        return restored
    operations = memory.operations(memory_id=before.source)
    moves = [
        (logged, own)
        for logged in reversed(operations)
        if logged.undone_by is None and logged.id not in together
        for own in logged.rows
        if identity(own.row) == identity(before)
    ]
    later = [(logged, own) for logged, own in moves if logged.number > done.number]
    if not any(fades(logged, own) for logged, own in later):
        return restored
    row, faded = before, _last_fading(moves, done, before)
    for logged, own in later:
        was, then = own.before, own.after
        if not (isinstance(was, LinkRow) and isinstance(then, LinkRow)):
            return restored  # it was removed, or made anew
        if fades(logged, own):
            row, faded = replace(row, weight=faded_weight(row, faded, logged.at)), logged.at
        else:
            bounds = memory.profile.plasticity
            weight = float(nudge(row.weight, then.weight - was.weight, bounds.low, bounds.high))
            row = replace(row, weight=weight)
        if then.last_activated != was.last_activated:
            row, faded = replace(row, last_activated=then.last_activated), None
    return replace(restored, weight=round(row.weight, _DIGITS), last_activated=row.last_activated)


def fades(logged: Logged, change: RowChange) -> bool:
    """Tell whether an operation let a link fade."""
    before, after = change.before, change.after
    rows = isinstance(before, LinkRow) and isinstance(after, LinkRow) and after.weight < before.weight
    return rows and logged.reason in _FADES


def _last_fading(moves: Collection[tuple[Logged, RowChange]], done: Logged, link: LinkRow) -> datetime | None:
    """Return when a link faded last before an operation, since its last use."""
    used = last_use(link)
    times = [
        logged.at
        for logged, own in moves
        if logged.number < done.number and logged.at > used and fades(logged, own)
    ]
    return max(times, default=None)


def last_use(link: LinkRow) -> datetime:
    """Return when a link was last active; one that never was counts from when it was made."""
    return link.last_activated or link.created_at


def faded_weight(
    link: LinkRow, faded: datetime | None, at: datetime, rate: float = FORGETTING.linear_rate
) -> float:
    """Return the weight of an unused link after a night, of which an earlier night may have taken a share.

    w · edge_decay_linear(1, days since its use) / edge_decay_linear(1, days from its use to the earlier night)
    """
    used = last_use(link)
    left = float(edge_decay_linear(1.0, days_between(used, at), rate))
    left_before = float(edge_decay_linear(1.0, days_between(used, faded or used), rate))
    return link.weight * left / left_before if 0.0 <= left < left_before else link.weight


class ChangeSet:
    """Row changes planned before they are written as one operation; each row changes at most once.

    Its queries return the rows as they will be after the write.
    """

    def __init__(self, memory: Namespace) -> None:
        self._memory = memory
        self._changes: dict[RowIdentity, RowChange] = {}
        self._by_end: defaultdict[str, set[RowIdentity]] = defaultdict(set)

    def add(self, change: RowChange) -> None:
        """Add a change of a row as this set leaves it."""
        name = identity(change.row)
        earlier = self._changes.pop(name, None)
        before = change.before if earlier is None else earlier.before
        if before != change.after:
            self._changes[name] = RowChange(before, change.after)
            for end in change.ends:
                self._by_end[end].add(name)

    def changes(self) -> list[RowChange]:
        """Return the changes to write: memories before their versions, versions before rows that refer to them."""
        parts = [part for change in self._changes.values() for part in _split_text(change)]
        return in_room_order(parts)

    def current(self, row: Row) -> Row | None:
        """Return the row with the identity of ``row``, None if it will not exist."""
        change = self._changes.get(identity(row))
        return self._memory.stored(row) if change is None else change.after

    def links(self, ids: Collection[str]) -> list[LinkRow]:
        """Return the links with an end in ``ids``."""
        return self._about(LinkRow, ids)

    def links_of(self, relation: str) -> list[LinkRow]:
        """Return the links of a relation."""
        links = _updated(LinkRow, self._memory.rows(LinkRow, relation=relation), self._changes)
        return [link for link in links if link.relation == relation]

    def rows_about(self, ids: Collection[str]) -> list[Row]:
        """Return the links, verdicts and pairs of the memories ``ids``."""
        return [*self.links(ids), *self._about(VerdictRow, ids), *self._about(PairRow, ids)]

    def memories_by_key(self, keys: Collection[str]) -> Mapping[str, MemoryRow]:
        """Return the memories that have one of ``keys``, by key."""
        ids = self._memory.ids_of(keys)
        stored = self._memory.rows(MemoryRow, ids=set(ids.values()))
        changed = [change.after for change in self._changes.values()]
        rows = [*map(self.current, stored), *changed]
        return {row.key: row for row in rows if isinstance(row, MemoryRow) and row.key in keys}

    def missing(self, ids: Collection[str]) -> set[str]:
        """Return those of ``ids`` that belong to no memory."""
        present = set(self._memory.names(ids=ids))
        for change in self._changes_about(ids).values():
            if isinstance(change.row, MemoryRow):
                (present.discard if change.after is None else present.add)(change.row.id)
        return set(ids) - present

    def _changes_about(self, ids: Iterable[str]) -> dict[RowIdentity, RowChange]:
        names = {name for memory_id in ids for name in self._by_end.get(memory_id, ())}
        return {name: self._changes[name] for name in names if name in self._changes}

    def _about(self, kind: type[R], ids: Collection[str]) -> list[R]:
        return _updated(kind, self._memory.rows(kind, ids=ids), self._changes_about(ids))


def _updated(kind: type[R], stored: Iterable[R], changes: Mapping[RowIdentity, RowChange]) -> list[R]:
    """Return the stored rows of one table, with changes."""
    rows = {identity(row): row for row in stored}
    for name, change in changes.items():
        rows.pop(name, None)
        if isinstance(change.after, kind):
            rows[name] = change.after
    return list(rows.values())


def in_room_order(changes: Iterable[RowChange]) -> list[RowChange]:
    """Return changes in the order of writing: memories, their versions, and then what refers to them."""
    rooms = list(ROOMS)
    return sorted(changes, key=lambda change: rooms.index(change.room))


def _split_text(change: RowChange) -> tuple[RowChange, ...]:
    """Return the change; as a removal and an insertion where a version gets another text, which no update may do."""
    before, after = change.before, change.after
    if isinstance(before, VersionRow) and isinstance(after, VersionRow):
        times = {name: getattr(after, name) for name in ("retired_at", "valid_from", "valid_to")}
        if replace(before, **times) != after:
            return RowChange(before, None), RowChange(None, after)
    return (change,)
