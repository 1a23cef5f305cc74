"""The vectors of the passages of long texts, beside those of whole texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priming.core.arguments.arrays import Floats, Ints
from priming.core.arguments.vectors import TextVectors
from priming.index.columns import Column, VectorColumn
from priming.index.nearest import NearestIndex
from priming.index.vocabulary import EXACT

_EACH = 4
"""How many passages are looked for per document, since several may be of one."""


class PassageColumn:
    """The vectors of the passages of each document, side by side, and where each ends; only long texts have any."""

    __slots__ = ("_ends", "_nearest", "_owner", "_rows", "_vectors")

    def __init__(
        self,
        dimension: int,
        vectors: NDArray[np.float32] | None = None,
        ends: Ints | tuple[()] = (),
        owner: Ints | tuple[()] = (),
    ) -> None:
        self._vectors = VectorColumn(dimension, vectors)
        self._nearest = NearestIndex(self._vectors)
        self._ends = Column(np.int64, ends)
        self._owner = Column(np.int64, owner)
        """The document of each passage."""
        found, first, count = np.unique(self._owner.values, return_index=True, return_counts=True)
        spans = zip(first.tolist(), (first + count).tolist(), strict=True)
        self._rows: dict[int, tuple[int, int]] = dict(zip(found.tolist(), spans, strict=True))
        """By document the first of its passages, and the one after its last."""

    def put(self, document: int, vectors: TextVectors) -> None:
        """Add the passages of a document that has none yet."""
        if vectors.ends:
            first = self._ends.size
            self._vectors.extend(vectors.passages)
            self._ends.extend(vectors.ends)
            self._owner.extend([document] * len(vectors.ends))
            self._rows[document] = first, self._ends.size

    def of(self, document: int) -> tuple[NDArray[np.float32], tuple[int, ...]]:
        """The vectors of a document's passages, and where each ends."""
        first, last = self._rows.get(document, (0, 0))
        return self._vectors.take(np.arange(first, last)), tuple(self._ends[first:last].tolist())

    def best(self, vector: NDArray[np.float32], documents: Ints | None = None) -> tuple[Ints, Floats]:
        """Which of the documents (None: of all) have passages, and the cosine of the best of each with a unit vector.

        What is returned of ``documents`` are their places.
        """
        listed = (
            range(0) if not self._rows else range(max(self._rows) + 1) if documents is None else documents
        )
        found = [
            (at, self._rows[number]) for at, number in enumerate(map(int, listed)) if number in self._rows
        ]
        if not found:
            return np.zeros(0, np.int64), np.zeros(0)
        rows = np.concatenate([np.arange(*span) for _, span in found])
        starts = np.cumsum([0, *(last - first for _, (first, last) in found[:-1])])
        cosines = np.round(self._vectors.exact(vector, rows), EXACT)
        return np.array([at for at, _ in found], np.int64), np.maximum.reduceat(cosines, starts)

    def nearest(self, vector: NDArray[np.float32], count: int, pool: NDArray[np.bool_]) -> Ints:
        """At most ``count`` documents of the pool whose passages are nearest to a unit vector, the nearest first."""
        if not self._rows:
            return np.zeros(0, np.int64)
        near, _ = self._nearest.nearest(vector, _EACH * count, pool[self._owner.values])
        owners = dict.fromkeys(self._owner.values[near].tolist())
        return np.array(list(owners)[:count], np.int64)

    def packed(self) -> tuple[NDArray[np.float32], Ints, Ints]:
        """Vectors, ends and documents, of which the column can be made anew."""
        return self._vectors.packed(), self._ends.values, self._owner.values
