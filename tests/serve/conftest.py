"""Real servers on loopback: in a thread of the test, or as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import httpx2
import pytest
from priming.api.host import Host
from priming.serve.http import app
from priming.serve.running import Running

from priming import FixedClock, HashedEmbedder
from priming.engine.tokens import Tokens
from priming.params import ServerParams

DEADLINE = 30.0


def until(condition, what="it", seconds=DEADLINE):
    """Ask again and again, until the answer is true; that answer."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} did not come about in {seconds} s"
        threading.Event().wait(0.005)
    return found


class Served:
    """A server in a thread: its address, its store's tokens, and clients."""

    def __init__(self, url, params, **options):
        self.url, self.params = url, params
        self.host = Host(url, embedder=HashedEmbedder(), clock=options.get("clock"))
        self.tokens = Tokens(url)
        self.app = app(self.host, self.tokens, params=params, **options)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port = self.listener.getsockname()[1]
        self.at = f"http://127.0.0.1:{self.port}"
        listening = threading.Event()
        self.running = Running(self.app, params, listening.set)
        self.thread = threading.Thread(target=self.running.run, args=([self.listener],))
        self.thread.start()
        assert listening.wait(DEADLINE)
        self.client = httpx2.Client(base_url=self.at, timeout=DEADLINE)

    def ask(self, operation, request=None, namespace="default", token=None, **headers):
        """The answer of an operation."""
        return self.client.post(
            f"/v1/{namespace}/{operation}",
            content=json.dumps({} if request is None else request),
            headers={"Content-Type": "application/json", **bearer(token), **headers},
        )

    def done(self, operation, request=None, namespace="default", token=None):
        """What an operation answers, which must succeed."""
        answer = self.ask(operation, request, namespace, token)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def connection(self):
        """A bare connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)

    def stop(self):
        self.running.should_exit = True
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()

    def close(self):
        self.client.close()
        self.stop()
        self.host.close()
        self.tokens.close()
        self.listener.close()


def bearer(token):
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@pytest.fixture
def serve(tmp_path):
    """Starts servers on a store of the test's own; limits of ``ServerParams`` and options of ``app`` by name."""
    made = []

    def start(clock=None, **options):
        limits = {name: options.pop(name) for name in list(options) if name in ServerParams.__slots__}
        one = Served(f"sqlite:///{tmp_path}/memory.db", ServerParams(**limits), clock=clock, **options)
        made.append(one)
        return one

    yield start
    for one in made:
        one.close()


@pytest.fixture
def served(serve):
    """A server with the usual limits."""
    return serve()


@pytest.fixture
def clock():
    return FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))


class Process:
    """``priming serve`` as a process of its own."""

    def __init__(self, folder, *options):
        self.url = f"sqlite:///{folder}/memory.db"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "priming.cli.main", "serve", "--port", "0", "--url", self.url, *options],
            env={**kept, "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=(log := (folder / "log").open("w")),
            text=True,
        )
        log.close()
        self.log = folder / "log"
        said = self.process.stdout.readline()
        assert said, self.log.read_text()
        self.at = said.split()[2]

    def end(self, how=signal.SIGTERM):
        """End it; its exit status."""
        self.process.send_signal(how)
        return self.process.wait(DEADLINE)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE)
        self.process.stdout.close()


@pytest.fixture
def process(tmp_path):
    """Starts ``priming serve`` with further options."""
    made = []

    def start(*options):
        made.append(Process(tmp_path, *options))
        return made[-1]

    yield start
    for one in made:
        one.close()


STARTING = """
import sys
from priming.api.surfaces import run
run("ipc", url=sys.argv[1], ready=lambda at: print(at, flush=True))
"""


class SocketServer:
    """A server of the socket alone, as a process of its own, and connections to it."""

    def __init__(self, folder):
        self.folder, self.url = folder, f"sqlite:///{folder}/memory.db"
        self.start()

    def start(self):
        """Begin, or begin again; it listens when this returns."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", STARTING, self.url], stdout=subprocess.PIPE, text=True, cwd=self.folder
        )
        self.path = self.process.stdout.readline().strip()
        assert self.path, "it did not start"

    def connect(self):
        """A bare connection."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.settimeout(DEADLINE)
        end.connect(self.path)
        return end

    def ask(self, *messages):
        """The envelopes that answer messages sent at once, as lines, over a connection of their own."""
        with self.connect() as end:
            end.sendall(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
            with end.makefile("rb") as heard:
                return [json.loads(heard.readline()) for _ in messages]

    def end(self, how=signal.SIGTERM):
        """End it; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(DEADLINE)
        self.process.stdout.close()
        return status


@pytest.fixture(scope="module")
def lasting_socket(tmp_path_factory):
    """A server of the socket for all tests of a module, which must leave it alive."""
    one = SocketServer(tmp_path_factory.mktemp("socket"))
    yield one
    alive = one.process.poll() is None
    assert one.end() == 0
    assert alive


@pytest.fixture
def socket_server(tmp_path):
    """A server of the socket for one test."""
    one = SocketServer(tmp_path)
    yield one
    one.end(signal.SIGKILL)
