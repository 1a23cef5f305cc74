"""What a read touches follows what is read, in a namespace that the planner knows nothing of."""

from datetime import UTC, datetime

import psycopg
import pytest

from priming import HashedEmbedder, Memory
from priming.storage.questions import StoredNamespace
from priming.storage.rows import LinkRow, MemoryRow, PairRow, VerdictRow, VersionRow
from priming.types import MemoryRecord

from . import server

NOW = datetime(2036, 1, 1, tzinfo=UTC)
PLACES = ("harbour", "crane", "lamp", "gull", "tide", "buoy", "anchor", "rope", "sail", "mast")
KEYS = [f"note-{i}" for i in (3, 99, 200, 404, 599)]
TOUCHED = "SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) FROM pg_stat_xact_user_tables"

pytestmark = pytest.mark.slow


def notes(count):
    return [
        {"content": f"Note {i} on the {PLACES[i % 10]} beside the {PLACES[i % 7]}", "key": f"note-{i}"}
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def newcomer(postgres):
    """A namespace that came after the statistics of the tables, with verdicts and links."""
    place = f"{postgres}&schema=plans" if "?" in postgres else f"{postgres}?schema=plans"
    with Memory.open(place, namespace="earlier", embedder=HashedEmbedder(32)) as memory:
        memory.remember_many(notes(300))
    with psycopg.connect(server.as_superuser(postgres), autocommit=True) as connection:
        connection.execute("ANALYZE")
    with Memory.open(place, namespace="newcomer", embedder=HashedEmbedder(32)) as memory:
        memory.remember_many(notes(600))
        for place in PLACES[:5]:
            recall = memory.recall(f"the {place}")
            memory.feedback(recall.recall_id, used=[recall.hits[0].memory.key])
        yield memory


READS = {
    "records": lambda store, ids: store.records("newcomer", NOW, ids=ids),
    "memories": lambda store, ids: store.rows("newcomer", MemoryRow, ids=ids),
    "keys": lambda store, _: StoredNamespace(store, "newcomer").ids_of(KEYS),
    "names": lambda store, ids: store.names("newcomer", ids=ids),
    "versions": lambda store, ids: store.rows("newcomer", VersionRow, ids=[ids[0]]),
    "verdicts": lambda store, ids: store.rows("newcomer", VerdictRow, ids=ids),
    "pairs": lambda store, ids: store.rows("newcomer", PairRow, ids=ids, both=True),
    "vectors": lambda store, ids: list(
        StoredNamespace(store, "newcomer").stored_vectors(HashedEmbedder(32).generation, ids)
    ),
    "get": lambda store, _: StoredNamespace(store, "newcomer").record_named(KEYS[0], NOW),
    "page": lambda store, _: StoredNamespace(store, "newcomer").page_of(NOW, limit=5),
}


def touched(store, read):
    """The number of rows that the tables gave to a read."""
    with store.transaction(write=False):
        ((before,),) = store.connection.run("newcomer", TOUCHED)
        read()
        ((after,),) = store.connection.run("newcomer", TOUCHED)
    return int(after - before)


@pytest.mark.parametrize("read", READS)
def test_a_read_of_a_few_memories_touches_few_rows(newcomer, read):
    store = newcomer.store
    ids = list(StoredNamespace(store, "newcomer").ids_of(KEYS).values())
    assert touched(store, lambda: READS[read](store, ids)) < 100


def test_links_touch_as_many_rows_as_there_are_links_and_ends(newcomer):
    store = newcomer.store
    links = store.rows("newcomer", LinkRow)
    assert touched(store, lambda: store.rows("newcomer", LinkRow)) <= 4 * len(links)
    ids = list(StoredNamespace(store, "newcomer").ids_of(["note-3", "note-599"]).values())
    few = store.rows("newcomer", LinkRow, ids=ids)
    assert touched(store, lambda: store.rows("newcomer", LinkRow, ids=ids)) <= 10 * len(few)


def test_a_read_of_all_touches_each_row_a_few_times(newcomer):
    store = newcomer.store
    count = len(store.rows("newcomer", MemoryRow))
    for read in (
        lambda name: store.rows(name, VersionRow),
        lambda name: list(store.part(name, MemoryRecord, until=NOW)),
        lambda name: store.rows(name, VerdictRow),
    ):
        assert touched(store, lambda read=read: read("newcomer")) <= 5 * count
