"""Writes of rows to SQLite, with the words of their texts in the text index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from priming.storage.sql.dialect import Database
from priming.storage.sql.writer import RowWriter

_TEXT = "v.number, v.heading, v.content, v.bigrams FROM json_each(:listed) i CROSS JOIN versions v"
_VERSION = (
    "ON v.namespace = :namespace AND v.memory = json_extract(i.value, '$[0]')"
    " AND v.revision = json_extract(i.value, '$[1]') WHERE v.retired_at IS NULL"
)
_INDEX_WORDS = f"INSERT INTO words (rowid, heading, content, bigrams) SELECT {_TEXT} {_VERSION}"
_UNINDEX_WORDS = f"INSERT INTO words (words, rowid, heading, content, bigrams) SELECT 'delete', {_TEXT}"


def forget_words(db: Database, namespace: str, numbers: Iterable[int]) -> None:
    """Remove the texts of these memories from the text index."""
    sql = f"{_UNINDEX_WORDS} ON v.namespace = :namespace AND v.memory = i.value WHERE v.retired_at IS NULL"
    db.change(namespace, sql, {"listed": list(numbers)})


class SqliteRowWriter(RowWriter):
    """Writes rows of one namespace to SQLite, within a transaction."""

    def index(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Add the texts of these versions, if current, to the text index."""
        self._words(_INDEX_WORDS, identities)

    def unindex(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Remove the texts of these versions, if current, from the text index."""
        self._words(f"{_UNINDEX_WORDS} {_VERSION}", identities)

    def _words(self, sql: str, versions: Iterable[tuple[Any, ...]]) -> None:
        self.db.change(
            self.namespace, sql, {"listed": list(dict.fromkeys(identity[1:] for identity in versions))}
        )
