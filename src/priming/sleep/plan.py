"""The values of a night: items as a stage plans them and as the night proposes them, and helpers for planning.

A stage is a module with a function from what was read to a list of ``PlannedItem``: it names memories by id and
holds the row changes, and neither reads nor writes the store. ``night`` explains how to add a stage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from priming.config.params.sleep import SLEEP
from priming.config.values import dataclass
from priming.core.bitemporal import split
from priming.storage.rows import RowChange, VersionRow
from priming.types import EMPTY, LeftAlone, MemoryRecord

Versions = Callable[[str], Sequence[VersionRow]]
"""All rows of a memory's versions, by its id, oldest first."""

ProgressStep = Callable[[int, int], None]
"""A function that is called with the number of parts of a stage that are done, and their total."""

DUPLICATE_OF = "duplicate_of"
"""The metadata key of a duplicate that holds the key of its original."""

Conflicts = frozenset[frozenset[str]]
"""Pairs of ids that contradict each other."""


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One change that a stage plans: the memories ``ids``, the memory ``into`` that replaces them, and the reason."""

    action: str
    ids: tuple[str, ...]
    into: str | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    rows: tuple[RowChange, ...] = ()


Planned = PlannedItem | LeftAlone
"""The plan of a stage: a change, or similar memories that are left alone."""


def current_row(rows: Sequence[VersionRow], version: int) -> VersionRow:
    """The current row of a version."""
    return next(row for row in reversed(rows) if row.version == version and row.retired_at is None)


def restate(rows: Sequence[VersionRow], old: VersionRow, at: datetime, **changes: Any) -> list[RowChange]:
    """Change fields of a version that keeps its number: its row is retired and followed by a new row."""
    at = max(at, old.recorded_at)  # a clock that was set back does not reorder rows
    again = replace(old, revision=_last(rows) + 1, recorded_at=at, **changes)
    return [RowChange(old, replace(old, retired_at=at)), RowChange(None, again)]


def supersede_rows(
    rows: Sequence[VersionRow], old: VersionRow, at: datetime, **changes: Any
) -> list[RowChange]:
    """Add a new version from now on: the old row is retired, and its copy ends where the new version begins."""
    at = max(at, old.recorded_at)
    start = max(at, old.valid_from or at)
    parts = split(old, boundary=start, at=at)
    last = _last(rows)
    fresh = replace(
        old,
        version=max(row.version for row in rows) + 1,
        revision=last + 2,
        recorded_at=at,
        valid_from=start,
        valid_to=None,
        **changes,
    )
    ended = replace(parts.ended, revision=last + 1)
    return [RowChange(old, parts.retired), RowChange(None, ended), RowChange(None, fresh)]


def _last(rows: Sequence[VersionRow]) -> int:
    return max(row.revision for row in rows)


def is_duplicate(record: MemoryRecord) -> bool:
    """Whether a memory is marked as a duplicate."""
    return DUPLICATE_OF in record.metadata


def without_conflicts(ids: Sequence[str], conflicts: Conflicts) -> list[str]:
    """The ids, in their order and each once, that contradict no id before them."""
    compatible: dict[str, None] = {}
    opponents = opponents_of(conflicts)
    for memory_id in ids:
        if compatible.keys().isdisjoint(opponents.get(memory_id, ())):
            compatible[memory_id] = None
    return list(compatible)


@lru_cache(maxsize=1)
def opponents_of(conflicts: Conflicts) -> Mapping[str, Set[str]]:
    """The ids that contradict each id; without this index, a check would take quadratic time in a cluster."""
    opponents: dict[str, set[str]] = {}
    for pair in conflicts:
        for memory_id in pair:
            opponents.setdefault(memory_id, set()).update(pair - {memory_id})
    return opponents


def is_due(now: datetime, last: datetime, every: timedelta, fresh: int) -> bool:
    """Whether the next night is due: ``every`` after the last one, or after ``SleepParams.fresh`` new memories.

    A clock that was set back makes the night due, so that it is never postponed.

    >>> from datetime import UTC
    >>> night = datetime(2026, 3, 1, 3, tzinfo=UTC)
    >>> hours = timedelta(hours=1)
    >>> is_due(night + 7 * hours, night, 8 * hours, 99), is_due(night + hours, night, 8 * hours, 100)
    (False, True)
    """
    return not timedelta(0) <= now - last < every or fresh >= SLEEP.fresh
