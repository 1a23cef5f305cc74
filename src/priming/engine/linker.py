"""The linker: who is alike when a memory is told, and the ``similar-to`` links that follow from it (Ethos)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.params.learning import LinkParams
from priming.core.plasticity import increment
from priming.embed.protocol import Vectors
from priming.index.columns import VectorColumn as Grown
from priming.index.working_set import WorkingSet
from priming.store.protocol import Store
from priming.store.rows import LinkRow, RowChange

SIMILAR = "similar-to"
_BLOCK = 64

Near = list[tuple[str, float]]
"""Memories and their cosines."""


@dataclass
class Linker:
    """Links to the nearest, for one call that remembers: memories of the same call are near each other too."""

    store: Store
    working: WorkingSet
    now: datetime
    params: LinkParams
    _fresh: list[str] = field(default_factory=list)
    _vectors: Grown | None = None
    _known: dict[tuple[str, str], RowChange] = field(default_factory=dict)
    """What became of links in this call, by their ends."""

    def nearest(self, vectors: Vectors) -> list[Near]:
        """For each vector, the nearest stored memories at or above the bar; one more, which may be itself."""
        living = self.working.living.values
        found = []
        for first in range(0, len(vectors), _BLOCK):
            cosines = self.working.vectors.dot(vectors[first : first + _BLOCK].T)
            for cosine in cosines.T:
                close = np.flatnonzero((cosine >= self.params.similarity) & living)
                order = close[np.argsort(-cosine[close], kind="stable")][: self.params.nearest + 1]
                found.append([(self.working.ids[self.working.row[i]], float(cosine[i])) for i in order])
        return found

    def link(self, memory_id: str, vector: NDArray[np.float32], near: Near) -> Iterator[LinkRow]:
        """The links of a new memory to its nearest; each starts at their cosine."""
        for other, cosine in self._chosen(memory_id, vector, near):
            made = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            if self.params.strengthen:
                self._known[memory_id, other] = RowChange(None, made)
            yield made

    def remember(self, memory_id: str, vector: NDArray[np.float32]) -> None:
        """Let a new memory be near to those that follow in the same call."""
        if vector.any():
            self._fresh.append(memory_id)
            if self._vectors is None:
                self._vectors = Grown(len(vector))
            self._vectors.append(vector)

    def again(self, memory_id: str, vector: NDArray[np.float32], near: Near) -> list[RowChange]:
        """What a memory that is told again changes: links that are there grow by a step, others are made."""
        changes = []
        for other, cosine in self._chosen(memory_id, vector, near):
            before = self._between(memory_id, other)
            if before is None:
                made = LinkRow(memory_id, other, SIMILAR, min(1.0, cosine), self.now)
            else:
                made = replace(before, weight=float(increment(before.weight)))
            if made != before:
                changes.append(self._changed(before, made))
        return changes

    def _chosen(self, memory_id: str, vector: NDArray[np.float32], near: Near) -> Near:
        """The nearest other memories, the stored ones and those of this call; a text without words is like none."""
        if not vector.any():
            return []
        if self._vectors is not None:
            found = self._vectors.dot(vector)
            close = np.flatnonzero(found >= self.params.similarity)
            near = near + [(self._fresh[i], float(found[i])) for i in close]
        others = [pair for pair in near if pair[0] != memory_id]
        return sorted(others, key=lambda pair: -pair[1])[: self.params.nearest]

    def _between(self, one: str, other: str) -> LinkRow | None:
        """The link of two memories, in whichever direction it is stored."""
        for source, target in ((one, other), (other, one)):
            change = self._known.get((source, target))
            found = (
                self.store.present(self.working.namespace, LinkRow(source, target, SIMILAR, 0.0, self.now))
                if change is None
                else change.after
            )
            if isinstance(found, LinkRow):
                return found
        return None

    def _changed(self, before: LinkRow | None, after: LinkRow) -> RowChange:
        """One change of a link from what is stored, however often this call has moved it."""
        ends = after.source, after.target
        first = self._known[ends].before if ends in self._known else before
        self._known[ends] = RowChange(first, after)
        return self._known[ends]
