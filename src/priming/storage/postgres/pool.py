"""The connections of a process to a PostgreSQL database: those that its stores share, and one that listens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import md5
from itertools import cycle
from threading import Event, Lock, Thread
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo
from psycopg_pool import ConnectionPool

from priming.config.params.store import POSTGRES
from priming.config.store_urls import without_password
from priming.errors import ParamError, StoreError
from priming.storage.postgres.migrations.runner import prepare
from priming.storage.postgres.schema import PostgresMigration
from priming.storage.postgres.translation import translate_error

# The connections that a pool loses are errors of the calls that need them, and no lines on a terminal.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

CHANNEL = "priming_log"
"""The channel on which a commit tells which log it made longer: ``SCHEMA NAMESPACE``."""
PoolKey = tuple[int, str, str, int]
"""What connections are shared by: process, URL, schema, and how many there may be."""
_pools: dict[PoolKey, tuple[ConnectionPool[Any], int]] = {}
_guard = Lock()


def shared_pool(key: PoolKey, steps: Sequence[PostgresMigration] | None = None) -> ConnectionPool[Any]:
    """The pool of this process for a database and schema, opened at its first use."""
    with _guard:
        pool, users = _pools.get(key, (None, 0))
        if pool is None:
            pool = _new_pool(key, steps)
        _pools[key] = pool, users + 1
        return pool


def _new_pool(key: PoolKey, steps: Sequence[PostgresMigration] | None) -> ConnectionPool[Any]:
    """A pool, once a first connection has found the schema to be the newest, or made it so."""
    process, url, schema, most = key
    settings: dict[str, Any] = {
        "autocommit": True,
        "application_name": f"priming {process}",
        "connect_timeout": _parts(url).get("connect_timeout", POSTGRES.connect_timeout),
    }
    path = f"SET search_path = {_quoted(schema)}, public, extensions".encode()

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
        kwargs=settings,
    )


def release_pool(key: PoolKey) -> None:
    """Close the pool after its last user."""
    with _guard:
        pool, users = _pools.get(key, (None, 0))
        if pool is None:
            return
        if users > 1:
            _pools[key] = pool, users - 1
            return
        del _pools[key]
    pool.close()


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


def _quoted(schema: str) -> str:
    return '"' + schema.replace('"', '""') + '"'


def place_of(url: str) -> str:
    """The database as errors name it: without a password."""
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
    """What a URL says, by libpq's names."""
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        shown = without_password(url)
        why = f": {error}" if shown == url else ""  # what libpq quotes may be a password
        raise ParamError("url", shown, f"must be as libpq takes it{why}") from None


def why_unreachable(url: str) -> psycopg.Error | None:
    """Why no connection can be made; None if one can."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.Error as error:
        return error
    return None


def log_name(schema: str, namespace: str) -> str:
    """What a commit announces: to who has its name, the log of a namespace. PostgreSQL has the same md5.

    >>> log_name("priming", "work")
    '3c2f2e16eac24a478f345fd63e456466'
    """
    return md5(f"{schema} {namespace}".encode(), usedforsecurity=False).hexdigest()


class Listener:
    """Calls whoever waits for a namespace: after commits, and after a lost connection, which may have missed one."""

    def __init__(self, url: str, place: str) -> None:
        self._url = url
        self._waiting: dict[str, Callable[[], None]] = {}
        self._end = Event()
        self._thread = Thread(target=self._listen, name=f"listens to {place}", daemon=True)
        self._thread.start()

    def add(self, name: str, wake: Callable[[], None]) -> None:
        """Call ``wake`` after commits that name a schema and a namespace."""
        self._waiting[name] = wake

    def close(self) -> None:
        """End the thread; a call in progress is waited for shortly."""
        self._end.set()
        self._thread.join(POSTGRES.listening_interval * 2)

    def _listen(self) -> None:
        while not self._end.is_set():
            with (
                suppress(psycopg.Error),
                psycopg.connect(
                    self._url, autocommit=True, connect_timeout=POSTGRES.connect_timeout
                ) as connection,
            ):
                connection.execute(f"LISTEN {CHANNEL}")
                self._wake_all()
                self._follow(connection)
            self._end.wait(POSTGRES.listening_interval)

    def _follow(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        while not self._end.is_set():
            for notified in connection.notifies(timeout=POSTGRES.listening_interval):
                wake = self._waiting.get(notified.payload)
                if wake is not None:
                    wake()
                if self._end.is_set():
                    return

    def _wake_all(self) -> None:
        for wake in list(self._waiting.values()):
            wake()
