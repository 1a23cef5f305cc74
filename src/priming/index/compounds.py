"""Compounds: in the languages that join words, "Frist" is a part of "Kündigungsfrist"."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

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

    def related(self, word: str, stem: str, words: Sequence[str], terms: Iterable[str]) -> dict[int, float]:
        """The terms that begin or end in a word, or that it begins or ends in, and how much each counts as it.

        A part counts √(its letters / all letters), times .7 if it is the last and .35 if it is the first. A term of
        the same spelling, whose stem is that of another language, counts wholly.

        Parameters
        ----------
        word, stem : a word of a cue in lower case, and its term.
        words, terms : the words of the lexicon by code, and their stems; they only grow.

        Returns
        -------
        By code the share of the word, in (0, 1].

        Examples
        --------
        >>> words = ["schlüssel", "haustürschlüssel", "haus", "mond"]
        >>> related = Compounds().related("schlüssel", "schlussel", words, words)
        >>> {words[code]: round(share, 3) for code, share in related.items()}
        {'schlüssel': 1.0, 'haustürschlüssel': 0.525}
        """
        self._grow(words, terms)
        shares = dict.fromkeys(self._codes.get(word, ()), 1.0)
        for part, whole, other in self._pairs(word, stem):
            share = (_LAST if whole.endswith(part) else _FIRST) * math.sqrt(len(part) / len(whole))
            for code in self._codes[other]:
                shares[code] = max(shares.get(code, 0.0), share)
        return shares

    def _grow(self, words: Sequence[str], terms: Iterable[str]) -> None:
        if self._size < len(words):
            fresh = zip(words[self._size :], islice(terms, self._size, None), strict=True)
            for code, spellings in enumerate(fresh, self._size):
                for spelling in dict.fromkeys(spellings):
                    self._codes.setdefault(spelling, []).append(code)
            self._words = sorted({*words})
            self._backward = sorted(spelling[::-1] for spelling in self._codes)
            self._size = len(words)

    def _pairs(self, word: str, stem: str) -> Iterator[tuple[str, str, str]]:
        """A part, its compound, and which of the two is in the lexicon."""
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
    """Those of some words in order that begin with one, and are longer by a part."""
    if len(start) < _PART:
        return
    for at in range(bisect_left(ordered, start), len(ordered)):
        if not ordered[at].startswith(start):
            break
        if len(ordered[at]) >= len(start) + _REST:
            yield ordered[at]
