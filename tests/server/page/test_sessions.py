"""Sessions of browsers: what the cookie is, what it lets in, and whom it keeps out."""

from contextlib import ExitStack
from itertools import product

import httpx2
import pytest

from priming_server.access.sessions import MOST, BrowserSessions

OWN = {"X-Priming": "page", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def secured(serve):
    """A server whose store has a token, and that token."""
    served = serve()
    served.ask("remember", {"content": "Grace looks after Falcon.", "key": "falcon"})
    new = served.tokens.new("default", "a browser")
    served.secret, served.token_id = new.secret, new.token.id
    return served


@pytest.fixture
def browser():
    """Makes clients with cookies of their own, closed in the end."""
    with ExitStack() as stack:
        yield lambda served, cookies=None: stack.enter_context(
            httpx2.Client(base_url=served.at, cookies=cookies, verify=False)
        )


@pytest.fixture
def sign_in(browser):
    """Signs in: the answer, and a client with what it set."""

    def signed_in(served, secret, **headers):
        client = browser(served)
        return client.post("/session", json={"token": secret}, headers={**OWN, **headers}), client

    return signed_in


def recall(client, **headers):
    return client.post("/v1/default/recall", json={"text": "Falcon"}, headers=headers)


def test_a_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_use(secured, sign_in):
    answer, client = sign_in(secured, secured.secret)
    assert answer.json()["token"] == {
        "id": secured.token_id,
        "namespace": "default",
        "name": "a browser",
        "kind": "write",
    }
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie
    assert secured.secret.split("_")[-1] not in cookie
    assert secured.token_id not in cookie
    assert recall(client, **OWN).json()["hits"][0]["memory"]["key"] == "falcon"


def test_behind_tls_the_cookie_is_secure(secured, sign_in):
    host = secured.at.removeprefix("http://")
    answer, _ = sign_in(secured, secured.secret, Origin=f"https://{host}")
    assert "; Secure" in answer.headers["set-cookie"]


def test_what_is_no_token_begins_no_session(secured, sign_in):
    for secret in ("", "prm_0123456789ab_00", "nothing"):
        answer, client = sign_in(secured, secret)
        assert answer.status_code == 401, secret
        assert "set-cookie" not in answer.headers
        assert recall(client, **OWN).status_code == 401


def test_a_sign_in_without_a_text_is_a_bad_argument(secured):
    headers = {**OWN, "Content-Type": "application/json"}
    for body in ("[]", '{"token": 3}', "{}", "null"):
        assert secured.client.post("/session", content=body, headers=headers).status_code == 400, body


ELSEWHERE = (
    {},
    {"X-Priming": "page", "Origin": "http://elsewhere.example"},
    {"X-Priming": "page", "Origin": "http://["},
    {"X-Priming": "page", "Sec-Fetch-Site": "cross-site"},
    {"X-Priming": "page", "Sec-Fetch-Site": "same-site"},
    {"X-Priming": "another", "Sec-Fetch-Site": "same-origin"},
)


def test_another_site_can_do_nothing_with_a_session(secured, sign_in):
    _, client = sign_in(secured, secured.secret)
    for headers, (method, path) in product(
        ELSEWHERE,
        (
            ("POST", "/v1/default/recall"),
            ("POST", "/v1/default/remember"),
            ("POST", "/page/drawing/default"),
            ("POST", "/v1/default/jobs/sleep"),
            ("POST", "/v1/default/mcp"),
            ("POST", "/session"),
            ("DELETE", "/session"),
        ),
    ):
        answer = client.request(method, path, content="{}", headers=headers)
        assert answer.status_code == 403, (headers, method, path)
        assert answer.json()["error"]["code"] == "forbidden"
    assert recall(client, **OWN).status_code == 200


def test_a_revoked_token_ends_its_sessions_at_once(secured, sign_in):
    _, client = sign_in(secured, secured.secret)
    secured.tokens.revoke(secured.token_id)
    assert recall(client, **OWN).status_code == 401
    assert client.get("/session").json()["token"] is None


def test_signing_out_ends_the_session_and_no_other(secured, sign_in, browser):
    _, client = sign_in(secured, secured.secret)
    _, other = sign_in(secured, secured.secret)
    stolen = dict(client.cookies)
    answer = client.delete("/session", headers=OWN)
    assert answer.json()["token"] is None
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert recall(browser(secured, stolen), **OWN).status_code == 401
    assert recall(other, **OWN).status_code == 200


def test_a_session_reaches_no_namespace_that_its_token_does_not(secured, sign_in):
    _, client = sign_in(secured, secured.secret)
    secured.ask("remember", {"content": "theirs"}, "theirs", secured.tokens.new("theirs").secret)
    for path in ("/v1/theirs/recall", "/page/drawing/theirs"):
        assert client.post(path, json={}, headers=OWN).status_code == 403
    assert client.get("/session").json()["namespaces"] == ["default"]


def test_nobody_learns_of_namespaces_without_a_token(secured):
    about = secured.client.get("/session").json()
    assert (about["needed"], about["token"], about["namespaces"]) == (True, None, [])


def test_a_token_for_all_sees_every_namespace(secured, sign_in):
    everywhere = secured.tokens.new("*").secret
    secured.ask("remember", {"content": "theirs"}, "theirs", everywhere)
    answer, _ = sign_in(secured, everywhere)
    assert answer.json()["namespaces"] == ["default", "theirs"]


def test_without_tokens_there_is_nothing_to_sign_in_to(served, sign_in):
    about = served.client.get("/session").json()
    assert (about["needed"], about["namespaces"]) == (False, ["default"])
    answer, client = sign_in(served, "anything")
    assert answer.json()["needed"] is False
    assert recall(client).status_code == 200


def test_only_so_many_sessions_last_and_the_latest_used_do():
    sessions = BrowserSessions()
    first = {"host": "localhost", "cookie": f"priming={sessions.begin('first')}"}
    for n in range(MOST - 1):
        sessions.begin(str(n))
    assert sessions.token(first) == "first"
    second = sessions.begin("second")
    assert sessions.token(first) == "first"
    assert sessions.token({"host": "localhost", "cookie": f"priming={second}"}) == "second"


def test_servers_at_two_ports_of_a_machine_do_not_share_a_cookie(secured, sign_in):
    answer, _ = sign_in(secured, secured.secret)
    assert answer.headers["set-cookie"].startswith(f"priming-{secured.port}=")
