"""Golden numbers by hand, laws as properties, and scikit-learn as the oracle of AUC."""

import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming import ParamError
from priming.config.params.limits import MetricParams
from priming.learning.replay import reciprocal_rank
from priming_lab.metrics import auc, ndcg_at, paired_difference, percentiles, recall_at

NUMBERS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def oracle():
    """The metrics of scikit-learn, whose import takes seconds."""
    return importlib.import_module("sklearn.metrics")


@each_row(("k", "share"), [(1, 0.0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (9, 2 / 3)])
def test_recall_counts_the_gold_among_the_first_k(k, share):
    assert recall_at({"a", "b", "c"}, ["x", "a", "y", "b"], k) == share


def test_what_stands_twice_counts_once_and_takes_two_places():
    assert recall_at({"a", "b"}, ["a", "a", "b"], 2) == 0.5


@each_row(("ranked", "worth"), [(["a", "x"], 1.0), (["x", "y", "b", "a"], 1 / 3), (["x"], 0.0), ([], 0.0)])
def test_the_first_gold_counts_for_the_reciprocal_rank(ranked, worth):
    assert reciprocal_rank({"a", "b"}, ranked) == worth


def test_a_question_without_gold_cannot_be_scored():
    for figure in (lambda: recall_at([], ["a"], 1), lambda: reciprocal_rank(set(), ["a"])):
        with pytest.raises(ParamError, match="gold"):
            figure()


def test_no_place_is_looked_at_below_one():
    with pytest.raises(ParamError, match="k = 0: must be ≥ 1"):
        recall_at(["a"], ["a"], 0)


# Of 6 pairs: 3 > 1, 3 > 2, 2 > 1 are right, 2 = 2 is half right, and 0 is above neither.
def test_auc_counts_pairs_in_the_right_order_and_half_of_the_ties():
    assert auc([3, 2, 0], [1, 2]) == 3.5 / 6


def test_silence_is_below_every_score():
    assert auc([0.1, -5.0], [-math.inf]) == 1.0
    assert auc([-math.inf], [-math.inf]) == 0.5


@given(NUMBERS, NUMBERS)
def test_auc_is_that_of_scikit_learn(oracle, positives, negatives):
    labels = [1] * len(positives) + [0] * len(negatives)
    assert auc(positives, negatives) == pytest.approx(oracle.roc_auc_score(labels, positives + negatives))


@given(NUMBERS, NUMBERS)
def test_auc_turned_round_is_what_is_left_of_one(positives, negatives):
    assert auc(positives, negatives) + auc(negatives, positives) == pytest.approx(1.0)


@each_row("item", [([], [1.0]), ([1.0], []), ([math.nan], [1.0]), ([1.0], [math.nan])])
def test_auc_refuses_nothing_and_nan(item):
    with pytest.raises(ParamError):
        auc(*item)


# d = 1, 0, 0, -1, 1: mean .2, Σ(d − .2)² = .64 + .04 + .04 + 1.44 + .64 = 2.8, s² = .7, s/√5 = √.14.
def test_a_paired_difference_has_the_error_of_its_mean():
    result = paired_difference([1, 1, 0, 0, 1], [0, 1, 0, 1, 0], np.random.default_rng(1))
    assert result.mean == pytest.approx(0.2)
    assert result.error == pytest.approx(math.sqrt(0.14))


def test_rankings_that_are_equal_differ_by_nothing_for_sure():
    result = paired_difference([0.3, 0.7], [0.3, 0.7], np.random.default_rng(1))
    assert (result.mean, result.error, result.low, result.high) == (0.0, 0.0, 0.0, 0.0)


def test_one_question_has_no_error_to_speak_of():
    assert paired_difference([1.0], [0.5], np.random.default_rng(1)).error == 0.0


# For many questions the bootstrap's interval is the normal one: mean ± 1.96 errors.
def test_the_interval_of_many_questions_is_the_normal_one():
    draws = np.random.default_rng(5)
    ours = draws.normal(0.3, 1.0, 2_000)
    result = paired_difference(ours, np.zeros(2_000), np.random.default_rng(6))
    assert result.low == pytest.approx(result.mean - 1.96 * result.error, abs=0.2 * result.error)
    assert result.high == pytest.approx(result.mean + 1.96 * result.error, abs=0.2 * result.error)


def test_a_lower_level_makes_a_narrower_interval():
    ours, theirs = np.arange(20.0) % 7, np.zeros(20)
    wide, narrow = (
        paired_difference(ours, theirs, np.random.default_rng(2), params=MetricParams(level=level))
        for level in (0.99, 0.5)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_same_rng_gives_the_same_interval():
    item, other = (paired_difference([1, 0, 1], [0, 0, 1], np.random.default_rng(3)) for _ in range(2))
    assert item == other


def test_different_numbers_of_questions_cannot_be_compared():
    with pytest.raises(ParamError, match="theirs = 1: must be as many as ours, 2"):
        paired_difference([1, 2], [1], np.random.default_rng(1))


def test_percentiles_lie_on_lines_between_neighbours():
    assert percentiles([10, 0], (0.0, 0.25, 0.5, 1.0)) == (0.0, 2.5, 5.0, 10.0)


@given(NUMBERS, st.floats(0, 1))
def test_percentiles_are_those_of_numpy(values, share):
    assert percentiles(values, (share,))[0] == pytest.approx(float(np.percentile(values, 100 * share)))


def test_percentiles_refuse_nothing_and_shares_beyond_one():
    for values, shares in (([], (0.5,)), ([1.0], (1.5,))):
        with pytest.raises(ParamError):
            percentiles(values, shares)


# Gold at places 2 and 4 of two: (1/log₂3 + 1/log₂5) / (1 + 1/log₂3) = (.63093 + .43068) / 1.63093.
def test_gain_is_discounted_by_the_rank_and_relative_to_the_best_order():
    assert ndcg_at({"a", "b"}, ["x", "a", "y", "b"], 10) == pytest.approx(0.650920, abs=1e-6)
    assert ndcg_at({"a", "b", "c"}, ["a", "b"], 2) == 1.0
    assert ndcg_at({"a"}, ["x", "y", "a"], 2) == 0.0
    assert ndcg_at({"a", "b"}, ["a", "a", "b"], 3) == pytest.approx(1.5 / 1.630930, abs=1e-6)


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), min_size=1), st.integers(1, 8))
def test_gain_is_that_of_scikit_learn(oracle, order, gold, k):
    relevance = [[float(item in gold) for item in range(8)]]
    scores = [[-float(order.index(item)) for item in range(8)]]
    ours = ndcg_at({str(item) for item in gold}, [str(item) for item in order], k)
    assert ours == pytest.approx(oracle.ndcg_score(relevance, scores, k=k))
