"""What every store does with the rows of an operation, and with transactions."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta, timezone

import numpy as np
import pytest

from priming.core.arguments.arrays import TextVectors
from priming.errors import Conflict, NotFound, ParamError, PrimingError, StoreError
from priming.serialization import stamp
from priming.storage.protocol import Changes, Store
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VectorRow, VersionRow

from .making import (
    DAY,
    GENERATION,
    NOW,
    added,
    dump,
    link,
    memory,
    mine,
    operation,
    remember,
    rows_of,
    vector,
    version,
    whole,
)

FULL_MEMORY = MemoryRow(
    "a",
    "κλειδί/ключ",
    "procedure",
    "active",
    3.5,
    0.25,
    7,
    NOW - DAY,
    helped=1,
    failed=2,
    confirmed=3,
    followed=4,
    stability=2.3065,
    difficulty=2.118103970459015,
    endurance=0.8,
    reviewed_at=NOW + timedelta(microseconds=1),
    first_used_at=NOW - 9 * DAY,
    recent=(stamp(NOW - DAY), stamp(NOW - 9 * DAY)),
)
FULL_VERSION = VersionRow(
    id="a",
    version=2,
    recorded_at=NOW,
    content="Zeile 1\nline 2 “quoted” 'single' 大阪 \U0001f600 -- ; DROP",
    gist="Zeile 1",
    digest="0f",
    revision=3,
    valid_from=NOW - 400 * DAY,
    valid_to=NOW + timedelta(microseconds=1),
    heading="A heading",
    session="s/1",
    speaker="Ann",
    when={"language": ["go", "rust"], "ci": True},
    tags=("b", "a"),
    metadata={"z": 1, "a": {"deep": [1, 2.5, None, "x", {"y": False}]}, "big": 10**30},
    source="src",
    trust="agent",
    importance=0.125,
    outcome="partial",
    occurred_at=NOW - DAY,
)
FULL_LINK = link("a", "b", "my own", weight=1 / 3, given=True, last_activated=NOW + DAY)


def test_every_field_of_a_row_comes_back_as_it_was(store: Store) -> None:
    remember(store, FULL_MEMORY, FULL_VERSION, whole("b"), FULL_LINK)
    assert store.rows("mine", MemoryRow, ids=["a"]) == [FULL_MEMORY]
    assert store.rows("mine", VersionRow, ids=["a"]) == [FULL_VERSION]
    assert store.rows("mine", LinkRow) == [FULL_LINK]
    assert [change.after for change in store.operations("mine", after=0)[0].rows] == [
        FULL_MEMORY,
        FULL_VERSION,
        *whole("b"),
        FULL_LINK,
    ]


def test_a_record_joins_a_memory_and_its_version(store: Store) -> None:
    remember(store, FULL_MEMORY, FULL_VERSION)
    result = mine(store).record_named("a", NOW)
    assert result is not None
    assert (result.namespace, result.key, result.kind) == ("mine", "κλειδί/ключ", "procedure")
    assert (result.use.uses, result.use.last_used_at, result.use.followed) == (7, NOW - DAY, 4)
    assert (result.content, result.when, result.tags) == (FULL_VERSION.content, FULL_VERSION.when, ("b", "a"))
    assert result.metadata == FULL_VERSION.metadata
    assert list(result.metadata) == ["z", "a", "big"]
    assert (result.valid_to, result.version) == (NOW + timedelta(microseconds=1), 2)


def test_a_time_of_another_zone_is_the_same_instant(store: Store) -> None:
    east = timezone(timedelta(hours=9))
    remember(
        store, memory("a", last_used_at=NOW.astimezone(east)), version("a", occurred_at=NOW.astimezone(east))
    )
    (result,) = store.rows("mine", MemoryRow)
    assert result.last_used_at == NOW
    assert result.last_used_at.utcoffset() == timedelta(0)


def test_memories_may_be_given_after_the_rows_that_need_them(store: Store) -> None:
    remember(store, link("a", "b"), version("b"), version("a"), memory("b"), memory("a"))
    assert store.rows("mine", LinkRow) == [link("a", "b")]
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["b", "a"]


def test_operations_are_numbered_from_one_without_gaps(store: Store) -> None:
    assert store.head("mine") == 0
    assert [remember(store, whole(name)) for name in "abc"] == [1, 2, 3]
    assert store.head("mine") == 3


def test_an_operation_may_change_nothing(store: Store) -> None:
    assert store.apply(operation(kind="set-strength", message="nothing to set")) == 1
    assert store.operations("mine", after=0)[0].message == "nothing to set"


def test_a_change_moves_the_state_of_a_memory_and_of_a_link(store: Store) -> None:
    remember(store, whole("a"), whole("b"), link("a", "b"))
    used = replace(memory("a"), weight=0.51, uses=1, last_used_at=NOW, status="forgotten", key="renamed")
    stronger = replace(link("a", "b"), weight=0.6, given=True, last_activated=NOW)
    store.apply(operation([RowChange(memory("a"), used), RowChange(link("a", "b"), stronger)]))
    assert store.rows("mine", MemoryRow, ids=["a"]) == [used]
    assert store.rows("mine", LinkRow) == [stronger]
    assert mine(store).ids_of(["renamed", "key-a"]) == {"renamed": "a"}


def test_a_supersede_retires_a_version_and_records_two(store: Store) -> None:
    remember(store, whole("a", "first"))
    later = NOW + DAY
    old = version("a", "first")
    ended = replace(old, recorded_at=later, revision=2, valid_to=later)
    fresh = version("a", "second", version=2, revision=3, recorded_at=later, valid_from=later)
    store.apply(
        operation([RowChange(old, replace(old, retired_at=later)), *added(ended, fresh)], kind="supersede")
    )
    assert store.rows("mine", VersionRow, ids=["a"]) == [replace(old, retired_at=later), ended, fresh]
    assert [item.content for item in mine(store).page_of(later, limit=100)] == ["second"]
    assert [item.content for item in mine(store).page_of(NOW, limit=100)] == ["first"]


def test_rows_are_removed_in_whatever_order_they_are_given(store: Store) -> None:
    rows = [*whole("a"), *whole("b"), link("a", "b"), link("b", "a")]
    for order in (rows, rows[::-1]):
        remember(store, *rows)
        store.apply(operation([RowChange(row, None) for row in order]))
        assert not any(rows_of(dump(store)).values())


def test_vectors_go_with_the_last_row_of_their_version(store: Store) -> None:
    again = version("a", revision=2)
    remember(store, whole("a"), again)
    store.apply(operation([RowChange(again, None)]))
    assert [key for key, _ in mine(store).stored_vectors(GENERATION)] == [("a", 1)]
    store.apply(operation([RowChange(version("a"), None)]))
    assert list(mine(store).stored_vectors(GENERATION)) == []


RETIRED = replace(version("a"), retired_at=NOW)
INVERTED = {
    "adding": added(whole("x"), link("x", "a"), link("b", "x")),
    "moving a memory": [RowChange(memory("a"), replace(memory("a"), weight=0.9, status="forgotten"))],
    "moving a link": [RowChange(link("a", "b"), replace(link("a", "b"), weight=0.9))],
    "superseding": [
        RowChange(version("a"), RETIRED),
        *added(version("a", "again", version=2, revision=2)),
    ],
    "removing a link": [RowChange(link("a", "b"), None)],
    "removing all": [RowChange(row, None) for row in (*whole("a"), *whole("b"), link("a", "b"))],
}


@pytest.mark.parametrize("changes", INVERTED.values(), ids=INVERTED)
def test_the_inverse_of_a_change_brings_back_what_was_before(store: Store, changes: list[RowChange]) -> None:
    remember(store, whole("a"), whole("b"), link("a", "b"), vectors=False)
    before = rows_of(dump(store))
    store.apply(operation(changes, id="there"))
    after = rows_of(dump(store))
    assert after != before
    store.apply(
        operation([change.inverse() for change in changes], id="back", kind="undo", undoes=("there",))
    )
    assert rows_of(dump(store)) == before
    undone = mine(store).operation_of("there")
    assert undone is not None
    assert undone.undone_by == "back"
    store.apply(operation(changes, undoes=("back",)))
    assert rows_of(dump(store)) == after
    assert store.check("mine") == []


REFUSED: dict[str, tuple[Changes, type[PrimingError], str]] = {
    "a key that is taken": (
        operation(added(whole("c"), whole("d", key="key-a"))),
        Conflict,
        "key 'key-a' is taken",
    ),
    "an id that is taken": (
        operation(added(whole("c"), memory("a", key="other"))),
        Conflict,
        "id 'a' is taken",
    ),
    "a key given twice": (
        operation(added(whole("c", key="k"), whole("d", key="k"))),
        Conflict,
        "key 'k' is taken",
    ),
    "a key moved onto another": (
        operation([RowChange(memory("a"), memory("a", key="key-b"))]),
        Conflict,
        "the same identity exists",
    ),
    "a link that is there": (operation(added(link("a", "b"))), Conflict, "the same identity exists"),
    "a revision that is there": (
        operation(added(version("a", "other"))),
        Conflict,
        "the same identity exists",
    ),
    "an operation that is there": (
        operation(added(whole("c")), id="first"),
        Conflict,
        "the same identity exists",
    ),
    "a link to nothing": (operation(added(whole("c"), link("c", "nil"))), NotFound, "no memory 'nil'"),
    "a link from nothing": (operation(added(link("nil", "a"))), NotFound, "no memory 'nil'"),
    "a version of nothing": (operation(added(version("nil"))), NotFound, "no memory 'nil'"),
    "a change of no memory": (operation([RowChange(memory("nil"), memory("nil"))]), NotFound, "'nil'"),
    "a change of no link": (
        operation([RowChange(link("b", "a"), link("b", "a", weight=0.9))]),
        NotFound,
        "links does not exist",
    ),
    "a change of no version": (
        operation([RowChange(version("a", revision=9), version("a", revision=9, retired_at=NOW))]),
        NotFound,
        "versions does not exist",
    ),
    "the removal of no link": (
        operation([RowChange(link("b", "a"), None)]),
        NotFound,
        "links does not exist",
    ),
    "the removal of no memory": (operation([RowChange(memory("nil"), None)]), NotFound, "'nil'"),
    "the removal of a linked memory": (
        operation([RowChange(row, None) for row in whole("a")]),
        Conflict,
        "still referred to",
    ),
    "the removal of a memory without its versions": (
        operation([RowChange(link("a", "b"), None), RowChange(memory("a"), None)]),
        Conflict,
        "still referred to",
    ),
    "an edited text": (
        operation([RowChange(version("a"), version("a", "rewritten"))]),
        Conflict,
        "cannot be edited",
    ),
    "a link that becomes another": (
        operation([RowChange(link("a", "b"), link("b", "a"))]),
        Conflict,
        "cannot become another",
    ),
    "a memory that becomes another": (
        operation([RowChange(memory("a"), memory("b"))]),
        Conflict,
        "cannot become another",
    ),
    "an undo of nothing": (operation(added(whole("c")), undoes=("nil",)), NotFound, "no operation 'nil'"),
    "a weight that is no number": (
        operation(added(whole("c"), link("c", "a", weight="heavy"))),
        ParamError,
        "right types",
    ),
    "a text that is none": (
        operation(added(memory("c"), version("c", content=None, gist=None))),
        ParamError,
        "row",
    ),
    "a lone surrogate": (operation(added(whole("c", "\ud800"))), ParamError, "can be stored"),
    "a number beyond 64 bits": (operation(added(memory("c", uses=2**70))), ParamError, "can be stored"),
}


@pytest.mark.parametrize(("changes", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_an_operation_that_fails_writes_nothing(
    store: Store, changes: Changes, error: type[PrimingError], words: str
) -> None:
    remember(store, whole("a"), whole("b"), link("a", "b"), id="first")
    before = dump(store)
    with pytest.raises(error, match=words):
        store.apply(changes)
    assert dump(store) == before
    assert remember(store, whole("z")) == 2


def test_a_failed_operation_makes_no_namespace(store: Store) -> None:
    with pytest.raises(NotFound):
        store.apply(operation(added(link("a", "b")), namespace="fresh"))
    assert store.namespaces() == []


def test_what_a_transaction_writes_is_seen_inside_it_and_kept_after(store: Store) -> None:
    with store.transaction():
        remember(store, whole("a"))
        with store.transaction():
            remember(store, whole("b"))
        assert store.head("mine") == 2
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["a", "b"]


@pytest.mark.parametrize("interrupt", [ValueError, KeyboardInterrupt, NotFound])
def test_an_exception_takes_back_all_of_a_transaction(store: Store, interrupt: type[BaseException]) -> None:
    remember(store, whole("a"))
    before = dump(store)

    def write() -> None:
        with store.transaction():
            remember(store, whole("b"))
            with store.transaction():
                remember(store, whole("c"))
                raise interrupt

    with pytest.raises(interrupt):
        write()
    assert dump(store) == before
    assert remember(store, whole("d")) == 2


def test_a_write_that_failed_inside_a_transaction_is_not_kept_even_if_caught(store: Store) -> None:
    remember(store, whole("a"))
    before = dump(store)

    def write() -> None:
        with store.transaction():
            remember(store, whole("b"))
            with suppress(Conflict):
                remember(store, whole("c"), whole("d", key="key-a"))

    with pytest.raises(StoreError, match="nothing of it was written"):
        write()
    assert dump(store) == before
    with store.transaction():
        remember(store, whole("e"))
    assert store.head("mine") == 2


def test_a_read_that_finds_nothing_does_not_spoil_a_transaction(store: Store) -> None:
    with store.transaction():
        assert mine(store).record_named("nil", NOW) is None
        with pytest.raises(LookupError), store.transaction(write=False):
            raise LookupError
        remember(store, whole("a"))
    assert store.head("mine") == 1


def test_a_transaction_that_reads_may_not_write(store: Store) -> None:
    with pytest.raises(StoreError, match="only reads"), store.transaction(write=False):
        remember(store, whole("a"))
    assert store.namespaces() == []


def test_a_closed_store_says_so_and_closes_again(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.namespaces()
    with pytest.raises(StoreError, match="closed"):
        remember(store, whole("a"))


def test_vectors_replace_each_other_and_know_their_generation(store: Store) -> None:
    remember(store, whole("a"), whole("b"))
    mine(store).add_vectors("other", {("a", 1): vector(9.0)})
    mine(store).add_vectors(GENERATION, {("a", 1): vector(7.0)})
    assert dict(mine(store).stored_vectors("other")) == {("a", 1): vector(9.0)}
    assert dict(mine(store).stored_vectors(GENERATION, ["a"])) == {("a", 1): vector(7.0)}
    assert store.head("mine") == 1


def test_vectors_of_any_number_of_passages_follow_that_of_the_whole(store: Store) -> None:
    remember(store, whole("a"), whole("b"))
    rows = np.eye(512, dtype=np.float32)
    long = TextVectors(rows[0], rows[1:61], tuple(range(400, 61 * 400, 400))).packed()
    short = TextVectors(rows[7], rows[:0]).packed()
    mine(store).add_vectors("long", {("a", 1): long, ("b", 1): short})
    assert dict(mine(store).stored_vectors("long")) == {("a", 1): long, ("b", 1): short}
    stored = {row.id: row.vector for row in store.part("mine", VectorRow) if row.generation == "long"}
    assert stored == {"a": long, "b": short}
    mine(store).add_vectors("long", {("a", 1): short})
    assert dict(mine(store).stored_vectors("long", ["a"])) == {("a", 1): short}


def test_vectors_of_versions_that_are_not_there_are_passed_over(store: Store) -> None:
    remember(store, whole("a"), vectors=False)
    mine(store).add_vectors(
        GENERATION, {("a", 1): vector(1.0), ("a", 2): vector(2.0), ("nil", 1): vector(3.0)}
    )
    assert [key for key, _ in mine(store).stored_vectors(GENERATION)] == [("a", 1)]
    mine(store).add_vectors("empty", {})
    assert store.check("mine") == []
