"""Changes that are worked out one after the other before they are written as one operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from priming.namespace import Namespace
from priming.storage.rows import (
    ROOMS,
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    VerdictRow,
    VersionRow,
    identity,
)

_Identity = tuple[str, ...]
_ORDER = {room: place for place, room in enumerate(ROOMS)}
R = TypeVar("R", bound=Row)


class ChangeSet:
    """A namespace as it will be once what was ``take``n is written; each row is changed once at most."""

    def __init__(self, memory: Namespace) -> None:
        self._store = memory.store
        self._namespace = memory.namespace
        self._changes: dict[_Identity, RowChange] = {}
        self._about: defaultdict[str, set[_Identity]] = defaultdict(set)

    def take(self, change: RowChange) -> None:
        """One more change, from the row as it will be by then."""
        name = identity(change.row)
        earlier = self._changes.pop(name, None)
        before = change.before if earlier is None else earlier.before
        if before != change.after:
            self._changes[name] = RowChange(before, change.after)
            for end in change.ends:
                self._about[end].add(name)

    def changes(self) -> list[RowChange]:
        """What there is to write: memories before their versions, versions before what points to them."""
        whole = [part for one in self._changes.values() for part in _parts(one)]
        return sorted(whole, key=lambda one: _ORDER[one.room])

    def present(self, row: Row) -> Row | None:
        """The row of the same identity as it will be."""
        change = self._changes.get(identity(row))
        return self._store.present(self._namespace, row) if change is None else change.after

    def links(self, ids: Collection[str]) -> list[LinkRow]:
        """The links that will touch any of ``ids``."""
        return self._with(LinkRow, self._store.links(self._namespace, ids), ids)

    def about(self, ids: Collection[str]) -> list[Row]:
        """All rows that will point to any of ``ids``."""
        verdicts = self._store.verdicts(self._namespace, ids)
        pairs = self._store.pairs(self._namespace, ids, both=False)
        return [
            *self.links(ids),
            *self._with(VerdictRow, verdicts, ids),
            *self._with(PairRow, pairs, ids),
        ]

    def holders(self, keys: Collection[str]) -> Mapping[str, MemoryRow]:
        """The memories that will have some of ``keys``, by key."""
        ids = self._store.keys(self._namespace, keys)
        held = self._store.memories(self._namespace, set(ids.values())) if ids else []
        new = [one.after for one in self._changes.values()]
        rows = [*(self.present(one) for one in held), *new]
        return {one.key: one for one in rows if isinstance(one, MemoryRow) and one.key in keys}

    def missing(self, ids: Collection[str]) -> set[str]:
        """Those of some ids that no memory will have."""
        there = set(self._store.names(self._namespace, ids))
        for name in {name for one in ids for name in self._about.get(one, ())}:
            change = self._changes.get(name)
            if change is not None and isinstance(change.row, MemoryRow):
                (there.discard if change.after is None else there.add)(change.row.id)
        return set(ids) - there

    def _with(self, kind: type[R], found: Iterable[R], ids: Collection[str]) -> list[R]:
        rows = {identity(one): one for one in found}
        for name in {name for end in ids for name in self._about.get(end, ())}:
            change = self._changes.get(name)
            if change is None or not isinstance(change.row, kind):
                continue
            rows.pop(name, None)
            if isinstance(change.after, kind):
                rows[name] = change.after
        return list(rows.values())


def _parts(change: RowChange) -> tuple[RowChange, ...]:
    """The change itself, or two where a version gives its place to another text: texts are not edited."""
    before, after = change.before, change.after
    if isinstance(before, VersionRow) and isinstance(after, VersionRow):
        times = {name: getattr(after, name) for name in ("retired_at", "valid_from", "valid_to")}
        if replace(before, **times) != after:
            return RowChange(before, None), RowChange(None, after)
    return (change,)
