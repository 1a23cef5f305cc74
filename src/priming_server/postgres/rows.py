"""The rows of a PostgreSQL store: written with the packed links of memories, read past damage, and copied."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from priming.maintenance.migrate import batches
from priming.storage.protocol import PARTS, Store
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.storage.sql.dialect import NO_NAMESPACE, TABLES, TRACES, WRITE, Database
from priming.storage.sql.walk import RowScan
from priming.storage.sql.writer import RowWriter
from priming_server.postgres.connection import PostgresConnection
from priming_server.postgres.dialect import PostgresDialect
from priming_server.postgres.schema import NAMESPACES, check_version

_COPIED = 20_000
"""Rows that are copied at once: after each so many, links are packed anew."""
_HERE = "namespace = :namespace AND memory = ANY(:memories::bigint[])"


class PostgresScan(RowScan):
    """The rows of a PostgreSQL store, whose columns have values of their types, and texts that are UTF-8."""

    def __init__(self, db: PostgresConnection) -> None:
        super().__init__(PostgresDialect())
        self._db = db

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query with their names."""
        scope = NO_NAMESPACE if namespace is None else namespace
        for name, *values in self._db.each(scope, sql):
            yield name or "a row without a name", values


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


def every_namespace(db: PostgresConnection) -> list[str]:
    """The namespaces of all rows, those without operations included."""
    return [name for (name,) in db.of_every(NAMESPACES)]


def check_known(db: PostgresConnection) -> None:
    """Refuse to copy what another process has migrated meanwhile: its tables have more than is known here."""
    ((version,),) = db.run(NO_NAMESPACE, "SELECT max(number) FROM schema_versions")
    check_version(version, db.newest, db.place)


def copy_namespace(source: Store, target: Store, namespace: str) -> None:
    """Append all that a namespace holds to another store, which has nothing of it."""
    for kind in PARTS:
        for batch in batches(source.part(namespace, kind), _COPIED):
            target.append(namespace, batch)


def empty(db: PostgresConnection, namespace: str) -> None:
    """Remove every row of a namespace, within a transaction."""
    db.lock(namespace, WRITE)
    db.lock(namespace, TRACES)
    for table in ("adjacency", *reversed(TABLES)):
        db.change(namespace, f"DELETE FROM {table} WHERE namespace = :namespace")
