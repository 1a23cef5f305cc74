"""Rows as JSON: whatever a row holds comes back as it was."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.serialization import decode_row, encode_row, stamp
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    identity,
    pack,
    record,
    unpack,
)

from .making import NOW, link, memory, pair, run, verdict, version

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
times = st.datetimes(timezones=st.just(UTC))
maybe_times = st.none() | times
numbers = st.floats(0, 1)
holder = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
mappings = st.dictionaries(words, holder, max_size=3)
memories = st.builds(
    MemoryRow,
    words,
    words,
    words,
    words,
    numbers,
    numbers,
    st.integers(0, 9),
    maybe_times,
    st.integers(0, 9),
    confidence=numbers,
    stability=st.none() | numbers,
    difficulty=st.none() | st.floats(1, 10),
    endurance=st.floats(0, 100),
    reviewed_at=maybe_times,
    first_used_at=maybe_times,
    recent=st.lists(times.map(stamp), max_size=3).map(tuple),
)
versions = st.builds(
    VersionRow,
    id=words,
    version=st.integers(1, 9),
    recorded_at=times,
    content=words,
    gist=words,
    digest=words,
    retired_at=maybe_times,
    valid_from=maybe_times,
    heading=st.none() | words,
    when=mappings,
    tags=st.lists(words, max_size=3).map(tuple),
    metadata=mappings,
    importance=numbers,
)
links = st.builds(LinkRow, words, words, words, numbers, times, st.booleans(), maybe_times)
several = st.lists(words, max_size=3).map(tuple)
verdicts = st.builds(VerdictRow, words, words, words, words, times, words, st.none() | words, mappings)
pairs = st.builds(PairRow, words, words, several)
runs = st.builds(RunRow, words, words, times, maybe_times, st.none() | words, several)
rows: st.SearchStrategy[Row] = st.one_of(memories, versions, links, verdicts, pairs, runs)


@given(rows)
def test_a_row_survives_json(row: Row) -> None:
    encoded = json.loads(json.dumps(encode_row(row)))
    assert decode_row(type(row), encoded) == row


@given(st.lists(rows, max_size=6), st.integers(0, 2))
def test_changes_survive_packing(sample: list[Row], shape: int) -> None:
    sides: list[Any] = [lambda row: (None, row), lambda row: (row, None), lambda row: (row, row)]
    changes = [RowChange(*sides[shape](row)) for row in sample]
    assert unpack(pack(changes)) == changes


def test_what_was_packed_before_a_field_was_added_takes_its_default() -> None:
    packed = json.loads(pack([RowChange(None, link("a", "b", given=True))]))
    at = packed["fields"]["links"].index("given")
    for contents in (packed["fields"]["links"], packed["rows"][0][2]):
        del contents[at]
    assert unpack(json.dumps(packed)) == [RowChange(None, link("a", "b"))]


def test_fields_that_an_encoded_row_lacks_or_has_too_many_do_no_harm() -> None:
    assert decode_row(MemoryRow, {"id": "a", "key": "k", "kind": "fact", "colour": "red"}) == MemoryRow(
        "a", "k", "fact"
    )
    with pytest.raises(TypeError):
        decode_row(MemoryRow, {"id": "a"})


@given(times, times)
def test_stamps_are_ordered_as_their_times(a: datetime, b: datetime) -> None:
    assert (stamp(a) < stamp(b)) == (a < b)
    assert len(stamp(a)) == 32


def test_both_hours_of_a_night_that_has_one_twice_are_told_apart() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    second = first.replace(fold=1)
    assert stamp(second) == stamp(first.astimezone(UTC) + timedelta(hours=1))
    assert stamp(first) < stamp(second)


def test_a_change_knows_its_table_its_ends_and_its_inverse() -> None:
    change = RowChange(None, link("a", "b"))
    assert (change.room, change.ends, change.inverse()) == (
        "links",
        ("a", "b"),
        RowChange(link("a", "b"), None),
    )
    moved = RowChange(memory("a"), memory("a", weight=0.9))
    assert (moved.room, moved.ends, moved.row) == ("memories", ("a",), memory("a", weight=0.9))


def test_a_record_takes_its_use_from_the_memory_and_its_text_from_the_version() -> None:
    new = record("mine", memory("a", uses=3, last_used_at=NOW), replace(version("a", "text"), version=4))
    assert (new.namespace, new.use.uses, new.use.last_used_at, new.content, new.version) == (
        "mine",
        3,
        NOW,
        "text",
        4,
    )


def test_a_row_is_about_the_memories_that_it_names() -> None:
    sample: list[Row] = [
        memory("a"),
        version("a"),
        link("a", "b"),
        verdict("a"),
        pair("a", "b"),
        run("n", "b", "a", "c"),
    ]
    ends = [RowChange(None, row).ends for row in sample]
    assert ends == [("a",), ("a",), ("a", "b"), ("a",), ("a", "b"), ("b", "a", "c")]


def test_rows_are_the_same_while_their_identity_is() -> None:
    alike: list[tuple[Row, Row]] = [
        (memory("a"), memory("a", key="other")),
        (version("a"), version("a", "other")),
        (link("a", "b"), link("a", "b", weight=0.9)),
        (verdict("a"), verdict("a", recall="r")),
        (pair("a", "b"), pair("a", "b", NOW, NOW)),
        (run("a"), run("a", "b")),
    ]
    assert [identity(item) for item, _ in alike] == [identity(other) for _, other in alike]
    others: list[Row] = [
        version("a", revision=2),
        link("a", "b", "next"),
        verdict("a", "no"),
        verdict("a", operation="2"),
    ]
    assert len({identity(row) for row in (*(item for item, _ in alike), *others)}) == len(alike) + len(others)
