"""Two tenants of a server: whatever Mallory does, Bob waits for nothing of it and learns nothing of it."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest

from priming.verbs.rows import BY_NAME, SERVED
from priming_server.limits import FairThreads

from .conftest import bearer, until
from .scene import example
from .test_http import in_scene

MANY = "remember_many"


@pytest.fixture
def tenants(serve, monkeypatch):
    """A server with a token for each of two tenants, where Mallory's calls do not end before ``release`` is set."""

    def start(**limits):
        server = serve(**limits)
        server.release, server.entered = threading.Event(), []
        call = server.service.call

        def slow(namespace, operation, *rest, **more):
            if namespace == "mallory" and operation != "status":
                server.entered.append(operation)
                assert server.release.wait(30)
            return call(namespace, operation, *rest, **more)

        monkeypatch.setattr(server.service, "call", slow)
        server.mallory, server.bob = (server.tokens.new(name).secret for name in ("mallory", "bob"))
        servers.append(server)
        return server

    servers = []
    yield start
    for server in servers:
        server.release.set()


def sent(server, namespace, operation, body, token):
    """A connection on which a request was sent whose answer nobody reads."""
    end = server.connection()
    content = json.dumps(body).encode()
    end.sendall(
        f"POST /v1/{namespace}/{operation} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n".encode()
        + content
    )
    return end


def waiting(server):
    return server.app.state.server.workers.at_work


@pytest.mark.slow
def test_a_tenant_whose_calls_fill_its_queue_delays_nobody_else(tenants):
    server = tenants(threads=5, threads_each=4, in_flight=8)
    flood = [sent(server, "mallory", "recall", {"text": f"row {n}"}, server.mallory) for n in range(8)]
    until(lambda: waiting(server) == 8)
    until(lambda: len(server.entered) == 4)
    assert server.ask("recall", {"text": "more"}, "mallory", server.mallory).status_code == 503
    for number in range(2):
        server.done("remember", {"content": f"Bob's note {number}."}, "bob", server.bob)
    assert server.done("status", {}, "bob", server.bob)["memories"] == 2
    assert len(server.entered) == 4
    server.release.set()
    for end in flood:
        with end:
            assert end.recv(12) == b"HTTP/1.1 200"


@pytest.mark.slow
def test_a_tenant_with_many_namespaces_cannot_occupy_every_thread(tenants, monkeypatch):
    server = tenants()
    call = server.service.call

    def slow(namespace, operation, *rest, **more):
        if namespace.startswith("mallory-"):
            server.entered.append(namespace)
            assert server.release.wait(30)
        return call(namespace, operation, *rest, **more)

    monkeypatch.setattr(server.service, "call", slow)
    names = {f"mallory-{n}": server.tokens.new(f"mallory-{n}").secret for n in range(6)}
    items = {"items": [{"content": "a line"}]}
    for name, token in names.items():
        assert server.ask(f"jobs/{MANY}", items, name, token).status_code == 202
    until(lambda: len(server.entered) == 6)
    job = server.ask(f"jobs/{MANY}", items, "bob", server.bob).headers["location"]
    until(lambda: server.client.get(job, headers=bearer(server.bob)).json()["status"] == "done")
    flood = [
        sent(server, name, "recall", {"text": f"row {n}"}, token)
        for name, token in names.items()
        for n in range(6)
    ]
    until(lambda: waiting(server) == 36)
    until(lambda: len(server.entered) >= 6 + 16)
    for number in range(3):
        server.done("remember", {"content": f"Bob's note {number}."}, "bob", server.bob)
    assert len(server.entered) <= 6 + 18
    server.release.set()
    for end in flood:
        with end:
            assert end.recv(12) == b"HTTP/1.1 200"


def test_a_tenant_that_asks_for_streams_of_progress_cannot_queue_more_of_them(tenants):
    server = tenants(threads=2, threads_each=1, in_flight=2)
    query = {"Accept": "application/x-ndjson"}
    with ThreadPoolExecutor(2) as pool:
        streams = [pool.submit(server.ask, "sleep", {}, "mallory", server.mallory, **query) for _ in range(2)]
        until(lambda: waiting(server) == 2)
        refused = server.ask("sleep", {}, "mallory", server.mallory, **query)
        assert server.ask("sleep", {}, "bob", server.bob, **query).status_code == 200
        server.release.set()
        assert [stream.result().status_code for stream in streams] == [200, 200]
    assert (refused.status_code, refused.json()["error"]["message"][:7]) == (503, "2 calls")


def test_jobs_wait_for_those_of_their_own_tenant_only(tenants):
    server = tenants(jobs_at_once=2, jobs_each=1, jobs_waiting=3)
    items = {"items": [{"content": "a line"}]}

    def begin(name, token):
        return server.ask(f"jobs/{MANY}", items, name, token)

    assert [begin("mallory", server.mallory).status_code for _ in range(3)] == [202] * 3
    refused = begin("mallory", server.mallory)
    assert (refused.status_code, refused.json()["error"]["message"][:6]) == (503, "3 jobs")
    own = begin("bob", server.bob)
    assert own.status_code == 202
    at, head = own.headers["location"], bearer(server.bob)
    until(lambda: server.client.get(at, headers=head).json()["status"] == "done")
    assert server.entered == [MANY]


def test_jobs_of_a_tenant_push_out_nothing_of_another(tenants):
    server = tenants(jobs_kept=1)
    server.release.set()
    items, head = {"items": [{"content": "a line"}]}, bearer(server.bob)

    def finished(name, token):
        at = server.ask(f"jobs/{MANY}", items, name, token).headers["location"]
        until(lambda: server.client.get(at, headers=bearer(token)).json()["ended_at"])
        return at

    own = finished("bob", server.bob)
    others = [finished("mallory", server.mallory) for _ in range(2)]
    assert server.client.get(own, headers=head).status_code == 200
    left = [server.client.get(at, headers=bearer(server.mallory)).status_code for at in others]
    assert left == [404, 200]


def test_tools_of_mcp_wait_for_those_of_their_own_tenant_only(tenants):
    server = tenants(threads_each=2, in_flight=5, mounts=True)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "recall", "arguments": {"text": "x"}},
    }
    flood = [sent(server, "mallory", "mcp", call, server.mallory) for _ in range(5)]
    until(lambda: len(server.entered) == 2)
    accept = {"Accept": "application/json, text/event-stream"}
    until(lambda: server.ask("mcp", call, "mallory", server.mallory, **accept).status_code == 503)
    answer = server.ask("mcp", call, "bob", server.bob, **accept)
    assert answer.status_code == 200
    assert '"isError":true' not in answer.text
    assert len(server.entered) == 2
    server.release.set()
    for end in flood:
        with end:
            assert end.recv(12) == b"HTTP/1.1 200"


def test_mcp_has_no_stream_that_waits_for_nothing(tenants):
    server = tenants(mounts=True)
    for method in ("GET", "DELETE"):
        answer = server.client.request(
            method, "/v1/bob/mcp", headers={**bearer(server.bob), "Accept": "text/event-stream"}
        )
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("coding", ["chunked", "Chunked", "identity, chunked"])
def test_a_request_with_two_lengths_is_refused_and_its_rest_is_no_request(lasting, order, coding):
    lengths = [b"content-length: 5\r\n", b"Transfer-Encoding: " + coding.encode() + b"\r\n"][::order]
    hidden = b"POST /v1/default/purge HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /v1/default/status HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with lasting.connection() as end:
        end.sendall(head + b"".join(lengths) + b"\r\n2\r\n{}\r\n0\r\n\r\n" + hidden)
        answer = b"".join(iter(lambda: end.recv(65536), b""))
    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.split()[1] in (b"400", b"501")
    assert b"connection: close" in answer.lower()


def test_lanes_take_turns():
    threads, gate, order = FairThreads(1, 1, 1, "lanes"), threading.Event(), []
    calls = [threads.submit("a", gate.wait)]
    calls += [threads.submit(lane, partial(order.append, lane)) for lane in "aaabbbc"]
    gate.set()
    threads.close()
    assert all(call.done() for call in calls)
    assert order == [*"abcabab"]


def test_a_lane_with_nothing_at_work_has_a_thread_however_many_others_are_busy():
    threads, gate = FairThreads(4, 2, 8, "lanes"), threading.Event()
    long_calls = [threads.submit(lane, gate.wait) for lane in "aabbccdd"]
    assert threads.submit("e", lambda: 7).result(30) == 7
    assert [call.running() for call in long_calls] == [True] * 5 + [False, True, False]
    gate.set()
    threads.close()
    assert all(call.done() for call in long_calls)


def test_an_error_of_a_call_is_that_of_its_future_and_frees_its_thread():
    threads = FairThreads(1, 1, 1, "lanes")
    with pytest.raises(ZeroDivisionError):
        threads.submit("a", lambda: 1 / 0).result(30)
    assert threads.submit("a", lambda: 7).result(30) == 7
    threads.close()


KINDS = ("read", "write", "admin")
ADMIN = {"purge", "rollback", "restore", "export_lines"}


def least(op):
    """The kind of token that an operation needs, by what the table says of its effects."""
    return "admin" if op.name in ADMIN else "write" if op.writes else "read"


SAMPLE = [BY_NAME[name] for name in ("recall", "remember", "purge", "export_lines")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ops", [SAMPLE, pytest.param(SERVED, marks=pytest.mark.slow)], ids=["some", "all"])
def test_a_token_may_do_what_its_kind_may_and_no_more(serve, kind, ops):
    server = serve()
    token = server.tokens.new("shop", kind=kind).secret
    for op in ops:
        allowed = KINDS.index(kind) >= KINDS.index(least(op))
        refusals = [server.ask(op.name, {"nonsense": 1}, "shop", token)]
        if op.long:
            refusals.append(server.ask(f"jobs/{op.name}", {"nonsense": 1}, "shop", token))
        for answer in refusals:
            assert answer.status_code == (400 if allowed else 403), (op.name, answer.text)
            if not allowed:
                assert f"kind '{least(op)}'" in answer.json()["error"]["message"]


def test_a_kind_holds_with_a_body_of_any_form(serve):
    server = serve()
    server.done("remember", {"content": "The port is 8080.", "key": "port"}, "shop")
    token = server.tokens.new("shop", kind="read").secret
    forms = ({"Prefer": "handling=lenient"}, {"Accept": "application/x-ndjson"}, {"Idempotency-Key": "x"})
    for headers in forms:
        assert server.ask("forget", {"id": "port"}, "shop", token, **headers).status_code == 403
        assert server.ask("export_lines", {}, "shop", token, **headers).status_code == 403
    assert server.done("get", {"key": "port"}, "shop", token)["status"] == "active"


def test_the_job_of_an_admin_is_nothing_to_those_who_may_not_begin_it(serve):
    server = serve()
    server.done("remember", {"content": "The safe's number is 4711."}, "shop")
    admin, write, read = (server.tokens.new("shop", kind=kind).secret for kind in ("admin", "write", "read"))
    at = server.ask("jobs/export_lines", {}, "shop", admin).headers["location"]
    until(lambda: "number is 4711" in server.client.get(at, headers=bearer(admin)).text)
    for token in (write, read):
        for method, path in (("GET", at), ("GET", f"{at}/events"), ("DELETE", at)):
            answer = server.client.request(method, path, headers=bearer(token))
            assert answer.status_code == 403
            assert "number is 4711" not in answer.text
    assert server.client.get(at, headers=bearer(admin)).status_code == 200


def test_mcp_offers_what_the_kind_of_token_may(serve):
    server = serve(mounts=True)
    accept = {"Accept": "application/json, text/event-stream"}

    def rpc(method, params, token):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = server.ask("mcp?tools=all", message, "shop", token, **accept)
        assert answer.status_code == 200, answer.text
        return answer.json()

    offered = {}
    for kind in KINDS:
        token = server.tokens.new("shop", kind=kind).secret
        offered[kind] = {tool["name"] for tool in rpc("tools/list", {}, token)["result"]["tools"]}
        for name in ("purge", "remember"):
            if name not in offered[kind]:
                refused = rpc("tools/call", {"name": name, "arguments": {}}, token)["result"]
                assert refused["isError"]
                assert "it needs a token of the kind" in refused["content"][0]["text"]
    assert ADMIN & offered["write"] == set()
    assert offered["admin"] - offered["write"] == ADMIN
    assert {"remember", "feedback", "undo"} & offered["read"] == set()
    assert {"recall", "get", "list", "log"} <= offered["read"]


def test_an_expired_token_is_refused_at_once(serve, clock):
    server = serve(clock=clock)
    server.tokens._clock = clock
    token = server.tokens.new("shop", lasts=timedelta(minutes=5)).secret
    assert server.ask("status", {}, "shop", token).status_code == 200
    clock.at += timedelta(minutes=5)
    assert server.ask("status", {}, "shop", token).status_code == 401


def read_only_scene(server):
    """A namespace in which every operation of the examples has something to work on, and then read-only."""
    ids = in_scene(server, "archive")
    admin = server.tokens.new("*", kind="admin").secret
    server.tokens.set_read_only("archive", on=True)
    return ids, admin


def state(server):
    with server.service.memory("archive") as memory:
        rows = [(row.key, row.content, row.status, row.use) for row in memory.list(limit=1000)]
        return rows, len(memory.log(limit=1000)), len(memory.links())


WRITES = [op for op in SERVED if op.writes]


@pytest.mark.parametrize(
    "ops",
    [
        [BY_NAME[name] for name in ("remember", "forget", "purge", "loop_task_new_session")],
        pytest.param(WRITES, marks=pytest.mark.slow),
    ],
    ids=["some", "all"],
)
def test_nothing_changes_a_namespace_that_is_read_only(serve, ops):
    server = serve()
    ids, admin = read_only_scene(server)
    before, refused = state(server), set()
    for op in ops:
        answer = server.ask(op.name, example(op.name, ids), "archive", admin)
        if answer.status_code != 200:
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict"), op.name
            assert "'archive' is read-only" in answer.json()["error"]["message"]
            refused.add(op.name)
        assert state(server) == before, op.name
    assert {"remember", "forget", "purge"} <= refused


def test_what_is_read_only_is_read_and_others_are_written(serve):
    server = serve()
    _, admin = read_only_scene(server)
    assert server.done("recall", {"text": "which port does the server listen on"}, "archive", admin)["hits"]
    assert server.done("get", {"key": "port"}, "archive", admin)["status"] == "active"
    server.done("remember", {"content": "x"}, "other", admin)
    assert (
        server.envelopes({"op": "forget", "namespace": "archive", "args": {"key": "port"}})[0]["error"][
            "code"
        ]
        == "conflict"
    )
    server.tokens.set_read_only("archive", on=False)
    server.done("forget", {"key": "port"}, "archive", admin)


COMPOSED, APART = "M\u00fcnchen", "Mu\u0308nchen"


@pytest.mark.parametrize(("holder", "typed"), [(COMPOSED, APART), (APART, COMPOSED)])
def test_a_namespace_is_one_however_its_letters_are_composed(serve, holder, typed):
    server = serve()
    token = server.tokens.new(holder, kind="admin").secret
    server.done("remember", {"content": "The tap is blue.", "key": "tap"}, typed, token)
    assert {*server.service.namespaces} == {"default", COMPOSED}
    job = server.client.post(f"/v1/{holder}/jobs/reembed", headers=bearer(token), json={}).json()
    assert server.client.get(f"/v1/{typed}/jobs/{job['id']}", headers=bearer(token)).status_code == 200
    assert server.tokens.set_read_only(holder, on=True) == (COMPOSED,)
    assert server.ask("forget", {"key": "tap"}, typed, token).status_code == 409
