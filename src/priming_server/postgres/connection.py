"""Statements sent to PostgreSQL: each in the scope of one namespace, over connections that the process shares."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from priming.config.params.limits import STORE
from priming.errors import Busy, StoreError
from priming.storage.sql.dialect import NO_NAMESPACE, WRITE, Values
from priming_server.postgres.dialect import in_psycopg
from priming_server.postgres.migrations.runner import holder
from priming_server.postgres.pool import (
    CHANNEL,
    LongWork,
    PoolKey,
    log_name,
    place_of,
    release_connections,
    shared_connections,
)
from priming_server.postgres.schema import (
    EVERY_NAMESPACE,
    LOCK,
    MAY_LIST,
    POSTGRES,
    PostgresMigration,
    lock_key,
    migrations,
)
from priming_server.postgres.translation import is_lost, lost_commit, translate_error, translated

T = TypeVar("T")
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SCOPE = "SELECT set_config('priming.namespace', %(namespace)s, true)"


@dataclass(slots=True)
class _Transaction:
    """A transaction in progress, of one thread."""

    connection: psycopg.Connection[Any]
    writes: bool
    patience: float
    lock_name: str
    has_failed: bool = False
    scope: str | None = None
    locks: set[tuple[str, str]] = field(default_factory=set)


class _Thread(LongWork):
    """What a thread is in the middle of: its statements, and no other thread's, are part of its transaction."""

    transaction: _Transaction | None = None


class PostgresConnection:
    """The connection of one store: a connection of the process's pool for each transaction of each thread.

    A statement names the namespace whose rows it may see: row-level security hides all others, whatever it says. In
    a transaction that writes, the first statement of a namespace takes its lock, which lasts until the end.

    A read whose connection is lost is sent again, and so is the beginning of a transaction, until ``busy_timeout``.
    A write that was sent is never sent again: whether it was committed is asked of the server.
    """

    def __init__(
        self,
        url: str,
        schema: str,
        *,
        pool: int = POSTGRES.pool,
        busy_timeout: float = STORE.busy_timeout,
        steps: Sequence[PostgresMigration] | None = None,
    ) -> None:
        self.schema, self.busy_timeout = schema, busy_timeout
        self.place: str = place_of(url)
        self._key: PoolKey = os.getpid(), url, schema, pool
        self._shared = shared_connections(self._key, steps)
        self._pool = self._shared.pool
        self.newest = (steps or migrations())[-1].number
        self._thread = _Thread()
        self._is_closed = False
        self._wakes: list[Callable[[], None]] = []

    def close(self) -> None:
        """Release the pool; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._shared.listener.unwatch(self._wakes)
            release_connections(self._key)

    def run(self, namespace: str, sql: str, values: Values | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of one statement that reads."""
        sql, named = in_psycopg(sql), {"namespace": namespace, **(values or {})}
        transaction = self._thread.transaction
        if transaction is not None:
            return self._sent(
                transaction, namespace, lambda each: each.execute(sql, named, binary=True).fetchall()
            )

        def read() -> list[tuple[Any, ...]]:
            with self._taken() as connection:
                return _read_once(connection, namespace, sql, named)

        return self._retried(read)

    def of_every(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of one statement that lists namespaces; ``StoreError`` for a role that may not."""
        if self.run(NO_NAMESPACE, MAY_LIST) != [(True,)]:
            raise StoreError(
                f"this role of {self.place} may not list the namespaces: connect as the role that made the store, or"
                " as a member of it"
            )
        return self.run(EVERY_NAMESPACE, sql)

    def change(self, namespace: str, sql: str, values: Values | None = None) -> int:
        """Execute one statement that writes; the number of rows it changed."""
        sql, named = in_psycopg(sql), {"namespace": namespace, **(values or {})}
        with self.transaction() as transaction:
            return self._sent(
                transaction, namespace, lambda connection: connection.execute(sql, named).rowcount
            )

    def many(self, namespace: str, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Execute one statement that writes for each of ``rows``; the number of rows it changed."""
        listed, sql = list(rows), in_psycopg(sql)
        if not listed:
            return 0

        def send(connection: psycopg.Connection[Any]) -> int:
            with connection.cursor() as cursor:
                cursor.executemany(sql, listed)
                return max(0, cursor.rowcount)

        with self.transaction() as transaction:
            return self._sent(transaction, namespace, send)

    def each(
        self, namespace: str, sql: str, values: Values | None = None, *, batch: int = 2000
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a large read, fetched in batches."""
        sql, named = in_psycopg(sql), {"namespace": namespace, **(values or {})}
        transaction = self._thread.transaction
        if transaction is not None:
            cursor = self._sent(transaction, namespace, lambda connection: _batches(connection, sql, named))
            yield from self._fetched(cursor, batch)
            return
        with self._taken(begin=_READ) as connection:
            try:
                with translated(self.place):
                    connection.execute(_SCOPE, named)
                    cursor = _batches(connection, sql, named)
                yield from self._fetched(cursor, batch)
            finally:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")

    def _fetched(self, cursor: psycopg.ServerCursor[Any], batch: int) -> Iterator[tuple[Any, ...]]:
        try:
            while True:
                with translated(self.place):
                    rows = cursor.fetchmany(batch)
                if not rows:
                    return
                yield from rows
        finally:
            with suppress(psycopg.Error):
                cursor.close()

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Call ``wake``, in another thread, after a commit of others to a namespace."""
        self._wakes.append(wake)
        self._shared.listener.watch(log_name(self.schema, namespace), wake)

    def notify(self, namespace: str) -> None:
        """Tell whoever listens, once the transaction is committed, that a namespace has changed."""
        sql = "SELECT pg_notify(:channel, :payload)"
        self.run(namespace, sql, {"channel": CHANNEL, "payload": log_name(self.schema, namespace)})

    def administer(self, sql: str) -> None:
        """Execute a statement that no transaction may hold, such as one that builds an index."""
        with self._taken() as connection, translated(self.place):
            connection.execute(sql.encode())

    @contextmanager
    def lease(self, namespace: str, work: str | None) -> Iterator[None]:
        """Do long work in this thread: it takes turns with other long work, and waits for them as long as it takes.

        With ``work``, hold the right to it on a namespace, over many transactions; ``Busy`` names who has it.
        """
        key = f"{self.schema} {work} {namespace}"
        before, self._thread.works_long = self._thread.works_long, True
        try:
            with nullcontext() if work is None else self._shared.leases.of(key, work):
                yield
        finally:
            self._thread.works_long = before

    def turn(self) -> AbstractContextManager[None]:
        """Return a turn of long work, if the thread's is, before what others wait for: it waits for none inside."""
        return self._shared.turn(self._thread)

    def lock(self, namespace: str, name: str = WRITE) -> None:
        """Take a lock of a namespace until the transaction ends; ``Busy`` after its patience."""
        transaction = self._thread.transaction
        if transaction is None or (namespace, name) in transaction.locks:
            return
        key = lock_key(self.schema, name, namespace)
        try:
            patience = f"{max(1, round(transaction.patience * 1000))}ms"
            transaction.connection.execute(LOCK, {"namespace": namespace, "patience": patience, "key": key})
        except errors.LockNotAvailable as error:
            transaction.has_failed = True
            with suppress(psycopg.Error):  # ends what failed, so that the connection answers
                transaction.connection.execute("ROLLBACK")
            raise Busy(
                f"the namespace {namespace!r} of {self.place} is locked by {holder(transaction.connection, key)},"
                f" which is writing; waited {transaction.patience:g} s: try again when it has finished"
            ) from error
        except psycopg.Error as error:
            raise translate_error(error, self.place) from error
        transaction.scope = namespace
        transaction.locks.add((namespace, name))

    @contextmanager
    def transaction(
        self, *, write: bool = True, patience: float | None = None, lock: str = WRITE
    ) -> Iterator[_Transaction]:
        """Hold the locks of the namespaces that are touched, or read one state; nested blocks join the outermost.

        It is the transaction of the calling thread. ``patience`` is the time in seconds to wait for a lock; None:
        ``busy_timeout``.
        """
        outer = self._thread.transaction
        if outer is not None:
            with _nested(outer, write):
                yield outer
            return
        with self._taken(begin="BEGIN" if write else _READ) as connection:
            begun = _Transaction(connection, write, self.busy_timeout if patience is None else patience, lock)
            self._thread.transaction = begun
            try:
                yield begun
                if begun.has_failed:
                    raise StoreError("an earlier write in this transaction failed: nothing of it was written")
                self._commit(connection, write)
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._thread.transaction = None

    def _commit(self, connection: psycopg.Connection[Any], write: bool) -> None:
        """Commit. Of a commit whose answer is lost, the server is asked what became of it."""
        if not write:
            with suppress(psycopg.Error):  # what was read was read
                connection.execute("ROLLBACK")
            return
        with translated(self.place):
            ((transaction,),) = connection.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchall()
        try:
            connection.execute("COMMIT")
        except psycopg.Error as error:
            if not is_lost(error) or transaction is None:
                raise translate_error(error, self.place) from error
            status = self._status_of(transaction)
            if status == "aborted":
                raise translate_error(error, self.place) from error
            if status != "committed":
                raise lost_commit(self.place) from error

    def _status_of(self, transaction: str) -> str | None:
        """Return what became of a transaction of a lost connection; None if the server cannot be asked in time."""
        sql = "SELECT pg_xact_status(%(transaction)s::xid8)"
        deadline = time.monotonic() + self.busy_timeout
        while True:
            try:
                with self._shared.connect() as other:  # the pool's may all be in use, this one's too
                    ((status,),) = other.execute(sql, {"transaction": transaction}).fetchall()
            except psycopg.Error:
                return None
            if status != "in progress" or time.monotonic() > deadline:
                return None if status is None else str(status)
            time.sleep(POSTGRES.retry_pause)

    def _sent(
        self, transaction: _Transaction, namespace: str, send: Callable[[psycopg.Connection[Any]], T]
    ) -> T:
        """Send a statement of a transaction, in the scope of a namespace."""
        if transaction.has_failed:
            raise StoreError("an earlier write in this transaction failed: end it, nothing of it was written")
        with translated(self.place):
            if transaction.writes and namespace not in (NO_NAMESPACE, EVERY_NAMESPACE):
                self.lock(namespace, transaction.lock_name)
            if transaction.scope != namespace:
                transaction.connection.execute(_SCOPE, {"namespace": namespace})
                transaction.scope = namespace
            return send(transaction.connection)

    def _retried(self, attempt: Callable[[], T]) -> T:
        """Attempt something again, on another connection, whose connection is lost."""
        deadline = time.monotonic() + self.busy_timeout
        while True:
            try:
                return attempt()
            except (psycopg.Error, UnicodeEncodeError, OverflowError) as error:
                if not is_lost(error) or time.monotonic() > deadline:
                    raise translate_error(error, self.place) from error
            time.sleep(random.uniform(0, POSTGRES.retry_pause))

    @contextmanager
    def _taken(self, begin: str | None = None) -> Iterator[psycopg.Connection[Any]]:
        """Hold a pooled connection, with a transaction begun. A thread has one at a time: there may be no other."""
        with self.turn():
            connection = self._retried(partial(self._begun, begin))
            try:
                yield connection
            finally:
                self._pool.putconn(connection)

    def _begun(self, begin: str | None) -> psycopg.Connection[Any]:
        """Return a connection with a transaction begun."""
        connection = self._from_pool()
        try:
            if begin is not None:
                connection.execute(begin)
        except BaseException:
            self._pool.putconn(connection)
            raise
        return connection

    def _from_pool(self) -> psycopg.Connection[Any]:
        patience = max(self.busy_timeout, POSTGRES.connect_timeout)
        while True:
            if self._is_closed:
                raise StoreError(f"{self.place} was closed: open it again")
            try:
                connection: psycopg.Connection[Any] = self._pool.getconn(patience)
                return connection
            except PoolTimeout as error:
                with translated(self.place):
                    self._shared.connect().close()
                if not self._thread.works_long:
                    raise Busy(
                        f"all {self._key[3]} connections of this process to {self.place} are in use; waited"
                        f" {patience:g} s: try again, or allow more with ?pool=N in the URL"
                    ) from error
            except PoolClosed as error:
                raise StoreError(f"{self.place} was closed: open it again") from error


@contextmanager
def _nested(outer: _Transaction, write: bool) -> Iterator[None]:
    """Open a nested block. After an error in one that writes, the outermost block cannot commit."""
    if write and not outer.writes:
        raise StoreError("a transaction that only reads cannot write: begin one that writes")
    try:
        yield
    except BaseException:
        outer.has_failed = outer.has_failed or write
        raise


def _read_once(
    connection: psycopg.Connection[Any], namespace: str, sql: str, named: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Run one statement in its own transaction: sent together with its scope, in one exchange with the server."""
    try:
        with connection.pipeline():
            connection.execute("BEGIN READ ONLY")
            connection.execute(_SCOPE, {"namespace": namespace})
            cursor = connection.execute(sql, named, binary=True)
            connection.execute("COMMIT")
            return cursor.fetchall()
    except psycopg.Error:
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")
        raise


def _batches(
    connection: psycopg.Connection[Any], sql: str, named: Mapping[str, Any]
) -> psycopg.ServerCursor[Any]:
    cursor = connection.cursor(name=f"batches_{random.getrandbits(48):x}")
    cursor.execute(sql, named, binary=True)
    return cursor
