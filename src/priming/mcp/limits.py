"""What a message is refused for before the protocol library reads it.

The library counts nothing, repeats the whole name of a method that it does not know, and does not answer what is no
JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any

from priming.config.params.server import SERVER, ServerParams
from priming.core.arguments.measured import parse_json
from priming.errors import ParamError

_METHOD_LETTERS = 128
_INVALID_JSON, _INVALID_REQUEST = -32700, -32600
_NUMBER = rb'"id"\s*:\s*(?P<number>-?\d{1,18}|"[^"\\]{0,128}")\s*'
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _NUMBER + rb"[,}]")
_LAST = re.compile(_NUMBER + rb"\}\s*\Z")
_END = 512
"""Bytes at the end of a message in which its id may stand."""


def check_message(message: bytes, params: ServerParams = SERVER) -> None:
    """Raise ``ParamError`` for a message that is no JSON, too large or too deep, or has too long a method."""
    value = parse_json("message", message, params.depth, params.values)
    for request in value if isinstance(value, list) else [value]:
        method = request.get("method") if isinstance(request, dict) else None
        if isinstance(method, str) and len(method) > _METHOD_LETTERS:
            raise ParamError("method", method, f"must have at most {_METHOD_LETTERS} characters")


def refusal_of(line: bytes, params: ServerParams = SERVER) -> bytes | None:
    """The protocol's answer to a line that is refused; None for any other, and for a blank one.

    >>> refusal_of(b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}')
    >>> refusal_of(b'{"jsonrpc": "2.0", "id": 7, "method": ')[:60]
    b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32700, "messa'
    """
    if not line.strip():
        return None
    try:
        check_message(line, params)
    except ParamError as error:
        code = _INVALID_JSON if "must be JSON" in str(error) else _INVALID_REQUEST
        answer = {"jsonrpc": "2.0", "id": number_of(line), "error": {"code": code, "message": str(error)}}
        return json.dumps(answer).encode()
    return None


def number_of(line: bytes) -> Any:
    """The id of a message that is not parsed, if it is the first or the last of its members; None for any other.

    >>> number_of(b'{"id": "a-1", "method": [[[[['), number_of(b'{"params": {"id": 3}, "id": 4}')
    ('a-1', 4)
    """
    match = _FIRST.match(line) or _LAST.search(line[-_END:])
    return None if match is None else json.loads(match["number"])
