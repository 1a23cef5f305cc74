"""The arithmetic of the default recall (RECALL.md, per cue 4, 5 and 8)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.core.recipe import best, blend_anchors, evidence, fuse, lack, route_score, softmax_anchors

amounts = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40).map(np.array)


def test_fusion_is_the_weighted_sum_of_the_parts_that_have_a_weight():
    parts = {"bm25": np.array([1.0, 0.5]), "cosine": np.array([0.0, 1.0]), "silent": np.array([9.0, 9.0])}
    assert fuse(parts, {"bm25": 0.3, "cosine": 0.6}).tolist() == pytest.approx([0.3, 0.75])


def test_evidence_is_relative_to_the_best_and_never_negative():
    h = evidence(np.array([0.4, 0.2, 0.0]), np.array([0.1, 0.05, -0.5]))
    assert h.tolist() == pytest.approx([1.0, 0.5, 0.0])


@given(amounts, st.integers(1, 30))
def test_the_best_are_the_largest_positive_values_in_order(values, count):
    chosen = best(values, count).tolist()
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
    assert rows.tolist() == best(h, count).tolist()


def test_two_anchors_a_temperature_apart_stand_as_e_to_one():
    _, a = softmax_anchors(np.array([1.0, 0.92]), 20, 0.08)
    assert a[0] / a[1] == pytest.approx(math.e)


def test_a_name_that_the_best_anchor_covers_lacks_nothing():
    assert lack(np.array([3.0, 3.0, 3.0]), np.array([1.0, 2.5, 0.0])).tolist() == [0.0, 0.0, 3.0]


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
    assert np.argsort(-score, kind="stable").tolist() == np.argsort(-(x + 1e-5), kind="stable").tolist()
    assert np.isfinite(score).all()


def test_tenfold_activation_is_worth_tau_times_ln_ten():
    score = route_score(np.array([0.1, 0.01]), np.zeros(2), 0.08, 0.0)
    assert score[0] - score[1] == pytest.approx(0.08 * math.log(10))
