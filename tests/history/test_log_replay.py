"""The log read backwards."""

import re
from datetime import timedelta
from itertools import pairwise

import pytest

from priming import NotFound
from priming.history.log import changes_since, newest_first, rows_at

DAY = timedelta(days=1)


def test_every_operation_is_yielded_once_the_latest_first(memory):
    for number, following in pairwise([0, 1, 4, 5, 6, 21, 22, 85, 86, 90]):
        result = [item.id for item in newest_first(memory)]
        assert result == [entry.id for entry in memory.log(limit=1000)]
        assert len(result) == number
        for i in range(number, following):
            memory.remember(f"number {i}")
    assert len([*newest_first(memory)]) == following


def test_reading_only_the_latest_operation_fetches_no_other(memory):
    for i in range(9):
        memory.remember(f"number {i}")
    statements = []
    memory.store._db._sqlite.set_trace_callback(statements.append)
    latest = next(newest_first(memory))
    memory.store._db._sqlite.set_trace_callback(None)
    assert latest.id == memory.log(limit=1)[0].id
    assert [limit for statement in statements for limit in re.findall(r"LIMIT (\d+)", statement)] == ["1"]


def test_changes_since_a_time_end_at_the_first_earlier_operation(memory, clock):
    start = clock.at
    for days in (0, 5, 2, 3):
        clock.at = start + days * DAY
        memory.remember(f"on day {days}")
    operations = memory.log(limit=10)
    assert [item.id for item in changes_since(memory, start + 2 * DAY)] == [operations[0].id]
    assert [item.id for item in changes_since(memory, start + 3 * DAY)] == []
    assert len(list(changes_since(memory, start - DAY))) == 4
    assert not rows_at(memory, start + 3 * DAY).rows


def test_the_last_operation_is_neither_undone_nor_an_undo_nor_the_start_of_a_run(memory):
    memory.remember("Ice forms at zero.", key="ice")
    memory.forget("ice")
    memory.run_start("s")
    assert memory.undo("last").message == "undid a forget"
    assert memory.undo("last").message == "undid a remember"
    with pytest.raises(NotFound, match="there is no operation to undo: see the log"):
        memory.undo("last")
