"""The first answers to a client: who the server is, and which tools, prompts and resources it has.

They are ready-made, in ``answers.json``: the protocol library alone takes longer to load than a client waits with its
first request to the model. ``python -m priming.mcp.answers`` writes the file, with that library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from priming.config.environment import VERSION
from priming.mcp.wording import instructions
from priming.operations.table import tools

FILE = Path(__file__).with_name("answers.json")
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions of the protocol that begin with ``initialize``."""
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_INITIALIZE = "initialize"


@cache
def ready_made() -> Mapping[str, Any]:
    """The results of the first requests, by method: those of a server with every tool."""
    answers: Mapping[str, Any] = json.loads(FILE.read_bytes())
    return answers


class Greeting:
    """The first answers to one client. ``opening`` is what the library has to read before it answers another.

    ``is_listed`` says whether the client has the list of tools.
    """

    def __init__(self, groups: str) -> None:
        self._groups = groups
        self.opening: list[bytes] = []
        self.is_listed = False

    def answer(self, line: bytes) -> bytes | None:
        """The answer to a line of the client, empty if it needs none; None if the library has to answer."""
        message = _parsed(line)
        method, number = message.get("method"), message.get("id")
        if method == _INITIALIZE and not self.opening and _is_complete(message.get("params")):
            result = self._introduction(message["params"]["protocolVersion"])
        elif not self.opening:
            return None
        elif method == "notifications/initialized":
            self.opening.append(line)
            return b""
        elif method in LISTS:
            result = self._tools() if method == "tools/list" else ready_made()[method]
        elif method == "ping":
            result = {}
        else:
            return None
        if not isinstance(number, (str, int)):
            return None
        if method == _INITIALIZE:
            self.opening.append(line)
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, ensure_ascii=False).encode()

    def _introduction(self, version: str) -> dict[str, Any]:
        introduction = ready_made()[_INITIALIZE]
        return {
            **introduction,
            "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
            "instructions": instructions(self._groups),
            "serverInfo": {**introduction["serverInfo"], "version": VERSION},
        }

    def _tools(self) -> dict[str, Any]:
        self.is_listed = True
        names = {op.name for op in tools(self._groups, own=True)}
        return {"tools": [tool for tool in ready_made()["tools/list"]["tools"] if tool["name"] in names]}


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _is_complete(params: Any) -> bool:
    """Whether the library would accept the first request: it answers any other itself."""
    if not isinstance(params, dict) or not isinstance(params.get("capabilities"), dict):
        return False
    client = params.get("clientInfo")
    if not isinstance(client, dict) or not isinstance(params.get("protocolVersion"), str):
        return False
    return all(isinstance(client.get(name), str) for name in ("name", "version"))
