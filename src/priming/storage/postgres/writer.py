"""Writes of rows to PostgreSQL, with the packed links of memories."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.storage.sql.dialect import Database
from priming.storage.sql.writer import RowWriter

_HERE = "namespace = :namespace AND memory = ANY(:memories::bigint[])"


class PostgresRowWriter(RowWriter):
    """Writes rows of one namespace to PostgreSQL, within a transaction."""

    def write(self, changes: Sequence[RowChange]) -> None:
        """Delete, insert and update rows, and pack the links of memories anew."""
        gone = {
            change.row.id for change in changes if change.after is None and isinstance(change.row, MemoryRow)
        }
        linked = {end for change in changes if isinstance(change.row, LinkRow) for end in change.ends}
        if removed := self.numbers_of(gone):
            self.db.change(self.namespace, f"DELETE FROM adjacency WHERE {_HERE}", {"memories": removed})
        super().write(changes)
        pack_links(self.db, self.namespace, self.numbers_of(linked - gone))


def pack_links(db: Database, namespace: str, memories: Collection[int]) -> None:
    """Write the packed links of these memories again, as their links are now."""
    if not memories:
        return
    values = {"memories": sorted(memories)}
    columns = "namespace, memory, others, relations, weights, outgoing"
    db.change(namespace, f"DELETE FROM adjacency WHERE {_HERE}", values)
    packed = f"SELECT {columns} FROM packed_links WHERE {_HERE}"
    db.change(namespace, f"INSERT INTO adjacency ({columns}) {packed}", values)
