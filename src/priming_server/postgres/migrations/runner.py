"""The schema of a PostgreSQL store is created and migrated at its opening, by one process, while others go on.

Nobody waits for longer than ``migration_wait``: a short step that does not get its locks within it gives way and
tries again, and a batch of rows that takes longer is made smaller. What was done is recorded with it, in the table
``schema_steps``, which exists during a migration only: one that was killed goes on where it was, at the next opening.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import md5
from itertools import count
from typing import Any

import psycopg
from psycopg import errors, sql

from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.errors import Busy, StoreError
from priming.serialization import stamp
from priming.storage.sql.dialect import TRACES, WRITE
from priming.types import SystemClock
from priming_server.postgres.schema import (
    EVERY_NAMESPACE,
    HOLDER,
    NAMESPACES,
    POSTGRES,
    Backfill,
    OnlineStep,
    PostgresMigration,
    ShortStep,
    check_version,
    lock_key,
    migrations,
)
from priming_server.postgres.translation import translate_error

LOG = logging.getLogger(__name__)
_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS schema_versions"
    ' (number BIGINT PRIMARY KEY, applied_at TEXT COLLATE "C" NOT NULL)'
)
_STEPS = (
    "CREATE TABLE IF NOT EXISTS schema_steps (migration BIGINT PRIMARY KEY, ended BIGINT NOT NULL DEFAULT 0,"
    " reached TEXT, rows BIGINT NOT NULL DEFAULT 0)"
)
_LIMITS = "SELECT set_config('lock_timeout', %(locks)s, {local}), set_config('statement_timeout', %(time)s, {local})"
_OF_RECALLS = ("traces", "activations")
_PAUSE, _LONGEST_PAUSE, _FIRST_WAIT, _MOST_TOO_LONG = 0.1, 2.0, 0.1, 9
_FIRST_SIZE, _LARGEST = 500, 10_000


@dataclass(frozen=True, slots=True)
class FilledBatch:
    """What a batch of a backfill came to: the key of its last row, its rows, and for how long it locked them."""

    key: list[Any]
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Migrator:
    """A connection that has the right to migrate a store, and what it may take from others."""

    connection: psycopg.Connection[Any]
    schema: str
    place: str
    shares: bool

    def carry_out(self, migration: PostgresMigration) -> None:
        """Make the steps of a migration that were not made yet, and then write its number."""
        self.connection.execute(_STEPS)
        self.connection.execute(
            "INSERT INTO schema_steps (migration) VALUES (%s) ON CONFLICT DO NOTHING", (migration.number,)
        )
        ((ended,),) = self.connection.execute(
            "SELECT ended FROM schema_steps WHERE migration = %s", (migration.number,)
        ).fetchall()
        for number, step in enumerate(migration.steps[ended:], ended + 1):
            LOG.info(
                "%s: schema %s, step %s of %s", self.place, migration.number, number, len(migration.steps)
            )
            match step:
                case ShortStep():
                    self._short(migration.number, step)
                case OnlineStep():
                    self._online(step)
                    self._record(migration.number)
                case Backfill():
                    self._backfill(migration.number, step)
                    self._record(migration.number)
        with self.connection.transaction():
            now = stamp(SystemClock().now())
            self.connection.execute("INSERT INTO schema_versions VALUES (%s, %s)", (migration.number, now))
            self.connection.execute("DROP TABLE schema_steps")

    def _record(self, number: int) -> None:
        self.connection.execute(
            "UPDATE schema_steps SET ended = ended + 1, reached = NULL WHERE migration = %s", (number,)
        )

    def _short(self, number: int, step: ShortStep) -> None:
        """Attempt a step with growing patience, to which an automatic vacuum gives way too, and pauses for others."""
        deadline = time.monotonic() + POSTGRES.migration_patience
        for turn in count():
            try:
                with self.connection.transaction():
                    self._limit(min(_FIRST_WAIT * 2**turn, POSTGRES.migration_wait), POSTGRES.migration_wait)
                    self.connection.execute(step.sql.encode())
                    self._record(number)
                return
            except (errors.LockNotAvailable, errors.DeadlockDetected, errors.QueryCanceled) as error:
                is_too_long = isinstance(error, errors.QueryCanceled) and turn >= _MOST_TOO_LONG
                if is_too_long or time.monotonic() > deadline:
                    raise self._given_up(error) from error
            time.sleep(random.uniform(0.5, 1) * min(_FIRST_WAIT * 4**turn, _LONGEST_PAUSE))

    def _given_up(self, error: psycopg.Error) -> Busy:
        return Busy(
            f"{self.place} could not be migrated while others use it ({error.diag.message_primary}); what was done is"
            " kept: end long transactions, then open the store again"
        )

    def _limit(self, locks: float, whole: float) -> None:
        """Set the longest wait for a lock and the longest statement of this transaction; none if nobody else is."""
        if self.shares:
            self.connection.execute(
                _LIMITS.format(local="true"), {"locks": _milliseconds(locks), "time": _milliseconds(whole)}
            )

    def _online(self, step: OnlineStep) -> None:
        if step.index is not None:
            name = sql.Identifier(self.schema, step.index)
            valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
            rows = self.connection.execute(valid, (name.as_string(),)).fetchall()
            if rows == [(True,)]:
                return
            if rows:  # an attempt that ended half-way left it
                self.connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(name))
        self.connection.execute(step.sql.encode())

    def _backfill(self, number: int, step: Backfill) -> None:
        """Backfill every row of the table, by namespace. A new row is not missed: the schema gives it its value."""
        reached = self._reached(number)
        size, deadline = _FIRST_SIZE, time.monotonic() + POSTGRES.migration_patience
        for digest, namespace in sorted((_digest(name), name) for name in self._namespaces()):
            if reached and digest < reached[0]:
                continue
            after = reached[1] if reached and digest == reached[0] else None
            while True:
                try:
                    batch = self._batch(number, step, namespace, after, size)
                except errors.QueryCanceled as error:
                    if size == 1:
                        raise self._given_up(error) from error
                    size = max(1, size // 4)
                    continue
                except (errors.LockNotAvailable, errors.DeadlockDetected) as error:
                    if time.monotonic() > deadline:
                        raise self._given_up(error) from error
                    time.sleep(random.uniform(0, _PAUSE))
                    continue
                if batch is None or batch.rows < size:
                    break  # what others add meanwhile is not run after
                after = batch.key
                deadline = time.monotonic() + POSTGRES.migration_patience
                size = (
                    max(1, size // 2) if batch.seconds > POSTGRES.migration_batch else min(_LARGEST, size * 2)
                )
                time.sleep(batch.seconds if self.shares else 0)  # the other half of the time is the others'

    def _reached(self, number: int) -> tuple[str, list[Any]] | None:
        ((text,),) = self.connection.execute(
            "SELECT reached FROM schema_steps WHERE migration = %s", (number,)
        ).fetchall()
        if text is None:
            return None
        digest, key = json.loads(text)
        return digest, key

    def _namespaces(self) -> list[str]:
        with self.connection.transaction():
            self._scope(EVERY_NAMESPACE)
            return [name for (name,) in self.connection.execute(NAMESPACES).fetchall()]

    def _scope(self, namespace: str) -> None:
        self.connection.execute("SELECT set_config('priming.namespace', %s, true)", (namespace,))

    def _batch(
        self, number: int, step: Backfill, namespace: str, after: Sequence[Any] | None, size: int
    ) -> FilledBatch | None:
        """Fill the next rows of a namespace; None if there is none."""
        lock = TRACES if step.table in _OF_RECALLS else WRITE
        with self.connection.transaction():
            self._limit(POSTGRES.migration_wait, POSTGRES.migration_wait)
            self._scope(namespace)
            # Its own rows are nobody else's meanwhile: without this lock a batch and a writer could block each other.
            self.connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))",
                (lock_key(self.schema, lock, namespace),),
            )
            began = time.monotonic()
            values = {"namespace": namespace, "size": size}
            values |= {f"after_{i}": value for i, value in enumerate(after or ())}
            cursor = self.connection.execute(_batch_statement(step, after is not None), values, prepare=False)
            rows = cursor.fetchall()
            if not rows:
                return None
            *key, filled = rows[0]
            self.connection.execute(
                "UPDATE schema_steps SET reached = %s, rows = rows + %s WHERE migration = %s",
                (json.dumps([_digest(namespace), key]), filled, number),
            )
        return FilledBatch(key, filled, time.monotonic() - began)


def prepare(
    connection: psycopg.Connection[Any],
    schema: str,
    place: str,
    steps: Sequence[PostgresMigration] | None = None,
    *,
    patience: float = STORE.busy_timeout,
) -> None:
    """Create the schema, or bring it to the newest version, while others read and write.

    ``Busy`` if another process is migrating it for longer than ``patience``.
    """
    steps = migrations() if steps is None else steps
    newest = steps[-1].number
    try:
        version = version_of(connection, schema)
        if version < newest:
            with _alone(connection, schema, place, patience):
                version = version_of(connection, schema)
                migrator = Migrator(connection, schema, place, shares=version > 0)
                _create(connection, schema, place)
                for step in steps:
                    if step.number > version:
                        migrator.carry_out(step)
            version = version_of(connection, schema)
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{place} {_forbidden(connection, schema)} ({error.diag.message_primary})"
        ) from error
    except psycopg.Error as error:
        raise translate_error(error, place) from error
    check_version(version, newest, place)


def _forbidden(connection: psycopg.Connection[Any], schema: str) -> str:
    """Return what a role may not do, and who may."""
    role = repr(connection.info.user)
    rights = "SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = %s"
    match connection.execute(rights, (schema,)).fetchall():
        case [(False,)]:
            return (
                f"has a schema {schema!r} that the role {role} may not use: let its owner grant what"
                " docs/postgresql.md lists, or connect as another role"
            )
        case [(True,)]:
            return (
                f"has a schema {schema!r} in which the role {role} may not do this: open it once as the role"
                " that made it, which migrates it, and grants what docs/postgresql.md lists"
            )
    return (
        f"has no schema {schema!r}, and the role {role} may not make a store: open it once as a role that may create"
        " schemas in it"
    )


def version_of(connection: psycopg.Connection[Any], schema: str) -> int:
    """Return the number of the last migration; 0 for a database without a store."""
    table = sql.Identifier(schema, "schema_versions")
    ((present,),) = connection.execute("SELECT to_regclass(%s)", (table.as_string(),)).fetchall()
    if present is None:
        return 0
    query = sql.SQL("SELECT coalesce(max(number), 0) FROM {}").format(table)
    ((number,),) = connection.execute(query).fetchall()
    return int(number)


def _create(connection: psycopg.Connection[Any], schema: str, place: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchall():
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        except errors.InsufficientPrivilege as error:
            raise StoreError(
                f"{place} lacks the extension pgvector, which the role {connection.info.user!r} may not add"
                f" ({error.diag.message_primary}): let a superuser run CREATE EXTENSION vector in it"
            ) from error
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    connection.execute(_VERSIONS)


@contextmanager
def _alone(connection: psycopg.Connection[Any], schema: str, place: str, patience: float) -> Iterator[None]:
    """Hold the right to migrate a store.

    It is asked for repeatedly and never waited for: an index that is built concurrently waits for all who wait.
    """
    key = {"key": f"{schema} schema"}
    deadline = time.monotonic() + patience
    while connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%(key)s, 0))", key).fetchall() != [
        (True,)
    ]:
        if time.monotonic() > deadline:
            raise _under_way(connection, key["key"], place, patience)
        time.sleep(random.uniform(0, _PAUSE))
    try:
        # What takes long may wait for old transactions. A server that notices the end of its client stops sooner.
        patiently = {"locks": _milliseconds(POSTGRES.migration_patience), "time": "0"}
        connection.execute(_LIMITS.format(local="false"), patiently)
        with suppress(psycopg.Error):
            connection.execute("SET client_connection_check_interval = '1s'")
        yield
    finally:
        with suppress(psycopg.Error):  # a lost connection has released it
            connection.execute("SELECT pg_advisory_unlock(hashtextextended(%(key)s, 0))", key)


def holder(connection: psycopg.Connection[Any], key: str) -> str:
    """Return the holder of an advisory lock, as far as the server names it."""
    with suppress(psycopg.Error):
        for pid, name, address in connection.execute(HOLDER, {"key": key}).fetchall():
            return f"{name} (server process {pid}{f', from {address}' if address else ''})"
    return "another process"


def _under_way(connection: psycopg.Connection[Any], key: str, place: str, patience: float) -> Busy:
    """Return the error of a migration that another process is making, with how far it is."""
    so_far = ""
    with suppress(psycopg.Error):
        for number, ended, rows in connection.execute(
            "SELECT migration, ended, rows FROM schema_steps"
        ).fetchall():
            so_far = f" to schema {number} ({ended} steps and {rows:,} rows are done)"
    return Busy(
        f"{place} is being migrated by {holder(connection, key)}{so_far}; waited {patience:g} s: try again when it"
        " has finished"
    )


def _batch_statement(step: Backfill, is_further: bool) -> bytes:
    key = ", ".join(step.key)
    further = (
        f" AND ({key}) > ({', '.join(f'%(after_{i})s' for i in range(len(step.key)))})" if is_further else ""
    )
    last = ", ".join(f"{column} DESC" for column in step.key)
    return (
        f"WITH batch AS MATERIALIZED (SELECT namespace, {key} FROM {step.table} WHERE namespace = %(namespace)s"
        f"{further} ORDER BY {key} LIMIT %(size)s), filled AS ({step.sql.replace('%', '%%')})"
        f" SELECT {key}, count(*) OVER () FROM batch ORDER BY {last} LIMIT 1"
    ).encode()


def _digest(namespace: str) -> str:
    """Return what a namespace is recorded by: who may read the record may not know its name."""
    return md5(namespace.encode(), usedforsecurity=False).hexdigest()


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"
