"""The words of a namespace by meaning: which of them are near a word of a cue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.embed.protocol import Embedder, WordEmbedder
from priming.engine.columns import Ints, Vectors

EXACT = 6
"""Decimals of a cosine that count: like texts tie."""
_REMEMBERED = 4096
"""Words whose neighbours are kept as they were last asked for."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The words nearest to one, nearest first, among the first ``met`` words of the namespace."""

    codes: Ints
    cosines: Floats
    met: int


class Vocabulary:
    """A vector for each term of a lexicon, that of the word it was first met as, made when first asked for.

    Neighbours once found are kept: of words that came since, only those are looked at.
    """

    def __init__(self, embedder: Embedder, vectors: NDArray[np.float32] | None = None) -> None:
        self._embedder = embedder if isinstance(embedder, WordEmbedder) else None
        self._vectors = Vectors(embedder.dimension, vectors)
        self._lately: dict[tuple[str, float, int], Neighbours] = {}

    @property
    def speaks(self) -> bool:
        """Whether single words have a meaning to this embedder."""
        return self._embedder is not None

    def vectors(self, met: Sequence[str]) -> Vectors:
        """The vectors of all words that were met, by their codes; none where single words have no meaning."""
        if self._embedder is not None and len(self._vectors) < len(met):
            for vector in self._embedder.words(met[len(self._vectors) :]):
                self._vectors.append(vector)
        return self._vectors

    def near(
        self, words: Mapping[str, int | None], met: Sequence[str], floor: float, most: int
    ) -> Mapping[str, Neighbours]:
        """Of each of ``words``, at most ``most`` that were ``met`` with a cosine above ``floor``.

        A word may come with the code of its term.
        """
        if self._embedder is None or not words:
            return {}
        known = {word: self._lately.get((word, floor, most)) for word in words}
        late = [word for word, one in known.items() if one is None or one.met < len(met)]
        if late:
            if len(self._lately) + len(late) > _REMEMBERED:
                self._lately.clear()
            since = min(one.met if (one := known[word]) else 0 for word in late)
            fresh = self.vectors(met).dot(self._meaning({word: words[word] for word in late}, met).T, since)
            for word, cosines in zip(late, fresh.T, strict=True):
                found = _merged(known[word], cosines, since, floor, most)
                known[word] = self._lately[word, floor, most] = found
        return {word: one for word, one in known.items() if one is not None}

    def _meaning(self, words: Mapping[str, int | None], met: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of some words, of which those that were met have one already."""
        assert self._embedder is not None, "words are asked for where they have a meaning"
        known = self.vectors(met)
        codes = {word: code for word, code in words.items() if code is not None and met[code] == word}
        new = [word for word in words if word not in codes]
        made = dict(zip(new, self._embedder.words(new), strict=True)) if new else {}
        return np.stack([made[word] if word in made else known[codes[word]] for word in words])


def _merged(
    known: Neighbours | None, cosines: NDArray[np.float32], since: int, floor: float, most: int
) -> Neighbours:
    """Neighbours that are known already, and those among the words from ``since`` on."""
    met = since + len(cosines)
    first = known.met - since if known else 0
    above = np.flatnonzero(cosines[first:] > floor) + first
    codes = above + since
    values: Floats = np.asarray(np.round(cosines[above].astype(np.float64), EXACT), np.float64)
    if known is not None:
        codes = np.concatenate([known.codes, codes])
        values = np.concatenate([known.cosines, values])
    order = np.lexsort((codes, -values))[:most]
    return Neighbours(codes[order], values[order], met)
