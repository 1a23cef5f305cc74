"""The store of LangGraph, with ``InMemoryStore`` as the oracle of what a store answers."""

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from priming import HashedEmbedder, Memory, ParamError
from priming_adapters.langgraph import PrimingStore

pytestmark = pytest.mark.adapters

LABELS = st.sampled_from(["users", "ada", "docs", "v1", "été"])
PATHS = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["a", "b", "prefs/1", "", "two\nlines", "é", "é"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "red", "4.5", ""])
VALUES = st.dictionaries(
    st.sampled_from(["color", "n", "text", "inner", "a.b"]),
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
        max_leaves=3,
    ),
    max_size=3,
)
OPERATORS = st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
FILTERS = st.none() | st.dictionaries(
    st.sampled_from(["color", "n", "text", "inner"]),
    SCALARS | st.dictionaries(OPERATORS, st.integers(-3, 3), min_size=1, max_size=2) | VALUES,
    max_size=2,
)
PATTERNS = st.lists(LABELS | st.just("*"), max_size=3).map(tuple)
CONDITIONS = st.none() | st.lists(
    st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATTERNS), max_size=2
).map(tuple)
OPS = (
    st.tuples(PATHS, KEYS, st.none() | VALUES).map(lambda parts: PutOp(*parts))
    | st.tuples(PATHS, KEYS).map(lambda parts: GetOp(*parts))
    | st.tuples(st.lists(LABELS, max_size=2).map(tuple), FILTERS).map(lambda parts: SearchOp(*parts, 1000))
)
LISTINGS = st.builds(
    ListNamespacesOp, CONDITIONS, st.none() | st.integers(1, 3), st.integers(0, 3), st.integers(0, 2)
)
BATCHES = st.lists(st.lists(OPS, min_size=1, max_size=3) | LISTINGS.map(lambda op: [op]), max_size=8)


def shown(result):
    """An answer without its times, in one order."""
    if isinstance(result, list):
        return result if result and isinstance(result[0], tuple) else sorted(map(shown, result), key=repr)
    return result and (result.namespace, result.key, repr(result.value))


def answer(store, ops):
    if isinstance(
        store, InMemoryStore
    ):  # it lists the namespaces that were emptied, or only looked into, too
        for path in [path for path, items in store._data.items() if not items]:
            del store._data[path]
    try:
        return [shown(result) for result in store.batch(ops)]
    except (TypeError, ValueError):
        return "no order"


@given(BATCHES)
def test_each_batch_is_answered_as_by_the_store_in_memory(batches):
    with Memory.open("sqlite://", embedder=HashedEmbedder(32)) as memory:
        store, oracle = PrimingStore(memory), InMemoryStore()
        for ops in batches:
            expected = answer(oracle, ops)
            if expected == "no order":  # it raises where a value has no number: such an item does not fit
                break
            assert answer(store, ops) == expected


@pytest.fixture
def store(memory):
    return PrimingStore(memory)


def test_the_puts_of_a_batch_go_in_together(store):
    puts = [
        PutOp((user,), f"k{n}", {"text": f"{user} keeps {n} bees"}) for n in range(9) for user in ("a", "b")
    ]
    store.batch([*puts, PutOp(("a",), "k0", {"text": "a keeps wasps"})])
    assert [operation.kind for operation in store.of("a").log()] == ["remember"]
    assert store.get(("a",), "k0").value == {"text": "a keeps wasps"}
    assert [item.key for item in store.search(("b",))] == [f"k{n}" for n in range(9)]
    with pytest.raises(ParamError):
        store.batch([PutOp(("a",), "new", {"text": "x"}), PutOp(("a",), "odd", {"text": "a\0b"})])
    assert store.get(("a",), "new") is None


@pytest.fixture(scope="module")
def stores():
    """A store and its oracle, with items in some namespaces."""
    with PrimingStore("sqlite://") as store:
        oracle = InMemoryStore()
        paths = [("users", "ada"), ("users", "v1"), ("docs", "users", "v1"), ("docs",), ("v1", "ada", "docs")]
        for each in (store, oracle):
            for path in paths:
                each.put(path, "k", {"text": "x"})
        yield store, oracle


@pytest.mark.parametrize(
    "arguments",
    [
        {"prefix": ("users",)},
        {"suffix": ("v1",)},
        {"suffix": ("users", "v1")},
        {"prefix": ("*", "ada")},
        {"suffix": ("users", "*")},
        {"prefix": ("docs",), "suffix": ("v1",), "max_depth": 2},
        {"max_depth": 1, "offset": 1, "limit": 1},
    ],
)
def test_namespaces_are_listed_by_their_beginnings_and_ends(stores, arguments):
    store, oracle = stores
    assert store.list_namespaces(**arguments) == oracle.list_namespaces(**arguments) != []


def test_pages_of_a_listing_follow_each_other(store):
    for number in range(7):
        store.put(("users", f"u{number % 2}"), f"k{number}", {"n": number})
    pages = [store.search(("users",), limit=3, offset=at) for at in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert sorted(item.value["n"] for page in pages for item in page) == [*range(7)]


def test_a_query_recalls_what_is_relevant_with_scores_from_all_namespaces_below(store):
    store.put(("users", "ada"), "home", {"text": "Ada lives in Porto."})
    store.put(("users", "grace"), "home", {"text": "Grace plays the cello on Sundays."})
    store.put(("others",), "home", {"text": "Ada lives in Porto."})
    hit, other = store.search(("users",), query="Where does Ada live?")
    assert (hit.namespace, hit.key, hit.value) == (("users", "ada"), "home", {"text": "Ada lives in Porto."})
    assert 1 > hit.score > other.score > 0
    assert store.search(("users",), query="Where does Ada live?", offset=1) == [other]
    assert store.search(("users",), query="Where does Ada live?", filter={"text": "else"}) == []
    assert PrimingStore(store.memory, floor=0.5).search(("users",), query="Where does Ada live?") == [hit]


def test_only_the_fields_of_the_index_are_recalled(memory):
    store = PrimingStore(memory, index={"fields": ["title", "parts[*].text"]}, floor=0.5)
    value = {"title": "Harbour", "secret": "zebra", "parts": [{"text": "cranes"}, {"text": "lighthouse"}]}
    store.put(("docs",), "a", value)
    store.put(("docs",), "b", {"secret": "zebra"})
    store.put(("docs",), "c", {"secret": "giraffe"}, index=["secret"])
    store.put(("docs",), "d", {"title": "giraffe"}, index=False)
    assert [item.key for item in store.search(("docs",), query="zebra")] == []
    assert [item.key for item in store.search(("docs",), query="lighthouse")] == ["a"]
    assert [item.key for item in store.search(("docs",), query="giraffe")] == ["c"]
    assert {item.key for item in store.search(("docs",))} == set("abcd")


def test_a_deleted_item_is_forgotten_and_an_item_that_changes_has_versions(store, clock):
    store.put(("ada",), "home", {"text": "Ada lives in Porto."})
    began = clock.at
    clock.at += timedelta(hours=1)
    store.put(("ada",), "home", {"text": "Ada lives in Braga."})
    item = store.get(("ada",), "home")
    assert (item.created_at, item.updated_at) == (began, clock.at)
    store.delete(("ada",), "home")
    store.delete(("ada",), "home")
    assert store.get(("ada",), "home") is None
    ada = store.of("ada")
    assert [version.content for version in ada.history("home")] == [
        "Ada lives in Porto.",
        "Ada lives in Braga.",
    ]
    ada.undo(ada.log()[0].id)
    assert store.get(("ada",), "home").value == {"text": "Ada lives in Braga."}


def test_a_memory_that_was_remembered_otherwise_is_an_item(store):
    store.memory.remember("Ada lives in Porto.", key="home")
    assert store.get(("default",), "home").value == {"text": "Ada lives in Porto."}
    assert store.list_namespaces() == [("default",)]


def test_an_item_expires_unless_it_is_read(memory, clock):
    store = PrimingStore(memory, ttl={"omit_expired": True, "default_ttl": 60})
    for key in ("read", "searched", "peeked", "left"):
        store.put(("n",), key, {"text": key})
    store.put(("n",), "forever", {"text": "forever"}, ttl=None)
    clock.at += timedelta(minutes=45)
    store.get(("n",), "read")
    store.search(("n",), filter={"text": "searched"})
    store.get(("n",), "peeked", refresh_ttl=False)
    clock.at += timedelta(minutes=45)
    assert {item.key for item in store.search(("n",), refresh_ttl=False)} == {"read", "searched", "forever"}
    assert store.get(("n",), "left") is None
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    assert store.of("n").get("left").status == "forgotten"
    clock.at += timedelta(days=1)
    assert [item.key for item in store.search(("n",))] == ["forever"]


def test_reading_an_item_again_and_again_makes_few_versions(memory, clock):
    store = PrimingStore(memory)
    store.put(("n",), "a", {"text": "x"}, ttl=100)
    for _ in range(60):
        clock.at += timedelta(seconds=1)
        store.get(("n",), "a")
    assert store.of("n").get("a").version == 2


def test_expired_items_are_swept_at_the_interval(memory, clock):
    store = PrimingStore(memory, ttl={"sweep_interval_minutes": 10})
    store.put(("n",), "a", {"text": "x"}, ttl=1)
    clock.at += timedelta(minutes=5)
    assert store.get(("n",), "a", refresh_ttl=False)
    clock.at += timedelta(minutes=5)
    store.list_namespaces()
    assert store.get(("n",), "a") is None


def test_what_is_no_operation_operator_match_namespace_or_value_is_refused(store):
    store.put(("n",), "a", {"text": "x"})
    refused = [
        "put",
        SearchOp(("n",), {"text": {"$near": 1}}),
        ListNamespacesOp((MatchCondition("infix", ("n",)),)),
        PutOp(("n",), "b", {"text": {1, 2}}),
        SearchOp(("n",), limit=-1),
        PutOp(("n",), "b", {"text": float("nan")}),
    ]
    for op in refused:
        with pytest.raises(ParamError):
            store.batch([op])
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    with pytest.raises(ParamError):
        store.batch([PutOp(("x" * 600,), "k", {})])


def test_coroutines_and_threads_may_share_a_store(store):
    async def life():
        await asyncio.gather(*(store.aput(("n",), f"k{n}", {"n": n}) for n in range(20)))
        await asyncio.gather(*(store.aput(("n",), "same", {"n": n}) for n in range(5)))
        return await store.asearch(("n",), limit=100)

    assert len(asyncio.run(life())) == 21


def test_a_value_that_was_read_can_be_changed_without_changing_the_store(store):
    store.put(("n",), "a", {"list": [1]})
    store.get(("n",), "a").value["list"].append(2)
    assert store.get(("n",), "a").value == {"list": [1]}


def test_a_store_opened_by_its_url_is_there_again(url):
    with PrimingStore(url) as store:
        store.put(("users", "ada"), "home", {"city": "Porto", "since": 2019})
    with PrimingStore(url) as store:
        assert store.get(("users", "ada"), "home").value == {"city": "Porto", "since": 2019}
        assert store.of("users.ada").get("home").content == "city: Porto\nsince: 2019"
