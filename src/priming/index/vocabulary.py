"""Vectors of the words of a namespace: which words are near in meaning to a word of a cue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints, distinct
from priming.embedding.protocol import Embedder, word_part
from priming.index.columns import Column, Ragged, VectorColumn

EXACT = 6
"""Decimals to which cosines are rounded, so that like texts tie."""
_CACHED_WORDS = 4096
"""How many words' neighbours are cached."""
_HEAD = 64
"""How many leading dimensions select the words whose whole vectors are compared.

Leading dimensions hold most of what a vector says, as embedders are trained to be truncated. What that saves, and
what it misses, is measured by ``benchmarks/near.py``.
"""
_POOLED = 1_000
"""How many documents are pooled at once."""
_SLACK = 0.05
"""How far below the floor the cosine of the leading dimensions may be for a word to be selected."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The words nearest to a word, nearest first, among the first ``size`` words of the namespace."""

    codes: Ints
    cosines: Floats
    size: int


class WaitingVectors:
    """The vectors of the words of documents that wait for their own, made on first use."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = word_part(embedder)
        self._vectors = VectorColumn((self._embedder or embedder).dimension)
        self._documents = Column(np.int64)

    def cosines(self, text: str, waiting: Ints, tokens: Ragged) -> tuple[Ints, Floats]:
        """The waiting documents, and their cosines with a text; both empty without vectors of words."""
        part, pooled = self._embedder, self._documents.values
        if part is None or not len(waiting):
            return waiting[:0], np.zeros(0)
        # A document never begins to wait: those that wait now were pooled, or were added since.
        fresh = waiting[np.searchsorted(waiting, pooled[-1], "right") if len(pooled) else 0 :]
        for first in range(0, len(fresh), _POOLED):
            documents = fresh[first : first + _POOLED].tolist()
            self._documents.extend(documents)
            self._vectors.extend(part.pool_each([tokens[document] for document in documents]))
        (query,) = part.pool_each([distinct(ids) for ids in part.tokens([text])])
        cosines = self._vectors.dot(query).astype(np.float64)
        return waiting, cosines[np.searchsorted(self._documents.values, waiting)]


class Vocabulary:
    """A vector for each term of a lexicon: that of the word the term was first seen as, made on first use.

    Neighbours are cached: of later words, only new ones are compared.
    """

    def __init__(self, embedder: Embedder, vectors: NDArray[np.float32] | None = None) -> None:
        self._embedder = word_part(embedder)
        dimension = (self._embedder or embedder).dimension
        self._vectors = VectorColumn(dimension, vectors)
        self._heads = VectorColumn(min(_HEAD, dimension))
        self._cached: dict[tuple[str, float, int], Neighbours] = {}

    @property
    def embeds_words(self) -> bool:
        """Whether the embedder has vectors of single words."""
        return self._embedder is not None

    def vectors(self, words: Sequence[str]) -> VectorColumn:
        """The vectors of ``words``, all words of the namespace by code; empty if the embedder has none."""
        if self._embedder is not None and len(self._vectors) < len(words):
            self._vectors.extend(self._embedder.words(words[len(self._vectors) :]))
        return self._vectors

    def near(
        self, queries: Mapping[str, int | None], words: Sequence[str], floor: float, most: int
    ) -> Mapping[str, Neighbours]:
        """For each query word, at most ``most`` of ``words`` with a cosine above ``floor``.

        A query word may come with the code of its term. A word counts as near only if its leading dimensions are.
        """
        if self._embedder is None or not queries:
            return {}
        neighbours = {query: self._cached.get((query, floor, most)) for query in queries}
        stale = [query for query, cached in neighbours.items() if cached is None or cached.size < len(words)]
        if stale:
            if len(self._cached) + len(stale) > _CACHED_WORDS:
                self._cached.clear()
            since = min(cached.size if (cached := neighbours[query]) else 0 for query in stale)
            vectors = self._query_vectors({query: queries[query] for query in stale}, words)
            cosines = self._head_cosines(vectors, words, since)
            for query, vector, row in zip(stale, vectors, cosines, strict=True):
                codes = np.flatnonzero(row > floor - _SLACK) + since
                nearest = self._nearest(neighbours[query], vector, codes, floor, most, len(words))
                neighbours[query] = self._cached[query, floor, most] = nearest
        return {query: nearest for query, nearest in neighbours.items() if nearest is not None}

    def _query_vectors(self, queries: Mapping[str, int | None], words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of query words; those of words of the namespace are already stored."""
        assert self._embedder is not None, "words are compared only if they have vectors"
        stored = self.vectors(words)
        codes = {query: code for query, code in queries.items() if code is not None and words[code] == query}
        new = [query for query in queries if query not in codes]
        embedded = dict(zip(new, self._embedder.words(new), strict=True)) if new else {}
        return np.stack([embedded[query] if query in embedded else stored[codes[query]] for query in queries])

    def _head_cosines(
        self, queries: NDArray[np.float32], words: Sequence[str], since: int
    ) -> NDArray[np.float32]:
        """The cosines of the leading dimensions of queries and of the words from ``since`` on, a row a query."""
        seen = len(self._heads)
        if seen < len(words):
            self._heads.extend(_heads(self.vectors(words).take(np.arange(seen, len(words)))))
        return np.stack([self._heads.dot(query, since) for query in _heads(queries)])

    def _nearest(
        self,
        cached: Neighbours | None,
        query: NDArray[np.float32],
        codes: Ints,
        floor: float,
        most: int,
        size: int,
    ) -> Neighbours:
        """The nearest of cached neighbours and of the later words among ``codes``, which ascend."""
        codes = codes[np.searchsorted(codes, cached.size) :] if cached else codes
        # Each row by itself: a matrix product may sum a row differently beside other rows.
        products = np.einsum("ij,j->i", self._vectors.take(codes), query).astype(np.float64)
        codes, products = codes[products > floor], products[products > floor]
        cosines: Floats = np.round(products, EXACT)
        if cached is not None:
            codes = np.concatenate([cached.codes, codes])
            cosines = np.concatenate([cached.cosines, cosines])
        order = np.lexsort((codes, -cosines))[:most]
        return Neighbours(codes[order], cosines[order], size)


def _heads(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The leading dimensions of unit vectors, scaled to length 1."""
    heads = vectors[:, :_HEAD]
    length = np.linalg.norm(heads, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = np.divide(heads, length, out=np.zeros_like(heads), where=length > 0)
    return scaled
