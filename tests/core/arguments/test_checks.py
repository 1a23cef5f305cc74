"""Checks of arguments: what is accepted, in which form it is kept, and what the message says of the rest."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from tests.rows import each_row

from priming import ParamError
from priming.core.arguments.checks import (
    check_choice,
    check_content,
    check_count,
    check_description,
    check_fraction,
    check_metadata,
    check_name,
    check_number,
    check_pack_name,
    check_pack_version,
    check_path,
    check_predicates,
    check_source,
    check_tags,
    check_text,
    check_time,
    check_uuid,
    check_whole,
    interval,
)

UUID = "01890a5d-ac96-774b-bcce-b302099a8057"
DEEP = {"a": 1}
for _ in range(101):
    DEEP = {"a": DEEP}


def message(check, *arguments, **options):
    with pytest.raises(ParamError) as caught:
        check(*arguments, **options)
    return str(caught.value)


@each_row(
    ("check", "arguments", "expected"),
    [
        (check_text, ("cue", 3), "cue = 3: must be a text"),
        (check_text, ("cue", "a\x00"), "cue = 'a\\x00': must not contain the NUL character"),
        (check_text, ("cue", "\ud800"), "cue = '\\ud800': must be valid Unicode, without lone surrogates"),
        (check_content, (" ",), "content = ' ': must not be blank"),
        (check_name, ("key", "a\nb"), "key = 'a\\nb': must be one printable line of 1 to 512 characters"),
        (check_uuid, ("id", "x"), f"id = 'x': must be a UUID, such as {UUID}"),
        (
            check_choice,
            ("kind", "dream", ("fact", "episode")),
            "kind = 'dream': must be one of fact, episode",
        ),
        (check_number, ("d", True * float("nan")), "d = nan: must be finite"),
        (check_number, ("d", "1"), "d = '1': must be one number"),
        (check_fraction, ("importance", 2), "importance = 2: must be in [0, 1]"),
        (check_number, ("floor", True), "floor = True: must be one number"),
        (check_fraction, ("importance", True), "importance = True: must be in [0, 1]"),
        (check_whole, ("steps", 1.5), "steps = 1.5: must be a whole number ≥ 0"),
        (check_count, ("limit", 0, 1, 1_000), "limit = 0: must be a whole number in [1, 1,000]"),
        (check_time, ("at", "today"), "at = 'today': must be a datetime"),
        (check_path, ("",), "path = '': must name a file, without the NUL character; - is none"),
        (check_tags, ("a",), "tags = 'a': must be a list of texts"),
        (check_metadata, ([],), "metadata = []: must be a mapping"),
        (check_metadata, (DEEP,), "metadata = ['a']: must be nested at most 100 deep"),
        (
            check_predicates,
            ({"file": []},),
            "when.file = []: must be a text, a number, true, false or a list of these",
        ),
        (check_source, ("me",), "source = 'me': must be one of automatic, conscious, manual"),
        (
            check_pack_name,
            ("name", "Go"),
            "name = 'Go': must be lower-case letters and digits, joined by - _ or ., at most 64",
        ),
        (
            check_pack_version,
            ("version", "1 0"),
            "version = '1 0': must be letters and digits, joined by - _ . or +, at most 64",
        ),
    ],
)
def test_a_message_has_the_name_the_value_and_the_rule(check, arguments, expected):
    assert message(check, *arguments) == expected


def test_a_time_without_a_zone_is_refused_and_one_with_a_zone_is_kept_in_utc():
    local = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))
    assert check_time("at", local).isoformat() == "2026-03-01T07:30:00+00:00"
    assert "must carry a time zone" in message(check_time, "at", datetime(2026, 3, 1))
    early = datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))
    assert "between the years 1 and 9999" in message(check_time, "at", early)
    assert check_time("at", datetime(2026, 3, 1, tzinfo=UTC)).tzinfo is UTC


def test_numbers_of_numpy_are_numbers_and_become_those_of_python():
    assert type(check_number("d", np.float32(0.5))) is float
    assert type(check_whole("n", np.int64(3))) is int
    assert "must be one number" in message(check_number, "d", [1.0])


def test_a_range_is_inclusive():
    assert check_number("d", 1, low=0, high=1) == 1.0
    assert [interval(0, 1), interval(0, float("inf")), interval(-float("inf"), 1)] == [
        "in [0, 1]",
        "finite and ≥ 0",
        "finite and ≤ 1",
    ]


def test_what_may_be_left_out_is_none():
    assert check_name("key", None) is None
    assert check_source(None) is None
    assert check_description("about", "  ") == ""


def test_values_are_returned_as_they_are_kept():
    assert check_uuid("id", UUID.upper()) == UUID
    assert check_tags(["b", "a", "b"]) == ("b", "a")
    assert check_tags({"b", "a"}) == ("a", "b")
    assert check_metadata({"a": (1, 2)}) == {"a": [1, 2]}
    assert check_predicates({"language": ("go", "rust"), "dry": True}) == {
        "language": ["go", "rust"],
        "dry": True,
    }
    assert check_path("a.db") == Path("a.db")
    assert check_source("pack:go@1") == "pack:go@1"


@each_row(
    ("when", "rule"),
    [
        ({"file": "[" * 20_000}, "when.file = .* has 20,000 characters, at most 512: shorten it"),
        ({"file": ["*.py", "x" * 513]}, "when.file = .* has 513 characters, at most 512"),
        ({"task": ["x"] * 101}, "when.task = .* has 101 values, at most 100"),
        ({f"k{n}": 1 for n in range(65)}, "when = .* has 65 conditions, at most 64"),
    ],
)
def test_conditions_have_a_limit(when, rule):
    with pytest.raises(ParamError, match=rule):
        check_predicates(when)


def test_conditions_at_the_limit_are_taken():
    when = {"file": ["x" * 512] * 100, **{f"k{n}": 1 for n in range(63)}}
    assert check_predicates(when) == when
