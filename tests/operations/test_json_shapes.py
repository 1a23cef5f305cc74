"""What is sent is read, and types are described, as pydantic does both."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime, TypeAdapter, ValidationError
from tests.rows import each_row

from priming.operations import schema
from priming.operations.json_shapes import INVALID, Problems, plain
from priming.verbs.rows import BY_NAME, SERVED

NUMBERS = st.integers() | st.floats() | st.integers().map(str) | st.floats().map(str)
WORDS = st.sampled_from(
    ["true", "False", "YES", "no", "on", "off", "t", "F", "y", "n", "1", "0", "5.0", "-3.00", "+7"]
)
SENT = st.none() | st.booleans() | NUMBERS | WORDS | st.text(max_size=6) | st.lists(st.integers(), max_size=2)


def read(hint, value):
    wrong = Problems()
    result = plain(hint).read(value, ("x",), wrong)
    assert (result is INVALID) == bool(wrong.first)
    return result, [problem.rule for problem in wrong.first]


def of_pydantic(hint, value):
    if isinstance(value, bool) and hint in (int, float):
        return INVALID  # pydantic takes true for 1
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError:
        return INVALID


def is_same(own, theirs):
    return own is theirs or (
        type(own) is type(theirs) and (own == theirs or (own != own and theirs != theirs))
    )


@pytest.mark.parametrize("hint", [str, float, bool])
@given(value=SENT)
def test_a_plain_value_is_read_as_pydantic_reads_it(hint, value):
    assert is_same(read(hint, value)[0], of_pydantic(hint, value))


@given(SENT)
def test_a_whole_number_is_read_as_pydantic_reads_it(value):
    assert is_same(read(int, value)[0], of_pydantic(int, value))


@given(st.datetimes(timezones=st.none() | st.just(UTC) | st.timezones()), st.booleans())
def test_a_time_is_read_as_pydantic_reads_it(time, in_zulu):
    offset = time.utcoffset()
    if offset is not None and offset % timedelta(minutes=1):
        return  # the second of an offset is of no zone that is in use
    text = time.isoformat()
    own = read(datetime, text.replace("+00:00", "Z") if in_zulu else text)[0]
    assert own is INVALID if offset is None else own == TypeAdapter(AwareDatetime).validate_python(text)


@each_row(
    ("hint", "value", "rule"),
    [
        (str, 3, "must be a text"),
        (int, "many", "must be a valid integer, unable to parse string as an integer"),
        (int, 1.5, "must be a valid integer, got a number with a fractional part"),
        (int, [], "must be a valid integer"),
        (int, True, "must be a valid integer"),
        (float, False, "must be a valid number"),
        (float, "many", "must be a valid number, unable to parse string as a number"),
        (float, None, "must be a valid number"),
        (bool, "perhaps", "must be a valid boolean, unable to interpret input"),
        (datetime, 5, "must be ISO 8601 text with a time zone, such as 2026-03-01T09:30:00Z"),
        (datetime, "yesterday", "must be ISO 8601 text with a time zone, such as 2026-03-01T09:30:00Z"),
        (datetime, "2026-03-01", "must carry a time zone, such as 2026-03-01T09:30:00Z"),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_rule(hint, value, rule):
    assert read(hint, value) == (INVALID, [rule])


def sorted_required(about):
    return json.loads(json.dumps(about, sort_keys=True))


@each_row("op", SERVED)
def test_an_answer_is_described_as_pydantic_describes_it(op):
    theirs = TypeAdapter(BY_NAME[op.name].answer).json_schema(mode="serialization")
    assert sorted_required(schema.answer_schema(op.name)) == sorted_required(theirs)


def test_a_value_beside_a_cue_says_what_it_may_be():
    with pytest.raises(Exception, match=r"cue\.file = 3: must be a text, or a list of texts"):
        schema.arguments(BY_NAME["recall"], {"cue": {"file": 3}})
