"""The scenes run where the marker ``agents`` is selected, as ``make test-agents`` does, and in no other tier."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from .clients import CLIENTS, NotInstalled
from .stage import Stage
from .stub import StubServer

HERE = Path(__file__).parent


def pytest_configure() -> None:
    """Note when the run began, for the test processes as well."""
    os.environ.setdefault("AGENTS_BEGAN", str(time.time()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the scenes out of every other tier."""
    if "agents" in config.option.markexpr:
        return
    scenes = [item for item in items if str(item.path).startswith(f"{HERE}{os.sep}")]
    config.hook.pytest_deselected(items=scenes)
    left_out = set(scenes)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def stage(request, tmp_path):
    """A stage with the client of the scene, which fails, and says why, where the client cannot be installed."""
    client = CLIENTS[request.param]
    try:
        client.install()
    except NotInstalled as error:
        pytest.fail(f"{client.program} is not tested: {error}", pytrace=False)
    with StubServer() as stub:
        scene = Stage(client, stub, tmp_path)
        scene.set_up()
        try:
            yield scene
        finally:
            scene.close()
