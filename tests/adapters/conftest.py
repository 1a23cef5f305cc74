"""Tests marked ``adapters`` run where the libraries are installed, by ``make test-adapters``, and in no other tier.

The marker in a file's text decides, since without the libraries such a file cannot be imported.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MARK = "pytest.mark.adapters"

collect_ignore = (
    []
    if find_spec("langchain_tests")
    else [path.name for path in HERE.glob("test_*.py") if MARK in path.read_text("utf-8")]
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave these tests out of every other tier."""
    if "adapters" in config.option.markexpr:
        return
    marked = [item for item in items if item.get_closest_marker("adapters")]
    config.hook.pytest_deselected(items=marked)
    left_out = set(marked)
    items[:] = [item for item in items if item not in left_out]
