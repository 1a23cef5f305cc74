"""Every number that can be set has a floor and a ceiling, wherever it is set."""

from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module

import pytest
from tests.rows import each_row

from priming.config.constants import FIELDS
from priming.config.params import SUBJECTS
from priming.config.params.laws import SpreadParams
from priming.config.profiles import ALL
from priming.config.values import Checked
from priming.errors import ParamError


def numbers():
    """Each number of each ``*Params``, with its class."""
    for subject in SUBJECTS:
        module = import_module(f"priming.config.params.{subject}")
        for name, value in vars(module).items():
            if isinstance(value, type) and name.endswith("Params") and is_dataclass(value):
                for field in fields(value) if issubclass(value, Checked) else ():
                    number = isinstance(field.default, (int, float)) and not isinstance(field.default, bool)
                    if field.default is not MISSING and number:
                        yield value, field


def test_every_number_has_a_floor_and_a_ceiling_around_its_default():
    seen = list(numbers())
    assert len(seen) > 100
    for owner, field in seen:
        about = field.metadata
        assert about["low"] is not None, (owner, field.name)
        assert about["high"] is not None or about.get("below") is not None, (owner, field.name)
        assert about["low"] <= field.default <= about["high"], (owner, field.name)


def test_the_constants_of_every_profile_lie_in_their_ranges():
    for profile in ALL.values():
        for section in FIELDS.values():
            value = getattr(profile, section)
            if is_dataclass(value):
                type(value)(**{field.name: getattr(value, field.name) for field in fields(value)})


@each_row("gain", [9999, 2.01, -0.1, float("nan"), float("inf")])
def test_no_node_emits_many_times_what_it_has(gain):
    with pytest.raises(ParamError, match=r"gain .* must be in \[0.0, 2.0\]"):
        SpreadParams(gain=gain)
