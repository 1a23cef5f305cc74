"""The arithmetic of the default recall (RECALL.md, per cue 4, 5, 7, 8 and 9)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.recall.fusion import (
    best_rows,
    blend_anchors,
    bridge,
    combined_evidence,
    fuse,
    give_way,
    route_score,
    softmax_anchors,
)

amounts = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40).map(np.array)


def test_fusion_is_the_weighted_sum_of_the_parts_that_have_a_weight():
    parts = {"bm25": np.array([1.0, 0.5]), "cosine": np.array([0.0, 1.0]), "silent": np.array([9.0, 9.0])}
    assert fuse(parts, {"bm25": 0.3, "cosine": 0.6}).tolist() == pytest.approx([0.3, 0.75])


def test_evidence_is_relative_to_the_best_and_never_negative():
    h = combined_evidence(np.array([0.4, 0.2, 0.0]), np.array([0.1, 0.05, -0.5]))
    assert h.tolist() == pytest.approx([1.0, 0.5, 0.0])


@given(amounts, st.integers(1, 30))
def test_the_best_are_the_largest_positive_values_in_order(values, count):
    chosen = best_rows(values, count).tolist()
    expected = sorted((i for i in range(len(values)) if values[i] > 0), key=lambda i: (-values[i], i))[:count]
    assert chosen == expected


@given(amounts, st.integers(1, 30), st.floats(0.01, 1.0))
def test_anchors_sum_to_one_and_keep_the_order_of_the_evidence(h, count, temperature):
    rows, a = softmax_anchors(h, count, temperature)
    if not h.any():
        assert len(rows) == 0
        return
    assert a.sum() == pytest.approx(1.0)
    assert all(a[:-1] >= a[1:])
    assert rows.tolist() == best_rows(h, count).tolist()


def test_two_anchors_a_temperature_apart_stand_as_e_to_one():
    _, a = softmax_anchors(np.array([1.0, 0.92]), 20, 0.08)
    assert a[0] / a[1] == pytest.approx(math.e)


@given(st.floats(0.0, 1.0))
def test_blended_anchors_still_sum_to_one(share):
    first = (np.array([4, 2]), np.array([0.75, 0.25]))
    second = (np.array([2, 9]), np.array([0.5, 0.5]))
    rows, a = blend_anchors(first, second, share)
    assert rows.tolist() == [2, 4, 9]
    assert a.sum() == pytest.approx(1.0)
    assert a[0] == pytest.approx((1 - share) * 0.25 + share * 0.5)


@given(amounts)
def test_without_priors_the_route_score_keeps_the_order_of_activation(x):
    score = route_score(x, np.zeros(len(x)), 0.08, 1e-5)
    assert (np.diff(score[np.argsort(x)]) >= -1e-12).all()
    assert np.isfinite(score).all()


def test_tenfold_activation_is_worth_tau_times_ln_ten():
    score = route_score(np.array([0.1, 0.01]), np.zeros(2), 0.08, 0.0)
    assert score[0] - score[1] == pytest.approx(0.08 * math.log(10))


@st.composite
def hits(draw):
    """Scores in order, the terms that each hit holds, what terms are worth, groups, and who stands alone."""
    count, terms = draw(st.integers(1, 30)), draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = np.sort(rng.random(count))[::-1]
    held, worth, group = rng.random((count, terms)) < 0.4, rng.random(terms) + 0.1, rng.integers(-1, 4, count)
    return scores, held, worth, group, rng.random(count) < 0.7


@given(hits(), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(1, 12))
def test_what_gives_way_keeps_the_best_loses_nothing_and_never_rises(given_hits, words, weight, count):
    scores, held, worth, group, alone = given_hits
    order, after, repeated = give_way(scores, held, worth, group, alone, words, weight, count)
    assert sorted(order.tolist()) == list(range(len(scores)))
    assert after[order].tolist() == sorted(after.tolist(), reverse=True)
    assert (after <= scores).all()
    assert (order[0], after[0]) == (0, scores[0])
    assert after == pytest.approx(scores - weight * repeated)
    assert not repeated[~alone & (group == -1)].any()
    assert all(0 <= value <= 1 for value in repeated)


@given(hits())
def test_nothing_gives_way_at_no_strength(given_hits):
    scores, held, worth, group, alone = given_hits
    order, after, _ = give_way(scores, held, worth, group, alone, 1.0, 0.0, 20)
    assert order.tolist() == list(range(len(scores)))
    assert after.tolist() == scores.tolist()


def test_a_hit_is_covered_by_what_its_words_are_worth():
    held = np.array([[True, False, True], [True, True, False], [False, False, False]])
    scores, worth, alone = np.array([0.9, 0.8, 0.1]), np.array([3.0, 1.0, 5.0]), np.full(3, True)
    _, after, repeated = give_way(scores, held, worth, np.full(3, -1), alone, 1.0, 0.4, 3)
    assert repeated.tolist() == pytest.approx([0.0, 0.75 / 2, 1.0 / 2])
    assert after.tolist() == pytest.approx([0.9, 0.65, -0.1])


def test_each_further_hit_of_a_heading_yields_by_half_of_what_is_left():
    group = np.array([7, 7, -1, 7, -1])
    held, alone = np.ones((5, 0), np.bool_), np.full(5, True)
    _, _, repeated = give_way(np.zeros(5), held, np.zeros(0), group, alone, 1.0, 0.4, 5)
    assert sorted(repeated.tolist()) == [0.0, 0.0, 0.0, 0.5 / 2, 0.75 / 2]


@given(amounts, st.floats(0.1, 9.0), st.floats(0.1, 9.0))
def test_what_leads_on_has_a_name_and_the_rest_and_both_count_alike(named, rarest, whole):
    rest = named[::-1]
    b = bridge(named, rarest, rest, whole)
    assert ((b >= 0) & (b <= 1)).all()
    assert not b[(named == 0) | (rest == 0)].any()
    assert b.tolist() == pytest.approx(bridge(rest, rarest, named, whole).tolist())
