"""The server at the socket of a store, with the base alone: HTTP for the user's own processes."""

import json
import socket
import threading
from contextlib import ExitStack, closing

import pytest
from tests.rows import each_row

from priming import HashedEmbedder
from priming.errors import Conflict, NotFound
from priming.operations import local_server as module
from priming.operations.connection import about, connect
from priming.operations.local_http import create_store, local_listener
from priming.operations.local_server import LocalServer
from priming.operations.local_socket import GREETING_PATH, MESSAGE_BYTES
from priming.operations.service import LocalService

DEADLINE = 30.0


class Served:
    """A server in a thread of the test, and its answers."""

    def __init__(self, folder, **options):
        self.exits = ExitStack()
        service = LocalService(f"sqlite:///{folder}/memory.db", embedder=HashedEmbedder())
        create_store(self.exits.enter_context(closing(service)))
        self.local = self.exits.enter_context(local_listener(service))
        self.server = LocalServer(service, self.local, **options)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with self.exits:
            self.server.run()

    def end(self):
        self.server.stop()
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()

    def connection(self):
        """A connection as clients of a store make it."""
        return connect(self.local.path, self.local.greeting, DEADLINE)

    def sent(self, data):
        """What the server answers to bytes, until it closes the connection."""
        with socket.socket(socket.AF_UNIX) as end:
            end.settimeout(DEADLINE)
            end.connect(str(self.local.path))
            end.sendall(data)
            return end.makefile("rb").read()


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(**options):
        servers.append(Served(tmp_path, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


@pytest.fixture
def served(serve):
    return serve()


def request(text, body=b"", close=True):
    head = f"{text}\r\nContent-Length: {len(body)}\r\n" + "Connection: close\r\n" * close
    return head.encode() + b"\r\n" + body


def status(answer):
    return int(answer.split()[1])


def test_a_client_calls_operations_and_gets_their_answers_and_errors(served):
    with closing(served.connection()) as connection:
        rest = connection.call(
            "a space", "remember", {"content": "The ferry leaves at noon.", "key": "ferry"}
        )
        assert connection.call("a space", "get", {"key": "ferry"}) == connection.call(
            "a space", "get", {"key": rest["key"]}
        )
        with pytest.raises(NotFound, match="no memory 'train'"):
            connection.call("a space", "get", {"key": "train"})
        operation_id = "0190a1b2-c3d4-7000-8000-000000000001"
        connection.call("a space", "remember", {"content": "A gull."}, operation_id=operation_id)
        with pytest.raises(Conflict, match=operation_id):
            connection.call("a space", "remember", {"content": "A kestrel."}, operation_id=operation_id)


def test_a_long_call_reports_its_steps_before_its_answer(served):
    steps = []
    with closing(served.connection()) as connection:
        items = [{"content": f"Note {number}."} for number in range(3)]
        answer = connection.call(
            "default", "remember_many", {"items": items}, long=True, progress=lambda *step: steps.append(step)
        )
    assert (len(answer), steps) == (3, [(3, 3)])


def test_it_says_what_it_is(served):
    assert about(served.local.path, DEADLINE, GREETING_PATH) == dict(served.local.greeting)
    state = about(served.local.path, DEADLINE)
    assert (state["calls"], state["ends_after"]) == (0, None)
    assert (
        json.loads(served.sent(request("GET /health HTTP/1.1")).partition(b"\r\n\r\n")[2])["status"]
        == "alive"
    )


@each_row(
    ("data", "code"),
    [
        (request("GET /nothing HTTP/1.1"), 404),
        (request("POST /v1/default/nothing HTTP/1.1"), 404),
        (request("POST /local/nothing HTTP/1.1"), 404),
        (request("POST /v1/default/recall HTTP/1.1", b"{"), 400),
        (request("POST /v1/default/recall HTTP/1.1", b"[" * 101 + b"]" * 101), 400),
        (b"GET nothing\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n", 400),
        (b"POST /v1/default/recall HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (f"POST /v1/default/recall HTTP/1.1\r\nContent-Length: {MESSAGE_BYTES + 1}\r\n\r\n".encode(), 413),
        (b"POST /v1/default/recall HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 413),
    ],
)
def test_what_it_cannot_answer_is_an_error_in_the_usual_form(served, data, code):
    answer = served.sent(data)
    assert status(answer) == code
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert status(served.sent(request("GET /health HTTP/1.1"))) == 200


def test_a_connection_stays_open_until_the_client_wants_it_closed(served):
    health = request("GET /health HTTP/1.1", close=False)
    answers = served.sent(health * 2 + request("GET /health HTTP/1.1"))
    assert answers.count(b"HTTP/1.1 200 OK") == 3
    assert served.sent(request("GET /health HTTP/1.0", close=False)).count(b"200 OK") == 1


def test_a_client_that_waits_to_send_its_body_is_told_to_go_on(served):
    data = request("POST /v1/default/status HTTP/1.1\r\nExpect: 100-continue", b"{}")
    assert served.sent(data).startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


def test_a_bug_is_logged_and_answered_without_what_it_says(served, monkeypatch, caplog):
    monkeypatch.setattr(served.server.service, "call", lambda *_, **__: 1 / 0)
    answer = served.sent(request("POST /v1/default/status HTTP/1.1"))
    assert (status(answer), b"division" in answer) == (500, False)
    assert "a bug" in caplog.text


def test_it_ends_after_the_call_at_work_and_answers_it(served, monkeypatch):
    begun, opened = threading.Event(), threading.Event()
    call = served.server.service.call

    def waiting(*arguments, **options):
        begun.set()
        assert opened.wait(DEADLINE)
        return call(*arguments, **options)

    monkeypatch.setattr(served.server.service, "call", waiting)
    answers = []
    client = threading.Thread(
        target=lambda: answers.append(served.sent(request("POST /v1/default/status HTTP/1.1")))
    )
    client.start()
    assert begun.wait(DEADLINE)
    served.server.stop()
    opened.set()
    client.join(DEADLINE)
    assert [status(answer) for answer in answers] == [200]
    served.end()
    assert not served.local.path.exists()


def test_one_of_a_session_ends_when_nobody_calls(serve):
    served = serve(idle=0.0)
    served.thread.join(DEADLINE)
    assert not served.local.path.exists()


def test_the_process_of_another_user_gets_no_answer(served, monkeypatch):
    monkeypatch.setattr(module.local_socket, "peer_is_us", lambda _: False)
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(str(served.local.path))
        assert end.recv(100) == b""
