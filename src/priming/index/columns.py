"""Growing arrays, of which the working set is built.

A base array may be memory-mapped and read-only. It is never copied to append to it: later values go to a tail.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from priming.core.arguments.arrays import Ints

NONE = -1
"""In a column of rows or documents: no row, no document."""
_WIDENED = 256
"""How many vectors are in double precision at once."""


class Column:
    """A number or a vector a row, in memory. It grows by doubling; ``values`` are all so far, as a writable view."""

    __slots__ = ("_array", "_default", "size", "values")

    def __init__(self, dtype: DTypeLike, values: Any = (), default: Any = 0) -> None:
        self._array = self.values = np.array(values, dtype=dtype)
        self._default = default
        self.size = len(self._array)

    def reach(self, size: int) -> None:
        """Grow to at least ``size`` values; new values are the default."""
        if size > len(self._array):
            shape = max(size, 2 * len(self._array), 64), *self._array.shape[1:]
            grown = np.full(shape, self._default, self._array.dtype)
            grown[: self.size] = self.values
            self._array = grown
        if size > self.size:
            self._array[self.size : size] = self._default
            self.size = size
            self.values = self._array[:size]

    def append(self, value: Any) -> None:
        """Add one value."""
        if self.size == len(self._array):
            self.reach(self.size + 1)
        else:
            self.size += 1
            self.values = self._array[: self.size]
        self._array[self.size - 1] = value

    def extend(self, values: Any) -> None:
        """Add several values."""
        first = self.size
        self.reach(first + len(values))
        self._array[first : self.size] = values

    def keep(self, index: Ints) -> None:
        """Keep only the values at ``index``, in that order."""
        self._array = self.values = self.values[index]
        self.size = len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[index] = value


class Ragged:
    """A list of integers a row: a base in compressed rows, and a tail of single arrays."""

    __slots__ = ("_data", "_start", "_tail")

    def __init__(self, start: Ints | None = None, data: NDArray[np.int32] | None = None) -> None:
        self._start = np.zeros(1, np.int64) if start is None else start
        self._data = np.zeros(0, np.int32) if data is None else data
        self._tail: list[NDArray[np.int32]] = []

    def __len__(self) -> int:
        return len(self._start) - 1 + len(self._tail)

    def append(self, values: Iterable[int]) -> None:
        """Add one row."""
        self._tail.append(np.fromiter(values, np.int32))

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        base = len(self._start) - 1
        if row >= base:
            return self._tail[row - base]
        return self._data[self._start[row] : self._start[row + 1]]

    def gather(self, rows: Ints) -> tuple[NDArray[np.int32], Ints]:
        """Concatenate the lists of ``rows``, which ascend; return them with the end of each list."""
        early = rows[rows < len(self._start) - 1]
        first, count = self._start[early], self._start[early + 1] - self._start[early]
        ends = np.cumsum(count)
        at = np.arange(int(count.sum())) + np.repeat(first - (ends - count), count)
        late = [self._tail[row] for row in (rows[len(early) :] - len(self._start) + 1).tolist()]
        if late:
            ends = np.cumsum(np.concatenate([count, [len(values) for values in late]]))
        return np.concatenate([self._data[at], *late]), ends.astype(np.int64, copy=False)

    def packed(self) -> tuple[Ints, NDArray[np.int32]]:
        """Return every row in compressed form: offsets and data."""
        lengths = np.array([len(values) for values in self._tail], np.int64)
        start = np.concatenate([self._start, self._start[-1] + np.cumsum(lengths)])
        return start, np.concatenate([self._data, *self._tail])


class VectorColumn:
    """One unit vector a row, zero for a row without a vector: a base array and a growing tail."""

    __slots__ = ("_base", "_tail", "dimension")

    def __init__(self, dimension: int, base: NDArray[np.float32] | None = None) -> None:
        self.dimension = dimension
        self._base = np.zeros((0, dimension), np.float32) if base is None else base
        self._tail = Column(np.float32, np.zeros((0, dimension)))

    def __len__(self) -> int:
        return len(self._base) + self._tail.size

    def append(self, vector: NDArray[np.float32] | None) -> None:
        """Add one row; None for a row without a vector."""
        self._tail.append(0 if vector is None else vector)

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Add several rows."""
        self._tail.extend(vectors)

    def dot(self, vector: NDArray[np.float32], since: int = 0) -> NDArray[np.float32]:
        """Return the inner product of the rows from ``since`` on with ``vector`` (or each of its columns).

        For unit vectors that is the cosine. With one vector it stays in this thread: waiting for others costs
        milliseconds on a busy machine.
        """
        late = max(0, since - len(self._base))
        product = np.vecdot if vector.ndim == 1 else np.matmul
        with np.errstate(invalid="ignore"):  # some kernels of matmul look at lanes beyond a short row
            products = [product(self._base[since:], vector), product(self._tail[late:], vector)]
        joined: NDArray[np.float32] = np.concatenate(products)
        return joined

    def exact(self, vector: NDArray[np.float32], rows: Ints | None = None) -> NDArray[np.float64]:
        """Return the inner product of every row, or of ``rows``, which ascend, with ``vector``, in double precision.

        It is independent of the other rows. They are widened a few at a time, so that what is summed stays in the
        processor's cache.
        """
        query = np.asarray(vector, np.float64)
        parts = (self._base, self._tail.values) if rows is None else (self.take(rows),)
        products, wide = np.empty(sum(map(len, parts))), np.empty((_WIDENED, self.dimension))
        done = 0
        for part in parts:
            for first in range(0, len(part), _WIDENED):
                widened = wide[: len(part) - first]
                np.copyto(widened, part[first : first + _WIDENED])
                np.dot(widened, query, out=products[done : done + len(widened)])
                done += len(widened)
        return products

    def take(self, rows: Ints) -> NDArray[np.float32]:
        """Return the vectors of ``rows``."""
        early = rows < len(self._base)
        if early.all():
            return self._base.take(rows, axis=0)
        vectors = np.empty((len(rows), self.dimension), np.float32)
        vectors[early] = self._base[rows[early]]
        vectors[~early] = self._tail[rows[~early] - len(self._base)]
        return vectors

    def __getitem__(self, row: int) -> NDArray[np.float32]:
        base = len(self._base)
        vector: NDArray[np.float32] = self._base[row] if row < base else self._tail[row - base]
        return vector

    def __setitem__(self, row: int, vector: NDArray[np.float32]) -> None:
        base = len(self._base)
        if row >= base:
            self._tail[row - base] = vector
            return
        if not self._base.flags.writeable:
            self._base = self._base.copy()
        self._base[row] = vector

    def packed(self) -> NDArray[np.float32]:
        """Return every row in one array."""
        joined: NDArray[np.float32] = np.concatenate([self._base, self._tail.values])
        return joined
