"""States that memories bring along."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.rows import each_row

from priming.errors import ParamError
from priming.transfer.state import ImportedState


def test_nothing_given_is_a_new_memory():
    assert ImportedState() == ImportedState("active", 0.0, 1.0, 0, 0, 0, 0, None)


def test_times_are_in_utc():
    at = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert ImportedState(last_used_at=at).last_used_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


@each_row(
    ("supplied", "rule"),
    [
        ({"status": "asleep"}, "status = 'asleep': must be one of active, forgotten, deprecated, merged"),
        ({"priority": float("nan")}, "priority = nan: must be a finite number"),
        ({"priority": True}, "priority = True: must be a finite number"),
        ({"confidence": 1.5}, r"confidence = 1.5: must be in \[0, 1\]"),
        ({"confidence": "high"}, r"confidence = 'high': must be in \[0, 1\]"),
        ({"uses": -1}, "uses = -1: must be a whole number ≥ 0"),
        ({"followed": 1.5}, "followed = 1.5: must be a whole number ≥ 0"),
        ({"overridden": None}, "overridden = None: must be a whole number ≥ 0"),
        ({"last_used_at": datetime(2026, 3, 1)}, "last_used_at = .*: must carry a time zone"),
    ],
)
def test_a_value_out_of_range_is_refused(supplied, rule):
    with pytest.raises(ParamError, match=rule):
        ImportedState(**supplied)


def test_all_that_is_wrong_is_told_together():
    with pytest.raises(ParamError) as caught:
        ImportedState(status="asleep", uses=-1, confirmed=-2)
    assert len(caught.value.violations) == 3
