"""The PostgreSQL store: any number of processes, machines and namespaces in one database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from priming.config.params.store import POSTGRES, STORE
from priming.results import Finding
from priming.serialization import from_columns
from priming.storage.columns import LINK_COLUMNS, TABLES
from priming.storage.damage.naming import naming_damage
from priming.storage.damage.scan import damage_findings
from priming.storage.postgres.backup import empty, replace_all, write_backup
from priming.storage.postgres.checks import PostgresScan
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.postgres.log import PostgresLog
from priming.storage.postgres.reader import PostgresReader, as_bytes, as_columns
from priming.storage.postgres.records import (
    PostgresLoopSessions,
    PostgresTokens,
    PostgresTraces,
)
from priming.storage.postgres.schema import EVERY_NAMESPACE, NO_NAMESPACE, PostgresMigration, migrations
from priming.storage.postgres.writer import PostgresRowWriter, pack_links
from priming.storage.protocol import Changes, VersionKey
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    RowChange,
    RunRow,
)
from priming.storage.sql_store import FETCHED, SqlStore
from priming.storage.sqlite.backup import backup_at

_OF_MEMORY = (
    ("links", "source"),
    ("links", "target"),
    ("adjacency", "memory"),
    ("verdicts", "memory"),
    ("pairs", "source"),
    ("pairs", "target"),
    ("vectors", "memory"),
    ("versions", "memory"),
    ("memories", "number"),
)


@naming_damage(PostgresReader, PostgresLog, PostgresTraces, PostgresTokens, PostgresLoopSessions, SqlStore)
class PostgresStore(
    PostgresReader, PostgresLog, PostgresTraces, PostgresTokens, PostgresLoopSessions, SqlStore
):
    """A ``Store`` in one schema of a PostgreSQL database."""

    def __init__(
        self,
        url: str,
        *,
        schema: str = "priming",
        pool: int = POSTGRES.pool,
        busy_timeout: float = STORE.busy_timeout,
        steps: Sequence[PostgresMigration] | None = None,
    ) -> None:
        super().__init__(PostgresConnection(url, schema, pool=pool, busy_timeout=busy_timeout, steps=steps))

    @property
    def exists(self) -> bool:
        """Whether the store exists: opening it creates it."""
        return True

    @property
    def is_writable(self) -> bool:
        """Whether the database and this role can write: not on a standby, nor a role that may only read."""
        sql = (
            "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'"
            " AND has_table_privilege('operations', 'INSERT')"
        )
        return self._db.run(NO_NAMESPACE, sql) == [(True,)]

    @property
    def scratch(self) -> Path | None:
        """None: the store has no folder."""
        return None

    @property
    def backups(self) -> Path | None:
        """None: a backup names its file."""
        return None

    @property
    def connection(self) -> PostgresConnection:
        """The connection, for searches and administration in SQL."""
        return self._db

    @property
    def place(self) -> str:
        """The store as errors name it."""
        return self._db.place

    @property
    def _scan(self) -> PostgresScan:
        return PostgresScan(self._db)

    def check(self, namespace: str, *, words: bool = False) -> list[Finding]:
        """Problems of the database itself, damaged rows first."""
        with self.transaction(write=False):
            return damage_findings(list(self._scan.damage(namespace))) + super().check(namespace, words=words)

    def lease(self, namespace: str, work: str | None = None) -> AbstractContextManager[None]:
        """Take turns with other long work of the process; with ``work``, hold the right to it on a namespace."""
        return self._db.lease(namespace, work)

    def description(self) -> tuple[str, list[tuple[str, str]]]:
        """The server, its extension and the schema, in words; and what is unsafe about them, with the remedies."""
        ((server, vectors, role, is_free, acknowledged, is_synced),) = self._db.run(
            EVERY_NAMESPACE,
            "SELECT current_setting('server_version'),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector'), current_user,"
            " (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),"
            " current_setting('synchronous_commit'), current_setting('fsync') = 'on'",
        )
        detail = f"{self.place}, PostgreSQL {server}, pgvector {vectors}, schema {migrations()[-1].number}"
        unsafe = []
        if is_free:
            problem = f"row-level security does not hold for the role {role!r}"
            unsafe.append((problem, "connect as a role that is no superuser"))
        if acknowledged == "off" or not is_synced:
            name = "synchronous_commit" if is_synced else "fsync"
            problem = f"{name} is off: a crash of the server can lose writes that were acknowledged"
            unsafe.append((problem, f"turn it on for this database: {name} = on"))
        if not self.is_writable:
            unsafe.append(("it cannot be written", "name the primary, or connect as a role that may write"))
        return detail, unsafe

    def close(self) -> None:
        """Release the connections; a second call does nothing."""
        self._db.close()

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Call ``wake``, in another thread, after others wrote to a namespace; until closed."""
        self._db.watch(namespace, wake)

    @contextmanager
    def transaction(self, namespace: str | None = None, *, write: bool = True) -> Iterator[None]:
        """Hold the locks of the namespaces that are touched, or read one state of the store, until the block ends."""
        with self._db.transaction(write=write):
            if namespace is not None and write:
                self._db.lock(namespace)
            yield

    def flush(self) -> None:
        """Remove the erased rows from the tables' files; PostgreSQL's own journal and backups age by themselves."""
        self._db.administer(f"VACUUM {', '.join(TABLES)}")

    def _write(self, namespace: str, changes: Sequence[RowChange]) -> None:
        created = {
            change.row.id for change in changes if change.before is None and isinstance(change.row, MemoryRow)
        }
        named = {end for change in changes if not isinstance(change.row, RunRow) for end in change.ends}
        gone = {
            change.row.id for change in changes if change.after is None and isinstance(change.row, MemoryRow)
        }
        numbers = self._numbers(namespace, named - created)
        linked = {end for change in changes if isinstance(change.row, LinkRow) for end in change.ends}
        removed = [numbers[name] for name in gone & numbers.keys()]
        if removed:
            sql = "DELETE FROM adjacency WHERE namespace = %(namespace)s AND memory = ANY(%(memories)s::bigint[])"
            self._db.change(namespace, sql, {"memories": removed})
        PostgresRowWriter(self._db, namespace, numbers).write(changes)
        pack_links(self._db, namespace, [numbers[name] for name in (linked - gone) & numbers.keys()])

    def _present_link(self, namespace: str, row: LinkRow) -> list[LinkRow]:
        end = "(SELECT number FROM memories WHERE namespace = %(namespace)s AND id = %({})s)"
        sql = (
            f"SELECT {', '.join(LINK_COLUMNS)} FROM links WHERE namespace = %(namespace)s AND relation = %(relation)s"
            f" AND source = {end.format('source')} AND target = {end.format('target')}"
        )
        values = {"source": row.source, "target": row.target, "relation": row.relation}
        rows = self._db.run(namespace, sql, values)
        return [from_columns(LinkRow, (row.source, row.target, *columns)) for columns in rows]

    def _each_of(self, namespace: str, sql: str) -> Iterator[tuple[Any, ...]]:
        sql = sql.format("%(namespace)s").replace("t.vector", "t.vector, t.passages")
        rows = self._db.each(namespace, sql, batch=FETCHED)
        if "t.vector" not in sql:
            return rows
        return (
            (*columns, as_bytes(*vectors)) for *columns, vectors in ((*row[:-2], row[-2:]) for row in rows)
        )

    def _change_of(self, namespace: str, sql: str, values: Mapping[str, Any]) -> None:
        named = {name: f"%({name})s" for name in ("namespace", *values)}
        self._db.change(namespace, sql.format_map(named), values)

    def clear(self, namespace: str) -> None:
        """Remove a namespace and all that it holds, its log included; read-only or not."""
        with self.transaction():
            empty(self._db, namespace)

    def purge(self, changes: Changes, ids: Collection[str], names: Collection[str] = ()) -> dict[str, int]:
        """Erase memories and all that refers to them, in the log as well; the number of rows by table."""
        namespace = changes.namespace
        with self.transaction():
            self._check_writable(namespace)
            numbers = list(self._numbers(namespace, ids).values())
            keys = self.names(namespace, ids).values()
            erased = {"loop_sessions": self._erase_loop_sessions(namespace, keys)}
            self._erase_remarks(namespace, keys)
            neighbours = self._neighbours(namespace, numbers)
            for table, column in _OF_MEMORY:
                sql = f"DELETE FROM {table} WHERE namespace = %(namespace)s AND {column} = ANY(%(numbers)s::bigint[])"
                deleted = self._db.change(namespace, sql, {"numbers": numbers})
                if table != "adjacency":
                    erased[table] = erased.get(table, 0) + deleted
            pack_links(self._db, namespace, neighbours)
            self._erase_shown(namespace, ids)
            erased["changes"] = self._erase_from_log(namespace, ids)
            erased["traces"] = self._erase_traces(namespace, ids)
            for table, number in self._erase_mentions(namespace, names).items() if names else ():
                erased[table] = erased.get(table, 0) + number
            self._log(changes, ids)
        return erased

    def _neighbours(self, namespace: str, numbers: Collection[int]) -> list[int]:
        """The memories linked to these, themselves left out."""
        sql = (
            "SELECT DISTINCT other FROM link_ends WHERE namespace = %(namespace)s"
            " AND memory = ANY(%(numbers)s::bigint[]) AND NOT other = ANY(%(numbers)s::bigint[])"
        )
        return [number for (number,) in self._db.run(namespace, sql, {"numbers": list(numbers)})]

    def _erase_shown(self, namespace: str, ids: Collection[str]) -> None:
        """Remove these memories from the lists of runs."""
        affected = [run for run in self.runs(namespace) if not set(run.shown).isdisjoint(ids)]
        remaining = [
            RowChange(run, replace(run, shown=tuple(shown for shown in run.shown if shown not in ids)))
            for run in affected
        ]
        PostgresRowWriter(self._db, namespace, {}).write(remaining)

    def backup(self, path: Path) -> None:
        """Copy the whole store, every namespace, to a new file, atomically."""
        write_backup(self._db, path)

    def restore_backup(self, path: Path, changes: Collection[Changes]) -> None:
        """Replace the whole content of the store with that of a backup, in one transaction."""
        with backup_at(path, None) as copy, self.transaction():
            # Readers of a namespace's log must find it longer than before, even if the backup lacks the namespace.
            heads = {name: self.head(name) for name in self.namespaces()}
            replace_all(self._db, copy)
            for change in changes:
                self._log(change, above=heads.get(change.namespace, 0))

    def add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, replacing present ones."""
        if not vectors:
            return
        here = "namespace = %(namespace)s"
        with self.transaction():
            numbers = self._numbers(namespace, {memory_id for memory_id, _ in vectors})
            if not numbers:
                return
            self._db.change(
                namespace,
                "INSERT INTO generations SELECT %(namespace)s, coalesce(max(generation), 0) + 1, %(name)s"
                f" FROM generations WHERE {here} HAVING NOT EXISTS"
                f" (SELECT 1 FROM generations WHERE {here} AND name = %(name)s)",
                {"name": generation},
            )
            sql = f"SELECT generation FROM generations WHERE {here} AND name = %(name)s"
            ((number,),) = self._db.run(namespace, sql, {"name": generation})
            self._db.many(
                namespace,
                "INSERT INTO vectors SELECT v.namespace, v.memory, v.version, %s, %s, %s::bytea FROM versions v"
                " WHERE v.namespace = %s AND v.memory = %s AND v.version = %s LIMIT 1"
                " ON CONFLICT (namespace, memory, version, generation) DO UPDATE"
                " SET vector = excluded.vector, passages = excluded.passages",
                [
                    (number, *as_columns(vector), namespace, numbers[memory_id], version)
                    for (memory_id, version), vector in vectors.items()
                    if memory_id in numbers
                ],
            )
