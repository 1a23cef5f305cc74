"""What an embedder is, texts in, unit vectors out; and two that need no files of their own.

``HashedEmbedder`` is for tests and demonstrations; ``SemanticEmbedder`` puts two others together.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.config.values import dataclass
from priming.errors import ParamError

Vectors = NDArray[np.float32]
TokenIds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Background:
    """What cosines of an embedder's vectors are between texts that have nothing to do with each other.

    ``strength`` is what a deviation from that says of meaning, 1 for vectors of sentences.
    """

    mean: float = 0.1
    spread: float = 0.1
    strength: float = 1.0


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one generation; vectors of two generations are never compared."""

    @property
    def generation(self) -> str:
        """Model, dimension and a digest of weights and preprocessing, in one readable string."""
        ...

    @property
    def dimension(self) -> int:
        """The length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make an array (texts, dimension) of unit rows; a text without tokens gives a row of zeros."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder whose vectors are sums over tokens, so that a caller may weight the tokens itself."""

    @property
    def vocabulary(self) -> int:
        """The number of token ids: every id is in ``[0, vocabulary)``."""
        ...

    def tokens(self, texts: Sequence[str]) -> list[TokenIds]:
        """List the token ids of each text, in order, repeats kept."""
        ...

    def pool(self, ids: ArrayLike, weights: ArrayLike) -> Vectors:
        """Make the unit vector along Σ weights·e(ids), or zeros when that sum is zero."""
        ...


@runtime_checkable
class WordEmbedder(TokenEmbedder, Protocol):
    """An embedder by whose vectors single words of like meaning are near one another."""

    def words(self, words: Sequence[str]) -> Vectors:
        """Make an array (words, dimension) of unit rows."""
        ...

    def pool_each(self, texts: Sequence[NDArray[np.integer[Any]]]) -> Vectors:
        """Make an array (texts, dimension) of unit rows, each along Σ e(ids) of a text; zeros without tokens."""
        ...


def background_of(embedder: Embedder) -> Background:
    """Return the background of an embedder that knows its own, else one that fits most."""
    own = getattr(embedder, "background", None)
    return own if isinstance(own, Background) else Background()


def check_texts(texts: Sequence[str]) -> None:
    """Refuse with ``ParamError`` one text, or what holds anything but texts."""
    if isinstance(texts, str):
        raise ParamError("texts", texts, "must be a sequence of texts, not one text")
    if not all(isinstance(text, str) for text in texts):
        raise ParamError("texts", list(texts), "must hold texts only")


def unit(vector: NDArray[np.float64]) -> Vectors:
    """Bring ``vector`` to length 1, as float32; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector).astype(np.float32)


def checked_pool(ids: ArrayLike, weights: ArrayLike, vocabulary: int) -> tuple[TokenIds, NDArray[np.float64]]:
    """Check ``ids`` and ``weights`` and bring the largest weight to ±1, or raise ``ParamError``."""
    rows = np.asarray(ids, dtype=np.int64).reshape(-1)
    factors = np.asarray(weights, dtype=np.float64).reshape(-1)
    if len(rows) != len(factors):
        raise ParamError("weights", len(factors), f"must be as many as the ids, {len(rows)}")
    if not np.isfinite(factors).all():
        raise ParamError("weights", factors.tolist(), "must be finite")
    if len(rows) and (rows.min() < 0 or rows.max() >= vocabulary):
        raise ParamError("ids", rows.tolist(), f"must be in [0, {vocabulary})")
    # Only the direction of the sum counts, and at this size nothing overflows.
    top = float(np.abs(factors).max(initial=0.0))
    return rows, factors / top if top > 0 else factors


BUCKETS = 4096
WORD = re.compile(r"\w+")


class HashedEmbedder:
    """Texts are similar only by the words that they share; vectors are the same on every machine.

    A lower-cased word falls into one of 4096 buckets, and a bucket has a vector of ±1, both by BLAKE2b.

    >>> HashedEmbedder(8).embed(["a pear", "A PEAR", ""]).shape
    (3, 8)
    """

    def __init__(self, dimension: int = 64) -> None:
        if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
            raise ParamError("dimension", dimension, "must be a whole number ≥ 1")
        self._dimension = dimension

    @property
    def generation(self) -> str:
        """Its full definition."""
        return f"hashed-blake2b/{self._dimension}/{BUCKETS}-lower"

    @property
    def dimension(self) -> int:
        """The dimension that the constructor took."""
        return self._dimension

    @property
    def vocabulary(self) -> int:
        """The number of buckets."""
        return BUCKETS

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text."""
        out = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, ids in zip(out, self.tokens(texts), strict=True):
            row[:] = self.pool(ids, np.ones(len(ids)))
        return out

    def tokens(self, texts: Sequence[str]) -> list[TokenIds]:
        """List the buckets of each text's words."""
        check_texts(texts)
        return [np.array([_bucket(word) for word in WORD.findall(text.lower())], np.int64) for text in texts]

    def pool(self, ids: ArrayLike, weights: ArrayLike) -> Vectors:
        """Make the unit vector along Σ weights·e(ids)."""
        rows, factors = checked_pool(ids, weights, BUCKETS)
        return unit(factors @ _signs(self._dimension)[rows])


def _bucket(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % BUCKETS


@lru_cache(maxsize=8)
def _signs(dimension: int) -> NDArray[np.float64]:
    """Return the vectors of all buckets, by random bits that belong to each; embedders of a dimension share them."""
    count = -(-dimension // 8)
    blocks = [
        hashlib.blake2b(f"{bucket}/{block}".encode(), digest_size=64).digest()
        for bucket in range(BUCKETS)
        for block in range(-(-count // 64))
    ]
    rows = np.frombuffer(b"".join(blocks), dtype=np.uint8).reshape(BUCKETS, -1)[:, :count]
    signs = np.unpackbits(rows, axis=1)[:, :dimension].astype(np.float64) * 2 - 1
    signs.setflags(write=False)
    return signs


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
    """Tell whether texts are sent elsewhere."""
    own = embedder.sentence_part if isinstance(embedder, SemanticEmbedder) else embedder
    return bool(getattr(own, "remote", False))


def token_part(embedder: Embedder) -> TokenEmbedder | None:
    """Return the embedder, or the part of it, whose vectors are sums over tokens."""
    own = embedder.word_part if isinstance(embedder, SemanticEmbedder) else embedder
    return cast(TokenEmbedder, own) if _has(own, "vocabulary", "tokens", "pool") else None


def word_part(embedder: Embedder) -> WordEmbedder | None:
    """Return the embedder, or the part of it, that has vectors of single words."""
    own = token_part(embedder)
    return cast(WordEmbedder, own) if _has(own, "words", "pool_each") else None


def _has(embedder: Embedder | None, *names: str) -> bool:
    """Tell whether it has attributes: ``isinstance`` also computes its generation in Python 3.11, at each call."""
    return all(hasattr(embedder, name) for name in names)
