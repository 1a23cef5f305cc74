"""Real servers: in a thread of the test, or as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime

import httpx2
import pytest
from tests.cli.conftest import shell  # noqa: F401

from priming import FixedClock, HashedEmbedder
from priming.config.params.services import ServerParams
from priming.operations.local_http import create_store
from priming.operations.service import LocalService
from priming_server.access.tokens import Tokens
from priming_server.http import create_app
from priming_server.listeners import beside_store, listening
from priming_server.mcp_http import mounted
from priming_server.process import UvicornServer

DEADLINE = 300.0
"""Seconds after which what has not come about never will, however busy the machine is."""


def until(condition, what="it", seconds=DEADLINE):
    """Ask again and again, until the answer is true; that answer."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{what} did not come about in {seconds} s"
        threading.Event().wait(0.005)
    return result


class Served:
    """A server in a thread: its address, its store's tokens and socket, and clients."""

    def __init__(self, url, params, **options):
        self.url, self.params = url, params
        self.service = LocalService(url, embedder=HashedEmbedder(), clock=options.get("clock"))
        self.tokens = Tokens(url)
        self.stack = ExitStack()
        create_store(self.service)
        self.local = self.stack.enter_context(beside_store(self.service))
        greeting = self.local and self.local.greeting
        if options.get("mounts") is True:
            options["mounts"] = [mounted(self.service)]
        self.app = create_app(self.service, self.tokens, params=params, greeting=greeting, **options)
        self.listener = self.stack.enter_context(listening("127.0.0.1", 0, None, params.read_seconds))
        self.port = self.listener.getsockname()[1]
        self.at = f"http://127.0.0.1:{self.port}"
        ready = threading.Event()
        self.running = UvicornServer(self.app, params, ready.set, self.local)
        self.thread = threading.Thread(target=self.running.run, args=([self.listener],))
        self.thread.start()
        assert ready.wait(DEADLINE)
        self.client = httpx2.Client(
            base_url=self.at, timeout=DEADLINE, verify=False
        )  # certificates take 50 ms to load

    def ask(self, operation, request=None, namespace="default", token=None, **headers):
        """The response to an operation."""
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
        """A bare connection to its address."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)

    def local_connection(self):
        """A bare connection to the socket of its store."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.settimeout(DEADLINE)
        end.connect(str(self.local.path))
        return end

    def envelopes(self, *messages):
        """The envelopes that answer messages sent at once, as lines, over a connection of their own."""
        with self.local_connection() as end:
            end.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
            with end.makefile("rb") as lines:
                return [json.loads(lines.readline()) for _ in messages]

    def stop(self):
        self.running.should_exit = True
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()

    def close(self):
        self.client.close()
        self.stop()
        self.stack.close()
        self.service.close()
        self.tokens.close()


def bearer(token):
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@pytest.fixture
def serve(tmp_path):
    """Starts servers on a store of the test's own; limits of ``ServerParams`` and options of ``app`` by name."""
    servers = []

    def start(clock=None, **options):
        limits = {name: options.pop(name) for name in list(options) if name in ServerParams.__slots__}
        server = Served(f"sqlite:///{tmp_path}/memory.db", ServerParams(**limits), clock=clock, **options)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def served(serve):
    """A server with the usual limits."""
    return serve()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A server for all tests of a module that leave it alive, each in namespaces of its own."""
    folder = tmp_path_factory.mktemp("lasting")
    server = Served(f"sqlite:///{folder}/memory.db", ServerParams())
    yield server
    server.close()


@pytest.fixture
def clock():
    return FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))


class Process:
    """``priming serve`` as a process of its own."""

    def __init__(self, folder, *options, log=None, before=None, **variables):
        self.url = f"sqlite:///{folder}/memory.db"
        environment = {
            name: value
            for name, value in os.environ.items()
            if name == "PRIMING_EMBEDDER" or not name.startswith("PRIMING_")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "priming.cli.start", "serve", "--port", "0", "--url", self.url, *options],
            env={**environment, "PYTHONUTF8": "1", **variables},
            stdout=subprocess.PIPE,
            stderr=(errors := (log or folder / "log").open("w")),
            preexec_fn=before,
            text=True,
        )
        errors.close()
        self.log = log or folder / "log"
        self.line = self.process.stdout.readline()
        assert self.line, self.log.read_text()
        self.at = self.line.split()[2]

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
    """Starts ``priming serve`` with further options and variables of the environment."""
    processes = []

    def start(*options, **variables):
        processes.append(Process(tmp_path, *options, **variables))
        return processes[-1]

    yield start
    for started in processes:
        started.close()
