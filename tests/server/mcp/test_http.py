"""MCP over streamable HTTP: a real server process, the protocol library's own client."""

import json
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from priming.verbs.rows import BY_NAME
from priming_server.access.tokens import Tokens

pytestmark = pytest.mark.slow

CORE_TOOLS = [
    "remember", "recall", "get", "feedback", "learn", "active", "forget", "list", "files", "supersede",
    "keep_both", "undo",
]  # fmt: skip


@asynccontextmanager
async def connected(at, namespace="default", mode="auto", token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as carrier:
        where = streamable_http_client(f"{at}/v1/{namespace}/mcp", http_client=carrier)
        async with Client(where, mode=mode) as client:
            yield client


def text(result):
    (content,) = result.content
    return content.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_either_kind_of_client_works_in_the_namespace_of_its_path(process, mode):
    server = process()

    async def talk():
        async with connected(server.at, "work", mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            rest = await client.call_tool(
                "remember", {"content": "The gateway listens on 8080.", "key": "port"}
            )
            result = await client.call_tool("recall", {"query": "gateway port", "explain": True})
            refused = await client.call_tool("forget", {"key": "nowhere"})
            return tools, rest, result, refused

    tools, retained, outcome, refused = anyio.run(talk)
    assert tools == CORE_TOOLS
    assert text(retained).startswith("stored port\n")
    assert [hit["memory"]["namespace"] for hit in outcome.structured_content["hits"]] == ["work"]
    assert json.loads(text(refused))["error"]["code"] == "not_found"
    answer = httpx2.post(f"{server.at}/v1/work/get", json={"key": "port"})
    assert answer.json()["content"] == "The gateway listens on 8080."


def test_ten_clients_at_once_lose_nothing(process):
    server = process()

    async def item(number):
        async with connected(server.at) as client:
            for turn in range(3):
                done = await client.call_tool("remember", {"content": f"client {number} turn {turn}"})
                assert not done.is_error, text(done)

    async def all_of_them():
        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(item, number)

    anyio.run(all_of_them)
    assert httpx2.post(f"{server.at}/v1/default/status", json={}).json()["memories"] == 30


def test_a_token_lets_into_its_own_namespace_only(process):
    server = process()
    httpx2.post(f"{server.at}/v1/hers/remember", json={"content": "the secret of hers", "key": "secret"})
    with Tokens(server.url) as tokens:
        his, hers = tokens.new("his").secret, tokens.new("hers").secret

    async def read(token):
        async with connected(server.at, "hers", token=token) as client:
            return text(await client.call_tool("recall", {"text": "secret"}))

    assert "the secret of hers" in anyio.run(read, hers)
    for token, status in ((None, 401), ("prm_x_y", 401), (his, 403)):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        query = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall"}}
        answer = httpx2.post(f"{server.at}/v1/hers/mcp", json=query, headers=headers)
        assert answer.status_code == status
        assert "secret of" not in answer.text


def test_an_agent_that_may_only_read_is_not_told_to_remember(process):
    server = process()
    with Tokens(server.url) as tokens:
        secrets = {kind: tokens.new("default", kind=kind).secret for kind in ("read", "write")}

    async def instructions(token):
        async with connected(server.at, token=token) as client:
            return client.instructions

    assert "remember" in anyio.run(instructions, secrets["write"])
    reading = anyio.run(instructions, secrets["read"])
    assert "Recall" in reading
    assert not any(tool in reading for tool in ("remember", "learn", "feedback"))


def test_a_client_names_its_groups_of_tools_in_the_query(process):
    server = process("--tools", "rules")

    async def offered(query):
        async with httpx2.AsyncClient(timeout=30) as carrier:
            where = streamable_http_client(f"{server.at}/v1/default/mcp{query}", http_client=carrier)
            async with Client(where) as client:
                return {BY_NAME[tool.name].group for tool in (await client.list_tools()).tools}

    assert anyio.run(offered, "") == {"rules"}
    assert anyio.run(offered, "?tools=core,time") == {"core", "time"}
    answer = httpx2.post(f"{server.at}/v1/default/mcp?tools=nights", json={})
    assert answer.status_code == 400
    assert "one or several of core, rules, time" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 4_000_000}).encode(),
            "at most 128 characters",
        ),
        (b'{"id": 1, "method": "ping", "params": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "at most 64 deep"),
        (b"[" + b"1," * 2_000_000 + b"1]", "at most 1,048,576 values"),
    ],
)
def test_a_hostile_message_gets_a_short_answer(process, body, rule):
    answer = httpx2.post(
        f"{process().at}/v1/default/mcp",
        content=body,
        headers={"Content-Type": "application/json"},
        timeout=30,
    )
    assert answer.status_code == 400
    assert rule in answer.json()["error"]["message"]
    assert len(answer.content) < 600
