"""Values as JSON."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from types import MappingProxyType

import pytest

from priming import Memory
from priming.embed.hashed import HashedEmbedder
from priming.encoding import encode
from priming.profiles import ALL
from priming.types import Finding, Link, MemoryRecord, Step, Use

AT = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))


def test_a_dataclass_becomes_an_object_of_its_fields():
    assert encode(Finding("rule", "a", "what", "how")) == {
        "rule": "rule",
        "subject": "a",
        "detail": "what",
        "remedy": "how",
    }


def test_dataclasses_within_sequences_and_mappings_become_objects_too():
    step = {"source": "a", "relation": "next", "target": "b", "amount": 0.5}
    one = Step("a", "next", "b", 0.5)
    assert encode({"path": (one, [one])}) == {"path": [step, [step]]}


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


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_hold_become_null(number):
    assert encode({"score": number}) == {"score": None}


def test_true_is_not_a_number():
    assert encode([True, 1]) == [True, 1]
    assert encode(True) is True


@pytest.mark.parametrize("value", [b"bytes", object(), Step])
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
