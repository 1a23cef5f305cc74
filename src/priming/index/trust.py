"""How far vectors tell what the words of a namespace tell: a model knows some languages, and not others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from priming.core.arguments.arrays import Floats, Ints, distinct
from priming.core.lexical import evidence_idf
from priming.embedding.protocol import Vectors
from priming.index.vocabulary import EXACT

SAMPLE = 100
"""Memories of which each two are compared."""
_ENGLISH, _ELSEWHERE, _PSEUDO = 0.4, 0.2, 400.0
"""The correlation that is expected in English and elsewhere, and the number of pairs that this counts for."""
_NONE, _SPAN = 0.1, 0.25
"""The correlation at which vectors tell nothing, and how far above it they tell all that they can."""


def evenly(rows: Ints, count: int) -> Ints:
    """At most ``count`` of some rows, evenly spaced: the same ones until rows are added.

    >>> evenly(np.arange(10), 4).tolist()
    [0, 2, 5, 7]
    """
    count = min(count, len(rows))
    return rows[np.arange(count) * len(rows) // max(1, count)]


class Sampling:
    """A sample of the memories of a namespace, and how far their vectors tell what it is about, until it changes."""

    def __init__(self, arrays: Any) -> None:
        """``arrays`` are the ``NamespaceArrays`` that hold it."""
        self._arrays = arrays
        self._state = (-1, -1, -1)
        self._able: Ints = np.zeros(0, np.int64)
        self._trust: float | None = None

    def documents(self, count: int) -> Ints:
        """At most ``count`` documents with vectors, evenly spaced by age."""
        self._refresh()
        return evenly(self._able, count)

    @property
    def trust(self) -> float:
        """How far the vectors can be trusted, in [0, 1]."""
        arrays = self._arrays
        self._refresh()
        if self._trust is None:
            sample, lexicon = self.documents(SAMPLE), arrays.lexicon
            rarity = np.asarray(evidence_idf(lexicon.df.values, lexicon.documents), np.float64)
            terms = [lexicon.body(document) for document in sample.tolist()]
            is_english = arrays.main_language == "english" and _in_ascii(terms, lexicon.words)
            self._trust = trust(arrays.vectors.take(sample), terms, rarity, english=is_english)
        return self._trust

    def _refresh(self) -> None:
        arrays = self._arrays
        state = (arrays.documents, arrays.memories, len(arrays.waiting))
        if state != self._state:
            able, order = arrays.living.values & arrays.embedded.values, arrays.order
            self._able = np.flatnonzero(able) if order is None else order[able[order]]
            self._state, self._trust = state, None


def trust(vectors: Vectors, terms: Sequence[Ints], rarity: Floats, *, english: bool) -> float:
    """How far cosines tell what words tell, in [0, 1].

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
    """Whether most words of some texts are in ASCII: a language without small words that are known counts as none."""
    in_ascii = [words[int(code)].isascii() for own in terms for code in own]
    return sum(in_ascii) >= len(in_ascii) / 2


def _beside_others(values: Floats) -> Floats:
    """How many deviations each value is above the mean of its row; of equals exactly as many."""
    spread = values.std(axis=1, keepdims=True)
    beside = (values - values.mean(axis=1, keepdims=True)) / np.where(spread > 0.0, spread, 1.0)
    return np.asarray(np.round(beside, EXACT), np.float64)


def _share(correlation: float) -> float:
    """How far a correlation is from where vectors tell nothing to where they tell all that they can."""
    return float(np.clip((correlation - _NONE) / _SPAN, 0.0, 1.0))
