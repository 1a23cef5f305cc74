"""What holds between several users of one store: two connections, and real processes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from priming.errors import Busy
from priming.storage.protocol import Store
from priming.storage.rows import MemoryRow, RowChange

from .making import added, dump, memory, operation, remember, whole
from .processes import Gate, start

Open = Callable[..., Store]
PROCESSES, TURNS = 4, 25


def test_another_connection_sees_what_was_committed_at_its_next_read(open_store: Open) -> None:
    item, other = open_store(), open_store()
    assert other.namespaces() == []
    remember(item, whole("a"), whole("b"))
    assert dump(other) == dump(item)
    remember(other, whole("c"))
    assert dump(other) == dump(item)
    assert item.head("mine") == 2


def test_what_is_not_committed_is_seen_by_nobody_else(open_store: Open) -> None:
    item, other = open_store(), open_store()
    with item.transaction():
        remember(item, whole("a"))
        assert (item.head("mine"), other.head("mine")) == (1, 0)
    assert other.head("mine") == 1


def test_a_transaction_that_reads_sees_one_state(open_store: Open) -> None:
    item, other = open_store(), open_store()
    remember(item, whole("a"))
    with other.transaction(write=False):
        before = dump(other)
        remember(item, whole("b"))
        assert dump(other) == before
    assert other.head("mine") == 2


def test_a_second_writer_is_told_that_the_store_is_busy(open_store: Open) -> None:
    item, other = open_store(), open_store(busy_timeout=0.05)
    with item.transaction():
        remember(item, whole("a"))
        with pytest.raises(Busy, match="which is writing"):
            remember(other, whole("b"))
        with pytest.raises(Busy), other.transaction():
            other.head("mine")
    remember(other, whole("b"))
    assert [row.id for row in item.rows("mine", MemoryRow)] == ["a", "b"]


@pytest.mark.slow
def test_a_writer_that_waits_gets_its_turn(open_store: Open) -> None:
    present, done = Gate.closed(), Gate.closed()

    def wait() -> None:
        store = open_store(busy_timeout=600)
        present.wait()
        done.open()
        remember(store, whole("b"), id="of the child")

    child = start(wait)
    store = open_store()
    with store.transaction():
        present.open()
        done.wait()
        remember(store, whole("a"))
    child.result()
    assert [row.id for row in store.rows("mine", MemoryRow)] == ["a", "b"]


@pytest.mark.slow
def test_no_update_is_lost_when_processes_write_at_once(open_store: Open) -> None:
    gate = Gate.closed()
    first = open_store()
    remember(first, whole("a"))
    first.close()
    children = [start(partial(count_up, open_store, gate, name)) for name in range(PROCESSES)]
    gate.open(PROCESSES)
    for child in children:
        child.result()
    store = open_store()
    (row,) = store.rows("mine", MemoryRow, ids=["a"])
    assert row.uses == PROCESSES * TURNS
    log = store.operations("mine", after=1)
    assert [entry.number for entry in log] == list(range(2, PROCESSES * TURNS + 2))
    counted = [(entry.rows[0].before, entry.rows[0].after) for entry in log]
    assert counted == [(memory("a", uses=i), memory("a", uses=i + 1)) for i in range(PROCESSES * TURNS)]
    assert len(store.rows("mine", MemoryRow)) == PROCESSES * TURNS + 1
    assert store.check("mine") == []


def count_up(open_store: Open, gate: Gate, name: int) -> None:
    store = open_store(busy_timeout=600)
    gate.wait()
    for turn in range(TURNS):
        with store.transaction():
            (row,) = store.rows("mine", MemoryRow, ids=["a"])
            used: MemoryRow = replace(row, uses=row.uses + 1)
            changes = [RowChange(row, used), *added(whole(f"p{name}-{turn}"))]
            store.apply(operation(changes, id=f"op-{name}-{turn}"))
    store.close()
