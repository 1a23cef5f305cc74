from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Conflict, FixedClock, HashedEmbedder, Memory, NotFound, ParamError
from priming.serialization import encode_row
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def two(memory, clock):
    """A link of weight .5 between two memories, an hour ago."""
    memory.remember("we paint walls", key="a")
    memory.remember("the sea is cold", key="b")
    memory.link("a", "b", "requires", 0.5)
    clock.at += HOUR
    return memory


def learn(memory, source, *weights):
    """Move the one link of the namespace, as operations of a source; their ids."""
    new = []
    for weight in weights:
        with memory.writing() as now:
            (row,) = memory.store.rows(memory.namespace, LinkRow)
            moved = LinkRow(row.source, row.target, row.relation, weight, row.created_at, row.given)
            new.append(memory.write("feedback", now, [RowChange(row, moved)], source=source).id)
    return new


def rows(memory):
    """Everything that the namespace holds."""
    store = memory.store
    memories = store.rows("default", MemoryRow)
    versions = [item for row in memories for item in store.rows("default", VersionRow, ids=[row.id])]
    return sorted(repr(encode_row(row)) for row in (*memories, *versions, *store.rows("default", LinkRow)))


def marks(memory):
    """Which operations count as undone, and by which."""
    return {entry.id: entry.undone_by for entry in memory.log(limit=1000)}


def weight(memory):
    (link,) = memory.links()
    return link.weight


def test_all_operations_since_a_time_are_undone_as_one_operation(two, clock):
    before = rows(two)
    new = [two.set_strength("a", "b", 0.7).id, two.set_strength("a", "b", 0.9).id]
    two.remember("bread rises slowly", key="c")
    two.forget("a")
    count = two.stats().operations
    done = two.rollback(since=clock.at)
    assert (done.kind, done.message) == ("rollback", "rolled back 4 operations")
    assert rows(two) == before
    assert two.stats().operations == count + 1
    assert [entry.undone_by for entry in two.log(limit=5)] == [None, *[done.id] * 4]
    assert [entry.undone_by for entry in two.log()[5:]] == [None] * 3
    assert {marks(two)[item] for item in new} == {done.id}
    assert two.validate() == []
    assert [hit.memory.key for hit in two.recall("we paint walls", limit=1).hits] == ["a"]


def test_an_undo_of_the_rollback_restores_all_rows_and_operations(two, clock):
    two.set_strength("a", "b", 0.9)
    two.remember("Zed sails to Oslo", key="c", session="s")
    two.supersede("b", "the sea is warm")
    after, counted = rows(two), marks(two)
    done = two.rollback(since=clock.at)
    undone = two.undo(done.id)
    assert rows(two) == after
    assert marks(two) == {**counted, done.id: undone.id, undone.id: None}
    assert [hit.memory.key for hit in two.recall("Zed sails to Oslo", limit=1).hits] == ["c"]
    again = two.rollback(since=clock.at)
    assert again.message == "rolled back 3 operations"
    assert two.validate() == []


def test_since_is_inclusive(two, clock):
    two.set_strength("a", "b", 0.9)
    with pytest.raises(Conflict, match="nothing was done since"):
        two.rollback(since=clock.at + timedelta(microseconds=1))
    assert two.rollback(since=clock.at).message == "rolled back 1 operation"


def test_only_the_operations_of_a_source_are_undone(two):
    learn(two, "automatic", 0.50001, 0.50002)
    two.remember("bread rises slowly", key="c")
    done = two.rollback(since=NOW, source="automatic")
    assert done.message == "rolled back 2 operations"
    assert weight(two) == 0.5
    assert two.get("c").content == "bread rises slowly"
    with pytest.raises(Conflict, match="nothing was done by the source 'automatic' since 2024-05-17"):
        two.rollback(since=NOW, source="automatic")


def test_the_steps_of_a_source_are_taken_back_whatever_came_between_and_after(two, clock):
    learn(two, "automatic", 0.50001)
    learn(two, "conscious", 0.51001)
    learn(two, "automatic", 0.51002)
    learn(two, "conscious", 0.50002)
    judged, counted = rows(two), marks(two)
    planned = two.rollback(since=clock.at, source="automatic", dry_run=True)
    assert (planned.id, planned.message) == ("", "would roll back 2 operations")
    assert [(change.before["weight"], change.after["weight"]) for change in planned.changes] == [
        (0.50002, pytest.approx(0.5))
    ]
    assert (rows(two), marks(two)) == (judged, counted)
    done = two.rollback(since=clock.at, source="automatic")
    assert weight(two) == pytest.approx(0.5)
    two.undo(done.id)
    assert (rows(two), weight(two)) == (judged, 0.50002)
    two.rollback(since=clock.at)
    assert weight(two) == 0.5


def test_a_step_is_taken_back_within_the_bounds(two):
    (up,) = learn(two, "conscious", 0.94)
    learn(two, "automatic", 0.06)
    two.undo(up)
    assert weight(two) == 0.05


def test_only_what_lies_before_until_is_rolled_back(two, clock):
    for moved in (0.51, 0.52, 0.54):
        learn(two, "conscious", moved)
        clock.at += HOUR
    span = {"since": NOW + HOUR, "until": NOW + 3 * HOUR}
    assert [item.message for item in (two.rollback(**span, dry_run=True),)] == [
        "would roll back 2 operations"
    ]
    assert len(two.would_undo(**span)) == 2
    two.rollback(**span, source="conscious")
    assert weight(two) == pytest.approx(0.52)
    with pytest.raises(
        Conflict, match=r"nothing was done since 2024-05-17T10:30.* and before 2024-05-17T12:30"
    ):
        two.rollback(**span)
    with pytest.raises(ParamError, match=r"until = .*: must be after since"):
        two.rollback(since=NOW + HOUR, until=NOW)
    with pytest.raises(ParamError, match="dry_run = 'no': must be true or false"):
        two.rollback(since=NOW, dry_run="no")


def test_a_run_that_went_on_after_the_span_stays(two, clock):
    start = clock.at
    run = two.run_start("s")
    learn(two, "automatic", 0.51)
    clock.at += HOUR
    two.run_end(run.id)
    two.rollback(since=start, until=clock.at, source="automatic")
    assert weight(two) == 0.5
    assert [item.id for item in two.run_list()] == [run.id]


def test_a_link_that_one_source_made_and_another_moved_stays(two, clock):
    with two.writing() as now:
        a, b = (row.id for row in two.store.rows("default", MemoryRow))
        born = LinkRow(a, b, "co-activated", 0.1, now)
        two.write("feedback", now, [RowChange(None, born)], source="automatic")
    two.set_strength("a", "b", 0.9, relation="co-activated")
    (verdict, *_) = two.log()
    with pytest.raises(Conflict, match=f"operation {verdict.id} \\(set-strength\\)"):
        two.rollback(since=clock.at, source="automatic")
    assert [link.weight for link in two.links("a", relation="co-activated")] == [0.9]


def test_an_undone_operation_is_skipped_with_its_undo(two, clock):
    two.set_strength("a", "b", 0.6)
    wrong = two.set_strength("a", "b", 0.9)
    undo = two.undo(wrong.id)
    rest = two.set_strength("a", "b", 0.7)
    assert [item.id for item in two.would_undo(since=clock.at)] == [rest.id, two.log()[3].id]
    done = two.rollback(since=clock.at)
    assert done.message == "rolled back 2 operations"
    assert weight(two) == 0.5
    assert (marks(two)[wrong.id], marks(two)[undo.id]) == (undo.id, None)


def test_a_redone_operation_is_rolled_back(two, clock):
    done = two.set_strength("a", "b", 0.9)
    redone = two.undo(two.undo(done.id).id)
    assert [item.id for item in two.would_undo(since=clock.at)] == [done.id]
    rolled = two.rollback(since=clock.at)
    assert weight(two) == 0.5
    assert marks(two)[done.id] == rolled.id
    two.undo(rolled.id)
    assert weight(two) == 0.9
    assert (marks(two)[done.id], marks(two)[redone.id]) == (None, None)


def test_an_undo_of_an_earlier_operation_is_rolled_back_too(two, clock):
    (linked,) = [entry for entry in two.log() if entry.kind == "link"]
    two.undo(linked.id)
    assert two.links() == []
    two.rollback(since=clock.at)
    assert weight(two) == 0.5
    assert marks(two)[linked.id] is None


def test_a_rollback_of_a_part_of_what_an_earlier_one_undid(two, clock):
    first = two.set_strength("a", "b", 0.6)
    clock.at += HOUR
    second = two.set_strength("a", "b", 0.7)
    earlier = two.rollback(since=NOW + HOUR)
    assert weight(two) == 0.5
    later = two.rollback(since=NOW + 2 * HOUR)
    assert weight(two) == 0.6
    assert (marks(two)[first.id], marks(two)[second.id], marks(two)[earlier.id]) == (None, later.id, later.id)
    two.undo(later.id)
    assert weight(two) == 0.5
    assert (marks(two)[first.id], marks(two)[second.id]) == (earlier.id, earlier.id)


def test_a_purge_cannot_be_rolled_back_and_is_named(two, clock):
    two.remember("bread rises slowly", key="c")
    two.set_strength("a", "b", 0.9)
    receipt = two.purge("c")
    done = two.rollback(since=clock.at)
    assert done.message == (f"rolled back 1 operation; left what cannot be undone: purge {receipt.operation}")
    assert weight(two) == 0.5
    assert marks(two)[receipt.operation] is None
    clock.at += HOUR
    two.purge("b")
    with pytest.raises(Conflict, match="nothing was done"):
        two.rollback(since=clock.at)


def test_a_key_that_another_memory_took_since_goes_back_with_it(two, clock):
    old = two.get("b").id
    (second,) = [entry for entry in two.log(key="b") if entry.kind == "remember"]
    two.undo(second.id)
    two.remember("the sea is warm", key="b")
    two.rollback(since=clock.at)
    assert (two.get("b").id, two.get("b").content) == (old, "the sea is cold")
    assert two.validate() == []


def test_a_rollback_restores_the_text_of_a_version(two, clock):
    two.supersede("b", "the sea is warm")
    (done, *_) = two.log()
    clock.at += HOUR
    before = rows(two)
    two.undo(done.id)
    two.supersede("b", "the sea is frozen")
    after = rows(two)
    rolled = two.rollback(since=clock.at)
    assert rows(two) == before
    assert two.get("b").content == "the sea is warm"
    assert two.recall("warm").hits[0].memory.content == "the sea is warm"
    two.undo(rolled.id)
    assert rows(two) == after
    assert two.validate() == []


def test_a_rollback_holds_after_reopening_and_in_an_export(open_memory, url, clock, tmp_path):
    memory = open_memory(url)
    memory.remember("we paint walls", key="a")
    clock.at += HOUR
    memory.remember("the sea is cold", key="b")
    done = memory.rollback(since=clock.at)
    memory.close()
    memory = open_memory(url)
    memory.export(tmp_path / "all.jsonl")
    other = open_memory()
    other.import_(tmp_path / "all.jsonl")
    for item in (memory, other):
        assert [row.key for row in item.list()] == ["a"]
        assert item.log()[1].undone_by == done.id
        item.undo(done.id)
        assert [row.key for row in item.list()] == ["a", "b"]
        assert item.log()[2].undone_by is None


@each_row(
    ("arguments", "name"),
    [
        ({"since": datetime(2024, 5, 17)}, "since"),
        ({"since": None}, "since"),
        ({"since": NOW, "source": "mine"}, "source"),
    ],
)
def test_bad_arguments_of_a_rollback_are_named(two, arguments, name):
    count = two.stats().operations
    for ask in (two.rollback, two.would_undo):
        with pytest.raises(ParamError, match=name):
            ask(**arguments)
    assert two.stats().operations == count


def test_nothing_is_rolled_back_in_a_namespace_without_a_log(memory, open_memory):
    for empty in (memory, open_memory(namespace="elsewhere")):
        assert empty.would_undo(since=NOW) == []
        planned = empty.rollback(since=NOW, dry_run=True)
        assert (planned.changes, planned.message) == ((), empty.empty_reason())
        with pytest.raises(Conflict, match="nothing was done"):
            empty.rollback(since=NOW)


def step(memory, deed, a, b, weight):
    """One deed of a random life; what is refused changes nothing."""
    keys = [record.key for record in memory.list(kinds=["episode", "entity"], status=None, limit=1000)] or [
        "none"
    ]
    first, second = keys[a % len(keys)], keys[b % len(keys)]
    log = memory.log(limit=1000)
    deeds = {
        "remember": lambda: memory.remember(f"Zed{a} saw Oslo{b % 3}.", key=f"k{a % 5}", session=f"s{b % 2}"),
        "link": lambda: memory.link(first, second, "near", weight),
        "set": lambda: memory.set_strength(first, second, weight),
        "forget": lambda: memory.forget(first),
        "supersede": lambda: memory.supersede(first, f"Zed{b} left Oslo{a % 3}."),
        "undo": lambda: memory.undo(log[a % len(log)].id),
        "rollback": lambda: memory.rollback(since=log[a % len(log)].at),
    }
    with suppress(Conflict, NotFound, ParamError):
        deeds[deed]()


DEEDS = st.sampled_from(["remember", "link", "set", "forget", "supersede", "undo", "undo", "rollback"])
LIFE = st.lists(
    st.tuples(DEEDS, st.integers(0, 20), st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=20
)
EMBEDDER = HashedEmbedder(64)


@settings(max_examples=settings.default.max_examples // 4)
@given(LIFE, st.integers(0, 100))
def test_a_rollback_of_all_since_a_time_is_the_state_before_and_its_undo_the_state_after(life, which):
    clock = FixedClock(NOW)
    with Memory.open("sqlite://", embedder=EMBEDDER, clock=clock) as memory:
        memory.remember("Zed saw Oslo.", session="s0")
        states = []
        for deed in life:
            clock.at += HOUR
            states.append((clock.at, rows(memory), marks(memory)))
            step(memory, *deed)
        at, before, counted = states[which % len(states)]
        after, last = rows(memory), marks(memory)
        clock.at += HOUR
        if before == after:
            with pytest.raises(Conflict, match="nothing was done"):
                memory.rollback(since=at)
            return
        done = memory.rollback(since=at)
        assert rows(memory) == before
        assert {item: by for item, by in marks(memory).items() if item in counted} == counted
        undone = memory.undo(done.id)
        assert rows(memory) == after
        assert marks(memory) == {**last, done.id: undone.id, undone.id: None}
        assert memory.validate() == []


def test_verdicts_and_runs_are_rolled_back_each_by_its_source(memory, clock):
    for key, text in (("a", "Zed paints walls in Oslo."), ("b", "Then he slept."), ("c", "Zed sails.")):
        memory.remember(text, key=key, session="s")
    clock.at += HOUR
    before = rows(memory)
    recall = memory.recall("Zed paints Oslo", floor=0)
    memory.feedback(recall.recall_id, used=["b"], not_relevant=["c"])
    judged = rows(memory)
    run = memory.run_start("x")
    memory.recall("Zed sails", session="x", floor=0)
    memory.run_end(run.id, used=True)
    assert {event.source for event in memory.events(since=clock.at)} == {"conscious", "automatic"}
    learnt = rows(memory)
    assert learnt != judged != before
    memory.rollback(since=clock.at, source="automatic")
    assert rows(memory) == judged
    done = memory.rollback(since=clock.at, source="conscious")
    assert rows(memory) == before
    assert memory.validate() == []
    memory.undo(done.id)
    assert rows(memory) == judged
    # The verdicts stand again: said once more, they move nothing.
    memory.feedback(recall.recall_id, used=["b"], not_relevant=["c"])
    assert rows(memory) == judged
