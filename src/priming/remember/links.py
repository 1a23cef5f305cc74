"""Who makes a link? Here users do, with ``link`` and ``set_strength``, and ``NearestLinker`` does by similarity.

``planner.py`` makes the links of sessions, names and contradictions; learning and sleep make theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import PLASTICITY
from priming.config.params.learning import LinkParams
from priming.core.arguments.checks import (
    PAGE_LIMIT,
    check_choice,
    check_count,
    check_fraction,
    check_name,
    check_text,
    check_time,
)
from priming.core.plasticity import increment
from priming.embedding.protocol import Vectors
from priming.errors import NotFound, ParamError
from priming.history.movements import WeightMove, change_text, set_text
from priming.history.weights_over_time import MANUAL, past
from priming.index.columns import VectorColumn
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.storage.protocol import Store
from priming.storage.rows import LinkRow, RowChange
from priming.types import Link, Operation


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The checked arguments of ``link``."""

    source: str
    target: str
    relation: str
    weight: float


def link(
    memory: Namespace,
    source: str,
    target: str,
    relation: str = "similar-to",
    weight: float = PLASTICITY.start,
) -> Link:
    """Link two memories; linking them again sets the weight of the same link."""
    return _link_all(memory, [_request(source, target, relation, weight)], MANUAL)[0]


def link_many(memory: Namespace, items: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Link many pairs in one operation; each item is a mapping of the arguments of ``link``."""
    return _link_all(memory, [_parsed(item) for item in items], None)


def _link_all(memory: Namespace, requests: Sequence[LinkRequest], source: str | None) -> list[Link]:
    """Make links as one operation with this source; the operations of importers have none."""
    with memory.writing() as now:
        ends: dict[str, str] = {}
        rows = {}
        for request in requests:
            row = _row(memory, request, now, ends)
            rows[row.source, row.target, row.relation] = row
        stored = {
            (row.source, row.target, row.relation): row
            for row in memory.store.links(memory.namespace, {row.source for row in rows.values()})
        }
        results = [_change(stored.get(identity), row) for identity, row in rows.items()]
        changes = [change for change in results if change.before != change.after]
        if changes:
            reason = None if source == MANUAL else "an importer or a program linked memories"
            message = _links_message(memory, changes)
            memory.write("link", now, changes, source=source, reason=reason, message=message)
        return list(memory.to_links([row.after for row in results if isinstance(row.after, LinkRow)]))


def _links_message(memory: Namespace, changes: Sequence[RowChange]) -> str:
    """The weight of each link, a line each where there are few."""
    if len(changes) > _LISTED:
        return f"{len(changes):,} links"
    names = memory.store.names(memory.namespace, {end for change in changes for end in change.ends})
    lines = []
    for change in changes:
        link = change.row
        if isinstance(link, LinkRow):
            lines.append(
                f"{names[link.source]} ─{link.relation}→ {names[link.target]}: {change_text(change)}"
            )
    return "\n".join(lines)


def _parsed(item: Mapping[str, Any]) -> LinkRequest:
    """A mapping of the arguments of ``link``, checked."""
    if not isinstance(item, Mapping):
        raise ParamError("item", item, f"must be a mapping of {', '.join(_FIELDS)}")
    for name in item:
        if name not in _FIELDS:
            raise ParamError("item", name, f"is not an argument of link: {', '.join(_FIELDS)}")
    return _request(
        item.get("source"),
        item.get("target"),
        item.get("relation", "similar-to"),
        item.get("weight", PLASTICITY.start),
    )


def _request(source: Any, target: Any, relation: Any, weight: Any) -> LinkRequest:
    return LinkRequest(
        source=check_text("source", source),
        target=check_text("target", target),
        relation=check_name("relation", check_text("relation", relation)) or "",
        weight=check_fraction("weight", weight),
    )


_FIELDS = tuple(field.name for field in fields(LinkRequest))


def _row(memory: Namespace, request: LinkRequest, now: datetime, ends: dict[str, str]) -> LinkRow:
    for key in (request.source, request.target):
        if key not in ends:
            ends[key] = memory.find(key, now).id
    source, target = ends[request.source], ends[request.target]
    if source == target:
        raise ParamError("target", request.target, "must be another memory than the source")
    return LinkRow(source, target, request.relation, request.weight, now, given=True)


def _change(before: LinkRow | None, after: LinkRow) -> RowChange:
    if before is None:
        return RowChange(None, after)
    return RowChange(before, replace(before, weight=after.weight, given=True))


def set_strength(
    memory: Namespace, source: str, target: str, weight: float, relation: str | None = None
) -> Operation:
    """Set the weight of all links between two memories, in either direction, clamped to [.05, .95].

    Without a link between them nothing changes, and the operation's message says so.
    """
    requested = check_fraction("weight", weight)
    p = memory.profile.plasticity
    clamped = min(max(requested, p.low), p.high)
    with memory.writing() as now:
        a, b = memory.find(source, now), memory.find(target, now)
        between = [
            row
            for row in memory.store.links(memory.namespace, [a.id])
            if {row.source, row.target} == {a.id, b.id} and relation in (None, row.relation)
        ]
        if not between and relation is not None:
            raise NotFound(
                f"there is no link {relation!r} between {a.key!r} and {b.key!r}: make it with link"
            )
        changes = [RowChange(row, replace(row, weight=clamped)) for row in between if row.weight != clamped]
        moves = [WeightMove(row.weight, clamped, p.low, p.high) for row in between]
        message = set_text(moves, requested)
        return memory.to_operation(memory.write("set-strength", now, changes, source=MANUAL, message=message))


ORDERS = ("weight", "changed", "learned")
"""The orders of links other than by name."""


def links(
    memory: Namespace,
    key: str | None = None,
    *,
    relation: str | None = None,
    by: str | None = None,
    limit: int | None = None,
    known_at: datetime | None = None,
) -> list[Link]:
    """The links of a memory in both directions, or all links of the namespace.

    Args:
        key: the key of a memory; None: all links.
        relation: only links of this relation.
        by: ``weight``, the strongest first; ``changed``, those that were made or strengthened last first;
            ``learned``, only those that use strengthened, the strongest first; None: by source, relation, target.
        limit: the maximum number of links.
        known_at: the links as they were at that time, changes recorded at that very instant included.

    Raises:
        NotFound: no such memory.
        ParamError: an argument outside its range.

    """
    order = None if by is None else check_choice("by", by, ORDERS)
    most = None if limit is None else check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.lock:
        rows = _read_links(memory, key, relation, known_at)
    return _ordered(rows, order)[:most]


def _ordered(rows: list[Link], order: str | None) -> list[Link]:
    """Links in an order; equal ones stay in that of their names."""
    if order == "changed":
        return sorted(rows, key=lambda row: row.last_activated or row.created_at, reverse=True)
    if order == "learned":
        rows = [row for row in rows if row.last_activated is not None]
    return rows if order is None else sorted(rows, key=lambda row: -row.weight)


def _read_links(
    memory: Namespace, key: str | None, relation: str | None, known_at: datetime | None
) -> list[Link]:
    memory.require_exists()
    at = None if known_at is None else check_time("known_at", known_at)
    ids = None if key is None else [memory.find(key).id]
    relation = check_name("relation", relation)
    if at is None:
        return list(memory.to_links(memory.store.links(memory.namespace, ids, relation)))
    then = past(memory, at)
    rows = [
        row
        for row in then.links
        if relation in (None, row.relation) and (ids is None or not {row.source, row.target}.isdisjoint(ids))
    ]
    return [
        replace(
            link,
            source=then.gone.get(link.source, link.source),
            target=then.gone.get(link.target, link.target),
        )
        for link in memory.to_links(rows)
    ]


SIMILAR = "similar-to"
_BLOCK = 64
_LISTED = 10
"""Number of links up to which the message of their operation names each."""

Neighbours = list[tuple[str, float]]
"""Ids of memories, each with its cosine."""


@dataclass
class NearestLinker:
    """Links the memories of one ``remember`` call to their nearest: stored ones, and others of the same call."""

    store: Store
    working: WorkingSet
    now: datetime
    params: LinkParams
    step: float = PLASTICITY.increment
    """What an existing link gains when its memory is remembered again."""
    _new_ids: list[str] = field(default_factory=list)
    _new_vectors: VectorColumn | None = None
    _changes: dict[tuple[str, str], RowChange] = field(default_factory=dict)
    """The changes of links in this call, by the ends of the links."""

    def find_nearest(self, vectors: Vectors) -> list[Neighbours]:
        """For each vector, the nearest stored memories at or above the bar, and one more, which may be itself."""
        living = self.working.living.values
        nearest = []
        for first in range(0, len(vectors), _BLOCK):
            cosines = self.working.vectors.dot(vectors[first : first + _BLOCK].T)
            for cosine in cosines.T:
                close = np.flatnonzero((cosine >= self.params.similarity) & living)
                order = close[np.argsort(-cosine[close], kind="stable")][: self.params.nearest + 1]
                nearest.append([(self.working.ids[self.working.row[i]], float(cosine[i])) for i in order])
        return nearest

    def link_to_nearest(
        self, memory_id: str, vector: NDArray[np.float32], stored: Neighbours
    ) -> Iterator[LinkRow]:
        """The links of a new memory to its nearest; the weight of each starts at the cosine."""
        for other, cosine in self._nearest(memory_id, vector, stored):
            link = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            if self.params.strengthen:
                self._changes[memory_id, other] = RowChange(None, link)
            yield link

    def add_new(self, memory_id: str, vector: NDArray[np.float32]) -> None:
        """Make a new memory a possible neighbour of those that follow in the same call."""
        if vector.any():
            self._new_ids.append(memory_id)
            if self._new_vectors is None:
                self._new_vectors = VectorColumn(len(vector))
            self._new_vectors.append(vector)

    def strengthen_nearest(
        self, memory_id: str, vector: NDArray[np.float32], stored: Neighbours
    ) -> list[RowChange]:
        """The changes for a memory that is remembered again: existing links grow by a step, others are created."""
        changes = []
        for other, cosine in self._nearest(memory_id, vector, stored):
            before = self._link_between(memory_id, other)
            if before is None:
                after = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            else:
                after = replace(before, weight=float(increment(before.weight, self.step)))
            if after != before:
                changes.append(self._record_change(before, after))
        return changes

    def _nearest(self, memory_id: str, vector: NDArray[np.float32], stored: Neighbours) -> Neighbours:
        """The nearest among the stored neighbours and the new memories; a text without a vector has none."""
        if not vector.any():
            return []
        neighbours = stored
        if self._new_vectors is not None:
            cosines = self._new_vectors.dot(vector)
            close = np.flatnonzero(cosines >= self.params.similarity)
            neighbours = stored + [(self._new_ids[i], float(cosines[i])) for i in close]
        others = [pair for pair in neighbours if pair[0] != memory_id]
        return sorted(others, key=lambda pair: -pair[1])[: self.params.nearest]

    def _link_between(self, a: str, b: str) -> LinkRow | None:
        """The link between two memories, stored or planned, in either direction."""
        for source, target in ((a, b), (b, a)):
            change = self._changes.get((source, target))
            link = (
                self.store.present(self.working.namespace, LinkRow(source, target, SIMILAR, 0.0, self.now))
                if change is None
                else change.after
            )
            if isinstance(link, LinkRow):
                return link
        return None

    def _record_change(self, before: LinkRow | None, after: LinkRow) -> RowChange:
        """One change from what is stored, however often this call has moved the link."""
        ends = after.source, after.target
        stored = self._changes[ends].before if ends in self._changes else before
        self._changes[ends] = RowChange(stored, after)
        return self._changes[ends]
