"""Bodies made to cost memory or time, sent to a server in a process of its own, while another tenant works."""

import http.client
import json
import re
import socket
import sys
import threading
import time
from pathlib import Path

import msgpack
import pytest

from priming import Memory
from priming.operations import local_socket
from priming_server.access.tokens import Tokens

from .conftest import DEADLINE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc"),
]

MEGABYTE = 1_000_000
ANSWER = 128_000
"""The most bytes of an answer to a body that is refused."""
GROWTH = 250 * MEGABYTE
"""The most that any of these bodies may add to the memory of the server, whatever it is made of."""

BODIES = {
    "empty objects": lambda: '{"items":[' + ",".join(["{}"] * 2_700_000) + "]}",
    "as many objects as may be": lambda: '{"items":[' + ",".join(["{}"] * 900_000) + "]}",
    "numbers for objects": lambda: '{"items":[' + ",".join("7" * 900_000) + "]}",
    "brackets": lambda: "[" * 4_000_000 + "]" * 4_000_000,
    "objects in objects": lambda: '{"a":' * 1_000_000 + "1" + "}" * 1_000_000,
    "a long name": lambda: json.dumps({"b" * (8 * MEGABYTE): 1}),
    "long names": lambda: json.dumps({f"{n}" + "b" * 150_000: 1 for n in range(50)}),
    "many names": lambda: json.dumps({f"k{n}": 1 for n in range(450_000)}),
    "a long number": lambda: '{"limit":' + "9" * (8 * MEGABYTE) + "}",
    "a long text": lambda: json.dumps({"content": "a" * (8 * MEGABYTE)}),
    "half characters": lambda: '{"content":"' + "\\ud800" * 1_300_000 + '"}',
    "a long kind": lambda: json.dumps({"content": "Hello", "kind": "k" * (8 * MEGABYTE)}),
}


class Attacked:
    """A server in a process of its own, with a tenant who attacks and one who works."""

    def __init__(self, process, folder):
        url = f"sqlite:///{folder}/memory.db"
        with Tokens(url) as tokens:
            self.mallory, self.bob = (tokens.new(name).secret for name in ("mallory", "bob"))
        server = process("--embedder", "hashed")
        self.folder, self.pid = folder, server.process.pid
        self.address = server.at.removeprefix("http://")
        self.post("bob/remember", json.dumps({"content": "Bob bakes rye bread on Fridays."}), self.bob)

    def post(self, path, body, token):
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE)
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        try:
            connection.request("POST", f"/v1/{path}", body, head)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def peak(self):
        """The most memory that its process ever had."""
        status = Path(f"/proc/{self.pid}/status").read_text("ascii")
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])

    def during(self, attack):
        """The result of an attack, its seconds, and the seconds of each of Bob's recalls meanwhile."""
        waits, is_over = [], threading.Event()

        def work():
            while not is_over.is_set():
                begin = time.monotonic()
                status, _ = self.post("bob/recall", json.dumps({"text": "what does Bob bake?"}), self.bob)
                assert status == 200
                waits.append(time.monotonic() - begin)

        worker = threading.Thread(target=work)
        worker.start()
        begin = time.monotonic()
        try:
            result = attack()
        finally:
            seconds = time.monotonic() - begin
            is_over.set()
            worker.join()
        return result, seconds, waits


@pytest.fixture
def attacked(process, tmp_path):
    return Attacked(process, tmp_path)


def test_no_body_takes_much_memory_gets_a_long_answer_or_stops_another_tenant(attacked):
    before = attacked.peak()
    for name, body in BODIES.items():
        content = body()
        path = "mallory/remember_many" if content.startswith('{"items"') else "mallory/remember"
        (status, answer), seconds, waits = attacked.during(
            lambda path=path, content=content: attacked.post(path, content, attacked.mallory)
        )
        assert status == 400, f"{name}: {status}"
        assert len(answer) < ANSWER, f"{name}: an answer of {len(answer):,} bytes"
        assert attacked.peak() - before < GROWTH, f"{name}: {attacked.peak() - before:,} bytes more"
        assert max(waits) < max(5.0, seconds), f"{name}: Bob waited {max(waits):.1f} of {seconds:.1f} seconds"


@pytest.mark.parametrize(
    "byte", [b"\x90", b"\x80", b"\xa0", b"\xc0"], ids=["arrays", "maps", "texts", "nulls"]
)
def test_a_frame_of_empty_values_takes_little_memory(attacked, byte):
    count = 16 * MEGABYTE
    body = b"\x81\xa1a\xdd" + count.to_bytes(4, "big") + byte * count
    at = local_socket.socket_path(attacked.folder / "memory.db")
    before = attacked.peak()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.settimeout(DEADLINE)
        end.connect(str(at))
        end.sendall(len(body).to_bytes(4, "little") + body)
        answer = end.recv(1 << 16)
    assert attacked.peak() - before < GROWTH
    assert len(answer) < ANSWER
    message = msgpack.unpackb(answer[4:])
    assert "1,048,576" in json.dumps(message)


def test_the_store_is_as_before(attacked):
    for body in ("brackets", "a long name"):
        attacked.post("mallory/remember", BODIES[body](), attacked.mallory)
    with Memory.open(
        f"sqlite:///{attacked.folder}/memory.db", namespace="mallory", embedder="hashed"
    ) as memory:
        assert memory.list() == []
        assert memory.log() == []
