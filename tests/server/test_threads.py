"""Calls from many threads: a store serves one at a time, so nothing of it is touched without the lock."""

from __future__ import annotations

import threading

import pytest

from priming import HashedEmbedder
from priming.operations.service import LocalService
from priming.storage.sqlite.connection import Connection

from .scene import OPERATIONS, example, prepare

pytestmark = pytest.mark.slow


@pytest.fixture
def host(tmp_path):
    new = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder(), most=1_000)
    yield new
    new.close()


def test_no_operation_touches_the_store_without_the_lock(host, monkeypatch):
    result = set()

    def watched(method):
        def call(connection, *supplied, **named):
            opened = at_work[-1]
            if opened.store._db is connection and not opened.lock._lock._is_owned():
                result.add(operation)
            return method(connection, *supplied, **named)

        return call

    at_work = []
    for operation in OPERATIONS:
        namespace = operation
        ids = prepare(lambda name, request, once: host.call(namespace, name, request, operation_id=once))  # noqa: B023
        with host.memory(namespace) as memory, monkeypatch.context() as patch:
            at_work.append(memory)
            for name in ("_rows", "_cursor", "change", "many"):
                patch.setattr(Connection, name, watched(getattr(Connection, name)))
            host.call(namespace, operation, example(operation, ids))
    assert result == set()


def test_writers_and_readers_of_one_namespace_all_get_their_answer(host):
    failed = []

    def work(number):
        try:
            for turn in range(15):
                host.call("one", "remember", {"content": f"{number} {turn}", "key": f"{number}-{turn}"})
                host.call("one", "recall", {"text": f"{number} {turn}"})
        except Exception as error:  # noqa: BLE001 - whatever it is, the test tells it
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert host.call("one", "status", {})["memories"] == 90
