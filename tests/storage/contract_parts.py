"""What every store does with the parts of a namespace: each is read as a stream, and written to another store."""

from itertools import islice

import pytest

from priming.errors import Conflict
from priming.storage.copies import mentions_any
from priming.storage.protocol import PARTS, Changes, Logged, Store, Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    ActivationCount,
    LoopSessionRow,
    MemoryRow,
    RelationRow,
    RunRow,
    VectorRow,
    VerdictRow,
    VersionRow,
)

from .making import (
    DAY,
    GENERATION,
    NOW,
    added,
    dump,
    link,
    operation,
    pair,
    remember,
    run,
    trace,
    verdict,
    weights,
    whole,
)


def fill(store: Store, namespace: str = "mine") -> None:
    """Something of every kind, in an order of insertion that is not that of the ids."""
    remember(store, *(whole(name) for name in ("b", "a", "c")), namespace=namespace)
    remember(store, link("a", "b"), link("a", "b", "Ünder"), link("b", "c", "next"), namespace=namespace)
    remember(
        store, verdict("a"), pair("a", "b"), run("n", "a"), weights("priming", bm25=0.5), namespace=namespace
    )
    remember(store, RelationRow("hates", -1), namespace=namespace)
    (row,) = store.rows(namespace, MemoryRow, ids=["c"])
    store.apply(
        operation([change.inverse() for change in added(link("b", "c", "next"))], namespace=namespace)
    )
    StoredNamespace(store, namespace).add_vectors("another/2", {("a", 1): b"\0" * 8})
    limits = {"keep": 9, "keep_flows": 9, "not_before": NOW - 9 * DAY}
    store.add_trace(namespace, trace("r1", NOW, "a", nodes=("a", "b"), flow=b"flow", counted=True), **limits)
    store.add_trace(namespace, trace("r0", NOW - DAY, "b"), **limits)
    store.save(namespace, LoopSessionRow("z", None, "done", "Tidy up", NOW, NOW, "{}"), new=True)
    store.save(namespace, LoopSessionRow("y", "z", "done", "Release", NOW - DAY, NOW, "{}"), new=True)
    assert row.id == "c"


def parts(store: Store, namespace: str = "mine") -> dict[str, list[object]]:
    return {kind.__name__: list(store.part(namespace, kind)) for kind in PARTS}


def test_a_part_has_every_item_of_its_kind_in_an_order_of_its_own(store: Store) -> None:
    fill(store)
    assert [row.id for row in store.part("mine", MemoryRow)] == ["b", "a", "c"]
    assert [row.id for row in store.part("mine", VersionRow)] == ["b", "a", "c"]
    assert [logged.number for logged in store.part("mine", Logged)] == [1, 2, 3, 4, 5]
    assert [(row.id, row.generation) for row in store.part("mine", VectorRow)] == [
        ("b", GENERATION),
        ("a", "another/2"),
        ("a", GENERATION),
        ("c", GENERATION),
    ]
    first, second = store.part("mine", Trace)
    assert (first.recall_id, first.flow, first.nodes, first.counted) == ("r1", b"flow", ("a", "b"), True)
    assert (second.recall_id, second.counted) == ("r0", False)
    assert [count.total for count in store.part("mine", ActivationCount)] == [1]
    assert [row.id for row in store.part("mine", LoopSessionRow)] == ["y", "z"]
    assert all(parts(store).values())


def test_a_part_of_another_namespace_is_empty(store: Store) -> None:
    fill(store)
    assert not any(parts(store, "theirs").values())


def test_what_is_read_can_be_appended_to_another_namespace_piece_by_piece(store: Store) -> None:
    fill(store)
    for kind in PARTS:
        items = iter(list(store.part("mine", kind)))
        while piece := list(islice(items, 2)):
            store.append("theirs", piece)
    assert parts(store, "theirs") == parts(store)
    assert dump(store, "theirs") == dump(store)
    assert store.head("theirs") == store.head("mine")
    assert store.check("theirs") == []
    assert StoredNamespace(store, "theirs").page_of(NOW, words="says", limit=100)


def test_items_can_be_appended_where_writes_are_refused(store: Store) -> None:
    fill(store)
    store.set_read_only("theirs", on=True)
    store.append("theirs", list(store.part("mine", Logged)))
    store.append("theirs", list(store.part("mine", MemoryRow)))
    with pytest.raises(Conflict):
        remember(store, whole("d"), namespace="theirs")
    assert len(list(store.part("theirs", MemoryRow))) == 3


def test_a_namespace_that_is_cleared_is_as_if_it_never_was(store: Store) -> None:
    empty = dump(store)
    fill(store)
    fill(store, "theirs")
    before = dump(store, "theirs")
    store.set_read_only("mine", on=True)
    store.clear("mine")
    store.set_read_only("mine", on=False)
    assert store.namespaces() == ["theirs"]
    assert not any(parts(store).values())
    assert dump(store) == {**empty, "counts": dump(store)["counts"]}
    assert dump(store, "theirs") == before
    assert store.check("theirs") == []
    fill(store)
    assert store.head("mine") == 5


def test_a_purge_erases_what_mentions_a_name_beside_the_memories(store: Store) -> None:
    remember(store, whole("a", "Zoë sings"), whole("b", "she hums"), whole("c", "he hums"), message="for Zoë")
    query = verdict("b", recall="r", cue={"text": "who is zoë?"}, session="zoë-1")
    remember(store, query, verdict("c", cue={"text": "who hums?"}), run("n", "b", session="call with ZOË"))
    limits = {"keep": 9, "keep_flows": 9, "not_before": NOW - 9 * DAY}
    store.add_trace("mine", trace("r", NOW, "b", cue={"text": "who is zoë?"}), **limits)
    store.add_trace("mine", trace("s", NOW, "c", cue={"text": "who hums?"}), **limits)
    store.save(
        "mine", LoopSessionRow("z", None, "done", "Thank her", NOW, NOW, '{"to": ["Zo\\u00eb"]}'), new=True
    )
    store.save("mine", LoopSessionRow("y", None, "done", "Rest", NOW, NOW, "{}"), new=True)
    erased = store.purge(Changes("mine", "p", "purge", NOW), ["a"], mentions_any(["Zoë"]))
    assert (erased["memories"], erased["traces"], erased["loop_sessions"]) == (1, 1, 1)
    assert [row.recall_id for row in store.part("mine", Trace)] == ["s"]
    assert [row.id for row in store.part("mine", LoopSessionRow)] == ["y"]
    assert {row.id: dict(row.cue) for row in store.rows("mine", VerdictRow)} == {
        "b": {},
        "c": {"text": "who hums?"},
    }
    assert [row.session for row in store.rows("mine", RunRow)] == [""]
    text = str(
        [*store.part("mine", Logged), *store.rows("mine", VerdictRow), *store.rows("mine", RunRow)]
    ).lower()
    assert "zoë" not in text
    assert store.check("mine") == []
