"""The connections of a process to a PostgreSQL database: a pool, one that listens, and one that holds leases."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from hashlib import md5
from itertools import cycle
from selectors import EVENT_READ, DefaultSelector
from socket import socketpair
from threading import Event, Lock, Semaphore, Thread, local
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo
from psycopg.sql import Identifier
from psycopg_pool import ConnectionPool

from priming.config.store_urls import without_password
from priming.errors import Busy, ParamError, StoreError
from priming_server.postgres.migrations.runner import holder, prepare
from priming_server.postgres.schema import END_LEASE, POSTGRES, TRY_LEASE, PostgresMigration
from priming_server.postgres.translation import translate_error, translated

# The connections that a pool loses are errors of the calls that need them, and no lines on a terminal.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

CHANNEL = "priming_log"
"""The channel on which a commit tells which log it made longer: ``SCHEMA NAMESPACE``."""
PoolKey = tuple[int, str, str, int]
"""What connections are shared by: process, URL, schema, and how many there may be."""
Connect = Callable[[], psycopg.Connection[Any]]
_shared: dict[PoolKey, Connections] = {}
_guard = Lock()


class LongWork(local):
    """Whether a thread does long work, and whether it is in a block in which it waits for no turn."""

    works_long: bool = False
    is_taken: bool = False


class Connections:
    """What the stores of a process share of a database and schema.

    ``pool`` has the connections of all statements; long work takes turns at at most half of them, so that the others
    are free for calls that somebody waits for. Beside it, one connection listens while a store is watched, and one
    holds the ``leases`` while there are any.
    """

    def __init__(self, key: PoolKey, steps: Sequence[PostgresMigration] | None) -> None:
        process, url, _, most = key
        settings: dict[str, Any] = {
            "autocommit": True,
            "application_name": f"priming {process}",
            "connect_timeout": _parts(url).get("connect_timeout", POSTGRES.connect_timeout),
        }
        place = place_of(url)
        self.users = 0
        self.connect: Connect = partial(psycopg.connect, url, **settings)
        self.pool = _new_pool(key, settings, steps)
        self._turns = Semaphore(max(1, most // 2))
        self.leases, self.listener = Leases(self.connect, place), Listener(self.connect, place)

    @contextmanager
    def turn(self, thread: LongWork) -> Iterator[None]:
        """Hold a turn for the block, if the thread does long work; a block within another waits for nothing."""
        if thread.is_taken:
            yield
            return
        with self._turns if thread.works_long else nullcontext():
            thread.is_taken = True
            try:
                yield
            finally:
                thread.is_taken = False


def shared_connections(key: PoolKey, steps: Sequence[PostgresMigration] | None = None) -> Connections:
    """Return the connections of this process to a database and schema, opened at their first use."""
    with _guard:
        shared = _shared[key] = _shared.get(key) or Connections(key, steps)
        shared.users += 1
        return shared


def release_connections(key: PoolKey) -> None:
    """Close the connections after their last user."""
    with _guard:
        shared = _shared[key]
        shared.users -= 1
        if shared.users:
            return
        del _shared[key]
    shared.listener.close()
    shared.pool.close()


def _new_pool(
    key: PoolKey, settings: Mapping[str, Any], steps: Sequence[PostgresMigration] | None
) -> ConnectionPool[Any]:
    """Return a pool, once a first connection has found the schema to be the newest, or made it so."""
    _, url, schema, most = key
    path = f"SET search_path = {Identifier(schema).as_string()}, public, extensions".encode()

    def configure(connection: psycopg.Connection[Any]) -> None:
        connection.execute(path)
        with suppress(psycopg.ProgrammingError):  # a database without the extension
            register_vector(connection)

    try:
        with psycopg.connect(url, **settings) as connection:
            connection.execute(path)
            _check_encoding(connection, place_of(url))
            prepare(connection, schema, place_of(url), steps)
    except psycopg.Error as error:
        raise translate_error(error, place_of(url)) from error
    return ConnectionPool(
        url,
        min_size=0,
        max_size=most,
        max_idle=POSTGRES.idle_after,
        open=True,
        configure=configure,
        reset=_roll_back,
        kwargs=dict(settings),
    )


def _check_encoding(connection: psycopg.Connection[Any], place: str) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"{place} is encoded in {encoding}, which cannot hold every text: create one with ENCODING 'UTF8'"
            " TEMPLATE template0"
        )


def _roll_back(connection: psycopg.Connection[Any]) -> None:
    if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        connection.execute("ROLLBACK")


def place_of(url: str) -> str:
    """Return the database as errors name it: without a password."""
    defaults = {option.keyword.decode(): (option.val or b"").decode() for option in Conninfo.get_defaults()}
    parts = defaults | {name: str(value) for name, value in _parts(url).items() if value}
    database = parts.get("dbname") or parts.get("user") or ""
    if not parts.get("host") or parts["host"].startswith("/"):
        return f"the PostgreSQL database {database!r} on the local socket"
    ports = cycle(parts.get("port", "").split(","))
    hosts = [
        f"{host}:{port}".rstrip(":") for host, port in zip(parts["host"].split(","), ports, strict=False)
    ]
    return f"the PostgreSQL database {database!r} on {', '.join(hosts)}"


def _parts(url: str) -> Mapping[str, Any]:
    """Return what a URL says, by libpq's names."""
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        shown = without_password(url)
        why = f": {error}" if shown == url else ""  # what libpq quotes may be a password
        raise ParamError("url", shown, f"must be as libpq takes it{why}") from None


def log_name(schema: str, namespace: str) -> str:
    """Return what a commit announces: to who has its name, the log of a namespace. PostgreSQL has the same md5.

    >>> log_name("priming", "work")
    '3c2f2e16eac24a478f345fd63e456466'
    """
    return md5(f"{schema} {namespace}".encode(), usedforsecurity=False).hexdigest()


class Leases:
    """The rights to long work that this process has: locks of one connection, which end with the process."""

    def __init__(self, connect: Connect, place: str) -> None:
        self._connect, self._place, self._lock = connect, place, Lock()
        self._keys: set[str] = set()
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def of(self, key: str, work: str) -> Iterator[None]:
        """Hold a lease while the block runs; ``Busy`` names who has it."""
        with self._lock, translated(self._place):
            if self._connection is None or self._connection.closed:
                self._connection = self._connect()
            connection = self._connection
            if key in self._keys or connection.execute(TRY_LEASE, {"key": key}).fetchall() == [(False,)]:
                raise Busy(f"{holder(connection, key)} {work}: wait for it to finish, or stop it")
            self._keys.add(key)
        try:
            yield
        finally:
            with self._lock, suppress(psycopg.Error):  # a lost connection has released it
                self._keys.discard(key)
                connection.execute(END_LEASE, {"key": key})
                if not self._keys:
                    connection.close()


class Listener:
    """Calls those that watch a namespace: after commits, and after a lost connection, which may have missed one."""

    def __init__(self, connect: Connect, place: str) -> None:
        self._connect, self._lock, self._end = connect, Lock(), Event()
        self._receiver, self._sender = socketpair()  # closing the sender wakes the thread
        self._watched: list[tuple[str, Callable[[], None]]] = []
        self._thread = Thread(target=self._listen, name=f"listens to {place}", daemon=True)

    def watch(self, name: str, wake: Callable[[], None]) -> None:
        """Call ``wake`` after commits that name a schema and a namespace; the first call begins to listen."""
        with self._lock:
            self._watched.append((name, wake))
            if self._thread.ident is None:
                self._thread.start()

    def unwatch(self, wakes: Collection[Callable[[], None]]) -> None:
        """Call ``wakes`` no more."""
        with self._lock:
            self._watched = [each for each in self._watched if each[1] not in wakes]

    def close(self) -> None:
        """End the thread at once; a call in progress is waited for shortly."""
        self._end.set()
        self._sender.close()
        if self._thread.ident is not None:
            self._thread.join(POSTGRES.listening_interval * 2)
        self._receiver.close()

    def _listen(self) -> None:
        while not self._end.is_set():
            with suppress(psycopg.Error), self._connect() as connection:
                connection.execute(f"LISTEN {CHANNEL}")
                self._wake(None)
                self._follow(connection)
            self._end.wait(POSTGRES.listening_interval)

    def _follow(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        with DefaultSelector() as selector:
            for source in (connection, self._receiver):
                selector.register(source, EVENT_READ)
            while not self._end.is_set():
                for notified in connection.notifies(timeout=0):
                    self._wake(notified.payload)
                    if self._end.is_set():
                        return
                selector.select(POSTGRES.listening_interval)

    def _wake(self, payload: str | None) -> None:
        """Call those that watch a name; None: all."""
        for name, wake in self._watched:
            if payload in (None, name):
                wake()
