"""Numbers and arrays: their checks, shared by all laws, which raise ``ParamError`` with the range; and vectors."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.config.values import dataclass
from priming.core.arguments.checks import interval
from priming.errors import ParamError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int32]
T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """Return the distinct values in order, as ``np.unique`` has them, which loads ``numpy.ma`` for it.

    >>> distinct(np.array([3, 1, 3, 2])).tolist(), distinct(np.array([], np.int64)).tolist()
    ([1, 2, 3], [])
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def floats(
    name: str,
    value: ArrayLike,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    below: float | None = None,
) -> Floats:
    """Return ``value`` as float64, each element in ``[low, high]`` and under ``below``, or raise ``ParamError``.

    NaN and infinities are refused. A scalar becomes a 0-d array.
    """
    array = numbers(name, value)
    if not array.size or _within(float(array.min()), float(array.max()), low, high, below):
        return array
    bad = ~np.isfinite(array) | (array < low) | (array > high)
    if below is not None:
        bad |= array >= below
    raise ParamError(name, float(array[bad].flat[0]), f"must be {interval(low, high, below)}")


def numbers(name: str, value: ArrayLike, what: str = "a number or an array of numbers") -> Floats:
    """Return ``value`` as float64, NaN and infinities included, or raise ``ParamError``."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParamError(name, value, f"must be {what}") from None


def _within(least: float, most: float, low: float, high: float, below: float | None) -> bool:
    """Tell whether all from ``least`` to ``most`` is finite and in range; NaN, denied by any comparison, is not."""
    finite = -math.inf < least and most < math.inf
    return finite and low <= least and most <= high and (below is None or most < below)


def like(array: Floats) -> Any:
    """Return a 0-d result as a plain float, anything else as the array: scalars in, scalars out."""
    return float(array) if array.ndim == 0 else array


def unit_rows(vectors: NDArray[T]) -> NDArray[T]:
    """Return the vectors with length 1 in their directions; rows of zeros stay so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: NDArray[T] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units


def best_rows(values: Floats, count: int, ranks: Ints | None = None) -> Ints:
    """Return the positions of the ``count`` largest positive values, descending, ties by rank, else by position.

    >>> best_rows(np.array([0.2, 0.9, 0.0, 0.9]), 3).tolist()
    [1, 3, 0]
    """
    positive = np.flatnonzero(values > 0)
    if not count:
        return positive[:0]
    if len(positive) > count:
        bar = np.partition(values[positive], len(positive) - count)[len(positive) - count]
        positive = positive[values[positive] >= bar]
    order = np.lexsort((positive if ranks is None else ranks[positive], -values[positive]))
    return positive[order][:count]


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The vector of a whole text, and of a long one those of its passages, with the place where each ends.

    Packed they are numbers in single precision: the whole; those of passages then have each vector, each end, and
    their count. No number of a unit vector is as large as two, the least count, so that the last tells which it is.
    """

    whole: NDArray[np.float32]
    passages: NDArray[np.float32]
    ends: tuple[int, ...] = ()

    def packed(self) -> bytes:
        """Return the numbers as bytes, in the order that a store holds."""
        beside = [*self.ends, len(self.ends)] if self.ends else []
        joined = np.concatenate([self.whole, self.passages.ravel(), np.array(beside)])
        return joined.astype("<f4").tobytes()


def unpacked(packed: bytes) -> TextVectors:
    """Make the vectors of what ``TextVectors.packed`` returned; a vector alone is that of a text without passages.

    >>> whole, passages = np.array([0.6, 0.8], np.float32), np.eye(2, dtype=np.float32)
    >>> unpacked(TextVectors(whole, passages, (400, 712)).packed()).ends
    (400, 712)
    """
    numbers = np.frombuffer(packed, "<f4")
    last = float(numbers[-1]) if len(numbers) else 0.0
    count = int(last) if 2.0 <= last < len(numbers) and not len(numbers) % (last + 1.0) else 0
    width = len(numbers) // (count + 1) - bool(count)
    rows = numbers[: (count + 1) * width].reshape(count + 1, width)
    ends = numbers[(count + 1) * width : -1] if count else ()
    return TextVectors(rows[0], rows[1:], tuple(int(end) for end in ends))
