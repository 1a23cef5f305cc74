"""Whether what an item rests on is still as it was when it was planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from priming.config.params.sleep import SLEEP
from priming.engine.sleep.checks import broken
from priming.engine.sleep.planned import Planned
from priming.engine.sleep.reading import Reading
from priming.index.working_set import IMPORT, RESTORE
from priming.namespace import Namespace
from priming.serialization import decode_row
from priming.sleeping import Item
from priming.store.rows import ROOMS, MemoryRow, Row, RowChange, VersionRow


def still(memory: Namespace, items: Iterable[Item], head: int) -> tuple[list[Item], dict[str, str]]:
    """The items that rest on what is still so, and for each of the others what changed since."""
    fresh, stale, moved = [], {}, _moved(memory, head)
    for one in items:
        why = _changed(memory, one, moved)
        if why is None:
            fresh.append(one)
        else:
            stale[one.id] = f"{one.id}: {why}"
    if fresh and memory.store.head(memory.namespace) != head:
        why_not = _broken(memory, fresh)
        stale |= {name: f"{name}: {why}" for name, why in why_not.items()}
        fresh = [one for one in fresh if one.id not in why_not]
    return fresh, stale


def _broken(memory: Namespace, items: Sequence[Item]) -> dict[str, str]:
    """Which items what came since has put against an invariant, and how: a contradiction, say, that was not known."""
    planned = {one.id: _planned(memory, one) for one in items}
    around = Reading(memory, memory.now(), SLEEP).surroundings(list(planned.values()))
    return {name: why for name, one in planned.items() if (why := broken(one, around)) is not None}


def _planned(memory: Namespace, item: Item) -> Planned:
    """An item as it was planned, with ids for keys."""
    rows = tuple(rows_of(item))
    into = () if item.into is None else (item.into,)
    ids = {**memory.store.keys(memory.namespace, {*item.keys, *into}), **_made(rows)}
    return Planned(
        item.action,
        tuple(ids[one] for one in item.keys),
        None if item.into is None else ids[item.into],
        item.reason,
        item.evidence,
        rows,
    )


def _moved(memory: Namespace, head: int) -> set[str]:
    """The ids of the memories whose text or status changed after an operation; of all, where all was read anew."""
    found: set[str] = set()
    for logged in memory.store.since(memory.namespace, head):
        if logged.kind in (IMPORT, RESTORE):
            return {one.id for one in memory.store.memories(memory.namespace)}
        found |= {change.ends[0] for change in logged.rows if _says_something_else(change)}
    return found


def _says_something_else(change: RowChange) -> bool:
    before, after = change.before, change.after
    if isinstance(before, MemoryRow) and isinstance(after, MemoryRow):
        return before.status != after.status
    return isinstance(change.row, (MemoryRow, VersionRow))


def _changed(memory: Namespace, item: Item, moved: set[str]) -> str | None:
    """What an item rests on that is no longer so: a memory that it is about, or a row that it changes."""
    store, namespace, rows = memory.store, memory.namespace, rows_of(item)
    made = _made(rows)
    there = store.keys(namespace, {*item.keys, *made, *([] if item.into is None else [item.into])})
    for key in made:
        if key in there:
            return f"the key {key!r} was taken since"
    for name in (*item.keys, *([] if item.into is None else [item.into])):
        if name not in made and (name not in there or there[name] in moved):
            return f"{name} changed since"
    ends = {end for row in rows if row.before is None for end in row.ends}.difference(made.values())
    if lost := ends - store.names(namespace, ends).keys():
        return f"{min(lost)} is not here, which it would link"
    for row, told in zip(rows, item.changes, strict=True):
        if store.present(namespace, row.row) != row.before:
            return f"{told.key} changed since"
    return None


def _made(rows: Iterable[RowChange]) -> dict[str, str]:
    """The memories that an item makes: their ids by their keys."""
    return {c.after.key: c.after.id for c in rows if c.before is None and isinstance(c.after, MemoryRow)}


def rows_of(item: Item) -> list[RowChange]:
    """The row changes of an item, read from how it shows them."""
    return [RowChange(_row(one.table, one.before), _row(one.table, one.after)) for one in item.changes]


def _row(table: str, side: Mapping[str, Any] | None) -> Row | None:
    return None if side is None else decode_row(ROOMS[table], side)
