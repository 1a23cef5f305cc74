"""Writes ``answers.json``: what the protocol library answers to the first requests, with every tool.

python -m priming.mcp.answers
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from priming.mcp.greeting import FILE, LISTS, VERSIONS
from priming.mcp.protocol import server

_PARAMS = {"protocolVersion": VERSIONS[-1], "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}


def answers() -> dict[str, Any]:
    """The results of the first requests, by method."""
    return anyio.run(_answers)


def text() -> str:
    """Them as the file has them: a line for each tool."""
    rest = answers()
    tools = ",\n".join(_line(tool) for tool in rest.pop("tools/list")["tools"])
    lines = [f"{_line(method)}: {_line(result)}" for method, result in rest.items()]
    return "{\n" + ",\n".join([*lines, f'"tools/list": {{"tools": [\n{tools}\n]}}']) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


async def _answers() -> dict[str, Any]:
    protocol = server(_no_service, lambda _: "default", "all", agent=lambda: None)
    results: dict[str, Any] = {}
    async with (
        create_client_server_memory_streams() as ((reading, writing), (receiving, sending)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(protocol.run, receiving, sending, protocol.create_initialization_options())
        for number, method in enumerate(("initialize", *LISTS)):
            params = _PARAMS if method == "initialize" else {}
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            await writing.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message)))
            reply = await reading.receive()
            assert isinstance(reply, SessionMessage)
            results[method] = reply.message.model_dump(mode="json", by_alias=True, exclude_unset=True)[
                "result"
            ]
        tasks.cancel_scope.cancel()
    return results


def _no_service() -> Any:
    raise AssertionError("lists need no store")


def write() -> None:
    """Write the file."""
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    write()
