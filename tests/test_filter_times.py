"""Times in filters that were read from JSON."""

from datetime import UTC, datetime

from priming.serialization import with_times


def test_the_times_of_a_filter_are_parsed_wherever_they_stand():
    seen = []

    def moment(name, text):
        seen.append(name)
        return datetime.fromisoformat(text).replace(tzinfo=UTC)

    day = datetime(2026, 3, 1, tzinfo=UTC)
    filters = {
        "or": [{"occurred_at": {"gte": "2026-03-01"}}, {"not": {"valid_to": "2026-03-01"}}],
        "kind": "fact",
    }
    assert with_times(filters, moment) == {
        "or": [{"occurred_at": {"gte": day}}, {"not": {"valid_to": day}}],
        "kind": "fact",
    }
    assert seen == ["filters.occurred_at", "filters.valid_to"]


def test_what_is_no_time_in_a_filter_is_left_to_the_library():
    def never(*arguments):
        raise AssertionError(arguments)

    for value in (None, {"occurred_at": {"exists": True}}, {"metadata.day": "2026-03-01"}, {"and": "text"}):
        assert with_times(value, never) == value
