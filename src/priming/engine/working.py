"""The working set: one namespace as arrays, kept current from the log.

It is disposable: everything in it is derived from the store, and losing it costs time, never data. A row of
the graph is a memory or a bare name, in order of insertion, whatever becomes of it; a memory with a text is
also a document, and all evidence is counted over documents. What changes its text or status leaves its document
and may take a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from priming.core.check import Floats
from priming.embed.protocol import Embedder, TokenEmbedder
from priming.engine.columns import Column, Ints, Ragged, Vectors
from priming.engine.document import Document, describe, is_rare_word, slot_of_title
from priming.engine.lexicon import Lexicon
from priming.engine.topology import Topology
from priming.store.protocol import Logged, Store
from priming.store.rows import LinkRow, MemoryRow, RowChange, VersionRow, record
from priming.types import KINDS, MemoryRecord

NONE = -1
IMPORT = "import"
_KEEP_AFTER = 256
REACH = 2
"""A memory's window reaches this far to both sides in its session."""
ENTITY = KINDS.index("entity")


Own = tuple[Logged, Mapping[str, Document]]
"""An operation of this process, with the documents that it made, ready to be taken in."""


class WorkingSet:
    """The arrays of one namespace; ``refresh`` before every use."""

    def __init__(self, store: Store, namespace: str, embedder: Embedder) -> None:
        self.namespace = namespace
        self._store = store
        self._embedder = embedder
        self.head = 0
        self._clear()

    def _clear(self) -> None:
        vocabulary = self._embedder.vocabulary if isinstance(self._embedder, TokenEmbedder) else 0
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.places: dict[str, int] = {}
        self.alive = Column(np.bool_)
        self.kind = Column(np.int64)
        self.document = Column(np.int64)
        self.topology = Topology()
        self.entities: dict[str, int] = {}
        self.slots: dict[int, str] = {}
        self.row = Column(np.int64)
        self.living = Column(np.bool_)
        self.embedded = Column(np.bool_)
        self.session = Column(np.int64)
        self.before = Column(np.int64)
        self.behind = Column(np.int64)
        self.title = Column(np.int64)
        self.occurred = Column(np.float64)
        self.timed = Column(np.bool_)
        self.asks = Column(np.bool_)
        self.lexicon = Lexicon()
        self.vectors = Vectors(self._embedder.dimension)
        self.tokens = Ragged()
        self.token_df = Column(np.int64, np.zeros(vocabulary, np.int64))
        self.predicates: dict[int, Mapping[str, Any]] = {}
        self.sessions: dict[str, int] = {}
        self.session_end: dict[int, int] = {}
        self.titles: dict[str, int] = {}
        self.title_terms: list[tuple[str, ...]] = []
        self.title_count = Column(np.int64)
        self.title_entity = Column(np.int64)
        self.titles_by_term: dict[str, list[int]] = {}
        self.title_slots: dict[str, list[int]] = {}
        self.boundaries: dict[str, float] = {}
        self.head = 0
        self.kept_rows = 0
        self._window_lengths: Floats | None = None
        self._order: Ints | None = None
        self._counted = 0

    @property
    def rows(self) -> int:
        """Number of rows of the graph, dead ones included."""
        return len(self.ids)

    @property
    def documents(self) -> int:
        """Number of documents, dead ones included: the length of the evidence."""
        return self.row.size

    @property
    def memories(self) -> int:
        """Number of living memories with a text."""
        return self.lexicon.documents

    @property
    def missing_vectors(self) -> bool:
        """Whether a living memory with a text has no vector of the present generation."""
        return bool(np.any(self.living.values & ~self.embedded.values))

    @property
    def order(self) -> Ints | None:
        """The documents in the order of their rows, the oldest memory first; None if they stand in it."""
        if self._counted != self.documents:
            rows = self.row.values
            in_order = bool(np.all(rows[1:] >= rows[:-1]))
            self._counted, self._order = self.documents, None if in_order else np.argsort(rows, kind="stable")
        return self._order

    def windowed(self, documents: Ints) -> tuple[Ints, Ints]:
        """The documents whose windows hold each of ``documents``, and the position that each came from."""
        targets, positions = [documents], [np.arange(len(documents))]
        for step in (self.before.values, self.behind.values):
            at, where = documents, np.arange(len(documents))
            for _ in range(REACH):
                at = step[at]
                where, at = where[at != NONE], at[at != NONE]
                targets.append(at)
                positions.append(where)
        return np.concatenate(targets), np.concatenate(positions)

    @property
    def window_lengths(self) -> Floats:
        """Terms in the window of each document; counted anew when documents came or went."""
        if self._window_lengths is None:
            targets, at = self.windowed(np.arange(self.documents))
            lengths = np.where(self.living.values, self.lexicon.length.values, 0.0)
            counted = np.bincount(targets, weights=lengths[at], minlength=self.documents)
            self._window_lengths = counted.astype(np.float64)
        return self._window_lengths

    @property
    def worth_keeping(self) -> bool:
        """Whether enough came since the last snapshot for another to save more time than it costs."""
        dead = int(np.count_nonzero(~self.alive.values))
        return self.rows - self.kept_rows > max(_KEEP_AFTER, self.kept_rows // 100) and dead * 3 < self.rows

    def at(self, values: Floats, rows: Ints) -> Floats:
        """What the evidence ``values`` says of some rows; 0 of those without a text."""
        documents = self.document[rows]
        if not len(values):
            return np.zeros(len(rows))
        return np.where(documents == NONE, 0.0, values[np.maximum(documents, 0)])

    def refresh(self, now: datetime, own: Mapping[int, Own] | None = None) -> None:
        """Take in what the log says since the last refresh; what ``own`` holds need not be read from it."""
        head = self._store.head(self.namespace)
        while own and self.head in own and self.head < head:
            logged, prepared = own[self.head]
            self._take(logged, now, prepared)
            self.head = logged.number
        if head < self.head:
            self._clear()
        if self.head == 0 and head > 0:
            self._build(now)
        elif head > self.head:
            for logged in self._store.since(self.namespace, self.head):
                if logged.kind == IMPORT or logged.erased:
                    self._clear()
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
            if one.valid_from is None or one.valid_from <= now:
                records[one.id] = one
        counted = self._store.counts(self.namespace).memories
        if sum(sum(by_status.values()) for by_status in counted.values()) > len(records):
            for memory in self._store.memories(self.namespace):
                self.places[memory.id] = self._new_row(memory.id)
        self._add_records(list(records.values()))
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
                self.namespace, self._embedder.generation, None if whole else [one.id for one in some]
            )
            if first == 0:
                vectors = {key: np.frombuffer(blob, "<f4") for key, blob in stored}
            chosen = [vectors.get((one.id, one.version)) for one in some]
            for document in describe(some, chosen, self._embedder):
                self._add(document)

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
        order = {one: i for i, one in enumerate(fresh)}
        for document in sorted(documents, key=lambda d: order[d.id]):
            self._add(document)
        self._take_links([change for change in logged.rows if isinstance(change.row, LinkRow)], fresh)
        for memory_id in gone:
            self._drop(memory_id)
        if stale := [one for one in stale if one not in gone]:
            self._reread(stale, now)

    def _read(self, records: Sequence[MemoryRecord]) -> list[Document]:
        ids = [one.id for one in records]
        stored = self._store.vectors(self.namespace, self._embedder.generation, ids)
        vectors = {key: np.frombuffer(blob, "<f4") for key, blob in stored}
        return describe(records, [vectors.get((one.id, one.version)) for one in records], self._embedder)

    def _reread(self, ids: Iterable[str], now: datetime) -> None:
        """Bring some memories and their links to the store's present state."""
        ids = list(ids)
        for memory_id in ids:
            self._remove(memory_id)
            self.boundaries.pop(memory_id, None)
        found = self._store.records(self.namespace, ids, now)
        active = [found[one] for one in ids if one in found and found[one].status == "active"]
        for document in self._read(active):
            self._add(document)
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

    def _new_row(self, memory_id: str) -> int:
        self.ids.append(memory_id)
        self.alive.append(False)
        self.kind.append(NONE)
        self.document.append(NONE)
        self.topology.add_row()
        return self.rows - 1

    def _add(self, document: Document) -> None:
        row = self.places.pop(document.id, NONE)
        row = self._new_row(document.id) if row == NONE else row
        self.row_of[document.id] = row
        self.alive[row] = True
        self.kind[row] = KINDS.index(document.kind)
        self.topology.words[row] = is_rare_word(document.slot)
        self.document[row] = self._add_text(row, document) if document.indexed else NONE
        if document.slot is not None:
            self.slots[row] = document.slot
            if row <= self.entities.get(document.slot, row):
                self._settle(document.slot, row)

    def _add_text(self, row: int, document: Document) -> int:
        number = self.documents
        self._window_lengths = None
        self.row.append(row)
        self.living.append(True)
        self.embedded.append(document.vector is not None or not (document.body or document.heading))
        self.occurred.append(document.occurred)
        self.timed.append(document.timed)
        self.asks.append(document.asks)
        self.title.append(self._title(document))
        self.lexicon.append(document.heading, document.body)
        self.vectors.append(document.vector)
        self.tokens.append(document.tokens)
        self.token_df[document.tokens] += 1
        self._enter_session(number, document.session)
        if document.when:
            self.predicates[number] = document.when
        return number

    def _settle(self, slot: str, row: int) -> None:
        """An entity takes (or, with ``NONE``, leaves) its slot."""
        if row == NONE:
            del self.entities[slot]
        else:
            self.entities[slot] = row
        for code in self.title_slots.get(slot, ()):
            self.title_entity[code] = row

    def heading_entity(self, rows: Ints) -> Ints:
        """For each row, the entity that its own heading names; −1 if there is none."""
        documents = self.document[rows]
        if not self.title_entity.size:
            return np.full(len(rows), NONE, np.int64)
        titles = np.where(documents == NONE, NONE, self.title[np.maximum(documents, 0)])
        return np.where(titles == NONE, NONE, self.title_entity[np.maximum(titles, 0)])

    def _title(self, document: Document) -> int:
        if document.title is None:
            return NONE
        code = self.titles.setdefault(document.title, len(self.titles))
        if code == len(self.title_terms):
            self.title_terms.append(document.heading)
            self.title_count.append(0)
            if document.heading:
                self.titles_by_term.setdefault(document.heading[0], []).append(code)
            slot = slot_of_title(document.title)
            self.title_slots.setdefault(slot, []).append(code)
            self.title_entity.append(self.entities.get(slot, NONE))
        self.title_count[code] += 1
        return code

    def _enter_session(self, number: int, session: str | None) -> None:
        self.before.append(NONE)
        self.behind.append(NONE)
        if session is None:
            self.session.append(NONE)
            return
        code = self.sessions.setdefault(session, len(self.sessions))
        self.session.append(code)
        before, behind = self.session_end.get(code, NONE), NONE
        while before != NONE and self.row[before] > self.row[number]:
            before, behind = int(self.before[before]), before
        self.before[number], self.behind[number] = before, behind
        if before != NONE:
            self.behind[before] = number
        if behind != NONE:
            self.before[behind] = number
        else:
            self.session_end[code] = number

    def _remove(self, memory_id: str) -> None:
        row = self.row_of.pop(memory_id, None)
        if row is None:
            return
        self.places[memory_id] = row
        self.alive[row] = False
        self.topology.drop_row(row)
        if self.document[row] != NONE:
            self._remove_text(int(self.document[row]))
        slot = self.slots.pop(row, None)
        if slot is not None and self.entities[slot] == row:
            shared = len(self.slots) >= len(self.entities)
            heirs = [at for at, other in self.slots.items() if other == slot] if shared else []
            self._settle(slot, min(heirs, default=NONE))

    def _drop(self, memory_id: str) -> None:
        """Remove a memory that is no more: should it come back, then as the latest."""
        self._remove(memory_id)
        self.boundaries.pop(memory_id, None)
        row = self.places.pop(memory_id, NONE)
        if row != NONE:
            self.ids[row] = ""

    def _remove_text(self, number: int) -> None:
        self.living[number] = False
        self._window_lengths = None
        self.predicates.pop(number, None)
        self.lexicon.remove(number)
        self.token_df[self.tokens[number]] -= 1
        if self.title[number] != NONE:
            self.title_count[self.title[number]] -= 1
        self._leave_session(number)

    def _leave_session(self, number: int) -> None:
        before, behind = int(self.before[number]), int(self.behind[number])
        if before != NONE:
            self.behind[before] = behind
        if behind != NONE:
            self.before[behind] = before
        session = int(self.session[number])
        if session != NONE and self.session_end.get(session) == number:
            self.session_end[session] = before
        self.before[number] = self.behind[number] = NONE


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
