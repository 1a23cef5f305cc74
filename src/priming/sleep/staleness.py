"""Checks before writing: whether the memories and rows of a proposal's items are unchanged since planning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from priming.config.params.sleep import SLEEP
from priming.index.working_set import IMPORT, RESTORE
from priming.namespace import Namespace
from priming.serialization import decode_row
from priming.sleep.plan import PlannedItem
from priming.sleep.reading import StageReader
from priming.sleep.validation import broken_rule
from priming.storage.questions import ids_of, present
from priming.storage.rows import ROOMS, MemoryRow, Row, RowChange, VersionRow
from priming.text.quotation import label
from priming.types import ProposedItem


def unchanged_items(
    memory: Namespace, items: Iterable[ProposedItem], head: int
) -> tuple[list[ProposedItem], dict[str, str]]:
    """The items that still hold, and for each of the others, by id, what has changed since."""
    fresh, stale, moved = [], {}, _moved(memory, head)
    for item in items:
        why = _changed(memory, item, moved)
        if why is None:
            fresh.append(item)
        else:
            stale[item.id] = f"{item.id}: {why}"
    if fresh and memory.store.head(memory.namespace) != head:
        why_not = _broken(memory, fresh)
        stale |= {name: f"{name}: {why}" for name, why in why_not.items()}
        fresh = [item for item in fresh if item.id not in why_not]
    return fresh, stale


def _broken(memory: Namespace, items: Sequence[ProposedItem]) -> dict[str, str]:
    """The items that later operations made invalid, and why: by a new contradiction, for instance."""
    planned = {item.id: _planned(memory, item) for item in items}
    context = StageReader(memory, memory.now(), SLEEP).check_context(list(planned.values()))
    return {name: why for name, item in planned.items() if (why := broken_rule(item, context)) is not None}


def _planned(memory: Namespace, item: ProposedItem) -> PlannedItem:
    """An item as it was planned, with ids in place of keys."""
    rows = tuple(item_rows(item))
    into = () if item.into is None else (item.into,)
    ids = {**ids_of(memory.store, memory.namespace, {*item.keys, *into}), **_created(rows)}
    return PlannedItem(
        item.action,
        tuple(ids[key] for key in item.keys),
        None if item.into is None else ids[item.into],
        item.reason,
        item.evidence,
        rows,
    )


def _moved(memory: Namespace, head: int) -> set[str]:
    """The ids of memories whose text or status changed after an operation; all ids after an import or a restore."""
    moved_ids: set[str] = set()
    for logged in memory.store.operations(memory.namespace, after=head):
        if logged.kind in (IMPORT, RESTORE):
            return {row.id for row in memory.store.rows(memory.namespace, MemoryRow)}
        moved_ids |= {change.ends[0] for change in logged.rows if _changes_text_or_status(change)}
    return moved_ids


def _changes_text_or_status(change: RowChange) -> bool:
    before, after = change.before, change.after
    if isinstance(before, MemoryRow) and isinstance(after, MemoryRow):
        return before.status != after.status
    return isinstance(change.row, (MemoryRow, VersionRow))


def _changed(memory: Namespace, item: ProposedItem, moved: set[str]) -> str | None:
    """What has changed since an item was planned, among its memories and rows; None if nothing has."""
    store, namespace, rows = memory.store, memory.namespace, item_rows(item)
    created = _created(rows)
    ids_by_key = ids_of(store, namespace, {*item.keys, *created, *([] if item.into is None else [item.into])})
    for key in created:
        if key in ids_by_key:
            return f"the key {key!r} has been taken since"
    for name in (*item.keys, *([] if item.into is None else [item.into])):
        if name not in created and (name not in ids_by_key or ids_by_key[name] in moved):
            return f"{name} changed since"
    ends = {end for row in rows if row.before is None for end in row.ends}.difference(created.values())
    if lost := ends - store.names(namespace, ids=ends).keys():
        return f"{min(lost)} is not in this store, and the item would link it"
    for row, change in zip(rows, item.changes, strict=True):
        if present(store, namespace, row.row) != row.before:
            return f"{label(change.key)} changed since"
    return None


def _created(rows: Iterable[RowChange]) -> dict[str, str]:
    """The ids of the memories that an item makes, by key."""
    return {c.after.key: c.after.id for c in rows if c.before is None and isinstance(c.after, MemoryRow)}


def item_rows(item: ProposedItem) -> list[RowChange]:
    """The row changes of an item, decoded from its changes."""
    return [
        RowChange(_row(change.table, change.before), _row(change.table, change.after))
        for change in item.changes
    ]


def _row(table: str, side: Mapping[str, Any] | None) -> Row | None:
    return None if side is None else decode_row(ROOMS[table], side)
