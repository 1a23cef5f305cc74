"""The schema of a PostgreSQL store: created and migrated at its opening, by one process at a time."""

from __future__ import annotations

from functools import cache
from importlib import resources

import psycopg
from psycopg import errors, sql

from priming.config.values import dataclass
from priming.errors import SchemaTooNew, StoreError
from priming.serialization import stamp
from priming.storage.postgres.translation import translate_error
from priming.types import SystemClock

_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS schema_versions"
    ' (number BIGINT PRIMARY KEY, applied_at TEXT COLLATE "C" NOT NULL)'
)


@dataclass(frozen=True, slots=True)
class PostgresMigration:
    """One numbered step of the schema."""

    number: int
    sql: str


@cache
def migrations() -> tuple[PostgresMigration, ...]:
    """The migrations of this version, in order. They have SQLite's numbers; the first holds all up to its own."""
    folder = resources.files("priming.storage.postgres").joinpath("migrations")
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    return tuple(PostgresMigration(int(file.name[:3]), file.read_text("utf-8")) for file in files)


def prepare(connection: psycopg.Connection[tuple[object, ...]], schema: str, place: str) -> None:
    """Create the schema, or bring it to the newest version, each step in a transaction of its own."""
    newest = migrations()[-1].number
    try:
        if _version(connection, schema) == newest:
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{schema} schema",))
            _create(connection, schema)
        for migration in migrations():
            with connection.transaction():
                connection.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{schema} schema",)
                )
                if migration.number > _version(connection, schema):
                    connection.execute(migration.sql.encode())
                    now = stamp(SystemClock().now())
                    connection.execute("INSERT INTO schema_versions VALUES (%s, %s)", (migration.number, now))
        version = _version(connection, schema)
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{place} has no store yet, or an older one, and this role may not make it"
            f" ({error.diag.message_primary}): open it once as a role that may create the schema {schema!r}"
        ) from error
    except psycopg.Error as error:
        raise translate_error(error, place) from error
    if version > newest:
        raise SchemaTooNew(
            f"{place} was written by a newer Priming (schema {version}, this one knows {newest}): upgrade Priming;"
            " it was not changed"
        )


def _version(connection: psycopg.Connection[tuple[object, ...]], schema: str) -> int:
    """The number of the last migration; 0 for a database without a store."""
    table = sql.Identifier(schema, "schema_versions")
    ((present,),) = connection.execute("SELECT to_regclass(%s)", (table.as_string(),)).fetchall()
    if present is None:
        return 0
    query = sql.SQL("SELECT coalesce(max(number), 0) FROM {}").format(table)
    ((number,),) = connection.execute(query).fetchall()
    return int(str(number))


def _create(connection: psycopg.Connection[tuple[object, ...]], schema: str) -> None:
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchall():
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    connection.execute(_VERSIONS)
