"""Several users of one store in PostgreSQL: connections, and real processes."""

from collections.abc import Callable, Iterator
from threading import Event, Thread

import psycopg
import pytest
from tests.storage.contract_sharing import *  # noqa: F403
from tests.storage.making import NOW, remember, trace, whole

from priming import Memory
from priming.errors import Busy, StoreError
from priming.storage.protocol import Store, Trace
from priming.storage.rows import MemoryRow
from priming_server.postgres.store import PostgresStore

from .server import as_superuser, clear

pytestmark = pytest.mark.slow
Open = Callable[..., Store]


@pytest.fixture
def open_store(postgres: str) -> Iterator[Open]:
    opened: list[PostgresStore] = []

    def connect(busy_timeout: float = 5.0) -> Store:
        opened.append(PostgresStore(postgres, schema="shared", busy_timeout=busy_timeout))
        return opened[-1]

    yield connect
    for store in opened:
        store.close()
    clear(postgres, "shared")


def test_writers_of_different_namespaces_do_not_wait_for_each_other(open_store: Open) -> None:
    mine, theirs = open_store(), open_store(busy_timeout=0.05)
    with mine.transaction():
        remember(mine, whole("a"))
        remember(theirs, whole("b"), namespace="theirs")
    assert [row.id for row in theirs.rows("theirs", MemoryRow)] == ["b"]


def test_a_recall_is_recorded_while_another_writes(open_store: Open) -> None:
    mine, theirs = open_store(), open_store(busy_timeout=0.05)
    with mine.transaction():
        remember(mine, whole("a"))
        theirs.add_trace("mine", trace("r"), keep=9, keep_flows=9, not_before=NOW)
        assert [recall.recall_id for recall in theirs.rows("mine", Trace)] == ["r"]


def test_who_holds_the_lock_is_named(open_store: Open) -> None:
    mine, theirs = open_store(), open_store(busy_timeout=0.05)
    with mine.transaction():
        remember(mine, whole("a"))
        with pytest.raises(Busy, match=r"locked by priming \d+ \(server process \d+\), which is writing"):
            remember(theirs, whole("b"))


def test_a_transaction_is_of_one_thread(open_store: Open) -> None:
    store = open_store()
    ended: list[str] = []

    def outlive() -> None:
        with store.transaction(write=False):
            ended.extend(row.id for row in store.rows("mine", MemoryRow))
            reading.set()
            ending.wait(30)

    reading, ending, other = Event(), Event(), Thread(target=outlive)
    with store.transaction():
        remember(store, whole("a"))
        other.start()
        assert reading.wait(30)
    ending.set()
    other.join()
    assert ended == [], "the other thread sees no write that is not committed"
    remember(store, whole("b"))
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["a", "b"]


def test_a_memory_that_stays_open_learns_of_what_others_write_without_a_call(postgres: str) -> None:
    arrived = Event()
    url = f"{postgres}&schema=shared"
    with Memory.open(url, embedder="hashed") as waiting, Memory.open(url, embedder="hashed") as writing:
        waiting.remember("The first note.")
        for _ in range(2):
            waiting.recall("note")
        head = waiting.store.head("default")
        waiting.store.watch("default", lambda: (waiting._catch_up(), arrived.set()))
        writing.remember("The second note.")
        assert arrived.wait(60)
        with waiting.lock:
            assert waiting._working is not None
            assert waiting._working.head > head


def test_the_time_of_a_write_is_read_once_its_turn_has_come(open_store: Open) -> None:
    mine, theirs = open_store(), open_store(busy_timeout=0.05)
    with mine.transaction("mine"), pytest.raises(Busy), theirs.transaction("mine"):
        pass


def test_two_nights_of_one_namespace_do_not_run_at_once_wherever_they_are(postgres: str) -> None:
    url = f"{postgres}&schema=shared"
    with Memory.open(url, embedder="hashed") as mine, Memory.open(url, embedder="hashed") as theirs:
        mine.remember("A note.")
        doing = "is running sleep on this namespace"
        with (
            mine.store.lease("default", doing),
            pytest.raises(Busy, match=rf"server process \d+\) {doing}: wait"),
        ):
            theirs.sleep()
        theirs.sleep()


def test_of_a_write_whose_connection_ends_before_its_commit_nothing_is_there(
    open_store: Open, postgres: str
) -> None:
    store, other = open_store(), open_store()

    def write() -> None:
        with store.transaction("mine"):
            remember(store, whole("a"))
            ((backend,),) = store.connection.run("mine", "SELECT pg_backend_pid()")
            with psycopg.connect(as_superuser(postgres), autocommit=True) as administrator:
                administrator.execute("SELECT pg_terminate_backend(%s)", (backend,))

    with pytest.raises(StoreError, match="nothing was changed"):
        write()
    assert other.rows("mine", MemoryRow) == []
    remember(store, whole("a"))
    assert [row.id for row in other.rows("mine", MemoryRow)] == ["a"]


def test_what_became_of_a_commit_is_asked_of_the_server(open_store: Open) -> None:
    store, transactions = open_store(), []

    def write(memory_id: str, end: Exception | None = None) -> None:
        with store.transaction("mine"):
            remember(store, whole(memory_id))
            transactions.append(store.connection.run("mine", "SELECT pg_current_xact_id()::text")[0][0])
            if end is not None:
                raise end

    write("a")
    with pytest.raises(KeyError):
        write("b", KeyError("b"))
    assert [store.connection._status_of(transaction) for transaction in transactions] == [
        "committed",
        "aborted",
    ]
