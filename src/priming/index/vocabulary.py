"""The words of a namespace that count as a word of a cue in part: compounds, and words near in meaning by vectors.

In the languages that join words, "Frist" is a part of "Kündigungsfrist".
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints, distinct, unit_rows
from priming.embedding.protocol import Embedder, word_part
from priming.index.columns import Column, Ragged, VectorColumn
from priming.text.tokens import terms

COMPOUNDING: Final = frozenset(("danish", "dutch", "finnish", "german", "hungarian", "norwegian", "swedish"))
"""The languages whose compounds are one word."""
_LAST, _FIRST = 0.7, 0.35
"""What the last part of a compound tells of it at the most, as it says what the thing is; and what the first does."""
_PART = 4
"""The fewest letters of a part: shorter ones are in too many words."""
_REST = 3
"""The fewest letters of what is left of the compound."""


class Compounds:
    """The terms of a lexicon by the beginnings and ends of their spellings, read when they are needed.

    A term is its stem, and the word that it stands for: "Prüfung" and "Führerscheinprüfung" have unlike stems. Stems
    are compared by their ends alone: "Karten" and "Kartoffeln" begin with the same.
    """

    def __init__(self) -> None:
        self._codes: dict[str, list[int]] = {}
        self._words: list[str] = []
        self._backward: list[str] = []
        self._size = 0

    def same(self, term: str, language: str, words: Sequence[str], stems: Iterable[str]) -> list[int]:
        """Return the terms of words that, read in a language, are a term: other texts may have been read in another.

        Examples
        --------
        >>> words, stems = ["gatto", "gatti", "gas"], ["gatt", "gatti", "gas"]
        >>> Compounds().same("gatt", "italian", words, stems)
        [1, 0]
        """
        self._grow(words, stems)
        start = term[: max(_REST, len(term) - 2)]
        first, last = (bisect_left(self._words, bound) for bound in (start, start + chr(sys.maxunicode)))
        alike = (word for word in self._words[first:last] if terms(word, language) == [term])
        return list(dict.fromkeys(code for word in alike for code in self._codes[word]))

    def related(self, word: str, stem: str, words: Sequence[str], stems: Iterable[str]) -> dict[int, float]:
        """Return the terms that begin or end in a word, or that it begins or ends in, and how much each counts as it.

        A part counts √(its letters / all letters), times .7 if it is the last and .35 if it is the first.

        Parameters
        ----------
        word, stem : a word of a cue in lower case, and its term.
        words, stems : the words of the lexicon by code, and their stems; they only grow.

        Returns
        -------
        By code the share of the word, in (0, 1].

        Examples
        --------
        >>> words = ["schlüssel", "haustürschlüssel", "haus", "mond"]
        >>> related = Compounds().related("schlüssel", "schlussel", words, words)
        >>> {words[code]: round(share, 3) for code, share in related.items()}
        {'haustürschlüssel': 0.525}
        """
        self._grow(words, stems)
        if len(self._backward) < len(self._codes):
            self._backward = sorted(spelling[::-1] for spelling in self._codes)
        shares: dict[int, float] = {}
        for part, whole, other in self._pairs(word, stem):
            share = (_LAST if whole.endswith(part) else _FIRST) * math.sqrt(len(part) / len(whole))
            for code in self._codes[other]:
                shares[code] = max(shares.get(code, 0.0), share)
        return shares

    def _grow(self, words: Sequence[str], stems: Iterable[str]) -> None:
        if self._size < len(words):
            fresh = zip(words[self._size :], islice(stems, self._size, None), strict=True)
            for code, spellings in enumerate(fresh, self._size):
                for spelling in dict.fromkeys(spellings):
                    self._codes.setdefault(spelling, []).append(code)
            self._words += words[self._size :]
            self._words.sort()
            self._size = len(words)

    def _pairs(self, word: str, stem: str) -> Iterator[tuple[str, str, str]]:
        """Yield a part, its compound, and which of the two is in the lexicon."""
        for whole in _beginning(self._words, word):
            yield word, whole, whole
        for spelling in {word, stem}:
            for backward in _beginning(self._backward, spelling[::-1]):
                yield spelling, backward[::-1], backward[::-1]
        for size in range(_PART, len(word) - _REST + 1):
            for part in (word[:size], word[-size:]):
                if part in self._codes:
                    yield part, word, part


def _beginning(ordered: Sequence[str], start: str) -> Iterator[str]:
    """Yield those of some words in order that begin with one, and are longer by a part."""
    if len(start) < _PART:
        return
    for at in range(bisect_left(ordered, start), len(ordered)):
        if not ordered[at].startswith(start):
            break
        if len(ordered[at]) >= len(start) + _REST:
            yield ordered[at]


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
        """Return the waiting documents, and their cosines with a text; both empty without vectors of words."""
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
        """Return the vectors of ``words``, all words of the namespace by code; empty if the embedder has none."""
        if self._embedder is not None and len(self._vectors) < len(words):
            self._vectors.extend(self._embedder.words(words[len(self._vectors) :]))
        return self._vectors

    def near(
        self, queries: Mapping[str, int | None], words: Sequence[str], floor: float, most: int
    ) -> Mapping[str, Neighbours]:
        """Map each query word to at most ``most`` of ``words`` with a cosine above ``floor``.

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
        """Return the vectors of query words; those of words of the namespace are already stored."""
        assert self._embedder is not None, "words are compared only if they have vectors"
        stored = self.vectors(words)
        codes = {query: code for query, code in queries.items() if code is not None and words[code] == query}
        new = [query for query in queries if query not in codes]
        embedded = dict(zip(new, self._embedder.words(new), strict=True)) if new else {}
        return np.stack([embedded[query] if query in embedded else stored[codes[query]] for query in queries])

    def _head_cosines(
        self, queries: NDArray[np.float32], words: Sequence[str], since: int
    ) -> NDArray[np.float32]:
        """Return the cosines of the leading dimensions of queries and of words from ``since`` on, a row a query."""
        seen = len(self._heads)
        if seen < len(words):
            fresh = self.vectors(words).take(np.arange(seen, len(words)))
            self._heads.extend(unit_rows(fresh[:, :_HEAD]))
        return np.stack([self._heads.dot(query, since) for query in unit_rows(queries[:, :_HEAD])])

    def _nearest(
        self,
        cached: Neighbours | None,
        query: NDArray[np.float32],
        codes: Ints,
        floor: float,
        most: int,
        size: int,
    ) -> Neighbours:
        """Return the nearest of cached neighbours and of the later words among ``codes``, which ascend."""
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
