"""The words of a namespace: which memories hold which terms, how often, and next to what.

Statistics are the namespace's own, and exact: they are what BM25 scores with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.lexical import bm25, idf
from priming.engine.columns import Column, Ints, Ragged

BREAK = -1
"""Stands between heading and body in a sequence: no pair reaches over it."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one term stands: rows ascending, and how often in each."""

    rows: Ints
    tf: Floats


class Lexicon:
    """An inverted index over growing rows: a base in one piece, and a tail of additions."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.df = Column(np.int64)
        self.sequences = Ragged()
        self.length = Column(np.float64)
        self.total_length = 0.0
        self.documents = 0
        self._start: Ints = np.zeros(1, np.int64)
        self._rows: NDArray[np.int32] = np.zeros(0, np.int32)
        self._tf: NDArray[np.int32] = np.zeros(0, np.int32)
        self._tail: dict[int, tuple[list[int], list[int]]] = {}

    @property
    def mean_length(self) -> float:
        """Mean number of terms of a document; 1 when there is none, so that nothing is divided by zero."""
        return self.total_length / self.documents if self.total_length else 1.0

    def append(self, heading: Sequence[str], body: Sequence[str]) -> None:
        """Add the next document."""
        row = len(self.sequences)
        sequence = [self._code(term) for term in heading]
        if heading:
            sequence.append(BREAK)
        sequence.extend(self._code(term) for term in body)
        self.sequences.append(sequence)
        length = len(heading) + len(body)
        self.length.append(length)
        self.documents += 1
        self.total_length += length
        for code, count in Counter(sequence).items():
            if code != BREAK:
                rows, counts = self._tail.setdefault(code, ([], []))
                rows.append(row)
                counts.append(count)
                self.df[code] += 1

    def remove(self, row: int) -> None:
        """Take a document out of the statistics; its postings stay and must be masked by the caller."""
        self.documents -= 1
        self.total_length -= float(self.length[row])
        codes = np.unique(self.sequences[row])
        self.df[codes[codes != BREAK]] -= 1

    def code(self, term: str) -> int | None:
        """The code of a term, None if no memory ever held it."""
        return self.terms.get(term)

    def _code(self, term: str) -> int:
        code = self.terms.setdefault(term, len(self.terms))
        self.df.reach(len(self.terms))
        return code

    def postings(self, code: int) -> Postings:
        """Where a term stands, dead rows included."""
        rows: NDArray[np.int64] = np.zeros(0, np.int64)
        tf: NDArray[np.float64] = np.zeros(0)
        if code < len(self._start) - 1:
            stretch = slice(self._start[code], self._start[code + 1])
            rows, tf = self._rows[stretch].astype(np.int64), self._tf[stretch].astype(np.float64)
        if code in self._tail:
            more, counts = self._tail[code]
            rows = np.concatenate([rows, np.array(more, np.int64)])
            tf = np.concatenate([tf, np.array(counts, np.float64)])
        return Postings(rows, tf)

    def score(self, codes: Sequence[int]) -> Floats:
        """BM25 of every row for the terms ``codes``; 0 where none of them stands."""
        scores = np.zeros(len(self.sequences))
        for code in codes:
            found = self.postings(code)
            lengths = self.length[found.rows]
            scores[found.rows] += bm25(found.tf, self.df[code], self.documents, lengths, self.mean_length)
        return scores

    def pair_score(self, codes: Sequence[int | None], alive: NDArray[np.bool_]) -> Floats:
        """For each pair of adjacent terms of a cue, its idf, summed over the pairs that stand in a row."""
        scores = np.zeros(len(self.sequences))
        pairs = [(a, b) for a, b in pairwise(codes) if a is not None and b is not None]
        for a, b in dict.fromkeys(pairs):
            both = np.intersect1d(self.postings(a).rows, self.postings(b).rows, assume_unique=True)
            rows = [row for row in both[alive[both]] if self._adjacent(int(row), a, b)]
            if rows:
                scores[rows] += float(idf(len(rows), self.documents))
        return scores

    def _adjacent(self, row: int, a: int, b: int) -> bool:
        sequence = self.sequences[row]
        return bool(np.any((sequence[:-1] == a) & (sequence[1:] == b)))

    def packed(self) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
        """All postings in one piece: offsets by term, rows, counts."""
        found = [self.postings(code) for code in range(len(self.terms))]
        start = np.concatenate([[0], np.cumsum([len(one.rows) for one in found], dtype=np.int64)])
        if not found:
            return start.astype(np.int64), self._rows, self._tf
        rows = np.concatenate([one.rows for one in found]).astype(np.int32)
        return start.astype(np.int64), rows, np.concatenate([one.tf for one in found]).astype(np.int32)

    def load(
        self,
        terms: Sequence[str],
        df: Ints,
        postings: tuple[Ints, NDArray[np.int32], NDArray[np.int32]],
        sequences: tuple[Ints, NDArray[np.int32]],
        length: Floats,
        totals: tuple[float, int],
    ) -> None:
        """Take the base from packed arrays, which may be read-only."""
        self.terms = {term: code for code, term in enumerate(terms)}
        self.df = Column(np.int64, df)
        self._start, self._rows, self._tf = postings
        self._tail = {}
        self.sequences = Ragged(*sequences)
        self.length = Column(np.float64, length)
        self.total_length, self.documents = totals
