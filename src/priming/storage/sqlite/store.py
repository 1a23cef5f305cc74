"""The SQLite store: one file, WAL, any number of processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from shutil import rmtree
from typing import Any

from priming.config.params.store import STORE
from priming.results import Finding
from priming.serialization import from_columns
from priming.storage.columns import LINK_COLUMNS
from priming.storage.damage.naming import naming_damage
from priming.storage.damage.scan import ReadRow, damage_findings
from priming.storage.protocol import Changes, Kind
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    Row,
    RowChange,
    RunRow,
    VectorRow,
)
from priming.storage.sql_store import FETCHED, SqlStore
from priming.storage.sqlite import presence
from priming.storage.sqlite.backup import NAMESPACE_TABLES, backup_at, replace_all, write_backup
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.damage import SqliteScan
from priming.storage.sqlite.files import APPLICATION_ID, Migration, migrations
from priming.storage.sqlite.log import SqliteLog
from priming.storage.sqlite.reader import SqliteReader, json_list
from priming.storage.sqlite.records import SqliteLoopSessions, SqliteTokens, SqliteTraces
from priming.storage.sqlite.vectors import SqliteVectors, damaged_vectors
from priming.storage.sqlite.writer import SqliteRowWriter, forget_words

_OF_MEMORY = (
    ("links", "source"),
    ("links", "target"),
    ("verdicts", "memory"),
    ("pairs", "source"),
    ("pairs", "target"),
    ("vectors", "memory"),
    ("versions", "memory"),
    ("memories", "number"),
)

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


@naming_damage(
    SqliteReader, SqliteVectors, SqliteLog, SqliteTraces, SqliteTokens, SqliteLoopSessions, SqlStore
)
class SqliteStore(SqliteVectors, SqliteLog, SqliteTraces, SqliteTokens, SqliteLoopSessions, SqlStore):
    """A ``Store`` in one SQLite file, or in memory when ``path`` is None."""

    generations_of_all = True

    def __init__(
        self,
        path: Path | None,
        *,
        synchronous: str = "normal",
        busy_timeout: float = STORE.busy_timeout,
        steps: Sequence[Migration] | None = None,
        origin: str | None = None,
    ) -> None:
        super().__init__(
            Connection(path, synchronous=synchronous, busy_timeout=busy_timeout, steps=steps, origin=origin)
        )
        if path is not None:
            self.places = tuple({path.absolute(), Path(os.path.realpath(path))})

    @property
    def exists(self) -> bool:
        """Whether the file exists: the first write creates it. A store in memory always does."""
        return self._db.exists

    @property
    def is_writable(self) -> bool:
        """Whether the file can be written now, or made."""
        return not self.exists or self._db.path is None or presence.why_unwritable(self._db.path) is None

    @property
    def scratch(self) -> Path | None:
        """The folder ``<file>.working`` beside the file; none for a store that came with its folder."""
        path = None if self._db.is_foreign else self._db.path
        return None if path is None else path.with_name(f"{path.name}.working")

    @property
    def backups(self) -> Path | None:
        """The folder ``<file>.backups`` beside the file."""
        path = self._db.path
        return None if path is None else path.with_name(f"{path.name}.backups")

    @property
    def place(self) -> str:
        """The store as errors name it."""
        return str(self._db.path or "the store in memory")

    @property
    def _scan(self) -> SqliteScan:
        return SqliteScan(self._db.raw)

    def damage(self, namespace: str | None) -> list[ReadRow]:
        """The rows of a namespace that are damaged; if there are none, those that belong to no namespace."""
        with self._db.errors:
            return super().damage(namespace)

    def whole_rows(self, namespace: str) -> Iterator[Row]:
        """The rows that are whole, and belong to memories that are."""
        with self._db.errors:
            yield from super().whole_rows(namespace)

    def check(self, namespace: str, *, words: bool = False) -> list[Finding]:
        """Problems of the database itself, damaged rows first."""
        try:
            with self._db.transaction(write=False):  # the log and the rows of one state
                damaged = list(self._scan.damage(namespace))
        except sqlite3.Error:
            damaged = []  # a damaged page, which the check of the file finds
        return damage_findings(damaged) + super().check(namespace, words=words)

    def lease(self, namespace: str, work: str | None = None) -> AbstractContextManager[None]:  # noqa: ARG002
        """Nothing: long work on a file holds a lock file in ``scratch``, and nobody else opens a store in memory."""
        return nullcontext()

    def description(self) -> tuple[str, list[tuple[str, str]]]:
        """The file, in words; nothing is unsafe about it."""
        return self.place, []

    def adopt(self) -> None:
        """Let the file count as one of this machine, without the working sets that came with it."""
        if self.scratch is not None and self._db.path is not None:
            rmtree(self.scratch, ignore_errors=True)
            with self._db.errors:
                presence.adopt(self._db.raw, self._db.path)

    def disown(self) -> None:
        """Let the file count no more where a folder leads to it."""
        self._db.change("DELETE FROM adoptions")

    def contents(self) -> Mapping[str, int]:
        """The number of things in the file that its user is to know of before adopting it."""
        return {name: self._db.run(f"SELECT count(*) FROM main.{rest}")[0][0] for name, rest in _CONTENTS}

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self._db.close()

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Nothing: a file tells nobody that it was written to."""

    def transaction(
        self,
        namespace: str | None = None,  # noqa: ARG002 - the lock is the file's
        *,
        write: bool = True,
    ) -> AbstractContextManager[None]:
        """Hold the write lock, or read one state of the store, until the block ends."""
        return self._db.transaction(write=write)

    def flush(self) -> None:
        """Rewrite the file, so that neither it nor its journal has a byte of an erased row."""
        self._db.rewrite()

    def _write(self, namespace: str, changes: Sequence[RowChange]) -> None:
        created = {
            change.row.id for change in changes if change.before is None and isinstance(change.row, MemoryRow)
        }
        named = {end for change in changes if not isinstance(change.row, RunRow) for end in change.ends}
        SqliteRowWriter(self._db, namespace, self._numbers(namespace, named - created)).write(changes)

    def _present_link(self, namespace: str, row: LinkRow) -> list[LinkRow]:
        end = "(SELECT number FROM memories WHERE namespace = :namespace AND id = :{})"
        sql = (
            f"SELECT {', '.join(LINK_COLUMNS)} FROM links WHERE namespace = :namespace AND relation = :relation"
            f" AND source = {end.format('source')} AND target = {end.format('target')}"
        )
        values = {"source": row.source, "target": row.target, "relation": row.relation}
        rows = self._db.run(sql, {"namespace": namespace, **values})
        return [from_columns(LinkRow, (row.source, row.target, *columns)) for columns in rows]

    def part(self, namespace: str, kind: type[Kind]) -> Iterator[Kind]:
        """Every item of a kind, read a few at a time, in an order that is the same in every store."""
        if kind is VectorRow and any(damaged_vectors(self._db.raw, namespace)):
            raise ValueError("a vector is damaged")
        yield from super().part(namespace, kind)

    def _each_of(self, namespace: str, sql: str) -> Iterator[tuple[Any, ...]]:
        return self._db.each(sql.format("?"), (namespace,), batch=FETCHED)

    def _change_of(self, namespace: str, sql: str, values: Mapping[str, Any]) -> None:
        named = {"namespace": namespace, **values}
        self._db.change(sql.format_map({name: f":{name}" for name in named}), named)

    def clear(self, namespace: str) -> None:
        """Remove a namespace and all that it holds, its log included; read-only or not."""
        with self.transaction():
            forget_words(self._db, namespace, self._ids(namespace, None))
            for table in reversed(NAMESPACE_TABLES):
                self._db.change(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))

    def purge(self, changes: Changes, ids: Collection[str], names: Collection[str] = ()) -> dict[str, int]:
        """Erase memories and all that refers to them, in the log as well; the number of rows by table."""
        namespace = changes.namespace
        with self.transaction():
            self._check_writable(namespace)
            numbers = self._numbers(namespace, ids).values()
            keys = self.names(namespace, ids).values()
            erased = {"loop_sessions": self._erase_loop_sessions(namespace, keys)}
            self._erase_remarks(namespace, keys)
            forget_words(self._db, namespace, numbers)
            for table, column in _OF_MEMORY:
                sql = f"DELETE FROM {table} WHERE namespace = ? AND {column} = ?"
                deleted = self._db.many(sql, [(namespace, number) for number in numbers])
                erased[table] = erased.get(table, 0) + deleted
            self._erase_shown(namespace, ids)
            erased["changes"] = self._erase_from_log(namespace, ids)
            erased["traces"] = self._erase_traces(namespace, ids)
            for table, number in self._erase_mentions(namespace, names).items() if names else ():
                erased[table] = erased.get(table, 0) + number
            self._log(changes, ids)
            # Until its segments are merged, the text index still has the words of erased texts.
            self._db.change("INSERT INTO words (words) VALUES ('optimize')")
        return erased

    def _erase_shown(self, namespace: str, ids: Collection[str]) -> None:
        """Remove these memories from the lists of runs."""
        self._db.change(
            "UPDATE runs SET shown = (SELECT nullif(json_group_array(s.value), '[]') FROM json_each(shown) s"
            " WHERE s.value NOT IN (SELECT value FROM json_each(:ids))) WHERE namespace = :namespace"
            " AND EXISTS (SELECT 1 FROM json_each(shown) s WHERE s.value IN (SELECT value FROM json_each(:ids)))",
            {"namespace": namespace, "ids": json_list(ids)},
        )

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


def newest() -> int:
    """The number of the newest schema."""
    return migrations()[-1].number


def mark() -> int:
    """SQLite's ``application_id`` in the header of a Priming store."""
    return APPLICATION_ID
