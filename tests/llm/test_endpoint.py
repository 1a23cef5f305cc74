"""Models behind an endpoint: a real server on this machine, well-behaved and not."""

import json
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.rows import each_row

from priming import AgentError, EndpointAgent, MissingExtra, ParamError
from priming.config.params.services import AgentParams
from priming.llm.agents import parse_model
from priming.llm.protocol import Agent

pytestmark = pytest.mark.extra  # openai's

SCHEMA = {"type": "object", "properties": {"gist": {"type": "string"}}, "required": ["gist"]}
PROMPT = "PRIMING-PHASE: gist\n\nSay it: ünïcödé 🙂\n\n{}\n"
ANSWER = {"gist": "Disks fill up."}


def completion(content, **more):
    """The reply of a chat completion."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
        **more,
    }
    return 200, {}, json.dumps({"object": "chat.completion", "choices": [choice]})


GOOD = completion(json.dumps(ANSWER))
BUSY = 429, {}, '{"error": {"message": "slow down"}}'
DOWN = 503, {}, "down"


@dataclass
class Place:
    """A server: what it replies, one after the other, and what it was asked."""

    url: str = ""
    replies: list = field(default_factory=list)
    questions: list = field(default_factory=list)
    waits: list = field(default_factory=list)
    end: threading.Event = field(default_factory=threading.Event)

    def agent(self, *replies, key=None, **params):
        self.replies[:] = replies
        return EndpointAgent(self.url, "qwen3", key, AgentParams(**params), self.waits.append)

    def failure(self, agent):
        with pytest.raises(AgentError) as caught:
            agent.answer(PROMPT, SCHEMA)
        reply, start = str(caught.value), f"the model 'qwen3' at {self.url} "
        assert reply.startswith(start)
        return reply.removeprefix(start)


@pytest.fixture
def place(monkeypatch):
    """A server that ends with the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    place = Place()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            place.questions.append((self.path, headers, body))
            reply = place.replies.pop(0)
            with suppress(ConnectionError):
                reply(self) if callable(reply) else self.respond(*reply)

        def respond(self, status, headers, text):
            data = text.encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        place.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield place
        place.end.set()
        server.shutdown()
        serving.join()


def test_it_asks_the_model_for_an_answer_by_the_schema(place):
    agent = place.agent(GOOD, key="secret")
    assert isinstance(agent, Agent)
    assert agent.answer(PROMPT, SCHEMA) == ANSWER
    ((path, headers, body),) = place.questions
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer secret"
    assert body == {
        "model": "qwen3",
        "messages": [{"role": "user", "content": PROMPT}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
    }


def test_without_a_key_none_is_sent(place):
    place.agent(GOOD).answer(PROMPT, SCHEMA)
    assert "authorization" not in place.questions[0][1]


def test_a_slash_at_the_end_of_the_url_is_no_trouble(place):
    place.replies[:] = [GOOD]
    assert EndpointAgent(f"{place.url}/", "qwen3").answer(PROMPT, SCHEMA) == ANSWER
    assert place.questions[0][0] == "/v1/chat/completions"


def test_a_fence_about_the_answer_is_no_trouble(place):
    fenced = f"```json\n{json.dumps(ANSWER)}\n```"
    assert place.agent(completion(fenced)).answer(PROMPT, SCHEMA) == ANSWER


def test_a_malformed_answer_is_asked_for_once_more_with_what_was_wrong(place):
    assert place.agent(completion('{"gist": 5}'), GOOD).answer(PROMPT, SCHEMA) == ANSWER
    again = place.questions[1][2]["messages"][0]["content"]
    assert "Your last answer" in again
    assert "$.gist: 5 is not of type 'string'" in again


def test_what_stays_malformed_is_an_error(place):
    values = place.failure(place.agent(completion("no"), completion("never")))
    assert values.startswith(
        "gave no valid answer, asked 2 times: there is no JSON object in it; it said 'never'"
    )


@pytest.mark.parametrize("trouble", [BUSY, (500, {}, ""), (502, {}, "<html>"), DOWN])
def test_passing_troubles_are_waited_for_twice_as_long_each_time(place, trouble):
    assert place.agent(trouble, trouble, GOOD).answer(PROMPT, SCHEMA) == ANSWER
    assert place.waits == [1.0, 2.0]


def test_troubles_that_do_not_pass_are_an_error_after_so_many_requests(place):
    values = place.failure(place.agent(*[BUSY] * 4, retries=3))
    assert len(place.questions) == 4
    assert place.waits == [1.0, 2.0, 4.0]
    assert values.startswith("answered with status 429: ")
    assert "slow down" in values


def test_it_waits_as_long_as_the_endpoint_asks_but_not_longer_than_the_longest(place):
    later = [(429, {"retry-after": after}, "") for after in ("7", "86400", "soon")]
    assert place.agent(*later, GOOD, longest_pause=20.0).answer(PROMPT, SCHEMA) == ANSWER
    assert place.waits == [7.0, 20.0, 4.0]


def test_it_does_not_wait_for_what_comes_after_its_time(place):
    values = place.failure(place.agent((429, {"retry-after": "20"}, ""), GOOD, timeout=10.0))
    assert (place.waits, len(place.questions)) == ([], 1)
    assert values.startswith("answered with status 429")


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_an_error_at_once_with_what_was_said(place, status):
    values = place.failure(place.agent((status, {}, "wrong key")))
    assert len(place.questions) == 1
    assert values == (
        f"answered with status {status}: 'wrong key'; see that URL, name and PRIMING_AGENT_KEY are right,"
        " or try again later"
    )


def test_a_redirect_is_not_followed_so_that_the_key_goes_nowhere_else(place):
    values = place.failure(place.agent((307, {"location": f"{place.url}/elsewhere"}, ""), GOOD, key="secret"))
    assert values.startswith("answered with status 307")
    assert len(place.questions) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "hello", "{}", '{"choices": []}', '{"choices": [{"message": 5}]}', "[" * 100_000]
)
def test_a_reply_that_is_no_chat_completion_is_an_error(place, text):
    values = place.failure(place.agent((200, {}, text)))
    assert values.startswith("did not answer with a chat completion: ")
    assert "http://localhost:8080/v1" in values


def test_a_model_that_refuses_is_an_error_with_its_reason(place):
    refusing = {"message": {"content": None, "refusal": "I must not."}}
    assert (
        place.failure(place.agent(completion(None, **refusing)))
        == "said nothing ('I must not.'): ask another model"
    )
    values = place.failure(place.agent(completion(None, finish_reason="length")))
    assert values == "said nothing ('length'): ask another model"


def test_a_reply_that_is_too_long_is_an_error(place):
    values = place.failure(place.agent(completion("x" * 10_000), output=9_999))
    assert values == "answered with more than 9,999 bytes: ask another model"


def test_an_endpoint_that_does_not_answer_in_time_is_an_error(place):
    values = place.failure(place.agent(lambda _: place.end.wait(), timeout=0.2))
    assert values.startswith("gave no answer: ")


def test_a_reply_that_trickles_on_and_on_is_an_error(place):
    def trickle(handler):
        handler.send_response(200)
        handler.end_headers()
        while not place.end.is_set():
            handler.wfile.write(b" ")

    values = place.failure(place.agent(trickle, timeout=0.3, output=1 << 30))
    assert values == "gave no answer within 0.3 s: ask a faster one"


def test_a_connection_that_breaks_is_an_error(place):
    def break_off(handler):
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.close_connection = True

    assert place.failure(place.agent(break_off)).startswith("gave no answer: ")


def test_where_nobody_listens_is_an_error(place):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        place.url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        values = place.failure(place.agent())
    assert values.endswith("; see that it runs and that the URL is right")


def test_the_key_is_not_shown(place):
    agent = place.agent((401, {}, "no"), key="secret")
    assert "secret" not in repr(agent)
    assert "secret" not in place.failure(agent)


@each_row(
    "url",
    [
        "",
        "localhost:8080/v1",
        "ftp://localhost/v1",
        "http://",
        "http://localhost:0/v1",
        "http://localhost:99999/v1",
        "http://user:password@localhost/v1",
        "http://localhost/v1?key=1",
        "http://localhost/v1#there",
        "http://local\nhost/v1",
        None,
        7,
    ],
)
def test_what_is_no_address_of_an_endpoint_is_refused(url):
    with pytest.raises(ParamError, match=r"^url = .*such as http://localhost:8080/v1$"):
        EndpointAgent(url, "qwen3")


@each_row("model", ["", "  ", None, 7])
def test_a_model_has_a_name(model):
    with pytest.raises(ParamError, match="must name a model"):
        EndpointAgent("http://localhost:8080/v1", model)


@each_row("key", ["", "sec\nret", "geheimnisß"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(key):
    with pytest.raises(ParamError, match=r"^key = '…': must be printable ASCII"):
        EndpointAgent("http://localhost:8080/v1", "qwen3", key)


def test_an_endpoint_and_its_model_are_given_in_one():
    assert parse_model("https://api.example.com/v1,org/model:7b") == (
        "https://api.example.com/v1",
        "org/model:7b",
    )


@each_row("text", ["", "qwen3", "http://localhost/v1", "http://localhost/v1,", ",qwen3", "a,b"])
def test_another_form_is_refused_with_an_example(text):
    with pytest.raises(ParamError, match="must be URL,NAME, such as http://localhost:8080/v1,qwen3"):
        parse_model(text)


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra, match="pip install 'priming\\[openai\\]'"):
        EndpointAgent("http://localhost:8080/v1", "qwen3")


@pytest.mark.slow
def test_its_libraries_are_imported_when_somebody_is_asked():
    source = (
        "import sys; from priming import CommandAgent, EndpointAgent, ScriptedAgent;"
        "EndpointAgent('http://localhost/v1', 'qwen3');"
        "sys.exit(bool({'httpx2', 'jsonschema'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 0
