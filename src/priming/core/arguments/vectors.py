"""The vectors of a text, of the whole and of each passage, and the numbers that a store holds of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass


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
        """The numbers as bytes, in the order that a store holds."""
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
