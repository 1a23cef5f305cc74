"""What a stage plans, and how it changes a version that is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from priming.core.bitemporal import split
from priming.storage.rows import RowChange, VersionRow
from priming.types import EMPTY, MemoryRecord

Versions = Callable[[str], Sequence[VersionRow]]
"""All rows of a memory's versions, by its id, oldest first."""

ProgressStep = Callable[[int, int], None]
"""Told how much of a stage is done, and of how much."""

CONFLICTS, SOURCE_OF = "conflicts", "source-of"
DUPLICATE_OF = "duplicate_of"
"""Where the metadata of a duplicate says of what."""

Conflicts = frozenset[frozenset[str]]
"""Pairs of ids that contradict each other."""


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One item, before it has a number: memories by id, what is to become of them, and why."""

    action: str
    ids: tuple[str, ...]
    into: str | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    rows: tuple[RowChange, ...] = ()


def current_row(rows: Sequence[VersionRow], version: int) -> VersionRow:
    """The row of a version that is known now."""
    return next(row for row in reversed(rows) if row.version == version and row.retired_at is None)


def restate(rows: Sequence[VersionRow], old: VersionRow, at: datetime, **changes: Any) -> list[RowChange]:
    """The same version with something about it changed: its row is followed by another, never edited."""
    at = max(at, old.recorded_at)  # a clock that was set back does not reorder rows
    again = replace(old, revision=_last(rows) + 1, recorded_at=at, **changes)
    return [RowChange(old, replace(old, retired_at=at)), RowChange(None, again)]


def supersede_rows(
    rows: Sequence[VersionRow], old: VersionRow, at: datetime, **changes: Any
) -> list[RowChange]:
    """A new version from now on: the old one is retired, and its copy ends where the new one begins."""
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
    """Whether a memory was found to say again what another one said."""
    return DUPLICATE_OF in record.metadata


def without_conflicts(ids: Sequence[str], conflicts: Conflicts) -> list[str]:
    """Those of some ids, in their order and each once, that contradict none before them."""
    compatible: dict[str, None] = {}
    opponents = opponents_of(conflicts)
    for memory_id in ids:
        if compatible.keys().isdisjoint(opponents.get(memory_id, ())):
            compatible[memory_id] = None
    return list(compatible)


@lru_cache(maxsize=1)
def opponents_of(conflicts: Conflicts) -> Mapping[str, Set[str]]:
    """What contradicts each id: to look up pair after pair would take time with the square of a cluster."""
    opponents: dict[str, set[str]] = {}
    for pair in conflicts:
        for memory_id in pair:
            opponents.setdefault(memory_id, set()).update(pair - {memory_id})
    return opponents
