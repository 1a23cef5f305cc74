"""Undo of operations that learnt something: verdicts, pairs and runs are rows like others."""

from dataclasses import replace
from datetime import timedelta

import pytest

from priming import Conflict
from priming.serialization import stamp
from priming.storage.rows import LinkRow, MemoryRow, PairRow, RowChange, RunRow, VerdictRow


@pytest.fixture
def two(open_memory, url):
    memory = open_memory(url)
    memory.remember("We paint walls.", key="paint", session="s")
    memory.remember("They sing.", key="sing", session="s")
    return memory


def write(memory, kind, *rows, operation_id=None):
    """One operation of learning, as its verbs write it; its id."""
    with memory.writing() as now:
        changes = [row if isinstance(row, RowChange) else RowChange(None, row) for row in rows]
        return memory.write(kind, now, changes, operation_id=operation_id).id


def rows(memory):
    store = memory.store
    return [store.rows(memory.namespace, kind) for kind in (LinkRow, VerdictRow, PairRow, RunRow)]


def ends(memory):
    return sorted(memory.get(key).id for key in ("paint", "sing"))


def verdict(memory, operation_id, key="paint"):
    return VerdictRow(memory.get(key).id, "used", operation_id, "r", memory.now(), "conscious")


def pair(memory, *times):
    return PairRow(*ends(memory), tuple(stamp(time) for time in times))


def test_learning_is_undone_and_redone(two, clock):
    before = rows(two)
    run = RunRow("run", "s", clock.at, shown=(two.get("paint").id,))
    done = write(two, "feedback", verdict(two, "f"), pair(two, clock.at), run, operation_id="f")
    after = rows(two)
    undone = two.undo(done)
    assert {change.table for change in undone.changes} == {"verdicts", "pairs", "runs"}
    assert rows(two) == before
    two.undo(undone.id)
    assert rows(two) == after
    assert two.validate() == []


def test_changed_rows_return_to_their_earlier_state(two, clock):
    first, run = pair(two, clock.at), RunRow("run", "s", clock.at)
    write(two, "recall", first, run)
    before = rows(two)
    second = replace(first, times=(*first.times, stamp(clock.at)))
    ended = replace(run, settled="used", shown=tuple(ends(two)))
    done = write(two, "feedback", RowChange(first, second), RowChange(run, ended))
    two.undo(done)
    assert rows(two) == before


def test_a_run_changed_since_prevents_an_undo_and_a_pair_loses_only_its_own_times(two, clock):
    first, run = pair(two, clock.at), RunRow("run", "s", clock.at)
    pairing, starting = write(two, "pairing", first), write(two, "run-start", run)
    more = replace(first, times=(*first.times, stamp(clock.at + timedelta(hours=1))))
    write(two, "again", RowChange(first, more))
    ending = write(two, "run-end", RowChange(run, replace(run, settled="unused")))
    before = rows(two), two.log()
    words = rf"{starting} cannot be undone: operation {ending} \(.*\) changed the same run since"
    with pytest.raises(Conflict, match=words):
        two.undo(starting)
    assert (rows(two), two.log()) == before
    taken = two.undo(pairing)
    assert two.store.rows("default", PairRow) == [replace(first, times=more.times[1:])]
    two.undo(taken.id)
    assert rows(two) == before[0]
    for operation in (ending, starting):
        two.undo(operation)
    assert two.store.rows("default", RunRow) == []


def test_undoing_a_memory_removes_its_verdicts_and_pairs(two, clock):
    remembered = next(entry.id for entry in two.log() if "sing" in {change.key for change in entry.changes})
    run = RunRow("run", "s", clock.at, shown=tuple(ends(two)))
    rest = verdict(two, "f", "paint")
    write(two, "feedback", verdict(two, "f", "sing"), rest, pair(two, clock.at), run, operation_id="f")
    before = rows(two), two.list()
    undone = two.undo(remembered)
    assert rows(two)[1:] == [[rest], [], [run]]
    assert [record.key for record in two.list()] == ["paint"]
    assert two.validate() == []
    two.undo(undone.id)
    assert (rows(two), two.list()) == before


def test_an_earlier_verdict_is_undone_under_a_later_one(two, clock):
    (link,) = [row for row in two.store.rows("default", LinkRow) if row.relation == "next"]
    (row,) = two.store.rows("default", MemoryRow, ids=[two.get("paint").id])
    use, later = stamp(clock.at), stamp(clock.at + timedelta(hours=1))
    stronger, strongest = replace(link, weight=link.weight + 0.01), replace(link, weight=link.weight + 0.03)
    heavier = replace(row, weight=row.weight + 0.01, uses=1, helped=1, recent=(use,))
    heaviest = replace(heavier, weight=row.weight + 0.03, uses=2, helped=2, recent=(later, use))
    first = write(two, "feedback", RowChange(link, stronger), RowChange(row, heavier))
    second = write(two, "feedback", RowChange(stronger, strongest), RowChange(heavier, heaviest))
    after = rows(two), two.get("paint")
    taken = two.undo(first)
    (moved,) = [row for row in two.store.rows("default", LinkRow) if row.relation == "next"]
    assert moved.weight == pytest.approx(link.weight + 0.02)
    (left,) = two.store.rows("default", MemoryRow, ids=[row.id])
    assert (left.weight, left.uses, left.helped, left.recent) == (
        *(pytest.approx(row.weight + 0.02), 1, 1, (later,)),
    )
    two.undo(taken.id)
    assert (rows(two), two.get("paint")) == after
    two.undo(first)
    two.undo(second)
    (gone,) = two.store.rows("default", MemoryRow, ids=[row.id])
    assert (gone.weight, gone.uses, gone.recent) == (pytest.approx(row.weight), 0, ())


def test_a_link_to_a_removed_memory_is_not_restored(memory):
    first = memory.remember("We paint walls.", key="paint").operation
    rule = memory.learn("Use brushes for walls.")
    memory.deprecate("paint", by=rule.key)
    (learnt,) = [entry for entry in memory.log() if entry.kind == "learn"]
    taken_back = memory.undo(learnt.id)
    gone = memory.undo(first)
    before = rows(memory)
    with pytest.raises(Conflict, match=rf"operation {gone.id} \(undo\) removed a memory .*: undo that first"):
        memory.undo(taken_back.id)
    assert rows(memory) == before
    memory.undo(gone.id)
    memory.undo(taken_back.id)
    assert [link.target for link in memory.links("paint", relation="deprecated-to")] == [rule.key]
    assert memory.validate() == []


def test_the_working_set_of_another_process_ignores_learning_rows(two, open_memory, url, clock):
    other = open_memory(url)
    assert [hit.memory.key for hit in other.recall("walls", limit=1).hits] == ["paint"]
    run = RunRow("run", "s", clock.at, shown=tuple(ends(two)))
    done = write(two, "feedback", verdict(two, "f"), pair(two, clock.at), run, operation_id="f")
    assert [hit.memory.key for hit in other.recall("walls", limit=1).hits] == ["paint"]
    other.undo(done)
    assert [hit.memory.key for hit in two.recall("walls", limit=1).hits] == ["paint"]
    assert other.working(clock.at).head == two.store.head("default")


def test_the_log_names_learning_rows(two, clock):
    run = RunRow("run", "s", clock.at, shown=tuple(ends(two)))
    write(two, "feedback", verdict(two, "f"), pair(two, clock.at), run, operation_id="f")
    first, second = sorted(("paint", "sing"), key=lambda key: two.get(key).id)
    changes = [(change.table, change.key) for change in two.log(limit=1)[0].changes]
    assert changes == [("verdicts", "paint"), ("pairs", f"{first} + {second}"), ("runs", "run")]
    assert two.log(key="sing", limit=1)[0].id == "f"
