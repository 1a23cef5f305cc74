"""The profiles are the rows of LAWS.md §1, complete and frozen."""

import dataclasses
from dataclasses import replace

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.config.profiles import ALL, get

ROWS = {
    "priming": ("sum", 0.0, 0.2, 0.8, 1.0, "share", "both", 0.0, 0.001, 4),
    "floop": ("max", 1.0, 0.0, 0.8, 0.5, "fan", "both", 0.01, 0.01, 3),
    "synapse": ("sum", 0.5, 0.0, 0.8, 1.0, "fan", "out", 0.01, 0.01, 3),
    "ethos": ("sum", 1.0, 0.0, 0.85, 1.0, "none", "out", 0.0, 0.0, 3),
    "poc": ("sum", 1.0, 0.0, 0.85, 1.0, "none", "both", 0.0, 0.001, 3),
}
COLUMNS = [
    *("combine", "retention", "restart", "gain", "hop_decay"),
    *("normalise", "direction", "rho", "epsilon", "steps"),
]


@each_row("name", ROWS)
def test_a_profile_spreads_as_its_row_says(name):
    spread = get(name).spread
    assert tuple(getattr(spread, column) for column in COLUMNS) == ROWS[name]


@pytest.mark.parametrize("name", ["arc", "world-weaver"])
def test_two_designs_do_not_use_the_kernel(name):
    assert get(name).spread.steps == 0


def test_all_seven_are_there():
    assert set(ALL) == {"priming", "floop", "synapse", "ethos", "arc", "poc", "world-weaver"}


@each_row("name", ALL)
def test_a_profile_cannot_be_changed(name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        get(name).score = "other"


def test_the_squashes_are_those_of_their_designs():
    squashes = {name: (get(name).squash.gain, get(name).squash.centre) for name in ALL if get(name).squash}
    assert squashes == {"floop": (10.0, 0.3), "synapse": (5.0, 0.5), "world-weaver": (1.0, 0.0)}


def test_learning_starts_at_the_threshold_at_which_a_hub_of_three_can_learn():
    assert get("floop").plasticity.threshold == get("priming").plasticity.threshold == 0.15


def test_an_unknown_profile_is_refused_with_the_names_there_are():
    with pytest.raises(
        ParamError, match=r"profile = 'floopy': must be one of priming, floop, .*world-weaver"
    ):
        get("floopy")


@pytest.mark.parametrize("name", ["ethos", "poc"])
def test_a_profile_that_adds_up_arrivals_undivided_has_a_gain_below_one(name):
    profile = get(name)
    with pytest.raises(ParamError, match=rf"gain = 1.0: must be < 1 in {name}, which adds up arrivals"):
        replace(profile, spread=replace(profile.spread, gain=1.0))
    assert replace(profile, spread=replace(profile.spread, gain=0.99)).spread.gain == 0.99


@each_row("name", ["priming", "floop", "synapse"])
def test_where_arrivals_are_divided_or_the_greatest_counts_the_gain_may_be_one(name):
    profile = get(name)
    assert replace(profile, spread=replace(profile.spread, gain=1.0)).spread.gain == 1.0


def test_only_the_profiles_whose_score_has_no_activation_do_not_spread():
    assert {name for name in ALL if not get(name).spreads} == {"arc", "world-weaver"}
