"""A Chromium for the tests of a module."""

import pytest

from .driving import Browser
from .finding import REMEDY, find


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    path = find()
    if path is None:
        pytest.fail(REMEDY)
    folder = tmp_path_factory.mktemp("chromium")
    item = Browser(path, folder / "profile", folder / "log")
    yield item
    item.close()
