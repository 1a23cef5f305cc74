"""Ids sort by time."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from priming.ids import uuid7

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_7_that_holds_the_millisecond():
    made = UUID(uuid7(NOW))
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"
    assert made.int >> 80 == int(NOW.timestamp() * 1000)


def test_ids_sort_by_time():
    times = [NOW + timedelta(milliseconds=step) for step in range(50)]
    made = [uuid7(at) for at in times]
    assert made == sorted(made)


def test_ids_of_one_instant_differ():
    assert len({uuid7(NOW) for _ in range(1000)}) == 1000


def test_a_time_before_1970_still_gives_an_id():
    assert UUID(uuid7(datetime(1901, 1, 1, tzinfo=UTC))).int >> 80 == 0
