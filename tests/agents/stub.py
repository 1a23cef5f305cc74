"""A model on loopback: it answers by a script, in the protocol that a client speaks, and keeps what it received.

It speaks the Messages API of Anthropic, the Responses and the Chat Completions API of OpenAI, and Google's
``streamGenerateContent``, each as a stream. It is a proxy as well, one that lets nothing through: a client that is
pointed at it reaches no network, and ``refused`` lists the hosts that it tried.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from . import protocols
from .protocols import Call, Heard

KEY = "dummy-key-of-the-stub"
DONE = "All is done."
"""What the model says when its script is at an end."""

Answer = str | Call
"""What the model does in a request: say a text, or call a tool."""
Step = Answer | Callable[[Heard], Answer]
"""An answer, or what makes one of the request."""


Script = tuple[Step, ...] | Callable[[Heard], Answer]
"""The steps of the model, or what makes each of its answers."""


@dataclass(slots=True)
class Model:
    """The script of the model, and every request that it received.

    The step that answers a request depends on what the request holds: the number of results of tools since the script
    began. A client that tries again gets the same answer again.
    """

    heard: list[Heard] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    _script: Script = ()
    _base: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, script: Script) -> None:
        """Begin a script, and forget what was received before."""
        with self._lock:
            self._script, self._base = script, None
            self.heard.clear()

    def answer(self, heard: Heard) -> Answer:
        """The answer to a request. Requests without tools, for a title or a summary, are not part of the script."""
        with self._lock:
            self.heard.append(heard)
            if not heard.tools:
                return "A title"
            step = self._step(heard)
        try:
            return step(heard) if callable(step) else step
        except Exception as error:  # noqa: BLE001 - the scene reports it, and the client gets an answer at once
            self.failures.append(error)
            return "The script fails."

    def _step(self, heard: Heard) -> Step:
        if callable(self._script):
            return self._script
        if self._base is None:
            self._base = heard.results
        number = heard.results - self._base
        return self._script[number] if number < len(self._script) else DONE

    def refuse(self, host: str) -> None:
        """Note a host that a client tried to reach."""
        with self._lock:
            self.refused.append(host)

    @property
    def main(self) -> list[Heard]:
        """The requests of the conversation itself, which offer tools."""
        with self._lock:
            return [heard for heard in self.heard if heard.tools]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StubServer

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(data or b"{}")
        path = self.path.partition("?")[0]
        protocol = protocols.of(path)
        if protocol is None:
            self._send({"input_tokens": 1, "totalTokens": 1})
            return
        heard = protocol.read(path, body if isinstance(body, dict) else {})
        step = self.server.model.answer(heard)
        if heard.streams:
            self._stream(protocol.stream(step, heard))
        else:
            self._send(protocol.whole(step, heard))

    def do_GET(self) -> None:
        if self.path.startswith("http"):
            self.server.model.refuse(self.path)
            self.send_error(403)
            return
        self._send({"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_CONNECT(self) -> None:
        self.server.model.refuse(self.path)
        self.send_error(403)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _send(self, value: Mapping[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[tuple[str, Mapping[str, Any] | str]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, value in events:
            head = f"event: {name}\n" if name else ""
            text = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


class StubServer(ThreadingHTTPServer):
    """The server of a model, on a port of loopback that the system chooses."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = Model()
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> StubServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is no error."""


def texts(requests: Sequence[Heard]) -> str:
    """All that requests put before the model, without the descriptions of tools."""
    return "\n".join(heard.text for heard in requests)
