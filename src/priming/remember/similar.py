"""What a new text is compared with: the nearest memories, the facts that cannot hold beside it, and what was shown.

A new memory is linked to its nearest, and the links gain when it is remembered again. Facts that share its rarest
words are its rivals if the judge of statements says so. The echo guard: text that a recall showed to the agent is not
stored again when the agent repeats it. Similarity is not identity: only a text every line of which was returned is an
echo. Texts under four words, memories with a key and events from before the recall are never echoes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import PLASTICITY
from priming.config.params.limits import STORE
from priming.config.params.recall import LinkParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import TextVectors
from priming.core.bitemporal import visible
from priming.core.plasticity import increment
from priming.index.columns import VectorColumn
from priming.index.document import EPISODE, may_state
from priming.index.topology import SIMILAR
from priming.index.working_set import WorkingSet
from priming.namespace import EmittedLine, Namespace
from priming.recall.formatting import (
    HEADER,
    RULES_HEADER,
    format_full,
    format_gist,
    format_name,
    rule_full,
    rule_gist,
    rule_name,
)
from priming.remember.drafts import Draft
from priming.storage.protocol import Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.text.quotation import command, quote_text
from priming.text.quotation import visible as visible_text
from priming.text.statements.judge import differ
from priming.text.statements.phrases import as_told
from priming.text.statements.reader import is_event
from priming.text.tokens import bigrams
from priming.types import MemoryRecord

_BLOCK = 64

Neighbours = list[tuple[str, float]]
"""Ids of memories, each with its cosine."""


@dataclass
class NearestLinker:
    """Links the memories of one ``remember`` call to their nearest: stored ones, and others of the same call."""

    stored: StoredNamespace
    working: WorkingSet
    now: datetime
    params: LinkParams
    step: float = PLASTICITY.increment
    """What an existing link gains when its memory is remembered again."""
    _new_ids: list[str] = field(default_factory=list)
    _new_vectors: VectorColumn | None = None
    _changes: dict[tuple[str, str], RowChange] = field(default_factory=dict)
    """The changes of links in this call, by the ends of the links."""

    def find_nearest(self, vectors: Sequence[TextVectors]) -> list[Neighbours]:
        """Find for each vector the nearest stored memories at or above the bar, and one more, which may be itself."""
        living = self.working.living.values
        nearest = []
        for first in range(0, len(vectors), _BLOCK):
            block = np.stack([each.whole for each in vectors[first : first + _BLOCK]])
            cosines = self.working.vectors.dot(block.T)
            for cosine in cosines.T:
                close = np.flatnonzero((cosine >= self.params.similarity) & living)
                order = close[np.argsort(-cosine[close], kind="stable")][: self.params.nearest + 1]
                nearest.append([(self.working.ids[self.working.row[i]], float(cosine[i])) for i in order])
        return nearest

    def link_new(
        self, memory_id: str, vector: NDArray[np.float32] | None, stored: Neighbours | None
    ) -> Iterator[LinkRow]:
        """Yield the links of a new memory to its nearest, of which those that follow in the same call have it too.

        The weight of each starts at the cosine. Without a vector, or where none are sought, there are none.
        """
        if vector is None or stored is None or not vector.any():
            return
        for other, cosine in self._nearest(memory_id, vector, stored):
            link = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            if self.params.strengthen:
                self._changes[memory_id, other] = RowChange(None, link)
            yield link
        self._new_ids.append(memory_id)
        if self._new_vectors is None:
            self._new_vectors = VectorColumn(len(vector))
        self._new_vectors.append(vector)

    def strengthen_nearest(
        self, memory_id: str, vector: NDArray[np.float32], stored: Neighbours
    ) -> list[RowChange]:
        """Return the changes for a memory remembered again: existing links grow by a step, others are created."""
        changes = []
        for other, cosine in self._nearest(memory_id, vector, stored) if vector.any() else ():
            before = self._link_between(memory_id, other)
            if before is None:
                after = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            else:
                after = replace(before, weight=float(increment(before.weight, self.step)))
            if after != before:
                changes.append(self._record_change(before, after))
        return changes

    def _nearest(self, memory_id: str, vector: NDArray[np.float32], stored: Neighbours) -> Neighbours:
        """Return the nearest among the stored neighbours and the new memories."""
        neighbours = stored
        if self._new_vectors is not None:
            cosines = self._new_vectors.dot(vector)
            close = np.flatnonzero(cosines >= self.params.similarity)
            neighbours = stored + [(self._new_ids[i], float(cosines[i])) for i in close]
        others = [pair for pair in neighbours if pair[0] != memory_id]
        return sorted(others, key=lambda pair: -pair[1])[: self.params.nearest]

    def _link_between(self, a: str, b: str) -> LinkRow | None:
        """Return the link between two memories, stored or planned, in either direction."""
        for source, target in ((a, b), (b, a)):
            change = self._changes.get((source, target))
            link = (
                self.stored.stored(LinkRow(source, target, SIMILAR, 0.0, self.now))
                if change is None
                else change.after
            )
            if isinstance(link, LinkRow):
                return link
        return None

    def _record_change(self, before: LinkRow | None, after: LinkRow) -> RowChange:
        """Record one change from what is stored, however often this call has moved the link."""
        ends = after.source, after.target
        stored = self._changes[ends].before if ends in self._changes else before
        self._changes[ends] = RowChange(stored, after)
        return self._changes[ends]


def similar_ends(change: RowChange) -> tuple[str, str] | None:
    """Return the ends of the ``similar-to`` link that a change writes; None for another row."""
    row = change.after
    return (row.source, row.target) if isinstance(row, LinkRow) and row.relation == SIMILAR else None


RAREST = 3
"""How many words of a statement, the rarest that others have, are looked up for statements like it."""


def latest_holders(holders: Iterable[Sequence[str]], most: int, memory_id: str) -> Collection[str]:
    """Return the ids of at most ``most`` memories but ``memory_id``, the latest of each word first.

    ``holders`` has for each word, the rarest first, the memories that contain it, the oldest first.
    """
    latest = dict.fromkeys(other for ids in holders for other in reversed(ids) if other != memory_id)
    return list(latest)[:most]


def stated(memory: Draft | MemoryRecord) -> str | None:
    """Return what a memory states about how things are, with its speaker named; None if it does not.

    A fact does, and an episode that has neither a session nor a time of its own and whose verb is not in the past: a
    turn of a conversation and an event hold beside any other. Nor is a text compared that says more than one thing.
    """
    may = may_state(memory.kind, memory.content, memory.session, memory.occurred_at)
    if not may or (memory.kind == EPISODE and is_event(memory.content)):
        return None
    return as_told(memory.content, memory.speaker)


def to_settle(older: str, content: str, newer: str) -> str:
    """Return what an earlier statement says, and the commands that settle if a later one takes its place, by keys."""
    replaces, both = command("deprecate", older, by=newer), command("review", keep=f"{older}+{newer}")
    return visible_text(
        f"the earlier says {quote_text(content)}: if the later takes its place, {replaces}; if both hold, {both}"
    )


def rivals(statements: Mapping[str, str | None], texts: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the ids of the facts that a new one contradicts, under any of its names, and those of the others.

    ``statements`` are what memories state, by id, ``texts`` the new one under each name.
    """
    facts = {each: fact for each, fact in statements.items() if fact is not None}
    opposed = {each for each, fact in facts.items() if any(differ(fact, text) for text in texts)}
    return opposed, facts.keys() - opposed


@dataclass(slots=True)
class EchoGuard:
    """The guard of a namespace against texts that recent recalls emitted."""

    memory: Namespace

    def sources(self, text: str, occurred_at: datetime | None = None) -> tuple[str, ...]:
        """Return the ids of the memories that ``text`` repeats, if recent recalls returned every line of it.

        Call ``update`` first. An event that occurred before a recall does not repeat the recall, and the text of a
        memory that is no longer active may be stored again.
        """
        if len(text.split()) + len(bigrams(text).split()) < STORE.echo_words:
            return ()
        lines = [_plain(line) for line in text.splitlines() if line.strip()]
        candidates = [self.memory.emitted.get(line) for line in lines if line not in _HEADERS]
        matches = [
            match
            for match in candidates
            if match is not None and (occurred_at is None or occurred_at >= match.first)
        ]
        if not matches or len(matches) < len(candidates):
            return ()
        sources = tuple(dict.fromkeys(match.memory for match in matches))
        rows = self.memory.rows(MemoryRow, ids=sources)
        all_active = {row.id for row in rows if row.status == "active"} == set(sources)
        return sources if all_active else ()

    def update(self, now: datetime) -> None:
        """Read the recalls since the last update, and drop the lines that were emitted too long ago."""
        fresh, lines = now - timedelta(hours=STORE.echo_hours), self.memory.emitted
        since = max(self.memory.emitted_until or fresh, fresh)
        traces = self.memory.rows(Trace, since=since, limit=STORE.echo_traces)
        times: dict[str, list[datetime]] = {}
        for trace in reversed(traces):
            for memory_id, _ in trace.hits:
                times.setdefault(memory_id, []).append(trace.at)
        records = self.memory.records(now, ids=list(times)).values()
        for record in sorted(records, key=lambda record: times[record.id][-1]):
            first, last = times[record.id][0], times[record.id][-1]
            for line in self._emitted_lines(record, times[record.id]):
                earlier = lines.pop(line, None)
                lines[line] = EmittedLine(record.id, earlier.first if earlier else first, last)
        while lines and lines[oldest := next(iter(lines))].last < fresh:
            del lines[oldest]
        if traces:
            self.memory.emitted_until = max(trace.at for trace in traces)

    def _emitted_lines(self, record: MemoryRecord, recall_times: Sequence[datetime]) -> list[str]:
        """Return the lines that recalls at these times can have shown, those of superseded versions included."""
        lines = emitted_texts(record)
        if record.version > 1:
            for version in self.memory.rows(VersionRow, ids=[record.id]):
                if any(visible(version, valid_at=at, known_at=at) for at in recall_times):
                    lines += emitted_texts(replace(record, content=version.content, gist=version.gist))
        return lines


def emitted_texts(record: MemoryRecord) -> list[str]:
    """Return every line that a recall of this memory can show, normalised."""
    shown = [format_full(record), format_gist(record), format_name(record), *record.content.splitlines()]
    if record.kind == "behavior":
        shown += [rule_full(record), rule_gist(record), rule_name(record)]
    return [_plain(line) for line in shown if line.strip()]


def _plain(line: str) -> str:
    return " ".join(line.casefold().strip(" \t>-*•\"'“”").split())


_HEADERS = (_plain(HEADER), _plain(RULES_HEADER))
