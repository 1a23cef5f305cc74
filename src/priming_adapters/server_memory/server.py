"""The server: MCP's messages, and a tool's way from the file and the memory to its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from threading import Lock
from typing import Any

from priming import ParamError, PrimingError
from priming.config.caller import calling
from priming.config.environment import memory_file
from priming.llm.json_schema import violation_of
from priming.mcp import messages as mcp
from priming.mcp.protocol import McpClient, named_caller
from priming_adapters.server_memory.stored import StoredGraph
from priming_adapters.server_memory.tools import (
    READING,
    TOOLS,
    Value,
    listed,
    open_nodes,
    read_graph,
    search_nodes,
)

_RESOURCE, _JSON = "memory://knowledge-graph", "application/json"


class ServerMemory:
    """The answers to one client."""

    def __init__(self, client: McpClient) -> None:
        self._client, self._path, self._turn = client, memory_file(), Lock()
        self._name: str | None = None
        self._text: str | None = None
        """What the file held when it was last read or written here."""

    def answer(self, message: Any, _: object = None) -> Value | None:
        """Return the answer to a message; None if it needs none."""
        number, method = mcp.number_of(message), mcp.method_of(message)
        if number is None or method is None:
            return None
        params = message.get("params")
        try:
            return mcp.result_message(
                number, self._result(method, params if isinstance(params, dict) else {})
            )
        except mcp.RequestError as error:
            return mcp.error_message(number, error)

    def _result(self, method: str, params: Value) -> Value:
        match method:
            case "initialize":
                return self._introduction(params)
            case "ping":
                return {}
            case "tools/list":
                return {"tools": listed()}
            case "tools/call":
                return self._called(params)
            case "resources/list":
                return {"resources": [{"uri": _RESOURCE, "name": "knowledge-graph", "mimeType": _JSON}]}
            case "resources/templates/list":
                return {"resourceTemplates": []}
            case "resources/read" if params.get("uri") == _RESOURCE:
                text = _shown(self._carried_out(read_graph, {}))
                return {"contents": [{"uri": _RESOURCE, "mimeType": _JSON, "text": text}]}
            case "resources/read":
                raise mcp.RequestError(mcp.INVALID_PARAMS, f"there is {_RESOURCE} alone")
        raise mcp.RequestError(mcp.METHOD_NOT_FOUND, "Method not found", method)

    def _introduction(self, params: Value) -> Value:
        version, client = params.get("protocolVersion"), params.get("clientInfo")
        self._name = str(client.get("name") or "") if isinstance(client, dict) else None
        return {
            "protocolVersion": version if version in mcp.VERSIONS else mcp.VERSIONS[-1],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": mcp.SERVER,
        }

    def _called(self, params: Value) -> Value:
        """The result of a tool; its error is for the model to read."""
        try:
            function = next((each for each in TOOLS if each.__name__ == params.get("name")), None)
            if function is None:
                rule = f"must be one of {', '.join(each.__name__ for each in TOOLS)}"
                raise ParamError("name", params.get("name"), rule)
            arguments = params.get("arguments") or {}
            if wrong := violation_of(arguments, TOOLS[function][0]):
                raise ParamError("arguments", arguments, str(wrong))
            result = self._carried_out(function, arguments)
        except PrimingError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        shown = result.get("message") or _shown(
            result if function in READING else next(iter(result.values()))
        )
        return {"content": [{"type": "text", "text": shown}], "structuredContent": result}

    def _carried_out(self, function: Callable[..., Value], arguments: Value) -> Value:
        values = [arguments[name] for name in TOOLS[function][0]["properties"]]
        caller = named_caller(self._name, function.__name__)
        service, namespace = self._client.service(), self._client.namespace
        with self._turn, calling(caller), service.memory(namespace) as memory:
            changes = self._path is not None or function not in READING
            with memory.writing() if changes else nullcontext():  # also while the file is read and written
                stored = StoredGraph(memory, self._path)
                text = stored.follow_file(self._text)
                graph = stored.graph()
                result = function(graph, *values)
                if function is search_nodes and not result["entities"]:
                    result = open_nodes(graph, stored.recalled(*values))
                if function not in READING:
                    stored.save(graph)
                    text = stored.write_file(graph)
            self._text = text
            return result


def _shown(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
