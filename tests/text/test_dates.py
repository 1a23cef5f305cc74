"""Dates that cues name, and times that memories speak of."""

from __future__ import annotations

from calendar import month_name
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.recall import RecallParams
from priming.errors import ParamError
from priming.text.dates import (
    CueDate,
    cue_date,
    date_match,
    dates,
    day_order,
    day_told,
    has_time,
    is_question,
    named_days,
    naming,
)
from priming.text.time_grammar import period
from priming.text.time_words import easter

PARAMS = RecallParams()
ANY_TEXT = st.text(st.characters())
MONTHS = month_name[1:]


@each_row(
    ("text", "expected"),
    [
        ("in May 2023", (2023, 5, None)),
        ("7 May 2023", (2023, 5, 7)),
        ("the 7th of May, 2023", (2023, 5, 7)),
        ("May 7, 2023", (2023, 5, 7)),
        ("May 7th", (None, 5, 7)),
        ("December 1,2023", (2023, 12, 1)),
        ("What happened in June?", (None, 6, None)),
        ("Sept. 3rd", (None, 9, 3)),
        ("in '2022'", (2022, None, None)),
        ("2023-05-07", (2023, 5, 7)),
        ("at 2023-05-07T10:00Z", (2023, 5, 7)),
        ("2023/5", (2023, 5, None)),
        ("on 12/25/2023", (2023, 12, 25)),
        ("on 25.12.2023", (2023, 12, 25)),
        ("on 5/7/2023", (2023, None, None)),
        ("30 February 2023", (2023, 2, None)),
        ("29 February", (None, 2, 29)),
        ("February '98", (1998, 2, None)),
    ],
)
def test_the_usual_ways_to_write_a_date_are_read(text, expected):
    assert cue_date(text) == CueDate(*expected)


@each_row(
    "text",
    [
        *(
            "",
            "May I go?",
            "Who may have come?",
            "they march on",
            "it cost $2022",
            "12022 of them",
            "2022.5 metres",
        ),
        *("3000", "flight AA2023x", "version 1.2023", "yesterday", "decide, marry, octopus"),
    ],
)
def test_what_is_no_date_is_not_read_as_one(text):
    assert cue_date(text) is None


@each_row(
    ("text", "month"),
    [("Who was hurt in May?", 5), ("in May we met", 5), ("may 7", 5), ("in may 2022", 5), ("on 3 march", 3)],
)
def test_may_and_march_are_months_when_written_so(text, month):
    result = cue_date(text)
    assert result is not None
    assert result.month == month


def test_of_several_dates_the_most_exact_counts():
    assert cue_date("on August 11, on August 15 2023") == CueDate(2023, 8, 15)
    assert cue_date("in 2021, or was it June 2022?") == CueDate(2022, 6)
    assert cue_date("June or July?") == CueDate(None, 6)


@each_row(
    ("text", "expected"),
    [
        ("yesterday", (2023, 12, 31)),
        ("last month", (2023, 12, None)),
        ("next month", (2024, 2, None)),
        ("What broke last week?", (2023, 12, 25, 7)),
        ("last weekend", (2023, 12, 30, 2)),
        ("What did we decide on Friday?", (2023, 12, 29)),
        ("on Monday", (2023, 12, 25)),  # the present is a Monday
        ("last Monday", (2023, 12, 25)),
        ("next Monday", (2024, 1, 8)),
        ("three days ago", (2023, 12, 29)),
        ("a week ago", (2023, 12, 25, 7)),
        ("2 months ago", (2023, 11, None)),
        ("the day before yesterday", (2023, 12, 30)),
        ("What broke last night?", (2023, 12, 31)),
        ("in the last three days", (2023, 12, 30, 3)),
        ("on the 30th", (2023, 12, 30)),
        ("What was on the 1st?", (2024, 1, 1)),
        ("on Friday, the 15th", (2023, 12, 15)),
        ("What happened Friday?", (2023, 12, 29)),
        ("What changed since Friday?", (2023, 12, 29, 4)),
        ("since last month", (2023, 12, 1, 32)),
        ("in the past week", (2023, 12, 26, 7)),
    ],
)
def test_words_that_lean_on_the_present_are_read_when_it_is_given(text, expected):
    # 1 January 2024 was a Monday.
    assert cue_date(text, datetime(2024, 1, 1, 9, tzinfo=UTC)) == CueDate(*expected)
    assert cue_date(text) is None


@each_row(
    "text",
    [
        *("What do we do on Mondays?", "every Monday", "week 3 of the course", "the last of the week"),
        *(
            "the Monday meeting",
            "by Friday",
            "a Monday",
            "on the 9th floor",
            "the 9th",
            "on the 15th of the list",
        ),
    ],
)
def test_what_comes_back_every_week_or_is_not_counted_is_no_date(text):
    assert cue_date(text, datetime(2024, 1, 1, 9, tzinfo=UTC)) is None


@each_row(
    ("text", "expected"),
    [
        ("on Monday, 5 May", (None, 5, 5)),
        ("on Friday June 6th", (None, 6, 6)),
        ("on Tuesday the 7th of May", (None, 5, 7)),
        ("on Friday 2023-06-02", (2023, 6, 2)),
        ("in the last week of June", (None, 6, None)),
    ],
)
def test_a_weekday_beside_a_date_only_says_it_again(text, expected):
    assert cue_date(text, datetime(2024, 1, 1, 9, tzinfo=UTC)) == CueDate(*expected)


@each_row(
    ("text", "expected"),
    [
        ("What happened between 9 and 13 November?", (None, 11, 9, 5)),
        ("from 30 October to 5 November 2023", (2023, 10, 30, 7)),
        ("9th-13th of November", (None, 11, 9, 5)),
        ("between August 11 and August 15, 2023", (2023, 8, 11, 5)),
        ("August 11-15", (None, 8, 11, 5)),
        ("27 February until 1 March 2023", (2023, 2, 27, 3)),
        ("27 February until 1 March 2024", (2024, 2, 27, 4)),
        ("13 to 9 May", (None, 5, 9)),  # no range
        ("30 to 31 June 2023", (2023, 6, None)),
        ("between 30 December and 2 January", (None, 12, 30, 4)),
        ("27 November to 29 February", (None, 11, 27, 94)),
    ],
)
def test_a_range_has_all_its_days(text, expected):
    assert cue_date(text) == CueDate(*expected)


@each_row(
    ("text", "expected"),
    [
        ("since 30 December", (2023, 12, 30, 3)),
        ("since 30 December 2022", (2022, 12, 30, 368)),
        ("since November", (2023, 11, 1, 62)),
        ("since 2023", (2023, 1, 1, 366)),
        ("since 29 February", (2023, 2, 1, 335)),
        ("since February 2025", (2025, 2)),  # is yet to come
        ("What was after 30 December?", (2023, 12, 31, 2)),
        ("It was after November", (2023, 12, 1, 32)),
        ("It was before 3 January 1900", (1900, 1, 1, 2)),
        ("until 3 January 1900", (1900, 1, 1, 3)),
        ("It was before 1 January 1900", (1900, 1, 1)),  # nothing is
    ],
)
def test_since_and_after_go_on_until_today_and_before_and_until_begin_with_the_first_day(text, expected):
    assert cue_date(text, datetime(2024, 1, 1, 9, tzinfo=UTC)) == CueDate(*expected)


def test_the_latest_day_of_a_number_is_one_that_its_month_has():
    assert cue_date("on the 31st", datetime(2023, 3, 5, tzinfo=UTC)) == CueDate(2023, 1, 31)


def test_a_date_knows_the_words_that_name_it_and_is_the_same_by_others():
    assert cue_date("What broke on 9 November, and why?").words == "9 November"
    assert cue_date("9 November") == cue_date("November 9th")


def test_a_week_matches_all_its_days_and_fades_after_them():
    week = cue_date("last week", datetime(2024, 5, 16, tzinfo=UTC))
    times = np.array(["2024-05-04", "2024-05-06", "2024-05-12", "2024-05-22"], "datetime64[s]")
    assert date_match(week, times, fade=10.0).tolist() == [0.0, 1.0, 1.0, 0.5]


def test_years_before_the_first_are_not_counted():
    assert cue_date("999 years ago", datetime(900, 1, 1, tzinfo=UTC)) is None


def test_the_present_must_be_a_datetime():
    with pytest.raises(ParamError, match="now"):
        cue_date("yesterday", 1.7e9)


@given(st.dates(datetime(1970, 1, 1).date(), datetime(2099, 12, 31).date()))
def test_every_day_is_read_in_every_form_and_matches_itself(day):
    month = MONTHS[day.month - 1]
    forms = [
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{month[:3]} {day.day}, {day.year}",
        day.isoformat(),
    ]
    for form in forms:
        named = cue_date(f"What was on {form}?")
        assert named == CueDate(day.year, day.month, day.day)
        assert date_match(named, np.array([day], "datetime64[D]")).tolist() == [1.0]


def moments(*texts):
    return np.array(texts, "datetime64[s]")


def test_what_is_named_scores_1_and_what_follows_it_loses_half_in_every_fade():
    times = moments("2023-05-07T23:59", "2023-05-31", "2023-06-14", "2023-06-28", "2023-04-29", "2022-05-07")
    assert date_match(CueDate(2023, 5), times, 14.0).tolist() == [1.0, 1.0, 0.5, 0.25, 0.0, 0.0]
    assert date_match(CueDate(2023, 5, 31), times, 14.0).tolist() == [0.0, 1.0, 0.5, 0.25, 0.0, 0.0]
    assert date_match(CueDate(None, 5), times, 14.0).tolist()[4:] == [pytest.approx(0, abs=1e-6), 1.0]
    assert date_match(CueDate(2023), times, 14.0).tolist() == [1.0] * 5 + [0.0]
    assert date_match(CueDate(2022), moments("2023-01-14"), 7.0).tolist() == [0.25]


def test_the_day_before_counts_as_the_day_after_since_clocks_differ():
    after, before, earlier = date_match(
        CueDate(2023, 5, 7), moments("2023-05-08", "2023-05-06", "2023-05-05")
    )
    assert before == after == 0.5 ** (1 / PARAMS.date_fade)
    assert earlier == 0
    for named in (CueDate(2023, 5), CueDate(None, 5)):
        assert date_match(named, moments("2023-04-30", "2023-06-01")).tolist() == [after, after]


def test_of_a_day_ahead_nobody_has_told_yet():
    now = datetime(2023, 5, 6, 12, tzinfo=UTC)
    times = moments("2023-05-06", "2023-05-07", "2023-05-09")
    for named in (CueDate(2023, 5, 7), CueDate(None, 5, 7)):
        assert date_match(named, times[:2], now=now).tolist() == [0.0, 1.0]
    assert date_match(CueDate(2023, 5, 7), times[2:], now=now).tolist() == [0.0]
    assert date_match(CueDate(2023, 5, 6), times, now=now).tolist()[0] == 1.0


def test_january_follows_december():
    times = moments("2024-01-14", "2023-01-14")
    assert date_match(CueDate(2023, 12), times, 14.0).tolist() == [0.5, 0.0]
    assert date_match(CueDate(None, 12), times, 14.0).tolist() == [0.5, 0.5]


def test_a_day_that_its_month_does_not_have_is_the_whole_month():
    assert date_match(CueDate(2023, 2, 30), moments("2023-02-01", "2023-01-30")).tolist() == [1.0, 0.0]


def test_seconds_and_datetimes_are_the_same_moments():
    times = moments("2023-05-07", "1969-12-31T23:59:59", "2024-02-29")
    seconds = times.astype(np.int64).astype(np.float64)
    for cue in (CueDate(2023, 5, 7), CueDate(1969, 12, 31), CueDate(None, 2, 29), CueDate(2024)):
        assert date_match(cue, seconds).tolist() == date_match(cue, times).tolist()
        assert date_match(cue, times).max() > 0


def test_an_unknown_time_matches_nothing():
    assert date_match(CueDate(1970, 1, 1), np.array([np.nan, np.inf, -np.inf])).tolist() == [0.0] * 3
    assert date_match(CueDate(1970), moments("NaT")).tolist() == [0.0]
    assert date_match(CueDate(1970), np.array([])).tolist() == []


def test_times_must_be_numbers_or_datetimes():
    with pytest.raises(ParamError, match="times"):
        date_match(CueDate(2023), np.array(["2023-05-07"]))


@each_row(
    "text",
    [
        *("on Monday", "last week", "two years ago", "in 1999", "the 1990s", "at 3 pm", "at 10:30", "7 may"),
        *("5 o’clock", "on 7/5/2023", "2023-05-07", "In May we met", "for an hour", "the other day"),
        *("every summer", "a 3-day trip"),
    ],
)
def test_expressions_of_time_are_seen(text):
    assert has_time(text)


@each_row("text", ["", "I may go", "May I?", "we march", "10 dogs", "the weekly", "12 of 34", "3.5 m"])
def test_what_tells_no_time_is_not_seen(text):
    assert not has_time(text)


@each_row(
    ("text", "asks"),
    [
        ("Really?", True),
        ("Really? ", True),
        ('"Why?"', True),
        ("元気？", True),
        ("Why? I see.", False),
        ("", False),
    ],
)
def test_a_question_ends_in_its_mark(text, asks):
    assert is_question(text) is asks


@given(ANY_TEXT)
def test_any_text_can_be_asked(text):
    result = cue_date(text, datetime(2024, 1, 31, tzinfo=UTC))
    assert result is None or result.year is not None or result.month is not None
    assert has_time(text) in (True, False)
    assert is_question(text) in (True, False)


@each_row(
    "unit",
    [
        *("1", "1 ", "May ", "when ", "what is the ", "2023-", "a", " ", "1/", "last day", "1 of "),
        *("last week ", "on monday ", "a week "),
    ],
)
def test_long_runs_of_anything_are_read_to_the_end(unit):
    # How much longer twice as much takes is measured by tests/growth.
    text = unit * (10_000 // len(unit)) + " on 7 June 2023"
    assert cue_date(text) == CueDate(2023, 6, 7)
    assert has_time(text)


@each_row(
    ("text", "marked"),
    [
        ("what happened in April?", True),
        ("the harvest of August", True),
        ("what did April say?", False),
        ("tell me about June", False),
        ("what happened Monday?", True),
        ("who is Friday?", False),
        ("on Friday", True),
        ("7 May", True),
        ("in 2022", True),
        ("flight 2022", False),
    ],
)
def test_a_month_a_year_or_a_weekday_alone_is_marked_by_what_stands_before_it(text, marked):
    assert cue_date(text, datetime(2024, 1, 1, 9, tzinfo=UTC)).is_marked == marked


def test_with_dots_the_day_comes_before_the_month():
    assert cue_date("on 10.11.2026") == CueDate(2026, 11, 10)
    assert cue_date("on 10/11/2026") == CueDate(2026)
    assert cue_date("on 1.13.2026") == CueDate(2026, 1, 13)


SATURDAY = datetime(2026, 11, 28, 12)


def days_named(text, now=SATURDAY, **more):
    """The first and last day that a text names, as they are written."""
    cue = cue_date(text, now, **more)
    return None if cue is None else tuple(map(str, period(cue, now.date())))


@each_row(
    ("text", "first", "last"),
    [
        # a number, a unit and a direction
        ("since when, in the past three weeks, was it slow?", "2026-11-08", "2026-11-28"),
        ("a couple of weeks ago", "2026-11-02", "2026-11-15"),
        ("three weeks ago today", "2026-11-07", "2026-11-07"),
        ("two weeks ago on Friday", "2026-11-13", "2026-11-13"),
        ("within the last 24 hours", "2026-11-27", "2026-11-28"),
        ("two quarters ago", "2026-04-01", "2026-06-30"),
        ("in the next ten days", "2026-11-29", "2026-12-08"),
        # a direction beside a unit, a weekday, a month or a feast
        ("the week before last", "2026-11-09", "2026-11-15"),
        ("the week after next", "2026-12-07", "2026-12-13"),
        ("the Tuesday before last", "2026-11-17", "2026-11-17"),
        ("last November", "2025-11-01", "2025-11-30"),
        ("last December", "2025-12-01", "2025-12-31"),
        ("next Christmas", "2026-12-24", "2026-12-26"),
        ("on 4 April last year", "2025-04-04", "2025-04-04"),
        # an ordinal or a weekday within a frame
        ("the third Thursday of October", "2026-10-15", "2026-10-15"),
        ("on the last Monday in June 2025", "2025-06-30", "2025-06-30"),
        ("last week on Thursday", "2026-11-19", "2026-11-19"),
        ("on Monday of week 12", "2026-03-16", "2026-03-16"),
        ("the 9th of last month", "2026-10-09", "2026-10-09"),
        # quarters, weeks, feasts
        ("in Q4 2024", "2024-10-01", "2024-12-31"),
        ("in the third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("in week 50", "2025-12-08", "2025-12-14"),
        ("calendar week 1 of 2025", "2024-12-30", "2025-01-05"),
        ("on Christmas Eve", "2025-12-24", "2025-12-24"),
        ("on Good Friday 2025", "2025-04-18", "2025-04-18"),
        ("at Easter", "2026-04-03", "2026-04-06"),
        # what is beside a date, and ranges
        ("the day after Christmas", "2025-12-27", "2025-12-27"),
        ("two days before Easter 2025", "2025-04-16", "2025-04-16"),
        ("the Friday before Christmas", "2025-12-19", "2025-12-19"),
        ("in the week of 17 June", "2026-06-15", "2026-06-21"),
        ("from April to June 2025", "2025-04-01", "2025-06-30"),
        ("between Christmas and New Year", "2025-12-24", "2026-01-01"),
        ("in Q1 and Q2", "2026-01-01", "2026-06-30"),
        ("on Tuesday before Easter", "2026-03-31", "2026-03-31"),
        ("from Monday 2 to Friday 6 November", "2026-11-02", "2026-11-06"),
        ("on 3 or 4 November", "2026-11-03", "2026-11-04"),
        ("from 27 February to 2 March", "2026-02-27", "2026-03-02"),
        ("from 27 February to 2 March 2024", "2024-02-27", "2024-03-02"),
        ("the last two weeks of February 2025", "2025-02-01", "2025-02-28"),
        # a day from a year away, and numbers of several words
        ("a year ago today", "2025-11-28", "2025-11-28"),
        ("a year ago yesterday", "2025-11-27", "2025-11-27"),
        ("twenty days ago", "2026-11-08", "2026-11-08"),
        ("on the twenty-first of January 2025", "2025-01-01", "2025-01-31"),
        # what is in a longer time that stands beside it
        ("last year on 4 April", "2025-04-04", "2025-04-04"),
        ("two years ago in May", "2024-05-01", "2024-05-31"),
        ("last month on the 13th", "2026-10-13", "2026-10-13"),
        ("last year in Q3", "2025-07-01", "2025-09-30"),
        ("two years ago at Easter", "2024-03-29", "2024-04-01"),
        ("a week ago last Thursday", "2026-11-19", "2026-11-19"),
        ("il y a deux ans, en mai", "2024-05-01", "2024-05-31"),
        ("el año pasado, el 3 de octubre", "2025-10-03", "2025-10-03"),
        ("le 13 du mois dernier", "2026-10-13", "2026-10-13"),
        ("am 3. Oktober letzten Jahres", "2025-10-03", "2025-10-03"),
        # what somebody gets up to is done on that day
        ("what did we get up to two weeks ago today?", "2026-11-14", "2026-11-14"),
        # the last stretch of time up to now, and that of the calendar
        ("in the last month", "2026-10-29", "2026-11-28"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("over the last weekend", "2026-11-21", "2026-11-22"),
        ("in the last fortnight", "2026-11-15", "2026-11-28"),
        ("au cours de la dernière semaine", "2026-11-22", "2026-11-28"),
        ("en el último mes", "2026-10-29", "2026-11-28"),
        # both ends of a range
        ("March–June 2026", "2026-03-01", "2026-06-30"),
        ("March through June", "2026-03-01", "2026-06-30"),
        ("Q1-Q3 2025", "2025-01-01", "2025-09-30"),
        ("the results of 1998-2003", "1998-01-01", "2003-12-31"),
        # German
        ("Was war vorletzte Woche?", "2026-11-09", "2026-11-15"),
        ("heute vor drei Wochen", "2026-11-07", "2026-11-07"),
        ("in den letzten vier Tagen", "2026-11-25", "2026-11-28"),
        ("am zweiten Mittwoch im Juli", "2026-07-08", "2026-07-08"),
        ("vom 3. bis 5. Juni 2025", "2025-06-03", "2025-06-05"),
        ("an Pfingsten", "2026-05-24", "2026-05-25"),
        ("letztes Jahr im August", "2025-08-01", "2025-08-31"),
        ("heute vor einem Jahr", "2025-11-28", "2025-11-28"),
        ("am Dienstag vor Ostern", "2026-03-31", "2026-03-31"),
        ("vom 28. Oktober bis zum 3. November", "2026-10-28", "2026-11-03"),
        ("vom 3. bis zum 7. Juni 2025", "2025-06-03", "2025-06-07"),
        # French
        ("avant-hier", "2026-11-26", "2026-11-26"),
        ("Qu’est-ce qui s’est passé la semaine dernière ?", "2026-11-16", "2026-11-22"),
        ("les quatre derniers jours", "2026-11-25", "2026-11-28"),
        ("le 1er juillet 2025", "2025-07-01", "2025-07-01"),
        ("mardi dernier", "2026-11-24", "2026-11-24"),
        ("au deuxième trimestre 2025", "2025-04-01", "2025-06-30"),
        ("entre le 28 février et le 3 mars", "2026-02-28", "2026-03-03"),
        # Spanish
        ("anteayer", "2026-11-26", "2026-11-26"),
        ("¿Qué pasó hace tres días?", "2026-11-25", "2026-11-25"),
        ("el martes pasado", "2026-11-24", "2026-11-24"),
        ("los últimos cuatro días", "2026-11-25", "2026-11-28"),
        ("el 4 de julio de 2025", "2025-07-04", "2025-07-04"),
        ("del 28 de octubre al 3 de noviembre", "2026-10-28", "2026-11-03"),
        ("entre el 3 y el 7 de julio de 2025", "2025-07-03", "2025-07-07"),
    ],
)
def test_the_grammar_reads_numbers_units_directions_ordinals_and_frames(text, first, last):
    assert days_named(text) == (first, last)


@each_row(
    "text",
    [
        *(
            "the second attempt",
            "May I?",
            "the sequel of March of the Zombies",
            "release 11.4",
            "release 11.4.2",
        ),
        *("release 12 may fail", "he may 3 times", "a Christmas carol", "every Easter", "who is Jan?"),
        *(
            "Wer steht hier?",
            "what is the answer to Q1?",
            "week 4 of the diet",
            "12 of 34",
            "mail of 300 words",
        ),
        # another day than its part says, and which one is not read
        *("half a year ago", "two and a half weeks ago", "today in two weeks", "a month and a day ago"),
        *("twenty-two days ago", "a hundred and two days ago", "in the 2024/25 season"),
        *("Der Morgen war kalt.", "la mañana es fría"),
        *("two Fridays ago", "more than a week ago", "vor einem halben Jahr", "two days before the launch"),
    ],
)
def test_what_is_no_date_or_is_not_read_as_a_whole_restricts_nothing(text):
    assert cue_date(text, SATURDAY) is None


def test_a_word_is_a_date_in_its_own_language_only():
    assert days_named("hier") == ("2026-11-27", "2026-11-27")
    assert cue_date("Was liegt hier?", SATURDAY) is None
    assert cue_date("what is on mars?", SATURDAY) is None
    assert days_named("en mars") == ("2026-03-01", "2026-03-31")


@given(st.integers(1, 999), st.dates(date(1990, 1, 1), date(2090, 12, 31)))
def test_any_number_of_days_ago_is_that_day_in_every_language(number, today):
    day = today - timedelta(days=number)
    now = datetime(today.year, today.month, today.day, 12)
    for text in (
        f"{number} days ago",
        f"vor {number} Tagen",
        f"il y a {number} jours",
        f"hace {number} días",
    ):
        assert cue_date(text, now) == CueDate(day.year, day.month, day.day)
        assert day_told(text, now) == now - timedelta(days=number)


@given(st.dates(date(1990, 1, 1), date(2090, 12, 31)))
def test_the_week_of_a_day_is_that_of_the_iso_calendar(day):
    year, week, weekday = day.isocalendar()
    monday = day - timedelta(days=weekday - 1)
    expected = CueDate(monday.year, monday.month, monday.day, 7)
    now = datetime(2091, 6, 1)
    for text in (
        f"week {week} of {year}",
        f"KW {week} {year}",
        f"semaine {week} de {year}",
        f"{year}-W{week:02}",
    ):
        assert cue_date(text, now) == expected
    assert cue_date(f"the week of {day.isoformat()}", now) == expected


@each_row(
    ("text", "expected"),
    [
        ("the first Monday of May 2024", CueDate(2024, 5, 6)),
        ("in the week of 3 May 2024", CueDate(2024, 4, 29, 7)),
        ("the week of 3 May", CueDate(None, 5, 3)),
        ("at Christmas", CueDate(None, 12, 24, 3)),
        ("at Easter", None),
        ("in week 10", None),
        ("in Q1", None),
        ("the Monday before last", None),
        ("before 3 May 2024", CueDate(2024, 5, 3)),
    ],
)
def test_what_needs_the_present_is_not_read_without_it(text, expected):
    assert cue_date(text) == expected


def test_easter_is_the_day_of_the_tables():
    # The dates of the Astronomical Society of South Australia, with the earliest and the latest that there are.
    tables = (
        "1818-03-22 1943-04-25 1954-04-18 1981-04-19 2000-04-23 2008-03-23 2024-03-31 2025-04-20 2038-04-25"
    )
    for day in map(date.fromisoformat, tables.split()):
        assert easter(day.year) == day


def test_the_order_of_day_and_month_is_that_of_the_store_or_the_place():
    assert days_named("on 11/03/2026", day_first=True) == ("2026-03-11", "2026-03-11")
    assert days_named("on 11/03/2026", day_first=False) == ("2026-11-03", "2026-11-03")
    assert days_named("on 11/03/2026") == ("2026-01-01", "2026-12-31")
    assert days_named("on 11/23/2026", day_first=True) == ("2026-11-23", "2026-11-23")
    assert day_order("paid on 25/12/2025 and 3/4/2026") == 1
    assert day_order("paid on 12/25/2025, version 13/2/3") == -1


def test_a_text_names_the_day_from_which_it_was_told_if_it_names_one():
    assert day_told("Gestern war der Fluss über dem Weg.", SATURDAY) == SATURDAY - timedelta(days=1)
    assert day_told("We meet on Friday.", SATURDAY) is None  # it may be the next one
    assert day_told("Yesterday it broke, tomorrow they come.", SATURDAY) is None
    assert day_told("Last week it broke.", SATURDAY) is None
    assert day_told("Twenty-two days ago it broke.", SATURDAY) is None
    assert day_told("It is fixed today.", SATURDAY) is None


@each_row(
    "text",
    [
        "It has leaked since yesterday.",
        "Until yesterday it was dry.",
        "It broke three days before yesterday.",
    ],
)
def test_what_holds_since_or_before_a_day_is_not_of_that_day(text):
    assert day_told(text, SATURDAY) is None


def test_a_name_in_quotation_marks_tells_no_day():
    assert day_told("They played 'Yesterday' at the wedding.", SATURDAY) is None
    assert day_told("Tom says “yesterday the pump broke”.", SATURDAY) == SATURDAY - timedelta(days=1)


def test_dates_with_a_year_have_one_form_in_every_language():
    text = "am 3. Mai 2024, le 3 mai 2024, el 3 de mayo de 2024"
    for part in text.split(", "):
        assert [day for _, _, day in dates(part)] == ["2024-05-03"]


@each_row(
    ("text", "days"),
    [
        ("Tests on 3 December and on 2027-01-08", ((1203, 1203), (20270108, 20270108))),
        ("Urlaub vom 28. bis 31. Mai", ((528, 531),)),
        ("Am 20.3. um neun zum Arzt, und bis zum 2.4. fasten", ((320, 320), (402, 402))),
        ("Wir nutzen Python 3.11. Danach gehen wir am Montag, 9.2. weg", ((209, 209),)),
        ("We moved to version 3.11. on 2.4. and left", ()),
        ("The lease ends in March 2027", ((20270301, 20270331),)),
        ("It was sold in 1998 on a Monday", ()),
        ("May I come at 9?", ()),
    ],
)
def test_the_days_that_a_text_names_are_those_with_a_month(text, days):
    assert named_days(text) == days


def test_a_day_without_a_year_is_of_each_year_and_of_what_happened_the_last_or_the_next():
    assert named_days("It opened on 9 May.", SATURDAY) == ((20260509, 20260509), (20270509, 20270509))
    assert named_days("It opened on 9 May 2024.", SATURDAY) == ((20240509, 20240509),)
    for days, cue, is_of in (
        ((509, 509), CueDate(2026, 5), True),
        ((509, 509), CueDate(2026, 5, 10, days=300), False),
        ((509, 509), CueDate(2026, 5, 9, days=300), True),
        ((509, 509), CueDate(2026, 5, 10, days=365), False),
        ((1228, 104), CueDate(2026, 1, 2), True),
        ((1228, 104), CueDate(2026, 12), True),
        ((1228, 104), CueDate(2026, 11), False),
        ((109, 109), CueDate(2026, 12, 20, days=21), True),
        ((109, 109), CueDate(2026, 12, 20, days=20), False),
        ((20260509, 20260509), CueDate(2027, 5, 9), False),
        ((20260509, 20260509), CueDate(month=5, day=9), True),
        ((20260509, 20260509), CueDate(2026), True),
        ((509, 509), CueDate(2026), False),
    ):
        assert bool([*naming({1: [days]}, cue)]) is is_of, (days, cue)


def test_a_day_by_its_name_alone_may_be_the_next_of_it_and_one_with_more_may_not():
    days = {
        3: [(20261204, 20261204)],  # the Fridays around a Saturday
        5: [(20261127, 20261127)],
        7: [(1129, 1129)],
        9: [(20261220, 20261220)],
        11: [(20261224, 20261224)],
    }
    for text, expected in (
        ("anything on Friday?", [(3, 0.5), (5, 1.0)]),
        ("was ist am Freitag?", [(3, 0.5), (5, 1.0)]),
        ("what happened last Friday?", [(5, 1.0)]),
        ("what do I have on the weekend?", [(7, 0.5)]),
        ("was machen wir am Wochenende?", [(7, 0.5)]),
        ("what did we do last weekend?", []),
        ("what is on the 20th?", [(9, 0.5)]),
        ("what is on Christmas Eve?", [(11, 0.5)]),
        ("was ist an Heiligabend?", [(11, 0.5)]),
        ("what happened in 2026?", [(3, 0.5), (5, 0.5), (9, 0.5), (11, 0.5)]),
        ("what happens next year?", []),
    ):
        assert [*naming(days, cue_date(text, SATURDAY))] == expected, text
