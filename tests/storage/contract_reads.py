"""What every store answers about memories, links and vectors."""

from dataclasses import replace
from datetime import datetime

import pytest

from priming.storage.filters import parse
from priming.storage.protocol import Store, Trace
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.types import MemoryRecord

from .making import (
    DAY,
    GENERATION,
    NOW,
    added,
    link,
    memory,
    mine,
    operation,
    remember,
    vector,
    version,
    whole,
)


def result(store: Store, words: str, at: datetime = NOW) -> list[str]:
    return [item.id for item in mine(store).page_of(at, words=words, limit=100)]


def got(store: Store, key: str, at: datetime = NOW) -> MemoryRecord:
    record = mine(store).record_named(key, at)
    assert record is not None
    return record


def supersede(store: Store, memory_id: str, content: str, *, at: datetime) -> None:
    """As the engine does: the old row retires, its copy ends, and a new version begins."""
    old = next(
        row
        for row in store.rows("mine", VersionRow, ids=[memory_id])
        if row.retired_at is None and row.valid_to is None
    )
    ended = replace(old, recorded_at=at, revision=old.revision + 1, valid_to=at)
    fresh = replace(
        version(memory_id, content),
        version=old.version + 1,
        revision=old.revision + 2,
        recorded_at=at,
        valid_from=at,
        session=old.session,
    )
    store.apply(
        operation([RowChange(old, replace(old, retired_at=at)), *added(ended, fresh)], kind="supersede")
    )


def test_an_empty_store_answers_with_nothing(store: Store) -> None:
    assert store.namespaces() == []
    assert (store.head("mine"), store.operations("mine", after=0), store.operations("mine", limit=100)) == (
        0,
        [],
        [],
    )
    assert (
        mine(store).record_named("a", NOW),
        store.records("mine", NOW, ids=["a"]),
        mine(store).page_of(NOW, limit=100),
    ) == (
        None,
        {},
        [],
    )
    assert (
        store.rows("mine", MemoryRow),
        store.rows("mine", LinkRow),
        store.rows("mine", Trace, limit=100),
    ) == ([], [], [])
    assert (
        list(store.part("mine", MemoryRecord, until=NOW)),
        list(mine(store).stored_vectors(GENERATION)),
    ) == ([], [])
    assert store.counts("mine").memories == {}
    assert store.check("mine") == []


def test_a_memory_is_found_by_its_key_or_its_id(store: Store) -> None:
    remember(store, whole("a"), whole("b"))
    assert [got(store, name).id for name in ("a", "key-b")] == ["a", "b"]
    assert mine(store).record_named("nil", NOW) is None
    assert mine(store).record_named("key-", NOW) is None


def test_an_id_goes_before_a_key_of_the_same_name(store: Store) -> None:
    remember(store, whole("a", key="b"), whole("b", key="c"))
    assert got(store, "b").id == "b"


def test_get_gives_the_version_valid_then_else_the_latest(store: Store) -> None:
    remember(store, whole("a", "first", valid_from=NOW))
    supersede(store, "a", "second", at=NOW + DAY)
    supersede(store, "a", "third", at=NOW + 2 * DAY)
    message = [got(store, "a", NOW + days * DAY).content for days in (0, 1, 2, 9)]
    assert message == ["first", "second", "third", "third"]
    assert got(store, "a", NOW - DAY).content == "third"


def test_a_forgotten_memory_is_still_there_by_name(store: Store) -> None:
    remember(store, whole("a", status="forgotten"))
    assert got(store, "a").status == "forgotten"
    assert store.records("mine", NOW, ids=["a"])["a"].status == "forgotten"


def test_records_are_those_asked_for_that_are_valid_then(store: Store) -> None:
    remember(store, whole("a"), whole("b", valid_to=NOW), whole("c", valid_from=NOW + DAY), whole("d"))
    assert list(store.records("mine", NOW, ids=["d", "a", "a", "b", "c", "nil"])) == ["d", "a"]
    assert set(store.records("mine", NOW - DAY, ids=["b", "c"])) == {"b"}
    assert store.records("mine", NOW, ids=[]) == {}


def test_a_validity_begins_at_its_start_and_is_over_at_its_end(store: Store) -> None:
    remember(store, whole("a", valid_from=NOW, valid_to=NOW + DAY))
    seen = [bool(store.records("mine", at, ids=["a"])) for at in (NOW - DAY, NOW, NOW + DAY)]
    assert seen == [False, True, False]


def test_a_page_follows_the_order_of_insertion(store: Store) -> None:
    remember(store, whole("c"), whole("a"))
    remember(store, whole("b"))
    supersede(store, "c", "again", at=NOW)
    assert [item.id for item in mine(store).page_of(NOW, limit=100)] == [
        "c",
        "a",
        "b",
    ]
    assert [item.id for item in mine(store).page_of(NOW, limit=2)] == [
        "c",
        "a",
    ]
    assert [item.id for item in mine(store).page_of(NOW, after="a", limit=2)] == ["b"]
    assert mine(store).page_of(NOW, after="b", limit=100) == []
    assert mine(store).page_of(NOW, after="nil", limit=100) == []
    assert len(mine(store).page_of(NOW)) == 3


def test_a_page_keeps_to_kinds_and_status(store: Store) -> None:
    remember(store, whole("a"), whole("b", kind="fact"), whole("c", kind="fact", status="forgotten"))
    assert [item.id for item in mine(store).page_of(NOW, kinds=["fact"], limit=100)] == ["b"]
    assert [item.id for item in mine(store).page_of(NOW, kinds=["fact"], limit=100, status="forgotten")] == [
        "c"
    ]
    assert [item.id for item in mine(store).page_of(NOW, limit=100, status=None)] == [
        "a",
        "b",
        "c",
    ]
    assert mine(store).page_of(NOW, kinds=[], limit=100) == []


def test_words_are_found_in_any_form_and_all_must_be_there(store: Store) -> None:
    remember(
        store, whole("a", "The deploys were failing"), whole("b", "A deploy at night", heading="Failure")
    )
    assert result(store, "deploy") == ["a", "b"]
    assert result(store, "Deploying FAILED") == ["a"]
    assert result(store, "failure") == ["b"]
    assert result(store, "deploy moon") == []


CJK = {
    "a": "東京タワーに行った",
    "b": "大阪府へ引っ越した (Osaka Station)",
    "c": "早春",
    "d": "春",
    "e": "서울에서 만났다",
}


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("東京", ["a"]),
        ("京タワ", ["a"]),
        ("大阪府", ["b"]),
        ("大阪 osaka", ["b"]),
        ("大阪stations", ["b"]),
        ("大阪tokyo", []),
        ("阪大", []),
        ("大府", []),
        ("府", ["b"]),
        ("春", ["c", "d"]),
        ("早", ["c"]),
        ("早春", ["c"]),
        ("서울", ["e"]),
        ("만", ["e"]),
        ("た", ["a", "b"]),
        ("東京大阪", []),
    ],
)
def test_scripts_without_spaces_are_found_by_any_part(store: Store, words: str, ids: list[str]) -> None:
    remember(store, *(whole(name, text) for name, text in CJK.items()))
    assert result(store, words) == ids


def test_headings_without_spaces_are_found_too(store: Store) -> None:
    remember(store, whole("a", "nothing of the kind", heading="東京駅"))
    assert result(store, "京駅") == ["a"]
    assert result(store, "駅") == ["a"]


@pytest.mark.parametrize(
    "words",
    [
        '"',
        '"" OR 1',
        "NEAR(a",
        "heading:",
        "*",
        "^",
        "a AND",
        "-",
        "{",
        "\x00",
        "",
        "  ",
        "!!!",
        "('",
        "'; --",
    ],
)
def test_what_means_something_to_an_index_is_only_words_here(store: Store, words: str) -> None:
    remember(store, whole("x", "plain"))
    assert result(store, words) == []


def test_punctuation_beside_a_word_does_not_hide_it(store: Store) -> None:
    remember(store, whole("a", "see src/file_one.py (twice)"))
    assert result(store, "file_one.py") == ["a"]
    assert result(store, '"twice" !') == ["a"]


def test_words_are_those_of_the_version_known_now(store: Store) -> None:
    remember(store, whole("a", "old words"))
    supersede(store, "a", "new sayings", at=NOW)
    assert (result(store, "words"), result(store, "sayings")) == ([], ["a"])
    assert result(store, "words", NOW - DAY) == ["a"]


def test_words_go_and_come_back_with_their_version(store: Store) -> None:
    rows = whole("a", "words of old")
    remember(store, rows)
    retired = replace(version("a", "words of old"), retired_at=NOW)
    for changes in ([RowChange(rows[1], retired)], [RowChange(row, None) for row in rows]):
        store.apply(operation(changes))
        assert result(store, "words") == []
        store.apply(operation([change.inverse() for change in changes]))
        assert result(store, "words") == ["a"]


def test_a_version_may_change_more_than_once_in_an_operation(store: Store) -> None:
    remember(store, whole("a", "words of old"))
    old = version("a", "words of old")
    ended = replace(old, valid_to=NOW + DAY)
    store.apply(operation([RowChange(old, ended), RowChange(ended, replace(ended, retired_at=NOW))]))
    assert result(store, "words") == []
    store.apply(operation([RowChange(replace(ended, retired_at=NOW), ended), RowChange(ended, old)]))
    assert result(store, "words") == ["a"]
    assert store.rows("mine", VersionRow, ids=["a"]) == [old]


def test_the_versions_of_all_memories_come_in_order_of_insertion_whatever_their_status(store: Store) -> None:
    remember(store, whole("b", "first"), whole("a", status="forgotten"))
    supersede(store, "b", "second", at=NOW + DAY)
    rows = store.rows("mine", VersionRow)
    assert [(row.id, row.revision) for row in rows] == [("b", 1), ("b", 2), ("b", 3), ("a", 1)]
    assert rows[:3] == store.rows("mine", VersionRow, ids=["b"])
    assert store.rows("other", VersionRow) == []


def test_a_scan_gives_what_is_active_and_not_yet_over(store: Store) -> None:
    remember(
        store,
        whole("a"),
        whole("b", status="forgotten"),
        whole("c", valid_to=NOW),
        whole("d", valid_from=NOW + DAY),
    )
    remember(store, whole("e", "first"))
    supersede(store, "e", "second", at=NOW + DAY)
    assert [(item.id, item.version) for item in store.part("mine", MemoryRecord, until=NOW)] == [
        ("a", 1),
        ("d", 1),
        ("e", 1),
        ("e", 2),
    ]


def test_a_page_has_what_holds_only_later_where_it_is_asked_for(store: Store) -> None:
    remember(store, whole("a"), whole("b", valid_to=NOW), whole("c", "wax", valid_from=NOW + DAY))
    remember(store, whole("d", "first", valid_from=NOW + DAY), whole("e", "first"))
    for name in ("d", "e"):
        supersede(store, name, "second", at=NOW + 2 * DAY)
    page = mine(store).page_of(NOW, coming=True, limit=100)
    assert [(item.id, item.version) for item in page] == [("a", 1), ("c", 1), ("d", 1), ("e", 1)]
    assert [item.id for item in mine(store).page_of(NOW, limit=100)] == ["a", "e"]
    assert [item.id for item in mine(store).page_of(NOW, coming=True, words="wax")] == ["c"]
    assert [item.id for item in mine(store).page_of(NOW, coming=True, after="a", limit=1)] == ["c"]
    later = {item.id: item.version for item in mine(store).page_of(NOW + 3 * DAY, coming=True, limit=100)}
    assert later == {"a": 1, "c": 1, "d": 2, "e": 2}


def test_a_scan_that_is_given_up_half_way_hinders_nobody(store: Store) -> None:
    remember(store, *(whole(f"m{i}") for i in range(5)))
    scan = store.part("mine", MemoryRecord, until=NOW)
    next(scan)
    remember(store, whole("z"))
    del scan
    assert store.head("mine") == 2


def test_memories_come_in_order_of_insertion_whatever_their_status(store: Store) -> None:
    remember(store, whole("b"), whole("a", status="forgotten"), whole("c"))
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["b", "a", "c"]
    assert [row.id for row in store.rows("mine", MemoryRow, ids=["c", "b", "b", "nil"])] == ["b", "c"]
    assert store.rows("mine", MemoryRow, ids=[]) == []


def test_links_are_found_from_either_end_and_by_relation(store: Store) -> None:
    remember(store, whole("a"), whole("b"), whole("c"), whole("d"))
    links = [link("a", "b"), link("a", "b", "next"), link("b", "c"), link("c", "a"), link("d", "d2", "x")]
    remember(store, *links[:4])
    assert store.rows("mine", LinkRow) == links[:4]
    assert store.rows("mine", LinkRow, ids=["b"]) == links[:3]
    assert store.rows("mine", LinkRow, ids=["a", "c"]) == links[:4]
    assert store.rows("mine", LinkRow, ids=["b"], relation="next") == [links[1]]
    assert store.rows("mine", LinkRow, relation="next") == [links[1]]
    assert (
        store.rows("mine", LinkRow, ids=["d"]),
        store.rows("mine", LinkRow, ids=["nil"]),
        store.rows("mine", LinkRow, ids=[]),
    ) == ([], [], [])


def test_present_gives_a_row_as_it_is_now(store: Store) -> None:
    remember(store, whole("a"), whole("b"), link("a", "b"))
    store.apply(operation([RowChange(memory("a"), memory("a", weight=0.9))]))
    assert mine(store).stored(memory("a")) == memory("a", weight=0.9)
    assert mine(store).stored(version("a")) == version("a")
    assert mine(store).stored(link("a", "b", weight=0.1)) == link("a", "b")
    for row in (
        memory("nil"),
        version("a", revision=2),
        version("nil"),
        link("b", "a"),
        link("a", "b", "next"),
    ):
        assert mine(store).stored(row) is None


def test_keys_and_names_are_each_other_s_inverse(store: Store) -> None:
    remember(store, whole("a"), whole("b", status="forgotten"))
    assert mine(store).ids_of(["key-a", "key-b", "key-c", "a", "key-a"]) == {
        "key-a": "a",
        "key-b": "b",
    }
    assert store.names("mine", ids=["a", "b", "c", "key-a"]) == {"a": "key-a", "b": "key-b"}
    assert (mine(store).ids_of([]), store.names("mine", ids=[])) == ({}, {})


def test_a_digest_names_the_latest_active_memory_of_that_content(store: Store) -> None:
    remember(store, whole("a", "same"), whole("b", "same"), whole("x", "same", status="forgotten"))
    assert mine(store).ids_of_digests(dict.fromkeys(["d-same", "d-nil"], NOW)) == {"d-same": "b"}
    supersede(store, "b", "other", at=NOW)
    assert mine(store).ids_of_digests(dict.fromkeys(["d-same", "d-other"], NOW)) == {
        "d-same": "a",
        "d-other": "b",
    }


def test_the_tail_of_a_session_is_its_latest_active_memories(store: Store) -> None:
    for name in "abcd":
        remember(store, whole(name, session="s", status="forgotten" if name == "c" else "active"))
    remember(store, whole("e", session="t"), whole("f"))
    assert list(store.names("mine", session="s", limit=2)) == ["d", "b"]
    supersede(store, "a", "a newer version is no newer memory", at=NOW)
    assert list(store.names("mine", session="s", limit=9)) == ["d", "b", "a"]
    assert list(store.names("mine", session="nil", limit=2)) == []


def test_vectors_come_by_generation_and_by_memory(store: Store) -> None:
    remember(store, whole("a"), whole("b"))
    assert dict(mine(store).stored_vectors(GENERATION)) == {
        ("a", 1): vector(1.0, 1.0),
        ("b", 1): vector(3.0, 1.0),
    }
    assert [key for key, _ in mine(store).stored_vectors(GENERATION, ["b", "nil"])] == [("b", 1)]
    assert list(mine(store).stored_vectors(GENERATION, [])) == []
    assert list(mine(store).stored_vectors("nil")) == []


def test_counts_tell_memories_by_kind_and_status_and_links_by_relation(store: Store) -> None:
    remember(
        store, whole("a"), whole("b", kind="fact"), whole("c", status="forgotten"), link("a", "b", "next")
    )
    counts = store.counts("mine")
    assert counts.memories == {"episode": {"active": 1, "forgotten": 1}, "fact": {"active": 1}}
    assert counts.links == {"next": 1}
    assert (counts.operations, counts.traces, counts.generation) == (1, 0, GENERATION)
    assert store.counts("mine", brief=True) == replace(counts, links={"": 1}, bytes=0)


def test_bytes_are_those_of_the_namespace_alone(store: Store) -> None:
    assert store.counts("mine").bytes == 0
    remember(store, whole("a", content="Å" * 500))
    own = store.counts("mine").bytes
    assert 1000 < own < 6000
    theirs = added(*(whole(f"b{n}", content="theirs " * 99) for n in range(9)))
    store.apply(operation(theirs, namespace="other"))
    assert store.counts("mine").bytes == own
    assert store.counts("other").bytes > 9 * 99 * 7
    remember(store, whole("a", content="Å" * 500), namespace="ours")
    assert store.counts("ours").bytes == own


def test_filters_look_at_the_active_memories_in_their_version_valid_then(store: Store) -> None:
    remember(
        store, whole("a", "old", valid_from=NOW), whole("b", "old", status="forgotten"), whole("c", "new")
    )
    supersede(store, "a", "new", at=NOW + DAY)
    condition = parse({"content": "new"})
    assert list(store.names("mine", condition=condition, at=NOW)) == ["c"]
    assert list(store.names("mine", condition=condition, at=NOW + DAY)) == ["a", "c"]
    assert list(store.names("mine", condition=parse({}), at=NOW)) == ["a", "c"]
