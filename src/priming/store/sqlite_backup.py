"""Backups: a store copied whole while others use it, and put back in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from priming.errors import Conflict, Corrupt, ParamError
from priming.store.connection import Connection, ErrorsOf, make_folder
from priming.store.examine import examine
from priming.store.migrate import migrate, migrations

_TABLES = (
    "namespaces",
    "memories",
    "versions",
    "generations",
    "vectors",
    "links",
    "verdicts",
    "pairs",
    "runs",
    "weights",
    "operations",
    "changes",
    "touched",
    "traces",
    "loop_sessions",
)
"""All of them but the text index, in an order in which they can be filled."""


def write_backup(db: Connection, path: Path) -> None:
    """Copy what is committed to a file that appears when it is whole."""
    partial = path.with_name(f"{path.name}.partial")
    make_folder(path)
    with ErrorsOf(path):
        if path.exists():
            raise Conflict(f"{path} is there already: name another file, for a backup replaces none")
        try:
            partial.unlink(missing_ok=True)
            with closing(sqlite3.connect(partial)) as copy:
                db.copy_to(copy)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def backup_at(path: Path, beside: Path | None) -> Iterator[sqlite3.Connection]:
    """A private copy of a backup, of the present schema and sound; the file itself is only read.

    ``beside`` is the file of the store that it is for, which is no backup of itself.
    """
    if not path.is_file():
        raise ParamError("path", str(path), "names no file: give one that a backup wrote")
    if beside is not None and path.samefile(beside):
        raise Conflict(f"{path} is the store itself: name a backup of it")
    steps = migrations()
    examine(path, newest=len(steps))
    with ErrorsOf(path), closing(sqlite3.connect("", isolation_level=None)) as copy:
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
    """A connection that writes nothing: a closed store is taken as it stands, also where its folder is read-only."""
    in_use = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if in_use else "immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)


def replace_all(db: Connection, copy: sqlite3.Connection) -> None:
    """Put the rows of a copy in the place of all rows; within a transaction."""
    db.change("INSERT INTO words (words) VALUES ('delete-all')")
    for table in reversed(_TABLES):
        db.change(f"DELETE FROM {table}")
    for table in _TABLES:
        rows = copy.execute(f"SELECT * FROM {table}")
        names = [column for column, *_ in rows.description]
        places = ", ".join("?" * len(names))
        db.many(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)
    db.change("INSERT INTO words (words) VALUES ('rebuild')")
