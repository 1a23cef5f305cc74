"""The text of a chat message, with a short note on each tool call and image in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from priming.errors import ParamError
from priming.interop.reading import one_line

_NOTE_LETTERS = 160
_TEXTS = ("text", "input_text", "output_text")
_CALLS = ("tool_use", "server_tool_use", "function_call", "tool_call")
_SILENT = ("thinking", "redacted_thinking", "reasoning", "tool_result", "function_call_output")
_DETAILS = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
)


def message_text(message: Mapping[str, Any], where: str) -> str:
    """The text parts of a message, joined; tool calls and images become a line each."""
    return "\n".join([*_parts(message.get("content"), where), *_calls(message)])


def _parts(content: Any, where: str) -> Iterator[str]:
    if content is None:
        return
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _part(part, where)
    else:
        raise ParamError(f"{where}: content", content, "must be a text or a list of parts")


def _part(part: Any, where: str) -> Iterator[str]:
    if isinstance(part, str):
        yield part
        return
    if not isinstance(part, dict):
        raise ParamError(f"{where}: content", part, "must hold texts and objects with a type")
    kind = part.get("type", "text")
    if kind in _SILENT:
        return
    if kind in _CALLS:
        yield tool_note(part.get("name"), part.get("input", part.get("arguments")))
    elif kind in _TEXTS or isinstance(part.get("text"), str):
        if isinstance(part.get("text"), str):
            yield part["text"]
    else:
        yield one_line(f"({str(kind).removeprefix('input_').removesuffix('_url')})", _NOTE_LETTERS)


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """Notes on the tool calls beside the content."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield tool_note(function.get("name"), function.get("arguments"))


def tool_note(name: Any, arguments: Any) -> str:
    """A line about a tool call: ``ran Bash: git status``."""
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    if isinstance(arguments, dict):
        texts = {key: value for key, value in arguments.items() if isinstance(value, str) and value.strip()}
        arguments = next(
            (texts[key] for key in _DETAILS if key in texts), next(iter(texts.values()), arguments)
        )
    details = (
        arguments
        if isinstance(arguments, str)
        else json.dumps(arguments, ensure_ascii=False)
        if arguments
        else ""
    )
    return one_line(f"ran {name or 'a tool'}" + (f": {details}" if details else ""), _NOTE_LETTERS)
