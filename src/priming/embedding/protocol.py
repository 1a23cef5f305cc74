"""What an embedder is: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

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
    """The background of an embedder that knows its own, else one that fits most."""
    own = getattr(embedder, "background", None)
    return own if isinstance(own, Background) else Background()


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
