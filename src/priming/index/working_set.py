"""The working set: the arrays of one namespace, kept current from the log.

It is disposable: everything in it is derived from the store, and losing it costs time, never data.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from priming.config.words import MERGED, RelationSigns
from priming.core.arguments.arrays import unpacked
from priming.core.arguments.normal_forms import normalized
from priming.embedding.protocol import Embedder
from priming.index.arrays import NamespaceArrays
from priming.index.cue_feedback import Practice
from priming.index.document import Document, describe
from priming.index.topology import NewLink
from priming.storage.protocol import Logged, Store
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    RelationRow,
    Row,
    RowChange,
    VerdictRow,
    VersionRow,
    record,
    retention_of,
    use_of,
)
from priming.types import MemoryRecord, Retention, Use

IMPORT, RESTORE = "import", "restore-backup"
"""The operations after which everything is read again."""

_BATCH = 1000
"""How many memories are read at once."""
_LOOK = 50
"""How many memories at either end of those that wait are looked at for vectors."""

PreparedOperation = tuple[Logged, Mapping[str, Document]]
"""An operation of this process with the documents that it created, so that they need not be read again."""


class WorkingSet(NamespaceArrays):
    """The arrays of one namespace; call ``refresh`` before every use."""

    def __init__(self, store: Store, namespace: str, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.namespace = namespace
        self._stored = StoredNamespace(store, namespace)
        self.signs = RelationSigns()
        self._signed_at = -1
        """The operation up to which ``signs`` holds."""
        self._any_merged: bool | None = None

    def refresh(self, now: datetime, own: Mapping[int, PreparedOperation] | None = None) -> None:
        """Apply the operations logged since the last refresh; those in ``own`` are not read from the log."""
        head = self._stored.store.head(self.namespace)
        while own and self.head in own and self.head < head:
            logged, prepared = own[self.head]
            self._apply(logged, now, prepared)
            self.head = logged.number
        if head < self.head:
            self.clear()
        if self.head == 0 and head > 0:
            self._build(now)
        elif head > self.head:
            for logged in self._stored.operations(after=self.head):
                if logged.kind in (IMPORT, RESTORE) or logged.erased:
                    self.clear()
                    self._build(now)
                    break
                self._apply(logged, now, {})
        self.head = head
        if self._signed_at != head:
            rows = self._stored.rows(RelationRow)
            self.signs, self._signed_at = RelationSigns({row.relation: row.sign for row in rows}), head
        due = [memory_id for memory_id, at in self.boundaries.items() if at <= now.timestamp()]
        if due:
            self._reread(due, now)
        while self._take_vectors(now):
            pass

    def _take_vectors(self, now: datetime) -> int:
        """Read vectors that came after their texts; return how many.

        They come to the oldest first, or to a load that was stored last: only both ends of what waits are looked at.
        """
        waiting = self.waiting_ids if self.missing_vectors else []
        ids = waiting if len(waiting) <= 2 * _LOOK else [*waiting[:_LOOK], *waiting[-_LOOK:]]
        stored = dict(self._stored.stored_vectors(self.embedder.generation, ids)) if ids else {}
        if not stored:
            return 0
        taken = 0
        for row in self._stored.records(now, ids={memory_id for memory_id, _ in stored}).values():
            if (row.id, row.version) in stored:
                self.give_vectors(row.id, unpacked(stored[row.id, row.version]))
                taken += 1
        return taken

    def named_by(self, text: str, now: datetime) -> int | None:
        """Return the row of the memory whose key or id a text is, alone or in the brackets that recall prints."""
        name = normalized("NFC", text.strip())
        bare = name.removeprefix("[").removesuffix("]")
        for key in dict.fromkeys((name, bare)):
            record_ = self._stored.record_named(key, now) if key else None
            if record_ is not None:
                return self.row_of.get(record_.id)
        return None

    def entity(self, slot: str) -> str | None:
        """Return the id of the entity of a slot; None without one."""
        row = self.entities.get(slot)
        return None if row is None else self.ids[row]

    @property
    def any_merged(self) -> bool:
        """Whether any memory was merged into another, so that names may have others of the same meaning."""
        if self._any_merged is None:
            self._any_merged = bool(self._stored.rows(LinkRow, relation=MERGED))
        return self._any_merged

    def _build(self, now: datetime) -> None:
        """Read everything: slow, and the only way that leaves no trace of purged texts."""
        self._any_merged = None
        records: dict[str, MemoryRecord] = {}
        for record_ in self._stored.part(MemoryRecord, until=now):
            self._note_boundaries(record_, now)
            self._note_practice(record_.id, record_.use, record_.retention)
            if record_.valid_from is None or record_.valid_from <= now:
                records[record_.id] = record_
        counted = self._stored.store.counts(self.namespace, brief=True).memories
        if sum(sum(by_status.values()) for by_status in counted.values()) > len(records):
            for memory in self._stored.rows(MemoryRow):
                self.reserved_rows[memory.id] = self._new_row(memory.id)
        whole = list(records.values())
        for first in range(0, len(whole), _BATCH):
            for document in self._read(whole[first : first + _BATCH]):
                self.add(document)
        for verdict in self._stored.rows(VerdictRow):
            self.cue_feedback.put(verdict)
        links = [link for row in self._stored.rows(LinkRow) if (link := self._indexed(row)) is not None]
        if links:
            self.topology.extend(links)
            self.topology.compact()

    def _note_boundaries(self, interval: MemoryRecord | VersionRow, now: datetime) -> None:
        """Record when the validity of a memory changes next."""
        ends = (interval.valid_from, interval.valid_to)
        times = [at.timestamp() for at in ends if at is not None and at > now]
        if times:
            self.boundaries[interval.id] = min(*times, self.boundaries.get(interval.id, np.inf))

    def _apply(self, logged: Logged, now: datetime, prepared: Mapping[str, Document]) -> None:
        fresh, stale = _fresh_and_stale(logged.rows)
        stale += [memory_id for memory_id in fresh if memory_id in self.row_of]
        fresh = {memory_id: rows for memory_id, rows in fresh.items() if memory_id not in self.row_of}
        gone = {c.row.id for c in logged.rows if isinstance(c.row, MemoryRow) and c.after is None}
        documents = [prepared[memory_id] for memory_id in fresh if memory_id in prepared]
        unread = [record("", *rows) for memory_id, rows in fresh.items() if memory_id not in prepared]
        if unread:
            documents += self._read(unread)
        self._reserve_rows(logged)
        for document in sorted(documents, key=lambda document: self.reserved_rows[document.id]):
            self.add(document)
        for change in logged.rows:
            self._apply_feedback(change)
        self._apply_links([change for change in logged.rows if isinstance(change.row, LinkRow)], fresh)
        for memory_id in gone:
            self.drop(memory_id)
        if stale := [memory_id for memory_id in stale if memory_id not in gone]:
            self._reread(stale, now)

    def _note_practice(self, memory_id: str, use: Use, retention: Retention) -> None:
        practice = Practice.of(use, retention)
        if practice is None:
            self.practice.pop(memory_id, None)
        else:
            self.practice[memory_id] = practice

    def learn(self, changes: Iterable[RowChange]) -> None:
        """Apply what was learned (verdicts, practice and links), and nothing of any text."""
        for change in changes:
            self._apply_feedback(change)
            if isinstance(change.row, LinkRow):
                self._apply_link(change.before, change.after)

    def _reserve_rows(self, logged: Logged) -> None:
        """Reserve rows for the memories that an operation created, in its order, those read later included."""
        created = [c.row.id for c in logged.rows if c.before is None and isinstance(c.row, MemoryRow)]
        for memory_id in created:
            if memory_id not in self.row_of and memory_id not in self.reserved_rows:
                self.reserved_rows[memory_id] = self._new_row(memory_id)

    def _apply_feedback(self, change: RowChange) -> None:
        """Apply a verdict, or the practice of a memory."""
        if isinstance(change.after, MemoryRow):
            if change.before is not None or change.after.last_used_at or change.after.stability is not None:
                self._note_practice(change.after.id, use_of(change.after), retention_of(change.after))
        elif isinstance(change.after, VerdictRow):
            self.cue_feedback.put(change.after)
        elif isinstance(change.before, VerdictRow):
            self.cue_feedback.drop(change.before)

    def _read(self, records: Sequence[MemoryRecord]) -> list[Document]:
        ids = [row.id for row in records]
        stored = self._stored.stored_vectors(self.embedder.generation, ids)
        vectors = {key: unpacked(blob) for key, blob in stored}
        return describe(records, [vectors.get((row.id, row.version)) for row in records], self.embedder)

    def _reread(self, ids: Iterable[str], now: datetime) -> None:
        """Read memories and their links again from the store."""
        ids = list(ids)
        for memory_id in ids:
            self.remove(memory_id)
            self.boundaries.pop(memory_id, None)
        stored = self._stored.records(now, ids=ids)
        active = [row for row in stored.values() if row.status == "active"]
        for document in self._read(active):
            self.add(document)
        for version in self._stored.rows(VersionRow, ids=ids):
            if version.retired_at is None:
                self._note_boundaries(version, now)
        for link in self._stored.rows(LinkRow, ids=[row.id for row in active]):
            self._apply_link(None, link)

    def _apply_links(self, changes: Sequence[RowChange], fresh: Container[str]) -> None:
        """Add new links of new memories together; others one by one, since they may exist."""
        new: dict[tuple[int, int, str], NewLink] = {}
        for change in changes:
            link = change.after
            if isinstance(change.row, LinkRow) and change.row.relation == MERGED:
                self._any_merged = None
            if (
                change.before is None
                and isinstance(link, LinkRow)
                and (link.source in fresh or link.target in fresh)
            ):
                if (indexed := self._indexed(link)) is not None:
                    new[indexed[:3]] = indexed
            else:
                self._apply_link(change.before, link)
        if new:
            self.topology.extend(list(new.values()))

    def _apply_link(self, before: Row | None, after: Row | None) -> None:
        """Remove a link, or put it in its place."""
        link = after or before
        assert isinstance(link, LinkRow), "the change is of a link"
        indexed = self._indexed(link)
        if indexed is not None and after is None:
            self.topology.drop(*indexed[:3])
        elif indexed is not None:
            self.topology.put(*indexed[:4], explicit=indexed[4], activated=indexed[5])

    def _indexed(self, link: LinkRow) -> NewLink | None:
        """Return a link between rows; None where one of its ends is none."""
        source, target = self.row_of.get(link.source), self.row_of.get(link.target)
        if source is None or target is None:
            return None
        activated = (link.last_activated or link.created_at).timestamp()
        return source, target, link.relation, link.weight, link.given, activated


def _fresh_and_stale(
    rows: Sequence[RowChange],
) -> tuple[dict[str, tuple[MemoryRow, VersionRow]], list[str]]:
    """Return the memories that an operation created whole, as their rows, and the ids of those to read again."""
    created: dict[str, MemoryRow] = {}
    fresh: dict[str, tuple[MemoryRow, VersionRow]] = {}
    stale: dict[str, None] = {}
    for change in rows:
        row = change.row
        if isinstance(row, MemoryRow):
            if change.before is None and row.status == "active":
                created[row.id] = row
            elif change.before is None or change.after is None or _matters(change):
                stale[row.id] = None
        elif isinstance(row, VersionRow):
            if change.before is None and row.id in created and row.id not in fresh and _open(row):
                fresh[row.id] = created[row.id], row
            else:
                stale[row.id] = None
    return {memory_id: pair for memory_id, pair in fresh.items() if memory_id not in stale}, list(stale)


def _open(row: VersionRow) -> bool:
    return row.retired_at is None and row.valid_from is None and row.valid_to is None


def _matters(change: RowChange) -> bool:
    """Tell whether a change of a memory's state affects the arrays: its weight and use do not."""
    before, after = change.before, change.after
    assert isinstance(before, MemoryRow), "both sides of a change are rows of one table"
    assert isinstance(after, MemoryRow), "both sides of a change are rows of one table"
    return (before.status, before.kind) != (after.status, after.kind)
