"""What every store does with its log: reading, restoring and erasing it."""

import pytest

from priming.errors import Conflict, NotFound
from priming.storage.protocol import Changes, Logged, Store, Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import LinkRow, MemoryRow, Row, RowChange

from .making import (
    DAY,
    NOW,
    added,
    dump,
    every_row,
    link,
    memory,
    mine,
    operation,
    pair,
    remember,
    rows_of,
    run,
    texts,
    trace,
    verdict,
    weights,
    whole,
)


def test_an_operation_stands_in_the_log_with_all_that_is_known_of_it(store: Store) -> None:
    rows = added(whole("a"))
    changes = operation(
        rows, id="x", kind="remember", at=NOW, actor="user", source="cli", reason="why", message="done"
    )
    number = store.apply(changes)
    logged = Logged(number, "x", "remember", NOW, "user", "cli", "why", None, "done", tuple(rows))
    assert mine(store).operation_of("x") == logged
    assert (store.operations("mine", after=0), store.operations("mine", limit=100)) == ([logged], [logged])
    assert mine(store).operation_id(number) == "x"
    assert (
        mine(store).operation_of("nil"),
        mine(store).operation_id(9),
    ) == (None, None)


def test_both_sides_of_a_change_are_kept(store: Store) -> None:
    remember(store, whole("a"))
    change = RowChange(memory("a"), memory("a", weight=0.75, last_used_at=NOW))
    store.apply(operation([change]))
    gone = [RowChange(row, None) for row in (*whole("a")[1:], change.after) if row is not None]
    store.apply(operation(gone))
    assert [entry.rows for entry in store.operations("mine", after=1)] == [(change,), tuple(gone)]


def test_of_a_large_operation_the_first_rows_can_be_read_alone(store: Store) -> None:
    rows = added(*(row for n in range(300) for row in whole(f"m{n}")))
    store.apply(operation(rows, id="large"))
    remember(store, whole("a"), id="small")
    small, large = store.operations("mine", first=True)
    assert (small.id, large.id) == ("small", "large")
    assert small.rows == tuple(added(*whole("a")))
    assert len(large.rows) < 300
    assert large.rows == tuple(rows[: len(large.rows)])


def test_the_log_is_read_oldest_first_from_a_number_and_newest_first_as_a_page(store: Store) -> None:
    for name in "abcd":
        remember(store, whole(name), id=name)
    assert texts(store.operations("mine", after=2)) == ["c", "d"]
    assert store.operations("mine", after=4) == []
    assert texts(store.operations("mine", limit=100)) == ["d", "c", "b", "a"]
    assert texts(store.operations("mine", limit=2)) == ["d", "c"]


def test_operations_since_a_time_begin_at_that_very_time(store: Store) -> None:
    for days, name in enumerate("abc"):
        remember(store, whole(name), id=name, at=NOW + days * DAY)
    remember(store, whole("z"), id="z", at=NOW)
    assert texts(store.operations("mine", since=NOW + DAY, limit=100)) == ["c", "b"]
    assert texts(store.operations("mine", since=NOW + DAY, limit=1)) == ["c"]
    assert texts(store.operations("mine", since=NOW, limit=100)) == ["z", "c", "b", "a"]


def test_operations_until_a_time_end_before_that_very_time(store: Store) -> None:
    for days, name in enumerate("abc"):
        remember(store, whole(name), id=name, at=NOW + days * DAY)
    assert texts(store.operations("mine", until=NOW + DAY, limit=100)) == ["a"]
    assert texts(store.operations("mine", until=NOW + 9 * DAY, limit=1)) == ["c"]
    assert texts(store.operations("mine", since=NOW + DAY, until=NOW + 2 * DAY, limit=100)) == ["b"]
    assert store.operations("mine", until=NOW, limit=100) == []


def test_operations_of_a_source_are_those_that_name_it(store: Store) -> None:
    for days, (name, source) in enumerate([("a", "one"), ("b", "two"), ("c", None), ("d", "one")]):
        remember(store, whole(name), id=name, at=NOW + days * DAY, source=source)
    assert texts(store.operations("mine", source="one", limit=100)) == ["d", "a"]
    assert texts(store.operations("mine", source="one", limit=1)) == ["d"]
    assert texts(store.operations("mine", since=NOW + DAY, source="one", limit=100)) == ["d"]
    assert texts(store.operations("mine", until=NOW + DAY, source="one", limit=100)) == ["a"]
    assert texts(store.operations("mine", memory_id="b", source="two", limit=100)) == ["b"]
    assert store.operations("mine", memory_id="a", source="two", limit=100) == []
    assert store.operations("mine", source="", limit=100) == []


def test_operations_of_a_memory_are_all_that_touched_it(store: Store) -> None:
    remember(store, whole("a"), whole("b"), id="made")
    remember(store, whole("c"), id="other")
    remember(store, link("b", "a"), id="linked")
    assert texts(store.operations("mine", memory_id="a", limit=100)) == ["linked", "made"]
    assert texts(store.operations("mine", memory_id="b", limit=1)) == ["linked"]
    assert store.operations("mine", memory_id="nil", limit=100) == []


def test_operations_of_a_kind_are_those_of_that_kind(store: Store) -> None:
    remember(store, whole("a"), id="made", kind="remember")
    remember(store, whole("b"), id="back", kind="restore")
    remember(store, link("a", "b"), id="again", kind="restore")
    assert texts(store.operations("mine", kind="restore", limit=100)) == ["again", "back"]
    assert texts(store.operations("mine", memory_id="a", kind="restore", limit=100)) == ["again"]
    assert store.operations("mine", kind="forget", limit=100) == []


def test_an_operation_of_many_rows_keeps_them_in_order(store: Store) -> None:
    rows = added(*(whole(f"m{i:03}") for i in range(250)), *(link("m000", f"m{i:03}") for i in range(1, 250)))
    store.apply(operation(rows))
    assert store.operations("mine", after=0)[0].rows == tuple(rows)
    assert len(store.rows("mine", LinkRow)) == 249


def test_a_restored_namespace_equals_the_one_it_came_from(store: Store) -> None:
    remember(store, whole("a"), whole("b", status="forgotten"), link("a", "b"), id="1")
    remember(store, link("b", "a"), id="2", at=NOW + DAY)
    store.apply(operation([RowChange(link("b", "a"), None)], id="3", undoes=("2",)))
    learnt: list[Row] = [verdict("a", recall="r1", cue={"text": "?"}), pair("a", "b"), run("n", "b", "p")]
    learnt.append(weights("priming", date=0.5))
    remember(store, whole("p"), learnt, id="4")
    store.purge(Changes("mine", "5", "purge", NOW), ["p"])
    holder = dump(store)
    StoredNamespace(store, "again").fill(every_row(holder), holder["log"][::-1])
    restored = dump(store, "again")
    assert restored["counts"].pop("generation") is None
    assert {**restored, "vectors": holder["vectors"]} == {
        **holder,
        "counts": {name: holder["counts"][name] for name in restored["counts"]},
    }
    assert remember(store, whole("c"), namespace="again") == 6


def test_only_an_empty_namespace_can_be_restored(store: Store) -> None:
    remember(store, whole("a"))
    before = dump(store)
    with pytest.raises(Conflict, match="not empty"):
        mine(store).fill(whole("b"), [Logged(1, "x", "remember", NOW, rows=tuple(added(whole("b"))))])
    assert dump(store) == before


def test_a_restore_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(Conflict):
        mine(store).fill([*whole("a"), *whole("b", key="key-a")], [Logged(1, "x", "remember", NOW)])
    assert store.namespaces() == []


def test_a_purge_erases_a_memory_and_every_trace_of_it(store: Store) -> None:
    remember(
        store, whole("a"), whole("b"), whole("c"), link("a", "b"), link("c", "a"), link("b", "c"), id="1"
    )
    remember(store, link("b", "a", "next"), id="2")
    store.add_trace("mine", trace("r1", NOW, "b", "a"), keep=9, keep_flows=9, not_before=NOW)
    store.add_trace("mine", trace("r2", NOW, "b", "c"), keep=9, keep_flows=9, not_before=NOW)
    erased = store.purge(Changes("mine", "3", "purge", NOW), ["a"])
    store.flush()
    assert {table: count for table, count in erased.items() if count} == {
        "memories": 1,
        "versions": 1,
        "links": 3,
        "vectors": 1,
        "changes": 5,
        "traces": 1,
    }
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["b", "c"]
    assert store.rows("mine", LinkRow) == [link("b", "c")]
    assert (
        mine(store).record_named("a", NOW),
        mine(store).page_of(NOW, words="says a", limit=100),
    ) == (None, [])
    assert [row.recall_id for row in store.rows("mine", Trace, limit=100)] == ["r2"]
    assert [entry.rows for entry in store.operations("mine", after=0)] == [
        tuple(added(whole("b"), whole("c"), link("b", "c"))),
        (),
        (),
    ]
    assert store.check("mine") == []


def test_a_purge_erases_what_was_learnt_of_a_memory(store: Store) -> None:
    message = [verdict("a", recall="r"), verdict("b", recall="r"), verdict("a", operation="again")]
    remember(store, whole("a"), whole("b"), whole("c"), message, id="1")
    remember(store, pair("a", "b"), pair("b", "c"), pair("a", "c"), id="2")
    remember(store, run("first", "b", "a", "c"), run("second", "a"), run("third", "c"), id="3")
    grown = RowChange(run("third", "c"), run("third", "c", "a"))
    store.apply(operation([grown], id="4"))
    erased = store.purge(Changes("mine", "5", "purge", NOW), ["a"])
    assert (erased["verdicts"], erased["pairs"]) == (2, 2)
    holder = dump(store)
    assert holder["verdicts"] == [verdict("b", recall="r")]
    assert holder["pairs"] == [pair("b", "c")]
    assert holder["runs"] == [run("first", "b", "c"), run("second"), run("third", "c")]
    assert [entry.rows for entry in store.operations("mine", after=1)] == [
        tuple(added(pair("b", "c"))),
        tuple(added(run("first", "b", "c"), run("second"), run("third", "c"))),
        (RowChange(run("third", "c"), run("third", "c")),),
        (),
    ]
    assert texts(store.operations("mine", memory_id="a", limit=100)) == ["5"]
    assert store.check("mine") == []


def test_a_purge_is_in_the_log_by_the_ids_alone(store: Store) -> None:
    remember(store, whole("a"), whole("b"), id="1")
    store.purge(Changes("mine", "2", "purge", NOW), ["a", "b"])
    (logged,) = store.operations("mine", after=1)
    assert (logged.kind, logged.rows, logged.erased) == ("purge", (), ("a", "b"))
    assert texts(store.operations("mine", memory_id="a", limit=100)) == ["2"]
    assert remember(store, whole("a")) == 3


def test_an_operation_is_undone_by_the_latest_undo_that_stands(store: Store) -> None:
    for name, undoes in (("1", ()), ("2", ()), ("3", ("1",)), ("4", ("1", "2")), ("5", ("4",))):
        store.apply(operation(id=name, undoes=undoes))
        marks = {entry.id: entry.undone_by for entry in store.operations("mine", limit=100)}
        if name == "4":
            assert marks == {"1": "4", "2": "4", "3": None, "4": None}
    assert marks == {"1": "3", "2": None, "3": None, "4": "5", "5": None}
    store.apply(operation(id="6", undoes=("5",)))
    marks = {entry.id: entry.undone_by for entry in store.operations("mine", limit=100)}
    assert marks == {"1": "4", "2": "4", "3": None, "4": None, "5": "6", "6": None}
    assert [entry.undoes for entry in store.operations("mine", limit=3)] == [("5",), ("4",), ("1", "2")]


def test_an_undo_of_an_unknown_operation_is_refused_whole(store: Store) -> None:
    store.apply(operation(id="1"))
    with pytest.raises(NotFound, match="no operation 'x'"):
        store.apply(operation(id="2", undoes=("1", "x")))
    assert texts(store.operations("mine", limit=100)) == ["1"]
    assert store.operations("mine", limit=100)[0].undone_by is None


def test_the_log_is_read_on_from_a_number(store: Store) -> None:
    for name in "abcde":
        store.apply(operation(id=name))
    assert texts(store.operations("mine", before=4, limit=2)) == ["c", "b"]
    assert texts(store.operations("mine", before=1, limit=100)) == []


def test_other_operations_forget_the_purged_end_of_their_links(store: Store) -> None:
    remember(store, whole("a"), whole("b"), id="1")
    remember(store, link("b", "a"), id="2")
    store.purge(Changes("mine", "3", "purge", NOW), ["a"])
    assert texts(store.operations("mine", memory_id="b", limit=100)) == ["1"]


def test_a_purge_finds_its_rows_in_an_operation_of_many(store: Store) -> None:
    names = [f'm "{i:03}" \\ ü' for i in range(300)]
    links = [link(name, names[0]) for name in names[1:]]
    remember(store, *(whole(name) for name in names), links, id="1")
    erased = store.purge(Changes("mine", "2", "purge", NOW), [names[0], names[7]])
    assert (erased["memories"], erased["links"], erased["changes"]) == (2, 299, 303)
    (new, _) = store.operations("mine", after=0)
    assert new.rows == tuple(added(*(whole(name) for name in names if name not in (names[0], names[7]))))
    assert texts(store.operations("mine", memory_id=names[1], limit=100)) == ["1"]
    assert texts(store.operations("mine", memory_id=names[7], limit=100)) == ["2"]
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
        assert next(iter(store.records("mine", NOW, words="says"))) == "a"
        store.purge(Changes("mine", f"p{turn}", "purge", NOW), ["a", "b"])
    assert not any(rows_of(dump(store)).values())
    assert store.check("mine") == []
