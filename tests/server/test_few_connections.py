"""A server of a store in PostgreSQL whose pool is smaller than its work: each piece has a connection at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import psycopg
import pytest
from tests.server.postgres.server import as_superuser, clear

from priming import HashedEmbedder, Memory
from priming.config.params.services import ServerParams
from priming.errors import Busy

from .conftest import Served, until
from .scene import OPERATIONS, example, prepare

pytestmark = pytest.mark.slow
NIGHTS = 24


@pytest.fixture
def with_pool(postgres):
    servers = []

    def start(size):
        servers.append(Served(f"{postgres}&schema=few&pool={size}", ServerParams()))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
    clear(postgres, "few")


def connections(postgres):
    with psycopg.connect(as_superuser(postgres)) as administrator:
        ((number,),) = administrator.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (f"priming {os.getpid()}",)
        ).fetchall()
    return number


def test_every_operation_works_with_one_connection(with_pool):
    server = with_pool(1)
    token = server.tokens.new("*", kind="admin").secret

    def call(operation, request, operation_id=None):
        headers = {} if operation_id is None else {"Idempotency-Key": operation_id}
        return server.ask(operation, request, token=token, **headers)

    ids = prepare(lambda *request: call(*request).json())
    codes = {operation: call(operation, example(operation, ids)).status_code for operation in OPERATIONS}
    assert {operation: code for operation, code in codes.items() if code >= 500} == {}
    assert codes["sleep"] == codes["reembed"] == codes["verify"] == 200


@pytest.mark.parametrize("size", [1, 4])
def test_many_namespaces_sleep_at_once_while_another_tenant_recalls(with_pool, postgres, size):
    server = with_pool(size)
    names = [f"night-{number}" for number in range(NIGHTS)]
    for name in (*names, "awake"):
        items = [{"content": f"{name}: line {line} of the ledger"} for line in range(5)]
        server.done("remember_many", {"items": items}, name)
    for name in names:  # of the second use on, each listens for the writes of others
        server.done("recall", {"text": "ledger"}, name)
    most, over = [], Event()
    with ThreadPoolExecutor(NIGHTS) as nights:
        asleep = [nights.submit(server.ask, "sleep", {}, name) for name in names]
        while not over.is_set():
            assert server.ask("recall", {"text": "which line of the ledger"}, "awake").status_code == 200
            most.append(connections(postgres))
            if all(night.done() for night in asleep):
                over.set()
        assert [night.result().status_code for night in asleep] == [200] * NIGHTS
    assert max(most) <= size + 2, "beside the pool one connection listens and one holds the leases"


def test_the_long_work_of_others_leaves_connections_to_calls(with_pool):
    server = with_pool(2)
    server.done("remember", {"content": "The ferry leaves at noon.", "key": "ferry"})
    holder, let_go = Event(), Event()

    def hold(name):
        with (
            server.service.memory(name) as memory,
            memory.store.lease(name),
            memory.store.transaction(write=False),
        ):
            memory.store.head(name)
            holder.set()
            assert let_go.wait(60)

    with ThreadPoolExecutor(8) as others:
        work = [others.submit(hold, f"other-{number}") for number in range(8)]
        assert holder.wait(60)
        result = server.done("recall", {"text": "when does the ferry leave?"})
        assert [hit["memory"]["key"] for hit in result["hits"]] == ["ferry"]
        assert not any(each.done() for each in work)
        let_go.set()
        for each in work:
            each.result()


NIGHT = """
import sys, time
from priming import Memory
with Memory.open(sys.argv[1], embedder="hashed") as memory:
    with memory.store.lease("default", "is running sleep on this namespace"):
        print("asleep", flush=True)
        time.sleep(600)
"""


def test_the_night_of_a_killed_process_is_over(postgres):
    url = f"{postgres}&schema=few&pool=1"
    with Memory.open(url, embedder=HashedEmbedder()) as memory:
        memory.remember("A note.")
        command = [sys.executable, "-c", NIGHT, url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as night:
            assert night.stdout.readline() == "asleep\n"
            with pytest.raises(Busy, match=rf"priming {night.pid} \(server process \d+\) is running sleep"):
                memory.sleep()
            night.send_signal(signal.SIGKILL)
            night.wait()

        def sleeps():
            try:
                return memory.sleep()
            except Busy:
                return None

        assert until(sleeps).stages
        with (
            memory.store.lease("default", "is running sleep on this namespace"),
            pytest.raises(Busy, match=rf"priming {os.getpid()} \(server process \d+\) is running sleep"),
        ):
            memory.sleep()
    clear(postgres, "few")


def test_a_night_that_waits_for_its_turn_lets_people_recall_in_its_namespace(with_pool):
    server = with_pool(2)  # one turn for long work, and a connection for calls
    server.done("remember", {"content": "The ferry leaves at noon.", "key": "ferry"})
    holds, let_go = Event(), Event()

    def hold():
        with (
            server.service.memory("other") as memory,
            memory.store.lease("other"),
            memory.store.transaction(write=False),
        ):
            holds.set()
            assert let_go.wait(60)

    def work_long():
        with server.service.memory("default") as memory, memory.store.lease("default"), memory.reading():
            return memory.store.head("default")

    with ThreadPoolExecutor(3) as threads:
        other = threads.submit(hold)
        assert holds.wait(60)
        night = threads.submit(work_long)
        until(lambda: night.running())
        try:
            time.sleep(0.2)  # as long as it takes to wait for the turn
            recall = threads.submit(server.done, "recall", {"text": "when does the ferry leave?"})
            assert [hit["memory"]["key"] for hit in recall.result(20)["hits"]] == ["ferry"]
            assert not night.done()
        finally:
            let_go.set()
        other.result()
        assert night.result() == 1
