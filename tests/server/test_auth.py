"""Who may use the server: every operation is tried by those who may not."""

from __future__ import annotations

import json

import pytest
from tests.rows import each_row

from priming.config.params.services import ServerParams
from priming.verbs.rows import SERVED

from .conftest import Served, bearer
from .scene import OPERATIONS, example
from .test_http import in_scene

LONG = [op.name for op in SERVED if op.long]
HIDDEN = ("port 8080", "linter", "Lisbon", "theirs", "memory.db")


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A server with a namespace ``theirs``, whose token is not ours, and tokens of each sort; all may only ask it."""
    served = Served(f"sqlite:///{tmp_path_factory.mktemp('secured')}/memory.db", ServerParams())
    ids = in_scene(served, "theirs")
    served.job = served.ask("jobs/export_lines", namespace="theirs").json()["id"]
    new = served.tokens.new("theirs", "gone")
    served.tokens.revoke(new.token.id)
    good = served.tokens.new("theirs", kind="admin").secret
    served.sent = {
        "no token": None,
        "garbage": "garbage",
        "a made-up token": "prm_0123456789ab_" + "0" * 64,
        "a wrong secret": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "revoked": new.secret,
        "of another namespace": served.tokens.new("ours").secret,
    }
    served.good, served.ids = good, ids
    yield served
    served.close()


SAMPLE = ("remember", "recall", "purge", "sleep", "stats")


def is_refused(answer, who):
    expected = (403, "forbidden") if who == "of another namespace" else (401, "unauthorised")
    assert (answer.status_code, answer.json()["error"]["code"]) == expected
    assert not [item for item in HIDDEN if item in answer.text]


@pytest.mark.parametrize(
    "operations", [SAMPLE, pytest.param(OPERATIONS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_no_operation_is_carried_out_for_who_may_not(secured, operations):
    before = secured.done("log", namespace="theirs", token=secured.good)
    for who, token in secured.sent.items():
        for operation in operations:
            is_refused(secured.ask(operation, example(operation, secured.ids), "theirs", token), who)
        for operation in LONG:
            is_refused(secured.ask(f"jobs/{operation}", {}, "theirs", token), who)
        for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
            at = f"/v1/theirs/jobs/{secured.job}{path}"
            is_refused(secured.client.request(method, at, headers=bearer(token)), who)
    assert secured.done("log", namespace="theirs", token=secured.good) == before
    assert secured.client.get(f"/v1/theirs/jobs/{secured.job}", headers=bearer(secured.good)).is_success


@pytest.mark.parametrize(
    "operations", [SAMPLE, pytest.param(OPERATIONS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_an_error_tells_nothing_of_other_namespaces(secured, operations):
    token = secured.sent["of another namespace"]
    for operation in operations:
        answer = secured.ask(operation, example(operation, secured.ids), "ours", token)
        assert not [item for item in ("theirs", "memory.db", "Lisbon") if item in answer.text], operation


def test_a_reason_names_other_namespaces_only_to_who_may_use_them(served):
    served.done("remember", {"content": "The ferry leaves at nine."}, "harbour")
    own, all_ = served.tokens.new("harbor").secret, served.tokens.new("*").secret

    def reasons(operation, request, token):
        answer = served.ask(operation, request, "harbor", token)
        return answer.text + json.dumps(dict(answer.headers))

    for operation, request in (
        ("list", {}),
        ("recall", {"text": "ferry"}),
        ("status", {}),
        ("graph", {"format": "json"}),
        ("log", {}),
    ):
        assert 'no memories in \\"harbor' in reasons(operation, request, own)
        assert "harbour" not in reasons(operation, request, own)
        assert "harbour" in reasons(operation, request, all_)


def test_a_job_of_another_namespace_is_not_there(secured):
    token = secured.sent["of another namespace"]
    for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
        answer = secured.client.request(method, f"/v1/ours/jobs/{secured.job}{path}", headers=bearer(token))
        assert answer.status_code == 404


def test_a_token_that_is_revoked_is_refused_at_once(secured):
    new = secured.tokens.new("default")
    assert secured.ask("status", token=new.secret).status_code == 200
    secured.tokens.revoke(new.token.id)
    assert secured.ask("status", token=new.secret).status_code == 401


def test_a_token_for_all_namespaces_opens_each(secured):
    token = secured.tokens.new("*", kind="admin").secret
    for namespace in ("one", "two"):
        assert secured.ask("remember", {"content": "x"}, namespace, token).status_code == 200


def test_without_a_token_in_the_store_none_is_needed(lasting):
    assert lasting.ask("status").status_code == 200
    assert lasting.ask("status", token="anything").status_code == 200


def test_once_there_was_a_token_one_is_needed_for_ever(served):
    new = served.tokens.new("default")
    served.tokens.revoke(new.token.id)
    answer = served.ask("status")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="priming"')


@each_row(
    ("path", "without", "own"),
    [
        ("/health", 200, 200),
        ("/ready", 200, 200),
        ("/healthz", 200, 200),
        ("/readyz", 200, 200),
        ("/docs", 200, 200),
        ("/openapi.json", 200, 200),
        ("/metrics", 401, 403),
        ("/nothing", 401, 404),
    ],
)
def test_what_is_open_without_a_token(secured, path, without, own):
    token = secured.sent["of another namespace"]
    assert secured.client.get(path).status_code == without
    assert secured.client.get(path, headers=bearer(token)).status_code == own


def test_the_figures_are_for_who_may_use_everything(secured):
    token = secured.tokens.new("*", kind="admin").secret
    assert secured.client.get("/metrics", headers=bearer(token)).status_code == 200


@each_row("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.5:7777", "localhost.evil"])
def test_a_name_that_leads_to_this_machine_is_not_enough(lasting, host):
    assert lasting.ask("status", Host=host).status_code == 403


@each_row("host", ["localhost", "LOCALHOST:7777", "127.0.0.1", "127.1.2.3:80", "[::1]:7777", "[::1]"])
def test_names_of_this_machine_are_let_in(lasting, host):
    assert lasting.ask("status", Host=host).status_code == 200


@each_row("origin", ["https://evil.example", "null", "http://localhost:1"])
def test_a_page_of_another_site_is_refused(lasting, origin):
    assert lasting.ask("status", Origin=origin).status_code == 403


def test_the_own_page_is_let_in(lasting):
    assert lasting.ask("status", Origin=lasting.at).status_code == 200


def test_a_path_does_not_lead_out_of_a_namespace(secured):
    token = secured.sent["of another namespace"]
    for path in ("ours/../theirs", "ours%2f..%2ftheirs", "ours%2F%2e%2e%2Ftheirs", "./theirs", "theirs%00"):
        connection = secured.connection()
        with connection:
            connection.sendall(
                f"POST /v1/{path}/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"Authorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n".encode()
            )
            message = connection.makefile("rb").read()
        assert message.split()[1] in (b"400", b"403", b"404")
        assert not [item for item in HIDDEN if item.encode() in message.partition(b"\r\n\r\n")[2]]


@each_row("surface", ["http", "mcp"])
def test_the_last_operation_that_a_token_undoes_is_its_own_not_what_another_wrote_since(serve, surface):
    server = serve(mounts=True)
    grace, linus = (server.tokens.new("shop", name=name).secret for name in ("Grace", "Linus"))
    server.done("remember", {"content": "The seal is in the safe.", "key": "seal"}, "shop", grace)
    server.done("remember", {"content": "The printer is in the hall.", "key": "printer"}, "shop", linus)

    def undo_last():
        last = {"operation_id": "last"}
        if surface == "http":
            return server.ask("undo", last, "shop", grace).text
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "undo", "arguments": last},
        }
        return server.ask("mcp", call, "shop", grace, Accept="application/json, text/event-stream").text

    undo_last()
    assert server.ask("get", {"key": "seal"}, "shop", grace).status_code == 404
    assert server.done("get", {"key": "printer"}, "shop", grace)["status"] == "active"
    assert "no operation of your token to undo" in undo_last()
    assert server.done("get", {"key": "printer"}, "shop", grace)["status"] == "active"
