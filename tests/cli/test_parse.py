from datetime import UTC, date, datetime, time, timedelta

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.cli.parse import json_object, moment


@each_row(
    ("text", "before"),
    [
        ("10m", timedelta(minutes=10)),
        ("2h", timedelta(hours=2)),
        ("3d", timedelta(days=3)),
        ("1w", timedelta(days=7)),
    ],
)
def test_a_time_may_be_told_by_how_long_ago_it_was(text, before):
    earliest = datetime.now(UTC) - before
    assert earliest <= moment("since", text) <= datetime.now(UTC) - before


def test_the_letters_of_a_time_are_read_in_either_case():
    assert moment("since", "2026-03-01t09:30z") == moment("since", "2026-03-01T09:30Z")


def test_a_time_of_day_alone_is_todays():
    today = datetime.now().astimezone()
    assert moment("since", "09:30").astimezone().replace(day=1, month=1) == today.replace(
        day=1, month=1, hour=9, minute=30, second=0, microsecond=0
    )


@each_row("text", ["10", "m", "10 minutes", "-5m", "999999w", "25:00", "9:30"])
def test_other_words_for_a_time_are_refused_with_the_forms_that_are_known(text):
    with pytest.raises(ParamError, match="how long ago, as 10m"):
        moment("since", text)


def test_a_day_in_words_is_its_midnight():
    for text, days in (("yesterday", 1), ("Today", 0), ("3 days ago", 3), ("the day before yesterday", 2)):
        before = datetime.now().astimezone().date()
        result = moment("since", text).astimezone()
        after = datetime.now().astimezone().date()
        assert result.date() + timedelta(days=days) in (before, after)
        assert result.time() == time(0)
    assert moment("since", "last Friday").astimezone().weekday() == 4
    assert moment("since", "5 March 2024").astimezone().date() == date(2024, 3, 5)
    earliest = datetime.now(UTC)
    assert earliest <= moment("since", "now") <= datetime.now(UTC)


@each_row(
    "text", ["last week", "March 2024", "in 2024", "yesterday or so", "2026-02-30", "on 30 February 2024"]
)
def test_what_is_no_single_day_is_no_time(text):
    with pytest.raises(ParamError, match="must be a date or time"):
        moment("since", text)


@each_row(
    ("text", "rule"),
    [
        ('{"a": 1', """metadata = '{"a": 1': must be JSON: """),
        ('{"a": ' + "[" * 101 + "]" * 101 + "}", "must be nested at most 100 deep"),
        ("[]", "must be a JSON object, such as "),
    ],
)
def test_what_is_no_json_object_is_refused_as_it_was_typed(text, rule):
    with pytest.raises(ParamError) as caught:
        json_object("metadata", text)
    assert rule in str(caught.value)
