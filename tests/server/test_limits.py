"""Bad input, and clients that misbehave: the server refuses, and goes on."""

from __future__ import annotations

import json
import resource
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.rows import each_row

from priming.config.params.services import SERVER, ServerParams
from priming_server.limits import Bodies, RateLimiter
from priming_server.responses import Refused, parse_body

from .conftest import until

HEAD = "POST /v1/default/{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def sent(served, text, *, more=b""):
    """What the server answers to bytes, until it closes the connection."""
    with served.connection() as connection:
        connection.sendall(text.encode() + more)
        return connection.makefile("rb").read()


def status(answer):
    return int(answer.split()[1])


def is_alive(served):
    return served.client.get("/health").status_code == 200


@each_row(
    ("body", "rule"),
    [
        (b"{", "must be JSON"),
        (b'{"text": NaN}', "NaN is not a JSON number"),
        (b'{"text": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"limit": 1e999}', "too large a number"),
        (b'{"limit": ' + b"9" * 5000 + b"}", "must be JSON"),
        (b'{"text": "\xff"}', "must be text in UTF-8"),
        (b'{"text": "\\ud800"}', "must be text in UTF-8"),
        (b'"text"', "must be a JSON object"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "at most 64 deep"),
        (b"[" * 1_000_000, "at most 64 deep"),
        (b'{"cue": ' + b"[" * 900 + b"]" * 900 + b"}", "at most 64 deep"),
    ],
)
def test_a_body_that_is_no_request_is_refused(lasting, body, rule):
    answer = lasting.client.post(
        "/v1/default/recall", content=body, headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_param")
    assert rule in answer.json()["error"]["message"]
    assert len(answer.text) < 1_000
    assert is_alive(lasting)


def test_a_body_may_be_as_deep_as_the_limit():
    assert parse_body(b'{"a":' * 64 + b"1" + b"}" * 64, 64, 1_000)
    assert parse_body(b'{"a": 1, "a": 2}', 64, 1_000) == {"a": 2}


def test_a_text_that_is_deep_json_within_is_no_way_around(lasting):
    deep = '{"a":' * 600 + "1" + "}" * 600
    answer = lasting.ask("remember", {"content": "x", "metadata": deep, "key": "x"})
    assert answer.status_code == 400
    assert lasting.ask("list").status_code == 200


def test_a_body_beyond_the_limit_is_refused_by_its_length(lasting):
    head = HEAD.format("remember") + f"Content-Length: {100 * 2**20}\r\n\r\n"
    answer = sent(lasting, head)  # not a byte of it is waited for
    assert status(answer) == 413
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_large"


def test_a_stream_without_a_length_is_refused_at_the_limit(served):
    def stream():
        for number in range(100):
            taken.append(number)
            yield b" " * 2**20

    taken = []
    answer = served.client.post(
        "/v1/default/remember", content=stream(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    assert len(taken) < 50  # what stands in buffers, beside the limit of 8
    assert is_alive(served)


@each_row("length", ["-1", "1e3", "9" * 400])
def test_a_length_that_is_none_is_refused(lasting, length):
    assert status(sent(lasting, HEAD.format("status") + f"Content-Length: {length}\r\n\r\n")) in (400, 413)
    assert is_alive(lasting)


@each_row("text", ["\x00\x01garbage\r\n\r\n", "GET\r\n\r\n", "POST / HTTP/1.1\r\n\r\n"])
def test_what_is_no_http_is_refused(lasting, text):
    assert status(sent(lasting, text)) == 400
    assert is_alive(lasting)


def test_a_head_without_end_is_refused(lasting):
    assert status(sent(lasting, "GET /health HTTP/1.1\r\nX: " + "y" * 100_000)) == 400
    assert is_alive(lasting)


def test_a_body_that_does_not_arrive_is_refused(serve):
    served = serve(body_seconds=0.2)
    answer = sent(served, HEAD.format("status") + 'Content-Length: 9\r\n\r\n{"li')
    assert status(answer) == 408
    assert is_alive(served)


def test_a_client_that_goes_away_in_the_middle_changes_nothing(served):
    with served.connection() as connection:
        connection.sendall((HEAD.format("remember") + 'Content-Length: 99\r\n\r\n{"content": "x"').encode())
        connection.shutdown(1)
        assert connection.makefile("rb").read() == b""
    assert served.done("status")["memories"] == 0


@pytest.mark.slow
def test_a_thousand_connections_at_once_are_all_answered(served):
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    number = min(1_000, (soft - 300) // 2)
    connections = [served.connection() for _ in range(number)]
    try:
        for place, connection in enumerate(connections):
            path = "GET /health" if place % 2 else "POST /v1/default/status"
            connection.sendall(f"{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        result = [status(item.makefile("rb").read()) for item in connections]
    finally:
        for connection in connections:
            connection.close()
    assert set(result[1::2]) == {200}
    assert set(result[::2]) <= {200, 503}
    assert is_alive(served)


def test_more_calls_than_may_wait_are_refused_and_the_others_done(serve, monkeypatch):
    served = serve(threads=1, in_flight=2)
    opened = threading.Event()
    call = served.service.call
    monkeypatch.setattr(served.service, "call", lambda *a, **n: opened.wait(30) and call(*a, **n))
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(served.ask, "status") for _ in range(2)]
        until(lambda: served.app.state.server.workers.at_work == 2)
        refused = served.ask("status")
        opened.set()
        assert [item.result().status_code for item in waiting] == [200, 200]
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"]["code"] == "overloaded"
    assert served.ask("status").status_code == 200


@pytest.mark.parametrize("way", ["an answer", "a stream", "a tool"])
def test_a_long_call_leaves_the_threads_of_its_namespace_to_short_ones(serve, monkeypatch, way):
    served = serve(threads=1, threads_each=1, lanes=1, mounts=True)
    begun, go_on = threading.Event(), threading.Event()
    call = served.service.call

    def slow(namespace, operation, *rest, **more):
        if operation == "sleep":
            begun.set()
            assert go_on.wait(60)
        return call(namespace, operation, *rest, **more)

    monkeypatch.setattr(served.service, "call", slow)

    def night():
        if way != "a tool":
            return served.ask("sleep", Accept="application/x-ndjson" if way == "a stream" else "*/*")
        params = {"name": "sleep", "arguments": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return served.client.post("/v1/default/mcp?tools=care", json=message, headers={"Accept": "*/*"})

    with ThreadPoolExecutor(2) as pool:
        asleep = pool.submit(night)
        try:
            assert begun.wait(60)
            recall = pool.submit(served.done, "recall", {"text": "when does the ferry leave?"})
            assert recall.result(20)["hits"] == []
            assert not asleep.done()
        finally:
            go_on.set()
        assert asleep.result().status_code == 200


def test_a_call_that_takes_too_long_is_told_so_and_goes_on(serve, monkeypatch):
    served = serve(call_seconds=0.05)
    opened = threading.Event()
    call = served.service.call
    monkeypatch.setattr(served.service, "call", lambda *a, **n: opened.wait(30) and call(*a, **n))
    answer = served.ask("remember", {"content": "x"})
    opened.set()
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timeout")
    until(lambda: served.service.call("default", "status", {})["memories"] == 1)


def test_a_client_that_asks_too_often_waits(serve):
    served = serve(rate=0.1, burst=3)
    result = [served.ask("status") for _ in range(5)]
    assert [item.status_code for item in result] == [200, 200, 200, 429, 429]
    assert result[-1].json()["error"]["code"] == "too_many"
    assert 1 <= int(result[-1].headers["retry-after"]) <= 10
    for path in ("/health", "/ready"):  # a supervisor's question counts against nobody
        assert served.client.get(path).status_code == 200


def test_each_token_has_a_rate_of_its_own(serve):
    served = serve(rate=0.1, burst=1)
    first, second = (served.tokens.new("*").secret for _ in range(2))
    assert [served.ask("status", token=item).status_code for item in (first, second, first)] == [
        200,
        200,
        429,
    ]


def test_a_bucket_fills_at_the_rate_up_to_the_burst():
    now = [0.0]
    buckets = RateLimiter(ServerParams(rate=2.0, burst=3), lambda: now[0])

    def may():
        try:
            buckets.take("one")
        except Refused as error:
            return int(error.headers["Retry-After"])
        return 0

    assert [may() for _ in range(4)] == [0, 0, 0, 1]
    now[0] = 0.5  # one more, at two a second
    assert [may(), may()] == [0, 1]
    now[0] = 100.0
    assert [may() for _ in range(4)] == [0, 0, 0, 1]


def test_only_the_latest_clients_are_watched_and_a_rate_of_nothing_is_no_limit():
    buckets = RateLimiter(ServerParams(rate=0.001, burst=1, clients=2), lambda: 0.0)
    for name in ("one", "two", "three", "one"):  # "one" was forgotten
        buckets.take(name)
    with pytest.raises(Refused):
        buckets.take("three")
    free = RateLimiter(ServerParams(rate=0.0), lambda: 0.0)
    for _ in range(2 * SERVER.burst):
        free.take("one")


def test_the_bytes_under_way_of_a_client_and_of_all_are_limited():
    bodies = Bodies(ServerParams(bodies_each=100, bodies_bytes=150))
    with bodies.of("a") as take:
        take(60)
        with bodies.of("a") as more, pytest.raises(Refused, match="under way"):
            more(41)
        with bodies.of("b") as others:
            others(90)
            with pytest.raises(Refused, match="under way"):
                others(1)
        take(40)
    with bodies.of("a") as take:
        take(100)


def test_half_a_body_counts_until_its_request_ends(serve):
    served = serve(bodies_each=1_000, bodies_bytes=2_000)
    first = HEAD.format("remember") + "Content-Length: 900\r\n\r\n"

    def second():
        body = b"{" + b" " * 300 + b"}"
        return served.client.post(
            "/v1/default/list", content=body, headers={"Content-Type": "application/json"}
        )

    with served.connection() as waiting:
        waiting.sendall(first.encode() + b" " * 800)
        until(lambda: second().status_code == 503, "a refusal")
    until(lambda: second().status_code == 200, "an answer")
