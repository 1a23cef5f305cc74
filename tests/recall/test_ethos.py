"""Ethos (SYSTEMS E1, E2, E6, E9): two phases over vectors set by hand, so that every number is worked out here.

The functions named ``test_spread_…``, ``test_linker_…`` and ``test_search_…`` are those that the design names.
"""

import json
import logging
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from priming import ParamError, StoreError
from priming.config import profiles
from priming.core import score
from priming.core.graph import Graph
from priming.core.spread import spread

ETHOS = profiles.get("ethos")
STRENGTH = 0.85
PLACES = {
    "cue": (1, 0, 0, 0, 0, 0),
    "near": (0.8, 0.6, 0, 0, 0, 0),
    "fair": (0.5, 0, 0.75**0.5, 0, 0, 0),
    "faint": (0.3, 0, 0, 0.91**0.5, 0, 0),
    "apart": (0, 0, 0, 0, 1, 0),
    "beyond": (0, 0, 0, 0, 0, 1),
}
"""Cosines to the cue of .8, .5, .3, 0 and 0, and of less than .6 to one another."""

BY_COSINE = {"near": 0.8, "fair": 0.5, "faint": 0.3, "apart": 0.0, "beyond": 0.0}


class Placed:
    """An embedder whose texts stand where they are put; any other text is like nothing."""

    def __init__(self, places):
        self.places = places
        self.dimension = len(next(iter(places.values())))
        self.generation = "placed"

    def embed(self, texts):
        """One row a text."""
        return np.array([self.places.get(text, (0,) * self.dimension) for text in texts], np.float32)


@pytest.fixture
def reply(open_memory):
    """The five memories, each with its text for a key, in the profile ``ethos``."""
    memory = open_memory(profile="ethos", embedder=Placed(PLACES))
    for text in ("near", "fair", "faint", "apart", "beyond"):
        memory.remember(text, key=text)
    assert memory.links() == []
    return memory


def scores(answer):
    return {hit.memory.key: hit.score for hit in answer.hits}


def ends(n, links, anchors, **changes):
    """Row → activation at the end, over links (source, target, weight)."""
    source, target, weight = zip(*links, strict=True) if links else ((), (), ())
    graph = Graph.from_links(n, list(source), list(target), list(weight))
    ended = spread(graph, anchors, replace(ETHOS.spread, **changes))
    return dict(zip(ended.rows.tolist(), ended.values.tolist(), strict=True))


# The nine on the graph


def test_spread_single_anchor_no_edges():
    assert ends(3, [], {1: 0.8}) == {1: 0.8}


def test_spread_propagates_through_edges():
    # In each of three steps the anchor emits 1 · .85 · .5; the next one on emits what it has by then.
    first = [0.425, 0.85, 1.275]
    second = [0.0, 0.425 * first[0], 0.425 * first[0] + 0.425 * first[1]]
    result = ends(3, [(0, 1, 0.5), (1, 2, 0.5)], {0: 1.0})
    assert result == {0: 1.0, 1: pytest.approx(first[-1]), 2: pytest.approx(second[-1])}


def test_spread_decays_with_strength():
    chain = [(0, 1, 1.0), (1, 2, 1.0)]
    for strength in (0.85, 0.4, 0.1):
        one_hop, two_hops = ends(3, chain, {0: 1.0}, gain=strength, steps=2)[1], strength**2
        assert one_hop == pytest.approx(2 * strength)
        assert ends(3, chain, {0: 1.0}, gain=strength, steps=2)[2] == pytest.approx(two_hops)


def test_spread_zero_strength_returns_anchors_only():
    assert ends(3, [(0, 1, 1.0), (1, 2, 1.0)], {0: 0.7, 1: 0.2}, gain=0.0) == {0: 0.7, 1: 0.2}


def test_spread_handles_cycles_safely():
    # Of two nodes that lead to each other the sum grows by 1 + f a step, and the difference by 1 − f.
    f = STRENGTH * 0.5
    total, apart = (1 + f) ** 3, (1 - f) ** 3
    result = ends(2, [(0, 1, 0.5), (1, 0, 0.5)], {0: 1.0})
    assert result == {0: pytest.approx((total + apart) / 2), 1: pytest.approx((total - apart) / 2)}


def test_final_score_weights_sum_correctly():
    assert sum(weight for _, weight in ETHOS.scoring.ethos) == pytest.approx(1.0)
    assert dict(ETHOS.scoring.ethos) == {"cosine": 0.5, "spread": 0.3, "in_degree": 0.2}
    assert score.ethos(0.8, 0.6, 1, 4).total == pytest.approx(0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 0.25)
    assert score.ethos(1.0, 1.0, 3, 3).total == pytest.approx(1.0)


def test_spread_empty_anchors_returns_empty():
    assert ends(2, [(0, 1, 1.0)], {}) == {}


def test_spread_multiple_anchors_accumulate():
    # Three steps of .85 · (1 · .4 + .5 · .6) arrive at the third; the anchors keep what they have.
    result = ends(3, [(0, 2, 0.4), (1, 2, 0.6)], {0: 1.0, 1: 0.5})
    assert result == {0: 1.0, 1: 0.5, 2: pytest.approx(3 * STRENGTH * (0.4 + 0.3))}


def test_structural_score_centrality():
    degrees = np.array([0, 1, 4])
    parts = score.ethos(np.zeros(3), np.zeros(3), degrees, 4)
    assert parts.total.tolist() == pytest.approx([0.0, 0.05, 0.2])
    assert score.ethos(0.5, 0.0, 0, 0).total == pytest.approx(0.25)


# The five on the linker


@pytest.fixture
def row(open_memory):
    """Memories on the arc of a circle, by their cosine to the one that comes last, ``it``."""

    def answer(*cosines):
        places = {"it": (1.0, *np.zeros(len(cosines)))}
        for i, cosine in enumerate(cosines):
            place = np.zeros(len(cosines) + 1)
            place[0], place[i + 1] = cosine, (1 - cosine**2) ** 0.5
            places[f"at {cosine}"] = place
        memory = open_memory(profile="ethos", embedder=Placed(places))
        for text in [*list(places)[1:], "it"]:
            memory.remember(text, key=text.replace(" ", "-"))
        return memory

    return answer


def links_of_it(memory):
    return {link.target: pytest.approx(link.weight, abs=1e-6) for link in memory.links("it")}


def test_linker_creates_edge_above_threshold(row):
    assert links_of_it(row(0.7)) == {"at-0.7": 0.7}


def test_linker_strengthens_existing_edge(row):
    memory = row(0.7)
    answer = memory.remember("it", key="it")
    assert (answer.status, [link.target for link in answer.links]) == ("duplicate", ["at-0.7"])
    assert links_of_it(memory) == {"at-0.7": 0.8}
    assert memory.remember("at 0.7", key="at-0.7").status == "duplicate"
    assert links_of_it(memory) == {"at-0.7": 0.9}


def test_linker_skips_below_threshold(row):
    assert links_of_it(row(0.59)) == {}


def test_linker_weight_caps_at_max(row):
    memory = row(0.95)
    memory.remember("it", key="it")
    assert links_of_it(memory) == {"at-0.95": 1.0}
    operations = memory.stats().operations
    answer = memory.remember("it", key="it")
    assert (answer.links, answer.operation) == ((), None)
    assert memory.stats().operations == operations


def test_linker_finds_top_k(row):
    assert links_of_it(row(0.62, 0.7, 0.65, 0.61)) == {"at-0.7": 0.7, "at-0.65": 0.65, "at-0.62": 0.62}


# The two on retrieval


def test_search_with_spreading_activation_backward_compat(reply):
    reply.link("near", "apart", "requires", 0.5)
    plain = reply.recall("cue", spread=False)
    assert scores(plain) == pytest.approx(BY_COSINE)
    assert [dict(hit.components) for hit in plain.hits] == [{"cosine": hit.score} for hit in plain.hits]


def test_search_spreading_zero_strength_equals_cosine(reply):
    reply.link("near", "apart", "requires", 0.5)
    reply.profile = replace(ETHOS, spread=replace(ETHOS.spread, gain=0.0))
    assert scores(reply.recall("cue")) == scores(reply.recall("cue", spread=False))
    reply.profile = replace(ETHOS, spread=replace(ETHOS.spread, steps=0))
    assert scores(reply.recall("cue")) == scores(reply.recall("cue", spread=False))


# The table of edge cases


def test_without_any_edge_the_answer_is_cosine_alone(reply):
    assert scores(reply.recall("cue")) == pytest.approx(BY_COSINE)


def test_a_cycle_ends_after_its_iterations(reply):
    reply.link("near", "apart", "requires", 0.5)
    reply.link("apart", "near", "requires", 0.5)
    f = STRENGTH * 0.5
    total, apart = (1 + f) ** 3, (1 - f) ** 3
    assert scores(reply.recall("cue", limit=2)) == pytest.approx(
        {
            "near": 0.5 * 0.8 + 0.3 * 0.8 * (total + apart) / 2 + 0.2,
            "apart": 0.3 * 0.8 * (total - apart) / 2 + 0.2,
        }
    )


def test_a_single_anchor_is_returned_with_its_cosine(open_memory):
    memory = open_memory(profile="ethos", embedder=Placed(PLACES))
    memory.remember("near", key="near")
    assert scores(memory.recall("cue")) == pytest.approx({"near": 0.8})


def test_a_database_that_cannot_be_read_is_a_store_error(open_memory, url, tmp_path):
    memory = open_memory(url, profile="ethos", embedder=Placed(PLACES))
    memory.remember("near", key="near")
    memory.close()
    with sqlite3.connect(tmp_path / "memory.db") as broken:
        broken.execute("DROP TABLE links")
    broken.close()
    memory = open_memory(url, profile="ethos", embedder=Placed(PLACES))
    with pytest.raises(StoreError):
        memory.recall("cue")


# Plain cosine: as many as the limit, however far away


@pytest.mark.parametrize("limit", [1, 4, 5, 9])
def test_plain_cosine_returns_as_many_as_the_limit_without_a_floor(reply, limit):
    hits = reply.recall("beyond words", spread=False, limit=limit).hits
    assert (len(hits), {hit.score for hit in hits}) == (min(limit, 5), {0.0})


def test_plain_cosine_ranks_what_points_the_other_way_last(open_memory):
    places = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "south-west": (-0.6, -0.8)}
    memory = open_memory(profile="ethos", embedder=Placed(places))
    for text in ("south", "south-west", "east"):
        memory.remember(text, key=text)
    result = memory.recall("north", spread=False).hits
    assert [(hit.memory.key, round(hit.score, 6)) for hit in result] == [
        ("east", 0.0),
        ("south-west", -0.8),
        ("south", -1.0),
    ]


# Zero anchors of a kind


@pytest.fixture
def both_kinds(reply):
    """As many facts as episodes, each with the place of one of them."""
    for text in ("near", "fair", "faint"):
        reply.remember(text, key=f"{text}-fact", kind="fact")
    assert {link.relation for link in reply.links()} == {"similar-to"}
    return reply


@pytest.mark.parametrize("anchors", [(0, 10), (10, 0)])
@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("profile", ["ethos", "poc"])
def test_zero_anchors_of_a_kind_start_from_none_of_it(both_kinds, anchors, spread, profile):
    memory, own = both_kinds, profiles.get(profile)
    episodes, facts = anchors
    memory.profile = replace(own, anchors=replace(own.anchors, episodes=episodes, facts=facts))
    hits = memory.recall("cue", spread=spread, limit=50).hits
    assert hits
    assert {hit.memory.kind for hit in hits if not hit.distance} == {"episode" if episodes else "fact"}


@pytest.mark.parametrize("spread", [False, True])
def test_zero_anchors_of_either_kind_answer_nothing_and_say_why(both_kinds, spread):
    both_kinds.profile = replace(ETHOS, anchors=replace(ETHOS.anchors, episodes=0, facts=0))
    answer = both_kinds.recall("cue", spread=spread)
    assert answer.hits == ()
    assert answer.reason == (
        "there is nothing to start from: the profile ethos has anchors.episodes = 0 and anchors.facts = 0"
    )


def test_what_the_other_kind_leads_to_is_still_reached(reply):
    reply.remember("a fact", key="fact", kind="fact")
    reply.link("near", "fact", "requires", 0.5)
    reply.profile = replace(ETHOS, anchors=replace(ETHOS.anchors, facts=0))
    assert "fact" in scores(reply.recall("cue"))


# What is reached, and from where


def test_what_only_spreading_reaches_is_a_hit_and_counts_toward_the_limit(reply):
    reply.link("near", "apart", "requires", 0.5)
    # near emits .8 · .85 · .5 in each of three steps; the one link that was loaded leads to apart.
    expected = {"near": 0.5 * 0.8 + 0.3 * 0.8, "apart": 0.3 * 3 * 0.34 + 0.2, "fair": 0.4, "faint": 0.24}
    assert scores(reply.recall("cue")) == pytest.approx(expected)
    assert list(scores(reply.recall("cue", limit=2))) == ["near", "apart"]
    assert reply.recall("cue").hits[1].distance == 1


def test_the_anchors_are_the_best_episodes_and_the_best_facts(reply):
    reply.profile = replace(ETHOS, anchors=replace(ETHOS.anchors, episodes=1, facts=1))
    reply.remember("another", key="fact", kind="fact")
    reply.link("near", "fair", "requires", 0.0)
    reply.link("near", "apart", "requires", 0.5)
    assert set(scores(reply.recall("cue", limit=50))) == {"near", "apart"}


def test_links_by_rule_are_walked_both_ways(open_memory):
    # Each has a cue of its own: a cosine of .6 to it, and of 0 to the other.
    places = {"one": (1, 0, 0), "two": (0.8, 0.6, 0), "at one": (0.6, -0.8, 0), "at two": (0, 1, 0)}
    memory = open_memory(profile="ethos", embedder=Placed(places))
    memory.remember("one", key="one")
    memory.remember("two", key="two")
    assert [(link.source, link.target) for link in memory.links()] == [("two", "one")]
    f = STRENGTH * 0.8
    total, apart = (1 + f) ** 3, (1 - f) ** 3
    matched = 0.5 * 0.6 + 0.3 * 0.6 * (total + apart) / 2 + 0.2
    reached = 0.3 * 0.6 * (total - apart) / 2 + 0.2
    assert scores(memory.recall("at one")) == pytest.approx({"one": matched, "two": reached}, abs=1e-6)
    assert scores(memory.recall("at two")) == pytest.approx({"two": matched, "one": reached}, abs=1e-6)


def test_a_trace_has_the_activations_of_every_iteration(reply):
    reply.link("near", "apart", "requires", 0.5)
    steps = reply.recall("cue", trace=True).spread
    assert [dict(step) for step in steps] == [
        pytest.approx({"near": 0.8, "fair": 0.5, "faint": 0.3} | ({"apart": n * 0.34} if n else {}))
        for n in range(4)
    ]


def test_a_weight_that_is_configured_counts(reply):
    reply.link("near", "apart", "requires", 0.5)
    blend = (("cosine", 0.2), ("spread", 0.5), ("in_degree", 0.3))
    reply.profile = replace(ETHOS, scoring=replace(ETHOS.scoring, ethos=blend))
    assert scores(reply.recall("cue", limit=1)) == pytest.approx({"apart": 0.5 * 1.02 + 0.3})
    with pytest.raises(ParamError, match="must sum to 1"):
        replace(ETHOS.scoring, ethos=(("cosine", 0.2), ("spread", 0.5), ("in_degree", 0.2)))


# Told again


def test_links_that_were_strengthened_are_undone_with_their_operation(row):
    memory = row(0.7)
    done = memory.remember("it", key="it")
    memory.undo(done.operation)
    assert links_of_it(memory) == {"at-0.7": 0.7}


def test_a_batch_tells_again_as_single_calls_do(row):
    single, batch = row(0.7, 0.8), row(0.7, 0.8)
    for _ in range(2):
        single.remember("it", key="it")
    batch.remember_many([{"content": "it", "key": "it"}] * 2)
    assert links_of_it(single) == links_of_it(batch) == {"at-0.7": 0.9, "at-0.8": 1.0}


def test_what_is_told_twice_in_one_batch_is_linked_and_strengthened(open_memory):
    memory = open_memory(profile="ethos", embedder=Placed({"a": (1, 0), "b": (0.8, 0.6)}))
    memory.remember_many([{"content": item, "key": item} for item in ("a", "b", "b", "a")])
    assert [(link.source, link.target, link.weight) for link in memory.links()] == [
        ("b", "a", pytest.approx(1.0, abs=1e-6))
    ]


def test_a_link_that_is_missing_is_made_when_it_is_told_again(open_memory):
    memory = open_memory(profile="ethos", embedder=Placed({"it": (1, 0), "at 0.8": (0.8, 0.6)}))
    memory.remember("at 0.8", key="at-0.8")
    forgotten = memory.forget("at-0.8")
    memory.remember("it", key="it")
    memory.undo(forgotten.id)
    assert links_of_it(memory) == {}
    memory.remember("it", key="it")
    assert links_of_it(memory) == {"at-0.8": 0.8}


def test_in_other_profiles_a_duplicate_changes_nothing(open_memory):
    memory = open_memory()
    memory.remember("red green blue")
    memory.remember("red green blue yellow")
    before = memory.links(relation="similar-to"), memory.stats().operations
    assert memory.remember("red green blue yellow").links == ()
    assert (memory.links(relation="similar-to"), memory.stats().operations) == before


def test_each_iteration_is_logged_for_those_who_debug(reply, caplog):
    reply.link("near", "apart", "requires", 0.5)
    with caplog.at_level(logging.DEBUG, "priming.recall"):
        reply.recall("cue")
    steps = [
        json.loads(record.getMessage().partition(": ")[2])
        for record in caplog.records
        if "step" in record.getMessage()
    ]
    traced = reply.recall("cue", trace=True).spread
    assert steps == [pytest.approx(dict(item), rel=1e-5) for item in traced]


def test_nothing_that_was_remembered_is_logged_above_debug(reply, caplog):
    with caplog.at_level(logging.INFO, "priming.recall"):
        reply.recall("cue")
    assert caplog.records == []
