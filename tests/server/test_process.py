"""``priming serve`` as a process: where it listens, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import stat
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import pytest

from priming import Memory
from priming.errors import Conflict, ParamError
from priming_server.access.tokens import Tokens
from priming_server.process import run

from .conftest import DEADLINE, until

pytestmark = pytest.mark.slow

JSON = {"Content-Type": "application/json"}


def post(client, operation, request):
    return client.post(f"/v1/default/{operation}", content=json.dumps(request), headers=JSON)


def at_work(client):
    """Whether a job or a call beside this one is at work."""
    metrics = client.get("/metrics").text
    return "priming_jobs 1.0" in metrics or "priming_in_flight 2.0" in metrics


def operations(folder):
    """How many operations the file holds, seen from outside."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(folder / "memory.db")) as raw:
        return raw.execute("SELECT count(*) FROM operations").fetchone()[0]
    return 0


def test_a_write_that_was_begun_is_finished_and_answered(process, tmp_path):
    server = process(PRIMING_SERVER_GRACE_SECONDS="600")
    items = [{"content": f"Entry number {number} of many."} for number in range(1_200)]
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(post, client, "remember_many", {"items": items})
        until(lambda: operations(tmp_path), "the first batch")
        server.process.send_signal(signal.SIGTERM)
        assert len(answer.result(DEADLINE).json()) == 1_200
    assert server.process.wait(DEADLINE) == 0
    with Memory.open(server.url) as memory:
        assert memory.status().memories == 1_200
        assert memory.validate() == []


@pytest.mark.parametrize("route", ["remember", "jobs/remember_many"])
def test_work_that_does_not_end_is_cut_off_and_the_next_server_starts(process, tmp_path, route):
    server = process(PRIMING_SERVER_GRACE_SECONDS="1")
    request = {"content": "Late."} if route == "remember" else {"items": [{"content": "Late."}]}
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client, ThreadPoolExecutor(1) as pool:
        post(client, "remember", {"content": "In time."})
        with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            answer = pool.submit(post, client, route, request)
            until(lambda: at_work(client), "the call")
            assert server.end() == 128 + signal.SIGTERM
        if route == "remember":
            assert answer.result().status_code == 503
            assert answer.result().json()["error"]["code"] == "stopping"
    following = process()
    with httpx2.Client(base_url=following.at, timeout=DEADLINE) as client:
        assert post(client, "status", {}).json()["memories"] == 1
    with Memory.open(following.url) as memory:
        assert memory.validate() == []


def test_a_job_ends_after_its_step_when_the_server_does(process, tmp_path):
    server = process()
    items = [{"content": f"Entry number {number} of many."} for number in range(3_000)]
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client:
        at = post(client, "jobs/remember_many", {"items": items}).headers["location"]
        with client.stream("GET", f"{at}/events") as stream:
            lines = stream.iter_lines()
            until(lambda: operations(tmp_path), "the first batch")
            server.process.send_signal(signal.SIGTERM)
            rest = "\n".join(lines)
    assert rest.rpartition("event: ")[2].split()[0] in (
        "cancelled",
        "result",
    )  # a fast one may be done by then
    assert server.process.wait(DEADLINE) == 0
    with Memory.open(server.url) as memory:
        assert memory.status().memories % 500 == 0
        assert memory.validate() == []


def test_a_killed_server_loses_nothing_that_it_acknowledged(process):
    server = process()
    acknowledged, going = [], threading.Event()

    def write(part):
        with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client, suppress(httpx2.TransportError):
            for number in range(100_000):
                answer = post(client, "remember", {"content": f"{part} {number}", "key": f"{part}-{number}"})
                assert answer.status_code == 200
                acknowledged.append(f"{part}-{number}")
                if len(acknowledged) > 40:
                    going.set()

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, part) for part in "abc"]
        assert going.wait(DEADLINE)
        server.process.kill()
        for writer in writers:
            writer.result(DEADLINE)
    with Memory.open(server.url) as memory:
        rest = {record.key for record in memory.list(limit=10_000)}
        assert set(acknowledged) <= rest
        assert len(rest) - len(acknowledged) <= 3  # one for each writer, carried out but not answered
        assert memory.validate() == []


def test_ctrl_c_ends_it_in_order(process):
    server = process()
    assert server.end(signal.SIGINT) == 0
    assert not [item for item in os.listdir(server.log.parent) if "-wal" in item or ".sock" in item]


def test_it_drains_before_it_ends(process):
    server = process(PRIMING_SERVER_DRAIN_SECONDS="600")
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client:
        assert client.get("/readyz").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        until(lambda: client.get("/readyz").status_code == 503, "the announcement of its end")
    assert httpx2.get(f"{server.at}/healthz").status_code == 200
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client:
        assert post(client, "remember", {"content": "Late, but in time."}).status_code == 200
    assert server.end(signal.SIGTERM) == 0
    with Memory.open(server.url) as memory:
        assert memory.status().memories == 1


def test_draining_has_an_end(process):
    assert process(PRIMING_SERVER_DRAIN_SECONDS="0.2").end() == 0


def test_it_reports_to_systemd_that_it_is_ready_and_that_it_stops(process, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "notify"))
        supervisor.settimeout(DEADLINE)
        server = process(NOTIFY_SOCKET=str(tmp_path / "notify"))
        assert supervisor.recv(100) == b"READY=1"
        assert server.end() == 0
        assert supervisor.recv(100) == b"STOPPING=1"


def test_its_log_is_one_json_object_a_line_without_content(process):
    server = process()
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client:
        post(client, "remember", {"content": "Kestrel lives in the cellar."})
        client.get("/v1/default/Kestrel")
        client.get("/health")
    assert server.end() == 0
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert [line["operation"] for line in lines if line["event"] == "request"] == [
        "remember",
        "other",
        "health",
    ]
    assert "Kestrel" not in server.log.read_text()


def test_a_token_is_asked_for_by_a_server_that_runs_already(process):
    server = process()
    with httpx2.Client(base_url=server.at, timeout=DEADLINE) as client, Tokens(server.url) as tokens:
        assert post(client, "status", {}).status_code == 200
        new = tokens.new("default")
        assert post(client, "status", {}).status_code == 401
        client.headers["Authorization"] = f"Bearer {new.secret}"
        assert post(client, "status", {}).status_code == 200
        tokens.revoke(new.token.id)
        assert post(client, "status", {}).status_code == 401


def test_a_socket_of_its_own_is_for_its_owner_only(process, tmp_path):
    path = tmp_path / "http.sock"
    server = process("--uds", str(path))
    assert server.at == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://priming") as client:
        assert post(client, "status", {}).status_code == 200
        with pytest.raises(Conflict, match="in use by another server"):
            run(server.url, uds=path)
    assert server.end() == 0
    assert not path.exists()


def test_a_page_in_a_browser_is_promised_at_an_address_only(process, tmp_path):
    assert "a browser shows its page; Ctrl-C ends it" in process().line
    assert process("--uds", str(tmp_path / "http.sock")).line.split(None, 3)[3] == "Ctrl-C ends it\n"


def test_a_socket_that_a_dead_server_left_is_replaced(process, tmp_path):
    path = tmp_path / "http.sock"
    process("--uds", str(path)).end(signal.SIGKILL)
    assert path.exists()
    process("--uds", str(path))
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://priming") as client:
        assert client.get("/health").status_code == 200


def test_what_is_no_socket_is_not_replaced(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(ParamError, match="must be a place for a socket"):
        run(f"sqlite:///{tmp_path}/memory.db", uds=path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.invalid"])
def test_without_a_token_it_listens_to_this_machine_only(tmp_path, host):
    with pytest.raises(Conflict, match="priming token new"):
        run(f"sqlite:///{tmp_path}/memory.db", host=host)


def test_with_a_token_it_may_listen_to_others(process, tmp_path):
    with Tokens(f"sqlite:///{tmp_path}/memory.db") as tokens:
        new = tokens.new("default")
    server = process("--host", "0.0.0.0")
    port = server.at.rpartition(":")[2]
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=DEADLINE) as client:
        assert post(client, "status", {}).status_code == 401
        head = {**JSON, "Authorization": f"Bearer {new.secret}", "Host": "memory.example"}
        assert client.post("/v1/default/status", content="{}", headers=head).status_code == 200


def test_a_port_that_is_taken_is_named(served, tmp_path):
    with pytest.raises(Conflict, match=f"127.0.0.1:{served.port} cannot be listened on"):
        run(f"sqlite:///{tmp_path}/other.db", port=served.port)


def messages(path):
    """The answers to each action of Ethos, one after another on one connection of a socket."""
    answers = []
    with socket.socket(socket.AF_UNIX) as end:
        end.settimeout(DEADLINE)
        end.connect(str(path))
        with end.makefile() as lines:
            for request in (
                {"action": "ping"},
                {"action": "ingest", "payload": {"content": "The disk is full.", "key": "disk"}},
                {"action": "search", "query": "disk", "use_spreading": True},
                {"action": "get", "key": "disk"},
                {"action": "embed", "text": "disk"},
                {"action": "health"},
                {"action": "consolidate"},
            ):
                end.sendall(json.dumps(request).encode() + b"\n")
                answers.append(json.loads(lines.readline()))
    return answers


def test_a_socket_of_its_own_takes_the_messages_of_ethos_beside_http(process, tmp_path):
    path = tmp_path / "own.sock"
    process("--uds", str(path))
    answers = messages(path)
    assert [answer["status"] for answer in answers] == ["ok"] * len(answers)
    assert (answers[0]["data"], answers[2]["data"]["results"][0]["key"]) == ("pong", "disk")
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://priming") as client:
        assert client.get("/health").status_code == 200


@pytest.mark.slow
def test_a_server_of_a_store_in_postgresql_has_the_socket_of_ethos(process, postgres):
    with tempfile.TemporaryDirectory(prefix="priming-") as runtime:
        process("--url", f"{postgres}&schema=ethos_socket", XDG_RUNTIME_DIR=runtime)
        (path,) = Path(runtime).rglob("*.sock")
        answers = messages(path)
    assert [answer["status"] for answer in answers] == ["ok"] * len(answers)
    assert answers[3]["data"]["content"] == "The disk is full."
