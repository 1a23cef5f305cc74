"""The messages of the protocol, JSON-RPC: their forms, and what one is refused for before it is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from priming.config.variables import VERSION
from priming.errors import ParamError

INVALID_JSON, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32603,
)
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
_METHOD_LETTERS = 128
_NUMBER = rb'"id"\s*:\s*(?P<number>-?\d{1,18}|"[^"\\]{0,128}")\s*'
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _NUMBER + rb"[,}]")
_LAST = re.compile(_NUMBER + rb"\}\s*\Z")
_END = 512
"""Bytes at the end of a message in which its id may stand."""
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions of the protocol that begin with ``initialize``."""
LATER_VERSIONS = ("2026-07-28",)
"""Those whose requests carry the version themselves."""
SERVER = {
    "name": "priming",
    "title": "Priming",
    "version": VERSION,
    "description": "Associative memory for AI agents",
}
OFFERED = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}


class RequestError(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def result_message(number: str | int, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def error_message(number: str | int | None, error: RequestError) -> dict[str, Any]:
    """Return the answer to a request that is an error.

    >>> error_message(7, RequestError(METHOD_NOT_FOUND, "Method not found", "nope"))["error"]
    {'code': -32601, 'message': 'Method not found', 'data': 'nope'}
    """
    about = {"code": error.code, "message": error.message}
    return {
        "jsonrpc": "2.0",
        "id": number,
        "error": about if error.data is None else {**about, "data": error.data},
    }


def progress_message(token: str | int, done: int, total: int | None) -> dict[str, Any]:
    """Return what reports the progress of a request."""
    params = {"progressToken": token, "progress": done, **({} if total is None else {"total": total})}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def as_bytes(message: Mapping[str, Any]) -> bytes:
    """Return a message as it is sent, without a line break."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def read_message(message: bytes, depth: int, values: int) -> Any:
    """Return a message's value; ``ParamError`` if it is no JSON, too large or too deep, or has too long a method."""
    from priming.core.arguments.checks import parse_json

    value = parse_json("message", message, depth, values)
    for request in value if isinstance(value, list) else [value]:
        method = request.get("method") if isinstance(request, dict) else None
        if isinstance(method, str) and len(method) > _METHOD_LETTERS:
            raise ParamError("method", method, f"must have at most {_METHOD_LETTERS} characters")
    return value


def refusal(line: bytes, error: ParamError) -> dict[str, Any]:
    """Return the answer to a line that ``read_message`` refused."""
    code = INVALID_JSON if "must be JSON" in str(error) else INVALID_REQUEST
    return error_message(number_within(line), RequestError(code, str(error)))


def number_within(line: bytes) -> Any:
    """Return the id of a message that is not parsed, if it is the first or last of its members; None for any other.

    >>> number_within(b'{"id": "a-1", "method": [[[[['), number_within(b'{"params": {"id": 3}, "id": 4}')
    ('a-1', 4)
    """
    match = _FIRST.match(line) or _LAST.search(line[-_END:])
    return None if match is None else json.loads(match["number"])


def number_of(message: Any) -> str | int | None:
    """Return the id of a request; None for a notification, and for what is no message."""
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, (str, int)) and not isinstance(number, bool) else None


def method_of(message: Any) -> str | None:
    """Return the method of a message; None for an answer, and for what is no message."""
    method = message.get("method") if isinstance(message, dict) else None
    return method if isinstance(method, str) else None
