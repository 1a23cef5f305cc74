"""The words of a namespace: which memories hold which terms, how often, and next to what.

Statistics are the namespace's own, and exact: they are what BM25 scores with.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.lexical import idf, length_norm, okapi
from priming.engine.columns import Column, Ints, Ragged

_REMEMBERED = 4096
"""Terms whose postings are kept as they were last asked for."""

BREAK = -1
"""Stands between heading and body in a sequence: no pair reaches over it."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one term stands: rows ascending, and how often in each."""

    rows: Ints
    tf: Floats


@dataclass(frozen=True, slots=True)
class Found:
    """Where some terms stand, one after the other: each occurrence with its term's position among them."""

    term: Ints
    rows: Ints
    tf: Floats
    count: int
    """How many terms were asked for."""

    def only(self, keep: NDArray[np.bool_]) -> Found:
        """Those that ``keep`` marks."""
        return Found(self.term[keep], self.rows[keep], self.tf[keep], self.count)


@dataclass(frozen=True, slots=True)
class Near:
    """A term of a cue as the namespace knows it: terms that stand for it, each in part, and how common it is."""

    codes: tuple[int, ...]
    shares: tuple[float, ...]
    df: float


class Lexicon:
    """An inverted index over growing rows: a base in one piece, and a tail of additions."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.words: list[str] = []
        self.df = Column(np.int64)
        self.sequences = Ragged()
        self.length = Column(np.float64)
        self.total_length = 0.0
        self.documents = 0
        self._start: Ints = np.zeros(1, np.int64)
        self._rows: NDArray[np.int32] = np.zeros(0, np.int32)
        self._tf: NDArray[np.int32] = np.zeros(0, np.int32)
        self._tail: dict[int, tuple[array[int], array[int]]] = {}
        self._lately: dict[int, Postings] = {}
        self._norms: Floats | None = None
        self._log_lengths: Floats | None = None

    @property
    def mean_length(self) -> float:
        """Mean number of terms of a document; 1 when there is none, so that nothing is divided by zero."""
        return self.total_length / self.documents if self.total_length else 1.0

    @property
    def norms(self) -> Floats:
        """What occurrences are saturated by in each document; counted anew when documents came or went."""
        if self._norms is None:
            self._norms = np.asarray(length_norm(self.length.values, self.mean_length))
        return self._norms

    @property
    def log_lengths(self) -> Floats:
        """ln(1 + terms) of each document; counted anew when documents came."""
        if self._log_lengths is None:
            self._log_lengths = np.log1p(self.length.values)
        return self._log_lengths

    def append(
        self, heading: Sequence[str], body: Sequence[str], words: Mapping[str, str] = MappingProxyType({})
    ) -> int:
        """Add the next document; ``words`` says by which word a term stands in it.

        Returns how many of its terms no document held that is there.
        """
        row = len(self.sequences)
        sequence = [self._code(term, words) for term in heading]
        if heading:
            sequence.append(BREAK)
        sequence.extend(self._code(term, words) for term in body)
        self.sequences.append(sequence)
        length = len(heading) + len(body)
        self.length.append(length)
        self._norms = self._log_lengths = None
        self.documents += 1
        self.total_length += length
        fresh = 0
        for code, count in Counter(sequence).items():
            if code != BREAK:
                fresh += int(self.df[code] == 0)
                rows, counts = self._tail.setdefault(code, (array("i"), array("i")))
                self._lately.pop(code, None)
                rows.append(row)
                counts.append(count)
                self.df[code] += 1
        return fresh

    def remove(self, row: int) -> None:
        """Take a document out of the statistics; its postings stay and must be masked by the caller."""
        self.documents -= 1
        self._norms = None
        self.total_length -= float(self.length[row])
        codes = np.unique(self.sequences[row])
        self.df[codes[codes != BREAK]] -= 1

    def code(self, term: str) -> int | None:
        """The code of a term, None if no memory ever held it."""
        return self.terms.get(term)

    def _code(self, term: str, words: Mapping[str, str]) -> int:
        code = self.terms.setdefault(term, len(self.terms))
        if code == len(self.words):
            self.words.append(words.get(term, term))
            self.df.reach(len(self.terms))
        return code

    def postings(self, code: int) -> Postings:
        """Where a term stands, dead rows included."""
        found = self._lately.get(code)
        if found is None:
            if len(self._lately) >= _REMEMBERED:
                self._lately.clear()
            found = self._lately[code] = self._postings(code)
        return found

    def _postings(self, code: int) -> Postings:
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

    def found(self, codes: Sequence[int]) -> Found:
        """Where some terms stand, dead rows included."""
        some = [self.postings(code) for code in codes]
        if not some:
            return Found(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0)
        term = np.repeat(np.arange(len(some)), [len(one.rows) for one in some])
        return Found(
            term,
            np.concatenate([one.rows for one in some]),
            np.concatenate([one.tf for one in some]),
            len(some),
        )

    def rarity(self, codes: Sequence[int]) -> Floats:
        """The idf of some terms."""
        return np.asarray(idf(self.df[np.array(codes, np.int64)], self.documents), np.float64)

    def score(self, codes: Sequence[int]) -> Floats:
        """BM25 of every row for the terms ``codes``; 0 where none of them stands."""
        found = self.found(codes)
        worth = okapi(found.tf, self.norms[found.rows], self.rarity(codes)[found.term])
        return summed(found.rows, worth, len(self.sequences))

    def near_found(self, near: Sequence[Near]) -> Found:
        """Where a cue's terms stand, or what stands for them in part; of several words for one the best counts."""
        some = [self._nearby(one) for one in near]
        if not some:
            return self.found(())
        term = np.repeat(np.arange(len(some)), [len(one.rows) for one in some])
        rows, tf = np.concatenate([one.rows for one in some]), np.concatenate([one.tf for one in some])
        return Found(term, rows, tf, len(some))

    def _nearby(self, near: Near) -> Postings:
        """Where a term of a cue stands; where only near words do, they count in part."""
        found = [self.postings(code) for code in near.codes]
        if len(found) == 1 and near.shares == (1.0,):
            return found[0]
        if not found:
            return Postings(np.zeros(0, np.int64), np.zeros(0))
        best = np.zeros(len(self.sequences))
        for one, share in zip(found, near.shares, strict=True):
            best[one.rows] = np.maximum(best[one.rows], share * one.tf)
        rows = np.flatnonzero(best)
        return Postings(rows, best[rows])

    def near_rarity(self, near: Sequence[Near]) -> Floats:
        """The idf of a cue's terms, each with what stands for it."""
        held = np.array([min(one.df, float(self.documents)) for one in near], np.float64)
        return np.asarray(idf(held, self.documents), np.float64)

    def worth(self, found: Found, rarity: Floats) -> Floats:
        """What each occurrence adds to BM25, ``rarity`` being that of each term."""
        return okapi(found.tf, self.norms[found.rows], rarity[found.term])

    def pair_score(self, codes: Sequence[int | None], alive: NDArray[np.bool_]) -> Floats:
        """For each pair of adjacent terms of a cue, its idf, summed over the pairs that stand in a row."""
        scores = np.zeros(len(self.sequences))
        pairs = [(a, b) for a, b in pairwise(codes) if a is not None and b is not None]
        for a, b in dict.fromkeys(pairs):
            both = _shared(self.postings(a).rows, self.postings(b).rows)
            rows = self._adjacent(both[alive[both]], a, b)
            if len(rows):
                scores[rows] += float(idf(len(rows), self.documents))
        return scores

    def _adjacent(self, rows: Ints, a: int, b: int) -> Ints:
        """Those of some rows, all of which hold both terms, in which ``b`` follows ``a``."""
        if not len(rows):
            return rows
        sequence, ends = self.sequences.gather(rows)
        follows = (sequence[:-1] == a) & (sequence[1:] == b)
        follows[ends[:-1] - 1] = False
        return rows[np.unique(np.searchsorted(ends, np.flatnonzero(follows), "right"))]

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
        words: Sequence[str],
        df: Ints,
        postings: tuple[Ints, NDArray[np.int32], NDArray[np.int32]],
        sequences: tuple[Ints, NDArray[np.int32]],
        length: Floats,
        totals: tuple[float, int],
    ) -> None:
        """Take the base from packed arrays, which may be read-only."""
        self.terms = {term: code for code, term in enumerate(terms)}
        self.words = list(words)
        self.df = Column(np.int64, df)
        self._start, self._rows, self._tf = postings
        self._tail, self._lately = {}, {}
        self._norms = self._log_lengths = None
        self.sequences = Ragged(*sequences)
        self.length = Column(np.float64, length)
        self.total_length, self.documents = totals


def summed(at: Ints, values: Floats, size: int) -> Floats:
    """The sum of the values at each of ``size`` places."""
    return np.bincount(at, weights=values, minlength=size).astype(np.float64, copy=False)


def _shared(a: Ints, b: Ints) -> Ints:
    """What stands in both of two ascending lists: the shorter is looked up in the longer."""
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    if not len(few):
        return few
    at = np.minimum(np.searchsorted(many, few), len(many) - 1)
    both: Ints = few[many[at] == few]
    return both
