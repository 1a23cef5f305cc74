"""What must hold of every item before anybody sees it; one of which it does not is dropped, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from priming.maintenance.merge import CONSOLIDATED, MERGED
from priming.sleep.plan import DUPLICATE_OF, SOURCE_OF, Conflicts, PlannedItem, opponents_of
from priming.sleep.proposal import StageCheck
from priming.storage.rows import LinkRow, MemoryRow, RowChange, identity

_TOGETHER = ("make", "update", "consolidate", "merge")
"""Actions that let one memory stand for several."""
_COUNTS = ("uses", "helped", "failed", "confirmed", "followed", "overridden")
_STAND_FOR = (CONSOLIDATED, MERGED)

Verdict = str | None
"""Why an item may not be proposed, or None."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the items are checked against: pairs that contradict, and ids that something active is derived from."""

    conflicts: Conflicts = frozenset()
    sources: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, memory_id: str) -> str:
        """The key of a memory."""
        return self.names.get(memory_id, memory_id)


def sound_items(
    stage: str, planned: Sequence[PlannedItem], around: CheckContext, taken: set[tuple[str, ...]]
) -> tuple[list[PlannedItem], tuple[StageCheck, ...]]:
    """The items that keep every invariant, and what was checked. ``taken`` are rows that earlier items change."""
    valid, checks = list(planned), []
    around = replace(around, sources=around.sources | _sources(taken))
    for rule, broken in RULES.items():
        passing, dropped = [], []
        for item in valid:
            why = broken(item, around)
            if why is None:
                passing.append(item)
            else:
                dropped.append(f"{_called(item, around)}: {why}")
        valid = passing
        checks.append(StageCheck(stage, rule, len(valid), tuple(dropped)))
    valid, overlap = _disjoint(valid, around, taken)
    checks.append(StageCheck(stage, "one-change-a-row", len(valid), overlap))
    return valid, tuple(checks)


def broken_rule(item: PlannedItem, around: CheckContext) -> Verdict:
    """The first invariant that an item does not keep."""
    return next((why for rule in RULES.values() if (why := rule(item, around)) is not None), None)


def _sources(taken: Iterable[tuple[str, ...]]) -> set[str]:
    """Where the ``source-of`` links among some rows lead from: what they make has not been written yet."""
    return {row[1] for row in taken if row[-1] == SOURCE_OF}


def _called(item: PlannedItem, around: CheckContext) -> str:
    into = "" if item.into is None else f" → {around.name(item.into)}"
    return f"{item.action} {', '.join(map(around.name, item.ids))}{into}"


def _unreachable(item: PlannedItem, around: CheckContext) -> Verdict:
    """Sources stay: nothing is removed but links, and who leaves recall is led to by a link, or no source at all."""
    links = [c.after for c in item.rows if isinstance(c.after, LinkRow)]
    led = {link.source: link.target for link in links if link.relation in _STAND_FOR}
    leaving = {c.ends[0] for c in item.rows if leaves_recall(c)}
    for change in item.rows:
        if change.after is None and not isinstance(change.before, LinkRow):
            return f"it would remove a row of {around.name(change.ends[0])}"
    for memory_id in leaving:
        target = led.get(memory_id)
        is_led = target is not None and target not in leaving
        if not is_led and memory_id in around.sources and DUPLICATE_OF not in item.evidence:
            return f"{around.name(memory_id)} is a source of what is still in use"
        if not is_led and item.action in _TOGETHER:
            return f"{around.name(memory_id)} would lead nowhere"
    return None


def leaves_recall(change: RowChange) -> bool:
    """Whether a memory is taken out of recall."""
    before, after = change.before, change.after
    return (
        isinstance(before, MemoryRow)
        and isinstance(after, MemoryRow)
        and before.status == "active" != after.status
    )


def _contradicts(item: PlannedItem, around: CheckContext) -> Verdict:
    """What contradicts each other is never made one."""
    if item.action not in _TOGETHER:
        return None
    together = [*item.ids, *([] if item.into is None else [item.into])]
    opponents = opponents_of(around.conflicts)
    for i, a in enumerate(together):
        b = next((b for b in together[:i] if b in opponents[a]), None) if a in opponents else None
        if b is not None:
            return f"{around.name(a)} and {around.name(b)} contradict each other"
    return None


def _uncounted(item: PlannedItem, around: CheckContext) -> Verdict:
    """Uses and verdicts are neither lost nor made: of what becomes one they add up, of all else they stay."""
    states = [
        (c.before, c.after)
        for c in item.rows
        if isinstance(c.before, MemoryRow) and isinstance(c.after, MemoryRow)
    ]
    merging = item.action in ("consolidate", "merge")
    for name in _COUNTS:
        total = sum(getattr(before, name) for before, _ in states)
        if merging and total and item.into not in {before.id for before, _ in states}:
            return f"{name} would be lost: {total}"
        for before, after in states:
            is_kept = merging and before.id == item.into
            expected = total if is_kept else getattr(before, name)
            if getattr(after, name) != expected:
                return f"{name} of {around.name(before.id)} would be {getattr(after, name)}, not {expected}"
    return None


def _disjoint(
    planned: Sequence[PlannedItem], around: CheckContext, taken: set[tuple[str, ...]]
) -> tuple[list[PlannedItem], tuple[str, ...]]:
    """Those that change no row that an earlier one changes; the others wait for the next night."""
    disjoint, dropped = [], []
    for item in planned:
        rows = {identity(change.row) for change in item.rows}
        if rows & taken:
            dropped.append(
                f"{_called(item, around)}: another item changes the same: it waits for the next night"
            )
        else:
            taken |= rows
            disjoint.append(item)
    return disjoint, tuple(dropped)


RULES: Mapping[str, Callable[[PlannedItem, CheckContext], Verdict]] = {
    "sources-reachable": _unreachable,
    "no-contradiction-merged": _contradicts,
    "counts-conserved": _uncounted,
}
"""The invariants, by name."""
