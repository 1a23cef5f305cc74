"""What every store does with its log: reading, restoring and erasing it; and with the traces of recalls."""

from datetime import timedelta

import pytest

from priming.errors import Conflict
from priming.store.protocol import Changes, Logged, Store
from priming.store.rows import RowChange

from .making import (
    DAY,
    NOW,
    added,
    dump,
    link,
    memory,
    operation,
    remember,
    rows_of,
    texts,
    trace,
    whole,
)


def test_an_operation_stands_in_the_log_with_all_that_is_known_of_it(store: Store) -> None:
    rows = added(whole("a"))
    changes = operation(
        rows, id="x", kind="remember", at=NOW, actor="user", source="cli", reason="why", message="done"
    )
    number = store.apply(changes)
    logged = Logged(number, "x", "remember", NOW, "user", "cli", "why", None, "done", tuple(rows))
    assert store.operation("mine", "x") == logged
    assert (store.since("mine", 0), store.operations("mine")) == ([logged], [logged])
    assert store.operation_id("mine", number) == "x"
    assert (store.operation("mine", "nil"), store.operation_id("mine", 9)) == (None, None)


def test_both_sides_of_a_change_are_kept(store: Store) -> None:
    remember(store, whole("a"))
    change = RowChange(memory("a"), memory("a", weight=0.75, last_used_at=NOW))
    store.apply(operation([change]))
    gone = [RowChange(row, None) for row in (*whole("a")[1:], change.after) if row is not None]
    store.apply(operation(gone))
    assert [one.rows for one in store.since("mine", 1)] == [(change,), tuple(gone)]


def test_the_log_is_read_oldest_first_from_a_number_and_newest_first_as_a_page(store: Store) -> None:
    for name in "abcd":
        remember(store, whole(name), id=name)
    assert texts(store.since("mine", 2)) == ["c", "d"]
    assert store.since("mine", 4) == []
    assert texts(store.operations("mine")) == ["d", "c", "b", "a"]
    assert texts(store.operations("mine", limit=2)) == ["d", "c"]


def test_operations_since_a_time_begin_at_that_very_time(store: Store) -> None:
    for days, name in enumerate("abc"):
        remember(store, whole(name), id=name, at=NOW + days * DAY)
    remember(store, whole("z"), id="z", at=NOW)
    assert texts(store.operations("mine", since=NOW + DAY)) == ["c", "b"]
    assert texts(store.operations("mine", since=NOW + DAY, limit=1)) == ["c"]
    assert texts(store.operations("mine", since=NOW)) == ["z", "c", "b", "a"]


def test_operations_of_a_memory_are_all_that_touched_it(store: Store) -> None:
    remember(store, whole("a"), whole("b"), id="made")
    remember(store, whole("c"), id="other")
    remember(store, link("b", "a"), id="linked")
    assert texts(store.operations("mine", memory_id="a")) == ["linked", "made"]
    assert texts(store.operations("mine", memory_id="b", limit=1)) == ["linked"]
    assert store.operations("mine", memory_id="nil") == []


def test_an_operation_of_many_rows_keeps_them_in_order(store: Store) -> None:
    rows = added(*(whole(f"m{i:03}") for i in range(250)), *(link("m000", f"m{i:03}") for i in range(1, 250)))
    store.apply(operation(rows))
    assert store.since("mine", 0)[0].rows == tuple(rows)
    assert len(store.links("mine")) == 249


def test_a_restored_namespace_equals_the_one_it_came_from(store: Store) -> None:
    remember(store, whole("a"), whole("b", status="forgotten"), link("a", "b"), id="1")
    remember(store, link("b", "a"), id="2", at=NOW + DAY)
    store.apply(operation([RowChange(link("b", "a"), None)], id="3", undoes="2"))
    remember(store, whole("p"), id="4")
    store.purge(Changes("mine", "5", "purge", NOW), ["p"])
    held = dump(store)
    rows = [*held["memories"], *held["versions"], *held["links"]]
    store.restore("again", rows, held["log"][::-1])
    restored = dump(store, "again")
    assert restored["counts"].pop("generation") is None
    assert {**restored, "vectors": held["vectors"]} == {
        **held,
        "counts": {name: held["counts"][name] for name in restored["counts"]},
    }
    assert remember(store, whole("c"), namespace="again") == 6


def test_only_an_empty_namespace_can_be_restored(store: Store) -> None:
    remember(store, whole("a"))
    before = dump(store)
    with pytest.raises(Conflict, match="not empty"):
        store.restore("mine", whole("b"), [Logged(1, "x", "remember", NOW, rows=tuple(added(whole("b"))))])
    assert dump(store) == before


def test_a_restore_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(Conflict):
        store.restore("mine", [*whole("a"), *whole("b", key="key-a")], [Logged(1, "x", "remember", NOW)])
    assert store.namespaces() == []


def test_a_purge_erases_a_memory_and_every_trace_of_it(store: Store) -> None:
    remember(
        store, whole("a"), whole("b"), whole("c"), link("a", "b"), link("c", "a"), link("b", "c"), id="1"
    )
    remember(store, link("b", "a", "next"), id="2")
    store.add_trace("mine", trace("r1", NOW, "b", "a"), keep=9, not_before=NOW)
    store.add_trace("mine", trace("r2", NOW, "b", "c"), keep=9, not_before=NOW)
    erased = store.purge(Changes("mine", "3", "purge", NOW), ["a"])
    store.flush()
    assert erased == {"memories": 1, "versions": 1, "links": 3, "vectors": 1, "changes": 5, "traces": 1}
    assert [one.id for one in store.memories("mine")] == ["b", "c"]
    assert store.links("mine") == [link("b", "c")]
    assert (store.get("mine", "a", NOW), store.page("mine", NOW, matching="says a")) == (None, [])
    assert [one.recall_id for one in store.traces("mine")] == ["r2"]
    assert [one.rows for one in store.since("mine", 0)] == [
        tuple(added(whole("b"), whole("c"), link("b", "c"))),
        (),
        (),
    ]
    assert store.check("mine") == []


def test_a_purge_is_in_the_log_by_the_ids_alone(store: Store) -> None:
    remember(store, whole("a"), whole("b"), id="1")
    store.purge(Changes("mine", "2", "purge", NOW), ["a", "b"])
    (logged,) = store.since("mine", 1)
    assert (logged.kind, logged.rows, logged.erased) == ("purge", (), ("a", "b"))
    assert texts(store.operations("mine", memory_id="a")) == ["2"]
    assert remember(store, whole("a")) == 3


def test_other_operations_forget_the_purged_end_of_their_links(store: Store) -> None:
    remember(store, whole("a"), whole("b"), id="1")
    remember(store, link("b", "a"), id="2")
    store.purge(Changes("mine", "3", "purge", NOW), ["a"])
    assert texts(store.operations("mine", memory_id="b")) == ["1"]


def test_a_purge_finds_its_rows_in_an_operation_of_many(store: Store) -> None:
    names = [f'm "{i:03}" \\ ü' for i in range(300)]
    links = [link(one, names[0]) for one in names[1:]]
    remember(store, *(whole(name) for name in names), links, id="1")
    erased = store.purge(Changes("mine", "2", "purge", NOW), [names[0], names[7]])
    assert (erased["memories"], erased["links"], erased["changes"]) == (2, 299, 303)
    (made, _) = store.since("mine", 0)
    assert made.rows == tuple(added(*(whole(name) for name in names if name not in (names[0], names[7]))))
    assert texts(store.operations("mine", memory_id=names[1])) == ["1"]
    assert texts(store.operations("mine", memory_id=names[7])) == ["2"]
    assert store.check("mine") == []


def test_a_purge_that_fails_erases_nothing(store: Store) -> None:
    remember(store, whole("a"), whole("b"), link("a", "b"), id="1")
    before = dump(store)
    with pytest.raises(Conflict):
        store.purge(Changes("mine", "1", "purge", NOW), ["a"])
    assert dump(store) == before


def test_what_was_purged_can_be_remembered_anew(store: Store) -> None:
    for turn in range(3):
        remember(store, whole("a"), whole("b"), link("a", "b"))
        assert store.page("mine", NOW, matching="says")[0].id == "a"
        store.purge(Changes("mine", f"p{turn}", "purge", NOW), ["a", "b"])
    assert not any(rows_of(dump(store)).values())
    assert store.check("mine") == []


def test_traces_come_back_newest_first(store: Store) -> None:
    first = trace("r1", NOW, "a", "b", session="s", cue={"text": "wörds", "file": None, "n": 1.5, "ok": True})
    second = trace("r2", NOW + DAY)
    for one in (first, second):
        store.add_trace("mine", one, keep=10, not_before=NOW)
    assert store.traces("mine") == [second, first]
    assert store.traces("mine", since=NOW + DAY) == [second]
    assert store.traces("mine", since=NOW + DAY + timedelta(microseconds=1)) == []
    assert store.traces("mine", limit=1) == [second]


def test_traces_of_one_instant_keep_their_order(store: Store) -> None:
    for name in ("b", "c", "a"):
        store.add_trace("mine", trace(name), keep=10, not_before=NOW)
    assert [one.recall_id for one in store.traces("mine")] == ["a", "c", "b"]


def test_only_the_latest_traces_are_kept(store: Store) -> None:
    for i in range(7):
        store.add_trace("other", trace(f"o{i}"), keep=10, not_before=NOW)
        store.add_trace("mine", trace(f"r{i}", NOW + i * DAY), keep=3, not_before=NOW)
    assert [one.recall_id for one in store.traces("mine")] == ["r6", "r5", "r4"]
    assert len(store.traces("other")) == 7
    store.add_trace("mine", trace("r7", NOW + 7 * DAY), keep=3, not_before=NOW + 6 * DAY)
    assert [one.recall_id for one in store.traces("mine")] == ["r7", "r6"]
    store.add_trace("mine", trace("r8", NOW + 8 * DAY), keep=0, not_before=NOW)
    assert store.traces("mine") == []


def test_a_recall_is_traced_once(store: Store) -> None:
    store.add_trace("mine", trace("r1", NOW, "a"), keep=3, not_before=NOW)
    with pytest.raises(Conflict):
        store.add_trace("mine", trace("r1", NOW, "b"), keep=3, not_before=NOW)
    assert store.traces("mine") == [trace("r1", NOW, "a")]
