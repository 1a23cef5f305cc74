"""A server that sleeps by itself: when it is time, or there is much that is new."""

from __future__ import annotations

from datetime import timedelta

import pytest

from priming import HashedEmbedder
from priming.config.params.limits import SLEEP
from priming.errors import NotFound
from priming.operations.service import LocalService
from priming_server.scheduler import Scheduler

from .conftest import until

HOURS = timedelta(hours=1)


@pytest.fixture
def host(tmp_path, clock):
    new = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder(), clock=clock)
    yield new
    new.close()


@pytest.fixture
def nights(host, clock):
    return Scheduler(host, 8 * HOURS, clock)


def test_a_namespace_sleeps_when_it_is_time(host, nights, clock):
    for day in ("monday", "tuesday"):
        host.call("shop", "remember", {"content": "We meet at ten.", "session": day})
    assert nights.sleep_due() == []
    clock.at += 8 * HOURS
    assert nights.sleep_due() == ["shop"]
    assert "sleep" in [item["kind"] for item in host.call("shop", "log", {})]
    assert nights.sleep_due() == []
    clock.at += 8 * HOURS
    assert nights.sleep_due() == ["shop"]


@pytest.mark.slow
def test_a_namespace_sleeps_sooner_after_much_that_is_new(host, nights):
    host.call("shop", "remember", {"content": "the first"})
    assert nights.sleep_due() == []
    items = [{"content": f"Entry number {number}."} for number in range(SLEEP.fresh)]
    host.call("shop", "remember_many", {"items": items[:-1]})
    assert nights.sleep_due() == []
    host.call("shop", "remember", items[-1])
    assert nights.sleep_due() == ["shop"]
    assert nights.sleep_due() == []


def test_a_namespace_that_nobody_wrote_to_is_left_alone(host, nights, clock):
    with pytest.raises(NotFound, match="no memory 'x' in 'nobody'"):
        host.call("nobody", "get", {"key": "x"})
    clock.at += 9 * HOURS
    assert nights.sleep_due() == []


def test_a_night_ends_with_the_server(host, nights, clock):
    host.call("shop", "remember", {"content": "x"})
    nights.sleep_due()
    clock.at += 8 * HOURS
    nights.stop.set()
    assert nights.sleep_due() == []


def test_a_server_sleeps_by_itself(serve, clock):
    served = serve(clock=clock, sleep_every=8 * HOURS, look_seconds=0.01)
    served.done("remember", {"content": "We meet at ten.", "session": "monday"})
    served.done("remember", {"content": "We meet at ten.", "session": "tuesday"})
    until(lambda: served.app.state.server.scheduler._last)
    clock.at += 8 * HOURS
    until(lambda: [item for item in served.done("log") if item["kind"] == "sleep"], "a night")
