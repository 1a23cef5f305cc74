"""A large PostgreSQL store, made in the database: a namespace that was filled by calls, copied under other names.

A copy has all that its original has, the log included, so that it verifies as the original does.
"""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from psycopg import sql

_FIRST = ("namespaces", "memories", "generations", "operations")
_NOT_COPIED = "'read_only', 'schema_versions', 'schema_steps', 'tokens', 'inserted_links', 'graph_links'"


def multiply(url: str, schema: str, original: str, names: Iterable[str]) -> None:
    """Copy a namespace of a store to others that do not exist yet, as the role that owns it."""
    with psycopg.connect(url, autocommit=True) as connection:
        run = connection.execute
        run(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
        run("SET synchronous_commit = off")
        rows = run(
            "SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)"
            " FROM information_schema.columns c JOIN pg_tables t ON t.tablename = c.table_name AND t.schemaname ="
            " c.table_schema WHERE c.table_schema = current_schema() AND c.column_name <> 'namespace'"
            f" AND c.table_name NOT IN ({_NOT_COPIED}) GROUP BY 1 ORDER BY 1"
        ).fetchall()
        columns = {"namespaces": "", **dict(rows)}
        tables = [*_FIRST, *(name for name in columns if name not in _FIRST)]
        run("SELECT set_config('priming.namespace', %s, false)", (original,))
        for table in tables:
            run(f"CREATE TEMP TABLE copy_of_{table} AS SELECT * FROM {table}".encode())
        for name in names:
            with connection.transaction():
                run("SELECT set_config('priming.namespace', %s, true)", (name,))
                for table in tables:
                    listed = ", ".join(filter(None, ("namespace", columns[table])))
                    values = ", ".join(filter(None, ("%s", columns[table])))
                    run(
                        f"INSERT INTO {table} ({listed}) SELECT {values} FROM copy_of_{table}".encode(),
                        (name,),
                    )
