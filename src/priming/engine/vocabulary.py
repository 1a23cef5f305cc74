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
_HEAD = 64
"""So many of the first dimensions say which words are worth a whole look; of models with fewer, all of them.

They hold most of what a vector says, as embedders are trained to be cut short. What that saves, and what it misses,
is measured by ``benchmarks/near.py``.
"""
_SLACK = 0.05
"""How far below the floor the first dimensions may find a word that is worth a whole look."""


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
        self._heads = Vectors(min(_HEAD, embedder.dimension))
        self._lately: dict[tuple[str, float, int], Neighbours] = {}

    @property
    def speaks(self) -> bool:
        """Whether single words have a meaning to this embedder."""
        return self._embedder is not None

    def vectors(self, met: Sequence[str]) -> Vectors:
        """The vectors of all words that were met, by their codes; none where single words have no meaning."""
        if self._embedder is not None and len(self._vectors) < len(met):
            self._vectors.extend(self._embedder.words(met[len(self._vectors) :]))
        return self._vectors

    def near(
        self, words: Mapping[str, int | None], met: Sequence[str], floor: float, most: int
    ) -> Mapping[str, Neighbours]:
        """Of each of ``words``, at most ``most`` that were ``met`` with a cosine above ``floor``.

        A word may come with the code of its term. Near is what the first dimensions find near too.
        """
        if self._embedder is None or not words:
            return {}
        known = {word: self._lately.get((word, floor, most)) for word in words}
        late = [word for word, one in known.items() if one is None or one.met < len(met)]
        if late:
            if len(self._lately) + len(late) > _REMEMBERED:
                self._lately.clear()
            since = min(one.met if (one := known[word]) else 0 for word in late)
            meanings = self._meanings({word: words[word] for word in late}, met)
            looks = self._looks(meanings, met, since)
            for word, meaning, look in zip(late, meanings, looks, strict=True):
                codes = np.flatnonzero(look > floor - _SLACK) + since
                found = self._nearest(known[word], meaning, codes, floor, most, len(met))
                known[word] = self._lately[word, floor, most] = found
        return {word: one for word, one in known.items() if one is not None}

    def _meanings(self, words: Mapping[str, int | None], met: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of some words, of which those that were met have one already."""
        assert self._embedder is not None, "words are asked for where they have a meaning"
        known = self.vectors(met)
        codes = {word: code for word, code in words.items() if code is not None and met[code] == word}
        new = [word for word in words if word not in codes]
        made = dict(zip(new, self._embedder.words(new), strict=True)) if new else {}
        return np.stack([made[word] if word in made else known[codes[word]] for word in words])

    def _looks(self, meanings: NDArray[np.float32], met: Sequence[str], since: int) -> NDArray[np.float32]:
        """The cosines of some meanings and the words from ``since`` on by their first dimensions, a row a meaning."""
        seen = len(self._heads)
        if seen < len(met):
            self._heads.extend(_heads(self.vectors(met).some(np.arange(seen, len(met)))))
        return np.ascontiguousarray(self._heads.dot(_heads(meanings).T, since).T)

    def _nearest(
        self,
        known: Neighbours | None,
        meaning: NDArray[np.float32],
        codes: Ints,
        floor: float,
        most: int,
        met: int,
    ) -> Neighbours:
        """Neighbours that are known already, and those among ``codes``, which ascend, of words met since."""
        codes = codes[np.searchsorted(codes, known.met) :] if known else codes
        # Each row by itself: a product of matrices may sum a row otherwise beside other rows.
        found = np.einsum("ij,j->i", self._vectors.some(codes), meaning).astype(np.float64)
        codes, found = codes[found > floor], found[found > floor]
        values: Floats = np.round(found, EXACT)
        if known is not None:
            codes = np.concatenate([known.codes, codes])
            values = np.concatenate([known.cosines, values])
        order = np.lexsort((codes, -values))[:most]
        return Neighbours(codes[order], values[order], met)


def _heads(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The first dimensions of unit vectors, brought to length 1."""
    heads = vectors[:, :_HEAD]
    length = np.linalg.norm(heads, axis=1, keepdims=True)
    made: NDArray[np.float32] = np.divide(heads, length, out=np.zeros_like(heads), where=length > 0)
    return made
