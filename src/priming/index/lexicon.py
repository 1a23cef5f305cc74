"""The terms of a namespace: which documents contain them, how often, in what order, and which did so first.

The statistics are exact and the namespace's own. BM25 scores with them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints, distinct
from priming.core.graph import among
from priming.core.lexical import idf, length_norm, okapi
from priming.index.columns import Column, Ragged
from priming.index.vocabulary import Compounds
from priming.text.tokens import terms

_CACHED_TERMS = 4096
"""How many terms' postings are cached."""

BREAK = -1
"""Separates heading and body in a sequence of terms, so that no pair spans both."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The documents that hold one term, ascending, and how often each does."""

    rows: Ints
    tf: Floats

    def counts(self, rows: Ints) -> Floats:
        """Return how often each of some documents holds the term."""
        if not len(self.rows):
            return np.zeros(len(rows))
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[place] == rows, self.tf[place], 0.0)

    def with_others(self, other: Postings) -> Postings:
        """Return these postings, and those of ``other`` for documents without the term."""
        new = ~np.isin(other.rows, self.rows)
        if not new.any():
            return self
        rows = np.concatenate([self.rows, other.rows[new]])
        order = np.argsort(rows)
        return Postings(rows[order], np.concatenate([self.tf, other.tf[new]])[order])


NO_POSTINGS = Postings(np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Expansion:
    """A term of a cue, expanded: the terms that count as it, the share of each, and its document frequency.

    So do runs of terms, all of one share: the documents that have the terms of a run one after the other.
    """

    codes: tuple[int, ...]
    shares: tuple[float, ...]
    df: float
    runs: tuple[tuple[int, ...], ...] = ()
    run_share: float = 0.0


class Lexicon:
    """An inverted index over growing rows: a base in compressed rows, and a tail of additions."""

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
        self._cached: dict[int, Postings] = {}
        self._norms: Floats | None = None
        self._rarity: Floats | None = None
        self._compounds = Compounds()

    @property
    def mean_length(self) -> float:
        """Mean number of terms of a document; 1 without documents, to avoid a division by zero."""
        return self.total_length / self.documents if self.total_length else 1.0

    @property
    def norms(self) -> Floats:
        """BM25's length normalisation of each document, cached until a document is added or removed."""
        if self._norms is None:
            self._norms = np.asarray(length_norm(self.length.values, self.mean_length))
        return self._norms

    def append(
        self, heading: Sequence[str], body: Sequence[str], words: Mapping[str, str] = MappingProxyType({})
    ) -> int:
        """Add the next document and return how many of its terms are in no other document.

        ``words`` gives, for a term, the word that it stands for in this document.
        """
        row = len(self.sequences)
        sequence = [self._code(term, words) for term in heading]
        if heading:
            sequence.append(BREAK)
        sequence.extend(self._code(term, words) for term in body)
        self.sequences.append(sequence)
        length = len(heading) + len(body)
        self.length.append(length)
        self._norms = self._rarity = None
        self.documents += 1
        self.total_length += length
        numbers = Counter(sequence)
        del numbers[BREAK]
        for code, count in numbers.items():
            if code not in self._tail:
                self._tail[code] = array("i"), array("i")
            rows, counts = self._tail[code]
            self._cached.pop(code, None)
            rows.append(row)
            counts.append(count)
        codes = np.fromiter(numbers, np.int64, len(numbers))
        self.df.values[codes] += 1
        return int(np.count_nonzero(self.df.values[codes] == 1))

    def remove(self, row: int) -> None:
        """Take a document out of the statistics. Its postings stay; callers mask them."""
        self.documents -= 1
        self._norms = self._rarity = None
        self.total_length -= float(self.length[row])
        codes = distinct(self.sequences[row])
        self.df[codes[codes != BREAK]] -= 1

    def body(self, row: int) -> Ints:
        """Return the codes of the distinct terms of a document, those of its heading left out."""
        sequence = self.sequences[row]
        heading = np.flatnonzero(sequence == BREAK)
        return np.asarray(distinct(sequence[heading[0] + 1 :] if len(heading) else sequence), np.int64)

    def code(self, term: str) -> int | None:
        """Return the code of a term; None if no memory ever contained it."""
        return self.terms.get(term)

    def _code(self, term: str, words: Mapping[str, str]) -> int:
        code = self.terms.setdefault(term, len(self.terms))
        if code == len(self.words):
            self.words.append(words.get(term, term))
            self.df.reach(len(self.terms))
        return code

    def postings(self, code: int) -> Postings:
        """Return the postings of a term, dead rows included."""
        postings = self._cached.get(code)
        if postings is None:
            if len(self._cached) >= _CACHED_TERMS:
                self._cached.clear()
            postings = self._cached[code] = self._postings(code)
        return postings

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

    def same(self, term: str, language: str | None) -> list[int]:
        """Return the codes of a term, and of words that are it if read in a language, that any document has."""
        codes = [] if language is None else self._compounds.same(term, language, self.words, self.terms)
        own = self.code(term)
        return [code for code in dict.fromkeys([*([] if own is None else [own]), *codes]) if self.df[code]]

    def compounds(self, word: str, stem: str) -> dict[int, float]:
        """Map the codes of words that are part of a word, or that it is part of, to how much each counts as it."""
        related = self._compounds.related(word, stem, self.words, self.terms)
        return {code: share for code, share in related.items() if self.df[code]}

    def rarity(self, codes: Sequence[int]) -> Floats:
        """Return the idf of several terms, that of all cached until a document is added or removed."""
        if self._rarity is None:
            self._rarity = np.asarray(idf(self.df.values, self.documents))
        return self._rarity[np.array(codes, np.int64)]

    def score(self, codes: Sequence[int], rows: Ints | None = None) -> Floats:
        """Return the BM25 of some rows (None: of all) for several terms; 0 where none of them occurs."""
        norms = self.norms if rows is None else self.norms[rows]
        scores = np.zeros(len(norms))
        for code, rarity in zip(codes, self.rarity(codes).tolist(), strict=True):
            own = self.postings(code)
            if rows is None:
                scores[own.rows] += okapi(own.tf, norms[own.rows], rarity)
            else:
                scores += okapi(own.counts(rows), norms, rarity)
        return scores

    def expanded(self, expansion: Expansion) -> Postings:
        """Return the postings of one expanded term, each word's counts times its share."""
        postings = [self.postings(code) for code in expansion.codes]
        if len(postings) == 1 and expansion.shares == (1.0,) and not expansion.runs:
            return postings[0]
        if not postings and not expansion.runs:
            return NO_POSTINGS
        parts = [(own.rows, share * own.tf) for own, share in zip(postings, expansion.shares, strict=True)]
        for run in expansion.runs:
            rows = self.rows_with(run)
            parts.append((rows, np.full(len(rows), expansion.run_share)))
        rows, tf = np.concatenate([rows for rows, _ in parts]), np.concatenate([tf for _, tf in parts])
        order = np.argsort(rows, kind="stable")
        rows, tf = rows[order], tf[order]
        first = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])[: len(rows)])
        return Postings(rows[first], np.maximum.reduceat(tf, first) if len(first) else tf)

    def is_common_compound(self, name: str, most: float) -> bool:
        """Tell whether a name is such as "flat-plate", and each of its words in more than ``most`` documents."""
        if "-" not in name or not all(map(str.isalpha, name.split("-"))):
            return False
        codes = [self.code(term) for term in terms(name)]
        return all(code is not None and self.df[code] > most for code in codes)

    def rows_with(self, run: Sequence[int]) -> Ints:
        """Return the rows, dead ones included, in which each two neighbours of a run of terms stand side by side."""
        rows = self.postings(run[0]).rows
        for a, b in pairwise(run):
            rows = self._adjacent(_shared(rows, self.postings(b).rows), a, b)
        return rows

    def _adjacent(self, rows: Ints, a: int, b: int) -> Ints:
        """Return those of ``rows``, all of which hold both terms, in which ``b`` follows ``a``."""
        if not len(rows):
            return rows
        sequence, ends = self.sequences.gather(rows)
        follows = (sequence[:-1] == a) & (sequence[1:] == b)
        follows[ends[:-1] - 1] = False
        return rows[distinct(np.searchsorted(ends, np.flatnonzero(follows), "right"))]

    def packed(self) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
        """Return all postings in compressed form: offsets by term, rows, counts."""
        postings = [self.postings(code) for code in range(len(self.terms))]
        start = np.concatenate([[0], np.cumsum([len(term.rows) for term in postings], dtype=np.int64)])
        if not postings:
            return start.astype(np.int64), self._rows, self._tf
        rows = np.concatenate([term.rows for term in postings]).astype(np.int32)
        return start.astype(np.int64), rows, np.concatenate([term.tf for term in postings]).astype(np.int32)

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
        self._tail, self._cached = {}, {}
        self._norms = self._rarity = None
        self.sequences = Ragged(*sequences)
        self.length = Column(np.float64, length)
        self.total_length, self.documents = totals

    def novel_terms(self, row: Ints, living: NDArray[np.bool_]) -> Ints:
        """Count how many of its terms each document was the first to hold; 0 for dead documents.

        The first is the one of the lowest row in the graph (``row``): the oldest memory.
        """
        start, codes = self.sequences.packed()
        documents = np.repeat(np.arange(len(row)), np.diff(start))
        counted = living[documents] & (codes != BREAK)
        rows = int(row.max(initial=-1)) + 1
        first = np.full(len(self.terms), rows, np.int64)
        np.minimum.at(first, codes[counted], row[documents[counted]])
        document = np.zeros(rows, np.int64)
        document[row[living]] = np.flatnonzero(living)
        return np.bincount(document[first[first < rows]], minlength=len(row))

    def update_novel_terms(
        self, counts: Ints, document: int, sign: int, row: Ints, living: NDArray[np.bool_]
    ) -> None:
        """Update the counts of ``novel_terms`` as one document is added (1) or removed (−1), whatever its age.

        For each term that it holds first, the next oldest holder loses the term, or gains it back.
        """
        counts[document] = 0
        for code in distinct(self.sequences[document]).tolist():
            if code == BREAK:
                continue
            others = self.postings(code).rows
            others = others[living[others] & (others != document)]
            rows = row[others]
            if len(others) and rows.min() < row[document]:
                continue
            if len(others):
                counts[others[np.argmin(rows)]] -= sign
            if sign > 0:
                counts[document] += 1


def _shared(a: Ints, b: Ints) -> Ints:
    """Return the intersection of two ascending arrays: the shorter is looked up in the longer."""
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    return few[among(few, many)]
