from __future__ import annotations

import dataclasses
import math
import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.laws import SpreadParams
from priming.core.graph import Edges, Graph
from priming.core.spread import spread
from priming.errors import ParamError

# The rows of the table of LAWS §1.
PRIMING = SpreadParams()
FLOOP = SpreadParams(
    combine="max", retention=1.0, restart=0.0, gain=0.8, hop_decay=0.5, normalise="fan", direction="both",
    rho=0.01, epsilon=0.01, steps=3,
)  # fmt: skip
SYNAPSE = SpreadParams(
    combine="sum", retention=0.5, restart=0.0, gain=0.8, hop_decay=1.0, normalise="fan", direction="out",
    rho=0.01, epsilon=0.01, steps=3,
)  # fmt: skip
ETHOS = SpreadParams(
    combine="sum", retention=1.0, restart=0.0, gain=0.85, hop_decay=1.0, normalise="none", direction="out",
    rho=0.0, epsilon=0.0, steps=3,
)  # fmt: skip
POC = dataclasses.replace(ETHOS, direction="both", epsilon=0.001)
TABLE = [PRIMING, FLOOP, SYNAPSE, ETHOS, POC]

PLAIN = SpreadParams(steps=1, gain=1.0, restart=0.0, normalise="none", direction="out", epsilon=0.0)
"""One step, in which each row hands on what its links weigh."""


def plain(**changes):
    return dataclasses.replace(PLAIN, **changes)


def links(n, *given_links):
    """A graph from (source, target, weight[, relation[, hours]])."""
    filled = [(*link, "similar-to", math.nan)[:5] if len(link) == 3 else link for link in given_links]
    filled = [(*link, math.nan) if len(link) == 4 else link for link in filled]
    source, target, weight, relation, hours = zip(*filled, strict=True) if filled else ((),) * 5
    return Graph.from_links(n, list(source), list(target), list(weight), relation=relation, hours=hours)


def by_row(ended):
    return dict(zip(ended.rows.tolist(), ended.values.tolist(), strict=True))


def values(graph, anchors, params, **options):
    return by_row(spread(graph, anchors, params, **options))


# ── golden numbers ──────────────────────────────────────────────────────────────────────────────────────────


def test_ethos_adds_up_three_rounds_over_one_link():
    assert values(links(2, (0, 1, 0.5)), {0: 1.0}, ETHOS) == pytest.approx({0: 1.0, 1: 1.275}, abs=1e-12)


def test_floop_fades_along_a_chain():
    graph = links(3, (0, 1, 0.8), (1, 2, 0.8))
    assert values(graph, {0: 1.0}, FLOOP) == pytest.approx({0: 1.0, 1: 0.32, 2: 0.0512}, abs=1e-12)


def test_floop_takes_the_strongest_arrival_and_not_the_sum():
    graph = links(3, (0, 2, 0.8), (1, 2, 0.7))
    assert values(graph, {0: 1.0, 1: 0.9}, FLOOP)[2] == pytest.approx(0.32, abs=1e-12)


def test_synapse_keeps_half_and_divides_by_the_fan():
    # 1 → .5 → .25 → .125 stay at 0; each of its two links carries .8 · w / 2 of what was there.
    graph = links(3, (0, 1, 1.0), (0, 2, 0.5))
    expected = {0: 0.125, 1: 0.4 * (0.25 + 0.25 + 0.25), 2: 0.2 * (0.25 + 0.25 + 0.25)}
    assert values(graph, {0: 1.0}, SYNAPSE) == pytest.approx(expected, abs=1e-12)


def test_poc_walks_links_against_their_direction():
    assert 0 in values(links(2, (0, 1, 0.5)), {1: 1.0}, POC)
    assert 0 not in values(links(2, (0, 1, 0.5)), {1: 1.0}, ETHOS)


def test_priming_feeds_a_fifth_of_the_anchors_in_again_each_step():
    # Two rows and one link: 1 0 → .2 .8 → .84 .16 → .328 .672 → .7376 .2624.
    assert values(links(2, (0, 1, 0.3)), {0: 1.0}, PRIMING) == pytest.approx(
        {0: 0.7376, 1: 0.2624}, abs=1e-12
    )


@each_row("normalise", ["none", "fan", "share"])
@each_row("combine", ["sum", "max"])
def test_a_hub_with_conflicts_spreads_to_the_others_as_one_without(normalise, combine):
    requires = [(0, 1, 0.9, "requires"), (0, 2, 0.6, "requires"), (0, 3, 0.3, "requires")]
    conflicts = [(0, 4, 1.0, "conflicts"), (5, 0, 1.0, "conflicts")]
    params = plain(normalise=normalise, combine=combine, max_neighbours=3)
    alone = values(links(6, *requires), {0: 1.0}, params)
    assert values(links(6, *requires, *conflicts), {0: 1.0}, params) == alone
    assert sorted(alone) == [1, 2, 3]


def test_the_fan_of_suppressing_links_counts_suppressing_links_alone():
    # Row 0 takes 1 · .5 / 2 from row 3, which holds 1: its one other link does not thin it out.
    graph = links(5, (0, 1, 1.0), (0, 3, 0.5, "overrides"), (0, 4, 0.5, "merged-into"))
    result = values(graph, {0: 1.0, 3: 1.0}, plain(retention=1.0, normalise="fan"))
    assert result == pytest.approx({0: 1.0, 1: 1.0, 3: 0.75}, abs=1e-12)


def test_the_share_of_suppressing_links_is_of_their_summed_weight():
    graph = links(4, (0, 1, 5.0), (0, 2, 3.0, "overrides"), (0, 3, 1.0, "overrides"))
    result = values(graph, {0: 1.0, 2: 1.0, 3: 1.0}, plain(retention=1.0, normalise="share"))
    assert result == pytest.approx({0: 1.0, 1: 1.0, 2: 0.25, 3: 0.75}, abs=1e-12)


# ── suppression ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("direction", ["out", "both"])
def test_conflicts_suppress_both_ways_whatever_the_direction(direction):
    graph = links(2, (0, 1, 0.5, "conflicts"))
    result = values(graph, {0: 1.0, 1: 0.8}, plain(retention=1.0, direction=direction))
    assert result == pytest.approx({0: 0.6, 1: 0.3}, abs=1e-12)


@each_row("relation", ["overrides", "deprecated-to", "merged-into"])
@each_row("direction", ["out", "both"])
def test_the_other_three_suppress_from_source_to_target_only(relation, direction):
    graph = links(2, (0, 1, 0.5, relation))
    result = values(graph, {0: 1.0, 1: 0.8}, plain(retention=1.0, direction=direction))
    assert result == pytest.approx({0: 1.0, 1: 0.3}, abs=1e-12)


def test_which_relations_suppress_is_a_parameter():
    graph = links(2, (0, 1, 0.5, "conflicts"))
    assert values(graph, {0: 1.0}, plain(suppressing=())) == {1: 0.5}
    graph = links(2, (0, 1, 0.5, "denies"))
    result = values(graph, {0: 1.0, 1: 1.0}, plain(retention=1.0, suppressing=("denies",)))
    assert result == {0: 1.0, 1: 0.5}


def test_all_that_arrives_is_gathered_before_anything_is_taken_away():
    # Row 2 gets .3 and .3 and loses .5: .1 is left; were it lost in between, .3 would be.
    graph = links(4, (0, 2, 0.3), (3, 2, 0.5, "overrides"), (1, 2, 0.3))
    assert values(graph, {0: 1.0, 1: 1.0, 3: 1.0}, plain())[2] == pytest.approx(0.1, abs=1e-12)


def test_activation_never_falls_below_zero():
    graph = links(3, (0, 1, 1.0, "overrides"), (1, 2, 1.0))
    assert values(graph, {0: 1.0, 1: 0.5}, plain(steps=2, retention=1.0)) == {0: 1.0, 2: 0.5}


def test_the_gate_leaves_suppressing_links_alone():
    graph = links(2, (0, 1, 0.5, "conflicts"))
    result = values(graph, {0: 1.0, 1: 0.8}, plain(retention=1.0), gate=[0.0, 0.0])
    assert result == pytest.approx({0: 0.6, 1: 0.3}, abs=1e-12)


# ── the knobs ───────────────────────────────────────────────────────────────────────────────────────────────


def test_only_nodes_from_epsilon_on_emit():
    graph = links(3, (0, 2, 1.0), (1, 2, 1.0))
    assert values(graph, {0: 0.5, 1: 0.25}, plain(epsilon=0.5)) == {2: 0.5}


def test_a_node_that_just_reaches_epsilon_emits():
    # .25 · .8 · 1.1875 / 1.1875 is .2 and not the float below it, which another order of factors would give.
    graph = links(3, (0, 1, 1.1875), (1, 2, 1.0))
    result = values(graph, {0: 0.25}, plain(steps=2, gain=0.8, normalise="share", epsilon=0.2))
    assert result == pytest.approx({2: 0.16}, abs=1e-12)


def test_links_decay_with_the_hours_since_they_were_last_active():
    graph = links(4, (0, 1, 1.0, "next", 100.0), (0, 2, 1.0, "next", -1.0), (0, 3, 1.0, "next", math.nan))
    result = values(graph, {0: 1.0}, plain(rho=0.01))
    assert result == pytest.approx({1: math.exp(-1.0), 2: 1.0, 3: 1.0}, rel=1e-12)


def test_decay_does_not_enter_the_norm():
    graph = links(3, (0, 1, 1.0, "next", 100.0), (0, 2, 1.0))
    for normalise in ("fan", "share"):
        result = values(graph, {0: 1.0}, plain(rho=0.01, normalise=normalise))
        assert result == pytest.approx({1: math.exp(-1.0) / 2, 2: 0.5}, rel=1e-12)


def test_links_without_weight_carry_nothing_and_do_not_count_in_the_fan():
    graph = links(3, (0, 1, 1.0), (0, 2, 0.0))
    ended = spread(graph, {0: 1.0}, plain(normalise="fan"))
    assert by_row(ended) == {1: 1.0}


def test_parallel_links_are_one_neighbour_in_the_fan():
    graph = links(3, (0, 1, 0.5), (0, 1, 0.25, "requires"), (0, 2, 1.0))
    assert values(graph, {0: 1.0}, plain()) == {2: 1.0, 1: 0.75}
    assert values(graph, {0: 1.0}, plain(normalise="fan")) == {2: 0.5, 1: 0.375}
    assert values(graph, {0: 1.0}, plain(normalise="fan", combine="max")) == {2: 0.5, 1: 0.25}
    assert values(graph, {0: 1.0}, plain(combine="max")) == {2: 1.0, 1: 0.5}


def test_links_in_both_directions_are_one_neighbour_where_links_are_walked_both_ways():
    graph = links(3, (0, 1, 0.5), (1, 0, 0.25), (2, 0, 1.0))
    assert values(graph, {0: 1.0}, plain(normalise="fan", direction="both")) == {2: 0.5, 1: 0.375}
    assert values(graph, {0: 1.0}, plain(normalise="fan")) == {1: 0.5}


def test_parallel_links_add_up_to_one_or_to_the_strongest_of_them():
    graph = links(2, (0, 1, 0.75), (0, 1, 0.5, "requires"))
    assert values(graph, {0: 1.0}, plain(normalise="fan")) == pytest.approx({1: 1.0})
    strong = links(2, (0, 1, 3.0), (0, 1, 0.5, "requires"))
    assert values(strong, {0: 1.0}, plain(normalise="fan")) == pytest.approx({1: 3.0})


@each_row("combine", ["sum", "max"])
@each_row("weight", [0.001, 0.12, 0.6, 1.0])
def test_another_link_between_two_that_are_linked_lowers_nothing(combine, weight):
    before = links(4, (0, 1, 0.8), (0, 2, 0.4), (2, 1, 0.9), (1, 3, 0.5))
    after = links(4, (0, 1, 0.8), (0, 2, 0.4), (2, 1, 0.9), (1, 3, 0.5), (1, 0, weight, "co-activated"))
    params = plain(steps=3, combine=combine, normalise="fan", direction="both", retention=1.0, gain=0.8)
    low, high = values(before, {0: 1.0}, params), values(after, {0: 1.0}, params)
    assert all(high[row] >= low[row] - 1e-12 for row in low)


def test_parallel_suppression_is_that_of_one_neighbour():
    graph = links(3, (0, 1, 0.5, "overrides"), (0, 1, 0.25, "conflicts"), (0, 2, 0.5, "conflicts"))
    result = values(graph, {0: 1.0, 1: 1.0, 2: 1.0}, plain(normalise="fan", retention=1.0))
    assert result[2] == pytest.approx(1.0 - 0.25)
    assert result[1] == pytest.approx(1.0 - 0.375)


def test_self_loops_carry_nothing_and_count_nowhere():
    graph = links(2, (0, 0, 1.0), (0, 1, 0.5))
    assert values(graph, {0: 1.0}, plain(normalise="share")) == {1: 1.0}


def test_the_gate_scales_links_into_a_row_in_what_is_carried_and_in_the_norm():
    graph = links(4, (0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0))
    gate = [9.0, 3.0, 1.0, 0.0]
    assert values(graph, {0: 1.0}, plain(), gate=gate) == {1: 3.0, 2: 1.0}
    assert values(graph, {0: 1.0}, plain(normalise="share"), gate=gate) == {1: 0.75, 2: 0.25}
    assert values(graph, {0: 1.0}, plain(normalise="fan"), gate=gate) == {1: 1.5, 2: 0.5}


def test_the_strongest_neighbours_are_kept_and_the_norm_counts_all():
    graph = links(4, (0, 1, 0.25), (0, 2, 0.5), (0, 3, 0.25))
    assert values(graph, {0: 1.0}, plain(max_neighbours=2)) == {2: 0.5, 1: 0.25}
    assert values(graph, {0: 1.0}, plain(max_neighbours=1, normalise="share")) == {2: 0.5}
    assert values(graph, {0: 1.0}, plain(max_neighbours=1, normalise="fan")) == pytest.approx({2: 0.5 / 3})


def test_the_gate_has_a_say_in_which_neighbours_are_strongest():
    graph = links(3, (0, 1, 0.5), (0, 2, 0.25))
    assert values(graph, {0: 1.0}, plain(max_neighbours=1), gate=[1.0, 1.0, 4.0]) == {2: 1.0}


def test_after_each_step_only_the_strongest_nodes_are_kept_and_of_equals_the_lower_rows():
    graph = links(6, (0, 5, 0.5), (0, 3, 0.5), (0, 2, 0.5), (0, 1, 0.25), (5, 4, 1.0), (1, 4, 9.0))
    assert values(graph, {0: 1.0}, plain(max_nodes=2)) == {2: 0.5, 3: 0.5}
    assert values(graph, {0: 1.0}, plain(max_nodes=3, steps=2)) == {4: 0.5}


def test_restart_plays_no_part_under_max():
    graph = links(2, (0, 1, 0.5))
    assert values(graph, {0: 1.0}, plain(combine="max", restart=0.5)) == {1: 0.5}


def test_spread_does_not_change_what_it_is_given():
    graph, anchors, gate = links(2, (0, 1, 0.5)), {0: 1.0}, np.array([1.0, 0.5])
    spread(graph, anchors, PRIMING, gate=gate)
    assert anchors == {0: 1.0}
    assert gate.tolist() == [1.0, 0.5]


# ── what comes back ─────────────────────────────────────────────────────────────────────────────────────────


def test_rows_come_strongest_first_and_ties_by_row():
    ended = spread(links(5, (0, 4, 0.5), (0, 2, 0.5), (0, 3, 0.75)), {0: 1.0}, plain(retention=0.25))
    assert ended.rows.tolist() == [3, 2, 4, 0]
    assert ended.values.tolist() == [0.75, 0.5, 0.5, 0.25]


def test_distance_counts_hops_from_the_nearest_anchor_and_origin_names_it():
    graph = links(6, (0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (5, 4, 1.0), (4, 3, 1.0))
    ended = spread(graph, {0: 1.0, 5: 0.1}, plain(steps=3, retention=1.0))
    columns = (ended.rows.tolist(), ended.distance.tolist(), ended.origin.tolist())
    whence = {row: (hops, anchor) for row, hops, anchor in zip(*columns, strict=True)}
    assert whence == {0: (0, 0), 5: (0, 5), 1: (1, 0), 4: (1, 5), 2: (2, 0), 3: (2, 5)}


def test_of_anchors_that_reach_a_row_in_one_step_the_one_that_brought_most_is_its_origin():
    graph = links(3, (0, 2, 0.25), (1, 2, 0.5))
    assert spread(graph, {0: 1.0, 1: 1.0}, plain()).origin.tolist() == [1]
    assert spread(graph, {0: 4.0, 1: 1.0}, plain()).origin.tolist() == [0]


def test_of_anchors_that_bring_the_same_the_lower_row_is_the_origin():
    graph = links(4, (1, 3, 0.5), (2, 3, 0.5), (0, 3, 0.25))
    assert spread(graph, {0: 1.0, 1: 1.0, 2: 1.0}, plain()).origin.tolist() == [1]


def test_what_comes_later_does_not_change_distance_and_origin():
    graph = links(4, (0, 3, 0.1), (1, 2, 1.0), (2, 3, 9.0))
    ended = spread(graph, {0: 1.0, 1: 1.0}, plain(steps=2, retention=1.0))
    at = ended.rows.tolist().index(3)
    assert (ended.distance[at], ended.origin[at]) == (1, 0)


def test_distance_counts_links_and_not_the_steps_that_a_node_took_to_wake():
    # Row 1 reaches epsilon in the third step only; row 2 is still two links away.
    graph = links(3, (0, 1, 0.25), (1, 2, 1.0))
    ended = spread(graph, {0: 1.0}, plain(steps=4, retention=1.0, epsilon=0.75))
    assert dict(zip(ended.rows.tolist(), ended.distance.tolist(), strict=True)) == {0: 0, 1: 1, 2: 2}


def test_no_anchors_give_nothing():
    for anchors in ({}, {0: 0.0}, ([], [])):
        ended = spread(links(2, (0, 1, 0.5)), anchors, PRIMING)
        assert ended.rows.tolist() == ended.values.tolist() == ended.distance.tolist() == []
        assert ended.flow.into(1) == ()


def test_without_links_the_anchors_stay_as_retention_and_restart_leave_them():
    empty = links(3)
    for params in TABLE:
        left = 1.0
        for _ in range(params.steps):
            left = params.retention * left + params.restart
        assert values(empty, {1: 1.0}, params) == pytest.approx({1: left})


@each_row("params", TABLE)
def test_without_steps_the_anchors_come_back(params):
    graph = links(3, (0, 1, 0.5), (0, 2, 0.5, "conflicts"))
    ended = spread(graph, {2: 0.5, 0: 0.25}, dataclasses.replace(params, steps=0))
    assert by_row(ended) == {2: 0.5, 0: 0.25}
    assert ended.distance.tolist() == [0, 0]
    assert ended.origin.tolist() == [2, 0]


@each_row("params", TABLE)
def test_without_gain_no_row_but_the_anchors_is_reached(params):
    graph = links(3, (0, 1, 0.5), (1, 2, 0.5))
    assert set(values(graph, {0: 1.0}, dataclasses.replace(params, gain=0.0))) <= {0}


@each_row("params", TABLE)
def test_cycles_end_after_the_given_steps(params):
    ring = links(3, (0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0))
    ended = spread(ring, {0: 1.0}, dataclasses.replace(params, steps=50))
    assert np.isfinite(ended.values).all()
    assert set(ended.rows.tolist()) == {0, 1, 2}


def test_anchors_may_come_as_a_pair_of_arrays():
    graph = links(3, (0, 1, 0.5), (2, 1, 0.5))
    pair = (np.array([2, 0]), np.array([0.5, 1.0]))
    assert values(graph, pair, PRIMING) == values(graph, {0: 1.0, 2: 0.5}, PRIMING)


def test_threads_spread_at_once_without_disturbing_each_other():
    rng = np.random.default_rng(5)
    graph = Graph.from_links(400, rng.integers(0, 400, 4000), rng.integers(0, 400, 4000), rng.random(4000))
    expected = [values(graph, {row: 1.0}, PRIMING) for row in range(8)]
    results = [[] for _ in range(8)]

    def run(row):
        results[row] = [values(graph, {row: 1.0}, PRIMING) for _ in range(15)]

    threads = [threading.Thread(target=run, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected[row] for row in range(8) for result in results[row])


def test_a_small_graph_after_a_large_one_is_not_mistaken_for_it():
    large = links(1000, *((i, i + 1, 1.0) for i in range(999)))
    small = links(3, (0, 1, 0.5))
    before = values(small, {0: 1.0}, PRIMING)
    values(large, dict.fromkeys(range(0, 999, 7), 1.0), PRIMING)
    assert values(small, {0: 1.0}, PRIMING) == before


# ── laws, and a slow reference twin ─────────────────────────────────────────────────────────────────────────

ROWS = 7
WEIGHT = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 2, allow_subnormal=False))
LINK = st.tuples(
    st.integers(0, ROWS - 1),
    st.integers(0, ROWS - 1),
    WEIGHT,
    st.sampled_from(["similar-to", "requires", "conflicts", "overrides"]),
    st.sampled_from([math.nan, -1.0, 0.0, 10.0, 300.0]),
)
LINKS = st.lists(LINK, max_size=24)
ANCHORS = st.dictionaries(st.integers(0, ROWS - 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), max_size=4)
PARAMS = st.builds(
    SpreadParams,
    steps=st.integers(0, 4),
    gain=st.sampled_from([0.5, 0.8, 1.0, 1.5]),
    hop_decay=st.sampled_from([0.5, 1.0]),
    retention=st.sampled_from([0.0, 0.5, 1.0]),
    restart=st.sampled_from([0.0, 0.2, 1.0]),
    combine=st.sampled_from(["sum", "max"]),
    direction=st.sampled_from(["out", "both"]),
    normalise=st.sampled_from(["none", "fan", "share"]),
    rho=st.sampled_from([0.0, 0.01]),
    epsilon=st.sampled_from([0.0, 0.01, 0.2]),
    suppressing=st.sampled_from([PRIMING.suppressing, (), ("requires",)]),
    max_nodes=st.sampled_from([None, 1, 3]),
    max_neighbours=st.sampled_from([None, 1, 2]),
)
GATE = st.one_of(
    st.none(), st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]), min_size=ROWS, max_size=ROWS)
)
CLOSE = 1e-9


def carried(some_links, u, activation, params, gate, *, against):
    """What row u gives to others, or takes from them: (row, amount) of each link, by the law's own words."""
    walked = []
    for source, target, weight, relation, hours in some_links:
        if source == target or (relation in params.suppressing) != against:
            continue
        both = relation == "conflicts" if against else params.direction == "both"
        age = hours if hours >= 0 else math.inf
        for near, far, forward in ((source, target, True), (target, source, False)):
            if near == u and (forward or both):
                w = weight if against or gate is None else weight * gate[far]
                walked.append((-w, far, not forward, relation, age))
    if params.normalise == "fan" and (against or params.combine == "sum"):
        weights = {far: [-entry[0] for entry in walked if entry[1] == far] for _, far, *_ in walked}
        scale = {far: min(1.0, max(1.0, *own, 0.0) / (sum(own) or 1.0)) for far, own in weights.items()}
        walked = [(negative * scale[far], far, *rest) for negative, far, *rest in walked]
    norm = {
        "none": 1.0,
        "fan": len({entry[1] for entry in walked if entry[0] < 0}) or 1.0,
        "share": sum(-entry[0] for entry in walked) or 1.0,
    }[params.normalise]
    amounts = []
    for negative, far, _, _, age in sorted(walked)[: params.max_neighbours]:
        decay = math.exp(-params.rho * age) if age < math.inf else 1.0
        amounts.append((far, activation * params.gain * params.hop_decay * -negative * decay / norm))
    return [(far, amount) for far, amount in amounts if amount > 0]


def same(item, other):
    return math.isclose(item, other, rel_tol=CLOSE, abs_tol=1e-300)


def reference(some_links, anchors, params, gate):
    """The law, row by row in dictionaries: values, and the (distance, origin) pairs that each row may have."""
    a = {row: value for row, value in anchors.items() if value > 0}
    start = dict(a)
    came = {row: {(0, row)} for row in a}
    for step in range(params.steps):
        arrivals, losses = [], {}
        for u in sorted(a):
            assume(not step or not same(a[u], params.epsilon))  # rounding alone decides who emits
            if a[u] < params.epsilon:
                continue
            arrivals += [(v, e, u) for v, e in carried(some_links, u, a[u], params, gate, against=False)]
            for v, s in carried(some_links, u, a[u], params, gate, against=True):
                losses[v] = losses.get(v, 0.0) + s
        after = {}
        for v in {*a, *start, *(v for v, _, _ in arrivals)}:
            here = [e for target, e, _ in arrivals if target == v]
            if params.combine == "max":
                total = max([params.retention * a.get(v, 0.0), *here])
            else:
                total = params.restart * start.get(v, 0.0) + params.retention * a.get(v, 0.0) + sum(here)
            loss = losses.get(v, 0.0)
            assume(
                loss == total or not same(loss, total)
            )  # all but equal: rounding alone decides who is left
            if total > loss:
                after[v] = total - loss
        came |= {v: pairs for v, pairs in first_comers(arrivals, came).items() if v not in came}
        a = strongest_of(after, params.max_nodes)
    return a, came


def first_comers(arrivals, came):
    """Whence each row may have been reached in this step; several pairs where amounts are all but equal."""
    result = {}
    for v in {v for v, _, _ in arrivals}:
        most = max(e for target, e, _ in arrivals if target == v)
        exact = [u for target, e, u in arrivals if target == v and e == most]
        near = [u for target, e, u in arrivals if target == v and same(e, most)]
        pairs = {(hops + 1, origin) for u in near for hops, origin in came[u]}
        if len(exact) == len(near):
            lowest = min(origin for _, origin in pairs)
            pairs = {pair for pair in pairs if pair[1] == lowest} if all_sure(near, came) else pairs
        result[v] = pairs
    return result


def all_sure(rows, came):
    return all(len(came[u]) == 1 for u in rows)


def strongest_of(a, limit):
    if limit is None or len(a) <= limit:
        return a
    order = sorted(a, key=lambda row: (-a[row], row))
    last, next_one = a[order[limit - 1]], a[order[limit]]
    assume(last == next_one or not same(last, next_one))
    return {row: a[row] for row in order[:limit]}


@given(LINKS, ANCHORS, PARAMS, GATE)
def test_it_equals_the_slow_reference_for_every_knob(some_links, anchors, params, gate):
    expected, came = reference(some_links, anchors, params, gate)
    ended = spread(links(ROWS, *some_links), anchors, params, gate=gate)
    assert by_row(ended) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    order = list(zip((-ended.values).tolist(), ended.rows.tolist(), strict=True))
    assert order == sorted(order)
    for row, hops, origin in zip(
        ended.rows.tolist(), ended.distance.tolist(), ended.origin.tolist(), strict=True
    ):
        assert (hops, origin) in came[row]


@given(LINKS, ANCHORS, PARAMS, GATE, st.randoms(use_true_random=False))
def test_the_order_of_links_and_anchors_changes_no_bit(some_links, anchors, params, gate, random):
    item = spread(links(ROWS, *some_links), anchors, params, gate=gate)
    shuffled = random.sample(some_links, len(some_links))
    mixed = dict(random.sample(list(anchors.items()), len(anchors)))
    other = spread(links(ROWS, *shuffled), mixed, params, gate=gate)
    for field in ("rows", "values", "distance", "origin"):
        assert np.array_equal(getattr(item, field), getattr(other, field))
    for row in range(ROWS):
        assert item.flow.into(row) == other.flow.into(row)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.01, 2)), max_size=20),
    ANCHORS,
    st.floats(0.05, 0.95),
)
def test_share_with_restart_conserves_energy(some_links, anchors, alpha):
    ring = [(row, (row + 1) % ROWS, 0.5) for row in range(ROWS)]  # every row has somewhere to send it
    params = SpreadParams(steps=6, gain=alpha, restart=1 - alpha, normalise="share", epsilon=0.0)
    ended = spread(links(ROWS, *ring, *some_links), anchors, params)
    assert ended.values.sum() == pytest.approx(sum(anchors.values()), rel=1e-12)


@each_row("seed", range(4))
def test_run_to_its_end_the_conserving_form_is_personalised_pagerank(seed):
    rng = np.random.default_rng(seed)
    n, alpha = 30, 0.85
    source, target = rng.integers(0, n, 90), rng.integers(0, n, 90)
    source, target = np.append(source, np.arange(n)), np.append(target, (np.arange(n) + 1) % n)
    weight = rng.uniform(0.1, 2.0, source.size)
    anchors = {3: 0.5, 11: 0.3, 20: 0.2}
    network = nx.Graph()
    network.add_nodes_from(range(n))
    for u, v, w in zip(source.tolist(), target.tolist(), weight.tolist(), strict=True):
        if u != v:
            network.add_edge(u, v, weight=w + network.get_edge_data(u, v, {"weight": 0.0})["weight"])
    google = nx.google_matrix(network, alpha=alpha, personalization=anchors, weight="weight")
    expected = np.linalg.matrix_power(google.T, 512)[:, 0]
    params = SpreadParams(steps=300, gain=alpha, restart=1 - alpha, normalise="share", epsilon=0.0)
    ended = spread(Graph.from_links(n, source, target, weight), anchors, params)
    assert [by_row(ended)[row] for row in range(n)] == pytest.approx(expected.tolist(), rel=1e-9)


# ── cost ────────────────────────────────────────────────────────────────────────────────────────────────────


class Logged:
    """An adjacency over a graph that notes which rows were asked for, and whether both ways."""

    def __init__(self, graph):
        self.graph = graph
        self.requested = []

    @property
    def n(self):
        return self.graph.n

    @property
    def relations(self):
        return self.graph.relations

    def edges(self, rows: np.ndarray, *, both: bool) -> Edges:
        self.requested.append((rows.tolist(), both))
        return self.graph.edges(rows, both=both)


def test_only_rows_that_emit_are_asked_for_their_links():
    chain = links(1000, *((i, i + 1, 0.5) for i in range(999)))
    logged = Logged(chain)
    spread(logged, {10: 1.0, 500: 0.1}, plain(steps=3, epsilon=0.2))
    assert logged.requested == [([10], False), ([11], False), ([12], False)]


def test_links_are_gathered_both_ways_only_where_that_matters():
    logged = Logged(links(3, (0, 1, 0.5), (1, 2, 0.5, "conflicts")))
    spread(logged, {0: 1.0}, plain())
    spread(logged, {0: 1.0}, plain(suppressing=("overrides",)))
    assert [both for _, both in logged.requested] == [True, False]


def test_nothing_is_asked_once_all_is_silent():
    logged = Logged(links(2, (0, 1, 0.5)))
    spread(logged, {0: 0.1}, plain(steps=3, epsilon=0.2))
    assert [rows for rows, _ in logged.requested if rows] == []


# ── told apart ──────────────────────────────────────────────────────────────────────────────────────────────


def test_what_came_from_an_anchor_is_told_apart_from_what_came_from_others():
    # 0 and 1 each hand half to 2; 2 hands .4 of the .75 on to 3, .4 · .5 of it from 0 and .4 · .25 from 1.
    graph = links(4, (0, 2, 0.5), (1, 2, 0.5), (2, 3, 0.4))
    ended = spread(graph, {0: 1.0, 1: 0.5}, plain(steps=2, retention=1.0), apart=np.array([1, 0]))
    parts = dict(zip(ended.rows.tolist(), ended.apart.tolist(), strict=True))
    assert parts[2] == pytest.approx([2 * 0.25, 2 * 0.5])
    assert parts[3] == pytest.approx([0.4 * 0.25, 0.4 * 0.5])
    assert (parts[0], parts[1]) == ([0.0, 1.0], [0.5, 0.0])


def test_what_is_taken_from_a_row_is_taken_from_all_that_came_to_it_in_proportion():
    # .5 and .25 come to row 2, and row 3 takes .3 of the .75.
    graph = links(4, (0, 2, 0.5), (1, 2, 0.25), (3, 2, 0.3, "overrides"))
    ended = spread(graph, {0: 1.0, 1: 1.0, 3: 1.0}, plain(), apart=np.array([0, 1]))
    assert dict(zip(ended.rows.tolist(), ended.apart.tolist(), strict=True))[2] == pytest.approx([0.3, 0.15])


def test_unasked_nothing_is_told_apart():
    assert spread(links(2, (0, 1, 0.5)), {0: 1.0}, PRIMING).apart is None


@given(LINKS, ANCHORS, PARAMS, GATE)
def test_activation_told_apart_sums_to_the_whole(some_links, anchors, params, gate):
    params, graph = dataclasses.replace(params, combine="sum"), links(ROWS, *some_links)
    whole = spread(graph, anchors, params, gate=gate)
    ended = spread(graph, anchors, params, gate=gate, apart=np.arange(ROWS))
    assert (ended.rows.tolist(), ended.values.tolist()) == (whole.rows.tolist(), whole.values.tolist())
    assert (ended.apart >= 0).all()
    assert ended.apart.sum(axis=1) == pytest.approx(ended.values, rel=1e-9)
    silent = [row for row in range(ROWS) if not anchors.get(row)]
    assert not ended.apart[:, silent].any()


@given(LINKS, ANCHORS, PARAMS, GATE)
def test_where_nothing_is_taken_or_cut_each_part_is_what_that_anchor_brings_alone(
    some_links, anchors, params, gate
):
    params = dataclasses.replace(params, combine="sum", suppressing=(), max_nodes=None, epsilon=0.0)
    graph, rows = links(ROWS, *some_links), np.array(sorted(anchors), np.int64)
    ended = spread(graph, anchors, params, gate=gate, apart=rows)
    for at, row in enumerate(rows.tolist()):
        alone = values(graph, {row: anchors[row]}, params, gate=gate)
        parts = dict(zip(ended.rows.tolist(), ended.apart[:, at].tolist(), strict=True))
        assert {key: value for key, value in parts.items() if value} == pytest.approx(alone, rel=1e-9)


# ── flow ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_flow_tells_what_came_into_a_row_link_by_link_and_step_by_step():
    graph = links(3, (0, 1, 0.5, "next"), (1, 2, 0.5, "requires"), (0, 2, 0.25, "next"))
    flow = spread(graph, {0: 1.0}, plain(steps=2, retention=1.0)).flow
    assert list(flow.into(2)) == [
        (0, 2, "next", 1, 0.25),
        (0, 2, "next", 2, 0.25),
        (1, 2, "requires", 2, 0.25),
    ]
    assert list(flow.into(0)) == []
    source, target, relation, step, amount = flow.into(1)[0]
    assert (source, target, relation, step, amount) == (0, 1, "next", 1, 0.5)


def test_flow_runs_as_the_energy_moved_and_remembers_how_the_link_is_stored():
    flow = spread(links(2, (1, 0, 0.5, "next")), {0: 1.0}, plain(direction="both")).flow
    (arrival,) = flow.into(1)
    assert arrival == (0, 1, "next", 1, 0.5)
    assert not arrival.forward
    assert arrival.key == (1, 0, "next")


def test_suppression_does_not_count_as_arrival():
    graph = links(2, (0, 1, 0.5, "conflicts"))
    flow = spread(graph, {0: 1.0, 1: 1.0}, plain()).flow
    assert flow.into(0) == flow.into(1) == ()


@given(LINKS, ANCHORS, PARAMS, GATE)
def test_flow_accounts_for_every_value_step_by_step(some_links, anchors, params, gate):
    params = dataclasses.replace(params, suppressing=(), max_nodes=None)
    flow = spread(links(ROWS, *some_links), anchors, params, gate=gate).flow
    assert flow.steps == params.steps
    for row in range(ROWS):
        into = flow.into(row)
        assert [arrival.step for arrival in into] == sorted(arrival.step for arrival in into)
        for step in range(1, params.steps + 1):
            came = [arrival.amount for arrival in into if arrival.step == step]
            rest = params.retention * flow.values(step - 1).get(row, 0.0)
            fed = params.restart * flow.values(0).get(row, 0.0)
            total = max([rest, *came]) if params.combine == "max" else rest + fed + sum(came)
            assert flow.values(step).get(row, 0.0) == pytest.approx(total, rel=1e-9, abs=1e-300)


def test_flow_of_a_row_outside_the_graph_is_refused():
    flow = spread(links(2, (0, 1, 0.5)), {0: 1.0}, PRIMING).flow
    with pytest.raises(ParamError, match=r"^row = 2: must be a row in \[0, 2\)$"):
        flow.into(2)


# ── bad input ───────────────────────────────────────────────────────────────────────────────────────────────


@each_row(
    ("anchors", "message"),
    [
        ({2: 1.0}, r"anchors = 2: must be a row in \[0, 2\)"),
        ({-1: 1.0}, r"anchors = -1: must be a row in \[0, 2\)"),
        ({0: -0.5}, "anchors = -0.5: must be finite and ≥ 0"),
        ({0: math.nan}, "anchors = nan: must be finite and ≥ 0"),
        ({0: math.inf}, "anchors = inf: must be finite and ≥ 0"),
        ({0.5: 1.0}, r"anchors = \[0.5\]: must hold whole numbers"),
        ({"a": 1.0}, r"anchors = \['a'\]: must hold whole numbers"),
        (([0, 0], [0.1, 0.2]), "anchors = 0: must name each row once"),
        (([0, 1], [0.1]), "anchors = 1: must be one activation a row, 2"),
    ],
)
def test_bad_anchors_are_refused(anchors, message):
    with pytest.raises(ParamError, match=f"^{message}$"):
        spread(links(2, (0, 1, 0.5)), anchors, PRIMING)


@each_row(
    ("gate", "message"),
    [
        ([1.0], r"gate = \(1,\): must have one factor a row, shape \(2,\)"),
        (1.0, r"gate = \(\): must have one factor a row, shape \(2,\)"),
        ([1.0, -1.0], "gate = -1.0: must be finite and ≥ 0"),
        ([math.nan, 1.0], "gate = nan: must be finite and ≥ 0"),
        ([math.inf, 1.0], "gate = inf: must be finite and ≥ 0"),
        (["open", "shut"], r"gate = \['open', 'shut'\]: must be an array of numbers"),
    ],
)
def test_bad_gates_are_refused(gate, message):
    with pytest.raises(ParamError, match=f"^{message}$"):
        spread(links(2, (0, 1, 0.5)), {0: 1.0}, PRIMING, gate=gate)


@each_row("factor", [-1.0, math.nan, math.inf])
def test_of_a_long_gate_the_entries_that_energy_meets_are_checked(factor):
    n = 100_000
    gate = np.ones(n)
    gate[7] = factor
    graph = Graph.from_links(n, [5, 7], [6, 8], [1.0, 1.0])
    assert values(graph, {5: 1.0}, PLAIN, gate=gate) == {6: 1.0}
    graph = Graph.from_links(n, [5], [7], [1.0])
    with pytest.raises(ParamError, match=f"^gate = {factor}: must be finite and ≥ 0$"):
        spread(graph, {5: 1.0}, PLAIN, gate=gate)


def test_activation_beyond_the_largest_float_is_an_error_and_not_a_result():
    ring = links(2, (0, 1, 1e200), (1, 0, 1e200))
    with pytest.raises(ParamError, match=r"^gain = 1.0: must be smaller"):
        spread(ring, {0: 1.0}, plain(steps=3))


def test_vanishing_weights_share_without_overflow():
    result = values(links(3, (0, 1, 5e-324), (0, 2, 1e-320)), {0: 1.0}, plain(normalise="share"))
    assert all(math.isfinite(value) for value in result.values())
