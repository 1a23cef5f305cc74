"""Where an answer ends by default: it depends on all hits, on the cue, and on what the best hit leads to."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming import Memory
from priming.config.params.recall import RelevanceParams
from priming.recall.fusion import breadth, least_worth, recall_weight
from priming.recall.relevance.hits import Judged, led_to

LAW = RelevanceParams(recall_weight=8.0, alike=0.3, broad=40.0, few=200, spoken=1.5)


def expected_measure(returned, every, weight):
    """The F-measure of some hits, with probabilities in place of what is right, written from its definition."""
    return (1 + weight) * sum(returned) / (weight * sum(every) + len(returned))


@given(st.lists(st.floats(0.031, 1.0), min_size=1, max_size=6))
def test_what_is_returned_has_the_best_expected_measure_of_all_choices(values):
    least = least_worth(np.array(values), 8.0, 0.03)
    ours = [value for value in values if value >= least]
    choices = itertools.chain.from_iterable(
        itertools.combinations(values, size) for size in range(1, len(values) + 1)
    )
    best = max(expected_measure(choice, values, 8.0) for choice in choices)
    assert expected_measure(ours, values, 8.0) == pytest.approx(best)


@pytest.mark.parametrize("level", [0.03, 0.2, 0.9])
def test_hits_that_are_all_alike_are_all_returned(level):
    assert least_worth(np.full(20, level), 8.0, 0.03) <= level


def test_the_surer_the_best_hit_the_more_another_has_to_be_worth():
    others = [0.05] * 9
    ends = [least_worth(np.array([best, *others]), 8.0, 0.0) for best in (0.1, 0.3, 0.6, 0.95)]
    assert ends == sorted(ends)
    assert ends[0] < 0.05 < ends[-1]


def test_the_order_of_the_hits_does_not_matter():
    values = np.array([0.05, 0.8, 0.01, 0.3])
    assert least_worth(values, 16.0, 0.0) == least_worth(np.sort(values), 16.0, 0.0)


def test_a_broad_cue_gets_more():
    values = np.array([0.5, 0.1, 0.06, 0.04, 0.025])
    returned = [
        int((values >= least_worth(values, recall_weight(broad, 5000, LAW), 0.0)).sum())
        for broad in (1.0, 2.0, 5.0)
    ]
    assert returned == sorted(returned)
    assert returned[0] < returned[-1] == 5


def test_in_a_small_store_recall_counts_more():
    assert [recall_weight(1.0, memories, LAW) for memories in (10_000, 200, 50, 2)] == [8.0, 8.0, 16.0, 80.0]


def test_nothing_is_returned_below_the_floor_however_improbable_all_are():
    assert least_worth(np.array([0.02, 0.01]), 8.0, 0.03) == 0.03


def test_no_hit_needs_none():
    assert least_worth(np.zeros(0), 8.0, 0.03) == 0.03


def test_the_breadth_rises_with_the_number_of_memories_that_match_alike():
    best, near, far = [10.0], [3.0] * 119, [2.9] * 10_000
    assert breadth(np.array([*best, *near, *far]), params=LAW) == pytest.approx(3.0**2)
    assert breadth(np.array([*best, *far]), params=LAW) == 1.0
    assert breadth(np.zeros(10_000), params=LAW) == breadth(np.zeros(0), params=LAW) == 1.0


def test_a_cue_to_a_conversation_is_a_little_broad_the_more_the_longer_it_is():
    for size, least in ((0, 1.0), (50, 1.125), (100, 1.25), (200, 1.5), (9_000, 1.5)):
        assert breadth(np.array([5.0]), spoken=size, params=LAW) == least
        assert breadth(np.zeros(0), spoken=size, params=LAW) == least
    assert breadth(np.full(80, 5.0), spoken=80, params=LAW) == 4.0


def test_unlike_material_beside_an_answer_does_not_lengthen_it():
    cue = "Who repaired the crane of the harbour that morning, north of the quay where the ship took coal?"
    words = itertools.combinations(("harbour", "coal", "ship", "north", "morning", "quay"), 2)
    with Memory.open("sqlite://") as memory:
        memory.remember("Elif repaired the crane of the harbour, north of the quay.", key="crane")
        memory.remember("Elif ordered a crane for the depot.", key="depot")
        for wagon in range(200):
            memory.remember(f"Wagon {wagon} waits for a brake at platform {wagon % 4}.")
        alone = memory.recall(cue)
        logs = zip(range(600), itertools.cycle(words), strict=False)
        memory.remember_many([{"content": f"Log {log}: {one} and {other}."} for log, (one, other) in logs])
        beside = memory.recall(cue)
    assert beside.floor == pytest.approx(alone.floor, rel=0.25)
    assert [hit.memory.key for hit in beside.hits] == [hit.memory.key for hit in alone.hits]


@pytest.mark.parametrize(
    ("shares", "left", "leads"),
    [
        ([0.0, 0.01, 0.004], 0.9, [1]),
        ([0.0, 0.01, 0.004], 0.1, []),
        ([0.0, 0.3, 0.02], 0.9, [1, 2]),
        ([0.0, 0.3, 0.02], 0.1, [1]),
        ([0.0, 0.3, 0.06], 0.1, [1, 2]),
        ([0.0, 0.0, 0.0], 0.9, []),
    ],
)
def test_the_less_a_hit_leaves_open_the_closer_is_what_it_leads_to(shares, left, leads):
    law = RelevanceParams(open=0.5, led=0.0065, led_well=0.0145, led_surely=0.05, led_near=0.5)
    chosen = led_to(np.array([0.6, 0.01, 0.01]), np.array(shares), left, law)
    assert np.flatnonzero(chosen).tolist() == leads


def test_a_given_floor_is_all_that_counts():
    judged = Judged(np.array([0.6, 0.05, 0.04]), np.array([False, True, False]), 0.2)
    assert judged.above(None).tolist() == [True, True, False]
    assert judged.above(0.045).tolist() == [True, True, False]
    assert judged.above(0.1).tolist() == [True, False, False]
    assert judged.above(0.0).tolist() == [True, True, True]


@pytest.fixture(scope="module")
def depot():
    with Memory.open("sqlite://") as memory:
        for wagon in range(30):
            memory.remember(
                f"Wagon {wagon} waits for a new brake at platform {wagon % 4}.", key=f"wagon-{wagon}"
            )
        memory.remember("Elif repaired the crane with a hydraulic pump from Izmir.", key="crane")
        yield memory


def test_a_cue_that_one_memory_meets_gets_that_one(depot):
    answer = depot.recall("who repaired the hydraulic crane?")
    assert [hit.memory.key for hit in answer.hits] == ["crane"]
    assert answer.floor is not None
    assert answer.floor < answer.hits[0].relevance


def test_a_cue_that_many_memories_meet_alike_gets_as_many_as_asked_for(depot):
    assert len(depot.recall("which wagon waits for a brake?").hits) == 10
    assert len(depot.recall("which wagon waits for a brake?", limit=3).hits) == 3


def test_the_answer_says_from_which_relevance_on_hits_were_returned(depot):
    answer = depot.recall("who repaired the hydraulic crane?", floor=0.02)
    assert answer.floor == 0.02
    assert depot.recall("which wagon?", kinds=["episode", "fact"]).floor == 0.0
    assert depot.recall("which wagon?", profile="ethos").floor is None


CAUSE = [
    (
        "Why could customers not pay by card?",
        "Card payments failed: customers could not pay as {} was silent.",
        "bluefin-gw",
    ),
    ("Why did the nightly export fail?", "The nightly export failed on {}.", "grebe-2"),
]


@pytest.mark.parametrize(("cue", "answer", "name"), CAUSE)
def test_in_a_small_store_an_answer_leads_on_over_a_name_in_four_memories(cue, answer, name):
    with Memory.open("sqlite://") as memory:
        for day in range(12):
            memory.remember(f"Lunch on day {day} was soup number {day * 3}.", key=f"lunch-{day}")
        memory.remember(answer.format(name), key="answer")
        memory.remember(f"{name} closes at 22:00 on Sundays.", key="hours")
        memory.remember(f"Marit looks after {name}.", key="owner")
        memory.remember(f"The contract on {name} ends in May.", key="contract")
        keys = {hit.memory.key for hit in memory.recall(cue).hits}
    assert keys == {"answer", "hours", "owner", "contract"}
