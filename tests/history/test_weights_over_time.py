from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Conflict, FixedClock, HashedEmbedder, Memory, NotFound, ParamError
from priming.config import profiles
from priming.history import weights_over_time
from priming.history.weights_over_time import StrengthEvent, links_at
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.storage.sqlite.store import SqliteStore

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
TEXTS = {
    "a": "we paint walls.",
    "b": "the sea is cold.",
    "c": "bread rises slowly.",
    "d": "nobody reads maps.",
    "e": "rain fell yesterday.",
    "f": "trains run late.",
    "g": "old clocks tick.",
    "h": "green tea helps.",
}


@pytest.fixture
def two(memory):
    """A memory with two memories in it that nothing links."""
    return fill(memory, "ab")


def fill(memory, keys):
    """Remember texts that have nothing in common."""
    memory.remember_many([{"content": TEXTS[key], "key": key} for key in keys])
    assert memory.links() == []
    return memory


def pull(memory, source, *weights):
    """Move the one link of the namespace to each of some weights, as operations of a source."""
    for weight in weights:
        with memory.writing() as now:
            (row,) = memory.store.rows(memory.namespace, LinkRow)
            moved = LinkRow(row.source, row.target, row.relation, weight, row.created_at, row.given)
            memory.write("feedback", now, [RowChange(row, moved)], source=source, reason=f"to {weight}")


# Events


def test_every_move_of_a_link_is_an_event_with_its_reason_and_source(two, clock):
    two.link("a", "b", "requires", 0.4)
    clock.at += HOUR
    pull(two, "conscious", 0.5)
    (moved,) = two.log(limit=1)
    event, new = two.events()
    assert event == StrengthEvent(
        ts=clock.at,
        event="strength_adjust",
        source="conscious",
        edge=("a", "requires", "b"),
        old=0.4,
        new=0.5,
        delta=0.5 - 0.4,
        reason="to 0.5",
        operation=moved.id,
    )
    assert (new.event, new.source, new.old, new.new, new.delta) == (
        "link_made",
        "manual",
        None,
        0.4,
        0.4,
    )


def test_what_is_undone_stays_in_the_events_beside_its_undo(two):
    two.link("a", "b", "requires", 0.4)
    (new, *_) = two.log()
    done = two.set_strength("a", "b", 0.9)
    two.undo(done.id)
    two.undo(new.id)
    assert [(event.event, event.old, event.new, event.delta, event.source) for event in two.events()] == [
        ("link_removed", 0.4, None, -0.4, None),
        ("strength_adjust", 0.9, 0.4, 0.4 - 0.9, None),
        ("strength_adjust", 0.4, 0.9, 0.9 - 0.4, "manual"),
        ("link_made", None, 0.4, 0.4, "manual"),
    ]
    assert two.events()[1].reason == "undid a set-strength"


def test_a_memory_whose_weight_moves_is_an_event_and_one_that_is_made_is_none(two):
    (row, _) = two.store.rows("default", MemoryRow)
    assert two.events() == []
    with two.writing() as now:
        two.write("feedback", now, [RowChange(row, _with_weight(row, 0.6))], source="conscious")
    (event,) = two.events()
    assert (event.event, event.edge, event.old, event.new) == ("node_adjust", ("a",), 0.5, 0.6)
    two.forget("a")
    assert two.events() == [event]


def _with_weight(row, weight):
    return type(row)(row.id, row.key, row.kind, weight=weight)


def test_an_operation_that_moves_no_weight_is_no_event(two):
    two.link("a", "b", "requires", 0.4)
    two.link("a", "b", "requires", 0.4)
    two.supersede("a", "We paint windows.")
    assert [event.event for event in two.events()] == ["link_made"]


def test_events_are_narrowed_by_key_time_and_source(two, clock):
    two.remember("A third one.", key="c")
    two.link("a", "b", "requires", 0.4)
    clock.at += HOUR
    two.link("b", "c", "requires", 0.2)
    clock.at += HOUR
    two.undo(two.log(limit=1)[0].id)

    def answer(**narrowed):
        return [(event.event, event.edge[0]) for event in two.events(**narrowed)]

    assert answer() == [("link_removed", "b"), ("link_made", "b"), ("link_made", "a")]
    assert answer(key="a") == [("link_made", "a")]
    assert answer(key="c") == [("link_removed", "b"), ("link_made", "b")]
    assert answer(since=NOW + HOUR) == [("link_removed", "b"), ("link_made", "b")]
    assert answer(until=NOW + HOUR) == [("link_made", "a")]
    assert answer(since=NOW + HOUR, until=NOW + 2 * HOUR) == [("link_made", "b")]
    assert answer(source="manual") == [("link_made", "b"), ("link_made", "a")]
    assert answer(limit=1) == [("link_removed", "b")]
    assert answer(source="automatic") == []


def test_events_of_a_memory_are_only_those_of_its_own_links(memory):
    memory.remember_many([{"content": f"note {i}", "key": f"n{i}", "session": "s"} for i in range(4)])
    assert memory.events(key="n0")
    assert all("n0" in event.edge for event in memory.events(key="n0"))


def test_events_of_a_memory_that_is_gone_still_name_it(two):
    third = two.remember("A third one.", key="c", session="s")
    two.undo(third.operation)
    assert {event.edge for event in two.events()} == {("c", "part-of", "session:s")}


def test_a_limit_is_kept_across_the_pages_of_a_long_log(two):
    two.link("a", "b", "requires", 0.1)
    pull(two, "conscious", *(0.1 + i / 1000 for i in range(1, 150)))
    assert len(two.events()) == 150
    assert [event.new for event in two.events(limit=130)] == [0.1 + i / 1000 for i in range(149, 19, -1)]


class Counting(SqliteStore):
    """A store that counts the operations that are read from its log."""

    read = 0

    def operations(self, *args, **narrowed):
        result = super().operations(*args, **narrowed)
        self.read += len(result)
        return result


def test_only_as_much_of_the_log_is_read_as_a_question_needs(embedder, clock):
    store = Counting(None)
    with Memory(store, "default", embedder, clock, profiles.get("priming")) as memory:
        fill(memory, "ab")
        memory.link("a", "b", "requires", 0.1)
        pull(memory, "conscious", *(0.1 + i / 1000 for i in range(1, 300)))
        clock.at += HOUR
        pull(memory, "conscious", 0.9)
        for ask in (lambda: memory.events(limit=10), lambda: memory.links(known_at=NOW)):
            store.read = 0
            assert ask()
            assert 0 < store.read < 100


@each_row(
    ("arguments", "name"),
    [
        ({"since": datetime(2024, 5, 17)}, "since"),
        ({"until": "now"}, "until"),
        ({"source": "mine"}, "source"),
        ({"source": ""}, "source"),
        ({"limit": 0}, "limit"),
    ],
)
def test_bad_arguments_of_the_events_are_named(memory, arguments, name):
    with pytest.raises(ParamError, match=name):
        memory.events(**arguments)
    with pytest.raises(ParamError, match=name):
        memory.log(**arguments)


def test_events_of_an_unknown_memory_are_not_found(memory):
    with pytest.raises(NotFound):
        memory.events(key="nothing")


def test_a_namespace_without_memories_has_no_weights(open_memory):
    other = open_memory(namespace="elsewhere")
    assert [read() for read in (other.events, other.oscillating, other.normalize_strengths)] == [[], [], []]
    assert [each.links for each in other.strengths()] == [0]


# Strengths


def test_weights_are_counted_in_ten_bins_with_mean_and_median():
    result = weights_over_time.distribution(NOW, [0.0, 0.05, 0.1, 0.3, 0.6, 0.99, 1.0])
    assert result.bins == (2, 1, 0, 1, 0, 0, 1, 0, 0, 2)
    assert result.links == 7
    assert result.mean == pytest.approx(3.04 / 7)
    assert result.median == 0.3


@given(st.lists(st.floats(0, 1), max_size=30))
def test_every_weight_is_in_one_bin(weights):
    result = weights_over_time.distribution(NOW, weights)
    assert (sum(result.bins), len(result.bins), result.links) == (len(weights), 10, len(weights))
    assert (result.mean is None) == (result.median is None) == (not weights)


def test_strengths_are_those_of_the_given_time(two, clock):
    two.link("a", "b", "requires", 0.4)
    clock.at += HOUR
    two.set_strength("a", "b", 0.9)
    clock.at += HOUR
    two.link("b", "a", "mentions", 0.2)

    def means(**query):
        return [(strength.links, strength.mean) for strength in two.strengths(**query)]

    assert means() == [(2, pytest.approx(0.55))]
    assert means(at=NOW) == [(1, 0.4)]
    assert means(at=NOW + HOUR) == [(1, 0.9)]
    assert means(at=NOW - HOUR) == [(0, None)]
    assert means(over=3) == [(1, 0.4), (1, 0.9), (2, pytest.approx(0.55))]
    assert means(over=2, at=NOW + HOUR) == [(1, 0.4), (1, 0.9)]
    assert means(over=2, since=NOW + HOUR) == [(1, 0.9), (2, pytest.approx(0.55))]
    assert means(over=3, relation="mentions") == [(0, None), (0, None), (1, 0.2)]


def test_the_times_are_equally_spaced_up_to_the_last(two, clock):
    clock.at += 4 * HOUR
    result = two.strengths(over=5)
    assert [item.at for item in result] == [NOW + i * HOUR for i in range(5)]
    assert [strength.at for strength in two.strengths(over=2, at=NOW - HOUR)] == [NOW - HOUR, NOW - HOUR]


def test_an_empty_memory_has_no_strengths(memory):
    (result,) = memory.strengths()
    assert (result.links, result.mean, result.median, result.bins) == (0, None, None, (0,) * 10)
    assert [strength.links for strength in memory.strengths(over=3)] == [0, 0, 0]


@each_row(
    ("arguments", "rule"),
    [
        ({"over": 0}, "over"),
        ({"over": 10**9}, "over"),
        ({"at": datetime(2024, 5, 17)}, "at"),
        ({"since": NOW}, "since = .*give over ≥ 2"),
        ({"since": NOW, "at": NOW - HOUR, "over": 2}, "since = .*must be ≤"),
        ({"relation": " "}, "relation"),
    ],
)
def test_bad_arguments_of_the_strengths_are_named(two, arguments, rule):
    with pytest.raises(ParamError, match=rule):
        two.strengths(**arguments)


# Oscillating


def test_a_link_moved_both_ways_oscillates(two):
    two.link("a", "b", "requires", 0.5)
    pull(two, "conscious", 0.6, 0.7, 0.4, 0.45)
    (result,) = two.oscillating()
    assert (result.source, result.relation, result.target) == ("a", "requires", "b")
    assert (result.turns, result.moves, result.weight) == (2, 4, 0.45)
    assert result.travelled == pytest.approx(0.1 + 0.1 + 0.3 + 0.05)
    assert result.net == pytest.approx(-0.05)
    assert two.oscillating(turns=3) == []


def test_undone_operations_do_not_count_as_turns(two):
    two.link("a", "b", "requires", 0.5)
    pull(two, "conscious", 0.6, 0.5, 0.6)
    assert [item.turns for item in two.oscillating()] == [2]
    undone = two.undo(two.log(limit=1)[0].id)
    assert two.oscillating() == []
    assert [item.turns for item in two.oscillating(turns=1)] == [1]
    two.undo(undone.id)
    assert [item.turns for item in two.oscillating()] == [2]


def test_links_with_most_turns_come_first_and_since_limits_the_log(memory, clock):
    fill(memory, "abc")
    memory.link("a", "b", "requires", 0.5)
    for weight in (0.6, 0.5, 0.6):
        memory.set_strength("a", "b", weight)
    clock.at += HOUR
    memory.link("b", "c", "requires", 0.5)
    for weight in (0.6, 0.5, 0.6, 0.5):
        memory.set_strength("c", "b", weight)
    assert [(item.target, item.turns) for item in memory.oscillating()] == [("c", 3), ("b", 2)]
    assert [item.target for item in memory.oscillating(limit=1)] == ["c"]
    assert [item.target for item in memory.oscillating(since=clock.at)] == ["c"]


def test_a_removed_link_may_have_oscillated(two):
    two.link("a", "b", "requires", 0.5)
    (new, *_) = two.log()
    pull(two, "automatic", 0.6, 0.5, 0.6)
    two.undo(new.id)
    (result,) = two.oscillating()
    assert (result.turns, result.weight) == (2, None)


@each_row("arguments", [{"turns": 0}, {"limit": 0}, {"since": datetime(2024, 5, 17)}])
def test_bad_arguments_of_oscillating_are_named(memory, arguments):
    with pytest.raises(ParamError, match=next(iter(arguments))):
        memory.oscillating(**arguments)


# As of


def test_links_are_returned_as_they_were(two, clock):
    clock.at += HOUR
    two.link("a", "b", "requires", 0.4)
    clock.at += HOUR
    two.set_strength("a", "b", 0.9)

    def weights(at, *key, **narrowed):
        return [link.weight for link in two.links(*key, known_at=at, **narrowed)]

    assert weights(NOW) == weights(NOW + HOUR - timedelta(microseconds=1)) == []
    assert weights(NOW + HOUR) == weights(NOW + HOUR, "a") == weights(NOW + HOUR, "b") == [0.4]
    assert weights(NOW + 2 * HOUR) == weights(NOW + 999 * HOUR) == [0.9]
    assert weights(NOW + HOUR, relation="mentions") == []
    assert weights(NOW - HOUR) == []


def test_a_memory_that_came_later_has_no_links_then_and_an_unknown_one_is_not_found(two, clock):
    clock.at += HOUR
    two.remember("Zed sails.", key="c", session="s")
    assert two.links("c")
    assert two.links("c", known_at=NOW) == []
    with pytest.raises(NotFound):
        two.links("d", known_at=NOW)
    with pytest.raises(ParamError, match="known_at"):
        two.links(known_at=datetime(2024, 5, 17))


def test_a_memory_removed_by_an_undo_is_in_the_past_under_its_key(two, clock):
    third = two.remember("Zed sails.", key="c", session="s")
    clock.at += HOUR
    two.undo(third.operation)
    assert two.links() == []
    assert {(link.source, link.target) for link in two.links(known_at=NOW)} == {
        ("c", "session:s"),
        ("c", "entity:zed"),
    }


def test_purged_links_are_gone_from_the_past_too(two, clock):
    two.link("a", "b", "requires", 0.4)
    clock.at += HOUR
    two.purge("b")
    assert two.links(known_at=NOW) == []
    assert two.events() == []


def test_a_clock_that_was_set_back_still_asks_for_a_state_that_was(two, clock):
    clock.at += 2 * HOUR
    two.link("a", "b", "requires", 0.4)
    clock.at -= HOUR
    two.set_strength("a", "b", 0.9)
    assert [link.weight for link in two.links(known_at=clock.at)] == [0.9]


def test_the_past_is_the_same_in_the_export_of_a_memory(two, clock, open_memory, tmp_path):
    two.link("a", "b", "requires", 0.4)
    clock.at += HOUR
    two.set_strength("a", "b", 0.9)
    two.export(tmp_path / "all.jsonl")
    other = open_memory()
    other.import_(tmp_path / "all.jsonl")
    assert other.links(known_at=NOW) == two.links(known_at=NOW) != other.links()
    assert other.events() == two.events()


def step(memory, deed, a, b, weight):
    """One deed of a random life; what is refused changes nothing."""
    keys = [record.key for record in memory.list(kinds=["episode", "entity"], status=None, limit=1000)] or [
        "none"
    ]
    first, second = keys[a % len(keys)], keys[b % len(keys)]
    log = memory.log(limit=1000)
    deeds = {
        "remember": lambda: memory.remember(f"Zed{a} saw Oslo{b % 3}.", session=f"s{b % 2}"),
        "link": lambda: memory.link(first, second, "near", weight),
        "set": lambda: memory.set_strength(first, second, weight),
        "forget": lambda: memory.forget(first),
        "supersede": lambda: memory.supersede(first, f"Zed{b} left Oslo{a % 3}."),
        "undo": lambda: memory.undo(log[a % len(log)].id) if log else None,
    }
    with suppress(Conflict, NotFound, ParamError):
        deeds[deed]()


DEEDS = st.sampled_from(["remember", "link", "set", "forget", "supersede", "undo"])
LIFE = st.lists(
    st.tuples(DEEDS, st.integers(0, 20), st.integers(0, 20), st.floats(0, 1), st.integers(0, 2)),
    min_size=1,
    max_size=25,
)
EMBEDDER = HashedEmbedder(64)


@settings(max_examples=settings.default.max_examples // 4)
@given(LIFE)
def test_the_links_of_every_past_instant_are_those_read_then(life):
    clock = FixedClock(NOW)
    with Memory.open("sqlite://", embedder=EMBEDDER, clock=clock) as memory:
        memory.remember("Zed saw Oslo.", session="s0")
        then = {}
        for deed, a, b, weight, hours in life:
            clock.at += hours * HOUR
            step(memory, deed, a, b, weight)
            then[clock.at] = memory.links(), memory.store.rows("default", LinkRow)
        for at, (answer, rows) in then.items():
            assert by_name(memory.links(known_at=at)) == by_name(answer)
            assert by_name(links_at(memory, at)) == by_name(rows)
            (result,) = memory.strengths(at=at)
            assert result.links == len(answer)
        assert memory.links(known_at=NOW - HOUR) == []


def by_name(links):
    return sorted(links, key=lambda link: (link.source, link.relation, link.target))


# Normalising


@pytest.fixture
def ring(memory):
    """a and b share c; b and d share nothing but themselves; e hangs on a by a link that suppresses."""
    fill(memory, "abcde")
    for source, target, relation in (
        ("a", "b", "similar-to"),
        ("a", "c", "requires"),
        ("c", "b", "mentions"),
        ("b", "d", "similar-to"),
        ("a", "e", "conflicts"),
    ):
        memory.link(source, target, relation, 0.6)
    return memory


def moves(result):
    return {item.edge: (item.old, item.new) for item in result}


def test_weights_follow_the_overlap_of_the_neighbourhoods(ring):
    # a: {b, c}; b: {a, c, d}; without a and b: {c} and {c, d}, so J = 1/2 and 3J > 1.
    # b: {a, c, d}; d: {b}; without b and d: {a, c} and nothing, so J = 0.
    result = ring.normalize_strengths()
    assert moves(result) == {
        ("a", "similar-to", "b"): (0.6, 1.0),
        ("b", "similar-to", "d"): (0.6, 0.1),
    }
    assert {(item.event, item.source, item.operation) for item in result} == {
        ("strength_adjust", "manual", None)
    }


def test_an_overlap_of_less_than_a_third_counts_three_times(memory):
    fill(memory, "abcdefgh")
    memory.link("a", "b", "similar-to", 0.6)
    for source, target in (
        ("a", "c"),
        ("b", "c"),
        ("a", "d"),
        ("a", "e"),
        ("b", "f"),
        ("b", "g"),
        ("h", "b"),
    ):
        memory.link(source, target, "requires", 0.5)
    # {c, d, e} and {c, f, g, h}: 1 of 6.
    (result,) = memory.normalize_strengths()
    assert result.new == pytest.approx(0.5)


def test_a_dry_run_moves_nothing_and_applying_is_one_operation_that_can_be_undone(ring):
    before, head = ring.links(), ring.stats().operations
    proposed = ring.normalize_strengths()
    assert (ring.links(), ring.stats().operations) == (before, head)
    done = ring.normalize_strengths(apply=True)
    (operation, *_) = ring.log()
    assert moves(done) == moves(proposed)
    assert (operation.kind, operation.source) == ("normalize-strengths", "manual")
    assert {item.operation for item in done} == {operation.id}
    assert ring.events(limit=2) == done
    assert ring.normalize_strengths() == ring.normalize_strengths(apply=True) == []
    assert ring.stats().operations == head + 1
    ring.undo(operation.id)
    assert ring.links() == before


def test_only_links_of_relatedness_move_unless_a_relation_is_named(ring):
    assert {normalize_strength.edge[1] for normalize_strength in ring.normalize_strengths()} == {"similar-to"}
    # a: {b, c}, c: {a, b}, without a and c: {b} and {b}.
    assert moves(ring.normalize_strengths(relation="requires")) == {("a", "requires", "c"): (0.6, 1.0)}
    # A link that suppresses makes no neighbours: a: {b, c}, e: {}.
    assert moves(ring.normalize_strengths(relation="conflicts")) == {("a", "conflicts", "e"): (0.6, 0.1)}
    assert ring.normalize_strengths(relation="unknown") == []


@each_row("arguments", [{"relation": " "}, {"apply": "yes"}, {"apply": 1}])
def test_bad_arguments_of_normalising_are_named(ring, arguments):
    with pytest.raises(ParamError, match=next(iter(arguments))):
        ring.normalize_strengths(**arguments)


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), max_size=20))
def test_normalised_weights_are_in_range_and_found_again(links):
    with Memory.open("sqlite://", embedder=EMBEDDER, clock=FixedClock(NOW)) as memory:
        memory.remember_many([{"content": f"{i}", "key": f"m{i}"} for i in range(7)])
        for a, b, alike in links:
            if a != b:
                memory.link(f"m{a}", f"m{b}", "similar-to" if alike else "requires", 0.5)
        memory.normalize_strengths(apply=True)
        assert all(0.1 <= link.weight <= 1 for link in memory.links(relation="similar-to"))
        assert memory.normalize_strengths() == []
