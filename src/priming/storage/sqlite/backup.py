"""The content of a whole SQLite store: its backup, its replacement by a backup, and the check of its integrity."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from priming.config.private_files import create_file
from priming.errors import Conflict, Corrupt, ParamError
from priming.results import Finding
from priming.storage.columns import TABLES
from priming.storage.damage.contradictions import REIMPORT, listed_findings, stale_words
from priming.storage.spaceless import cjk_pairs
from priming.storage.sql.dialect import NO_NAMESPACE
from priming.storage.sqlite.connection import Connection, make_folder
from priming.storage.sqlite.files import examine_file, migrate, migrations
from priming.storage.sqlite.translation import ErrorTranslation
from priming.text.quotation import label

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


_RESTORE = "restore the file from a backup"
_RULES = (
    (
        "dangling-link",
        "SELECT l.source || ' → ' || l.target FROM links l WHERE l.namespace = :namespace AND (NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = l.namespace AND number = l.source) OR NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = l.namespace AND number = l.target))",
        "the link leads to or from a memory that does not exist",
        REIMPORT,
    ),
    (
        "dangling-verdict",
        "SELECT d.memory || ' ' || d.verdict FROM verdicts d WHERE d.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = d.namespace AND number = d.memory)",
        "the verdict is on a memory that does not exist",
        REIMPORT,
    ),
    (
        "dangling-pair",
        "SELECT p.source || ' + ' || p.target FROM pairs p WHERE p.namespace = :namespace AND (NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = p.namespace AND number = p.source) OR NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = p.namespace AND number = p.target))",
        "the pair names a memory that does not exist",
        REIMPORT,
    ),
    (
        "self-link",
        "SELECT m.key FROM links l JOIN memories m ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND l.source = l.target",
        "the memory is linked to itself; the link has no effect",
        "undo the operation that made the link",
    ),
    (
        "weight-range",
        "SELECT m.key || ' ' || l.relation || ' ' || l.weight FROM links l JOIN memories m"
        " ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND NOT (l.weight >= 0 AND l.weight <= 1)",
        "a link's weight is outside [0, 1]",
        "set it with set_strength",
    ),
    (
        "no-version",
        "SELECT m.key FROM memories m WHERE m.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.namespace = m.namespace AND v.memory = m.number"
        " AND v.retired_at IS NULL)",
        "the memory has no current version",
        "undo the operation that retired it, or purge the memory",
    ),
    (
        "no-memory",
        "SELECT v.number FROM versions v WHERE v.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = v.namespace AND number = v.memory)",
        "the version belongs to no memory",
        REIMPORT,
    ),
    (
        "overlapping-versions",
        "SELECT DISTINCT m.key FROM versions a JOIN versions b ON b.namespace = a.namespace AND"
        " b.memory = a.memory AND b.revision > a.revision JOIN memories m ON m.namespace = a.namespace AND"
        " m.number = a.memory WHERE a.namespace = :namespace AND a.retired_at IS NULL AND b.retired_at IS NULL"
        " AND (a.valid_to IS NULL OR b.valid_from IS NULL OR b.valid_from < a.valid_to)"
        " AND (b.valid_to IS NULL OR a.valid_from IS NULL OR a.valid_from < b.valid_to)",
        "two versions of the memory are valid at the same time",
        "undo the operation that recorded the later one",
    ),
    (
        "stray-vector",
        "SELECT x.memory || ' version ' || x.version FROM vectors x WHERE x.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.namespace = x.namespace AND v.memory = x.memory"
        " AND v.version = x.version)",
        "the vector belongs to no version",
        REIMPORT,
    ),
    (
        "stale-text-index",
        "SELECT v.number FROM versions v LEFT JOIN words_docsize d ON d.id = v.number"
        " WHERE v.namespace = :namespace AND (v.retired_at IS NULL) <> (d.id IS NOT NULL)",
        "the text index does not contain the current texts",
        REIMPORT,
    ),
)


def _stale_words(db: Connection, namespace: str) -> Iterator[str]:
    """The versions whose pairs of characters, in what is written without spaces, are not those of their text."""
    sql = (
        "SELECT m.key, v.version, v.heading, v.content, v.bigrams FROM versions v JOIN memories m"
        " ON m.namespace = v.namespace AND m.number = v.memory WHERE v.namespace = :namespace ORDER BY v.number"
    )
    for key, version, heading, content, pairs in db.each(namespace, sql):
        if pairs != cjk_pairs(f"{heading}\n{content}" if heading else content):
            yield f"version {version} of {label(key)}"


def file_findings(db: Connection, namespace: str, *, words: bool) -> list[Finding]:
    """Find damaged pages, dangling references and a stale text index; ``words``: also the words of each text."""
    try:
        problems = [
            Finding("integrity", str(db.path), message, _RESTORE)
            for (message,) in db.run(namespace, "PRAGMA integrity_check")
            if message != "ok"
        ]
        for rule, query, detail, remedy in _RULES:
            subjects = [str(subject) for (subject,) in db.run(namespace, query)]
            problems += listed_findings(rule, subjects, detail, remedy)
        if words:
            problems += stale_words([*_stale_words(db, namespace)])
    except Corrupt as error:
        return [Finding("integrity", str(db.path), str(error), _RESTORE)]
    return problems
