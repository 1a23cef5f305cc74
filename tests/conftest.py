"""Settings for every test: machines differ in speed, so no example has a deadline, and none is drawn too slowly.

``make test`` draws a few examples of each property, ``make test-all`` many, the same ones at each run: a change is
judged by what it changes. ``make explore`` draws others, and keeps and prints what draws a failure again.
"""

import atexit
import gc
import os
import shutil
import signal
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from priming import FixedClock, HashedEmbedder, Memory
from priming.config.params.limits import STORE
from priming.remember import remember

FEW, MANY = 10, 200
SLOW = "\npytestmark = pytest.mark.slow"
NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)

os.environ.setdefault(
    "PRIMING_EMBEDDER", "wordllama"
)  # what is installed beside does not change what is tested

# What a test does outside of a home of its own leaves nothing in that of the person who runs it.
if "PRIMING_HOME" not in os.environ:
    os.environ["PRIMING_HOME"] = tempfile.mkdtemp(prefix="home-of-tests-")
    atexit.register(shutil.rmtree, os.environ["PRIMING_HOME"], ignore_errors=True)

os.environ["TZ"] = "UTC"  # days are those of the machine's zone
time.tzset()

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell leaves it for what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

_always = settings(
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.register_profile("few", _always, max_examples=FEW)
settings.register_profile("many", _always, max_examples=MANY)
settings.register_profile(
    "others",
    _always,
    max_examples=MANY,
    derandomize=False,
    database=DirectoryBasedExampleDatabase(Path(__file__).parent.parent / ".hypothesis" / "examples"),
)
settings.load_profile("few")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Run one process more than there are processors: tests wait for servers, databases, browsers and timeouts."""
    return (yield) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Collect no doctests of tests, and no file that is slow as a whole where slow tests are left out.

    There are no doctests, and each file would be imported twice; slow files import what takes seconds.
    """
    collectors = yield
    if parent.config.option.markexpr == "not slow" and SLOW in file_path.read_text("utf-8"):
        return []
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let the garbage collector rest: of all that is collected, nothing is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Leave what was collected to itself: the garbage collector would look at half a million objects each time."""
    gc.freeze()
    gc.set_threshold(10_000)  # tests leave little: at each 700 objects looking takes 3 % of their time


@pytest.fixture(scope="session")
def embedder():
    # At 256 dimensions unrelated texts are nearly at right angles.
    return HashedEmbedder(256)


@pytest.fixture
def clock():
    return FixedClock(NOW)


@pytest.fixture(scope="session")
def postgres():
    """The URL of an empty database of a real server of PostgreSQL, as an ordinary role that owns it."""
    from tests.server.postgres.server import running

    with running() as url:
        yield url


@pytest.fixture
def short_batches(monkeypatch):
    """Batches of twenty memories, as a large load has batches of 500."""
    monkeypatch.setattr(remember, "STORE", replace(STORE, batch=20))


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/memory.db"


def _opening(embedder, clock):
    opened = []

    def open_(url="sqlite://", **settings):
        memory = Memory.open(url, **{"embedder": embedder, "clock": clock, **settings})
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def open_memory(embedder, clock):
    yield from _opening(embedder, clock)


@pytest.fixture(scope="module")
def open_shared(embedder):
    """As ``open_memory``, for what the tests of a module only read."""
    yield from _opening(embedder, FixedClock(NOW))


@pytest.fixture
def memory(open_memory):
    return open_memory()


@pytest.fixture
def copy_of(open_memory):
    """Opens a copy of another memory's store, in memory or as a new file, which is faster than to make it again."""

    def open_(model, url="sqlite://", **settings):
        if url != "sqlite://":
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
                model.store._db.copy_to(file)
            return open_memory(url, **settings)
        memory = open_memory(url, **settings)
        model.store._db.copy_to(memory.store._db.raw)
        return memory

    return open_
