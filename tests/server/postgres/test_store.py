"""The contract of the store, on PostgreSQL."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.storage.contract import *  # noqa: F403

from priming.storage.protocol import Store
from priming_server.postgres.store import PostgresStore

from .server import clear

pytestmark = pytest.mark.slow


@pytest.fixture
def store(postgres: str) -> Iterator[Store]:
    opened = PostgresStore(postgres, schema="contract", busy_timeout=5.0)
    yield opened
    opened.close()
    with closing(PostgresStore(postgres, schema="contract")) as after:
        stale = [
            finding
            for name in after.namespaces()
            for finding in after.check(name)
            if finding.rule == "stale-adjacency"
        ]
    clear(postgres, "contract")
    assert stale == []
