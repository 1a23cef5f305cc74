"""Clients of ``priming serve``: light, and better off than the server when it is killed."""

import json
import random
import signal
import subprocess
import sys
import threading
from queue import Queue

import pytest

from priming import Memory
from priming.operations.client import reach

pytestmark = pytest.mark.slow

LIGHT = """
import sys
from priming.operations import client
from priming.operations.client import RemoteMemory, open_memory
from priming.config.params.limits import SocketParams
client.SOCKET = SocketParams(knock=60.0)
with open_memory(sys.argv[1]) as memory:
    assert isinstance(memory, RemoteMemory)
    assert memory.recall("who wrote the program").hits
heavy = {"numpy", "pydantic", "fastapi", "starlette", "typer", "asyncio", "priming.memory"} & set(sys.modules)
print(sorted(heavy))
"""
WRITER = """
import itertools, json, pathlib, sys
from priming.operations import client
from priming.operations.client import open_memory
from priming.config.params.limits import SocketParams
client.SOCKET = SocketParams(knock=60.0)
url, name, end = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
with open_memory(url) as memory:
    for turn in itertools.takewhile(lambda _: not end.exists(), itertools.count()):
        key = f"{name}-{turn}"
        answer = memory.remember(f"Client {name} says word{turn} and number{turn * 7}.", key=key)
        print(json.dumps(["remember", key, answer.operation]), flush=True)
        answer = memory.feedback(used=[key], reason=key)
        print(json.dumps(["feedback", key, answer.id]), flush=True)
"""
KILLS = 5


def test_a_client_loads_nothing_heavy(process):
    server = process()
    with Memory.open(server.url) as memory:
        memory.remember("Ada wrote the program.")
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, server.url],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_a_server_that_is_killed_again_and_again_loses_nothing_and_does_nothing_twice(process, tmp_path):
    """Each call that was acknowledged is in the log once, as the operation that was named, and no other is there."""
    chance, end, lines = random.Random(5), tmp_path / "end", Queue()
    server = process()
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, server.url, f"c{number}", str(end)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    readers = [
        threading.Thread(target=lambda output=client.stdout: [lines.put(line) for line in output])
        for client in clients
    ]
    for reader in readers:
        reader.start()
    acknowledged = []
    for _ in range(KILLS):
        acknowledged += [json.loads(lines.get(timeout=60)) for _ in range(chance.randrange(1, 40))]
        server.end(signal.SIGKILL)  # some calls are at work whenever it is killed
        server = process()
    end.touch()
    errors = [client.stderr.read() for client in clients]
    for client, reader in zip(clients, readers, strict=True):
        reader.join()
        client.stdout.close()
        client.stderr.close()
        assert client.wait() == 0, errors
    acknowledged += [json.loads(lines.get_nowait()) for _ in range(lines.qsize())]
    with Memory.open(server.url) as memory:
        log = {operation.id: operation for operation in memory.log(limit=100_000)}
        assert sorted(log) == sorted(operation for _, _, operation in acknowledged)
        assert all(log[operation].kind == verb for verb, _, operation in acknowledged)
        assert memory.status().memories == len(acknowledged) / 2
        assert memory.validate() == []


def test_a_server_listens_beside_its_store_until_it_ends(process):
    server = process()
    client = reach(server.url)
    assert client is not None
    client.close()
    assert server.end() == 0
    assert reach(server.url) is None
