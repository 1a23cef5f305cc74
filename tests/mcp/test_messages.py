"""Answers have the forms that the library ``mcp`` knows, in every version of the protocol."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from typing import Any

import mcp_types as types
import pytest
from mcp_types import jsonrpc
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from tests.rows import each_row

from priming import HashedEmbedder
from priming.mcp import messages, tools
from priming.mcp.messages import LATER_VERSIONS, VERSIONS
from priming.mcp.protocol import McpClient, McpConversation
from priming.mcp.stdio import StdioExchange
from priming.operations.service import LocalService
from priming.verbs.rows import group_names

GREETING = {"protocolVersion": VERSIONS[-1], "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
LATER = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": LATER_VERSIONS[-1],
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
RESULTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "tools/list": (types.ListToolsResult, {}),
    "prompts/list": (types.ListPromptsResult, {}),
    "resources/list": (types.ListResourcesResult, {}),
    "resources/templates/list": (types.ListResourceTemplatesResult, {}),
    "tools/call": (types.CallToolResult, {"name": "list", "arguments": {}}),
    "prompts/get": (types.GetPromptResult, {"name": "recall", "arguments": {"question": "tea?"}}),
    "resources/read": (types.ReadResourceResult, {"uri": "priming://active"}),
}


@pytest.fixture
def conversation():
    with closing(LocalService("sqlite://", embedder=HashedEmbedder())) as service:
        yield McpConversation(McpClient(lambda: service, "default", "core", lambda: None))


def ask(conversation, method, params=None, number="first"):
    return conversation.answer({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


def as_library(model, result):
    """A result as the library reads it and would write it."""
    return model.model_validate(result).model_dump(mode="json", by_alias=True, exclude_unset=True)


def test_the_versions_are_those_of_the_library():
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert LATER_VERSIONS == MODERN_PROTOCOL_VERSIONS


@each_row(
    "name", ["INVALID_REQUEST", "METHOD_NOT_FOUND", "INVALID_PARAMS", "INTERNAL_ERROR", "HEADER_MISMATCH"]
)
def test_the_codes_are_those_of_the_library(name):
    assert getattr(messages, name) == getattr(jsonrpc, name)
    assert messages.INVALID_JSON == jsonrpc.PARSE_ERROR
    assert messages.UNSUPPORTED_VERSION == jsonrpc.UNSUPPORTED_PROTOCOL_VERSION


@pytest.mark.parametrize("version", [*VERSIONS, "1999-12-31"])
def test_a_client_that_greets_is_answered_in_its_version_or_the_latest(conversation, version):
    result = ask(conversation, "initialize", {**GREETING, "protocolVersion": version})["result"]
    assert result == as_library(types.InitializeResult, result)
    assert result["protocolVersion"] == (version if version in VERSIONS else VERSIONS[-1])


def test_a_client_that_states_its_version_discovers_the_server(conversation):
    result = ask(conversation, "server/discover", LATER)["result"]
    assert result == as_library(types.DiscoverResult, result)
    assert result["supportedVersions"] == [*LATER_VERSIONS]


@each_row("later", [False, True])
@each_row("method", RESULTS)
def test_a_result_has_the_form_that_the_library_knows(conversation, method, later):
    model, params = RESULTS[method]
    result = ask(conversation, method, {**params, **(LATER if later else {})})["result"]
    assert result == as_library(model, result)
    assert ("resultType" in result) is later


@each_row(
    ("method", "params", "code"),
    [
        ("no/such", {}, jsonrpc.METHOD_NOT_FOUND),
        ("ping", LATER, jsonrpc.METHOD_NOT_FOUND),
        ("ping", [], jsonrpc.INVALID_PARAMS),
        ("server/discover", {}, jsonrpc.INVALID_PARAMS),
        ("initialize", {}, jsonrpc.INVALID_PARAMS),
        ("initialize", {**GREETING, "protocolVersion": 1}, jsonrpc.INVALID_PARAMS),
        ("initialize", {**GREETING, "clientInfo": {"name": "t"}}, jsonrpc.INVALID_PARAMS),
        ("tools/call", {}, jsonrpc.INVALID_PARAMS),
        ("tools/call", {"name": "list", "arguments": []}, jsonrpc.INVALID_PARAMS),
        ("prompts/get", {"name": "recall", "arguments": {"question": 3}}, jsonrpc.INVALID_PARAMS),
        ("resources/read", {}, jsonrpc.INVALID_PARAMS),
        (
            "tools/list",
            {"_meta": {**LATER["_meta"], "io.modelcontextprotocol/protocolVersion": "2030-01-01"}},
            jsonrpc.UNSUPPORTED_PROTOCOL_VERSION,
        ),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "x"}}, jsonrpc.INVALID_PARAMS),
    ],
)
def test_what_is_wrong_with_a_request_has_its_code(conversation, method, params, code):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = conversation.answer(message)
    assert answer["error"]["code"] == code
    types.jsonrpc_message_adapter.validate_python(answer)


@each_row(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        ["a batch"],
        "text",
        None,
    ],
)
def test_what_is_no_request_is_not_answered(conversation, message):
    assert conversation.answer(message) is None


def test_the_ready_made_tools_are_up_to_date():
    assert tools.FILE.read_text("utf-8") == tools.text(), "run python -m priming.mcp.tools"


@pytest.mark.parametrize("groups", ["core", "time,loop"])
def test_a_client_of_a_group_has_its_tools(groups):
    conversation = McpConversation(McpClient(lambda: None, "default", groups, lambda: None))
    names = {tool["name"] for tool in ask(conversation, "tools/list")["result"]["tools"]}
    from priming.verbs.rows import BY_NAME

    assert {BY_NAME[name].group for name in names} == group_names(groups)


def test_a_request_that_is_cancelled_ends_and_is_not_answered():
    lines: list[bytes] = []
    begun, cancelled, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        def answer(self, _message, progress=None):
            begun.set()
            assert cancelled.wait(60)
            try:
                progress(1, None)
            finally:
                ended.set()

    exchange = StdioExchange(Slow(), lines.append)
    exchange.receive(b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "sleep"}}')
    assert begun.wait(60)
    exchange.receive(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}')
    cancelled.set()
    assert ended.wait(60)
    exchange.close()
    assert lines == []


def test_a_bug_is_answered_and_told(capsys):
    lines: list[bytes] = []

    class Broken:
        def answer(self, *_):
            raise ZeroDivisionError("of our own")

    exchange = StdioExchange(Broken(), lines.append)
    exchange.receive(b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {}}')
    exchange.close()
    (answer,) = map(json.loads, lines)
    assert (answer["id"], answer["error"]["code"]) == (5, jsonrpc.INTERNAL_ERROR)
    assert "of our own" in capsys.readouterr().err
