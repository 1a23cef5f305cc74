"""What every store does with the traces of recalls."""

from datetime import timedelta

import pytest

from priming.errors import Conflict
from priming.storage.protocol import Changes, Store, Trace

from .making import DAY, NOW, mine, remember, trace, whole


def named(result: list[Trace]) -> list[str]:
    return [item.recall_id for item in result]


def test_traces_come_back_newest_first(store: Store) -> None:
    first = trace("r1", NOW, "a", "b", session="s", cue={"text": "wörds", "file": None, "n": 1.5, "ok": True})
    second = trace("r2", NOW + DAY)
    for item in (first, second):
        store.add_trace("mine", item, keep=10, keep_flows=9, not_before=NOW)
    assert store.rows("mine", Trace, limit=100) == [second, first]
    assert store.rows("mine", Trace, since=NOW + DAY, limit=100) == [second]
    assert store.rows("mine", Trace, since=NOW + DAY + timedelta(microseconds=1), limit=100) == []
    assert store.rows("mine", Trace, limit=1) == [second]


def test_traces_of_one_instant_keep_their_order(store: Store) -> None:
    for name in ("b", "c", "a"):
        store.add_trace("mine", trace(name), keep=10, keep_flows=9, not_before=NOW)
    assert named(store.rows("mine", Trace, limit=100)) == ["a", "c", "b"]


def test_only_the_latest_traces_are_kept(store: Store) -> None:
    for i in range(7):
        store.add_trace("other", trace(f"o{i}"), keep=10, keep_flows=9, not_before=NOW)
        store.add_trace("mine", trace(f"r{i}", NOW + i * DAY), keep=3, keep_flows=9, not_before=NOW)
    assert named(store.rows("mine", Trace, limit=100)) == ["r6", "r5", "r4"]
    assert len(store.rows("other", Trace, limit=100)) == 7
    store.add_trace("mine", trace("r7", NOW + 7 * DAY), keep=3, keep_flows=9, not_before=NOW + 6 * DAY)
    assert named(store.rows("mine", Trace, limit=100)) == ["r7", "r6"]
    store.add_trace("mine", trace("r8", NOW + 8 * DAY), keep=0, keep_flows=9, not_before=NOW)
    assert store.rows("mine", Trace, limit=100) == []


def test_a_recall_is_traced_once(store: Store) -> None:
    store.add_trace("mine", trace("r1", NOW, "a"), keep=3, keep_flows=9, not_before=NOW)
    with pytest.raises(Conflict):
        store.add_trace("mine", trace("r1", NOW, "b"), keep=3, keep_flows=9, not_before=NOW)
    assert store.rows("mine", Trace, limit=100) == [trace("r1", NOW, "a")]


def test_a_recall_is_found_by_its_id_with_its_flow(store: Store) -> None:
    nodes = ("a", 'q "\\ü', "c")
    rest = trace("r1", NOW, "a", session="s", nodes=nodes, flow=bytes(range(256)))
    store.add_trace("mine", rest, keep=9, keep_flows=9, not_before=NOW)
    store.add_trace("mine", trace("r2"), keep=9, keep_flows=9, not_before=NOW)
    assert mine(store).recall_of("r1") == rest
    assert mine(store).recall_of("r2") == trace("r2")
    assert mine(store).recall_of("nil") is None
    assert store.rows("mine", Trace, limit=100) == [trace("r2"), trace("r1", NOW, "a", session="s")]


def test_only_the_latest_recalls_keep_their_flow(store: Store) -> None:
    for i in range(5):
        item = trace(f"r{i}", NOW, "a", nodes=("a",), flow=b"flow")
        store.add_trace("mine", item, keep=4, keep_flows=2, not_before=NOW)
    result = {
        row.recall_id: mine(store).recall_of(row.recall_id) for row in store.rows("mine", Trace, limit=100)
    }
    assert {name: entry and (entry.nodes, entry.flow) for name, entry in result.items()} == {
        "r4": (("a",), b"flow"),
        "r3": (("a",), b"flow"),
        "r2": ((), None),
        "r1": ((), None),
    }
    store.add_trace("mine", trace("r5", nodes=("a",), flow=b"flow"), keep=9, keep_flows=0, not_before=NOW)
    flows = [mine(store).recall_of(row.recall_id) for row in store.rows("mine", Trace, limit=100)]
    assert [flow and flow.flow for flow in flows] == [None] * 5


def test_recalls_are_found_by_session_and_by_hit(store: Store) -> None:
    traces = [
        trace("r1", NOW, "a", session="s"),
        trace("r2", NOW + DAY, "b", session="s"),
        trace("r3", NOW + 2 * DAY, "a", session="t"),
        trace("r4", NOW + 3 * DAY, "aa"),
        trace("r5", NOW + 4 * DAY, "c", "a", session="s"),
    ]
    for item in traces:
        store.add_trace("mine", item, keep=9, keep_flows=9, not_before=NOW)
    assert named(store.rows("mine", Trace, session="s", limit=100)) == ["r5", "r2", "r1"]
    assert named(store.rows("mine", Trace, hit="a", limit=100)) == ["r5", "r3", "r1"]
    assert named(store.rows("mine", Trace, session="s", hit="a", limit=100)) == ["r5", "r1"]
    assert named(store.rows("mine", Trace, session="s", limit=1)) == ["r5"]
    assert named(store.rows("mine", Trace, hit="a", limit=2)) == ["r5", "r3"]
    assert named(store.rows("mine", Trace, since=NOW + DAY, session="s", limit=100)) == ["r5", "r2"]
    assert (
        store.rows("mine", Trace, session="nil", limit=100)
        == store.rows("mine", Trace, hit="nil", limit=100)
        == []
    )


def test_a_purge_drops_recalls_of_a_memory_and_flows_through_it(store: Store) -> None:
    remember(store, whole("a"), whole("b"))
    flowing = {"nodes": ("b", "a"), "flow": b"through a"}
    traces = [
        trace("hit", NOW, "b", "a", **flowing),
        trace("passed", NOW, "b", **flowing),
        trace("apart", NOW, "b", nodes=("b", "c"), flow=b"apart"),
    ]
    for item in traces:
        store.add_trace("mine", item, keep=9, keep_flows=9, not_before=NOW)
    assert store.purge(Changes("mine", "p", "purge", NOW), ["a"])["traces"] == 1
    assert named(store.rows("mine", Trace, limit=100)) == ["apart", "passed"]
    assert mine(store).recall_of("passed") == trace("passed", NOW, "b")
    assert mine(store).recall_of("apart") == traces[2]
