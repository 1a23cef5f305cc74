"""Both kinds of vectors in one: words for near words and rarity, sentences for meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from priming.config.params.embedding import SEMANTIC, SemanticParams
from priming.embedding.protocol import Embedder, TokenEmbedder, Vectors, WordEmbedder

PREFIX = "semantic-"
"""What the generations of both parts begin with."""


class SemanticEmbedder:
    """The vectors of words and those of sentences side by side, so that their cosine is a weighted mean.

    Each text has one vector: its word vector times √(1 − w), then its sentence vector times √w, where w is
    ``params.sentences``. A text of which only one part reads anything has the vector of that part alone, at length 1.
    """

    def __init__(
        self, word_part: WordEmbedder, sentence_part: Embedder, params: SemanticParams = SEMANTIC
    ) -> None:
        self.word_part, self.sentence_part = word_part, sentence_part
        self._factors = np.sqrt(1.0 - params.sentences), np.sqrt(params.sentences)
        self._share = params.sentences

    def __repr__(self) -> str:
        return f"SemanticEmbedder({self.word_part!r}, {self.sentence_part!r})"

    @cached_property
    def generation(self) -> str:
        """For example ``semantic-onnx-model/640/1f0c…``: the digest covers both generations and the weight."""
        parts = self.word_part.generation, self.sentence_part.generation
        digest = hashlib.blake2b(f"{' '.join(parts)} {self._share}".encode(), digest_size=6)
        return f"{PREFIX}{parts[1].split('/')[0]}/{self.dimension}/{digest.hexdigest()}"

    @property
    def stamp(self) -> str:
        """The stamps of both: equal stamps mean equal generations."""
        parts = self.word_part, self.sentence_part
        stamps = (str(getattr(part, "stamp", None) or part.generation) for part in parts)
        return f"{PREFIX}{' + '.join(stamps)} {self._share}"

    @property
    def dimension(self) -> int:
        """The sum of both."""
        return self.word_part.dimension + self.sentence_part.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; the row of a text does not depend on its neighbours."""
        return self.joined(self.word_part.embed(texts), self.sentence_part.embed(texts))

    def joined(self, words: Vectors, sentences: Vectors) -> Vectors:
        """The rows of both parts as rows of length 1; a row of which both parts are zeros stays zeros."""
        words, sentences = np.atleast_2d(words), np.atleast_2d(sentences)
        out = np.hstack([words * self._factors[0], sentences * self._factors[1]]).astype(np.float32)
        lengths = np.linalg.norm(out, axis=1, keepdims=True)
        np.divide(out, lengths, out=out, where=lengths > 0)
        return out


def token_part(embedder: Embedder) -> TokenEmbedder | None:
    """The embedder, or the part of it, whose vectors are sums over tokens."""
    own = embedder.word_part if isinstance(embedder, SemanticEmbedder) else embedder
    return own if isinstance(own, TokenEmbedder) else None


def word_part(embedder: Embedder) -> WordEmbedder | None:
    """The embedder, or the part of it, that has vectors of single words."""
    own = embedder.word_part if isinstance(embedder, SemanticEmbedder) else embedder
    return own if isinstance(own, WordEmbedder) else None
