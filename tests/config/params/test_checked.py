"""Parameters check themselves, and report everything that is wrong at once."""

import dataclasses
import inspect

import numpy as np
import pytest
from tests.rows import each_row

from priming import ParamError, params
from priming.config.params.laws import SpreadParams, TierParams
from priming.config.params.recall import LinkFactors
from priming.config.values import Checked

ALL = [cls for _, cls in inspect.getmembers(params, inspect.isclass) if issubclass(cls, Checked)]


def test_every_violation_is_reported_at_once_with_value_and_range():
    with pytest.raises(ParamError) as caught:
        SpreadParams(steps=-1, gain=-0.5, combine="median")
    assert caught.value.violations == (
        "steps = -1: must be in [0, 1000]",
        "gain = -0.5: must be in [0.0, 2.0]",
        "combine = 'median': must be one of sum, max",
    )


@each_row("value", [1.5, True, "3", float("nan")])
def test_a_whole_number_is_a_whole_number(value):
    with pytest.raises(ParamError, match="steps"):
        SpreadParams(steps=value)


def test_numpy_numbers_are_numbers():
    assert SpreadParams(steps=np.int64(2), gain=np.float64(0.5)).steps == 2


@each_row("value", [float("nan"), float("inf"), -0.1, 1.1])
def test_a_share_lies_between_nothing_and_all(value):
    with pytest.raises(ParamError, match=r"retention = .*: must be in \[0.0, 1.0\]"):
        SpreadParams(retention=value)


def test_an_optional_limit_may_be_none():
    assert SpreadParams(max_nodes=None).max_nodes is None
    with pytest.raises(ParamError, match=r"max_nodes = 0: must be in \[1, 4294967296\] or none"):
        SpreadParams(max_nodes=0)


@each_row("cls", [cls for cls in ALL if cls is not Checked])
def test_defaults_are_valid_and_frozen(cls):
    new = cls()
    first = dataclasses.fields(cls)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(new, first, getattr(new, first))


def test_factors_and_tiers_have_ranges_too():
    with pytest.raises(ParamError, match="others"):
        LinkFactors(others=-1.0)
    with pytest.raises(ParamError, match="full"):
        TierParams(full=2.0)
