"""Filters are checked whole before a store sees them; what they mean is in the contract of the store."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.rows import each_row

from priming.errors import ParamError
from priming.storage.filters import FIELDS, Combination, Comparison, parse

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_mapping_becomes_comparisons_that_must_all_hold() -> None:
    assert parse({"kind": "fact", "metadata.a.b": {"gt": 1, "lte": 2}}) == Combination(
        "and",
        (
            Comparison(("kind",), "eq", "fact"),
            Combination(
                "and",
                (Comparison(("metadata", "a", "b"), "gt", 1), Comparison(("metadata", "a", "b"), "lte", 2)),
            ),
        ),
    )


def test_groups_are_kept_as_they_are_nested() -> None:
    fact, tool = Comparison(("kind",), "eq", "fact"), Comparison(("trust",), "eq", "tool")
    assert parse({"or": [{"kind": "fact"}, {"not": {"trust": "tool"}}]}) == Combination(
        "and",
        (
            Combination(
                "or",
                (
                    Combination("and", (fact,)),
                    Combination("and", (Combination("not", (Combination("and", (tool,)),)),)),
                ),
            ),
        ),
    )


def test_a_time_is_a_datetime_or_its_text_and_always_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    for supplied in (NOON, NOON.astimezone(east), "2026-05-01T12:00:00Z", "2026-05-01T14:00:00+02:00"):
        assert parse({"occurred_at": supplied}) == Combination(
            "and", (Comparison(("occurred_at",), "eq", NOON),)
        )


def test_trust_is_ordered_as_it_rises() -> None:
    assert parse({"trust": {"gte": "agent"}}) == Combination(
        "and", (Combination("and", (Comparison(("trust",), "in", ("agent", "user")),)),)
    )


@each_row("name", FIELDS)
def test_every_field_can_be_asked_for_its_existence(name: str) -> None:
    parse({name: {"exists": True}})
    parse({name: None})


REFUSED: list[tuple[Any, str]] = [
    (None, "mapping"),
    ([], "mapping"),
    ("kind", "mapping"),
    ({"knid": "fact"}, "filters = 'knid': must be metadata.NAME"),
    ({3: "fact"}, "must be metadata.NAME"),
    ({"status": "active"}, "must be metadata.NAME"),
    ({"metadata": {"a": 1}}, "must be metadata.NAME"),
    ({"metadata.": 1}, "must be metadata.NAME"),
    ({"metadata.a..b": 1}, "must be metadata.NAME"),
    ({'metadata.a"b': 1}, "must be metadata.NAME"),
    ({"metadata.\ud800": 1}, "lone surrogates"),
    ({"kind": "factoid"}, "filters.kind.eq = 'factoid': must be one of episode, fact"),
    ({"kind": {"in": ["fact", "factoid"]}}, "must be one of episode"),
    ({"kind": {"gt": "fact"}}, "filters.kind = 'gt': must be one of eq, ne, in, nin, exists"),
    ({"kind": {"contains": "f"}}, "must be one of eq, ne, in, nin, exists"),
    ({"kind": {}}, "must name an operator"),
    ({"kind": {"is": "fact"}}, "must be one of eq"),
    ({"outcome": {"gt": "failure"}}, "must be one of eq"),
    ({"trust": {"gt": "nobody"}}, "must be one of untrusted"),
    ({"key": 3}, "filters.key.eq = 3: must be a text"),
    ({"key": ["a"]}, "must be a text"),
    ({"key": {"in": "abc"}}, "filters.key.in = 'abc': must be a list"),
    ({"key": {"in": {"a": 1}}}, "must be a list"),
    ({"key": {"in": [["a"]]}}, "must be a text"),
    ({"key": {"contains": None}}, "must not be null"),
    ({"key": {"gt": None}}, "must not be null"),
    ({"key": {"exists": 1}}, "must be true or false"),
    ({"key": "\ud800"}, "lone surrogates"),
    ({"importance": "high"}, "must be a number"),
    ({"importance": True}, "must be a number"),
    ({"importance": {"contains": 1}}, "must be one of eq, ne, in, nin, gt"),
    ({"importance": float("nan")}, "must be finite"),
    ({"importance": float("inf")}, "must be finite"),
    ({"uses": 2**63}, "within 64 bits"),
    ({"uses": 10**400}, "within 64 bits"),
    ({"tags": ["a"]}, "must be a text"),
    ({"tags": {"gt": "a"}}, "must be one of eq, ne, in, nin, contains, exists"),
    ({"occurred_at": datetime(2026, 5, 1)}, "must carry a time zone"),
    ({"occurred_at": "2026-05-01"}, "must carry a time zone"),
    ({"occurred_at": "yesterday"}, "must be a time such as"),
    ({"occurred_at": 3}, "must be a datetime"),
    ({"metadata.a": NOON}, "must be a text, a number, true, false or null"),
    ({"metadata.a": [1]}, "must be a text, a number"),
    ({"metadata.a": {"gt": True}}, "have no order"),
    ({"metadata.a": {"lt": None}}, "must not be null"),
    ({"and": {"kind": "fact"}}, "filters.and"),
    ({"or": "kind"}, "must be a list of filters"),
    ({"or": ["kind"]}, "must be a mapping"),
    ({"not": [{"kind": "fact"}]}, "must be a mapping"),
    ({"or": [{"uses": i} for i in range(501)]}, "at most 500 comparisons"),
]


@each_row(("filters", "words"), REFUSED)
def test_what_is_not_understood_is_named(filters: Any, words: str) -> None:
    with pytest.raises(ParamError) as caught:
        parse(filters)
    assert words in str(caught.value)
