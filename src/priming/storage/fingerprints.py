"""Digests of what a namespace holds, equal in every store that holds the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from typing import Any, get_type_hints

import numpy as np

from priming.config.values import dataclass
from priming.serialization import column_names, to_columns
from priming.storage.protocol import Logged, StoredItem, Trace
from priming.storage.rows import Row, RowChange, VectorRow, identity

_SIZE = 8
_BUCKETS, _WORD = 1 << 16, (1 << 64) - 1
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False)


@dataclass(frozen=True, slots=True)
class PartDigest:
    """The number of items of one kind, and the digest of all in their order, in hexadecimal digits."""

    count: int
    digest: str


class DigestedItems:
    """The digest of items that are added in order."""

    def __init__(self) -> None:
        self._count, self._hash = 0, hashlib.blake2b(digest_size=_SIZE)

    def add(self, items: Iterable[StoredItem]) -> None:
        """Add the next items."""
        for item in items:
            self._hash.update(fingerprint(item))
            self._count += 1

    @property
    def digest(self) -> PartDigest:
        """The digest of all so far."""
        return PartDigest(self._count, self._hash.hexdigest())


def fingerprint(item: StoredItem) -> bytes:
    """The digest of one item. Equal items have equal digests, whichever backend they were read from."""
    text = _JSON.encode(_plain(item)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_SIZE).digest()


class RowSums:
    """Sums of rows by bucket, in memory that does not grow: rows that are added and subtracted again leave nothing.

    Each row that a log made, without those that it took back, is a row of its store; only rows of a bucket that
    differs are to be looked for by name.
    """

    def __init__(self) -> None:
        self._sums = np.zeros(_BUCKETS, np.uint64)

    def add(self, row: Row, sign: int = 1) -> None:
        """Add a row, or subtract it."""
        bucket = bucket_of(row)
        self._sums[bucket] = np.uint64((int(self._sums[bucket]) + sign * _number(row)) & _WORD)

    def add_changes(self, changes: Iterable[RowChange]) -> None:
        """Add what an operation made, and subtract what it took back."""
        for change in changes:
            if change.before is not None:
                self.add(change.before, -1)
            if change.after is not None:
                self.add(change.after)

    def differing(self) -> list[int]:
        """The buckets that are not empty."""
        return [int(bucket) for bucket in np.flatnonzero(self._sums)]


def bucket_of(row: Row) -> int:
    """The bucket of all rows with the same identity, in this process."""
    return hash(identity(row)) % _BUCKETS


def _number(row: Row) -> int:
    """What a row counts in a sum: never 0."""
    return hash((type(row).__name__, _JSON.encode(_plain(row)))) & _WORD | 1


def _plain(item: StoredItem | RowChange) -> Any:
    """An item as JSON holds it; a number of a field of fractions is one, however it was stored."""
    if isinstance(item, VectorRow):
        return [item.id, item.version, item.generation, item.vector.hex()]
    if isinstance(item, Logged):
        values = to_columns(item)
        at = column_names(Logged).index("rows")
        values[at] = [[_side(change.before), _side(change.after)] for change in item.rows]
        return values
    values = to_columns(item)
    if isinstance(item, Trace):
        values[column_names(Trace).index("flow")] = None if item.flow is None else item.flow.hex()
    kind: Any = type(item)
    for i in _fractions(kind):
        if values[i] is not None:
            values[i] = float(values[i])
    return values


def _side(row: Any) -> Any:
    return None if row is None else [type(row).__name__, *_plain(row)]


@cache
def _fractions(cls: Any) -> tuple[int, ...]:
    """The positions of the fields that hold fractions."""
    hints = get_type_hints(cls)
    return tuple(i for i, name in enumerate(column_names(cls)) if hints[name] in (float, float | None))
