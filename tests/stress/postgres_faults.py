"""Faults between a process and PostgreSQL: connections that are cut, a server that restarts, limits that are hit."""

from __future__ import annotations

import os
import selectors
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Thread

import psycopg
from psycopg.conninfo import conninfo_to_dict
from tests.server.postgres.server import as_superuser, restart
from tests.storage.making import remember, whole

from priming.errors import Busy, PrimingError, StoreError
from priming.storage.rows import MemoryRow
from priming_server.postgres.store import PostgresStore

from .databases import Database, examine, problems
from .faults import FAULTS_OF_A_FILE, Fault, jumping_clock
from .work import Diary, Worker

_STEPS = 20
_VICTIMS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE application_name = %s AND datname = current_database()"
)


def _server(database: Database) -> tuple[str, str]:
    """The URL of the server, and the schema of the database."""
    url, _, schema = database.url.partition("&schema=")
    return url, schema


def _worked(worker: Worker) -> list[str]:
    """Carry out verbs under a fault: an error must be named; those of a store are expected."""
    wrong = []
    for _ in range(_STEPS):
        try:
            worker.step()
        except StoreError:
            pass
        except PrimingError as error:
            wrong.append(f"another error than a store's: {error.code}: {error}")
    return wrong


@contextmanager
def _while(sabotage: Callable[[], object], random: Random, most: float) -> Iterator[None]:
    """Let something happen again and again, after pauses drawn at random, until the block ends."""
    over = Event()

    def repeat() -> None:
        while not over.wait(random.uniform(0, most)):
            with suppress(psycopg.Error, OSError):
                sabotage()

    thread = Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def terminated(database: Database, random: Random) -> list[str]:
    """The server ends this process's connections, at any moment of a call."""
    url, _ = _server(database)
    diary, name = Diary(database.folder / "diary"), f"priming {os.getpid()}"
    with closing(database.open()) as memory, psycopg.connect(url, autocommit=True) as other:
        worker = Worker(memory, random, diary, "t")
        with _while(lambda: other.execute(_VICTIMS, (name,)), Random(random.getrandbits(64)), 0.5):
            wrong = _worked(worker)
        wrong += problems(memory, diary.acknowledged, diary.begun)
        worker.remember()
    return wrong + examine(database, diary.acknowledged, diary.begun)


def restarted(database: Database, random: Random) -> list[str]:
    """The server is restarted, with and without a farewell to its clients."""
    url, _ = _server(database)
    diary = Diary(database.folder / "diary")
    with psycopg.connect(as_superuser(url), autocommit=True) as other:
        other.execute("ALTER SYSTEM SET synchronous_commit = on")  # what is acknowledged outlives the server
        other.execute("SELECT pg_reload_conf()")
    with closing(database.open()) as memory:
        worker = Worker(memory, random, diary, "r")
        own = Random(random.getrandbits(64))
        with _while(lambda: restart(url, own.choice(("fast", "immediate"))), own, 1.0):
            wrong = _worked(worker)
        wrong += problems(memory, diary.acknowledged, diary.begun)
        worker.remember()
    return wrong + examine(database, diary.acknowledged, diary.begun)


def cut(database: Database, random: Random) -> list[str]:
    """The connection is cut after a number of bytes, of requests or of answers, drawn at random."""
    url, schema = _server(database)
    data = conninfo_to_dict(url)["host"]
    diary = Diary(database.folder / "diary")
    with tempfile.TemporaryDirectory(prefix="cut-") as folder:
        with _cutting(Path(folder), Path(str(data)), Random(random.getrandbits(64))):
            through = Database(f"{url.replace(str(data), folder)}&schema={schema}", database.folder)
            database.open().close()
            with closing(through.open()) as memory:
                wrong = _worked(Worker(memory, random, diary, "c"))
        return wrong + examine(database, diary.acknowledged, diary.begun)


@contextmanager
def _cutting(folder: Path, target: Path, random: Random) -> Iterator[None]:
    """A socket in a folder that passes everything on to PostgreSQL's, and cuts each connection some time."""
    name = ".s.PGSQL.5432"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / name))
        listener.listen()
        listener.settimeout(0.05)
        over, threads = Event(), list[Thread]()

        def accept() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    client, _ = listener.accept()
                    passing = partial(_pass, client, target / name, random.randint(500, 30_000), over)
                    threads.append(Thread(target=passing))
                    threads[-1].start()

        acceptor = Thread(target=accept)
        acceptor.start()
        try:
            yield
        finally:
            over.set()
            for thread in (acceptor, *threads):
                thread.join()


def _pass(client: socket.socket, target: Path, most: int, over: Event) -> None:
    """Pass bytes between two sockets, until there were too many."""
    with (
        client,
        socket.socket(socket.AF_UNIX) as server,
        selectors.DefaultSelector() as ready,
        suppress(OSError),
    ):
        server.connect(str(target))
        ready.register(client, selectors.EVENT_READ, server)
        ready.register(server, selectors.EVENT_READ, client)
        while most > 0 and not over.is_set():
            for key, _ in ready.select(0.05):
                data = key.fileobj.recv(min(most, 4096))  # type: ignore[union-attr]
                if not data:
                    return
                most -= len(data)
                key.data.sendall(data)


def exhausted(database: Database, random: Random) -> list[str]:
    """All connections that a process may have are in use: whoever wants another is told so."""
    url, schema = _server(database)
    most = random.randint(1, 4)
    stores = [PostgresStore(url, schema=schema, pool=most) for _ in range(most)]
    stores.append(PostgresStore(url, schema=schema, pool=most, busy_timeout=0.05))
    wrong: list[str] = []
    try:
        with _transactions(stores[:most]):
            try:
                remember(stores[-1], whole("refused"))
                wrong.append("more connections than allowed")
            except Busy as error:
                wrong += [] if f"all {most} connections" in str(error) else [f"it does not say so: {error}"]
        remember(stores[-1], whole("stored"))
        wrong += [] if [row.id for row in stores[0].rows("mine", MemoryRow)] == ["stored"] else ["half-done"]
    finally:
        for store in stores:
            store.close()
    return wrong


@contextmanager
def _transactions(stores: list[PostgresStore]) -> Iterator[None]:
    if not stores:
        yield
        return
    with stores[0].transaction(write=False), _transactions(stores[1:]):
        yield


def timed_out(database: Database, random: Random) -> list[str]:
    """A statement takes longer than the server allows: the error says so, and nothing is changed."""
    url, schema = _server(database)
    diary, wrong = Diary(database.folder / "diary"), list[str]()
    with closing(database.open()) as memory:
        worker = Worker(memory, random, diary, "s")
        for _ in range(5):
            worker.remember()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("ALTER DATABASE postgres SET statement_timeout = '100ms'")
        try:
            with closing(database.open()) as memory:
                worker = Worker(memory, random, diary, "u")
                table = random.choice(("operations", "versions", "memories"))
                with other.transaction():
                    other.execute(f"LOCK TABLE {schema}.{table} IN ACCESS EXCLUSIVE MODE".encode())
                    try:
                        worker.remember()
                        wrong.append("a write went through a lock")
                    except Busy as error:
                        if "statement_timeout" not in str(error):
                            wrong.append(f"the error does not name the limit: {error}")
                worker.remember()
                wrong += problems(memory, diary.acknowledged, diary.begun)
        finally:
            other.execute("ALTER DATABASE postgres RESET statement_timeout")
    return wrong + examine(database, diary.acknowledged, diary.begun)


FAULTS_OF_A_SERVER: dict[str, Fault] = {
    "connections that the server ends": terminated,
    "connections that are cut": cut,
    "server that restarts": restarted,
    "pool that is exhausted": exhausted,
    "statement that takes too long": timed_out,
    "clock that jumps": jumping_clock,
}
FAULTS = {"SQLite": FAULTS_OF_A_FILE, "PostgreSQL": FAULTS_OF_A_SERVER}
"""The faults by what they are faults of."""
