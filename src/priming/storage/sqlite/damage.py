"""The rows of a file as they are stored, read past what is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from priming.storage.damage.scan import ReadRow, RowScan
from priming.storage.sqlite.dialect import SqliteDialect

T = TypeVar("T")
_FETCHED = 100
_MOST_ROWS = 512
"""The most rows of a page of 4 KiB."""

_DAMAGED = (
    "SELECT 'vector of version ' || x.version || ' of memory '"
    " || iif(m.key IS NULL, 'number ' || x.memory, json_quote(m.key)), x.vector, x.checksum"
    " FROM vectors x LEFT JOIN memories m ON m.namespace = x.namespace AND m.number = x.memory"
    " WHERE x.namespace = ? ORDER BY x.memory, x.version, x.generation"
)


class _Text(bytes):
    """What a column has as text, undecoded; a blob is ``bytes``."""


class SqliteScan(RowScan):
    """The rows of a SQLite store: a bit that flips leaves texts that are not UTF-8, and blobs."""

    quoted = "json_quote({})"
    of_pages = (sqlite3.DatabaseError,)
    records = (
        (
            str,
            "DISTINCT 'embedding generation ' || g.generation, g.name FROM vectors t JOIN generations g"
            " ON g.generation = t.generation",
        ),
    )
    of_all = (
        (str, "'a namespace', t.namespace FROM namespaces t"),
        (str, "'a read-only namespace', t.namespace FROM read_only t"),
    )

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query with their names, their texts as bytes, a few at a time; a damaged page ends them."""
        return self._rows(sql, () if namespace is None else (namespace,))

    def around(self, sql: str, namespace: str, key: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows that lie on no damaged page, and are not read through one: by halves of spans of ``key``."""
        ((pages,),) = self._connection.execute("PRAGMA page_count")
        spans = [(1, pages * _MOST_ROWS)] if key else [(0, 0)]
        within = f" AND t.{key} BETWEEN ? AND ?" if key else " AND ? = ?"
        while spans:
            first, last = spans.pop()
            try:
                yield from list(self._rows(sql + within, (namespace, first, last)))
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                middle = (first + last) // 2
                spans += [(middle + 1, last), (first, middle)] if first < last else []

    def _rows(self, sql: str, values: tuple[str | int, ...]) -> Iterator[tuple[str, Sequence[Any]]]:
        query = sql.format("?")
        with closing(self._undecoded(lambda: self._connection.execute(query, values))) as cursor:
            while rows := self._undecoded(lambda: cursor.fetchmany(_FETCHED)):
                for name, *columns in rows:
                    yield (name or b"a row without a name").decode("utf-8", "replace"), columns

    def _undecoded(self, call: Callable[[], T]) -> T:
        """What a call returns that reads texts as bytes."""
        former, self._connection.text_factory = self._connection.text_factory, _Text
        try:
            return call()
        finally:
            self._connection.text_factory = former

    def decode(self, values: Sequence[Any]) -> list[Any]:
        """The values of a row; an error for a text that is not UTF-8, and for a blob."""
        for value in values:
            if isinstance(value, bytes) and not isinstance(value, _Text):
                raise TypeError("a blob")
        return [value.decode() if isinstance(value, _Text) else value for value in values]

    def derived(self, namespace: str) -> Iterator[ReadRow]:
        """The vectors whose checksum is not that of their bytes."""
        for name in damaged_vectors(self._connection, namespace):
            reason = "its checksum is not that of its bytes"
            yield ReadRow(name, None, reason, "compute it anew: priming reembed")


def damaged_vectors(connection: sqlite3.Connection, namespace: str) -> Iterator[str]:
    """The names of the vectors of a namespace that are damaged."""
    former, connection.text_factory = connection.text_factory, lambda text: text.decode("utf-8", "replace")
    try:
        with closing(connection.execute(_DAMAGED, (namespace,))) as rows:
            for name, vector, checksum in rows:
                if SqliteDialect().vector(vector, checksum) is None:
                    yield name
    finally:
        connection.text_factory = former
