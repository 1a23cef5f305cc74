"""What every store understands by a filter: compared with an evaluation in plain Python."""

import operator as op
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from priming.errors import ParamError
from priming.storage.filters import Comparison, Condition, parse
from priming.storage.protocol import Store
from priming.types import MemoryRecord

from .making import DAY, NOW, mine, operation, remember, whole

HELD: dict[str, dict[str, Any]] = {
    "plain": {"content": "plain words"},
    "full": {
        "content": "Überall “quoted” 'words' 100% \\ here",
        "key": "fact:full",
        "kind": "fact",
        "weight": 0.75,
        "priority": 2.0,
        "heading": "A heading",
        "session": "s1",
        "speaker": "Ann",
        "tags": ("db", "ünï code", "1"),
        "source": "cli",
        "trust": "agent",
        "importance": 0.9,
        "outcome": "failure",
        "occurred_at": NOW - DAY,
        "valid_from": NOW - 2 * DAY,
        "valid_to": NOW + 2 * DAY,
        "metadata": {
            "n": 1,
            "f": 1.5,
            "yes": True,
            "no": False,
            "nil": None,
            "text": "abc",
            "list": ["db", 1, True, None, 2.5],
            "deep": {"er": {"x": "y"}, "n": -3},
            "a key": "spaced",
            "back\\slash": "bs",
            "new\nline": "nl",
            "schlüssel": "ü",
            "numeric text": "1",
            "empty": [],
        },
    },
    "other": {
        "kind": "fact",
        "trust": "untrusted",
        "importance": 0.0,
        "tags": ("a", "db2"),
        "occurred_at": NOW,
    },
    "odd": {
        "outcome": "success",
        "session": "S1",
        "metadata": {"n": "1", "yes": 1, "text": 5, "list": "db", "deep": [1], "f": {"x": 1}, "nil": 0},
    },
}
ABSENT = object()


def fill(store: Store) -> dict[str, MemoryRecord]:
    """Memories with about every kind of value; once a store."""
    if not store.head("mine"):
        remember(store, *(whole(name, **fields) for name, fields in HELD.items()))
    return {item.id: item for item in mine(store).page_of(NOW, limit=100)}


def matches(store: Store, filters: dict[str, Any]) -> list[str]:
    fill(store)
    return list(store.names("mine", condition=parse(filters), at=NOW))


EVERY, NONE = ["plain", "full", "other", "odd"], list[str]()
TABLE: dict[str, list[tuple[dict[str, Any], list[str]]]] = {
    "kinds, ids and texts": [
        ({"kind": "fact"}, ["full", "other"]),
        ({"kind": {"ne": "fact"}}, ["plain", "odd"]),
        ({"kind": {"in": ["fact", "episode"]}}, EVERY),
        ({"kind": {"in": []}}, NONE),
        ({"kind": {"nin": []}}, EVERY),
        ({"id": {"nin": ["full", "odd"]}}, ["plain", "other"]),
        ({"key": {"contains": "fact:"}}, ["full"]),
        ({"key": {"gte": "key-p"}}, ["plain"]),
        ({"content": {"contains": "100% \\"}}, ["full"]),
        ({"content": {"contains": "PLAIN"}}, NONE),
        ({"gist": {"contains": "plain"}}, ["plain"]),
    ],
    "absence": [
        ({"session": "s1"}, ["full"]),
        ({"session": {"ne": "s1"}}, ["plain", "other", "odd"]),
        ({"session": None}, ["plain", "other"]),
        ({"session": {"ne": None}}, ["full", "odd"]),
        ({"session": {"in": ["s1", None]}}, ["plain", "full", "other"]),
        ({"session": {"nin": ["s1", None]}}, ["odd"]),
        ({"session": {"exists": True}}, ["full", "odd"]),
        ({"session": {"exists": False}}, ["plain", "other"]),
        ({"session": {"gt": "A"}}, ["full", "odd"]),
        ({"not": {"session": {"gt": "T"}}}, ["plain", "other", "odd"]),
    ],
    "outcome and trust": [
        ({"outcome": {"in": ["failure", "success"]}}, ["full", "odd"]),
        ({"not": {"outcome": "failure"}}, ["plain", "other", "odd"]),
        ({"trust": {"gte": "agent"}}, ["plain", "full", "odd"]),
        ({"trust": {"lt": "agent"}}, ["other"]),
        ({"trust": {"gt": "user"}}, NONE),
    ],
    "numbers": [
        ({"importance": {"gt": 0, "lt": 0.9}}, ["plain", "odd"]),
        ({"importance": {"gte": 0, "lte": 0.9}}, EVERY),
        ({"importance": {"in": [0, 0.9]}}, ["full", "other"]),
        ({"weight": 0.75}, ["full"]),
        ({"priority": 2}, ["full"]),
        ({"version": {"gt": 1}}, NONE),
        ({"uses": {"lt": 10**18}}, EVERY),
    ],
    "tags": [
        ({"tags": "db"}, ["full"]),
        ({"tags": {"contains": "db"}}, ["full"]),
        ({"tags": {"ne": "db"}}, ["plain", "other", "odd"]),
        ({"tags": {"in": ["db", "a"]}}, ["full", "other"]),
        ({"tags": {"nin": ["db", "a"]}}, ["plain", "odd"]),
        ({"tags": {"exists": True}}, ["full", "other"]),
        ({"tags": None}, ["plain", "odd"]),
        ({"tags": {"in": [None, "db"]}}, ["plain", "full", "odd"]),
        ({"tags": "ünï code"}, ["full"]),
        ({"tags": "1"}, ["full"]),
    ],
    "times": [
        ({"occurred_at": NOW}, ["other"]),
        ({"occurred_at": {"lt": NOW}}, ["full"]),
        ({"occurred_at": {"lte": "2026-05-01T14:00:00.00025+02:00"}}, ["full", "other"]),
        ({"valid_to": None}, ["plain", "other", "odd"]),
        ({"recorded_at": {"gte": NOW}}, EVERY),
    ],
    "metadata": [
        ({"metadata.n": 1}, ["full"]),
        ({"metadata.n": 1.0}, ["full"]),
        ({"metadata.n": "1"}, ["odd"]),
        ({"metadata.n": True}, NONE),
        ({"metadata.n": {"gt": 0}}, ["full"]),
        ({"metadata.n": {"gt": "0"}}, ["odd"]),
        ({"metadata.n": {"ne": 1}}, ["plain", "other", "odd"]),
        ({"metadata.yes": True}, ["full"]),
        ({"metadata.yes": 1}, ["odd"]),
        ({"metadata.yes": {"in": [True, 1]}}, ["full", "odd"]),
        ({"metadata.no": False}, ["full"]),
        ({"metadata.no": {"nin": [False]}}, ["plain", "other", "odd"]),
        ({"metadata.nil": None}, ["plain", "full", "other"]),
        ({"metadata.nil": {"exists": True}}, ["odd"]),
        ({"metadata.yes": {"gt": 0}}, ["odd"]),
        ({"metadata.text": {"contains": "bc"}}, ["full"]),
        ({"metadata.text": {"contains": 5}}, NONE),
        ({"metadata.list": {"contains": "db"}}, ["full", "odd"]),
        ({"metadata.list": {"contains": 1}}, ["full"]),
        ({"metadata.list": {"contains": 2.5}}, ["full"]),
        ({"metadata.list": {"contains": False}}, NONE),
        ({"metadata.list": "db"}, ["odd"]),
        ({"metadata.list": '["db",1,true,null,2.5]'}, NONE),
        ({"metadata.deep.er.x": "y"}, ["full"]),
        ({"metadata.deep.n": {"lt": 0}}, ["full"]),
        ({"metadata.deep": {"exists": True}}, ["full", "odd"]),
        ({"metadata.deep": {"contains": 1}}, ["odd"]),
        ({"metadata.a key": "spaced"}, ["full"]),
        ({"metadata.back\\slash": "bs"}, ["full"]),
        ({"metadata.new\nline": "nl"}, ["full"]),
        ({"metadata.schlüssel": "ü"}, ["full"]),
        ({"metadata.empty": {"contains": "x"}}, NONE),
        ({"metadata.nowhere.at.all": {"exists": False}}, EVERY),
    ],
    "groups": [
        ({}, EVERY),
        ({"and": [{"kind": "fact"}, {"importance": 0}]}, ["other"]),
        ({"or": [{"session": "s1"}, {"tags": "a"}]}, ["full", "other"]),
        ({"or": []}, NONE),
        ({"and": []}, EVERY),
        ({"not": {"or": [{"kind": "fact"}, {"outcome": "success"}]}}, ["plain"]),
        ({"kind": "fact", "not": {"trust": "agent"}}, ["other"]),
    ],
}


@pytest.mark.parametrize("theme", TABLE)
def test_a_filter_keeps_the_memories_that_satisfy_it(store: Store, theme: str) -> None:
    records = fill(store)
    for filters, ids in TABLE[theme]:
        assert matches(store, filters) == ids, filters
        assert matches(store, {"not": filters}) == [item for item in EVERY if item not in ids], filters
        assert [item for item in EVERY if holds(parse(filters), records[item])] == ids, filters


@pytest.mark.parametrize(
    "words",
    [
        "x') OR 1 --",
        "'; DROP TABLE memories; --",
        '"',
        "\\",
        "%",
        "_",
        ":filter_0",
        "?1",
        "$.n",
        "'",
        "\x00",
        "NULL",
    ],
)
def test_no_value_or_name_is_taken_for_a_query(store: Store, words: str) -> None:
    for field in ("key", "content", "tags", "metadata.text"):
        assert matches(store, {field: words}) == []
        assert matches(store, {field: {"in": [words]}}) == []
    assert matches(store, {"metadata.text": {"contains": f"abc{words}"}}) == []
    if '"' not in words:
        assert matches(store, {f"metadata.{words}": {"exists": True}}) == []
    assert matches(store, {}) == EVERY


def test_a_filter_may_be_long(store: Store) -> None:
    many = [{"metadata.n": i} for i in range(2, 450)]
    assert matches(store, {"or": [*many, {"metadata.n": 1}]}) == ["full"]
    assert matches(store, {"id": {"in": [f"m{i}" for i in range(100_000)] + ["odd"]}}) == ["odd"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"not": inner},
        lambda inner: {"or": [inner, {"kind": "pattern"}], "uses": 0},
        lambda inner: {"not": {"not": inner, "key": "nil"}, "uses": 0},
    ],
)
def test_a_filter_may_be_deep_but_not_bottomless(store: Store, wrap: Callable[[Any], dict[str, Any]]) -> None:
    deep: list[dict[str, Any]] = [{"metadata.list": {"in": ["db", 2, None, True]}}]
    while accepted(wrap(deep[-1])):
        deep.append(wrap(deep[-1]))
    records = fill(store)
    for filters in (deep[1], deep[-1]):
        assert matches(store, filters) == [item for item in EVERY if holds(parse(filters), records[item])]
    with pytest.raises(ParamError, match="at most 16 deep"):
        parse(wrap(deep[-1]))


def accepted(filters: dict[str, Any]) -> bool:
    try:
        parse(filters)
    except ParamError:
        return False
    return True


PATHS = ["n", "f", "yes", "no", "nil", "text", "list", "deep.er.x", "deep.n", "deep", "none"]
VALUES = st.sampled_from([None, True, False, 0, 1, -3, 1.0, 1.5, 2.5, "1", "abc", "db", "y", ""])
EQUAL, ORDER = st.sampled_from(["eq", "ne"]), st.sampled_from(["gt", "gte", "lt", "lte"])
TEXTS = st.sampled_from(["", "s1", "S1", "fact:full", "words", "db", "A heading"])
TIMES = st.sampled_from([NOW - DAY, NOW, NOW + timedelta(microseconds=1)])


def entry(
    fields: list[str], values: st.SearchStrategy[Any], *, ordered: bool
) -> st.SearchStrategy[dict[str, Any]]:
    """A comparison of one of some fields with a value of its kind."""
    several = st.lists(st.one_of(st.none(), values), max_size=3)
    tests = [
        st.builds(lambda operator, value: {operator: value}, EQUAL, st.one_of(st.none(), values)),
        st.builds(lambda operator, value: {operator: value}, st.sampled_from(["in", "nin"]), several),
        st.builds(lambda flag: {"exists": flag}, st.booleans()),
    ]
    if ordered:
        tests.append(st.builds(lambda operator, value: {operator: value}, ORDER, values))
    return st.builds(lambda name, test: {name: test}, st.sampled_from(fields), st.one_of(tests))


LEAVES = st.one_of(
    entry([f"metadata.{path}" for path in PATHS], VALUES, ordered=False),
    entry(
        [f"metadata.{path}" for path in PATHS],
        VALUES.filter(lambda value: type(value) in (int, float, str)),
        ordered=True,
    ),
    entry(["session", "content", "heading", "key", "speaker"], TEXTS, ordered=True),
    entry(["importance", "weight", "priority"], st.sampled_from([0, 0.5, 0.75, 2, 1.0]), ordered=True),
    entry(["occurred_at", "valid_from", "valid_to", "recorded_at"], TIMES, ordered=True),
    entry(["tags"], st.sampled_from(["db", "a", "1", "nil"]), ordered=False),
    entry(["trust"], st.sampled_from(["untrusted", "tool", "agent", "user"]), ordered=True),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda name, parts: {name: parts}, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3)
        ),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=5,
)


@settings(suppress_health_check=list(HealthCheck))
@given(filters=FILTERS)
def test_any_filter_means_what_plain_python_means_by_it(store: Store, filters: dict[str, Any]) -> None:
    records, condition = fill(store), parse(filters)
    assert list(store.names("mine", condition=condition, at=NOW)) == [
        item for item in EVERY if holds(condition, records[item])
    ]


def holds(condition: Condition, record: MemoryRecord) -> bool:
    """The meaning of a condition, slow and plain."""
    if isinstance(condition, Comparison):
        return compare(condition, field_of(record, condition.path))
    parts = [holds(part, record) for part in condition.parts]
    return {"and": all(parts), "or": any(parts), "not": not all(parts)}[condition.operator]


def compare(item: Comparison, present: Any) -> bool:
    listed = present or [None] if item.path == ("tags",) else [present]

    def has(expected: Any) -> bool:
        return any(same(part, expected) for part in listed)

    match item.operator:
        case "exists":
            return (present is not None and present != ()) is item.value
        case "eq" | "ne":
            return has(item.value) == (item.operator == "eq")
        case "in" | "nin":
            return any(has(expected) for expected in item.value) == (item.operator == "in")
        case "contains":
            if isinstance(present, str):
                return isinstance(item.value, str) and item.value in present
            return isinstance(present, (list, tuple)) and any(same(part, item.value) for part in present)
    return ordered(present, item.operator, item.value)


def ordered(present: Any, name: str, value: Any) -> bool:
    compares = {"gt": op.gt, "gte": op.ge, "lt": op.lt, "lte": op.le}
    return sort(present) == sort(value) and bool(compares[name](present, value))


def sort(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def same(a: Any, b: Any) -> bool:
    return sort(a) == sort(b) and bool(a == b)


def field_of(record: MemoryRecord, path: tuple[str, ...]) -> Any:
    if path == ("uses",):
        return record.use.uses
    if path[0] != "metadata":
        return getattr(record, path[0])
    value: Any = record.metadata
    for part in path[1:]:
        value = value.get(part) if hasattr(value, "get") else None
    return value


def test_times_are_compared_as_instants(store: Store) -> None:
    remember(store, whole("a", occurred_at=datetime.fromisoformat("2026-05-01T01:00:00+09:00")))
    condition = parse({"occurred_at": {"eq": "2026-04-30T16:00:00Z"}})
    assert list(store.names("mine", condition=condition, at=NOW)) == ["a"]


def test_a_filter_on_use_and_version_follows_their_changes(store: Store) -> None:
    remember(store, whole("a"), whole("b", version=2, revision=2))
    store.apply(operation())
    assert matches(store, {"version": 2}) == ["b"]
    assert matches(store, {"uses": {"gt": 0}}) == []
