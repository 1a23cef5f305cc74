"""Values and rows as JSON: the forms of the wire and of the store, byte for byte, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from tests.rows import each_row

from priming import Memory
from priming.config.profiles import ALL
from priming.embedding.protocol import HashedEmbedder
from priming.results import Finding, Step
from priming.serialization import decode, encode, with_times
from priming.storage.rows import LinkRow, RowChange, VersionRow, WeightsRow, pack, unpack
from priming.types import Link, MemoryRecord, Use

AT = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))

RECORD = MemoryRecord(
    *("id", "default", "a", "fact", "text", "gist"),
    tags=("x", "y"),
    metadata={"n": [1, 2.5, None, {"ü": True}]},
    occurred_at=AT,
    recorded_at=AT + timedelta(microseconds=5),
)
WIRE = (
    '{"id":"id","namespace":"default","key":"a","kind":"fact","content":"text","gist":"gist","heading":null,'
    '"session":null,"speaker":null,"when":{},"tags":["x","y"],"metadata":{"n":[1,2.5,null,{"ü":true}]},'
    '"source":null,"trust":"user","importance":0.5,"outcome":null,"occurred_at":"2026-03-01T07:30:00+00:00",'
    '"recorded_at":"2026-03-01T07:30:00.000005+00:00","retired_at":null,"valid_from":null,"valid_to":null,'
    '"version":1,"status":"active","priority":0.0,"weight":0.5,"confidence":1.0,"use":{"uses":0,'
    '"last_used_at":null,"helped":0,"failed":0,"confirmed":0,"followed":0,"overridden":0,"first_used_at":null,'
    '"recent":[],"shown":null,"quiet":null},"retention":{"stability":null,"difficulty":null,"endurance":1.0,"reviewed_at":null}}'
)
VERSION = VersionRow(
    *("id", 1, AT, "text", "gist", "digest"),
    when={"language": ["python", "go"]},
    tags=("x",),
    metadata={"n": 1.5},
)
LINK, WEIGHTS = LinkRow("a", "b", "next", 0.5, AT, given=True), WeightsRow("priming", {"bm25": 0.4})
CHANGES = [RowChange(None, VERSION), RowChange(LINK, None), RowChange(WEIGHTS, WEIGHTS)]
STORED = (
    '{"fields":{"versions":["id","version","recorded_at","content","gist","digest","revision","retired_at",'
    '"valid_from","valid_to","heading","session","speaker","when","tags","metadata","source","trust","importance",'
    '"outcome","occurred_at"],"links":["source","target","relation","weight","created_at","given",'
    '"last_activated"],"weights":["profile","weights"]},"rows":[["versions",null,["id",1,'
    '"2026-03-01T07:30:00.000000+00:00","text","gist","digest",1,null,null,null,null,null,null,'
    '{"language":["python","go"]},["x"],{"n":1.5},null,"user",0.5,null,null]],["links",["a","b","next",0.5,'
    '"2026-03-01T07:30:00.000000+00:00",true,null],null],["weights",["priming",{"bm25":0.4}],["priming",'
    '{"bm25":0.4}]]]}'
)


def test_the_form_of_the_wire_stays_as_it_is_to_the_byte():
    assert json.dumps(encode(RECORD), ensure_ascii=False, separators=(",", ":")) == WIRE
    assert decode(MemoryRecord, json.loads(WIRE)) == RECORD


def test_the_form_of_the_log_stays_as_it_is_to_the_byte():
    assert pack(CHANGES) == STORED
    assert unpack(STORED) == CHANGES


def test_a_field_that_a_newer_server_sends_is_ignored_and_one_that_it_lacks_is_the_default():
    assert decode(Use, {"uses": 2, "of_tomorrow": 1}) == Use(uses=2)


def test_a_tuple_of_several_types_is_decoded_item_by_item():
    assert decode(tuple[float, datetime], [1, "2026-03-01T07:30:00+00:00"]) == (1.0, AT)
    assert decode(tuple[float, ...] | None, [1, None]) == (1.0, None)


def test_a_dataclass_becomes_an_object_of_its_fields():
    assert encode(Finding("rule", "a", "what", "how")) == {
        "rule": "rule",
        "subject": "a",
        "detail": "what",
        "remedy": "how",
    }


def test_dataclasses_within_sequences_and_mappings_become_objects_too():
    step = {"source": "a", "relation": "next", "target": "b", "amount": 0.5}
    item = Step("a", "next", "b", 0.5)
    assert encode({"path": (item, [item])}) == {"path": [step, [step]]}


def test_times_are_iso_8601_in_utc():
    assert encode(AT) == "2026-03-01T07:30:00+00:00"


def test_what_is_not_known_stays_as_null():
    encoded = encode(Link("a", "b", "next", 0.5, created_at=AT))
    assert encoded["last_activated"] is None
    record = encode(MemoryRecord("id", "default", "a", "fact", "text", "gist"))
    assert record["occurred_at"] is None
    assert record["use"] == encode(Use())


def test_read_only_mappings_and_sets_have_a_form():
    assert encode(MappingProxyType({"b": frozenset({"y", "x"})})) == {"b": ["x", "y"]}


@each_row("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_hold_become_null(number):
    assert encode({"score": number}) == {"score": None}


def test_true_is_not_a_number():
    assert encode([True, 1]) == [True, 1]
    assert encode(True) is True


@each_row("value", [b"bytes", object(), Step])
def test_what_has_no_form_is_refused(value):
    with pytest.raises(TypeError, match="has no JSON form"):
        encode(value)


def test_every_profile_and_every_answer_survives_json():
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as memory:
        stored = memory.remember("The disk was full.", session="s")
        answers = [
            *(stored, memory.recall("disk", trace=True), memory.get(stored.key), memory.links()),
            *(memory.log(), memory.stats(), memory.history(stored.key), memory.validate()),
        ]
    for value in (*answers, list(ALL.values())):
        encoded = encode(value)
        assert json.loads(json.dumps(encoded, allow_nan=False)) == encoded


def test_the_times_of_a_filter_are_parsed_wherever_they_stand():
    seen = []

    def moment(name, text):
        seen.append(name)
        return datetime.fromisoformat(text).replace(tzinfo=UTC)

    day = datetime(2026, 3, 1, tzinfo=UTC)
    supplied = {
        "or": [{"occurred_at": {"gte": "2026-03-01"}}, {"not": {"valid_to": "2026-03-01"}}],
        "kind": "fact",
    }
    assert with_times(supplied, moment) == {
        "or": [{"occurred_at": {"gte": day}}, {"not": {"valid_to": day}}],
        "kind": "fact",
    }
    assert seen == ["filters.occurred_at", "filters.valid_to"]


def test_what_is_no_time_in_a_filter_is_left_to_the_library():
    def never(*answer):
        raise AssertionError(answer)

    for supplied in (
        None,
        {"occurred_at": {"exists": True}},
        {"metadata.day": "2026-03-01"},
        {"and": "text"},
    ):
        assert with_times(supplied, never) == supplied
