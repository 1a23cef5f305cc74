"""The socket answers whoever keeps to the protocol, and whoever does not, and outlives both."""

import asyncio
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import msgpack
import pytest
from priming.api.frames import LIMIT

from priming import HashedEmbedder
from priming.errors import Conflict, ParamError, StoreError
from priming.operations.service import LocalService
from priming.serve import ipc

PING = {"action": "ping"}
PONG = {"status": "ok", "data": "pong", "error": None, "version": "0.1.0"}


@pytest.fixture
def server(lasting_socket):
    """The server of this module, which is asked after each test whether it is well."""
    yield lasting_socket
    assert lasting_socket.ask(PING) == [PONG]


def line(message):
    return json.dumps(message).encode() + b"\n"


def frame(message):
    body = msgpack.packb(message)
    return len(body).to_bytes(4, "little") + body


def rest(end):
    """All that comes until the other side closes the connection."""
    found = b""
    while data := end.recv(1 << 16):
        found += data
    return found


def test_the_request_of_the_seed_is_answered(server):
    server.ask({"action": "ingest", "content": "The IPC protocol takes one JSON object a line."})
    asked = {
        "action": "search",
        "query": "how does the IPC protocol work?",
        "limit": 5,
        "use_spreading": True,
    }
    (told,) = server.ask(asked)
    assert set(told) == {"status", "data", "error", "version"}
    assert (told["status"], told["error"]) == ("ok", None)
    assert told["data"]["results"][0]["content"] == "The IPC protocol takes one JSON object a line."


def test_every_operation_is_answered_with_the_id_of_its_request(server):
    told = server.ask(
        {"op": "remember", "args": {"content": "Ada wrote it.", "key": "ada"}, "namespace": "own", "id": 1},
        {"op": "get", "args": {"key": "ada"}, "namespace": "own", "id": {"any": [2]}},
        {"op": "get", "args": {"key": "ada"}, "namespace": "other", "id": None},
        {"op": "status"},
    )
    assert [one["status"] for one in told] == ["ok", "ok", "error", "ok"]
    assert [one.get("id", "none") for one in told] == [1, {"any": [2]}, None, "none"]
    assert told[1]["data"]["content"] == "Ada wrote it."
    assert told[2]["error"]["code"] == "not_found"


def test_the_same_comes_back_in_frames(server):
    asked = {"op": "remember", "args": {"content": "Grün ist die 色.", "key": "colour"}, "id": "é"}
    with server.connect() as end:
        end.sendall(frame(asked) + frame({"op": "get", "args": {"key": "colour"}, "id": 2}))
        end.shutdown(socket.SHUT_WR)
        heard = rest(end)
    first = int.from_bytes(heard[:4], "little")
    assert msgpack.unpackb(heard[4 : 4 + first])["id"] == "é"
    assert msgpack.unpackb(heard[8 + first :])["data"]["content"] == "Grün ist die 色."


def test_what_is_wrong_with_a_call_leaves_the_connection_open(server):
    told = server.ask(
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
    assert [one["error"]["code"] for one in told[:-1]] == ["bad_param"] * 12
    assert told[-1] == PONG
    assert len(told[4]["error"]["violations"]) == 2


@pytest.mark.parametrize("data", [b"{}\n", b" \n{}", b"{}"])
def test_the_shortest_message_is_answered(server, data):
    with server.connect() as end:
        end.sendall(data)
        if not data.endswith(b"\n"):
            end.shutdown(socket.SHUT_WR)
        with end.makefile("rb") as heard:
            assert json.loads(heard.readline())["error"]["code"] == "bad_param"


@pytest.mark.parametrize(
    "data",
    [
        b"nothing of the kind\n",
        b'{"action": "ping"\n',
        b"[1, 2]\n",
        b'{"op": "\xff\xfe"}\n',
        b'{"op": ' + b"[" * 100_000 + b"\n",
        b'{"op": NaN}\n',
        b"x" * (LIMIT + 1),
    ],
)
def test_garbage_on_a_line_gets_an_error_and_the_end_of_the_connection(server, data):
    with server.connect() as end:
        end.sendall(line(PING) + data)
        told = [json.loads(one) for one in rest(end).splitlines()]
    assert told[0] == PONG
    assert (told[1]["status"], told[1]["error"]["code"]) == ("error", "bad_param")
    assert len(told) == 2


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
    with server.connect() as end:
        end.sendall(frame(PING) + data)
        heard = rest(end)
    first = 4 + int.from_bytes(heard[:4], "little")
    assert msgpack.unpackb(heard[4:first]) == PONG
    assert msgpack.unpackb(heard[first + 4 :])["error"]["code"] == "bad_param"


@pytest.mark.parametrize("data", [line(PING), frame(PING)])
def test_what_comes_byte_by_byte_is_answered(server, data):
    with server.connect() as end:
        for number in range(len(data)):
            end.sendall(data[number : number + 1])
        assert end.recv(1 << 16)


@pytest.mark.parametrize("data", [b'{"action"', b"\x10\x00\x00\x00\x81", b"\x10\x00", b""])
def test_a_connection_that_ends_in_a_message_does_no_harm(server, data):
    with server.connect() as end:
        end.sendall(data)


def test_a_client_that_sends_no_more_still_gets_its_answers(server):
    with server.connect() as end:
        end.sendall(line(PING) * 3 + line(PING).rstrip())
        end.shutdown(socket.SHUT_WR)
        assert [json.loads(one) for one in rest(end).splitlines()] == [PONG] * 4


def test_many_requests_at_once_are_answered_in_their_order(server):
    told = server.ask(*({"op": "status", "id": number} for number in range(200)))
    assert [one["id"] for one in told] == list(range(200))


def test_a_client_that_reads_nothing_keeps_nobody_waiting(server):
    server.ask({"op": "remember", "args": {"content": "word " * 50_000, "key": "long"}})
    with server.connect() as slow:
        slow.sendall(line({"op": "get", "args": {"key": "long"}}) * 20)
        assert server.ask(PING) == [PONG]
        slow.shutdown(socket.SHUT_WR)
        assert len(rest(slow).splitlines()) == 20


def test_who_goes_away_before_the_answer_does_no_harm(server):
    for _ in range(20):
        with server.connect() as end:
            end.sendall(line({"op": "list"}) * 10)


def test_a_thousand_connections_are_served(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    ends = []
    try:
        ends += [server.connect() for _ in range(1_000)]
        for end in ends:
            end.sendall(line(PING))
        for end in ends:
            assert json.loads(end.recv(1 << 16)) == PONG
    finally:
        for end in ends:
            end.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_answer_over_the_limit_is_an_error_and_no_broken_connection(server):
    for number in range(17):
        args = {"content": f"Note {number}.", "metadata": {"page": "x" * 1_000_000}}
        assert server.ask({"op": "remember", "args": args, "namespace": "large"})[0]["status"] == "ok"
    told = server.ask({"op": "list", "namespace": "large", "id": 1}, PING)
    assert (told[0]["error"]["code"], told[0]["id"]) == ("too_long", 1)
    assert told[1] == PONG


def test_progress_comes_before_the_answer_for_those_who_ask_for_it(server):
    items = [{"content": f"Note {number}."} for number in range(3)]
    with server.connect() as end, end.makefile("rb") as heard:
        end.sendall(
            line({"op": "remember_many", "args": {"items": items}, "namespace": "bar", "progress": True})
        )
        assert json.loads(heard.readline()) == {"progress": [3, 3]}
        assert len(json.loads(heard.readline())["data"]) == 3
        end.sendall(line({"op": "remember_many", "args": {"items": items}, "namespace": "bar"}))
        assert len(json.loads(heard.readline())["data"]) == 3


def test_a_long_call_ends_when_its_caller_goes_away(tmp_path):
    """With one thread the next call is answered only once the long one has ended."""
    items = [{"content": f"Note number {number}."} for number in range(20_000)]
    with (
        serving(f"sqlite:///{tmp_path}/memory.db", ipc.SocketParams(threads=1)) as path,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other,
    ):
        end.connect(path)
        other.connect(path)
        end.sendall(line({"op": "remember_many", "args": {"items": items}, "progress": True}))
        with end.makefile("rb") as heard:
            assert json.loads(heard.readline()) == {"progress": [500, 20_000]}
        end.close()
        other.sendall(line({"op": "status"}))
        with other.makefile("rb") as heard:
            kept = json.loads(heard.readline())["data"]["memories"]
    assert 500 <= kept < 20_000
    assert kept % 500 == 0


@contextmanager
def serving(url, params):
    """A server in a thread of the test."""
    begun, at = threading.Event(), []
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    def ready(path):
        at.append(str(path))
        begun.set()

    host = Host(url, embedder=HashedEmbedder())
    work = ipc.serve_socket(host, ready=ready, stop=stop, params=params)
    thread = threading.Thread(target=loop.run_until_complete, args=(work,))
    thread.start()
    try:
        assert begun.wait(30)
        yield at[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        host.close()


def test_the_socket_is_its_owners_alone(socket_server):
    assert stat.S_IMODE(Path(socket_server.path).lstat().st_mode) == 0o600
    assert socket_server.path == f"{socket_server.folder}/memory.db.sock"


def test_the_socket_goes_with_its_server(socket_server):
    assert socket_server.end(signal.SIGINT) == 0
    assert not Path(socket_server.path).exists()


def test_the_socket_of_a_dead_server_is_replaced(socket_server):
    socket_server.end(signal.SIGKILL)
    assert Path(socket_server.path).exists()
    socket_server.start()
    assert socket_server.ask(PING) == [PONG]


def test_the_socket_of_a_living_server_is_left_alone(socket_server):
    with pytest.raises(Conflict, match=r"listens on .* already"):
        asyncio.run(serve_once(socket_server.url))
    assert socket_server.ask(PING) == [PONG]


async def serve_once(url, path=None):
    host = Host(url, embedder=HashedEmbedder())
    try:
        await ipc.serve_socket(host, path, stop=asyncio.Event())
    finally:
        host.close()


def test_something_else_in_the_place_of_the_socket_is_left_alone(tmp_path):
    there = tmp_path / "own.sock"
    there.write_text("mine")
    with pytest.raises(Conflict, match="no socket of yours"):
        asyncio.run(serve_once(f"sqlite:///{tmp_path}/memory.db", there))
    assert there.read_text() == "mine"


def test_a_socket_is_not_made_where_others_may_put_files(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(StoreError, match="others may put files"):
        asyncio.run(serve_once(f"sqlite:///{tmp_path}/memory.db", tmp_path / "open" / "x.sock"))


def test_a_store_in_memory_has_no_socket():
    with pytest.raises(ParamError, match="must be a store in a file"):
        asyncio.run(serve_once("sqlite://"))


def test_a_path_too_long_for_a_socket_is_refused(tmp_path):
    with pytest.raises(ParamError, match="at most 107 bytes"):
        asyncio.run(serve_once(f"sqlite:///{tmp_path}/memory.db", tmp_path / ("x" * 107)))


def test_a_server_that_ends_finishes_what_it_has_begun(socket_server):
    items = [{"content": f"Note number {number}."} for number in range(400)]
    with socket_server.connect() as end, end.makefile("rb") as heard:
        end.sendall(line({"op": "remember_many", "args": {"items": items}}) + line(PING))
        while not socket_server.ask({"op": "status"})[0]["data"]["operations"]:
            pass  # it has not begun
        socket_server.process.terminate()
        told = heard.readline()
    assert socket_server.end() == 0
    socket_server.start()
    kept = socket_server.ask({"op": "status"})[0]["data"]["memories"]
    assert kept == 400
    assert not told or len(json.loads(told)["data"]) == 400


def test_a_server_ends_though_a_client_does_not_read(tmp_path):
    """Patience is a parameter: none here."""
    ready = threading.Event()

    async def serve():
        stop = asyncio.Event()
        host = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())
        host.call("default", "remember", {"content": "word " * 100_000, "key": "long"})

        def begin(path):
            end.connect(str(path))
            end.sendall(line({"op": "get", "args": {"key": "long"}}) * 5)
            asyncio.get_running_loop().call_later(0, ready.set)
            stop.set()

        await ipc.serve_socket(host, ready=begin, stop=stop, params=ipc.SocketParams(drain=0.0))
        host.close()

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        asyncio.run(serve())
    assert not (tmp_path / "memory.db.sock").exists()


ASK_AS = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
end = socket.socket(socket.AF_UNIX)
end.connect(sys.argv[1])
end.sendall(b'{"action": "ping"}\\n')
print(end.recv(100))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_not_answered(tmp_path):
    """Even where the modes of folder and socket would let them in."""
    url = f"sqlite:///{tmp_path}/memory.db"

    async def ask():
        stop, at = asyncio.Event(), asyncio.get_running_loop().create_future()
        host = Host(url, embedder=HashedEmbedder())
        serving = asyncio.create_task(ipc.serve_socket(host, ready=at.set_result, stop=stop))
        path = await at
        path.chmod(0o777)
        for folder in (tmp_path, *tmp_path.parents):
            if folder.stat().st_uid == os.geteuid() and folder != Path("/") and folder != Path("/tmp"):
                folder.chmod(folder.stat().st_mode | 0o755)
        asked = await asyncio.create_subprocess_exec(
            sys.executable, "-c", ASK_AS, str(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        said = await asked.communicate()
        stop.set()
        await serving
        host.close()
        return said

    out, err = asyncio.run(ask())
    assert out.strip() == b"b''" or b"ConnectionResetError" in err or b"BrokenPipeError" in err, err
