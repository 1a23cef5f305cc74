"""The content of a whole SQLite store: its backup, and its replacement by a backup."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from priming.config.private_files import create_file
from priming.errors import Conflict, Corrupt, ParamError
from priming.storage.columns import TABLES
from priming.storage.sql.dialect import NO_NAMESPACE
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.files import examine_file, make_folder, migrate, migrations
from priming.storage.sqlite.translation import ErrorTranslation

NAMESPACE_TABLES = tuple(table for table in TABLES if table != "generations")
"""Those whose rows belong to namespaces."""


def write_backup(db: Connection, path: Path) -> None:
    """Copy all that is committed to a new file, which appears when it is complete."""
    with _new_file(path) as copy:
        db.copy_to(copy)
        # Whoever got the backup could make a store of it that counts as one of this machine.
        copy.execute("DROP TABLE IF EXISTS adoptions")


@contextmanager
def new_backup(path: Path) -> Iterator[sqlite3.Connection]:
    """A new file with the newest schema and no rows, to be filled; it appears at the end of the block."""
    with _new_file(path) as copy:
        copy.isolation_level = None
        migrate(copy, None, migrations())
        yield copy


@contextmanager
def _new_file(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file beside the path, which takes its place at the end of the block."""
    partial = path.with_name(f"{path.name}.partial")
    make_folder(path)
    with ErrorTranslation(path):
        if path.exists():
            raise Conflict(f"{path} already exists: name another file, because a backup never replaces one")
        try:
            partial.unlink(missing_ok=True)
            with suppress(OSError):  # SQLite says why it cannot
                create_file(partial)
            with closing(sqlite3.connect(partial)) as copy:
                yield copy
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def backup_at(path: Path, store: Path | None) -> Iterator[sqlite3.Connection]:
    """Open a verified copy of a backup, migrated to the newest schema; the file itself is only read.

    ``store`` is the file of the store to be replaced, which is refused as its own backup.
    """
    if not path.is_file():
        raise ParamError("path", str(path), "names no file: name one that a backup wrote")
    if store is not None and store.exists() and path.samefile(store):
        raise Conflict(f"{path} is the store itself: name a backup of it")
    steps = migrations()
    examine_file(path, newest=len(steps))
    with ErrorTranslation(path), closing(sqlite3.connect("", isolation_level=None)) as copy:
        with closing(_reader(path)) as reader:
            reader.backup(copy)
        if not copy.execute("PRAGMA user_version").fetchone()[0]:
            raise Corrupt(f"{path} is empty: name a file that a backup wrote")
        migrate(copy, None, steps)
        ((verdict,),) = copy.execute("PRAGMA integrity_check(1)")
        if verdict != "ok":
            raise Corrupt(f"{path} is damaged ({verdict}): name another backup, nothing was changed")
        yield copy


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads; a closed store is read as an immutable file, so its folder may be read-only."""
    in_use = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if in_use else "immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)


def replace_all(db: Connection, copy: sqlite3.Connection) -> None:
    """Replace all rows by those of a copy, within a transaction."""
    db.change(NO_NAMESPACE, "INSERT INTO words (words) VALUES ('delete-all')")
    for table in reversed(TABLES):
        db.change(NO_NAMESPACE, f"DELETE FROM {table}")
    for table in TABLES:
        rows = copy.execute(f"SELECT * FROM {table}")
        names = [column for column, *_ in rows.description]
        places = ", ".join("?" * len(names))
        db.many(NO_NAMESPACE, f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)
    db.change(NO_NAMESPACE, "INSERT INTO words (words) VALUES ('rebuild')")
