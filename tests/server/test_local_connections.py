"""The socket of a store answers whoever keeps to the protocol, and whoever does not, and outlives both."""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import msgpack
import pytest

from priming.config.caller import Caller, calling
from priming.config.params.limits import SocketParams
from priming.operations.connection import connect
from priming.operations.local_socket import MESSAGE_BYTES

from .conftest import DEADLINE, until

PING = {"action": "ping"}
PONG = {"status": "ok", "data": "pong", "error": None, "version": "0.1.0"}


@pytest.fixture
def server(lasting):
    """The server of this module; after each test it must still answer."""
    yield lasting
    assert lasting.envelopes(PING) == [PONG]


def line(message):
    return json.dumps(message).encode() + b"\n"


def frame(message):
    body = msgpack.packb(message)
    return len(body).to_bytes(4, "little") + body


def rest(end):
    """All that comes until the other side closes the connection."""
    data = b""
    while part := end.recv(1 << 16):
        data += part
    return data


def test_the_request_of_the_seed_is_answered(server):
    server.envelopes({"action": "ingest", "content": "The IPC protocol takes one JSON object a line."})
    request = {
        "action": "search",
        "query": "how does the IPC protocol work?",
        "limit": 5,
        "use_spreading": True,
    }
    (answer,) = server.envelopes(request)
    assert set(answer) == {"status", "data", "error", "version"}
    assert (answer["status"], answer["error"]) == ("ok", None)
    assert answer["data"]["results"][0]["content"] == "The IPC protocol takes one JSON object a line."


def test_every_operation_is_answered_with_the_id_of_its_request(server):
    answers = server.envelopes(
        {"op": "remember", "args": {"content": "Ada wrote it.", "key": "ada"}, "namespace": "own", "id": 1},
        {"op": "get", "args": {"key": "ada"}, "namespace": "own", "id": {"any": [2]}},
        {"op": "get", "args": {"key": "ada"}, "namespace": "other", "id": None},
        {"op": "status"},
    )
    assert [answer["status"] for answer in answers] == ["ok", "ok", "error", "ok"]
    assert [answer.get("id", "none") for answer in answers] == [1, {"any": [2]}, None, "none"]
    assert answers[1]["data"]["content"] == "Ada wrote it."
    assert answers[2]["error"]["code"] == "not_found"


def test_the_same_comes_back_in_frames(server):
    request = {"op": "remember", "args": {"content": "Grün ist die 色.", "key": "colour"}, "id": "é"}
    with server.local_connection() as end:
        end.sendall(frame(request) + frame({"op": "get", "args": {"key": "colour"}, "id": 2}))
        end.shutdown(socket.SHUT_WR)
        lines = rest(end)
    first = int.from_bytes(lines[:4], "little")
    assert msgpack.unpackb(lines[4 : 4 + first])["id"] == "é"
    assert msgpack.unpackb(lines[8 + first :])["data"]["content"] == "Grün ist die 色."


def test_what_is_wrong_with_a_call_leaves_the_connection_open(server):
    answers = server.envelopes(
        {},
        {"op": "no such"},
        {"op": 7},
        {"op": "recall", "args": 5},
        {"op": "recall", "args": {"limit": 3.5, "what": 1}},
        {"op": "status", "namespace": 5},
        {"op": "status", "with": 5},
        {"op": "remember", "args": {"content": "x"}, "operation_id": "no uuid"},
        {"action": "no such"},
        {"action": ["ping"]},
        {"action": "ping", "what": 1},
        {"op": "backup", "args": {"path": "/tmp/x"}},
        PING,
    )
    assert [answer["error"]["code"] for answer in answers[:-1]] == ["bad_param"] * 12
    assert answers[-1] == PONG
    assert len(answers[4]["error"]["violations"]) == 2


@pytest.mark.parametrize("data", [b"{}\n", b" \n{}", b"{}"])
def test_the_shortest_message_is_answered(server, data):
    with server.local_connection() as end:
        end.sendall(data)
        if not data.endswith(b"\n"):
            end.shutdown(socket.SHUT_WR)
        with end.makefile("rb") as lines:
            assert json.loads(lines.readline())["error"]["code"] == "bad_param"


@pytest.mark.parametrize(
    "data",
    [
        b"nothing of the kind\n",
        b'{"action": "ping"\n',
        b"[1, 2]\n",
        b'{"op": "\xff\xfe"}\n',
        b'{"op": ' + b"[" * 100_000 + b"\n",
        b'{"op": NaN}\n',
        b"x" * (MESSAGE_BYTES + 1),
    ],
)
def test_garbage_on_a_line_gets_an_error_and_the_end_of_the_connection(server, data):
    with server.local_connection() as end:
        end.sendall(line(PING) + data)
        answers = [json.loads(part) for part in rest(end).splitlines()]
    assert answers[0] == PONG
    assert (answers[1]["status"], answers[1]["error"]["code"]) == ("error", "bad_param")
    assert len(answers) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"\x04\x00\x00\x00abcd",
        b"\x00\x00\x00\x00",
        frame([1]),
        b"\x03\x00\x00\x00\xc1\xc1\xc1",
        b"\xff\xff\xff\x01",
        (100_002).to_bytes(4, "little") + b"\x81\xa1" + b"\x91" * 100_000,
    ],
)
def test_garbage_in_a_frame_gets_an_error_and_the_end_of_the_connection(server, data):
    with server.local_connection() as end:
        end.sendall(frame(PING) + data)
        lines = rest(end)
    first = 4 + int.from_bytes(lines[:4], "little")
    assert msgpack.unpackb(lines[4:first]) == PONG
    assert msgpack.unpackb(lines[first + 4 :])["error"]["code"] == "bad_param"


@pytest.mark.parametrize("data", [line(PING), frame(PING)])
def test_what_comes_byte_by_byte_is_answered(server, data):
    with server.local_connection() as end:
        for number in range(len(data)):
            end.sendall(data[number : number + 1])
        assert end.recv(1 << 16)


@pytest.mark.parametrize("data", [b'{"action"', b"\x10\x00\x00\x00\x81", b"\x10\x00", b""])
def test_a_connection_that_ends_in_a_message_does_no_harm(server, data):
    with server.local_connection() as end:
        end.sendall(data)


def test_a_client_that_sends_no_more_still_gets_its_answers(server):
    with server.local_connection() as end:
        end.sendall(line(PING) * 3 + line(PING).rstrip())
        end.shutdown(socket.SHUT_WR)
        assert [json.loads(part) for part in rest(end).splitlines()] == [PONG] * 4


def test_many_requests_at_once_are_answered_in_their_order(server):
    answers = server.envelopes(*({"op": "status", "id": number} for number in range(200)))
    assert [answer["id"] for answer in answers] == list(range(200))


def test_a_client_that_reads_nothing_keeps_nobody_waiting(server):
    server.envelopes({"op": "remember", "args": {"content": "word " * 12_500, "key": "long"}})
    with server.local_connection() as slow:
        slow.sendall(line({"op": "get", "args": {"key": "long"}}) * 80)
        assert server.envelopes(PING) == [PONG]
        slow.shutdown(socket.SHUT_WR)
        assert len(rest(slow).splitlines()) == 80


def test_who_goes_away_before_the_answer_does_no_harm(server):
    for _ in range(20):
        with server.local_connection() as end:
            end.sendall(line({"op": "list"}) * 10)


GET = b"GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("request_bytes", [line(PING), GET], ids=["Ethos", "HTTP"])
def test_the_process_of_another_user_gets_no_answer(server, monkeypatch, request_bytes):
    with monkeypatch.context() as patch:
        patch.setattr("priming.operations.local_socket.peer_is_us", lambda _: False)
        with server.local_connection() as end, suppress(ConnectionResetError, BrokenPipeError):
            end.sendall(request_bytes)
            assert rest(end) == b""


ASK_AS_NOBODY = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with socket.socket(socket.AF_UNIX) as end:
    end.connect(sys.argv[1])
    try:
        end.sendall(sys.argv[2].encode())
        print(end.recv(100))
    except (ConnectionResetError, BrokenPipeError):
        print(b"")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a process as another user")
@pytest.mark.parametrize("request_bytes", [line(PING), GET], ids=["Ethos", "HTTP"])
def test_another_user_is_not_answered_even_where_all_modes_allow_it(server, request_bytes):
    path = Path(server.local.path)
    path.chmod(0o777)
    for folder in path.parents:
        if folder.stat().st_uid == os.geteuid() and folder not in (Path("/"), Path("/tmp")):
            folder.chmod(folder.stat().st_mode | 0o755)
    command = [sys.executable, "-ISc", ASK_AS_NOBODY, str(path), request_bytes.decode()]
    result = subprocess.run(command, capture_output=True, check=True)
    assert result.stdout.strip() == b"b''"


@pytest.mark.slow
def test_a_thousand_connections_are_served(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    ends = []
    try:
        ends += [server.local_connection() for _ in range(1_000)]
        for end in ends:
            end.sendall(line(PING))
        for end in ends:
            assert json.loads(end.recv(1 << 16)) == PONG
    finally:
        for end in ends:
            end.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
def test_an_answer_over_the_limit_is_an_error_and_no_broken_connection(server):
    for number in range(17):
        args = {"content": f"Note {number}.", "metadata": {"page": "x" * 1_000_000}}
        assert server.envelopes({"op": "remember", "args": args, "namespace": "large"})[0]["status"] == "ok"
    answers = server.envelopes({"op": "list", "namespace": "large", "id": 1}, PING)
    assert (answers[0]["error"]["code"], answers[0]["id"]) == ("too_long", 1)
    assert answers[1] == PONG


def test_progress_comes_before_the_answer_for_those_who_ask_for_it(server):
    items = [{"content": f"Note {number}."} for number in range(3)]
    with server.local_connection() as end, end.makefile("rb") as lines:
        end.sendall(
            line({"op": "remember_many", "args": {"items": items}, "namespace": "bar", "progress": True})
        )
        assert json.loads(lines.readline()) == {"progress": [3, 3]}
        assert len(json.loads(lines.readline())["data"]) == 3
        end.sendall(line({"op": "remember_many", "args": {"items": items}, "namespace": "bar"}))
        assert len(json.loads(lines.readline())["data"]) == 3


def test_http_is_answered_at_the_same_socket(server):
    """The owner of the store needs no token there, and greetings are for clients of the socket only."""
    with (
        httpx2.HTTPTransport(uds=str(server.local.path)) as transport,
        httpx2.Client(transport=transport, base_url="http://localhost") as client,
    ):
        assert client.post("/v1/http/status").json()["memories"] == 0
        assert client.get("/hello").json() == dict(server.local.greeting)
    assert server.client.get("/hello").status_code == 404


@pytest.mark.parametrize("data", [b"P", b"POS", b"GET\n", b"GET"])
def test_what_only_begins_like_http_is_a_bad_message(server, data):
    with server.local_connection() as end:
        end.sendall(data)
        end.shutdown(socket.SHUT_WR)
        assert json.loads(rest(end))["error"]["code"] == "bad_param"


def test_a_frame_whose_length_reads_like_a_method_is_a_frame(server):
    length = int.from_bytes(b"GET", "little")
    text = "y" * (length - len(msgpack.packb({"action": "ping", "x": "y" * 70_000})) + 70_000)
    padded = msgpack.packb({"action": "ping", "x": text})
    assert len(padded).to_bytes(4, "little") == b"GET\x00"
    with server.local_connection() as end:
        end.sendall(b"GET\x00" + padded)
        end.shutdown(socket.SHUT_WR)
        answer = msgpack.unpackb(rest(end)[4:])
    assert "is not an argument of this action" in answer["error"]["message"]


@pytest.fixture
def stepping(serve, monkeypatch):
    """A server with one thread, each of whose long calls waits at its first step until ``opened`` is set."""
    server = serve(threads=1, mounts=True)
    server.opened, server.at_step, call = threading.Event(), threading.Event(), server.service.call

    def waiting(namespace, operation, request, *, progress=None, **options):
        def step(done, total):
            server.at_step.set()
            assert server.opened.wait(30)
            progress(done, total)

        return call(namespace, operation, request, progress=step if progress else None, **options)

    monkeypatch.setattr(server.service, "call", waiting)
    yield server
    server.opened.set()


ITEMS = [{"content": f"Note {number}."} for number in range(21)]
"""One more than a step."""


@pytest.mark.usefixtures("short_batches")
def test_a_long_call_ends_when_its_client_goes_away(stepping):
    with stepping.local_connection() as end:
        end.sendall(line({"op": "remember_many", "args": {"items": ITEMS}, "progress": True}))
        assert stepping.at_step.wait(30)
    stepping.opened.set()
    (answer,) = stepping.envelopes({"op": "status"})
    assert answer["data"]["memories"] == 20


@pytest.mark.usefixtures("short_batches")
def test_a_server_that_ends_lets_a_long_call_end_after_its_step(stepping):
    with stepping.local_connection() as end:
        end.sendall(line({"op": "remember_many", "args": {"items": ITEMS}}))
        assert stepping.at_step.wait(30)
        stepping.running.should_exit = True
        until(stepping.app.state.server.ending.is_set, "the end")
        stepping.opened.set()
        assert rest(end) == b""
    stepping.stop()
    assert stepping.service.call("default", "status", {})["memories"] == 20


@pytest.mark.usefixtures("short_batches")
def test_a_server_that_ends_says_so_to_a_long_call_of_mcp(stepping):
    params = {"name": "remember_many", "arguments": {"items": ITEMS}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(stepping.ask, "mcp?tools=all", message)
        assert stepping.at_step.wait(30)
        stepping.running.should_exit = True
        until(stepping.app.state.server.ending.is_set, "the end")
        stepping.opened.set()
        assert (answer.result().status_code, answer.result().json()["error"]["code"]) == (503, "stopping")
    stepping.stop()
    assert stepping.service.call("default", "status", {})["memories"] == 20


def test_a_server_ends_though_a_client_does_not_read(serve):
    server = serve()
    server.running.local.params = SocketParams(drain=0.0)
    server.done("remember", {"content": "word " * 100_000, "key": "long"})
    with server.local_connection() as end:
        end.sendall(line({"op": "get", "args": {"key": "long"}}) * 5)
        until(lambda: server.app.state.server.workers.at_work == 0, "the first answer")
        server.stop()


def test_a_command_that_a_server_carries_out_is_logged_as_that_command(served):
    with (
        calling(Caller("claude-code", "command learn", "s1")),
        closing(connect(served.local.path, served.local.greeting, DEADLINE)) as connection,
    ):
        connection.call("default", "learn", {"right": "Count the gulls."})
        (logged,) = connection.call("default", "log", {})
    assert (logged["actor"], logged["via"], logged["session"]) == ("claude-code", "command learn", "s1")
