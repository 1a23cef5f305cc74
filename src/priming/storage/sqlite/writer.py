"""Writes of the rows of one operation to SQLite, with their words in the text index."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from priming.storage.row_writer import RowWriter
from priming.storage.rows import VersionRow
from priming.storage.spaceless import cjk_pairs
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.reader import json_list

_TEXT = "v.number, v.heading, v.content, v.bigrams FROM json_each(:listed) i CROSS JOIN versions v"
_VERSION = (
    "ON v.namespace = :namespace AND v.memory = json_extract(i.value, '$[0]')"
    " AND v.revision = json_extract(i.value, '$[1]') WHERE v.retired_at IS NULL"
)
_INDEX_WORDS = f"INSERT INTO words (rowid, heading, content, bigrams) SELECT {_TEXT} {_VERSION}"
_UNINDEX_WORDS = f"INSERT INTO words (words, rowid, heading, content, bigrams) SELECT 'delete', {_TEXT}"


def forget_words(db: Connection, namespace: str, numbers: Iterable[int]) -> None:
    """Remove the texts of these memories from the text index."""
    sql = f"{_UNINDEX_WORDS} ON v.namespace = :namespace AND v.memory = i.value WHERE v.retired_at IS NULL"
    db.change(sql, {"namespace": namespace, "listed": json_list(numbers)})


class SqliteRowWriter(RowWriter):
    """Writes rows of one namespace to SQLite, within a transaction."""

    place = "?"
    text_column = "bigrams"

    def __init__(self, db: Connection, namespace: str, numbers: dict[str, int]) -> None:
        super().__init__(db, namespace, numbers)
        self._db = db

    def taken(self, column: str, names: Collection[str], before: int) -> set[str]:
        """Those of the names that memories with numbers below ``before`` have in a column."""
        sql = (
            "SELECT i.value FROM json_each(?) i CROSS JOIN memories m ON m.namespace = ?"
            f" AND m.{column} = i.value WHERE m.number < ?"
        )
        return {name for (name,) in self._db.run(sql, (json_list(names), self._namespace, before))}

    def first_number(self) -> int:
        """The number of the next memory."""
        sql = "SELECT coalesce(max(number), 0) + 1 FROM memories WHERE namespace = ?"
        return int(self._db.run(sql, (self._namespace,))[0][0])

    def text_index(self, row: VersionRow) -> str | None:
        """The pairs of characters of what is written without spaces."""
        return cjk_pairs(f"{row.heading}\n{row.content}" if row.heading else row.content)

    def index(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Add the texts of these versions, if current, to the text index."""
        self._words(_INDEX_WORDS, identities)

    def unindex(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Remove the texts of these versions, if current, from the text index."""
        self._words(f"{_UNINDEX_WORDS} {_VERSION}", identities)

    def _words(self, sql: str, versions: Iterable[tuple[Any, ...]]) -> None:
        listing = json_list(identity[1:] for identity in versions)
        self._db.change(sql, {"namespace": self._namespace, "listed": listing})
