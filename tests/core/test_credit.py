from __future__ import annotations

import dataclasses
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.laws import SpreadParams
from priming.core.credit import credit, path_credit, strongest_paths
from priming.core.graph import Graph
from priming.core.spread import spread
from priming.errors import ParamError

PLAIN = SpreadParams(
    steps=2, gain=1.0, retention=1.0, restart=0.0, normalise="none", direction="out", epsilon=0.0
)
A, B, C, H = 0, 1, 2, 3


def flow_of(n, links, anchors, **changes):
    filled = [(*link, "similar-to") if len(link) == 3 else link for link in links]
    source, target, weight, relation = zip(*filled, strict=True) if filled else ((),) * 4
    graph = Graph.from_links(n, list(source), list(target), list(weight), relation=relation)
    return spread(graph, anchors, dataclasses.replace(PLAIN, **changes)).flow


def test_credit_follows_the_routes_in_proportion_to_what_they_brought():
    flow = flow_of(4, [(A, B, 0.5), (B, H, 0.5), (C, H, 0.25)], {A: 1.0, C: 1.0})
    expected = {(C, H, "similar-to"): 2 / 3, (A, B, "similar-to"): 1 / 3, (B, H, "similar-to"): 1 / 3}
    assert credit(flow, H) == pytest.approx(expected, abs=1e-12)
    assert next(iter(credit(flow, H))) == (C, H, "similar-to")


def test_links_below_the_floor_are_left_out():
    flow = flow_of(3, [(A, H - 1, 0.96), (B, H - 1, 0.04)], {A: 1.0, B: 1.0}, steps=1)
    assert list(credit(flow, 2)) == [(A, 2, "similar-to")]
    assert list(credit(flow, 2, floor=0.03)) == [(A, 2, "similar-to"), (B, 2, "similar-to")]
    assert credit(flow, 2, floor=1.0) == {}


def test_a_link_walked_backwards_is_credited_as_it_is_stored():
    flow = flow_of(2, [(1, 0, 0.5, "requires")], {0: 1.0}, direction="both", steps=1)
    assert credit(flow, 1) == {(1, 0, "requires"): 1.0}


def test_parallel_links_of_one_relation_share_an_entry_and_of_two_do_not():
    flow = flow_of(2, [(0, 1, 0.25), (0, 1, 0.5), (0, 1, 0.25, "next")], {0: 1.0}, steps=1)
    assert credit(flow, 1) == {(0, 1, "similar-to"): 0.75, (0, 1, "next"): 0.25}


def test_what_restarts_at_an_anchor_is_no_links_doing():
    # After one step row 1 holds .5 fed in again and .5 from row 0.
    flow = flow_of(2, [(0, 1, 0.5)], {0: 1.0, 1: 1.0}, steps=1, retention=0.0, restart=0.5)
    assert credit(flow, 1) == {(0, 1, "similar-to"): 0.5}


def test_an_anchor_that_got_nothing_over_links_credits_none():
    flow = flow_of(3, [(0, 1, 0.5)], {0: 1.0, 2: 1.0})
    assert credit(flow, 2) == credit(flow, 0) == {}


def test_a_row_that_was_not_reached_credits_none():
    assert credit(flow_of(3, [(0, 1, 0.5)], {0: 1.0}), 2) == {}


def test_a_row_that_lost_everything_in_the_end_credits_none():
    flow = flow_of(3, [(0, 2, 0.5), (1, 2, 9.0, "overrides")], {0: 1.0, 1: 1.0})
    assert credit(flow, 2) == {}


def test_suppression_does_not_move_the_shares():
    routes = [(0, 2, 0.5), (1, 2, 0.25)]
    anchors = {0: 1.0, 1: 1.0}
    free = credit(flow_of(4, routes, anchors, steps=1), 2)
    held_down = credit(flow_of(4, [*routes, (3, 2, 0.5, "overrides")], {**anchors, 3: 1.0}, steps=1), 2)
    assert held_down == free


def test_under_max_the_winner_takes_all():
    flow = flow_of(3, [(0, 2, 0.5), (1, 2, 0.25)], {0: 1.0, 1: 1.0}, combine="max", steps=1)
    assert credit(flow, 2) == {(0, 2, "similar-to"): 1.0}


def test_under_max_ties_go_to_the_retained_part_and_then_to_the_lowest_source():
    links = [(1, 2, 0.5), (0, 2, 0.5)]
    assert credit(flow_of(3, links, {0: 1.0, 1: 1.0}, combine="max", steps=1), 2) == {
        (0, 2, "similar-to"): 1.0
    }
    assert credit(flow_of(3, links, {0: 1.0, 1: 1.0, 2: 0.5}, combine="max", steps=1), 2) == {}


def test_without_steps_nothing_is_credited():
    assert credit(flow_of(2, [(0, 1, 0.5)], {0: 1.0}, steps=0), 0) == {}


@each_row(
    ("target", "floor", "message"),
    [
        (2, 0.05, r"target = 2: must be a row in \[0, 2\)"),
        (0, -0.1, r"floor = -0.1: must be in \[0, 1\]"),
        (0, 1.5, r"floor = 1.5: must be in \[0, 1\]"),
        (0, math.nan, r"floor = nan: must be in \[0, 1\]"),
    ],
)
def test_bad_arguments_are_refused(target, floor, message):
    with pytest.raises(ParamError, match=f"^{message}$"):
        credit(flow_of(2, [(0, 1, 0.5)], {0: 1.0}), target, floor=floor)


LINK = st.tuples(
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from([0.25, 0.5, 1.0]),
    st.sampled_from(["next", "requires"]),
)
FORMS = st.fixed_dictionaries(
    {
        "steps": st.integers(0, 4),
        "retention": st.sampled_from([0.0, 0.5, 1.0]),
        "restart": st.sampled_from([0.0, 0.25]),
        "combine": st.sampled_from(["sum", "max"]),
        "direction": st.sampled_from(["out", "both"]),
        "normalise": st.sampled_from(["none", "fan", "share"]),
    }
)


def slow_credit(flow, target):
    """The law by recursion from the end, instead of step by step."""
    shares = {}

    def trace(row, step, r):
        if not step:
            return
        came = [arrival for arrival in flow.into(row) if arrival.step == step]
        rest = flow.params.retention * flow.values(step - 1).get(row, 0.0)
        fed = flow.params.restart * flow.values(0).get(row, 0.0)
        if flow.params.combine == "max":
            most = max((arrival.amount for arrival in came), default=0.0)
            came = [] if rest >= most else [next(arrival for arrival in came if arrival.amount == most)]
            rest, fed = (1.0, 0.0) if not came else (0.0, 0.0)
        total = rest + fed + sum(arrival.amount for arrival in came)
        if rest:
            trace(row, step - 1, r * rest / total)
        for arrival in came:
            part = r * arrival.amount / total
            shares[arrival.key] = shares.get(arrival.key, 0.0) + part
            trace(arrival.source, step - 1, part)

    if target in flow.values(flow.steps):
        trace(target, flow.steps, 1.0)
    return shares


@given(st.lists(LINK, max_size=8), st.dictionaries(st.integers(0, 5), st.just(1.0), max_size=3), FORMS)
def test_it_equals_the_slow_recursion(links, anchors, form):
    flow = flow_of(6, links, anchors, **form)
    for target in range(6):
        assert credit(flow, target, floor=0.0) == pytest.approx(slow_credit(flow, target), rel=1e-9)


# ── the strongest path ──────────────────────────────────────────────────────────────────────────────────────


def hops(path):
    return [(arrival.source, arrival.target) for arrival in path]


def strongest_path(flow, target):
    return strongest_paths(flow, [target])[target]


def test_the_strongest_path_leads_from_an_anchor_to_the_target():
    flow = flow_of(4, [(A, B, 1.0), (B, H, 0.9), (C, H, 0.1)], {A: 1.0, C: 1.0}, retention=0.0)
    assert hops(strongest_path(flow, H)) == [(A, B), (B, H)]
    assert [arrival.step for arrival in strongest_path(flow, H)] == [1, 2]


def test_the_path_waits_where_activation_was_retained():
    flow = flow_of(2, [(0, 1, 0.5)], {0: 1.0}, steps=4, retention=1.0)
    assert hops(strongest_path(flow, 1)) == [(0, 1)]


def test_an_anchor_and_a_row_out_of_reach_have_no_path():
    flow = flow_of(3, [(0, 1, 0.5)], {0: 1.0})
    assert strongest_path(flow, 0) == strongest_path(flow, 2) == ()


def test_the_path_ends_at_the_first_anchor_and_not_where_that_got_its_own():
    flow = flow_of(3, [(0, 1, 9.0), (1, 2, 1.0)], {0: 1.0, 1: 0.1}, retention=0.0)
    assert hops(strongest_path(flow, 2)) == [(1, 2)]


def test_no_path_begins_at_an_anchor_of_next_to_nothing():
    flow = flow_of(3, [(0, 1, 0.5), (1, 2, 0.5)], {0: 1.0, 1: 1e-6, 2: 1e-7})
    assert hops(strongest_path(flow, 2)) == [(0, 1), (1, 2)]


def test_rounds_are_cut_out_of_the_path():
    # What reaches row 2 last has gone 0 → 1 → 3 → 1 → 2.
    links = [(0, 1, 1.0), (1, 3, 1.0), (3, 1, 9.0), (1, 2, 1.0)]
    flow = flow_of(4, links, {0: 1.0}, steps=4, retention=0.0)
    assert hops(strongest_path(flow, 2)) == [(0, 1), (1, 2)]


@given(st.lists(LINK, max_size=14), st.dictionaries(st.integers(0, 5), st.just(1.0), max_size=3), FORMS)
def test_paths_are_unbroken_simple_and_start_at_an_anchor(links, anchors, form):
    flow = flow_of(6, links, anchors, **form)
    ended = flow.values(flow.steps)
    paths = strongest_paths(flow, range(6))
    for row, path in paths.items():
        assert bool(path) == (row in ended and row not in anchors)
        if path:
            visited = [path[0].source, *(arrival.target for arrival in path)]
            assert visited[0] in anchors
            assert visited[-1] == row
            assert len(set(visited)) == len(visited)
            assert all(item.target == other.source for item, other in pairwise(path))
            assert strongest_path(flow, row) == path


BOTH_WAYS = {
    "direction": "both",
    "steps": 4,
    "gain": 0.8,
    "retention": 0.0,
    "restart": 0.2,
    "normalise": "share",
}


def test_credit_along_paths_names_the_links_of_the_path_and_no_other():
    # A–B–H, and a leaf at each of them, to which energy goes and from which it comes back.
    links = [(A, B, 0.5), (B, H, 0.5), (A, 4, 0.5), (B, 5, 0.5), (H, 6, 0.5), (C, 6, 0.5)]
    flow = flow_of(7, links, {A: 1.0}, **BOTH_WAYS)
    assert path_credit(flow, H) == pytest.approx({(A, B, "similar-to"): 1.0, (B, H, "similar-to"): 1.0})
    assert len(credit(flow, H)) > 2


def test_two_paths_share_the_credit_by_what_they_carried():
    # Of A's energy C gets thrice what B gets, and both hand on all of it.
    links = [(A, B, 0.25), (A, C, 0.75), (B, H, 1.0), (C, H, 1.0)]
    flow = flow_of(4, links, {A: 1.0}, normalise="share", retention=0.0)
    expected = {
        (A, C, "similar-to"): 0.75,
        (C, H, "similar-to"): 0.75,
        (A, B, "similar-to"): 0.25,
        (B, H, "similar-to"): 0.25,
    }
    assert path_credit(flow, H) == pytest.approx(expected)


def test_what_a_target_held_as_an_anchor_is_no_links_doing():
    flow = flow_of(2, [(0, 1, 0.5)], {0: 1.0, 1: 1.5}, steps=1)
    assert path_credit(flow, 1) == pytest.approx({(0, 1, "similar-to"): 0.25})
    assert path_credit(flow, 0) == {}


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.2, 0.5, 1.0])), max_size=10),
    st.sampled_from(["sum", "max"]),
    st.sampled_from([0.0, 0.5]),
)
def test_where_no_path_comes_back_credit_along_paths_is_credit(links, combine, restart):
    forward = [(min(u, v), max(u, v), w) for u, v, w in links if u != v]
    flow = flow_of(6, forward, {0: 1.0, 1: 0.5}, combine=combine, restart=restart, steps=3, normalise="fan")
    for row in range(6):
        assert path_credit(flow, row) == pytest.approx(credit(flow, row), abs=0.02)
