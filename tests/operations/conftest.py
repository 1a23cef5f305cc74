"""The library's own server of a store, in a thread of the test."""

import threading
from contextlib import ExitStack, closing

import pytest

from priming.config.params.limits import SocketParams
from priming.config.settings import load
from priming.operations.local_http import create_store, local_listener
from priming.operations.local_server import LocalServer
from priming.operations.service import LocalService

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
        service = self.stack.enter_context(closing(LocalService(self.url, settings=self.settings)))
        create_store(service)
        self.running = LocalServer(service, self.stack.enter_context(local_listener(service)))
        self.thread = threading.Thread(target=self.running.run)
        self.thread.start()

    def end(self):
        """End it, if it runs."""
        self.running.stop()
        self.thread.join(DEADLINE)
        self.stack.close()


@pytest.fixture
def server(tmp_path):
    started = Server(tmp_path)
    yield started
    started.end()
