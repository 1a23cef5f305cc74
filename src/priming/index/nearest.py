"""The vectors of a namespace: the nearest of texts and of passages, and how far vectors tell what words tell.

Of many, those with like signs come first, then exact cosines. A model knows some languages, and not others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from priming.core.arguments.arrays import Floats, Ints, TextVectors, distinct
from priming.core.lexical import evidence_idf
from priming.embedding.protocol import Vectors
from priming.index.columns import Column, VectorColumn
from priming.index.lexicon import Lexicon
from priming.index.vocabulary import EXACT

EXACT_BELOW = 20_000
"""Up to so many vectors, all are compared with the query; of more, only those with the most like signs."""
_SHORTLIST = 64
"""How many vectors are compared with the query for each that is returned."""
_EACH = 4
"""How many passages are looked for per document, since several may be of one."""
_BLOCK = 4096
"""How many vectors are turned into signs at once."""


class NearestIndex:
    """Finds the nearest of a column of vectors.

    Each vector has one bit a dimension: whether it is above the mean of the column there. The vectors whose bits
    differ least from those of the query are the shortlist (Charikar, 2002, with the axes as directions; the mean is
    taken out since vectors of many models share a large part). New rows get their bits at the next search.
    """

    __slots__ = ("_mean", "_signs", "_size", "vectors")

    def __init__(
        self,
        vectors: VectorColumn,
        mean: NDArray[np.float32] | None = None,
        signs: NDArray[np.uint64] | None = None,
    ) -> None:
        self.vectors = vectors
        self._mean = mean
        words = -(-vectors.dimension // 64)
        self._signs = np.zeros((words, 0), np.uint64) if signs is None else signs
        self._size = self._signs.shape[1]

    def nearest(
        self,
        query: NDArray[np.float32],
        count: int,
        pool: NDArray[np.bool_] | None = None,
        ranks: Ints | None = None,
    ) -> tuple[Ints, Floats]:
        """Return the ``count`` nearest rows, and their exact cosines, rounded.

        ``pool`` selects the rows that may be returned. Of equals the one of lower rank is first, else the earlier. A
        query of zeros has none near.
        """
        if count < 1 or not np.any(query):
            return np.zeros(0, np.int64), np.zeros(0)
        most = _SHORTLIST * count
        if len(self.vectors) > EXACT_BELOW and (pool is None or np.count_nonzero(pool) > most):
            rows = self._shortlist(query, most, pool)
        else:
            rows = np.arange(len(self.vectors)) if pool is None else np.flatnonzero(pool)
        rows = self._foremost(query, rows, count)
        cosines = np.round(self.vectors.exact(query, rows), EXACT)
        order = np.lexsort((rows if ranks is None else ranks[rows], -cosines))[:count]
        return rows[order], cosines[order]

    def packed(self) -> tuple[NDArray[np.float32], NDArray[np.uint64]] | tuple[()]:
        """Return the mean and every row's signs; nothing of a column that is searched whole, or without a vector."""
        if len(self.vectors) <= EXACT_BELOW:
            return ()
        mean, signs = self._signed()
        return (mean, signs) if mean.any() else ()

    def _shortlist(self, query: NDArray[np.float32], most: int, pool: NDArray[np.bool_] | None) -> Ints:
        """Return the ``most`` rows of the pool whose signs differ least from those of the query, ties included."""
        mean, signs = self._signed()
        differing = np.bitwise_count(signs ^ _bits(query[np.newaxis], mean))
        distance = differing.sum(axis=0, dtype=np.uint16)
        if pool is not None:
            distance[~pool] = np.iinfo(np.uint16).max
        return np.flatnonzero(distance <= np.partition(distance, most - 1)[most - 1])

    def _foremost(self, query: NDArray[np.float32], rows: Ints, count: int) -> Ints:
        """Return the ``count`` nearest of ``rows`` by single-precision products, and all that may equal the last."""
        if len(rows) <= count:
            return rows
        few = 4 * len(rows) < len(self.vectors)
        products = np.vecdot(self.vectors.take(rows), query) if few else self.vectors.dot(query)[rows]
        error = self.vectors.dimension * float(np.finfo(np.float32).eps) + 10.0**-EXACT
        last = np.partition(products, len(rows) - count)[len(rows) - count]
        foremost: Ints = rows[products >= last - error]
        return foremost

    def _signed(self) -> tuple[NDArray[np.float32], NDArray[np.uint64]]:
        """Return the mean, and the signs of every row, a column each."""
        size = len(self.vectors)
        if self._mean is None:
            self._mean = self._sampled_mean()
        if size > self._signs.shape[1]:
            grown = np.zeros((len(self._signs), size + size // 8), np.uint64)
            grown[:, : self._size] = self._signs[:, : self._size]
            self._signs = grown
        for first in range(self._size, size, _BLOCK):
            last = min(first + _BLOCK, size)
            self._signs[:, first:last] = _bits(self.vectors.take(np.arange(first, last)), self._mean)
        self._size = size
        return self._mean, self._signs[:, :size]

    def _sampled_mean(self) -> NDArray[np.float32]:
        """Return the mean of a regular sample of the vectors; the rows without a vector do not count."""
        size = len(self.vectors)
        sample = self.vectors.take(np.arange(0, size, max(1, size // EXACT_BELOW)))
        mean: NDArray[np.float32] = sample.sum(axis=0) / max(1, np.count_nonzero(sample.any(axis=1)))
        return mean


def _bits(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Tell which numbers of each vector are above the mean, 64 in a word: a column a vector."""
    packed = np.packbits(vectors > mean, axis=1)
    bits = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
    bits[:, : packed.shape[1]] = packed
    return bits.view(np.uint64).T


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
        owners, first, count = np.unique(self._owner.values, return_index=True, return_counts=True)
        spans = zip(first.tolist(), (first + count).tolist(), strict=True)
        self._rows: dict[int, tuple[int, int]] = dict(zip(owners.tolist(), spans, strict=True))
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
        """Return the vectors of a document's passages, and where each ends."""
        if document not in self._rows:
            return np.zeros((0, self._vectors.dimension), np.float32), ()
        first, last = self._rows[document]
        return self._vectors.take(np.arange(first, last)), tuple(self._ends[first:last].tolist())

    def best(self, vector: NDArray[np.float32], documents: Ints | None = None) -> tuple[Ints, Floats]:
        """Return which of the documents (None: of all) have passages, and the best cosine of each with a unit vector.

        What is returned of ``documents`` are their places.
        """
        listed = range(max(self._rows, default=-1) + 1) if documents is None else documents.tolist()
        present = [(at, self._rows[number]) for at, number in enumerate(listed) if number in self._rows]
        if not present:
            return np.zeros(0, np.int64), np.zeros(0)
        rows = np.concatenate([np.arange(*span) for _, span in present])
        starts = np.cumsum([0, *(last - first for _, (first, last) in present[:-1])])
        cosines = np.round(self._vectors.exact(vector, rows), EXACT)
        return np.array([at for at, _ in present], np.int64), np.maximum.reduceat(cosines, starts)

    def nearest(
        self, vector: NDArray[np.float32], count: int, pool: NDArray[np.bool_], ranks: Ints | None = None
    ) -> Ints:
        """Return at most ``count`` documents of the pool whose passages are nearest to a unit vector, nearest first.

        Of equals the document of lower rank is first.
        """
        if not self._rows:
            return np.zeros(0, np.int64)
        owner = self._owner.values
        ranks = None if ranks is None else ranks[owner]
        near, _ = self._nearest.nearest(vector, _EACH * count, pool[owner], ranks)
        owners = dict.fromkeys(owner[near].tolist())
        return np.array(list(owners)[:count], np.int64)

    def packed(self) -> tuple[NDArray[np.float32], Ints, Ints]:
        """Return the vectors, ends and documents, of which the column can be made anew."""
        return self._vectors.packed(), self._ends.values, self._owner.values


SAMPLE = 100
"""Memories of which each two are compared."""
_ENGLISH, _ELSEWHERE, _PSEUDO = 0.4, 0.2, 400.0
"""The correlation that is expected in English and elsewhere, and the number of pairs that this counts for."""
_NONE, _SPAN = 0.1, 0.25
"""The correlation at which vectors tell nothing, and how far above it they tell all that they can."""


def evenly(rows: Ints, count: int) -> Ints:
    """Return at most ``count`` of some rows, evenly spaced: the same ones until rows are added.

    >>> evenly(np.arange(10), 4).tolist()
    [0, 2, 5, 7]
    """
    count = min(count, len(rows))
    return rows[np.arange(count) * len(rows) // max(1, count)]


def trust_in(vectors: VectorColumn, lexicon: Lexicon, sample: Ints, *, english: bool) -> float:
    """Return how far the vectors of a sample of memories tell what its words tell, in [0, 1]; see ``trust``."""
    rarity = np.asarray(evidence_idf(lexicon.df.values, lexicon.documents), np.float64)
    terms = [lexicon.body(document) for document in sample.tolist()]
    return trust(vectors.take(sample), terms, rarity, english=english and _in_ascii(terms, lexicon.words))


def trust(vectors: Vectors, terms: Sequence[Ints], rarity: Floats, *, english: bool) -> float:
    """Return how far cosines tell what words tell, in [0, 1].

    It is the correlation, over pairs of memories that share a word, of the Jaccard index of their words, weighted by
    rarity, with their cosine, both as each of the two sees them beside its own with the others: what all memories of
    one pattern share is neither near nor alike.

    Parameters
    ----------
    vectors : unit rows, one a memory.
    terms : the distinct terms of each memory's text.
    rarity : what each term tells.
    english : whether most texts are in the language that every model knows: what is expected of few pairs.
    """
    expected = _ENGLISH if english else _ELSEWHERE
    if not len(terms):
        return _share(expected)
    count, used = len(terms), distinct(np.concatenate([*terms, np.zeros(0, np.int64)]))
    holds = np.zeros((count, len(used)))
    for row, own in enumerate(terms):
        holds[row, np.searchsorted(used, own)] = 1.0
    shared = (holds * rarity[used.astype(np.int64)]) @ holds.T
    either = np.add.outer(shared.diagonal(), shared.diagonal()) - shared
    pairs = (shared > 0.0) & ~np.eye(count, dtype=np.bool_)
    alike = _beside_others(shared / np.where(either > 0.0, either, 1.0))[pairs]
    near = _beside_others(vectors.astype(np.float64) @ vectors.T)[pairs]
    number = len(alike) / 2.0
    varies = number > 1 and np.ptp(alike) > 0.0 and np.ptp(near) > 0.0
    measured = float(np.corrcoef(alike, near)[0, 1]) if varies else expected
    return _share((measured * number + expected * _PSEUDO) / (number + _PSEUDO))


def _in_ascii(terms: Sequence[Ints], words: Sequence[str]) -> bool:
    """Tell whether most words of some texts are in ASCII: a language without known small words counts as none."""
    in_ascii = [words[int(code)].isascii() for own in terms for code in own]
    return sum(in_ascii) >= len(in_ascii) / 2


def _beside_others(values: Floats) -> Floats:
    """Return how many deviations each value is above the mean of its row; of equals exactly as many."""
    spread = values.std(axis=1, keepdims=True)
    beside = (values - values.mean(axis=1, keepdims=True)) / np.where(spread > 0.0, spread, 1.0)
    return np.asarray(np.round(beside, EXACT), np.float64)


def _share(correlation: float) -> float:
    """Return how far a correlation is from where vectors tell nothing to where they tell all that they can."""
    return float(np.clip((correlation - _NONE) / _SPAN, 0.0, 1.0))
