"""What every store does with what was learnt: verdicts, pairs that were active together, runs."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from priming.errors import Conflict, NotFound, ParamError, PrimingError
from priming.serialization import stamp
from priming.storage.protocol import Changes, Store
from priming.storage.rows import MemoryRow, PairRow, Row, RowChange, RunRow, VerdictRow, WeightsRow
from priming.types import Retention, Use

from .making import (
    DAY,
    NOW,
    added,
    dump,
    link,
    memory,
    mine,
    operation,
    pair,
    remember,
    rows_of,
    run,
    verdict,
    weights,
    whole,
)

FULL_VERDICT = verdict(
    "a",
    "not-relevant",
    operation="op “1”",
    recall="r",
    at=NOW + timedelta(microseconds=1),
    tier="manual",
    session="s/1",
    cue={"text": "wörds 大阪", "n": 1.5, "ok": True, "deep": [None, {}]},
)
FULL_WEIGHTS = weights("wörld-weaver", named=0.1 + 0.2, bm25=0.0)
FULL_RUN = run("n", "b", "gone", ended_at=NOW + DAY, settled="unused", session="s/1")


def test_every_field_of_what_was_learnt_comes_back_as_it_was(store: Store) -> None:
    rows = [*whole("a"), *whole("b"), FULL_VERDICT, pair("a", "b", NOW, NOW + DAY), FULL_RUN, FULL_WEIGHTS]
    remember(store, rows)
    assert store.rows("mine", WeightsRow) == [FULL_WEIGHTS]
    assert store.rows("mine", VerdictRow) == [FULL_VERDICT]
    assert store.rows("mine", PairRow) == [pair("a", "b", NOW, NOW + DAY)]
    assert store.rows("mine", RunRow) == [FULL_RUN]
    assert [row.after for row in store.operations("mine", after=0)[0].rows] == rows
    assert [mine(store).stored(row) for row in rows] == rows


def test_a_memory_is_as_sure_as_it_was_told(store: Store) -> None:
    remember(store, whole("a"), memory("b", confidence=0.6), whole("b")[1:])
    assert [row.confidence for row in store.rows("mine", MemoryRow)] == [1.0, 0.6]
    result = mine(store).record_named("b", NOW)
    assert result is not None
    assert result.confidence == 0.6


def test_a_memory_is_retained_as_it_was_told(store: Store) -> None:
    reviewed = memory(
        "b", stability=2.5, difficulty=3.0, endurance=0.8, reviewed_at=NOW, first_used_at=NOW - DAY
    )
    remember(store, whole("a"), replace(reviewed, recent=(stamp(NOW), stamp(NOW - DAY))), whole("b")[1:])
    result = store.records("mine", NOW, ids=["a", "b"])
    assert result["a"].retention == Retention()
    assert result["b"].retention == Retention(2.5, 3.0, 0.8, NOW)
    assert result["b"].use == Use(first_used_at=NOW - DAY, recent=(NOW, NOW - DAY))


def test_a_time_of_another_zone_is_the_same_instant_in_a_verdict(store: Store) -> None:
    remember(store, whole("a"), verdict("a", at=NOW.astimezone(timezone(timedelta(hours=9)))))
    assert store.rows("mine", VerdictRow) == [verdict("a")]


def test_verdicts_come_oldest_first_by_memory_and_by_recall(store: Store) -> None:
    late = verdict("a", "used", recall="r1", at=NOW + DAY, operation="2")
    early = verdict("b", "confirmed", recall="r1", operation="1")
    other = verdict("a", "not-useful", recall="r2", at=NOW + 2 * DAY, operation="3")
    none = verdict("a", "used", at=NOW + 3 * DAY, operation="4")
    remember(store, whole("a"), whole("b"), whole("c"), none, late, early, other)
    assert store.rows("mine", VerdictRow) == [early, late, other, none]
    assert store.rows("mine", VerdictRow, ids=["a", "nil", "a"]) == [late, other, none]
    assert store.rows("mine", VerdictRow, recall="r1") == [early, late]
    assert store.rows("mine", VerdictRow, ids=["a"], recall="r1") == [late]
    assert store.rows("mine", VerdictRow, ids=["c"]) == store.rows("mine", VerdictRow, ids=[]) == []
    assert store.rows("mine", VerdictRow, recall="nil") == []


def test_pairs_are_found_by_both_ends_or_by_either(store: Store) -> None:
    remember(store, whole("a"), whole("b"), whole("c"), pair("b", "c"), pair("a", "c"), pair("a", "b"))
    assert store.rows("mine", PairRow) == [pair("a", "b"), pair("a", "c"), pair("b", "c")]
    assert store.rows("mine", PairRow, ids=["c", "a", "nil"], both=True) == [pair("a", "c")]
    assert (
        store.rows("mine", PairRow, ids=["b"], both=True)
        == store.rows("mine", PairRow, ids=[], both=True)
        == []
    )
    assert store.rows("mine", PairRow, ids=["b"]) == [pair("a", "b"), pair("b", "c")]
    assert store.rows("mine", PairRow, ids=["a", "b"]) == store.rows("mine", PairRow)
    assert store.rows("mine", PairRow, ids=[]) == []


def test_runs_come_oldest_first_by_id_and_by_whether_they_still_wait(store: Store) -> None:
    runs = [run("b", settled="used"), run("c", started_at=NOW + DAY), run("a", started_at=NOW + 2 * DAY)]
    remember(store, runs[::-1])
    assert store.rows("mine", RunRow) == runs
    assert store.rows("mine", RunRow, settled=False) == runs[1:]
    assert store.rows("mine", RunRow, ids=["a", "nil", "b"]) == [runs[0], runs[2]]
    assert store.rows("mine", RunRow, ids=["a", "b"], settled=False) == [runs[2]]
    assert store.rows("mine", RunRow, ids=[]) == []


def test_runs_are_found_by_a_time_at_which_they_were_under_way(store: Store) -> None:
    first, second = run("a", ended_at=NOW + DAY), run("b", started_at=NOW + DAY, ended_at=NOW + 3 * DAY)
    remember(store, first, second, run("under way"))
    expected = {-1: [], 0: [first], 1: [first, second], 2: [second], 3: [second], 4: []}
    assert {day: store.rows("mine", RunRow, during=NOW + day * DAY) for day in expected} == expected


def test_weights_are_found_by_their_profile(store: Store) -> None:
    remember(store, weights("b", date=0.5), weights("a"))
    assert store.rows("mine", WeightsRow) == [weights("a"), weights("b", date=0.5)]
    assert store.rows("mine", WeightsRow, profile="b") == [weights("b", date=0.5)]
    assert store.rows("mine", WeightsRow, profile="c") == []


@pytest.mark.parametrize(
    "row",
    [verdict("a"), pair("a", "b"), run("n", "a"), weights("a")],
    ids=["verdict", "pair", "run", "weights"],
)
def test_what_was_not_learnt_is_not_present(store: Store, row: Row) -> None:
    remember(store, whole("a"), whole("b"), pair("b", "a"), verdict("a", operation="other"), run("m"))
    remember(store, weights("b"))
    assert mine(store).stored(row) is None


MOVED = {
    "a pair": (pair("a", "b"), pair("a", "b", NOW, NOW + DAY)),
    "a pair that loses its times": (pair("a", "b"), replace(pair("a", "b"), times=())),
    "a run": (run("n", "a"), run("n", "a", "b", ended_at=NOW + DAY, settled="used", session="t")),
    "weights": (weights("priming", date=0.5), weights("priming", date=0.25, named=0.0)),
    "weights that name none": (weights("priming", date=0.5), weights("priming")),
    "a verdict": (verdict("a"), verdict("a", tier="manual", cue={"text": "?"})),
}


@pytest.mark.parametrize(("before", "after"), MOVED.values(), ids=MOVED)
def test_what_was_learnt_is_made_moved_and_removed_and_each_is_taken_back(
    store: Store, before: Row, after: Row
) -> None:
    remember(store, whole("a"), whole("b"))
    turns = [RowChange(None, before), RowChange(before, after), RowChange(after, None)]
    states = [rows_of(dump(store))]
    for turn in turns:
        store.apply(operation([turn]))
        states.append(rows_of(dump(store)))
    assert states[0] == states[3]
    assert states[0] != states[1] != states[2] != states[0]
    for turn, state in zip(turns[::-1], states[2::-1], strict=True):
        store.apply(operation([turn.inverse()]))
        assert rows_of(dump(store)) == state
    assert store.check("mine") == []


def test_what_was_learnt_goes_before_the_memories_that_it_names(store: Store) -> None:
    rows = [*whole("a"), *whole("b"), link("a", "b"), verdict("a"), pair("a", "b"), run("n", "a")]
    for order in (rows, rows[::-1]):
        remember(store, *rows)
        store.apply(operation([RowChange(row, None) for row in order]))
        assert not any(rows_of(dump(store)).values())


def test_a_run_may_have_shown_what_is_gone(store: Store) -> None:
    remember(store, whole("a"), run("n", "a", "never there"))
    store.apply(operation([RowChange(row, None) for row in whole("a")]))
    assert store.rows("mine", RunRow) == [run("n", "a", "never there")]
    assert store.check("mine") == []


def test_operations_are_found_by_the_memories_that_they_learnt_of(store: Store) -> None:
    remember(store, whole("a"), whole("b"), whole("c"), id="made")
    for name, row in (("verdict", verdict("a")), ("pair", pair("b", "c")), ("run", run("n", "a", "b"))):
        remember(store, row, id=name)
    result = {item: [o.id for o in store.operations("mine", memory_id=item, limit=100)] for item in "abc"}
    assert result == {"a": ["run", "verdict", "made"], "b": ["run", "pair", "made"], "c": ["pair", "made"]}


UNLEARNT: dict[str, tuple[Changes, type[PrimingError], str]] = {
    "the same verdict of a recall twice": (
        operation(added(verdict("a", recall="r", operation="other"))),
        Conflict,
        "the same identity exists",
    ),
    "the same verdict of an operation twice": (
        operation(added(verdict("a", recall="other", operation="op"))),
        Conflict,
        "the same identity exists",
    ),
    "a pair that is there": (
        operation(added(pair("a", "b", NOW + DAY))),
        Conflict,
        "the same identity exists",
    ),
    "a run that is there": (operation(added(run("n"))), Conflict, "the same identity exists"),
    "weights that are there": (operation(added(weights("p"))), Conflict, "the same identity exists"),
    "a change of no weights": (
        operation([RowChange(weights("q"), weights("q", date=0.5))]),
        NotFound,
        "weights does not exist",
    ),
    "weights of another profile": (
        operation([RowChange(weights("p", date=0.5), weights("q", date=0.5))]),
        Conflict,
        "cannot become another",
    ),
    "a verdict on nothing": (operation(added(whole("c"), verdict("nil"))), NotFound, "no memory 'nil'"),
    "a pair with nothing": (operation(added(whole("c"), pair("a", "nil"))), NotFound, "no memory 'nil'"),
    "a change of no verdict": (
        operation([RowChange(verdict("b"), verdict("b", tier="manual"))]),
        NotFound,
        "verdicts does not exist",
    ),
    "a change of no pair": (
        operation([RowChange(pair("b", "a"), pair("b", "a", NOW + DAY))]),
        NotFound,
        "pairs does not exist",
    ),
    "a change of no run": (operation([RowChange(run("m"), run("m", "a"))]), NotFound, "runs does not exist"),
    "the removal of no verdict": (
        operation([RowChange(verdict("b"), None)]),
        NotFound,
        "verdicts does not exist",
    ),
    "the removal of no pair": (
        operation([RowChange(pair("b", "a"), None)]),
        NotFound,
        "pairs does not exist",
    ),
    "the removal of no run": (operation([RowChange(run("m"), None)]), NotFound, "runs does not exist"),
    "a verdict that becomes another": (
        operation([RowChange(verdict("a", recall="r"), verdict("a", "confirmed", recall="r"))]),
        Conflict,
        "cannot become another",
    ),
    "a pair that becomes another": (
        operation([RowChange(pair("a", "b"), pair("b", "a"))]),
        Conflict,
        "cannot become another",
    ),
    "a run that becomes another": (
        operation([RowChange(run("n", "a"), run("m", "a"))]),
        Conflict,
        "cannot become another",
    ),
    "a row that becomes one of another table": (
        operation([RowChange(pair("a", "b"), link("a", "b"))]),
        Conflict,
        "cannot become another",
    ),
    "the removal of a memory without its verdict": (
        operation([RowChange(row, None) for row in (*whole("a"), pair("a", "b"))]),
        Conflict,
        "still referred to",
    ),
    "the removal of a memory without its pair": (
        operation([RowChange(row, None) for row in whole("b")]),
        Conflict,
        "still referred to",
    ),
    "an endurance that is none": (
        operation(added(whole("c")[1:], memory("c", endurance=None))),
        PrimingError,
        "NOT NULL|null value",
    ),
    "a confidence that is no number": (
        operation(added(whole("c")[1:], memory("c", confidence="high"))),
        ParamError,
        "right types",
    ),
}


@pytest.mark.parametrize(("changes", "error", "words"), UNLEARNT.values(), ids=UNLEARNT)
def test_what_is_refused_of_what_was_learnt_writes_nothing(
    store: Store, changes: Changes, error: type[PrimingError], words: str
) -> None:
    remember(store, whole("a"), whole("b"), verdict("a", recall="r"), pair("a", "b"), run("n", "a"), id="1")
    remember(store, weights("p", date=0.5))
    before = dump(store)
    with pytest.raises(error, match=words):
        store.apply(changes)
    assert dump(store) == before


def test_without_a_recall_a_verdict_may_be_said_again(store: Store) -> None:
    remember(store, whole("a"), verdict("a", operation="1"), verdict("a", operation="2"))
    assert len(store.rows("mine", VerdictRow, ids=["a"])) == 2


def test_another_verdict_of_the_same_recall_is_no_second_one(store: Store) -> None:
    message = [verdict("a", item, recall="r") for item in ("confirmed", "used")]
    remember(store, whole("a"), whole("b"), message, verdict("b", recall="r"))
    assert len(store.rows("mine", VerdictRow, recall="r")) == 3
