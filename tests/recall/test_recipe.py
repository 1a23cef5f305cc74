"""One score: a probability whose log-odds add up, which orders, is shown, and ends an answer (docs/recall.md)."""

import itertools
import math
import random
from dataclasses import replace
from datetime import timedelta
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Cue, FixedClock, Memory
from priming.config import profiles
from priming.config.params.recall import RelevanceParams
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.ranking import among_rivals, least_probability, probability, rivalry, shares

from .test_recall import NOW, WORDS, keys, story

odds = st.lists(st.floats(-30.0, 30.0), max_size=30).map(np.array)
chances = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6).map(np.array)
LAW = RelevanceParams(recall_weight=8.0, floor=0.03)

# Golden numbers, computed by hand


def test_the_probability_of_log_odds():
    assert probability(np.array([0.0, 1.0, -1.0, 3.0])) == pytest.approx(
        [0.5, 0.731059, 0.268941, 0.952574], abs=1e-6
    )
    assert probability(np.array([-np.inf, np.inf, -800.0, 800.0])).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_what_speaks_for_any_of_some_memories_and_for_none():
    assert rivalry(np.zeros(0)) == 0.0
    assert rivalry(np.array([0.0])) == pytest.approx(math.log(2))
    assert rivalry(np.array([1.0, 2.0])) == pytest.approx(2.407606, abs=1e-6)  # ln(1 + e + e²) = ln 11.107338
    assert rivalry(np.array([900.0, 900.0])) == pytest.approx(900.0 + math.log(2))


def test_an_anchor_has_its_share_beside_the_others_and_none():
    # At a temperature of ½, e² = 7.389056 and e⁰ = 1 beside the 1 for none: 7.389056/9.389056, 1/9.389056.
    assert shares(np.array([1.0, 0.0]), 0.5) == pytest.approx([0.786986, 0.106507], abs=1e-6)
    assert shares(np.array([-40.0]), 0.5)[0] < 1e-30  # where nothing matches nothing spreads


EVERY = np.ones(3, np.bool_)
ALONE = np.array([-1, -1, -1])


def rivalled(odds, arrived, leader, room=0.0):
    """The probabilities of three memories, λ = .5; ``room`` is what the third has beyond the first."""
    beyond = np.zeros((3, 1))
    beyond[2, 0] = room
    values = np.array(odds), np.array(arrived), np.array(leader)
    return among_rivals(*values, EVERY, 0.5, np.array([0]), beyond).tolist()


@pytest.mark.parametrize(("own", "bounded"), [(-3.0, True), (3.0, False)])
def test_a_continuation_is_no_surer_than_its_leader_unless_it_fits_better_by_itself(own, bounded):
    lead, led, _ = rivalled([1.0, own, -9.0], [-9.0, 5.0, -9.0], [-1, 0, -1])
    assert bool(led <= lead) == bounded


def test_a_memory_is_no_rival_of_another_as_far_as_that_has_more_of_the_cue():
    # Σ e^d = e² + e⁰ + e⁰ = 9.389056: σ(0 − ½·ln 10.389056) = .236787. The third has e² of room beyond the first:
    # 1 + e^(2 − 2) + 1 + 1 = 4, σ(−½·ln 4) = 1/3.
    odds, arrived = [2.0, 0.0, 0.0], [-np.inf] * 3
    assert rivalled(odds, arrived, ALONE) == pytest.approx([0.696276, 0.236787, 0.236787], abs=1e-6)
    assert rivalled(odds, arrived, ALONE, 2.0) == pytest.approx([0.696276, 0.236787, 1 / 3], abs=1e-6)


def test_rivals_of_a_continuation_are_other_continuations():
    # v = 0 alone: σ(0 − ½·ln 2) = .414214 beside nothing for its own sake; of two, σ(−½·ln 3) = .366025.
    odds = [2.0, 1.9, -40.0]
    alone = rivalled(odds, [-np.inf, -np.inf, 0.0], [-1, -1, 0])
    assert alone[2] == pytest.approx(0.414214, abs=1e-6)
    beside = among_rivals(
        np.array([2.0, -40.0, -40.0]),
        np.array([-np.inf, 0.0, 0.0]),
        np.array([-1, 0, 0]),
        EVERY,
        0.5,
        np.array([0]),
        np.zeros((3, 1)),
    )
    assert beside[1:].tolist() == pytest.approx([0.366025, 0.366025], abs=1e-6)


@pytest.mark.parametrize("vectors", ["wordllama", "auto"])
def test_the_later_version_of_a_fact_leads_by_far(open_memory, clock, vectors):
    memory = open_memory(embedder=vectors)
    memory.remember("The server listens on port 8080.", key="then")
    memory.remember("We paint the fence in May.", key="other")
    clock.at += timedelta(minutes=1)
    memory.remember("The server now listens on port 9090.", key="now")
    now, then = memory.recall("which port does the server use?").hits[:2]
    assert (now.memory.key, then.memory.key) == ("now", "then")
    assert now.score > 2 * then.score


def test_from_which_probability_on_a_hit_raises_the_expected_measure():
    # Σ = 1.2; β² = 8: .9/(9.6 + 1) = .0849, 1.1/(9.6 + 2) = .0948, 1.2/(9.6 + 3) = .0952 of which that is most.
    assert least_probability(np.array([0.9, 0.2, 0.1]), LAW) == pytest.approx(1.2 / 12.6)
    assert least_probability(np.array([0.9, 0.02, 0.02]), LAW) == pytest.approx(0.9 / 8.52)
    # .211/(1.688 + 10) = .0181: beside a best above the floor, others are worth returning below it.
    assert least_probability(np.array([0.031, *[0.02] * 9]), LAW) == pytest.approx(0.211 / 11.688)
    assert least_probability(np.array([0.02, 0.01]), LAW) == 0.03
    assert least_probability(np.zeros(0), LAW) == 0.03


@given(odds, st.floats(0.01, 5.0))
def test_what_anchors_share_leaves_some_for_none_and_keeps_their_order(values, temperature):
    result = shares(values, temperature)
    assert (result >= 0).all()
    assert result.sum() <= 1.0 + 1e-9
    assert (np.diff(result[np.argsort(values)]) >= 0).all()


def expected_measure(returned, every, weight):
    """The F-measure of some hits, with probabilities in place of what is right, written from its definition."""
    return (1 + weight) * sum(returned) / (weight * sum(every) + len(returned))


@given(chances)
def test_what_is_returned_has_the_best_expected_measure_of_all_choices(values):
    least = least_probability(values, replace(LAW, floor=0.0))
    returned = [value for value in values.tolist() if value >= least]
    choices = itertools.chain.from_iterable(
        itertools.combinations(values.tolist(), size) for size in range(1, len(values) + 1)
    )
    if values.sum() > 0:
        best = max(expected_measure(choice, values.tolist(), 8.0) for choice in choices)
        assert expected_measure(returned, values.tolist(), 8.0) == pytest.approx(best)


@given(chances)
def test_the_end_of_an_answer_does_not_depend_on_the_order_of_its_hits(values):
    assert least_probability(values, LAW) == least_probability(values[::-1], LAW)


@each_row("level", [0.03, 0.2, 0.9])
def test_hits_that_are_all_alike_are_all_returned(level):
    assert least_probability(np.full(20, level), LAW) <= level


def test_the_surer_the_best_hit_the_more_another_has_to_be_worth():
    ends = [
        least_probability(np.array([best, *[0.05] * 9]), replace(LAW, floor=0.0))
        for best in (0.1, 0.3, 0.6, 0.95)
    ]
    assert ends == sorted(ends)
    assert ends[0] < 0.05 < ends[-1]


# Any small store

CUES = (
    Cue("When did Zed play the banjo in May?"),
    Cue("violin and tuba", language="go"),
    Cue(language="rust"),
    Cue("Oslo"),
    Cue("is there a harp?"),
)
few = settings(max_examples=1 + settings.default.max_examples // 20)


def reply(embedder, seed, count=30):
    """A small store with sessions, titles, times, names, predicates, a link by hand, and verdicts."""
    rng, clock = random.Random(seed), FixedClock(NOW)
    memory = Memory.open("sqlite://", embedder=embedder, clock=clock)
    memory.remember_many(story(rng, count))
    for speaker, text in (("Ada", "Who has the tuba?"), ("Bob", "Zed has it."), ("Ada", "And the lute?")):
        memory.remember(text, speaker=speaker, session="a")
    item, other = rng.sample(memory.list(limit=100, kinds=["episode", "fact", "procedure"]), 2)
    memory.link(item.key, other.key, "requires", 0.7)
    recall = memory.recall("the violin of Zed", floor=0)
    if len(recall.hits) > 1:
        shown = [hit.memory.key for hit in recall.hits]
        memory.feedback(recall.recall_id, used=shown[:1], not_relevant=shown[-1:])
    clock.at += timedelta(days=3)
    return memory


@few
@given(st.integers(0, 10**6))
def test_the_components_add_up_to_the_log_odds_of_the_score_and_hits_fall_by_it(embedder, seed):
    with reply(embedder, seed) as memory:
        for cue in CUES:
            for more in (
                {},
                {"spread": False},
                {"kinds": ["episode", "entity"]},
                {"ablate": ["words", "rest"]},
            ):
                answer = memory.recall(cue=cue, limit=40, floor=0, **more)
                scores = [hit.score for hit in answer.hits]
                assert scores == sorted(scores, reverse=True)
                assert answer.confidence == (scores[0] if scores else None)
                for hit in answer.hits:
                    assert 0.0 <= hit.score <= 1.0
                    assert hit.relevance == hit.score
                    summed = math.fsum(hit.components.values())
                    assert hit.score == pytest.approx(1 / (1 + math.exp(-summed)), abs=1e-9)
                    assert hit.distance == len(hit.path)
                    ends = [(step.source, step.target) for step in hit.path]
                    assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
                    assert not ends or ends[-1][1] == hit.memory.key


@few
@given(st.integers(0, 10**6))
def test_without_spreading_and_room_hits_stand_in_the_order_of_what_speaks_for_each(embedder, seed):
    with reply(embedder, seed) as memory:
        for cue in CUES:
            hits = memory.recall(cue=cue, limit=40, floor=0, spread=False, ablate=["rest"]).hits
            assert all("arrival" not in hit.components and not hit.path for hit in hits)
            direct = [
                math.fsum(value for name, value in hit.components.items() if name != "rivals") for hit in hits
            ]
            assert direct == pytest.approx(sorted(direct, reverse=True), abs=1e-9)


@few
@given(st.integers(0, 10**6))
def test_what_arrives_over_links_only_ever_adds(embedder, seed):
    with reply(embedder, seed) as memory:
        for cue in CUES:
            for hit in memory.recall(cue=cue, limit=40, floor=0).hits:
                assert hit.components.get("arrival", 0.0) >= 0.0 or hit.memory.kind == "entity"


@few
@given(st.integers(0, 10**6))
def test_the_order_in_which_memories_were_told_decides_among_equals_alone(embedder, seed):
    rng = random.Random(seed)
    texts = [" ".join(["they", *rng.sample(WORDS, rng.randint(1, 4))]) for _ in range(15)]
    texts += rng.sample(texts, 3)

    def answers(told_in):
        with Memory.open("sqlite://", embedder=embedder, clock=FixedClock(NOW)) as memory:
            for at in told_in:
                memory.remember(texts[at], key=f"k{at:02}")
            # Which memories are linked for being alike depends on what was told before.
            hits = memory.recall("the violin, the banjo and the lute", limit=20, floor=0, spread=False).hits
            return [(hit.score, hit.memory.key) for hit in hits]

    orders = [answers(rng.sample(range(18), 18)) for _ in range(2)]
    for order in orders:
        assert [score for score, _ in order] == pytest.approx([score for score, _ in orders[0]], abs=1e-9)
    assert {key: score for score, key in orders[0]} == pytest.approx(
        {key: score for score, key in orders[1]}, abs=1e-9
    )


def test_of_equals_the_older_comes_first(memory):
    for i in range(5):
        memory.remember("we paint walls", key=f"k{i}")
    assert keys(memory.recall("paint")) == [f"k{i}" for i in range(5)]


@few
@given(st.integers(0, 10**6))
def test_unrelated_memories_change_the_order_of_none_of_the_old_ones_by_words(embedder, seed):
    # All texts are as long, and each word of the cue is in as many: what is added changes what words tell alike.
    rng, cue = random.Random(seed), WORDS[:4]
    texts = [[f"old{i}-{j}" for j in range(6)] for i in range(12)]
    for word in cue:
        for text in rng.sample(texts, 5):
            text[text.index(next(item for item in text if item.startswith("old")))] = word
    plain = {"ablate": ["meaning"], "spread": False, "limit": 12, "floor": 0}
    with Memory.open("sqlite://", embedder=embedder, clock=FixedClock(NOW)) as memory:
        memory.remember_many({"content": " ".join(text), "key": f"old{i}"} for i, text in enumerate(texts))
        before = [key for key in keys(memory.recall(" ".join(cue), **plain)) if key.startswith("old")]
        memory.remember_many(
            {"content": " ".join(f"new{i}-{j}" for j in range(6)), "key": f"new{i}"} for i in range(40)
        )
        after = memory.recall(" ".join(cue), **(plain | {"limit": 60})).hits
    matching = [hit.memory.key for hit in after if hit.components.get("words", 0.0) > 0]
    assert matching == [key for key in before if key in matching]
    assert matching


@pytest.mark.parametrize("spread", [True, False])
def test_a_verdict_against_a_memory_counts_however_it_was_reached(memory, spread):
    for key, text in (("a", "We paint walls."), ("b", "The bread was stale."), ("c", "It rained.")):
        memory.remember(text, key=key)
    memory.link("a", "b", "requires")

    def hit():
        answer = memory.recall("who paints walls", floor=0, spread=spread)
        result = next(hit for hit in answer.hits if hit.memory.key == "b")
        return answer.recall_id, result, math.log(result.score / (1.0 - result.score))

    recall_id, before, log_odds = hit()
    assert (before.distance == 1) == spread
    memory.feedback(recall_id, not_relevant=["b"])
    _, after, less = hit()
    assert log_odds - less > -after.components["feedback"] / 2 > 0


# What a caller is told


def test_a_hit_says_how_probable_it_is_and_an_answer_how_probable_its_first(memory):
    for text in ("We paint walls.", "They paint doors.", "The bread was stale."):
        memory.remember(text)
    answer = memory.recall("who paints walls")
    assert [hit.relevance for hit in answer.hits] == [hit.score for hit in answer.hits]
    assert answer.confidence == answer.hits[0].score
    assert answer.floor is not None
    assert answer.floor <= answer.hits[-1].score
    silent = memory.recall("who paints walls", floor=1.0)
    assert (silent.hits, silent.confidence, silent.floor) == ((), answer.confidence, 1.0)
    best = f"the best relevance is {answer.confidence:.3f}, less than 1"
    assert silent.reason == f"nothing above the floor: {best}"


@pytest.mark.parametrize("profile", [name for name in profiles.ALL if name != "priming"])
def test_the_other_profiles_say_nothing_of_probabilities(memory, profile):
    memory.remember("We paint walls.")
    answer = memory.recall("who paints walls", profile=profile)
    assert [hit.relevance for hit in answer.hits] == [None]
    assert (answer.confidence, answer.floor) == (None, None)


def test_a_floor_and_a_limit_each_leave_a_beginning_of_the_whole(memory):
    def hits(floor, limit):
        answer = memory.recall("Zed's violin", floor=floor, limit=limit)
        return [(hit.memory.key, hit.score) for hit in answer.hits]

    memory.remember_many(story(random.Random(4), 30))
    whole = hits(0.0, 40)
    for floor, limit in product((0.0, 0.02, 0.1, 0.5), (1, 3, 20)):
        assert hits(floor, limit) == [hit for hit in whole if hit[1] >= floor][:limit]


# A store of one kind of thing


@pytest.mark.parametrize("beside", [0, 60])
def test_a_store_of_one_kind_of_thing_answers_questions_about_it(open_memory, beside):
    memory = open_memory(embedder=StaticEmbedder())
    memory.remember_many(
        {"content": f"Ride: tram, {3 * n + 2} crowns", "key": f"ride-{n}"} for n in range(12)
    )
    memory.remember_many(
        {"content": f"Crate {n} holds bolts of size {n % 7}.", "key": f"crate-{n}"} for n in range(beside)
    )
    for cue in ("list the tram rides", "tram"):
        assert set(keys(memory.recall(cue, limit=40))) == {f"ride-{n}" for n in range(12)}, cue


def test_what_every_memory_says_of_one_person_answers_what_is_known_of_them(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    facts = (
        "owns two canoes",
        "works in Turku",
        "has a sister",
        "eats no fish",
        "plays chess",
        "rises early",
    )
    memory.remember_many({"content": f"Member {fact}."} for fact in facts)
    assert len(memory.recall("what do you know about the member?").hits) == len(facts)
