"""The rows of a PostgreSQL store: written with the packed links of memories, read past damage, and copied to backups.

A backup is a SQLite store, so that either database can be restored from it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.storage.sql.dialect import (
    NO_NAMESPACE,
    TABLES,
    TRACES,
    WRITE,
    Database,
    cjk_pairs,
    searched_text,
)
from priming.storage.sql.walk import RowScan
from priming.storage.sql.writer import RowWriter
from priming.storage.sqlite.store import new_backup
from priming_server.postgres.connection import PostgresConnection
from priming_server.postgres.dialect import PostgresDialect, text_vector
from priming_server.postgres.schema import NAMESPACES, check_version

_DIALECT = PostgresDialect()
_HERE = "namespace = :namespace AND memory = ANY(:memories::bigint[])"


class PostgresScan(RowScan):
    """The rows of a PostgreSQL store, whose columns have values of their types, and texts that are UTF-8."""

    def __init__(self, db: PostgresConnection) -> None:
        super().__init__(_DIALECT)
        self._db = db

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield the rows of a query with their names."""
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


_BATCH = 2000
_COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    " AND table_name = :table AND column_name <> 'words' ORDER BY ordinal_position"
)
_ADDED = {"versions": ("bigrams",), "vectors": ("checksum",)}
"""By table the columns that only SQLite has."""
_PASSAGES = "passages"
"""The column of vectors that is part of another one in SQLite."""
_BOOLEAN = {"given", "introduced", "counted"}


def every_namespace(db: PostgresConnection) -> list[str]:
    """Return the namespaces of all rows, those without operations included."""
    return [name for (name,) in db.of_every(NAMESPACES)]


def write_backup(db: PostgresConnection, path: Path) -> None:
    """Copy all that is committed to a new file, which appears when it is complete."""
    _check_schema(db)
    with new_backup(path) as file, db.transaction(write=False):
        namespaces = every_namespace(db)
        columns = {table: _columns(db, table) for table in TABLES}
        file.execute("BEGIN")
        for namespace in namespaces:
            generations = _generations(db, namespace, file)
            for table in TABLES:
                if table != "generations":
                    _copy_table(db, file, namespace, table, columns[table], generations)
        file.execute("INSERT INTO words (words) VALUES ('rebuild')")
        file.execute("COMMIT")


def _check_schema(db: PostgresConnection) -> None:
    """Refuse to copy what another process has migrated meanwhile: its tables have more than is known here."""
    ((version,),) = db.run(NO_NAMESPACE, "SELECT max(number) FROM schema_versions")
    check_version(version, db.newest, db.place)


def _columns(db: PostgresConnection, table: str) -> list[str]:
    return [name for (name,) in db.run(NO_NAMESPACE, _COLUMNS, {"table": table})]


def _generations(db: PostgresConnection, namespace: str, file: sqlite3.Connection) -> dict[int, int]:
    """Map each generation of the namespace to its number in the file, where they are counted over all namespaces."""
    sql = "SELECT generation, name FROM generations WHERE namespace = :namespace ORDER BY generation"
    numbers: dict[int, int] = {}
    for number, name in db.run(namespace, sql):
        file.execute("INSERT OR IGNORE INTO generations (name) VALUES (?)", (name,))
        ((numbers[number],),) = file.execute("SELECT generation FROM generations WHERE name = ?", (name,))
    return numbers


def _copy_table(
    db: PostgresConnection,
    file: sqlite3.Connection,
    namespace: str,
    table: str,
    columns: list[str],
    generations: dict[int, int],
) -> None:
    names = [*(name for name in columns if name != _PASSAGES), *_ADDED.get(table, ())]
    places = ", ".join("?" * len(names))
    rows = db.each(namespace, f"SELECT {', '.join(columns)} FROM {table} WHERE namespace = :namespace")

    def stored() -> Iterator[list[Any]]:
        for row in rows:
            values = dict(zip(columns, row, strict=True))
            if table == "vectors":
                values["vector"] = _DIALECT.vector(values["vector"], values.pop(_PASSAGES))
                values["checksum"] = crc32(values["vector"])
                values["generation"] = generations[values["generation"]]
            if table == "versions":
                values["bigrams"] = cjk_pairs(searched_text(values["heading"], values["content"]))
            yield list(values.values())

    file.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", stored())


def replace_all(db: PostgresConnection, copy: sqlite3.Connection) -> None:
    """Replace all rows by those of a copy, within a transaction."""
    _check_schema(db)
    stored = [name for (name,) in copy.execute(NAMESPACES)]
    for namespace in sorted({*every_namespace(db), *stored}):
        empty(db, namespace)
    for namespace in stored:
        _fill(db, copy, namespace)


def empty(db: PostgresConnection, namespace: str) -> None:
    """Remove every row of a namespace, within a transaction."""
    db.lock(namespace, WRITE)
    db.lock(namespace, TRACES)
    for table in ("adjacency", *reversed(TABLES)):
        db.change(namespace, f"DELETE FROM {table} WHERE namespace = :namespace")


def _fill(db: PostgresConnection, copy: sqlite3.Connection, namespace: str) -> None:
    used = (
        "SELECT DISTINCT g.generation, g.name FROM generations g JOIN vectors x ON x.generation = g.generation"
        " WHERE x.namespace = ? ORDER BY 1"
    )
    for table in TABLES:
        columns = _columns(db, table)
        places = ", ".join("?" * (len(columns) + (table == "versions")))
        names = [*columns, "words"] if table == "versions" else columns
        insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"
        if table == "generations":
            db.many(namespace, insert, [(namespace, *row) for row in copy.execute(used, (namespace,))])
            continue
        read = [name for name in columns if name != _PASSAGES]
        with closing(
            copy.execute(f"SELECT {', '.join(read)} FROM {table} WHERE namespace = ?", (namespace,))
        ) as rows:
            while batch := rows.fetchmany(_BATCH):
                db.many(namespace, insert, [_values(table, read, row) for row in batch])
    sql = "SELECT DISTINCT memory FROM packed_links WHERE namespace = :namespace"
    pack_links(db, namespace, [number for (number,) in db.run(namespace, sql)])


def _values(table: str, columns: list[str], row: Sequence[Any]) -> list[Any]:
    values = dict(zip(columns, row, strict=True))
    for name in _BOOLEAN & values.keys():
        values[name] = bool(values[name])
    if table == "vectors":
        values["vector"], values[_PASSAGES] = _DIALECT.vector_values(values["vector"])
    if table == "versions":
        values["words"] = text_vector(searched_text(values["heading"], values["content"]))
    return list(values.values())
