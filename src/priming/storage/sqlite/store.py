"""The SQLite store: one file, WAL, any number of processes; its backup, and its replacement by a backup."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any, Unpack

from priming.config.private_files import create_file, replacing
from priming.errors import Conflict, Corrupt, ParamError
from priming.results import Finding
from priming.storage.damage import INTEGRITY, REIMPORT, naming_damage
from priming.storage.protocol import Changes, Count, Place, Visit, Walked
from priming.storage.sql.dialect import NO_NAMESPACE, TABLES, Database, searched_text
from priming.storage.sql.kinds import insertion
from priming.storage.sql.store import SqlStore, StoreRule
from priming.storage.sql.writer import RowWriter
from priming.storage.sqlite import presence
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.dialect import SqliteDialect, SqliteScan
from priming.storage.sqlite.files import (
    ErrorTranslation,
    Opening,
    examine_file,
    make_folder,
    migrate,
    migrations,
)
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
    """Open a new file with the newest schema and no rows, to be filled; it appears at the end of the block."""
    with _new_file(path) as copy:
        copy.isolation_level = None
        migrate(copy, None, migrations())
        yield copy


@contextmanager
def _new_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection to a file beside the path, which takes its place at the end of the block."""
    partial = path.with_name(f"{path.name}.partial")
    make_folder(path)
    with ErrorTranslation(path):
        if path.exists():
            raise Conflict(f"{path} already exists: name another file, because a backup never replaces one")
        with replacing(path, partial):
            partial.unlink(missing_ok=True)
            with suppress(OSError):  # SQLite says why it cannot
                create_file(partial)
            with closing(sqlite3.connect(partial)) as copy:
                yield copy


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
    """Open a connection that only reads; a closed store is read as an immutable file: its folder may be read-only."""
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
        db.many(NO_NAMESPACE, insertion(table, names), rows)
    db.change(NO_NAMESPACE, "INSERT INTO words (words) VALUES ('rebuild')")


_CONTENTS = (
    ("memories", "memories"),
    (
        "rules that agents will be told",
        "memories AS m WHERE kind = 'behavior' AND status = 'active' AND EXISTS (SELECT 1 FROM main.versions AS v"
        " WHERE v.namespace = m.namespace AND v.memory = m.number AND v.trust IN ('agent', 'user'))",
    ),
    ("tokens that its server will accept", "tokens WHERE revoked_at IS NULL"),
    ("sessions of the loop, whose gates are commands", "loop_sessions"),
)
_RESTORE = "restore the file from a backup"


def _dangling(rule: str, table: str, subject: str, detail: str, *ends: str) -> StoreRule:
    """Return the rule that the memories exist whose numbers rows of a table have."""
    exists = "EXISTS (SELECT 1 FROM memories WHERE namespace = t.namespace AND number = t.{})"
    missing = " OR ".join(f"NOT {exists.format(end)}" for end in ends)
    sql = f"SELECT {subject} FROM {table} t WHERE t.namespace = :namespace AND ({missing})"
    return rule, sql, detail, REIMPORT


_RULES: tuple[StoreRule, ...] = (
    _dangling(
        "dangling-link",
        "links",
        "t.source || ' → ' || t.target",
        "the link leads to or from a memory that does not exist",
        *("source", "target"),
    ),
    _dangling(
        "dangling-verdict",
        "verdicts",
        "t.memory || ' ' || t.verdict",
        "the verdict is on a memory that does not exist",
        "memory",
    ),
    _dangling(
        "dangling-pair",
        "pairs",
        "t.source || ' + ' || t.target",
        "the pair names a memory that does not exist",
        *("source", "target"),
    ),
    _dangling("no-memory", "versions", "t.number", "the version belongs to no memory", "memory"),
    (
        "stale-text-index",
        "SELECT v.number FROM versions v LEFT JOIN words_docsize d ON d.id = v.number"
        " WHERE v.namespace = :namespace AND (v.retired_at IS NULL) <> (d.id IS NOT NULL)",
        "the text index does not contain the current texts",
        REIMPORT,
    ),
)
_TEXT = "v.number, v.heading, v.content, v.bigrams FROM json_each(:listed) i CROSS JOIN versions v"
_VERSION = (
    "ON v.namespace = :namespace AND v.memory = json_extract(i.value, '$[0]')"
    " AND v.revision = json_extract(i.value, '$[1]') WHERE v.retired_at IS NULL"
)
_INDEX_WORDS = f"INSERT INTO words (rowid, heading, content, bigrams) SELECT {_TEXT} {_VERSION}"
_UNINDEX_WORDS = f"INSERT INTO words (words, rowid, heading, content, bigrams) SELECT 'delete', {_TEXT}"


def forget_words(db: Database, namespace: str, numbers: Iterable[int]) -> None:
    """Remove the texts of these memories from the text index."""
    sql = f"{_UNINDEX_WORDS} ON v.namespace = :namespace AND v.memory = i.value WHERE v.retired_at IS NULL"
    db.change(namespace, sql, {"listed": list(numbers)})


class SqliteRowWriter(RowWriter):
    """Writes rows of one namespace to SQLite, within a transaction."""

    def index(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Add the texts of these versions, if current, to the text index."""
        self._words(_INDEX_WORDS, identities)

    def unindex(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Remove the texts of these versions, if current, from the text index."""
        self._words(f"{_UNINDEX_WORDS} {_VERSION}", identities)

    def _words(self, sql: str, versions: Iterable[tuple[Any, ...]]) -> None:
        self.db.change(
            self.namespace, sql, {"listed": list(dict.fromkeys(identity[1:] for identity in versions))}
        )


@naming_damage
class SqliteStore(SqlStore):
    """A ``Store`` in one SQLite file, or in memory when ``path`` is None."""

    dialect, rules = SqliteDialect(), _RULES
    _db: Connection

    def __init__(self, path: Path | None, **how: Unpack[Opening]) -> None:
        super().__init__(Connection(path, **how))

    @property
    def place(self) -> Place:
        """The file, which the first write creates, with the folders ``<file>.working`` and ``<file>.backups``.

        A store that came with its folder has no scratch folder.
        """
        path = self._db.path
        if path is None:
            return Place(self._db.place)
        scratch = None if self._db.is_foreign else path.with_name(f"{path.name}.working")
        beside = tuple({path.absolute(), Path(os.path.realpath(path))})
        return Place(self._db.place, self._db.exists, beside, scratch, path.with_name(f"{path.name}.backups"))

    @property
    def is_writable(self) -> bool:
        """Whether the file can be written now, or made."""
        return not self._db.exists or self._db.path is None or presence.why_unwritable(self._db.path) is None

    @property
    def _scan(self) -> SqliteScan:
        return SqliteScan(self._db.raw)

    def walk(
        self, namespace: str | None, visit: Visit = None, *, around: bool = False, progress: Count = None
    ) -> Walked:
        """Read the log and every row, once, and call ``visit`` with each row that can be read, and each vector."""
        with self._db.errors:
            return super().walk(namespace, visit, around=around, progress=progress)

    def _findings(self, namespace: str, *, words: bool) -> list[Finding]:
        try:
            messages = [message for (message,) in self._db.run(namespace, "PRAGMA integrity_check")]
            broken = super()._findings(namespace, words=words)
        except Corrupt as error:
            messages, broken = [str(error)], []
        return [
            Finding(INTEGRITY, self._db.place, message, _RESTORE) for message in messages if message != "ok"
        ] + broken

    def _stale_words(self, namespace: str) -> Iterator[str]:
        """Yield the versions whose pairs of characters, in what is written without spaces, are not their text's."""
        sql = (
            "SELECT m.key, v.version, v.heading, v.content, v.bigrams FROM versions v JOIN memories m"
            " ON m.namespace = v.namespace AND m.number = v.memory WHERE v.namespace = :namespace ORDER BY v.number"
        )
        for key, version, heading, content, pairs in self._db.each(namespace, sql):
            if pairs != self.dialect.text_index(searched_text(heading, content)):
                yield f"version {version} of {label(key)}"

    def lease(self, namespace: str, work: str | None = None) -> AbstractContextManager[None]:  # noqa: ARG002
        """Do nothing: long work on a file holds a lock file in ``scratch``; nobody else opens a store in memory."""
        return nullcontext()

    def turn(self) -> AbstractContextManager[None]:
        """Do nothing: a file has a connection for each thread."""
        return nullcontext()

    def description(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the file, in words; nothing is unsafe about it."""
        return self._db.place, []

    def adopt(self) -> None:
        """Let the file count as one of this machine, without the working sets that came with it."""
        scratch = self.place.scratch
        if scratch is not None and self._db.path is not None:
            rmtree(scratch, ignore_errors=True)
            with self._db.errors:
                presence.adopt(self._db.raw, self._db.path)

    def disown(self) -> None:
        """Let the file count no more where a folder leads to it."""
        self._db.change(NO_NAMESPACE, "DELETE FROM adoptions")

    def contents(self) -> Mapping[str, int]:
        """Return the number of things in the file that its user is to know of before adopting it."""
        counts = ((name, f"SELECT count(*) FROM main.{rest}") for name, rest in _CONTENTS)
        return {name: self._db.run(NO_NAMESPACE, sql)[0][0] for name, sql in counts}

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Do nothing: a file tells nobody that it was written to."""

    def transaction(
        self,
        namespace: str | None = None,  # noqa: ARG002 - the lock is the file's
        *,
        write: bool = True,
        patience: float | None = None,
    ) -> AbstractContextManager[None]:
        """Hold the write lock, or read one state of the store, until the block ends."""
        return self._db.transaction(write=write, patience=patience)

    def flush(self) -> None:
        """Rewrite the file, so that neither it nor its journal has a byte of an erased row."""
        self._db.rewrite()

    def _writer(self, namespace: str, numbers: dict[str, int]) -> SqliteRowWriter:
        return SqliteRowWriter(self._db, self.dialect, namespace, numbers)

    def _generation(self, namespace: str, name: str) -> int:
        values = {"name": name}
        sql = "INSERT INTO generations (name) VALUES (:name) ON CONFLICT DO NOTHING"
        self._db.change(namespace, sql, values)
        sql = "SELECT generation FROM generations WHERE name = :name"
        return int(self._db.run(namespace, sql, values)[0][0])

    def clear(self, namespace: str) -> None:
        """Remove a namespace and all that it holds, its log included; read-only or not."""
        with self.transaction():
            sql = "SELECT number FROM memories WHERE namespace = :namespace"
            forget_words(self._db, namespace, [number for (number,) in self._db.run(namespace, sql)])
            for table in reversed(NAMESPACE_TABLES):
                self._db.change(namespace, f"DELETE FROM {table} WHERE namespace = :namespace")

    def _erase_rows(self, namespace: str, numbers: Collection[int]) -> dict[str, int]:
        forget_words(self._db, namespace, numbers)
        return super()._erase_rows(namespace, numbers)

    def _merge_words(self) -> None:
        # Until its segments are merged, the text index still has the words of erased texts.
        self._db.change(NO_NAMESPACE, "INSERT INTO words (words) VALUES ('optimize')")

    def backup(self, path: Path) -> None:
        """Copy the whole store, every namespace, to a new file, atomically."""
        write_backup(self._db, path)

    def restore_backup(self, path: Path, changes: Collection[Changes]) -> None:
        """Replace the whole content of the store with that of a backup, in one transaction."""
        with backup_at(path, self._db.path) as copy, self.transaction():
            # Readers of a namespace's log must find it longer than before, even if the backup lacks the namespace.
            heads = {name: self.head(name) for name in self.namespaces()}
            replace_all(self._db, copy)
            for change in changes:
                self._log(change, above=heads.get(change.namespace, 0))
