from collections.abc import Iterator

import pytest

from .server import running


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of an empty database of a real server."""
    with running() as url:
        yield url
