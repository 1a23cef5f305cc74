"""The values of a night: items as a stage plans them, helpers for planning, and the rules that every item keeps.

A stage is a module with a function from what was read to a list of ``PlannedItem``: it names memories by id and
holds the row changes, and neither reads nor writes the store. ``night`` explains how to add a stage. An item that
breaks a rule is dropped before it is proposed, with the reason: no item may lose a source, merge contradictions,
change counts of use, or change a row that another item changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.config.words import SOURCE_OF, STAND_FOR
from priming.history.inverse import COUNTS
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow, identity
from priming.types import EMPTY, LeftAlone, MemoryRecord, StageCheck

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


def is_duplicate(record: MemoryRecord) -> bool:
    """Tell whether a memory is marked as a duplicate."""
    return DUPLICATE_OF in record.metadata


def without_conflicts(ids: Sequence[str], conflicts: Conflicts) -> list[str]:
    """Return the ids, in their order and each once, that contradict no id before them."""
    compatible: dict[str, None] = {}
    opponents = opponents_of(conflicts)
    for memory_id in ids:
        if compatible.keys().isdisjoint(opponents.get(memory_id, ())):
            compatible[memory_id] = None
    return list(compatible)


@lru_cache(maxsize=1)
def opponents_of(conflicts: Conflicts) -> Mapping[str, Set[str]]:
    """Return the ids that contradict each id; without this index, a check would take quadratic time in a cluster."""
    opponents: dict[str, set[str]] = {}
    for pair in conflicts:
        for memory_id in pair:
            opponents.setdefault(memory_id, set()).update(pair - {memory_id})
    return opponents


def is_due(now: datetime, last: datetime, every: timedelta, fresh: int) -> bool:
    """Tell whether the next night is due: ``every`` after the last one, or after ``SleepParams.fresh`` new memories.

    A clock that was set back makes the night due, so that it is never postponed.

    >>> from datetime import UTC
    >>> night = datetime(2026, 3, 1, 3, tzinfo=UTC)
    >>> hours = timedelta(hours=1)
    >>> is_due(night + 7 * hours, night, 8 * hours, 99), is_due(night + hours, night, 8 * hours, 100)
    (False, True)
    """
    return not timedelta(0) <= now - last < every or fresh >= SLEEP.fresh


_TOGETHER = ("make", "update", "consolidate", "merge")
"""The actions by which one memory replaces several."""

Violation = str | None
"""The reason why an item may not be proposed, or None."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The context of the checks: contradicting pairs, sources of active memories, and the keys of memories by id."""

    conflicts: Conflicts = frozenset()
    sources: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, memory_id: str) -> str:
        """Return the key of a memory."""
        return self.names.get(memory_id, memory_id)


def sound_items(
    stage: str, planned: Sequence[PlannedItem], context: CheckContext, taken: set[tuple[str, ...]]
) -> tuple[list[PlannedItem], tuple[StageCheck, ...]]:
    """Return the items that keep every invariant, and the checks' results; ``taken`` are rows of earlier items."""
    valid, checks = list(planned), []
    context = replace(context, sources=context.sources | _sources(taken))
    for rule, broken in RULES.items():
        passing, dropped = [], []
        for item in valid:
            why = broken(item, context)
            if why is None:
                passing.append(item)
            else:
                dropped.append(f"{_describe(item, context)}: {why}")
        valid = passing
        checks.append(StageCheck(stage, rule, len(valid), tuple(dropped)))
    valid, overlap = _disjoint(valid, context, taken)
    checks.append(StageCheck(stage, "one-change-a-row", len(valid), overlap))
    return valid, tuple(checks)


def broken_rule(item: PlannedItem, context: CheckContext) -> Violation:
    """Return the first violation of an item."""
    return next((why for rule in RULES.values() if (why := rule(item, context)) is not None), None)


def _sources(taken: Iterable[tuple[str, ...]]) -> set[str]:
    """Return the sources of ``source-of`` links among the rows, which are not written yet."""
    return {row[1] for row in taken if row[-1] == SOURCE_OF}


def _describe(item: PlannedItem, context: CheckContext) -> str:
    into = "" if item.into is None else f" → {context.name(item.into)}"
    return f"{item.action} {', '.join(map(context.name, item.ids))}{into}"


def _unreachable(item: PlannedItem, context: CheckContext) -> Violation:
    """Check that only links are removed; what leaves recall links to its replacement if anything derives from it."""
    links = [c.after for c in item.rows if isinstance(c.after, LinkRow)]
    targets = {link.source: link.target for link in links if link.relation in STAND_FOR}
    leaving = {c.ends[0] for c in item.rows if leaves_recall(c)}
    for change in item.rows:
        if change.after is None and not isinstance(change.before, LinkRow):
            return f"it would remove a row of {context.name(change.ends[0])}"
    for memory_id in leaving:
        target = targets.get(memory_id)
        has_target = target is not None and target not in leaving
        if not has_target and memory_id in context.sources and DUPLICATE_OF not in item.evidence:
            return f"{context.name(memory_id)} is a source of a memory that is still in use"
        if not has_target and item.action in _TOGETHER:
            return f"{context.name(memory_id)} would have no replacement"
    return None


def leaves_recall(change: RowChange) -> bool:
    """Tell whether a change takes a memory out of recall."""
    before, after = change.before, change.after
    return (
        isinstance(before, MemoryRow)
        and isinstance(after, MemoryRow)
        and before.status == "active" != after.status
    )


def _contradicts(item: PlannedItem, context: CheckContext) -> Violation:
    """Check that memories that contradict each other are never joined."""
    if item.action not in _TOGETHER:
        return None
    together = [*item.ids, *([] if item.into is None else [item.into])]
    opponents = opponents_of(context.conflicts)
    for i, a in enumerate(together):
        b = next((b for b in together[:i] if b in opponents[a]), None) if a in opponents else None
        if b is not None:
            return f"{context.name(a)} and {context.name(b)} contradict each other"
    return None


def _uncounted(item: PlannedItem, context: CheckContext) -> Violation:
    """Check that counts of uses and verdicts add up where memories are merged, and stay everywhere else."""
    states = [
        (c.before, c.after)
        for c in item.rows
        if isinstance(c.before, MemoryRow) and isinstance(c.after, MemoryRow)
    ]
    merging = item.action == "merge"
    for name in COUNTS:
        total = sum(getattr(before, name) for before, _ in states)
        if merging and total and item.into not in {before.id for before, _ in states}:
            return f"{name} would be lost: {total}"
        for before, after in states:
            is_kept = merging and before.id == item.into
            expected = total if is_kept else getattr(before, name)
            if getattr(after, name) != expected:
                return f"{name} of {context.name(before.id)} would be {getattr(after, name)}, not {expected}"
    return None


def _disjoint(
    planned: Sequence[PlannedItem], context: CheckContext, taken: set[tuple[str, ...]]
) -> tuple[list[PlannedItem], tuple[str, ...]]:
    """Return the items that change no row of an earlier item; the others wait for the next night."""
    disjoint, dropped = [], []
    for item in planned:
        rows = {identity(change.row) for change in item.rows}
        if rows & taken:
            dropped.append(
                f"{_describe(item, context)}: another item changes the same row: it waits for the next night"
            )
        else:
            taken |= rows
            disjoint.append(item)
    return disjoint, tuple(dropped)


RULES: Mapping[str, Callable[[PlannedItem, CheckContext], Violation]] = {
    "sources-reachable": _unreachable,
    "no-contradiction-merged": _contradicts,
    "counts-conserved": _uncounted,
}
"""The invariants, by name."""
