"""The ready-made answers are those of the protocol library."""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from priming.mcp import answers
from priming.mcp.greeting import FILE, LISTS, VERSIONS, Greeting
from priming.mcp.protocol import server


def initialize(version: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}


def line(message: Any) -> bytes:
    return json.dumps(message).encode()


def of_library(groups: str, messages: list[dict[str, Any]]) -> list[Any]:
    """The answers of the library to messages, each sent behind the answer to the one before."""

    async def talk() -> list[Any]:
        protocol = server(lambda: None, lambda _: "default", groups, agent=lambda: None)
        replies = []
        async with (
            create_client_server_memory_streams() as ((reading, writing), (receiving, sending)),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(protocol.run, receiving, sending, protocol.create_initialization_options())
            for message in messages:
                await writing.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message)))
                reply = (await reading.receive()).message
                replies.append(reply.model_dump(mode="json", by_alias=True, exclude_unset=True))
            tasks.cancel_scope.cancel()
        return replies

    return anyio.run(talk)


def test_the_file_is_up_to_date() -> None:
    remedy = "run python -m priming.mcp.answers"
    assert FILE.read_text("utf-8") == answers.text(), remedy


def test_the_versions_are_those_that_the_library_negotiates() -> None:
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", [*VERSIONS, "1999-12-31"])
@pytest.mark.parametrize("groups", ["core", "time,loop"])
def test_a_client_reads_what_the_library_would_answer(groups: str, version: str) -> None:
    lists = [{"jsonrpc": "2.0", "id": number, "method": name} for number, name in enumerate(LISTS)]
    messages = [initialize(version), *lists, {"jsonrpc": "2.0", "id": "p", "method": "ping", "params": {}}]
    greeting = Greeting(groups)
    ours = [json.loads(greeting.answer(line(message)) or b"null") for message in messages]
    assert ours == of_library(groups, messages)
    assert greeting.is_listed
    assert greeting.opening == [line(messages[0])]


def test_the_notice_of_the_client_needs_no_answer_and_is_passed_on() -> None:
    greeting = Greeting("core")
    greeting.answer(line(initialize("2025-06-18")))
    notice = line({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert greeting.answer(notice) == b""
    assert greeting.opening[1:] == [notice]
    assert not greeting.is_listed


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}},
        {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "priming://active"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "method": "no/such"},
        {"jsonrpc": "2.0", "method": "tools/list"},
        {**initialize("2025-06-18"), "id": 2},
        ["a batch"],
        "text",
    ],
)
def test_the_library_answers_everything_else(message: Any) -> None:
    greeting = Greeting("core")
    greeting.answer(line(initialize("2025-06-18")))
    assert greeting.answer(line(message)) is None
    assert len(greeting.opening) == 1


@pytest.mark.parametrize(
    "first",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "method": "initialize", "params": initialize("2025-06-18")["params"]},
        None,
    ],
)
def test_another_beginning_is_left_to_the_library(first: Any) -> None:
    greeting = Greeting("core")
    assert greeting.answer(line(first)) is None
    assert greeting.opening == []
    assert greeting.answer(b"no JSON") is None
