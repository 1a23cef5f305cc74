"""Compounds: in the languages that join words, "Frist" is a part of "Kündigungsfrist"."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

COMPOUNDING: Final = frozenset(("danish", "dutch", "finnish", "german", "hungarian", "norwegian", "swedish"))
"""The languages whose compounds are one word."""
_PART = 4
"""The fewest letters of a part: shorter ones are in too many words."""
_REST = 3
"""The fewest letters of what is left of the compound."""


class Compounds:
    """The terms of a lexicon by the beginnings and ends of their spellings, read when they are needed.

    A term is its stem, and the word that it stands for: "Prüfung" and "Führerscheinprüfung" have unlike stems.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._forward: list[str] = []
        self._backward: list[str] = []
        self._size = 0

    def related(
        self, spellings: Collection[str], words: Sequence[str], terms: Iterable[str]
    ) -> dict[int, float]:
        """The terms that begin or end in a word, or that it begins or ends in: √(letters in common / all letters).

        Parameters
        ----------
        spellings : a word of a cue and its stem, in lower case.
        words, terms : the words of the lexicon by code, and their stems; they only grow.

        Returns
        -------
        By code the share of the word, in (0, 1).

        Examples
        --------
        >>> words = ["schlüssel", "haustürschlüssel", "haus", "mond"]
        >>> Compounds().related(["schlüssel"], words, words)
        {1: 0.75}
        """
        self._grow(words, terms)
        shares: dict[int, float] = {}
        for own in spellings:
            for whole in self._wholes(own):
                _raise(shares, self._codes[whole], len(own) / len(whole))
            for part in _parts(own):
                if part in self._codes:
                    _raise(shares, self._codes[part], len(part) / len(own))
        return shares

    def _grow(self, words: Sequence[str], terms: Iterable[str]) -> None:
        if self._size < len(words):
            fresh = zip(words[self._size :], islice(terms, self._size, None), strict=True)
            for code, spellings in enumerate(fresh, self._size):
                for spelling in spellings:
                    if len(spelling) >= _PART:
                        self._codes.setdefault(spelling, code)
            self._forward = sorted(self._codes)
            self._backward = sorted(spelling[::-1] for spelling in self._forward)
            self._size = len(words)

    def _wholes(self, word: str) -> Iterator[str]:
        """The spellings that begin or end in a word, and are longer by a part."""
        if len(word) < _PART:
            return
        for ordered, begins, step in ((self._forward, word, 1), (self._backward, word[::-1], -1)):
            for at in range(bisect_left(ordered, begins), len(ordered)):
                if not ordered[at].startswith(begins):
                    break
                if len(ordered[at]) >= len(word) + _REST:
                    yield ordered[at][::step]


def _raise(shares: dict[int, float], code: int, letters: float) -> None:
    shares[code] = max(shares.get(code, 0.0), math.sqrt(letters))


def _parts(term: str) -> Iterator[str]:
    """The beginnings and ends of a term that may be words by themselves."""
    for size in range(_PART, len(term) - _REST + 1):
        yield term[:size]
        yield term[-size:]
