"""Schema history: numbered SQL files, each applied in one transaction, after a backup, and never edited."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from priming.errors import Corrupt, SchemaTooNew, StoreError

APPLICATION_ID = 0x50524D47
"""``PRMG`` in the file's header marks a database as ours."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: ``number`` counts from 1 without gaps."""

    number: int
    name: str
    sql: str


def migrations() -> tuple[Migration, ...]:
    """The steps that ship with this version, in order: ``sql/001_initial.sql`` is the first."""
    folder = resources.files("priming.store").joinpath("sql")
    texts = {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".sql")}
    return tuple(
        Migration(int(name.partition("_")[0]), name.removesuffix(".sql"), texts[name])
        for name in sorted(texts)
    )


def check_version(path: object, version: int, application_id: int, tables: bool, newest: int) -> None:
    """Refuse what this version of Priming must not write to."""
    if application_id != APPLICATION_ID and (application_id or version or tables):
        raise Corrupt(f"{path} is a database of another program: name another file, it was not touched")
    if version > newest:
        raise SchemaTooNew(
            f"{path} has schema {version}, this version of Priming knows {newest}: install a newer Priming"
        )


def migrate(connection: sqlite3.Connection, path: Path | None, steps: Sequence[Migration]) -> None:
    """Bring the schema up to the last of ``steps``; a backup is made before each change to existing data.

    Several processes may open a file at once: each step takes the write lock, looks again, and only then
    makes the backup, so that it holds everything that was written under the old schema.
    """
    fresh = _version(connection) == 0
    for step in steps:
        if _version(connection) < step.number:
            with _locked(connection, step):
                if _version(connection) < step.number:
                    if path is not None and not fresh:
                        _backup(path, step.number - 1)
                    for statement in statements(step.sql):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {step.number}")
                    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


@contextmanager
def _locked(connection: sqlite3.Connection, step: Migration) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, (sqlite3.Error, sqlite3.Warning, OSError)):
            raise StoreError(f"migration {step.name} failed and was rolled back: {error}") from error
        raise


def statements(sql: str) -> list[str]:
    """The single statements of a script (``executescript`` would commit behind our back)."""
    complete, pending = [], ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            complete.append(pending)
            pending = ""
    if pending.strip():
        raise StoreError(f"a migration ends in the middle of a statement: {pending.strip()[:60]!r}")
    return complete


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _backup(path: Path, version: int) -> None:
    """A copy beside the file, made whole before it gets its name; one of an earlier attempt is replaced."""
    target = path.with_name(f"{path.name}.schema-{version}.backup")
    partial = target.with_name(target.name + ".partial")
    try:
        partial.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
