"""The rows of a file as they are stored, read past what is damaged, and the check of its integrity."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar

from priming.errors import Corrupt
from priming.results import Finding
from priming.storage.sql.dialect import cjk_pairs
from priming.storage.sql.rules import REIMPORT, RULES, StoreRule, broken_rules, stale_words
from priming.storage.sql.walk import RowScan
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.dialect import SqliteDialect
from priming.text.quotation import label

T = TypeVar("T")
_FETCHED = 100
_MOST_ROWS = 512
"""The most rows of a page of 4 KiB."""


class _Text(bytes):
    """What a column has as text, undecoded; a blob is ``bytes``."""


class SqliteScan(RowScan):
    """The rows of a SQLite store: a bit that flips leaves texts that are not UTF-8, and blobs."""

    of_pages = (sqlite3.DatabaseError,)
    records = (
        (
            str,
            "SELECT DISTINCT 'embedding generation ' || g.generation, g.name FROM vectors t JOIN generations g"
            " ON g.generation = t.generation WHERE t.namespace = :namespace",
        ),
    )
    of_all = (
        (str, "SELECT 'a namespace', t.namespace FROM namespaces t"),
        (str, "SELECT 'a read-only namespace', t.namespace FROM read_only t"),
    )

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(SqliteDialect())
        self._connection = connection

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query with their names, their texts as bytes, a few at a time; a damaged page ends them."""
        return self._rows(sql, {"namespace": namespace})

    def around(self, sql: str, namespace: str, key: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows that lie on no damaged page, and are not read through one: by halves of spans of ``key``."""
        ((pages,),) = self._connection.execute("PRAGMA page_count")
        spans = [(1, pages * _MOST_ROWS)] if key else [(0, 0)]
        within = f" AND t.{key} BETWEEN :first AND :last" if key else ""
        while spans:
            first, last = spans.pop()
            try:
                values = {"namespace": namespace, "first": first, "last": last}
                yield from list(self._rows(sql + within, values))
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                middle = (first + last) // 2
                spans += [(middle + 1, last), (first, middle)] if first < last else []

    def _rows(self, sql: str, values: Mapping[str, str | int | None]) -> Iterator[tuple[str, Sequence[Any]]]:
        with closing(self._undecoded(lambda: self._connection.execute(sql, values))) as cursor:
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


_RESTORE = "restore the file from a backup"
_RULES: tuple[StoreRule, ...] = (
    (
        "dangling-link",
        "SELECT l.source || ' → ' || l.target FROM links l WHERE l.namespace = :namespace AND (NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = l.namespace AND number = l.source) OR NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = l.namespace AND number = l.target))",
        "the link leads to or from a memory that does not exist",
        REIMPORT,
    ),
    (
        "dangling-verdict",
        "SELECT d.memory || ' ' || d.verdict FROM verdicts d WHERE d.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = d.namespace AND number = d.memory)",
        "the verdict is on a memory that does not exist",
        REIMPORT,
    ),
    (
        "dangling-pair",
        "SELECT p.source || ' + ' || p.target FROM pairs p WHERE p.namespace = :namespace AND (NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = p.namespace AND number = p.source) OR NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = p.namespace AND number = p.target))",
        "the pair names a memory that does not exist",
        REIMPORT,
    ),
    (
        "no-memory",
        "SELECT v.number FROM versions v WHERE v.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = v.namespace AND number = v.memory)",
        "the version belongs to no memory",
        REIMPORT,
    ),
    (
        "stale-text-index",
        "SELECT v.number FROM versions v LEFT JOIN words_docsize d ON d.id = v.number"
        " WHERE v.namespace = :namespace AND (v.retired_at IS NULL) <> (d.id IS NOT NULL)",
        "the text index does not contain the current texts",
        REIMPORT,
    ),
)


def _stale_words(db: Connection, namespace: str) -> Iterator[str]:
    """The versions whose pairs of characters, in what is written without spaces, are not those of their text."""
    sql = (
        "SELECT m.key, v.version, v.heading, v.content, v.bigrams FROM versions v JOIN memories m"
        " ON m.namespace = v.namespace AND m.number = v.memory WHERE v.namespace = :namespace ORDER BY v.number"
    )
    for key, version, heading, content, pairs in db.each(namespace, sql):
        if pairs != cjk_pairs(f"{heading}\n{content}" if heading else content):
            yield f"version {version} of {label(key)}"


def file_findings(db: Connection, namespace: str, *, words: bool) -> list[Finding]:
    """Find damaged pages, dangling references and a stale text index; ``words``: also the words of each text."""
    try:
        problems = [
            Finding("integrity", str(db.path), message, _RESTORE)
            for (message,) in db.run(namespace, "PRAGMA integrity_check")
            if message != "ok"
        ]
        problems += broken_rules(db, namespace, (*RULES, *_RULES))
        if words:
            problems += stale_words([*_stale_words(db, namespace)])
    except Corrupt as error:
        return [Finding("integrity", str(db.path), str(error), _RESTORE)]
    return problems
