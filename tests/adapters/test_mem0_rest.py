"""mem0's REST below ``/mem0`` of the server: its paths, and whom a token lets in."""

from contextlib import closing

import pytest
from starlette.routing import Route
from tests.rows import each_row
from tests.server.conftest import Served, bearer

from priming import extensions
from priming.config.params.services import ServerParams
from priming_adapters.mem0.rest import APPLICATION

HOME = {"messages": [{"role": "user", "content": "I live in Porto."}], "user_id": "ada"}


def started(folder):
    """A server on a store in a folder."""
    mounts = [Route(APPLICATION.path, APPLICATION)]
    return closing(Served(f"sqlite:///{folder}/memory.db", ServerParams(), mounts=mounts))


@pytest.fixture
def server(tmp_path):
    with started(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A server for all that changes nothing."""
    with started(tmp_path_factory.mktemp("empty")) as server:
        yield asking(server)


@pytest.fixture
def ask(server):
    return asking(server)


def asking(server):
    """Sends a request below ``/mem0``; the status and the answer."""

    def send(method, path, token=None, body=None, **query):
        response = server.client.request(
            method, f"/mem0/{path}", json=body, params=query, headers=bearer(token)
        )
        return response.status_code, response.json()

    return send


def texts(answer):
    return [result["memory"] for result in answer["results"]]


def test_the_server_mounts_it():
    assert APPLICATION in [*extensions.load(extensions.MOUNTS)]


def test_the_paths_are_those_of_the_open_server(ask):
    status, added = ask("POST", "memories", body={**HOME, "metadata": {"topic": "home"}, "run_id": "monday"})
    own = added["results"][0]["id"]
    assert (status, added["results"][0]["event"]) == (200, "ADD")
    assert ask("GET", f"memories/{own}")[1]["metadata"] == {"topic": "home"}
    assert texts(ask("GET", "memories", user_id="ada")[1]) == ["I live in Porto."]
    assert texts(ask("GET", "memories", run_id="monday", top_k="1")[1]) == ["I live in Porto."]
    answer = ask("POST", "search", body={"query": "Where do I live?", "user_id": "ada"})[1]
    assert texts(answer) == ["I live in Porto."]
    assert ask("PUT", f"memories/{own}", body={"text": "I live in Braga."})[0] == 200
    assert [each["event"] for each in ask("GET", f"memories/{own}/history")[1]] == ["ADD", "UPDATE"]
    assert ask("DELETE", f"memories/{own}")[0] == 200
    assert ask("GET", f"memories/{own}")[0] == 404
    ask("POST", "memories", body={**HOME, "infer": False})
    assert ask("DELETE", "memories", user_id="ada")[0] == 200
    ask("POST", "memories", body=HOME)
    assert ask("POST", "reset")[0] == 200
    assert texts(ask("GET", "memories", user_id="ada")[1]) == []


@each_row(
    ("method", "path", "body", "status"),
    [
        ("POST", "memories", {"messages": HOME["messages"]}, 400),
        ("POST", "memories", {"user_id": "ada"}, 400),
        ("POST", "memories", {"messages": 7, "user_id": "ada"}, 400),
        ("POST", "memories", [1], 400),
        ("POST", "memories", {**HOME, "metadata": [1]}, 400),
        ("POST", "memories", {**HOME, "timestamp": "soon"}, 400),
        ("POST", "memories", {**HOME, "filters": "ada"}, 400),
        ("GET", "memories", None, 400),
        ("POST", "search", {"query": "", "user_id": "ada"}, 400),
        ("POST", "search", {"query": "x", "user_id": "*"}, 400),
        ("POST", "search", {"query": "x", "user_id": "ada", "top_k": "many"}, 400),
        ("POST", "search", {"query": "x", "filters": [1]}, 400),
        ("POST", "search", {"query": "x", "filters": {"user_id": "ada", "n": {"is": 1}}}, 400),
        ("PUT", "memories/nothing", {"text": "x"}, 404),
        ("PUT", "memories/nothing", {}, 400),
        ("DELETE", "memories/nothing", None, 404),
        ("GET", "memories/nothing", None, 404),
        ("GET", "memories/nothing/else", None, 404),
        ("POST", "configure", {}, 404),
        ("PATCH", "memories", {}, 404),
        ("GET", "", None, 404),
    ],
)
def test_what_is_wrong_is_named_under_detail(empty, method, path, body, status):
    answered, answer = empty(method, path, body=body)
    assert (answered, list(answer)) == (status, ["detail"])


def test_a_history_of_nothing_is_empty(empty):
    assert empty("GET", "memories/nothing/history") == (200, [])


def test_a_token_is_for_its_user(server, ask):
    everyone = server.tokens.new("*").secret
    ada, reader = server.tokens.new("ada").secret, server.tokens.new("ada", kind="read").secret
    own = ask("POST", "memories", ada, body=HOME)[1]["results"][0]["id"]
    bo = ask("POST", "memories", everyone, body={**HOME, "user_id": "bo"})[1]["results"][0]["id"]
    assert ask("GET", "memories", None, user_id="ada")[0] == 401
    assert ask("GET", "memories", "wrong", user_id="ada")[0] == 401
    assert ask("GET", "memories", ada, user_id="bo")[0] == 403
    assert ask("POST", "search", ada, body={"query": "x", "filters": {"user_id": "bo"}})[0] == 403
    assert texts(ask("POST", "search", ada, body={"query": "live", "filters": {"user_id": "*"}})[1]) == [
        "I live in Porto."
    ]
    assert ask("GET", f"memories/{bo}", ada)[0] == 404
    assert ask("DELETE", f"memories/{bo}", ada)[0] == 404
    assert ask("GET", f"memories/{bo}/history", ada) == (200, [])
    assert ask("GET", f"memories/{own}", reader)[0] == 200
    assert ask("DELETE", f"memories/{own}", reader)[0] == 403
    assert ask("POST", "reset", reader)[0] == 403
    assert ask("POST", "reset", ada)[0] == 200
    assert ask("GET", f"memories/{bo}", everyone)[0] == 200


def test_a_token_may_be_announced_as_the_client_of_mem0_does(server):
    secret = server.tokens.new("ada").secret
    headers = {"Authorization": f"Token {secret}"}
    assert server.client.get("/mem0/v1/ping/", headers=headers).json()["status"] == "ok"


def test_what_is_written_there_is_in_the_namespace_of_the_user(server, ask):
    ask("POST", "memories", body=HOME)
    assert [each["content"] for each in server.done("list", namespace="ada")] == ["I live in Porto."]


def test_the_log_says_which_token_wrote(server, ask):
    new = server.tokens.new("ada", "a phone")
    ask("POST", "memories", new.secret, body=HOME)
    logged = server.client.post("/page/entries/ada", json={}, headers=bearer(new.secret)).json()["operations"]
    assert {(each["actor"], each["via"]) for each in logged} == {("token a phone", "mem0")}


def test_a_page_may_be_longer_than_any_list(ask):
    ask("POST", "memories", body=HOME)
    assert texts(ask("GET", "memories", user_id="ada", page_size="9" * 30)[1]) == ["I live in Porto."]


def test_a_form_of_another_site_can_neither_add_nor_reset(server, ask):
    ask("POST", "memories", body=HOME)
    assert ask("POST", "memories", user_id="ada", messages="I live in Braga.")[0] == 400
    own = f"http://{server.client.base_url.netloc.decode()}"
    assert server.client.post("/mem0/reset", headers={"Origin": own}).status_code == 400
    shown = ask("GET", "memories", user_id="ada", show_expired="false")[1]
    assert texts(shown) == ["I live in Porto."]
