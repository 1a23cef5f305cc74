"""What a chat message says: its text, and a short note of what else it holds."""

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
_TELLING = (
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


def said(message: Mapping[str, Any], where: str) -> str:
    """The text of a message: its text parts joined; tools run and images noted on a line each."""
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
        yield ran(part.get("name"), part.get("input", part.get("arguments")))
    elif kind in _TEXTS or isinstance(part.get("text"), str):
        if isinstance(part.get("text"), str):
            yield part["text"]
    else:
        yield one_line(f"({str(kind).removeprefix('input_').removesuffix('_url')})", _NOTE_LETTERS)


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """The tool calls that stand beside the content."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield ran(function.get("name"), function.get("arguments"))


def ran(name: Any, given: Any) -> str:
    """One line about a tool that was run: ``ran Bash: git status``."""
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    if isinstance(given, dict):
        texts = {key: value for key, value in given.items() if isinstance(value, str) and value.strip()}
        given = next((texts[key] for key in _TELLING if key in texts), next(iter(texts.values()), given))
    told = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""
    return one_line(f"ran {name or 'a tool'}" + (f": {told}" if told else ""), _NOTE_LETTERS)
