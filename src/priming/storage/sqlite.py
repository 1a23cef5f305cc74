"""The SQLite store: one file, WAL, any number of processes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from priming.config.params.store import STORE
from priming.errors import Conflict
from priming.storage.protocol import Changes, Logged, VersionKey
from priming.storage.rows import MemoryRow, Row, RowChange, RunRow
from priming.storage.sqlite_backup import backup_at, replace_all, write_backup
from priming.storage.sqlite_connection import Connection
from priming.storage.sqlite_files import APPLICATION_ID, Migration, migrations
from priming.storage.sqlite_log import SqliteLog
from priming.storage.sqlite_reader import SqliteReader, json_list
from priming.storage.sqlite_records import SqliteLoop, SqliteTokens, SqliteTraces
from priming.storage.sqlite_writer import RowWriter, forget_words

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


class SqliteStore(SqliteReader, SqliteLog, SqliteTraces, SqliteTokens, SqliteLoop):
    """A ``Store`` in one SQLite file, or in memory when ``path`` is None."""

    def __init__(
        self,
        path: Path | None,
        *,
        synchronous: str = "normal",
        busy_timeout: float = STORE.busy_timeout,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        super().__init__(Connection(path, synchronous=synchronous, busy_timeout=busy_timeout, steps=steps))

    @property
    def scratch(self) -> Path | None:
        """The folder ``<file>.working`` beside the file."""
        path = self._db.path
        return None if path is None else path.with_name(f"{path.name}.working")

    @property
    def backups(self) -> Path | None:
        """The folder ``<file>.backups`` beside the file."""
        path = self._db.path
        return None if path is None else path.with_name(f"{path.name}.backups")

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self._db.close()

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """Hold the write lock, or see one state of the store, until the block ends."""
        return self._db.transaction(write=write)

    def flush(self) -> None:
        """Write the file anew, so that no byte of an erased row stays in it or in its journal."""
        self._db.rewrite()

    def apply(self, changes: Changes) -> int:
        """Write one operation and its entry in the log; its number."""
        with self.transaction():
            number = self._log(changes)
            self._write(changes.namespace, changes.rows)
            if changes.generation:
                self.add_vectors(changes.namespace, changes.generation, changes.vectors)
        return number

    def _write(self, namespace: str, changes: Sequence[RowChange]) -> None:
        created = {
            change.row.id for change in changes if change.before is None and isinstance(change.row, MemoryRow)
        }
        named = {end for change in changes if not isinstance(change.row, RunRow) for end in change.ends}
        RowWriter(self._db, namespace, self._numbers(namespace, named - created)).write(changes)

    def restore(self, namespace: str, rows: Sequence[Row], operations: Sequence[Logged]) -> None:
        """Fill an empty namespace with rows and the log that made them."""
        with self.transaction():
            if self.head(namespace):
                raise Conflict(f"namespace {namespace!r} is not empty: restore into another")
            self._db.change("INSERT OR IGNORE INTO namespaces VALUES (?)", (namespace,))
            self._enter(
                namespace, [replace(operation, number=i) for i, operation in enumerate(operations, 1)]
            )
            self._mark_undone(namespace)
            self._write(namespace, [RowChange(None, row) for row in rows])

    def purge(self, changes: Changes, ids: Collection[str]) -> dict[str, int]:
        """Erase memories and every trace of them, the log's included; rows erased by table."""
        namespace = changes.namespace
        with self.transaction():
            numbers = self._numbers(namespace, ids).values()
            loops = self._unloop(namespace, self.names(namespace, ids).values())
            forget_words(self._db, namespace, numbers)
            erased = {"loop_sessions": loops}
            for table, which in _OF_MEMORY:
                sql = f"DELETE FROM {table} WHERE namespace = ? AND {which} = ?"
                gone = self._db.many(sql, [(namespace, number) for number in numbers])
                erased[table] = erased.get(table, 0) + gone
            self._unshow(namespace, ids)
            erased["changes"] = self._unlog(namespace, ids)
            erased["traces"] = self._untrace(namespace, ids)
            self._log(changes, ids)
            # Until it is merged, the text index keeps the words of texts that are gone.
            self._db.change("INSERT INTO words (words) VALUES ('optimize')")
        return erased

    def _unshow(self, namespace: str, ids: Collection[str]) -> None:
        """Take some memories out of what runs have shown."""
        self._db.change(
            "UPDATE runs SET shown = (SELECT nullif(json_group_array(s.value), '[]') FROM json_each(shown) s"
            " WHERE s.value NOT IN (SELECT value FROM json_each(:some))) WHERE namespace = :namespace"
            " AND EXISTS (SELECT 1 FROM json_each(shown) s WHERE s.value IN (SELECT value FROM json_each(:some)))",
            {"namespace": namespace, "some": json_list(ids)},
        )

    def backup(self, path: Path) -> None:
        """Copy the whole store, every namespace, to a new file, whole or not at all."""
        write_backup(self._db, path)

    def restore_backup(self, path: Path, changes: Collection[Changes]) -> None:
        """Put the content of a backup in the place of everything that is here, in one step."""
        with backup_at(path, self._db.path) as copy, self.transaction():
            # Whoever follows the log of a namespace must find it longer than before, also where the backup lacks it.
            heads = {name: self.head(name) for name in self.namespaces()}
            replace_all(self._db, copy)
            for change in changes:
                self._log(change, above=heads.get(change.namespace, 0))

    def add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, in place of those there."""
        if not vectors:
            return
        with self.transaction():
            self._db.change("INSERT OR IGNORE INTO generations (name) VALUES (?)", (generation,))
            ((number,),) = self._db.run("SELECT generation FROM generations WHERE name = ?", (generation,))
            numbers = self._numbers(namespace, {memory_id for memory_id, _ in vectors})
            self._db.many(
                "INSERT OR REPLACE INTO vectors SELECT :namespace, :memory, :version, :made, :vector WHERE EXISTS"
                " (SELECT 1 FROM versions WHERE namespace = :namespace AND memory = :memory AND version = :version)",
                (
                    {
                        "namespace": namespace,
                        "memory": numbers[memory_id],
                        "version": version,
                        "made": number,
                        "vector": vector,
                    }
                    for (memory_id, version), vector in vectors.items()
                    if memory_id in numbers
                ),
            )


def newest() -> int:
    """The number of the newest schema."""
    return migrations()[-1].number


def mark() -> int:
    """The mark in the header of a file of ours, SQLite's ``application_id``."""
    return APPLICATION_ID
