import math
import re

import numpy as np
import pyactup
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.base_level import (
    associative_strength,
    base_level_score,
    exact,
    hybrid,
    optimized,
    recency_frequency,
    total_activation,
)
from priming.errors import ParamError

ages = st.floats(0.01, 1e4)
decays = st.floats(0.05, 0.95)


def actup(use_times, now, d, optimized_learning):
    """The base level of one chunk, used at ``use_times``, by pyactup."""
    memory = pyactup.Memory(noise=0.0, temperature=1, decay=d, optimized_learning=optimized_learning)
    for time in use_times:
        memory.time = time
        memory.learn({"slot": "value"})
    memory.time = now
    memory.activation_history = True
    memory.retrieve({"slot": "value"})
    return float(memory.activation_history[-1]["base_level_activation"])


# optimized


def test_ten_uses_an_hour_ago_have_a_base_level_of_2_996():
    assert optimized(10, 1) == pytest.approx(math.log(20), abs=1e-12)
    assert round(optimized(10, 1), 3) == 2.996


@each_row(("n", "age"), [(0, 5), (-1, 5), (3, 0), (3, -2)])
def test_what_was_never_used_has_a_base_level_of_minus_ten(n, age):
    assert optimized(n, age) == -10


@given(st.lists(st.integers(0, 999), min_size=1, max_size=12), decays)
def test_optimized_equals_pyactup(times, d):
    times = sorted(times)
    expected = actup(times, 1000, d, optimized_learning=True)
    assert optimized(len(times), 1000 - times[0], d) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 1000), ages, ages, decays)
def test_optimized_falls_with_age_and_rises_with_use(n, a, b, d):
    young, old = sorted((a, b))
    assert optimized(n, young, d) >= optimized(n, old, d)
    assert optimized(n + 1, young, d) > optimized(n, young, d)


# recency and frequency


def test_ten_uses_the_last_a_day_ago_have_a_base_level_of_7136():
    assert recency_frequency(10, 24) == pytest.approx(0.7136, abs=5e-5)


def test_no_use_counts_as_one():
    assert recency_frequency(0, 24) == recency_frequency(1, 24)


# exact


def test_no_ages_have_a_base_level_of_minus_ten():
    assert exact([]) == -10
    assert exact(np.empty((3, 0))).tolist() == [-10, -10, -10]


@given(st.lists(st.integers(0, 999), min_size=1, max_size=12), decays)
def test_exact_equals_pyactup(times, d):
    times = sorted(times)
    expected = actup(times, 1000, d, optimized_learning=False)
    assert exact([1000 - time for time in times], d) == pytest.approx(expected, abs=1e-12)


@given(st.lists(ages, min_size=1, max_size=8), ages, decays)
def test_another_use_raises_the_exact_base_level(previous, another, d):
    assert exact([*previous, another], d) >= exact(previous, d)


def test_evenly_spread_uses_make_optimized_nearly_exact():
    uses = np.arange(1, 2001) * 0.5
    assert optimized(len(uses), 1000.0) == pytest.approx(exact(uses), abs=0.03)


# hybrid


def test_three_uses_of_which_two_are_remembered_have_a_base_level_of_37253():
    assert hybrid([3, 5], 3, 6) == pytest.approx(0.37253, abs=5e-6)


@given(st.lists(ages, max_size=6), st.integers(-6, 0), ages, decays)
def test_hybrid_is_exact_when_all_uses_are_remembered(recent, fewer, age, d):
    recent = sorted(recent)
    assert hybrid(recent, len(recent) + fewer, age, d) == pytest.approx(exact(recent, d), abs=1e-12)


@given(st.lists(ages, min_size=1, max_size=6), st.integers(1, 50), ages, decays)
def test_hybrid_equals_petrovs_formula(recent, older, beyond, d):
    recent = sorted(recent)
    last, age = recent[-1], recent[-1] + beyond
    tail = older * (age ** (1 - d) - last ** (1 - d)) / ((1 - d) * (age - last))
    expected = math.log(math.fsum(t**-d for t in recent) + tail)
    assert hybrid(recent, len(recent) + older, age, d) == pytest.approx(expected, abs=1e-6)


@given(st.lists(ages, min_size=1, max_size=6), st.integers(1, 50), st.floats(0, 100), decays)
def test_hybrid_lies_between_all_older_uses_now_and_all_at_the_start(recent, older, beyond, d):
    recent = sorted(recent)
    age = recent[-1] + beyond
    value = hybrid(recent, len(recent) + older, age, d)
    assert exact(recent + [age] * older, d) - 1e-9 <= value
    assert value <= exact(recent + [recent[-1]] * older, d) + 1e-9


def test_hybrid_takes_the_limit_where_the_first_use_is_the_oldest_remembered():
    assert hybrid([3, 5], 4, 5) == pytest.approx(exact([3, 5, 5, 5]), abs=1e-12)
    assert hybrid([3, 5], 4, 5 + 1e-13) == pytest.approx(exact([3, 5, 5, 5]), abs=1e-9)


def test_hybrid_of_a_memory_never_used_is_minus_ten():
    assert hybrid([], 0, 6) == -10


# what all of them share


@each_row("age", [0, -3, 1e-9])
def test_ages_are_floored_at_a_thousandth_of_an_hour(age):
    assert recency_frequency(2, age) == recency_frequency(2, 0.001)
    assert exact([age, 2]) == exact([0.001, 2])
    assert hybrid([age], 2, 5) == hybrid([0.001], 2, 5)


def test_a_tiny_age_is_floored_in_optimized_too():
    assert optimized(2, 1e-9) == optimized(2, 0.001)


def test_broadcasting_equals_a_loop_over_scalars():
    n, age, d = np.array([[0], [1], [7]]), np.array([0.0, 0.5, 24.0, 900.0]), 0.4
    for law in (optimized, recency_frequency):
        expected = [[law(i, a, d) for a in age.tolist()] for i in n[:, 0].tolist()]
        assert law(n, age, d).tolist() == expected
        assert type(law(3, 4.0)) is float
    rows = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 9.0]])
    assert exact(rows).tolist() == [exact(row) for row in rows]
    assert exact(rows, [0.1, 0.5, 0.9]).tolist() == [
        exact(r, d) for r, d in zip(rows, (0.1, 0.5, 0.9), strict=True)
    ]
    counts, first = np.array([1, 3, 40]), np.array([2.0, 6.0, 100.0])
    expected = [hybrid(r, i, a) for r, i, a in zip(rows, counts, first, strict=True)]
    assert hybrid(rows, counts, first).tolist() == expected


def test_inputs_are_not_changed():
    recent = np.array([-1.0, 2.0])
    hybrid(recent, 5, 9.0)
    exact(recent)
    assert recent.tolist() == [-1.0, 2.0]


# score, association and total


def test_the_score_is_one_half_at_minus_one_and_for_the_new():
    assert base_level_score(-1.0) == 0.5
    assert base_level_score(3.0, n=0) == 0.5
    assert base_level_score(3.0, n=1) == base_level_score(3.0)
    assert base_level_score(0.0) == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-12)


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_the_score_is_bounded_and_rises_with_the_base_level(a, b):
    low, high = sorted((a, b))
    assert 0 <= base_level_score(low) <= base_level_score(high) <= 1


def test_the_score_broadcasts_over_new_and_old():
    assert base_level_score([2.0, 2.0], n=[0, 4]).tolist() == [0.5, base_level_score(2.0)]


def test_association_turns_negative_at_a_fan_of_five():
    assert associative_strength(0.5, 1) == pytest.approx(0.8, abs=1e-12)
    assert associative_strength(0.5, 0) == associative_strength(0.5, 1)
    assert associative_strength(1.0, 4) > 0 > associative_strength(1.0, 5)
    assert associative_strength(1.0, 5) == pytest.approx(1.6 - math.log(5), abs=1e-12)


def test_total_activation_adds_the_weighted_associations():
    assert total_activation(1.0, [0.5, 0.5], [0.8, 0.4]) == pytest.approx(1.6, abs=1e-12)
    assert total_activation(1.0, 0.5, [0.8, 0.4]) == pytest.approx(1.6, abs=1e-12)
    assert total_activation(-2.0, 1.0, 0.25) == -1.75


def test_total_activation_without_context_is_the_base_level():
    assert total_activation(1.25, 1.0, []) == 1.25


def test_total_activation_sums_over_the_last_axis():
    strengths = np.array([[0.8, 0.4], [0.0, -0.2], [1.0, 1.0]])
    result = total_activation(np.array([0.0, 1.0, 2.0]), 0.5, strengths)
    assert result == pytest.approx([0.6, 0.9, 3.0], abs=1e-12)


def test_noise_comes_from_the_generator_and_has_the_spread_asked_for():
    def noisy(seed):
        return total_activation(
            np.zeros(4000), 1.0, np.zeros((4000, 1)), sigma=0.1, rng=np.random.default_rng(seed)
        )

    assert np.array_equal(noisy(1), noisy(1))
    assert not np.array_equal(noisy(1), noisy(2))
    assert noisy(1).mean() == pytest.approx(0.0, abs=0.01)
    assert noisy(1).std() == pytest.approx(0.1, rel=0.1)


def test_without_sigma_there_is_no_noise_and_no_draw():
    rng = np.random.default_rng(3)
    total_activation(1.0, 1.0, [0.1], rng=rng)
    assert rng.random() == np.random.default_rng(3).random()


@each_row(
    ("call", "message"),
    [
        (lambda: optimized(1, 1, d=1.0), "d = 1.0: must be in [0, 1)"),
        (lambda: recency_frequency(1, 1, d=-0.1), "d = -0.1: must be in [0, 1)"),
        (lambda: exact([1.0], d=1.5), "d = 1.5: must be in [0, 1)"),
        (lambda: hybrid([1.0], 1, 2, d=math.nan), "d = nan: must be in [0, 1)"),
        (lambda: optimized(math.nan, 1), "n = nan: must be finite"),
        (lambda: optimized(1, math.inf), "age = inf: must be finite"),
        (lambda: exact([1.0, math.nan]), "ages = nan: must be finite"),
        (lambda: hybrid([3, 5], 3, 4), "age = 4.0: must be ≥ 5.0, the oldest recent age"),
        (lambda: hybrid([], 3, 4), "recent = []: must hold at least one age where n > 0"),
        (lambda: hybrid([5, 3], 2, 6), "recent = [5.0, 3.0]: must be in ascending order"),
        (lambda: base_level_score(math.nan), "B = nan: must be finite"),
        (lambda: base_level_score(0.0, n=-1), "n = -1.0: must be finite and ≥ 0"),
        (lambda: associative_strength(-0.1, 1), "strength = -0.1: must be finite and ≥ 0"),
        (lambda: associative_strength(0.1, -1), "fan = -1.0: must be finite and ≥ 0"),
        (lambda: total_activation(0.0, -0.5, [1.0]), "W = -0.5: must be finite and ≥ 0"),
        (lambda: total_activation(0.0, 0.5, [math.nan]), "S = nan: must be finite"),
        (lambda: total_activation(0.0, 0.5, [1.0], sigma=-0.1), "sigma = -0.1: must be finite and ≥ 0"),
        (lambda: total_activation(0.0, 0.5, [1.0], sigma=0.1), "rng = None: must be a numpy Generator"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()
