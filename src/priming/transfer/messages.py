"""The messages of chat transcripts: their text, and the lines of Claude Code's session files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from priming.errors import ParamError
from priming.transfer.reading import clean_text, digest, iso_time, label, one_line

_SPEAKERS = {"user": "user", "assistant": "agent"}
_IDS = ("sessionId", "session_id", "uuid", "leafUuid", "messageId")
_INTERNAL = ("isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_INSERTED = re.compile(r"<(/?)(system-reminder|local-command-[a-z]+)>")


def is_session_line(value: Mapping[str, Any], *, within_session: bool) -> bool:
    """Whether a JSON object is a line of a session: it has a type and an id of its session.

    After other lines of a session, ``within_session``, the type suffices.
    """
    return isinstance(value.get("type"), str) and (within_session or any(name in value for name in _IDS))


def session_message(value: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """The arguments of ``remember`` for one line; None for a line without a message.

    Internal lines, tool results and thinking are left out. A sub-agent (a side chain) has a session of its own,
    in which the "user" is the agent that called it.
    """
    if value["type"] == "summary":
        return _summary(value)
    if value["type"] not in _SPEAKERS or any(value.get(name) for name in _INTERNAL):
        return None
    message = value.get("message")
    if not isinstance(message, dict):
        raise ParamError(where, value, "must hold the message of a Claude Code session: role and content")
    text = clean_text(_without_inserted(message_text(message, where)).strip())
    return _episode(value, message, text, where) if text else None


def _without_inserted(text: str) -> str:
    """A text without what the program inserted between tags; a tag that is never closed is part of the text."""
    marks = list(_INSERTED.finditer(text))
    last = {mark[2]: mark.start() for mark in marks if mark[1]}
    parts, at, opened = [], 0, ""
    for mark in marks:
        if not opened and not mark[1] and last.get(mark[2], -1) > mark.start():
            parts.append(text[at : mark.start()])
            opened = mark[2]
        elif opened == mark[2] and mark[1]:
            at, opened = mark.end(), ""
    return "".join([*parts, text[at:]])


def _summary(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """The program's summary of a session, as a fact."""
    text = value.get("summary")
    if not isinstance(text, str) or not text.strip():
        return None
    leaf = value.get("leafUuid")
    return {
        "content": clean_text(text),
        "kind": "fact",
        "key": label(f"claude-code:summary:{digest(f'{leaf}{text}')}"),
        "metadata": {"summary_of": str(leaf)} if leaf else {},
        "trust": "agent",
    }


def _episode(value: Mapping[str, Any], message: Mapping[str, Any], text: str, where: str) -> dict[str, Any]:
    side, compact = bool(value.get("isSidechain")), bool(value.get("isCompactSummary"))
    speaker = "assistant" if side or compact else str(value["type"])
    session = str(value.get("sessionId") or value.get("session_id") or "unnamed")
    if side:
        session += f"/{value.get('agentId') or 'sidechain'}"
    own = value.get("uuid") or digest(f"{session}{value.get('timestamp')}{text}")
    at = value.get("timestamp")
    metadata = {"cwd": value.get("cwd"), "branch": value.get("gitBranch"), "model": message.get("model")}
    return {
        "content": text,
        "key": label(f"claude-code:{own}"),
        "speaker": speaker,
        "session": label(f"claude-code:{session}"),
        "occurred_at": None if at is None else iso_time(at, f"{where}: timestamp"),
        "metadata": {
            name: clean_text(text) for name, text in metadata.items() if isinstance(text, str) and text
        },
        "trust": "agent" if speaker == "assistant" else _SPEAKERS[speaker],
    }


_NOTE_LETTERS = 160
_TEXTS = ("text", "input_text", "output_text")
_CALLS = ("tool_use", "server_tool_use", "function_call", "tool_call")
_SKIPPED = ("thinking", "redacted_thinking", "reasoning", "tool_result", "function_call_output")
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
    if kind in _SKIPPED:
        return
    if kind in _CALLS:
        yield tool_note(part.get("name"), part.get("input", part.get("arguments")))
    elif kind in _TEXTS or isinstance(part.get("text"), str):
        if isinstance(part.get("text"), str):
            yield part["text"]
    else:
        yield one_line(f"({str(kind).removeprefix('input_').removesuffix('_url')})", _NOTE_LETTERS)


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """Notes on the tool calls that are listed outside of the content."""
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
