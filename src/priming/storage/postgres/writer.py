"""Writes of the rows of one operation to PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from priming.config.values import dataclass
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.postgres.text_index import text_vector
from priming.storage.row_writer import RowWriter
from priming.storage.rows import VersionRow


@dataclass(frozen=True, slots=True)
class NamespaceStatements:
    """The statements of one namespace."""

    db: PostgresConnection
    namespace: str

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Execute one statement that writes for each of ``rows``; the number of rows it changed."""
        return self.db.many(self.namespace, sql, rows)


class PostgresRowWriter(RowWriter):
    """Writes rows of one namespace to PostgreSQL, within a transaction."""

    place = "%s"
    text_column = "words"

    def __init__(self, db: PostgresConnection, namespace: str, numbers: dict[str, int]) -> None:
        super().__init__(NamespaceStatements(db, namespace), namespace, numbers)
        self._db = db

    def taken(self, column: str, names: Collection[str], before: int) -> set[str]:
        """Those of the names that memories with numbers below ``before`` have in a column."""
        sql = (
            f"SELECT {column} FROM memories WHERE namespace = %(namespace)s AND {column} = ANY(%(names)s::text[])"
            " AND number < %(before)s"
        )
        rows = self._db.run(self._namespace, sql, {"names": list(names), "before": before})
        return {name for (name,) in rows}

    def first_number(self) -> int:
        """The number of the next memory."""
        sql = "SELECT coalesce(max(number), 0) + 1 FROM memories WHERE namespace = %(namespace)s"
        return int(self._db.run(self._namespace, sql)[0][0])

    def text_index(self, row: VersionRow) -> str | None:
        """The words of a version, and the pairs of characters of what is written without spaces."""
        return text_vector(f"{row.heading}\n{row.content}" if row.heading else row.content)


def pack_links(db: PostgresConnection, namespace: str, memories: Collection[int]) -> None:
    """Write the packed links of these memories again, as their links are now."""
    if not memories:
        return
    values = {"memories": sorted(memories)}
    here = "namespace = %(namespace)s AND memory = ANY(%(memories)s::bigint[])"
    db.change(namespace, f"DELETE FROM adjacency WHERE {here}", values)
    db.change(
        namespace,
        "INSERT INTO adjacency (namespace, memory, others, relations, weights, outgoing)"
        f" SELECT namespace, memory, others, relations, weights, outgoing FROM packed_links WHERE {here}",
        values,
    )
