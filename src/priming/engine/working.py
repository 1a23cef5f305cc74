"""The working set: one namespace as arrays, kept current from the log.

It is disposable: everything in it is derived from the store, and losing it costs time, never data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from priming.embed.protocol import Embedder
from priming.engine.arrays import Arrays
from priming.engine.document import Document, describe
from priming.engine.retention import practice
from priming.store.protocol import Logged, Store
from priming.store.rows import (
    LinkRow,
    MemoryRow,
    RowChange,
    VerdictRow,
    VersionRow,
    record,
    retention_of,
    use_of,
)
from priming.types import MemoryRecord, Retention, Use

IMPORT, RESTORE = "import", "restore-backup"
"""The operations after which everything is read anew."""

Own = tuple[Logged, Mapping[str, Document]]
"""An operation of this process, with the documents that it made, ready to be taken in."""


class WorkingSet(Arrays):
    """The arrays of one namespace; ``refresh`` before every use."""

    def __init__(self, store: Store, namespace: str, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.namespace = namespace
        self._store = store

    def refresh(self, now: datetime, own: Mapping[int, Own] | None = None) -> None:
        """Take in what the log says since the last refresh; what ``own`` holds need not be read from it."""
        head = self._store.head(self.namespace)
        while own and self.head in own and self.head < head:
            logged, prepared = own[self.head]
            self._take(logged, now, prepared)
            self.head = logged.number
        if head < self.head:
            self.clear()
        if self.head == 0 and head > 0:
            self._build(now)
        elif head > self.head:
            for logged in self._store.since(self.namespace, self.head):
                if logged.kind in (IMPORT, RESTORE) or logged.erased:
                    self.clear()
                    self._build(now)
                    break
                self._take(logged, now, {})
        self.head = head
        due = [one for one, at in self.boundaries.items() if at <= now.timestamp()]
        if due:
            self._reread(due, now)

    def _build(self, now: datetime) -> None:
        """Read everything: the slow way in, and the only one that leaves no word of what was purged."""
        records: dict[str, MemoryRecord] = {}
        for one in self._store.scan(self.namespace, now):
            self._note_boundaries(one, now)
            self._note_practice(one.id, one.use, one.retention)
            if one.valid_from is None or one.valid_from <= now:
                records[one.id] = one
        counted = self._store.counts(self.namespace).memories
        if sum(sum(by_status.values()) for by_status in counted.values()) > len(records):
            for memory in self._store.memories(self.namespace):
                self.places[memory.id] = self._new_row(memory.id)
        self._add_records(list(records.values()))
        for verdict in self._store.verdicts(self.namespace):
            self.judgements.put(verdict)
        links = self._store.links(self.namespace)
        ends = [(self.row_of.get(link.source), self.row_of.get(link.target), link) for link in links]
        known = [(s, t, link) for s, t, link in ends if s is not None and t is not None]
        self.topology.load(
            np.array([s for s, _, _ in known], np.int64),
            np.array([t for _, t, _ in known], np.int64),
            [link.relation for _, _, link in known],
            np.array([link.weight for _, _, link in known], np.float64),
            np.array([link.given for _, _, link in known], np.bool_),
            np.array([_activated(link) for _, _, link in known], np.float64),
        )

    def _add_records(self, records: Sequence[MemoryRecord], batch: int = 1000) -> None:
        for first in range(0, len(records), batch):
            some = records[first : first + batch]
            whole = len(records) > batch
            stored = self._store.vectors(
                self.namespace, self.embedder.generation, None if whole else [one.id for one in some]
            )
            if first == 0:
                vectors = {key: np.frombuffer(blob, "<f4") for key, blob in stored}
            chosen = [vectors.get((one.id, one.version)) for one in some]
            for document in describe(some, chosen, self.embedder):
                self.add(document)

    def _note_boundaries(self, one: MemoryRecord, now: datetime) -> None:
        times = [at.timestamp() for at in (one.valid_from, one.valid_to) if at is not None and at > now]
        if times:
            self.boundaries[one.id] = min(*times, self.boundaries.get(one.id, np.inf))

    def _take(self, logged: Logged, now: datetime, prepared: Mapping[str, Document]) -> None:
        fresh, stale = _sorted_out(logged.rows)
        stale += [one for one in fresh if one in self.row_of]
        fresh = {one: fresh[one] for one in fresh if one not in self.row_of}
        gone = {c.row.id for c in logged.rows if isinstance(c.row, MemoryRow) and c.after is None}
        documents = [prepared[one] for one in fresh if one in prepared]
        unknown = [one for one in fresh.values() if one.id not in prepared]
        if unknown:
            documents += self._read(unknown)
        self._place(logged)
        for document in sorted(documents, key=lambda d: self.places[d.id]):
            self.add(document)
        for change in logged.rows:
            self._take_verdict(change)
            if isinstance(change.after, MemoryRow):
                self._note_practice(change.after.id, use_of(change.after), retention_of(change.after))
        self._take_links([change for change in logged.rows if isinstance(change.row, LinkRow)], fresh)
        for memory_id in gone:
            self.drop(memory_id)
        if stale := [one for one in stale if one not in gone]:
            self._reread(stale, now)

    def _note_practice(self, memory_id: str, use: Use, retention: Retention) -> None:
        found = practice(use, retention)
        if found is None:
            self.practice.pop(memory_id, None)
        else:
            self.practice[memory_id] = found

    def learn(self, changes: Iterable[RowChange]) -> None:
        """Take in what was learned, that is verdicts, practice and links, and nothing of any text."""
        for change in changes:
            self._take_verdict(change)
            if isinstance(change.after, MemoryRow):
                self._note_practice(change.after.id, use_of(change.after), retention_of(change.after))
            elif isinstance(change.row, LinkRow):
                self._take_link(change)

    def _place(self, logged: Logged) -> None:
        """Rows for the memories that an operation made, in its order, as in the store: also for those read later."""
        made = [c.row.id for c in logged.rows if c.before is None and isinstance(c.row, MemoryRow)]
        for memory_id in made:
            if memory_id not in self.row_of and memory_id not in self.places:
                self.places[memory_id] = self._new_row(memory_id)

    def _take_verdict(self, change: RowChange) -> None:
        if isinstance(change.after, VerdictRow):
            self.judgements.put(change.after)
        elif isinstance(change.before, VerdictRow):
            self.judgements.drop(change.before)

    def _read(self, records: Sequence[MemoryRecord]) -> list[Document]:
        ids = [one.id for one in records]
        stored = self._store.vectors(self.namespace, self.embedder.generation, ids)
        vectors = {key: np.frombuffer(blob, "<f4") for key, blob in stored}
        return describe(records, [vectors.get((one.id, one.version)) for one in records], self.embedder)

    def _reread(self, ids: Iterable[str], now: datetime) -> None:
        """Bring some memories and their links to the store's present state."""
        ids = list(ids)
        for memory_id in ids:
            self.remove(memory_id)
            self.boundaries.pop(memory_id, None)
        found = self._store.records(self.namespace, ids, now)
        active = [found[one] for one in ids if one in found and found[one].status == "active"]
        for document in self._read(active):
            self.add(document)
        for memory_id in ids:
            for version in self._store.versions(self.namespace, memory_id):
                if version.retired_at is None and memory_id in found:
                    self._note_interval(version, now)
        for link in self._store.links(self.namespace, [one.id for one in active]):
            self._put_link(link)

    def _note_interval(self, version: VersionRow, now: datetime) -> None:
        times = [
            at.timestamp() for at in (version.valid_from, version.valid_to) if at is not None and at > now
        ]
        if times:
            self.boundaries[version.id] = min(*times, self.boundaries.get(version.id, np.inf))

    def _take_links(self, changes: Sequence[RowChange], fresh: Mapping[str, MemoryRecord]) -> None:
        """New links of new memories in one go; others one by one, since they may be there."""
        new: dict[tuple[int, int, str], tuple[int, int, str, float, bool, float]] = {}
        for change in changes:
            link = change.after
            if (
                change.before is None
                and isinstance(link, LinkRow)
                and (link.source in fresh or link.target in fresh)
            ):
                source, target = self.row_of.get(link.source), self.row_of.get(link.target)
                if source is not None and target is not None:
                    identity = (source, target, link.relation)
                    new[identity] = (*identity, link.weight, link.given, _activated(link))
            else:
                self._take_link(change)
        if new:
            self.topology.extend(list(new.values()))

    def _take_link(self, change: RowChange) -> None:
        if isinstance(change.after, LinkRow):
            self._put_link(change.after)
        elif isinstance(change.before, LinkRow):
            link = change.before
            source, target = self.row_of.get(link.source), self.row_of.get(link.target)
            if source is not None and target is not None:
                self.topology.drop(source, target, link.relation)

    def _put_link(self, link: LinkRow) -> None:
        source, target = self.row_of.get(link.source), self.row_of.get(link.target)
        if source is not None and target is not None:
            activated = _activated(link)
            self.topology.put(
                source, target, link.relation, link.weight, given=link.given, activated=activated
            )


def _sorted_out(rows: Sequence[RowChange]) -> tuple[dict[str, MemoryRecord], list[str]]:
    """Memories that an operation made whole, as records; and ids of those to read again."""
    made: dict[str, MemoryRow] = {}
    fresh: dict[str, MemoryRecord] = {}
    stale: dict[str, None] = {}
    for change in rows:
        row = change.row
        if isinstance(row, MemoryRow):
            if change.before is None and row.status == "active":
                made[row.id] = row
            elif change.before is None or change.after is None or _matters(change):
                stale[row.id] = None
        elif isinstance(row, VersionRow):
            if change.before is None and row.id in made and row.id not in fresh and _open(row):
                fresh[row.id] = record("", made[row.id], row)
            else:
                stale[row.id] = None
    return {one: fresh[one] for one in fresh if one not in stale}, list(stale)


def _open(row: VersionRow) -> bool:
    return row.retired_at is None and row.valid_from is None and row.valid_to is None


def _matters(change: RowChange) -> bool:
    """Whether a change of a memory's state concerns the arrays: its weight and use do not."""
    before, after = change.before, change.after
    assert isinstance(before, MemoryRow), "both sides of a change are rows of one table"
    assert isinstance(after, MemoryRow), "both sides of a change are rows of one table"
    return (before.status, before.kind) != (after.status, after.kind)


def _activated(link: LinkRow) -> float:
    return (link.last_activated or link.created_at).timestamp()
