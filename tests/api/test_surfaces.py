"""Surfaces are found by name."""

from importlib import import_module
from importlib.util import find_spec

import pytest
from priming.api import surfaces

from priming.errors import ParamError


def test_a_surface_that_is_not_there_is_refused_by_name():
    with pytest.raises(ParamError, match="surface = 'telnet': must be one of http, ipc, mcp, hook"):
        surfaces.run("telnet")


@pytest.mark.parametrize("place", surfaces.SURFACES.values())
def test_every_surface_of_the_table_is_there(place):
    module, _, function = place.partition(":")
    assert find_spec(module), f"{module} is missing"
    assert callable(getattr(import_module(module), function))
