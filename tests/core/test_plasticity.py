import math
import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.plasticity import (
    AUTOMATIC,
    CONSCIOUS,
    TIERS,
    birth_weight,
    co_activation_pairs,
    edge_is_due,
    edge_is_spent,
    hebb,
    increment,
    manual,
    normalize_strength,
    nudge,
    oja,
)
from priming.errors import ParamError

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)

weights = st.floats(0, 1)
activations = st.floats(0, 1)
anything = st.one_of(st.floats(0, 1e308), st.sampled_from([math.nan, math.inf, -math.inf]))


# Oja


def test_oja_weakens_a_strong_link_to_a_weak_partner():
    assert oja(0.9, 0.1, 0.5) == pytest.approx(0.89125, abs=1e-12)


@each_row("position", [0, 1, 2])
@each_row("damage", [math.nan, math.inf, -math.inf])
def test_oja_answers_damage_with_the_floor(position, damage):
    arguments = [0.5, 0.5, 0.5]
    arguments[position] = damage
    assert oja(*arguments) == 0.01


def test_oja_answers_damage_only_where_it_is():
    assert oja([0.9, math.nan], 0.1, 0.5).tolist() == [oja(0.9, 0.1, 0.5), 0.01]


@given(anything, anything, anything)
def test_oja_stays_in_its_bounds_whatever_comes(w, a_i, a_j):
    assert 0.01 <= oja(w, a_i, a_j) <= 0.95


@given(st.floats(0.1, 0.9), st.floats(0.1, 1))
def test_oja_settles_where_the_weight_is_the_ratio_of_the_activations(ratio, a_j):
    w = 0.5
    for _ in range(20):
        before, w = w, oja(w, ratio * a_j, a_j, eta=0.9)
        assert abs(w - ratio) <= abs(before - ratio) + 1e-12
    assert oja(ratio, ratio * a_j, a_j) == pytest.approx(ratio, abs=1e-12)


# Hebb and the linker


def test_hebb_closes_a_tenth_of_the_gap():
    assert hebb(0.5) == pytest.approx(0.55, abs=1e-12)


@given(weights, st.integers(0, 30), st.floats(0, 1))
def test_hebb_follows_its_closed_form_and_never_passes_one(w, n, eta):
    moved = w
    for _ in range(n):
        before, moved = moved, hebb(moved, eta)
        assert before <= moved <= 1
    assert moved == pytest.approx(1 - (1 - w) * (1 - eta) ** n, abs=1e-12)


def test_a_link_found_again_gains_a_tenth_up_to_one():
    assert increment(0.6) == pytest.approx(0.7, abs=1e-12)
    assert increment(0.95) == 1
    assert increment(0.6, delta=0.3, hi=0.8) == 0.8


# nudges and tiers


def test_the_tiers_are_a_thousand_apart_and_the_manual_one_sets():
    assert AUTOMATIC == 0.00001
    assert CONSCIOUS == 0.01
    assert TIERS == {"automatic": 0.00001, "conscious": 0.01, "manual": None}


def test_a_hundred_automatic_nudges_add_up_to_a_thousandth():
    w = 0.5
    for _ in range(100):
        w = nudge(w, AUTOMATIC)
    assert abs(w - 0.501) < 1e-12


def test_two_links_between_two_nodes_move_together():
    assert nudge([0.4, 0.6], -CONSCIOUS) == pytest.approx([0.39, 0.59], abs=1e-12)


def test_a_nudge_stops_at_the_bounds():
    assert nudge(0.945, CONSCIOUS) == 0.95
    assert nudge(0.055, -CONSCIOUS) == 0.05


def test_a_nudge_up_leaves_a_link_at_one_and_a_nudge_down_leaves_one_at_zero():
    assert nudge(1.0, CONSCIOUS) == 1
    assert nudge(0.0, -CONSCIOUS) == 0


def test_a_nudge_towards_the_bounds_from_outside_reaches_them():
    assert nudge(1.0, -CONSCIOUS) == 0.95
    assert nudge(0.0, CONSCIOUS) == 0.05


@given(st.floats(0, 2), st.floats(-1, 1))
def test_a_nudge_never_goes_against_its_sign(w, delta):
    moved = nudge(w, delta)
    assert (moved - w) * delta >= 0
    if delta == 0:
        assert moved == w


@given(st.floats(0.05, 0.95), st.floats(-1, 1))
def test_a_nudge_within_the_bounds_is_a_clamped_sum(w, delta):
    assert nudge(w, delta) == min(max(w + delta, 0.05), 0.95)


def test_the_manual_tier_sets_within_the_bounds_and_says_when_it_clamps():
    assert manual(0.7) == (0.7, False)
    assert manual(0.95) == (0.95, False)
    assert manual(1.0) == (0.95, True)
    assert manual(0.0) == (0.05, True)


def test_normalised_strength_is_three_times_the_overlap_within_bounds():
    assert normalize_strength(0.2) == pytest.approx(0.6, abs=1e-12)
    assert normalize_strength(0.0) == 0.1
    assert normalize_strength(0.5) == 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_normalised_strength_rises_with_overlap(a, b):
    low, high = sorted((a, b))
    assert 0.1 <= normalize_strength(low) <= normalize_strength(high) <= 1


# co-activation


def test_pairs_are_both_strong_not_both_seeds_ordered_and_sorted():
    values = {"d": 0.3, "a": 1.0, "c": 0.15, "b": 0.9, "e": 0.149}
    assert co_activation_pairs(values, ["a", "b"]) == [
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
        ("c", "d"),
    ]


def test_the_threshold_can_be_raised():
    assert co_activation_pairs({1: 0.5, 2: 0.4, 3: 0.2}, [], threshold=0.3) == [(1, 2)]


@given(st.dictionaries(st.integers(0, 30), st.floats(0, 1), max_size=15), st.sets(st.integers(0, 30)))
def test_pairs_equal_the_rule_tried_on_every_pair(values, seeds):
    expected = [
        (a, b)
        for a in sorted(values)
        for b in sorted(values)
        if a < b and values[a] >= 0.15 and values[b] >= 0.15 and not (a in seeds and b in seeds)
    ]
    assert co_activation_pairs(values, seeds) == expected


def test_nothing_active_makes_no_pairs():
    assert co_activation_pairs({}, []) == []


# the birth and the end of an edge


def days_ago(*days):
    return [NOW - timedelta(days=day) for day in days]


def test_an_edge_is_due_at_the_third_time_within_a_week():
    assert not edge_is_due(days_ago(0), NOW)
    assert not edge_is_due(days_ago(3, 0), NOW)
    assert edge_is_due(days_ago(6, 3, 0), NOW)


def test_exactly_seven_days_ago_still_counts_and_a_microsecond_more_does_not():
    assert edge_is_due(days_ago(7, 3, 0), NOW)
    late = NOW - timedelta(days=7, microseconds=1)
    assert not edge_is_due([late, *days_ago(3, 0)], NOW)


def test_times_to_come_do_not_count():
    assert not edge_is_due([NOW + timedelta(seconds=1), *days_ago(3, 0)], NOW)


def test_the_window_and_the_number_can_be_chosen():
    assert edge_is_due(days_ago(1, 0), NOW, window_days=1, needed=2)
    assert not edge_is_due(days_ago(1.5, 0), NOW, window_days=1, needed=2)


def test_time_zones_and_changes_of_the_clock_make_no_difference():
    berlin = ZoneInfo("Europe/Berlin")
    now = datetime(2026, 3, 30, 12, tzinfo=berlin)  # the clocks went forward on the 29th
    week = (now.astimezone(UTC) - timedelta(days=7)).astimezone(berlin)
    assert edge_is_due([week, now, now.astimezone(timezone(timedelta(hours=-5)))], now)
    assert not edge_is_due([week - timedelta(microseconds=1), now, now], now)


@given(st.lists(st.floats(-2, 20), max_size=8), st.floats(0, 20))
def test_a_wider_window_never_makes_an_edge_less_due(days, window):
    times = days_ago(*days)
    assert not edge_is_due(times, NOW, window_days=window) or edge_is_due(times, NOW, window_days=window + 1)


def test_an_edge_is_born_with_ojas_step_from_a_tenth():
    assert birth_weight(0.8, 0.5) == pytest.approx(0.1 + 0.05 * (0.8 * 0.5 - 0.25 * 0.1), abs=1e-12)


def test_an_edge_is_spent_once_it_has_decayed_below_a_hundredth():
    halfway = 100 * math.log(0.5 / 0.01)
    assert edge_is_spent(0.5, halfway - 0.01) is False
    assert edge_is_spent(0.5, halfway + 0.01) is True
    assert edge_is_spent([0.5, 0.009], 0.0).tolist() == [False, True]


# what all of them share


@each_row(
    ("law", "first", "second"),
    [
        (hebb, [0.0, 0.5, 1.0], [0.1, 1.0]),
        (increment, [0.0, 0.5, 1.0], [0.1, 1.0]),
        (nudge, [0.0, 0.5, 1.0], [-0.01, 0.0, 0.01]),
        (birth_weight, [0.0, 0.5, 1.0], [0.1, 1.0]),
    ],
)
def test_broadcasting_equals_a_loop_over_scalars(law, first, second):
    expected = [[law(a, b) for b in second] for a in first]
    assert law(np.array(first)[:, None], np.array(second)).tolist() == expected
    assert type(law(first[1], second[0])) is float


def test_inputs_are_not_changed():
    w = np.array([0.4, 1.0])
    for law in (lambda: nudge(w, 0.1), lambda: oja(w, 0.5, 0.5), lambda: hebb(w), lambda: increment(w)):
        law()
    assert w.tolist() == [0.4, 1.0]


@each_row(
    ("call", "message"),
    [
        (lambda: oja(-0.1, 0.5, 0.5), "w = -0.1: must be finite and ≥ 0"),
        (lambda: oja(0.5, -0.5, 0.5), "a_i = -0.5: must be finite and ≥ 0"),
        (lambda: oja("x", 0.5, 0.5), "w = 'x': must be a number"),
        (lambda: oja(0.5, 0.5, 0.5, eta=1.5), "eta = 1.5: must be in [0, 1]"),
        (lambda: oja(0.5, 0.5, 0.5, eta=math.nan), "eta = nan: must be in [0, 1]"),
        (lambda: oja(0.5, 0.5, 0.5, lo=0.9, hi=0.1), "lo = 0.9: must be ≤ hi = 0.1"),
        (lambda: hebb(1.2), "w = 1.2: must be in [0, 1]"),
        (lambda: hebb(0.5, eta=-0.1), "eta = -0.1: must be in [0, 1]"),
        (lambda: increment(math.nan), "w = nan: must be finite and ≥ 0"),
        (lambda: increment(0.5, delta=-0.1), "delta = -0.1: must be finite and ≥ 0"),
        (lambda: nudge(-0.1, 0.01), "w = -0.1: must be finite and ≥ 0"),
        (lambda: nudge(0.5, math.nan), "delta = nan: must be finite"),
        (lambda: nudge(0.5, 0.01, lo=-1), "lo = -1.0: must be in [0, 1]"),
        (lambda: manual(1.01), "weight = 1.01: must be in [0, 1]"),
        (lambda: manual(-0.01), "weight = -0.01: must be in [0, 1]"),
        (lambda: normalize_strength(1.1), "jaccard = 1.1: must be in [0, 1]"),
        (lambda: co_activation_pairs({"a": -0.5}, []), "activations = -0.5: must be finite and ≥ 0"),
        (lambda: co_activation_pairs([0.5], []), "activations = [0.5]: must be a mapping"),
        (lambda: co_activation_pairs({}, "ab"), "seeds = 'ab': must be a collection of nodes"),
        (lambda: co_activation_pairs({}, [], threshold=-1), "threshold = -1.0: must be finite and ≥ 0"),
        (
            lambda: edge_is_due([datetime(2026, 1, 1)], NOW),
            "times = '2026-01-01T00:00:00': must have a time zone",
        ),
        (lambda: edge_is_due([], datetime(2026, 1, 1)), "now = '2026-01-01T00:00:00': must have a time zone"),
        (lambda: edge_is_due([], NOW, window_days=-1), "window_days = -1.0: must be finite and ≥ 0"),
        (lambda: edge_is_due([], NOW, needed=0), "needed = 0: must be a whole number ≥ 1"),
        (lambda: edge_is_spent(0.5, -1), "hours = -1.0: must be finite and ≥ 0"),
        (lambda: edge_is_spent(0.5, 1, below=2), "below = 2.0: must be in [0, 1]"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()
