"""What a read touches follows what is read, in a namespace that the planner knows nothing of."""

from datetime import UTC, datetime

import psycopg
import pytest

from priming import HashedEmbedder, Memory

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
    "records": lambda store, ids: store.records("newcomer", ids, NOW),
    "memories": lambda store, ids: store.memories("newcomer", ids),
    "keys": lambda store, _: store.keys("newcomer", KEYS),
    "names": lambda store, ids: store.names("newcomer", ids),
    "versions": lambda store, ids: store.versions("newcomer", ids[0]),
    "verdicts": lambda store, ids: store.verdicts("newcomer", ids),
    "pairs": lambda store, ids: store.pairs("newcomer", ids),
    "vectors": lambda store, ids: list(store.vectors("newcomer", HashedEmbedder(32).generation, ids)),
    "get": lambda store, _: store.get("newcomer", KEYS[0], NOW),
    "page": lambda store, _: store.page("newcomer", NOW, limit=5),
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
    ids = list(store.keys("newcomer", KEYS).values())
    assert touched(store, lambda: READS[read](store, ids)) < 100


def test_links_touch_as_many_rows_as_there_are_links_and_ends(newcomer):
    store = newcomer.store
    links = store.links("newcomer")
    assert touched(store, lambda: store.links("newcomer")) <= 4 * len(links)
    ids = list(store.keys("newcomer", ["note-3", "note-599"]).values())
    few = store.links("newcomer", ids)
    assert touched(store, lambda: store.links("newcomer", ids)) <= 10 * len(few)


def test_a_read_of_all_touches_each_row_a_few_times(newcomer):
    store = newcomer.store
    count = len(store.memories("newcomer"))
    for read in (store.versions, lambda name: list(store.scan(name, NOW)), store.verdicts):
        assert touched(store, lambda read=read: read("newcomer")) <= 5 * count
