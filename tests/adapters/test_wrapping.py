"""Wrapped clients, the real packages, against a server on loopback that records what it is sent."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest

from priming import StoreError
from priming_adapters.wrapping import wrap_anthropic, wrap_openai

pytestmark = pytest.mark.adapters

HOME = "Ada lives in Porto, near the harbour."
QUESTION = "Where does Ada live?"
ANSWER = "She lives in Porto."
PARTS = ["She lives ", "in Porto."]


def chat(body):
    message = {"role": "assistant", "content": ANSWER}
    about = {"id": "c", "created": 1, "model": "m"}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**about, "object": "chat.completion", "choices": [choice]}
    about["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant", "content": PARTS[0]}, {"content": PARTS[1]}]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    return [(None, {**about, "choices": [choice]}) for choice in choices] + [(None, {**about, "choices": []})]


def response(body):
    content = {"type": "output_text", "text": ANSWER, "annotations": []}
    item = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [content]}
    whole = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    whole |= {"output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
    if not body.get("stream"):
        return whole
    place = {"item_id": "i", "output_index": 0, "content_index": 0}
    empty = {**content, "text": ""}
    events = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": empty},
        *({"type": "response.output_text.delta", **place, "delta": part, "logprobs": []} for part in PARTS),
        {"type": "response.output_text.done", **place, "text": ANSWER, "logprobs": []},
        {"type": "response.completed", "response": whole},
    ]
    return [(event["type"], {**event, "sequence_number": n}) for n, event in enumerate(events)]


def message(body):
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    whole |= {"stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    if not body.get("stream"):
        return {**whole, "content": [{"type": "text", "text": ANSWER}]}
    events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": p}}
            for p in PARTS
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


ANSWERS = {"/v1/chat/completions": chat, "/v1/responses": response, "/v1/messages": message}


class Handler(BaseHTTPRequestHandler):
    """Answers as the model would, after what it was sent is recorded."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        path = self.path.partition("?")[0]
        if path not in ANSWERS or body.get("model") == "broken":
            self.reply(400, "application/json", b'{"error": {"message": "no", "type": "bad"}}')
            return
        answer = ANSWERS[path](body)
        if isinstance(answer, dict):
            self.reply(200, "application/json", json.dumps(answer).encode())
            return
        events = [
            (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in answer
        ]
        self.reply(200, "text/event-stream", ("".join(events) + "data: [DONE]\n\n").encode())

    def reply(self, status, kind, data):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.bodies = []
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def place(server):
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def home(memory):
    return memory.remember(HOME, key="home", kind="fact")


def of_openai(kind, place):
    return kind(api_key="none", base_url=f"{place}/v1", max_retries=0)


def of_anthropic(kind, place):
    return kind(api_key="none", base_url=place, max_retries=0)


MESSAGES = [{"role": "user", "content": QUESTION}]


def streamed(stream):
    return [*stream]


def managed(manager):
    with manager as stream:
        return [*stream]


CALLS = {
    "chat": lambda c: c.chat.completions.create(model="m", messages=MESSAGES),
    "chat, a stream": lambda c: streamed(
        c.chat.completions.create(model="m", messages=MESSAGES, stream=True)
    ),
    "chat, a managed stream": lambda c: managed(c.chat.completions.stream(model="m", messages=MESSAGES)),
    "chat, parsed": lambda c: c.chat.completions.parse(model="m", messages=MESSAGES),
    "responses": lambda c: c.responses.create(model="m", input=QUESTION),
    "responses, messages": lambda c: c.responses.create(model="m", input=MESSAGES),
    "responses, a stream": lambda c: streamed(c.responses.create(model="m", input=QUESTION, stream=True)),
    "responses, a managed stream": lambda c: managed(c.responses.stream(model="m", input=QUESTION)),
    "messages": lambda c: c.messages.create(model="m", messages=MESSAGES, max_tokens=9),
    "messages, a stream": lambda c: streamed(
        c.messages.create(model="m", messages=MESSAGES, max_tokens=9, stream=True)
    ),
    "messages, a managed stream": lambda c: managed(
        c.messages.stream(model="m", messages=MESSAGES, max_tokens=9)
    ),
    "messages, beta": lambda c: c.beta.messages.create(model="m", messages=MESSAGES, max_tokens=9),
}


def system_of(body):
    first = (body.get("messages") or [{}])[0]
    own = first.get("content") if first.get("role") in ("system", "developer") else None
    return own or body.get("system") or body.get("instructions")


def check(memory, server, home):
    """What was sent, and what is remembered and judged afterwards."""
    (body,) = server.bodies
    assert HOME in system_of(body)
    assert QUESTION in json.dumps(body)
    spoken = {record.speaker: record for record in memory.list() if record.key != "home"}
    assert {speaker: record.content for speaker, record in spoken.items()} == {
        "user": QUESTION,
        "assistant": ANSWER,
    }
    assert (spoken["user"].trust, spoken["assistant"].trust, spoken["user"].session) == (
        "user",
        "agent",
        "s1",
    )
    assert memory.get(home.key).use.uses == 1
    assert next(each.source for each in memory.log() if each.kind == "feedback") == "automatic"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_is_sent_what_is_recalled_and_both_sides_are_remembered(
    call, memory, home, server, place, request
):
    is_openai = request.node.callspec.id.startswith(("chat", "responses"))
    if is_openai:
        client = wrap_openai(of_openai(openai.OpenAI, place), memory, session="s1")
    else:
        client = wrap_anthropic(of_anthropic(anthropic.Anthropic, place), memory, session="s1")
    with client:
        call(client)
    check(memory, server, home)


async def in_asyncio(client, call):
    async with client:
        return await call(client)


async def listed(stream):
    return [event async for event in await stream]


async def entered(manager):
    async with manager as stream:
        return [event async for event in stream]


LATER = {
    "chat": lambda c: c.chat.completions.create(model="m", messages=MESSAGES),
    "chat, a stream": lambda c: listed(c.chat.completions.create(model="m", messages=MESSAGES, stream=True)),
    "chat, a managed stream": lambda c: entered(c.chat.completions.stream(model="m", messages=MESSAGES)),
    "responses": lambda c: c.responses.create(model="m", input=QUESTION),
    "responses, a managed stream": lambda c: entered(c.responses.stream(model="m", input=QUESTION)),
    "messages": lambda c: c.messages.create(model="m", messages=MESSAGES, max_tokens=9),
    "messages, a managed stream": lambda c: entered(
        c.messages.stream(model="m", messages=MESSAGES, max_tokens=9)
    ),
}


@pytest.mark.parametrize("call", LATER.values(), ids=LATER)
def test_asynchronous_clients_do_the_same(call, memory, home, server, place, request):
    is_openai = request.node.callspec.id.startswith(("chat", "responses"))
    if is_openai:
        client = wrap_openai(of_openai(openai.AsyncOpenAI, place), memory, session="s1")
    else:
        client = wrap_anthropic(of_anthropic(anthropic.AsyncAnthropic, place), memory, session="s1")
    asyncio.run(in_asyncio(client, call))
    check(memory, server, home)


@pytest.fixture
def client(memory, place):
    with wrap_openai(of_openai(openai.OpenAI, place), memory) as client:
        yield client


def ask(client, *messages, **options):
    return client.chat.completions.create(model="m", messages=[*messages], **options)


@pytest.mark.usefixtures("home")
def test_a_system_message_keeps_what_it_says_and_the_caller_s_messages_stay_as_they_are(client, server):
    part = {"type": "text", "text": "Be brief."}
    for role, content in [("system", "Be brief."), ("developer", "Be brief."), ("system", [part])]:
        messages = [{"role": role, "content": content}, *MESSAGES]
        ask(client, *messages)
        assert messages == [{"role": role, "content": content}, *MESSAGES]
        own, question = server.bodies.pop()["messages"]
        assert (own["role"], question) == (role, MESSAGES[0])
        text = (
            "\n\n".join(each["text"] for each in own["content"])
            if isinstance(content, list)
            else own["content"]
        )
        assert text.startswith("Be brief.\n\n")
        assert HOME in text


@pytest.mark.usefixtures("home")
def test_what_the_request_says_is_not_recalled_as_well(client, server):
    ask(client, {"role": "user", "content": HOME}, {"role": "assistant", "content": "I see."}, *MESSAGES)
    (body,) = server.bodies
    assert len(body["messages"]) == 3


def test_without_a_memory_or_a_message_of_a_user_the_request_is_sent_as_it_is(client, memory, server):
    ask(client, *MESSAGES)
    ask(client, {"role": "system", "content": "Say hello."})
    ask(client, {"role": "user", "content": "  "})
    assert [len(body["messages"]) for body in server.bodies] == [1, 1, 1]
    assert len(memory.list()) == 2


def test_each_user_of_a_program_has_a_memory(memory, place, server):
    other = wrap_anthropic(of_anthropic(anthropic.Anthropic, place), memory)
    with wrap_openai(of_openai(openai.OpenAI, place), memory) as client, other:
        ask(client, {"role": "user", "content": HOME}, user="ada")
        ask(client, *MESSAGES, user="grace")
        ask(client, *MESSAGES, safety_identifier="ada")
        other.messages.create(model="m", messages=MESSAGES, max_tokens=9, metadata={"user_id": "ada"})
    assert [HOME in json.dumps(body) for body in server.bodies] == [True, False, True, True]
    assert memory.list() == []


def test_what_is_recalled_keeps_to_the_budget(memory, place, server):
    for number in range(40):
        memory.remember(
            f"Ada lived at address {number} of the long street by the river in Porto.", kind="fact"
        )
    with wrap_openai(of_openai(openai.OpenAI, place), memory, tokens=60) as client:
        ask(client, *MESSAGES)
    assert 0 < len(server.bodies[0]["messages"][0]["content"]) < 600


def test_a_call_that_fails_is_not_remembered(client, memory):
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="broken", messages=MESSAGES)
    assert memory.list() == []


def test_a_stream_that_is_not_read_to_its_end_is_not_remembered(client, memory):
    stream = ask(client, *MESSAGES, stream=True)
    next(iter(stream))
    stream.close()
    assert memory.list() == []


@pytest.mark.parametrize("error", [StoreError("the disk is full"), RuntimeError("a bug"), OSError("no disk")])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.usefixtures("home")
def test_the_chat_goes_on_if_the_memory_fails(client, memory, caplog, monkeypatch, error, stream):
    def fail(*_, **__):
        raise error

    for verb in ("recall", "remember_many", "feedback"):
        with monkeypatch.context() as patch:
            patch.setattr(memory, verb, fail)
            answer = ask(client, *MESSAGES, stream=stream)
            text = (
                "".join(each.choices[0].delta.content or "" for each in answer if each.choices)
                if stream
                else answer.choices[0].message.content
            )
            assert text == ANSWER
    own = [record.message for record in caplog.records if record.name.startswith("priming")]
    name = getattr(error, "code", type(error).__name__)
    rules = ("nothing is recalled", "a turn is not remembered", "what was recalled is not judged")
    assert own == [f"{rule}: {name}" for rule in rules]


def test_a_request_that_the_memory_does_not_understand_is_sent_as_it_is(client, caplog):
    odd = [*MESSAGES, {"role": "user", "name": 7, "content": "a\0b"}]
    assert ask(client, *odd).choices[0].message.content == ANSWER
    assert [record.levelname for record in caplog.records if record.name.startswith("priming")] == ["WARNING"]


def test_a_memory_from_which_the_answer_has_nothing_is_not_judged(client, memory, server):
    memory.remember("Ada lives with a grey cat called Milo.", key="cat")
    ask(client, *MESSAGES)
    assert "Milo" in json.dumps(server.bodies[0])
    assert memory.get("cat").use.uses == 0


@pytest.mark.usefixtures("home")
def test_a_raw_response_and_other_requests_pass(client, memory):
    raw = client.chat.completions.with_raw_response.create(model="m", messages=MESSAGES)
    assert raw.parse().choices[0].message.content == ANSWER
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="m", input="x")
    assert [record.content for record in memory.list()] == [HOME, QUESTION]


def test_a_client_that_is_wrapped_again_has_the_later_memory_alone(memory, open_memory, place):
    later = open_memory()
    with wrap_openai(wrap_openai(of_openai(openai.OpenAI, place), memory), later) as client:
        assert ask(client, *MESSAGES)
    assert (len(memory.list()), len(later.list())) == (0, 2)


def test_a_part_of_a_client_that_was_used_before_is_wrapped_too(memory, place):
    with of_openai(openai.OpenAI, place) as client:
        ask(client, *MESSAGES)
        wrap_openai(client, memory)
        ask(client, *MESSAGES)
    assert len(memory.list()) == 2
