"""A lock that lasts is waited for, and the error names who holds it."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from priming.errors import Busy
from priming.storage.sqlite.presence import holder
from priming.storage.sqlite.store import SqliteStore

LISTED = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system does not list locks")
WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "memory.db"
    with_content(path)
    return path


def with_content(path):
    store = SqliteStore(path)
    with store.transaction():
        pass
    store.close()


def writer(path):
    command = [sys.executable, "-c", WRITER, str(path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "locked\n"
    return child


@LISTED
def test_the_process_that_holds_the_lock_is_named_with_the_time_waited(path):
    store = SqliteStore(path, busy_timeout=0.2)
    with writer(path) as child:
        with pytest.raises(Busy) as error, store.transaction():
            raise AssertionError("the lock is another's")
        child.communicate("\n")
    pattern = r"is locked by process (\d+) \((.+)\), which is writing; waited (0\.[2-9]|[1-9]\.\d) s"
    process, name, _ = re.search(pattern, str(error.value)).groups()
    assert int(process) == child.pid
    assert name
    with store.transaction():
        assert holder(path) == f"another memory of this process ({os.getpid()})"
    store.close()


@LISTED
def test_nobody_is_named_while_nobody_writes(path):
    store = SqliteStore(path)
    store.namespaces()
    assert holder(path) is None
    store.close()


def test_a_lock_that_is_released_in_time_is_waited_for(path):
    store, holding = SqliteStore(path), SqliteStore(path)
    locked, release, written = threading.Event(), threading.Event(), threading.Event()

    def hold():
        with holding.transaction():
            locked.set()
            release.wait()

    def write():
        with store.transaction():
            written.set()

    threads = [threading.Thread(target=hold), threading.Thread(target=write)]
    threads[0].start()
    locked.wait()
    threads[1].start()
    assert not written.wait(0.1)
    release.set()
    for thread in threads:
        thread.join()
    assert written.is_set()
    store.close()
    holding.close()
