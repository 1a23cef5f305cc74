"""Ids sort by time, then by the order in which they were made."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

from priming.config.ids import uuid7

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_7_that_holds_the_millisecond():
    new = UUID(uuid7(NOW))
    assert new.version == 7
    assert new.variant == "specified in RFC 4122"
    assert new.int >> 80 == int(NOW.timestamp() * 1000)


def test_ids_sort_by_time():
    times = [NOW + timedelta(milliseconds=step) for step in range(50)]
    new = [uuid7(at) for at in times]
    assert new == sorted(new)


def test_ids_of_one_instant_differ_and_sort_in_the_order_in_which_they_were_made():
    new = [uuid7(NOW) for _ in range(1000)]
    assert new == sorted(set(new))


def test_threads_never_make_the_same_id():
    with ThreadPoolExecutor(4) as pool:
        new = [item for ids in pool.map(lambda _: [uuid7(NOW) for _ in range(500)], range(8)) for item in ids]
    assert len(set(new)) == 4000


def test_ids_of_one_instant_stay_apart_from_run_to_run():
    uuid7(NOW - timedelta(days=1))
    first = uuid7(NOW)
    uuid7(NOW - timedelta(days=1))
    assert uuid7(NOW) != first


def test_a_time_before_1970_still_gives_an_id():
    assert UUID(uuid7(datetime(1901, 1, 1, tzinfo=UTC))).int >> 80 == 0
