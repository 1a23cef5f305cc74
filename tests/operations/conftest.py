"""A running server of a store: in a thread of the test, or as a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, closing

import pytest

from priming.config.params.limits import SocketParams
from priming.config.params.server import ServerParams
from priming.config.settings import load
from priming.operations.service import LocalService
from priming_server.access.tokens import Tokens
from priming_server.http import create_app
from priming_server.listeners import local_listener
from priming_server.process import UvicornServer

DEADLINE = 60.0
PATIENT = SocketParams(knock=DEADLINE)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However busy the machine is, a server that is there is waited for."""
    monkeypatch.setattr("priming.operations.client.SOCKET", PATIENT)


class Server:
    """A server in a thread, on a store of its own."""

    def __init__(self, folder):
        self.folder, self.url = folder, f"sqlite:///{folder}/memory.db"
        self.settings = load({"store.embedder": ("hashed", "--embedder")})
        self.start()

    def start(self):
        """Begin, or begin again; it listens when this returns."""
        self.stack = ExitStack()
        service = LocalService(self.url, settings=self.settings)
        self.stack.enter_context(closing(service))
        tokens = self.stack.enter_context(Tokens(self.url))
        with service.memory("default") as memory, memory.store.transaction():
            pass  # the first write creates the store
        local = self.stack.enter_context(local_listener(service))
        listener = self.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        app, listening = create_app(service, tokens, greeting=local.greeting), threading.Event()
        self.running = UvicornServer(app, ServerParams(), listening.set, local)
        self.thread = threading.Thread(target=self.running.run, args=([listener],))
        self.thread.start()
        assert listening.wait(DEADLINE)

    def end(self):
        """End it, if it runs."""
        self.running.should_exit = True
        self.thread.join(DEADLINE)
        self.stack.close()


@pytest.fixture
def server(tmp_path):
    started = Server(tmp_path)
    yield started
    started.end()


class Process:
    """``priming serve`` as a process of its own, and the socket of its store."""

    def __init__(self, folder):
        self.folder, self.url = folder, f"sqlite:///{folder}/memory.db"
        self.start()

    def start(self):
        """Begin, or begin again; it listens when this returns."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if name == "PRIMING_EMBEDDER" or not name.startswith("PRIMING_")
        }
        command = [sys.executable, "-m", "priming.cli.app", "serve", "--port", "0", "--url", self.url]
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        assert self.process.stdout.readline(), (self.folder / "log").read_text()

    def ask(self, message):
        """The envelope that answers a message."""
        with socket.socket(socket.AF_UNIX) as end:
            end.settimeout(DEADLINE)
            end.connect(f"{self.folder}/memory.db.sock")
            end.sendall(json.dumps(message).encode() + b"\n")
            with end.makefile("rb") as lines:
                return json.loads(lines.readline())

    def end(self, how=signal.SIGTERM):
        """End it; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(DEADLINE)
        self.process.stdout.close()
        return status


@pytest.fixture
def process(tmp_path):
    started = Process(tmp_path)
    yield started
    started.end(signal.SIGKILL)
