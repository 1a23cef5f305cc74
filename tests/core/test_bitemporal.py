import re
from dataclasses import FrozenInstanceError, dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.bitemporal import history, split, visible
from priming.errors import ParamError


@dataclass(frozen=True, slots=True)
class Row:
    version: int
    recorded_at: datetime
    retired_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source: str = "talk"


def day(number):
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


def supersede(rows, boundary, at):
    """Write a new version as the engine does: retire, copy, record."""
    current = next(row for row in rows if row.retired_at is None and row.valid_to is None)
    retired, ended, starts = split(current, boundary=boundary, at=at)
    new = Row(current.version + 1, recorded_at=at, valid_from=starts)
    return [row for row in rows if row is not current] + [retired, ended, new]


def seen(rows, valid_at, known_at):
    return [row.version for row in rows if visible(row, valid_at=valid_at, known_at=known_at)]


# visibility


def test_starts_are_inclusive_and_ends_exclusive():
    row = Row(1, day(10), day(20), day(3), day(6))
    assert visible(row, valid_at=day(3), known_at=day(10))
    assert not visible(row, valid_at=day(6), known_at=day(10))
    assert not visible(row, valid_at=day(3), known_at=day(20))
    assert not visible(row, valid_at=day(2.99), known_at=day(10))
    assert not visible(row, valid_at=day(3), known_at=day(9.99))


def test_open_ends_hold_for_ever():
    row = Row(1, day(10))
    assert visible(row, valid_at=day(-9999), known_at=day(10))
    assert visible(row, valid_at=day(9999), known_at=day(9999))


def test_times_of_other_zones_are_the_same_instants():
    row = Row(1, day(0), valid_from=day(5))
    tokyo = timezone(timedelta(hours=9))
    assert visible(row, valid_at=day(5).astimezone(tokyo), known_at=day(0).astimezone(tokyo))


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=3, max_size=3), st.integers(0, 9), st.data()
)
def test_visibility_is_the_two_intervals(ends, recorded, data):
    until, since, to = ends
    valid, familiar = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    row = Row(1, day(recorded), *(None if end is None else day(end) for end in (until, since, to)))
    expected = recorded <= familiar and (until is None or familiar < until)
    expected = expected and (since is None or since <= valid) and (to is None or valid < to)
    assert visible(row, valid_at=day(valid), known_at=day(familiar)) is expected


# superseding


def test_the_old_row_is_retired_and_its_copy_ends_at_the_boundary():
    old = Row(3, day(1), valid_from=day(0))
    retired, ended, starts = split(old, boundary=day(5), at=day(8))
    assert retired == Row(3, day(1), day(8), day(0), None)
    assert ended == Row(3, day(8), None, day(0), day(5))
    assert starts == day(5)
    assert old == Row(3, day(1), valid_from=day(0))


def test_before_after_and_across_a_supersede_one_version_is_visible():
    rows = supersede([Row(1, day(1))], boundary=day(5), at=day(8))
    assert seen(rows, valid_at=day(6), known_at=day(7)) == [1]
    assert seen(rows, valid_at=day(6), known_at=day(8)) == [2]
    assert seen(rows, valid_at=day(4), known_at=day(8)) == [1]
    assert seen(rows, valid_at=day(5), known_at=day(8)) == [2]


def test_history_shows_each_version_once_in_its_latest_row():
    rows = supersede([Row(1, day(1))], boundary=day(5), at=day(8))
    assert history(rows) == [
        Row(1, day(8), None, None, day(5)),
        Row(2, day(8), None, day(5), None),
    ]
    assert history(reversed(rows)) == history(rows)


def test_history_prefers_the_copy_when_a_version_is_superseded_as_it_is_recorded():
    rows = supersede([Row(1, day(1))], boundary=day(1), at=day(1))
    assert history(rows)[0].valid_to == day(1)
    assert history(reversed(rows))[0].valid_to == day(1)


def test_a_version_superseded_from_its_very_start_is_kept_but_valid_at_no_time():
    rows = supersede([Row(1, day(1), valid_from=day(0))], boundary=day(0), at=day(8))
    assert seen(rows, valid_at=day(0), known_at=day(8)) == [2]
    assert [row.version for row in history(rows)] == [1, 2]


def test_the_end_of_an_ended_version_can_be_brought_forward():
    _, ended, _ = split(Row(1, day(1), valid_to=day(9)), boundary=day(5), at=day(8))
    assert ended.valid_to == day(5)


def test_the_rows_are_frozen_copies():
    retired, _, _ = split(Row(1, day(1)), boundary=day(5), at=day(8))
    with pytest.raises(FrozenInstanceError):
        retired.retired_at = None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=4))
def test_one_version_is_visible_at_most_and_the_known_past_never_changes(steps):
    rows, boundary, now = [Row(1, day(0), valid_from=day(0))], 0, 0
    grid = range(14)
    for further, later in steps:
        before = rows
        boundary, now = boundary + further, now + later
        rows = supersede(rows, boundary=day(boundary), at=day(now))
        assert all(len(seen(rows, day(v), day(k))) <= 1 for v in grid for k in grid)
        past = [(v, k) for v in grid for k in grid if k < now]
        assert all(seen(rows, day(v), day(k)) == seen(before, day(v), day(k)) for v, k in past)
    assert [row.version for row in history(rows)] == list(range(1, len(steps) + 2))


NAIVE = datetime(2026, 1, 1)


@each_row(
    ("call", "message"),
    [
        (
            lambda: visible(Row(1, day(0)), valid_at=NAIVE, known_at=day(0)),
            "valid_at = '2026-01-01T00:00:00': must have a time zone",
        ),
        (
            lambda: visible(Row(1, day(0)), valid_at=day(0), known_at=NAIVE),
            "known_at = '2026-01-01T00:00:00': must have a time zone",
        ),
        (
            lambda: visible(Row(1, NAIVE), valid_at=day(0), known_at=day(0)),
            "recorded_at = '2026-01-01T00:00:00': must have a time zone",
        ),
        (
            lambda: visible(Row(1, day(0), valid_from=NAIVE), valid_at=day(0), known_at=day(0)),
            "valid_from = '2026-01-01T00:00:00': must have a time zone",
        ),
        (
            lambda: visible(Row(1, day(0)), valid_at="2026", known_at=day(0)),
            "valid_at = '2026': must be a datetime with a time zone",
        ),
        (
            lambda: split(Row(1, day(0), valid_from=day(3)), boundary=day(2), at=day(8)),
            "boundary = '2026-01-03T00:00:00+00:00': must be ≥ 2026-01-04T00:00:00+00:00, the start",
        ),
        (
            lambda: split(Row(1, day(0), valid_to=day(3)), boundary=day(3), at=day(8)),
            "boundary = '2026-01-04T00:00:00+00:00': must be < 2026-01-04T00:00:00+00:00, the end",
        ),
        (
            lambda: split(Row(1, day(4)), boundary=day(3), at=day(2)),
            "at = '2026-01-03T00:00:00+00:00': must be ≥ 2026-01-05T00:00:00+00:00, when it was recorded",
        ),
        (
            lambda: split(Row(1, day(0), day(1)), boundary=day(3), at=day(2)),
            "old = '2026-01-02T00:00:00+00:00': must not be retired already",
        ),
        (lambda: split(Row(1, day(0)), boundary=NAIVE, at=day(2)), "boundary = '2026-01-01T00:00:00'"),
        (lambda: split(Row(1, day(0)), boundary=day(1), at=NAIVE), "at = '2026-01-01T00:00:00'"),
        (lambda: split("row", boundary=day(1), at=day(1)), "old = 'row': must be a dataclass value"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()
