"""The PostgreSQL store: any number of processes, machines and namespaces in one database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path

from priming.config.environment import database_place
from priming.config.params.limits import STORE
from priming.config.store_urls import Location
from priming.results import Finding
from priming.storage.damage import naming_damage
from priming.storage.protocol import Changes, Place, TokenRow
from priming.storage.sql.dialect import NO_NAMESPACE, TABLES, searched_text
from priming.storage.sql.store import SqlStore, StoreRule
from priming.storage.sql.writer import Erasure
from priming.storage.sqlite.store import backup_at
from priming.text.quotation import label
from priming_server.postgres.connection import PostgresConnection
from priming_server.postgres.dialect import PostgresDialect, text_vector
from priming_server.postgres.rows import (
    PostgresRowWriter,
    PostgresScan,
    empty,
    pack_links,
    replace_all,
    write_backup,
)
from priming_server.postgres.schema import EVERY_NAMESPACE, POSTGRES, PostgresMigration, migrations

_BATCH = 500
_STORED = "SELECT memory, others, relations, weights, outgoing FROM adjacency WHERE namespace = :namespace"
_PACKED = _STORED.replace("adjacency", "packed_links")
_TEXTS = "SELECT memory, revision, heading, content FROM versions WHERE namespace = :namespace ORDER BY 1, 2"
_OTHERS = (
    "SELECT DISTINCT m.number, m.key, v.version"
    " FROM unnest(:memories::bigint[], :revisions::bigint[], :words::text[]) AS e(memory, revision, words)"
    " JOIN versions v ON v.namespace = :namespace AND v.memory = e.memory AND v.revision = e.revision"
    " JOIN memories m ON m.namespace = v.namespace AND m.number = v.memory"
    " WHERE v.words IS DISTINCT FROM e.words::tsvector ORDER BY m.number, v.version"
)
_RULES: tuple[StoreRule, ...] = (
    (
        "stale-adjacency",
        f"SELECT DISTINCT memory FROM (({_STORED} EXCEPT {_PACKED}) UNION ALL ({_PACKED} EXCEPT {_STORED})) d",
        "the packed links of a memory are not its links",
        "change any of its links, or export the namespace and import it into a new store",
    ),
)
"""Foreign keys hold the rest."""


@naming_damage
class PostgresStore(SqlStore):
    """A ``Store`` in one schema of a PostgreSQL database."""

    dialect, rules = PostgresDialect(), _RULES
    of_memory = (("adjacency", "memory"), *Erasure.of_memory)
    _db: PostgresConnection

    def __init__(
        self,
        url: str,
        *,
        schema: str = "priming",
        pool: int = POSTGRES.pool,
        busy_timeout: float = STORE.busy_timeout,
        steps: Sequence[PostgresMigration] | None = None,
        beside: tuple[Path, ...] = (),
    ) -> None:
        self._beside = beside
        super().__init__(PostgresConnection(url, schema, pool=pool, busy_timeout=busy_timeout, steps=steps))

    @property
    def place(self) -> Place:
        """The database, which opening it creates: it has no folders."""
        return Place(self._db.place, beside=self._beside)

    @property
    def is_writable(self) -> bool:
        """Whether the database and this role can write: not on a standby, nor a role that may only read."""
        sql = (
            "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'"
            " AND has_table_privilege('operations', 'INSERT')"
        )
        return self._db.run(NO_NAMESPACE, sql) == [(True,)]

    @property
    def connection(self) -> PostgresConnection:
        """The connection, for searches and administration in SQL."""
        return self._db

    @property
    def _scan(self) -> PostgresScan:
        return PostgresScan(self._db)

    def _findings(self, namespace: str, *, words: bool) -> list[Finding]:
        with self.transaction(write=False):
            return super()._findings(namespace, words=words)

    def _stale_words(self, namespace: str) -> Iterator[str]:
        """Yield the versions whose words are not those of their text."""
        texts = self._db.each(namespace, _TEXTS)
        while batch := [*islice(texts, _BATCH)]:
            values = {
                "memories": [memory for memory, _, _, _ in batch],
                "revisions": [revision for _, revision, _, _ in batch],
                "words": [text_vector(searched_text(heading, text)) for _, _, heading, text in batch],
            }
            for _, key, version in self._db.run(namespace, _OTHERS, values):
                yield f"version {version} of {label(key)}"

    def lease(self, namespace: str, work: str | None = None) -> AbstractContextManager[None]:
        """Take turns with other long work of the process; with ``work``, hold the right to it on a namespace."""
        return self._db.lease(namespace, work)

    def turn(self) -> AbstractContextManager[None]:
        """Hold a turn of this process's long work for the block, if the thread does such."""
        return self._db.turn()

    def description(self) -> tuple[str, list[tuple[str, str]]]:
        """Describe the server, its extension and the schema; and what is unsafe about them, with the remedies."""
        ((server, vectors, role, is_free, acknowledged, is_synced),) = self._db.run(
            EVERY_NAMESPACE,
            "SELECT current_setting('server_version'),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector'), current_user,"
            " (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),"
            " current_setting('synchronous_commit'), current_setting('fsync') = 'on'",
        )
        detail = (
            f"{self._db.place}, PostgreSQL {server}, pgvector {vectors}, schema {migrations()[-1].number}"
        )
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

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Call ``wake``, in another thread, after others wrote to a namespace; until closed."""
        self._db.watch(namespace, wake)

    @contextmanager
    def transaction(
        self, namespace: str | None = None, *, write: bool = True, patience: float | None = None
    ) -> Iterator[None]:
        """Hold the locks of the namespaces that are touched, or read one state of the store, until the block ends."""
        with self._db.transaction(write=write, patience=patience):
            if namespace is not None and write:
                self._db.lock(namespace)
            yield

    def flush(self) -> None:
        """Remove the erased rows from the tables' files; PostgreSQL's own journal and backups age by themselves."""
        self._db.administer(f"VACUUM {', '.join(TABLES)}")

    def _writer(self, namespace: str, numbers: dict[str, int]) -> PostgresRowWriter:
        return PostgresRowWriter(self._db, self.dialect, namespace, numbers)

    def _readable_tokens(self) -> list[TokenRow]:
        """Return the tokens, or none if the role may not change them."""
        sql = "SELECT has_table_privilege('tokens', 'SELECT') AND has_table_privilege('tokens', 'UPDATE')"
        return super()._readable_tokens() if self._db.run(NO_NAMESPACE, sql)[0][0] else []

    def _generation(self, namespace: str, name: str) -> int:
        here, values = "namespace = :namespace", {"name": name}
        self._db.change(
            namespace,
            "INSERT INTO generations SELECT :namespace, coalesce(max(generation), 0) + 1, :name"
            f" FROM generations WHERE {here} HAVING NOT EXISTS"
            f" (SELECT 1 FROM generations WHERE {here} AND name = :name)",
            values,
        )
        sql = f"SELECT generation FROM generations WHERE {here} AND name = :name"
        return int(self._db.run(namespace, sql, values)[0][0])

    def clear(self, namespace: str) -> None:
        """Remove a namespace and all that it holds, its log included; read-only or not."""
        with self.transaction():
            empty(self._db, namespace)

    def _erase_rows(self, namespace: str, numbers: Collection[int]) -> dict[str, int]:
        neighbours = self._neighbours(namespace, numbers)
        erased = super()._erase_rows(namespace, numbers)
        pack_links(self._db, namespace, neighbours)
        return {table: number for table, number in erased.items() if table != "adjacency"}

    def _neighbours(self, namespace: str, numbers: Collection[int]) -> list[int]:
        """Return the memories linked to these, themselves left out."""
        sql = (
            "SELECT DISTINCT other FROM link_ends WHERE namespace = :namespace"
            " AND memory = ANY(:numbers::bigint[]) AND NOT other = ANY(:numbers::bigint[])"
        )
        return [number for (number,) in self._db.run(namespace, sql, {"numbers": list(numbers)})]

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


def open_database(location: Location) -> PostgresStore:
    """Open the store that a URL of PostgreSQL names."""
    assert location.url is not None, "a database has a URL"
    pool, beside = location.pool or POSTGRES.pool, (database_place(location),)
    return PostgresStore(location.url, schema=location.schema, pool=pool, beside=beside)
