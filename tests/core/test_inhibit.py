import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.spread import inhibit, squash
from priming.errors import ParamError

activations = st.lists(st.floats(0, 10), max_size=40)
betas = st.floats(0, 3)
pools = st.sampled_from(["mean", "sum"])


def slow_inhibit(values, beta, winners, pool):
    """The law, one value at a time."""
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    top = order[:winners]
    result = list(values)
    for i in order[winners:]:
        if pool == "mean":
            pressure = math.fsum(values[k] for k in top) / winners - values[i]
        else:
            pressure = math.fsum(max(0.0, values[k] - values[i]) for k in top)
        result[i] = max(0.0, values[i] - beta * pressure)
    return result


def test_two_winners_of_four_suppress_the_others_by_their_mean():
    assert inhibit([0.8, 0.6, 0.4, 0.2], winners=2) == pytest.approx([0.8, 0.6, 0.355, 0.125], abs=1e-12)


def test_pooling_by_sum_adds_up_the_winners_leads():
    # .4 is led by .4 and .2, .2 by .6 and .4: .4 − .15 · .6 and .2 − .15 · 1.
    result = inhibit([0.8, 0.6, 0.4, 0.2], winners=2, pool="sum")
    assert result == pytest.approx([0.8, 0.6, 0.31, 0.05], abs=1e-12)


def test_losers_never_fall_below_zero():
    assert inhibit([1.0, 0.01], beta=5.0, winners=1).tolist() == [1.0, 0.0]


def test_no_more_values_than_winners_come_back_unchanged_in_a_new_array():
    values = np.array([0.1, 0.9])
    result = inhibit(values, winners=2)
    assert result.tolist() == [0.1, 0.9]
    assert not np.shares_memory(values, result)


def test_ties_for_the_last_place_are_won_by_position():
    result = inhibit([0.5, 0.9, 0.5], winners=2)
    assert result[0] == 0.5
    assert result[2] < 0.5


def test_nothing_and_one_value_are_left_alone():
    assert inhibit([]).shape == (0,)
    assert inhibit(0.4) == 0.4


def test_the_defaults_are_seven_winners_and_beta_15_percent_by_the_mean():
    values = np.linspace(1.0, 0.1, 10)
    expected = slow_inhibit(values.tolist(), 0.15, 7, "mean")
    assert inhibit(values) == pytest.approx(expected, abs=1e-12)


@given(activations, betas, st.integers(1, 10), pools)
def test_it_equals_the_law_written_as_a_loop(values, beta, winners, pool):
    result = inhibit(values, beta=beta, winners=winners, pool=pool)
    assert result == pytest.approx(slow_inhibit(values, beta, winners, pool), abs=1e-9)


@given(activations, betas, st.integers(1, 10), pools)
def test_it_never_raises_a_value_never_goes_below_zero_and_keeps_the_winners(values, beta, winners, pool):
    before = np.array(values)
    result = inhibit(before, beta=beta, winners=winners, pool=pool)
    assert before.tolist() == values
    assert np.all(result <= before)
    assert np.all(result >= 0)
    top = np.argsort(-before, kind="stable")[:winners]
    assert np.array_equal(result[top], before[top])


@given(activations, st.integers(1, 10), pools)
def test_the_order_of_activations_survives(values, winners, pool):
    result = inhibit(values, winners=winners, pool=pool)
    order = np.argsort(-np.array(values), kind="stable")
    assert np.all(np.diff(result[order]) <= 1e-12)


@each_row(
    ("arguments", "message"),
    [
        ({"values": [0.5, -0.1]}, "values = -0.1: must be finite and ≥ 0"),
        ({"values": [math.nan]}, "values = nan: must be finite and ≥ 0"),
        ({"values": [[0.1], [0.2]]}, "values = (2, 1): must have one dimension"),
        ({"values": [0.5], "beta": -1}, "beta = -1.0: must be finite and ≥ 0"),
        ({"values": [0.5], "winners": 0}, "winners = 0: must be a whole number ≥ 1"),
        ({"values": [0.5], "winners": 2.5}, "winners = 2.5: must be a whole number ≥ 1"),
        ({"values": [0.5], "pool": "max"}, "pool = 'max': must be one of mean, sum"),
    ],
)
def test_bad_arguments_of_inhibit_are_named(arguments, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        inhibit(**arguments)


def test_the_squash_is_one_half_at_its_centre_and_047_at_zero():
    assert squash(0.3) == 0.5
    assert squash(0.0) == pytest.approx(0.047, abs=5e-4)
    assert squash(0.0, gain=1, centre=0) == 0.5
    assert squash(0.5, gain=5, centre=0.5) == 0.5


@given(st.floats(-50, 50), st.floats(0, 20), st.floats(-5, 5))
def test_the_squash_is_the_logistic_function(x, gain, centre):
    assert squash(x, gain=gain, centre=centre) == pytest.approx(
        0.5 * (1 + math.tanh(gain * (x - centre) / 2)), abs=1e-12
    )


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_the_squash_is_bounded_and_rises_however_far_out(x, y):
    low, high = sorted((x, y))
    assert 0 <= squash(low) <= squash(high) <= 1


def test_the_squash_broadcasts_and_gives_scalars_for_scalars():
    x = np.array([[0.0], [0.3]])
    gain = np.array([1.0, 5.0, 10.0])
    result = squash(x, gain=gain)
    assert result.shape == (2, 3)
    assert result.tolist() == [[squash(a, gain=g) for g in gain.tolist()] for a in (0.0, 0.3)]
    assert type(squash(0.1)) is float


@each_row(
    ("arguments", "message"),
    [
        ({"x": math.nan}, "x = nan: must be finite"),
        ({"x": 0.0, "gain": -1.0}, "gain = -1.0: must be finite and ≥ 0"),
        ({"x": 0.0, "centre": math.inf}, "centre = inf: must be finite"),
        ({"x": "much"}, "x = 'much': must be a number"),
    ],
)
def test_bad_arguments_of_squash_are_named(arguments, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        squash(**arguments)
