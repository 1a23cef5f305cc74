"""Sentence vectors for meaning, and beside them word vectors for what single words are near."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

from priming.embedding.protocol import (
    Background,
    Embedder,
    TokenEmbedder,
    Vectors,
    WordEmbedder,
    background_of,
)

PREFIX = "semantic-"
"""What the generations of both parts begin with."""


class SemanticEmbedder:
    """The vectors of an embedder of sentences; single words, and what has no vector yet, have those of another."""

    def __init__(self, word_part: WordEmbedder, sentence_part: Embedder) -> None:
        self.word_part, self.sentence_part = word_part, sentence_part

    def __repr__(self) -> str:
        return f"SemanticEmbedder({self.word_part!r}, {self.sentence_part!r})"

    @cached_property
    def generation(self) -> str:
        """For example ``semantic-onnx-model/384/1f0c…``: the digest is that of the sentences' generation."""
        own = self.sentence_part.generation
        digest = hashlib.blake2b(own.encode(), digest_size=6)
        return f"{PREFIX}{own.split('/')[0]}/{self.dimension}/{digest.hexdigest()}"

    @property
    def stamp(self) -> str:
        """The stamps of both: equal stamps mean equal vectors of texts and of words."""
        parts = self.word_part, self.sentence_part
        stamps = (str(getattr(part, "stamp", None) or part.generation) for part in parts)
        return f"{PREFIX}{' + '.join(stamps)}"

    @property
    def background(self) -> Background:
        """That of the sentence vectors."""
        return background_of(self.sentence_part)

    @property
    def dimension(self) -> int:
        """That of the sentence vectors."""
        return self.sentence_part.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; the row of a text does not depend on its neighbours."""
        return self.sentence_part.embed(texts)


def is_remote(embedder: Embedder) -> bool:
    """Whether texts are sent elsewhere."""
    own = embedder.sentence_part if isinstance(embedder, SemanticEmbedder) else embedder
    return bool(getattr(own, "remote", False))


def token_part(embedder: Embedder) -> TokenEmbedder | None:
    """The embedder, or the part of it, whose vectors are sums over tokens."""
    own = embedder.word_part if isinstance(embedder, SemanticEmbedder) else embedder
    return own if isinstance(own, TokenEmbedder) else None


def word_part(embedder: Embedder) -> WordEmbedder | None:
    """The embedder, or the part of it, that has vectors of single words."""
    own = embedder.word_part if isinstance(embedder, SemanticEmbedder) else embedder
    return own if isinstance(own, WordEmbedder) else None
