"""Backups of a whole PostgreSQL store: files that either database can be restored from, being SQLite stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

from priming.storage.sql.dialect import NO_NAMESPACE, TABLES, TRACES, WRITE, cjk_pairs
from priming.storage.sqlite.store import new_backup
from priming_server.postgres.connection import PostgresConnection
from priming_server.postgres.dialect import as_bytes, as_columns
from priming_server.postgres.rows import pack_links
from priming_server.postgres.schema import NAMESPACES, check_version
from priming_server.postgres.text_index import text_vector

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
    """The namespaces of all rows, those without operations included."""
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
    """The number of each generation of the namespace in the file, where they are counted over all namespaces."""
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
                values["vector"] = as_bytes(values["vector"], values.pop(_PASSAGES))
                values["checksum"] = crc32(values["vector"])
                values["generation"] = generations[values["generation"]]
            if table == "versions":
                heading, content = values["heading"], values["content"]
                values["bigrams"] = cjk_pairs(f"{heading}\n{content}" if heading else content)
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
        values["vector"], values[_PASSAGES] = as_columns(values["vector"])
    if table == "versions":
        heading, content = values["heading"], values["content"]
        values["words"] = text_vector(f"{heading}\n{content}" if heading else content)
    return list(values.values())
