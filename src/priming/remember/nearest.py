"""Links by similarity: those of a new memory to its nearest, and what they gain when it is remembered again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import PLASTICITY
from priming.config.params.recall import LinkParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import TextVectors
from priming.core.plasticity import increment
from priming.index.columns import VectorColumn
from priming.index.topology import SIMILAR
from priming.index.working_set import WorkingSet
from priming.storage.protocol import Store
from priming.storage.questions import present
from priming.storage.rows import LinkRow, RowChange

_BLOCK = 64

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

    def find_nearest(self, vectors: Sequence[TextVectors]) -> list[Neighbours]:
        """For each vector, the nearest stored memories at or above the bar, and one more, which may be itself."""
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
        """The links of a new memory to its nearest, of which those that follow in the same call have it too.

        The weight of each starts at the cosine. Without a vector, or where none are sought, there are none.
        """
        if vector is None or stored is None:
            return
        for other, cosine in self._nearest(memory_id, vector, stored):
            link = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            if self.params.strengthen:
                self._changes[memory_id, other] = RowChange(None, link)
            yield link
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
                present(self.store, self.working.namespace, LinkRow(source, target, SIMILAR, 0.0, self.now))
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


def similar_ends(change: RowChange) -> tuple[str, str] | None:
    """The ends of the ``similar-to`` link that a change writes; None for another row."""
    row = change.after
    return (row.source, row.target) if isinstance(row, LinkRow) and row.relation == SIMILAR else None
