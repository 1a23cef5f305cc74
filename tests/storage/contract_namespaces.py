"""What every store keeps apart: nothing crosses a namespace."""

from collections.abc import Callable
from typing import Any

import pytest

from priming.errors import Conflict, NotFound, PrimingError
from priming.storage.filters import parse
from priming.storage.protocol import Changes, Store, Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
)
from priming.types import MemoryRecord

from .making import (
    DAY,
    GENERATION,
    NOW,
    added,
    dump,
    link,
    memory,
    operation,
    pair,
    remember,
    run,
    trace,
    vector,
    verdict,
    version,
    weights,
    whole,
)

RECALL = trace("r1", NOW, "a", session="s", nodes=("a", "b"), flow=b"flow")
LEARNT: list[Row] = [verdict("a", recall="r1"), pair("a", "b"), run("n", "a"), weights("priming", date=0.5)]
Read = Callable[[Store, str], Any]
READS: dict[str, Read] = {
    "head": lambda store, name: store.head(name),
    "since": lambda store, name: store.operations(name, after=0),
    "get by id": lambda store, name: StoredNamespace(store, name).record_named("a", NOW),
    "get by key": lambda store, name: StoredNamespace(store, name).record_named("key-a", NOW),
    "records": lambda store, name: store.records(name, NOW, ids=["a", "b"]),
    "page": lambda store, name: StoredNamespace(store, name).page_of(NOW, limit=100),
    "page after": lambda store, name: StoredNamespace(store, name).page_of(NOW, after="a", limit=100),
    "page of words": lambda store, name: StoredNamespace(store, name).page_of(NOW, words="says", limit=100),
    "scan": lambda store, name: list(store.part(name, MemoryRecord, until=NOW)),
    "versions": lambda store, name: store.rows(name, VersionRow, ids=["a"]),
    "memories": lambda store, name: store.rows(name, MemoryRow),
    "some memories": lambda store, name: store.rows(name, MemoryRow, ids=["a"]),
    "links": lambda store, name: store.rows(name, LinkRow),
    "some links": lambda store, name: store.rows(name, LinkRow, ids=["a"]),
    "present memory": lambda store, name: StoredNamespace(store, name).stored(whole("a")[0]),
    "present version": lambda store, name: StoredNamespace(store, name).stored(whole("a", session="s")[1]),
    "present link": lambda store, name: StoredNamespace(store, name).stored(link("a", "b")),
    "keys": lambda store, name: StoredNamespace(store, name).ids_of(["key-a"]),
    "names": lambda store, name: store.names(name, ids=["a"]),
    "digests": lambda store, name: StoredNamespace(store, name).ids_of_digests({"d-what a says": NOW}),
    "session_tail": lambda store, name: list(store.names(name, session="s", limit=9)),
    "vectors": lambda store, name: list(StoredNamespace(store, name).stored_vectors(GENERATION)),
    "some vectors": lambda store, name: list(StoredNamespace(store, name).stored_vectors(GENERATION, ["a"])),
    "matching": lambda store, name: list(store.names(name, condition=parse({"key": "key-a"}), at=NOW)),
    "operation": lambda store, name: StoredNamespace(store, name).operation_of("first"),
    "operation_id": lambda store, name: StoredNamespace(store, name).operation_id(1),
    "operations": lambda store, name: store.operations(name, limit=100),
    "operations of a memory": lambda store, name: store.operations(name, memory_id="a", limit=100),
    "operations since": lambda store, name: store.operations(name, since=NOW, limit=100),
    "operations until": lambda store, name: store.operations(name, until=NOW + DAY, limit=100),
    "operations of a source": lambda store, name: store.operations(name, source="one", limit=100),
    "traces": lambda store, name: store.rows(name, Trace, limit=100),
    "traces of a session": lambda store, name: store.rows(name, Trace, session="s", limit=100),
    "traces of a memory": lambda store, name: store.rows(name, Trace, hit="a", limit=100),
    "trace": lambda store, name: StoredNamespace(store, name).recall_of("r1"),
    "verdicts": lambda store, name: store.rows(name, VerdictRow),
    "some verdicts": lambda store, name: store.rows(name, VerdictRow, ids=["a"]),
    "verdicts of a recall": lambda store, name: store.rows(name, VerdictRow, recall="r1"),
    "pairs": lambda store, name: store.rows(name, PairRow),
    "some pairs": lambda store, name: store.rows(name, PairRow, ids=["a", "b"], both=True),
    "pairs with either end": lambda store, name: store.rows(name, PairRow, ids=["a"]),
    "runs": lambda store, name: store.rows(name, RunRow),
    "some runs": lambda store, name: store.rows(name, RunRow, ids=["n"], settled=False),
    "weights": lambda store, name: store.rows(name, WeightsRow),
    "weights of a profile": lambda store, name: store.rows(name, WeightsRow, profile="priming"),
    "present verdict": lambda store, name: StoredNamespace(store, name).stored(LEARNT[0]),
    "present pair": lambda store, name: StoredNamespace(store, name).stored(LEARNT[1]),
    "present run": lambda store, name: StoredNamespace(store, name).stored(LEARNT[2]),
    "present weights": lambda store, name: StoredNamespace(store, name).stored(LEARNT[3]),
    "counts": lambda store, name: (store.counts(name).memories, store.counts(name).links),
    "generation": lambda store, name: store.counts(name).generation,
}

Write = Callable[[Store], Any]
WRITES: dict[str, tuple[Write, type[PrimingError] | None]] = {
    "changing a memory": (
        lambda store: store.apply(theirs([RowChange(memory("a"), memory("a", weight=0.9))])),
        NotFound,
    ),
    "changing a link": (
        lambda store: store.apply(theirs([RowChange(link("a", "b"), link("a", "b", weight=0.9))])),
        NotFound,
    ),
    "retiring a version": (
        lambda store: store.apply(theirs([RowChange(version("a"), version("a", retired_at=NOW))])),
        NotFound,
    ),
    "removing a memory": (
        lambda store: store.apply(theirs([RowChange(row, None) for row in whole("a")])),
        NotFound,
    ),
    "removing a link": (lambda store: store.apply(theirs([RowChange(link("a", "b"), None)])), NotFound),
    "changing a pair": (
        lambda store: store.apply(theirs([RowChange(LEARNT[1], pair("a", "b", NOW + DAY))])),
        NotFound,
    ),
    "changing a run": (
        lambda store: store.apply(theirs([RowChange(LEARNT[2], run("n", "a", "b"))])),
        NotFound,
    ),
    "changing weights": (
        lambda store: store.apply(theirs([RowChange(LEARNT[3], weights("priming", date=0.75))])),
        NotFound,
    ),
    "removing a run": (lambda store: store.apply(theirs([RowChange(LEARNT[2], None)])), NotFound),
    "a verdict": (lambda store: store.apply(theirs(added(verdict("a", operation="2")))), NotFound),
    "linking": (lambda store: store.apply(theirs(added(link("b", "a")))), NotFound),
    "linking across": (lambda store: store.apply(theirs(added(whole("z"), link("z", "a")))), NotFound),
    "a version": (lambda store: store.apply(theirs(added(version("a", revision=2)))), NotFound),
    "undoing": (lambda store: store.apply(theirs([], undoes=("first",))), NotFound),
    "vectors": (
        lambda store: StoredNamespace(store, "theirs").add_vectors(GENERATION, {("a", 1): vector(9.0)}),
        None,
    ),
    "the same memory": (
        lambda store: store.apply(theirs(added(whole("a"), whole("b"), link("a", "b"), LEARNT))),
        None,
    ),
    "the same operation": (lambda store: store.apply(theirs(added(whole("z")), id="first")), None),
    "restoring": (
        lambda store: StoredNamespace(store, "theirs").fill(whole("a"), store.operations("mine", after=0)),
        None,
    ),
    "purging": (lambda store: store.purge(Changes("theirs", "p", "purge", NOW), ["a", "b"]), None),
    "tracing": (
        lambda store: store.add_trace("theirs", RECALL, keep=0, keep_flows=0, not_before=NOW + DAY),
        None,
    ),
}


def theirs(changes: list[RowChange], **fields: Any) -> Changes:
    return operation(changes, namespace="theirs", **fields)


def fill_mine(store: Store) -> None:
    rows = [*whole("a", session="s"), *whole("b", session="s"), link("a", "b"), *LEARNT]
    remember(store, rows, id="first", source="one")
    store.add_trace("mine", RECALL, keep=9, keep_flows=9, not_before=NOW)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_no_read_sees_another_namespace(store: Store, read: Read) -> None:
    empty = read(store, "mine")
    fill_mine(store)
    assert read(store, "mine") != empty
    assert read(store, "theirs") == empty
    remember(store, whole("x", "nothing alike"), namespace="theirs", vectors=False, at=NOW - DAY)
    mine = read(store, "mine")
    store.purge(Changes("theirs", "p", "purge", NOW - DAY), ["x"])
    assert read(store, "mine") == mine


@pytest.mark.parametrize(("write", "error"), WRITES.values(), ids=WRITES)
def test_no_write_reaches_another_namespace(
    store: Store, write: Write, error: type[PrimingError] | None
) -> None:
    fill_mine(store)
    before = dump(store)
    if error is None:
        write(store)
    else:
        with pytest.raises(error):
            write(store)
        assert store.namespaces() == ["mine"]
    assert dump(store) == before
    assert store.check("mine") == []


def test_namespaces_are_made_by_writing_and_listed_in_order(store: Store) -> None:
    for name in ("b", "a/ü", "a"):
        remember(store, whole("m"), namespace=name)
    store.add_trace("traced only", trace("r"), keep=1, keep_flows=9, not_before=NOW)
    assert store.namespaces() == ["a", "a/ü", "b"]


def test_each_namespace_counts_its_own_operations(store: Store) -> None:
    assert [remember(store, whole(f"m{i}"), namespace=name) for i, name in enumerate(["a", "b", "a"])] == [
        1,
        1,
        2,
    ]


def test_a_key_is_taken_in_its_own_namespace_only(store: Store) -> None:
    remember(store, whole("a"), namespace="one")
    remember(store, whole("a"), namespace="two")
    with pytest.raises(Conflict):
        remember(store, whole("b", key="key-a"), namespace="two")
