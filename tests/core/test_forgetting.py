import math
import re
from datetime import UTC, datetime, timedelta

import fsrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.laws import FORGETTING
from priming.core.forgetting import (
    WEIGHTS,
    FsrsState,
    edge_decay,
    edge_decay_linear,
    fsrs_retrievability,
    fsrs_update,
    power_retrievability,
    recency_exponential,
    recency_half_life,
    stability_after,
)
from priming.errors import ParamError

START = datetime(2026, 1, 1, tzinfo=UTC)
scheduler = fsrs.Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())

times = st.floats(0, 1e4)
stabilities = st.floats(1e-3, 1e4)
ratings = st.integers(1, 4)
gaps = st.one_of(st.integers(0, 400), st.just(0))


# World Weaver's power law


def test_world_weavers_retrievability_after_one_stability_is_725():
    assert power_retrievability(1.0, 1.0) == pytest.approx(1.9**-0.5, abs=1e-12)
    assert round(power_retrievability(1.0, 1.0), 3) == 0.725


def test_nothing_is_retrievable_without_stability():
    assert power_retrievability(0.0, 0.0) == 0
    assert power_retrievability([0.0, 5.0], 0.0).tolist() == [0, 0]
    assert fsrs_retrievability(5.0, 0.0) == 0


@pytest.mark.parametrize("law", [power_retrievability, fsrs_retrievability])
@given(st.data())
def test_retrievability_starts_at_one_falls_with_time_and_rises_with_stability(law, data):
    early, late = sorted(data.draw(st.tuples(times, times)))
    weak, strong = sorted(data.draw(st.tuples(stabilities, stabilities)))
    assert law(0.0, weak) == 1
    assert 0 <= law(late, weak) <= law(early, weak) <= 1
    assert law(late, weak) <= law(late, strong)


@given(stabilities, st.floats(0.1, 1.0), st.floats(0, 3))
def test_the_power_law_after_one_stability_depends_on_its_parameters_alone(S, factor, exponent):
    expected = (1 + factor) ** -exponent
    assert power_retrievability(S, S, factor, exponent) == pytest.approx(expected, abs=1e-12)


# FSRS-6


@given(stabilities, st.floats(0.01, 2.0))
def test_fsrs_retrievability_after_one_stability_is_90_percent(S, decay):
    assert fsrs_retrievability(S, S) == pytest.approx(0.9, abs=1e-12)
    assert fsrs_retrievability(S, S, decay) == pytest.approx(0.9, abs=1e-9)


def test_the_weights_are_the_published_ones():
    assert WEIGHTS == fsrs.scheduler.DEFAULT_PARAMETERS
    assert WEIGHTS[-1] == FORGETTING.fsrs_decay == 0.1542


@given(st.integers(0, 5000), stabilities)
def test_retrievability_equals_the_fsrs_package_at_whole_days(days, S):
    card = fsrs.Card(card_id=1, stability=S, difficulty=5.0, last_review=START)
    expected = scheduler.get_card_retrievability(card, START + timedelta(days=days))
    assert fsrs_retrievability(days, S) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(ratings, gaps), min_size=1, max_size=25))
def test_updates_equal_the_fsrs_package_over_any_course_of_reviews(reviews):
    card, state, now = fsrs.Card(card_id=1), None, START
    for rating, gap in reviews:
        now += timedelta(days=gap)
        card, _ = scheduler.review_card(card, fsrs.Rating(rating), now)
        state = fsrs_update(state, rating, gap)
        assert state.stability == pytest.approx(card.stability, rel=1e-9)
        assert state.difficulty == pytest.approx(card.difficulty, rel=1e-9)


@given(ratings, ratings, st.floats(0, 60))
def test_updates_count_whole_days_like_the_fsrs_package(first, second, gap):
    card, _ = scheduler.review_card(fsrs.Card(card_id=1), fsrs.Rating(first), START)
    elapsed = timedelta(days=gap)
    card, _ = scheduler.review_card(card, fsrs.Rating(second), START + elapsed)
    state = fsrs_update(fsrs_update(None, first, 0), second, elapsed / timedelta(days=1))
    assert state.stability == pytest.approx(card.stability, rel=1e-9)
    assert state.difficulty == pytest.approx(card.difficulty, rel=1e-9)


def test_the_rating_may_be_the_fsrs_packages_own():
    assert fsrs_update(None, fsrs.Rating.Good, 0) == fsrs_update(None, 3, 0)


def test_anything_under_a_day_is_the_same_day():
    state = fsrs_update(None, 3, 0)
    assert fsrs_update(state, 4, 0.999) == fsrs_update(state, 4, 0)
    assert fsrs_update(state, 4, 1.0) != fsrs_update(state, 4, 0)


def test_the_time_of_a_first_review_has_no_meaning():
    assert fsrs_update(None, 2, 0) == fsrs_update(None, 2, 17.5)


@given(st.lists(st.tuples(ratings, times), max_size=20), ratings)
def test_states_stay_in_their_bounds_and_success_never_costs_stability(reviews, last):
    state = None
    for rating, gap in [*reviews, (last, 3.0)]:
        before, state = state, fsrs_update(state, rating, gap)
        assert 1 <= state.difficulty <= 10
        assert state.stability >= 0.001
        if before is not None and rating > 1:
            assert state.stability >= before.stability * (1 - 1e-12)
        if before is not None and rating == 1:
            assert state.stability <= max(before.stability, 0.001)


def test_a_better_rating_leaves_more_stability_and_less_difficulty():
    state = fsrs_update(None, 3, 0)
    after = [fsrs_update(state, rating, 5) for rating in (1, 2, 3, 4)]
    assert [s.stability for s in after] == sorted(s.stability for s in after)
    assert [s.difficulty for s in after] == sorted((s.difficulty for s in after), reverse=True)


# stability of World Weaver


def test_recall_lengthens_and_failure_shortens_stability():
    assert stability_after(2.0, 0.5, True) == pytest.approx(2.1, abs=1e-12)
    assert stability_after(2.0, 0.5, False) == pytest.approx(1.6, abs=1e-12)


def test_stability_is_never_clamped():
    assert stability_after(1e6, 0.0, True) == pytest.approx(1.1e6, abs=1e-6)
    assert stability_after(0.1, 0.0, False) == pytest.approx(0.08, abs=1e-12)


@given(st.floats(0, 1e6), st.floats(0, 1))
def test_an_expected_recall_teaches_nothing_and_a_surprising_one_most(S, R):
    assert stability_after(S, 1.0, True) == S
    assert S <= stability_after(S, R, True) <= stability_after(S, 0.0, True)


# recency and links


def test_recency_falls_to_a_third_in_ten_days_and_by_half_in_seven():
    assert recency_exponential(10.0) == pytest.approx(math.exp(-1), abs=1e-12)
    assert recency_half_life(7.0) == 0.5
    assert recency_half_life(3.5) == pytest.approx(math.sqrt(0.5), abs=1e-12)
    assert recency_half_life(3.0, half_life=1.5) == 0.25


@pytest.mark.parametrize("law", [recency_exponential, recency_half_life])
@given(st.data())
def test_recency_is_one_now_and_never_rises(law, data):
    early, late = sorted(data.draw(st.tuples(times, times)))
    assert law(0.0) == 1
    assert 0 <= law(late) <= law(early) <= 1


def test_links_fade_exponentially_by_the_hour_or_linearly_by_the_day():
    assert edge_decay(0.5, 100.0) == pytest.approx(0.5 * math.exp(-1), abs=1e-12)
    assert edge_decay_linear(0.5, 50.0) == pytest.approx(0.25, abs=1e-12)
    assert edge_decay_linear(0.5, 101.0) == 0


@pytest.mark.parametrize("law", [edge_decay, edge_decay_linear])
@given(st.data())
def test_a_link_that_fades_stays_between_nothing_and_its_weight(law, data):
    w = data.draw(st.floats(0, 10))
    early, late = sorted(data.draw(st.tuples(times, times)))
    assert law(w, 0.0) == w
    assert 0 <= law(w, late) <= law(w, early) <= w


@given(st.floats(0, 1), st.floats(0, 100), st.floats(0, 100))
def test_exponential_decay_in_two_stretches_is_decay_in_one(w, a, b):
    assert edge_decay(edge_decay(w, a), b) == pytest.approx(edge_decay(w, a + b), abs=1e-12)


# what all of them share


@each_row(
    "law",
    [power_retrievability, fsrs_retrievability, edge_decay, edge_decay_linear, recency_half_life],
)
def test_broadcasting_equals_a_loop_over_scalars(law):
    first, second = np.array([[0.0], [0.7], [30.0]]), np.array([0.5, 2.0, 90.0])
    expected = [[law(a, b) for b in second.tolist()] for a in first[:, 0].tolist()]
    assert law(first, second).tolist() == expected
    assert type(law(1.0, 2.0)) is float


def test_stability_broadcasts_over_success_and_failure():
    result = stability_after([1.0, 2.0], 0.5, [True, False])
    assert result.tolist() == [stability_after(1.0, 0.5, True), stability_after(2.0, 0.5, False)]


@each_row(
    ("call", "message"),
    [
        (lambda: power_retrievability(-1.0, 1.0), "t = -1.0: must be finite and ≥ 0"),
        (lambda: power_retrievability(1.0, -1.0), "S = -1.0: must be finite and ≥ 0"),
        (lambda: power_retrievability(1.0, 1.0, factor=0.05), "factor = 0.05: must be in [0.1, 1]"),
        (lambda: power_retrievability(1.0, 1.0, exponent=-1), "exponent = -1.0: must be finite and ≥ 0"),
        (lambda: fsrs_retrievability(math.nan, 1.0), "t = nan: must be finite and ≥ 0"),
        (lambda: fsrs_retrievability(1.0, 1.0, decay=0.0), "decay = 0.0: must be finite and ≥ 0.001"),
        (lambda: fsrs_update(None, 0, 0), "rating = 0: must be a whole number ≥ 1"),
        (lambda: fsrs_update(None, 5, 0), "rating = 5: must be in [1, 4]"),
        (lambda: fsrs_update(None, 2.5, 0), "rating = 2.5: must be a whole number ≥ 1"),
        (lambda: fsrs_update(None, 3, -1), "t = -1.0: must be finite and ≥ 0"),
        (lambda: fsrs_update((1.0, 5.0), 3, 1), "state = (1.0, 5.0): must be an FsrsState or None"),
        (lambda: FsrsState(0.0, 5.0), "stability = 0.0: must be > 0"),
        (lambda: FsrsState(1.0, 11.0), "difficulty = 11.0: must be in [1, 10]"),
        (lambda: stability_after(1.0, 1.5, True), "R = 1.5: must be in [0, 1]"),
        (lambda: stability_after(-1.0, 0.5, True), "S = -1.0: must be finite and ≥ 0"),
        (lambda: stability_after(1.0, 0.5, 0.5), "recalled = 0.5: must be true or false"),
        (lambda: recency_exponential(-1.0), "days = -1.0: must be finite and ≥ 0"),
        (lambda: recency_exponential(1.0, rate=-0.1), "rate = -0.1: must be finite and ≥ 0"),
        (lambda: recency_half_life(1.0, half_life=0.0), "half_life = 0.0: must be finite and > 0"),
        (lambda: edge_decay(-0.5, 1.0), "w = -0.5: must be finite and ≥ 0"),
        (lambda: edge_decay(0.5, -1.0), "hours = -1.0: must be finite and ≥ 0"),
        (lambda: edge_decay(0.5, 1.0, rho=-0.1), "rho = -0.1: must be finite and ≥ 0"),
        (lambda: edge_decay_linear(0.5, math.inf), "days = inf: must be finite and ≥ 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()
