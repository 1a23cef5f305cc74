"""An embedder without weights, for tests and demonstrations: every word has a fixed random direction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.embedding.protocol import TokenIds, Vectors, checked_pool, unit
from priming.errors import ParamError

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
        if isinstance(texts, str):
            raise ParamError("texts", texts, "must be a sequence of texts, not one text")
        return [np.array([_bucket(word) for word in WORD.findall(text.lower())], np.int64) for text in texts]

    def pool(self, ids: ArrayLike, weights: ArrayLike) -> Vectors:
        """Make the unit vector along Σ weights·e(ids)."""
        rows, factors = checked_pool(ids, weights, BUCKETS)
        return unit(factors @ self._table[rows])

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        count = -(-self._dimension // 8)
        signs = [_bits(bucket, count)[: self._dimension] for bucket in range(BUCKETS)]
        return np.array(signs, dtype=np.float64) * 2 - 1


def _bucket(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % BUCKETS


def _bits(bucket: int, count: int) -> NDArray[np.uint8]:
    """``count`` bytes of random bits that belong to the bucket, one bit an entry."""
    blocks = [
        hashlib.blake2b(f"{bucket}/{block}".encode(), digest_size=64).digest()
        for block in range(-(-count // 64))
    ]
    return np.unpackbits(np.frombuffer(b"".join(blocks)[:count], dtype=np.uint8))
