"""Sessions of Codex CLI: ``rollout-*.jsonl``, an object a line.

Lines have ``timestamp``, ``type`` and ``payload``: first ``session_meta`` (``id``, ``cwd``, ``git``), then
``response_item``, what the model is sent and answers (``message`` with ``role`` and ``content``, calls of tools), and
``event_msg``, what is shown (``user_message``, ``agent_message``). Early sessions have items as lines, after one with
``id`` and ``timestamp``. The model is sent more in the user's name than the user typed, which an event says; where
there is none, a part that is all the client's is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import (
    Conversation,
    Message,
    conversation_format,
    is_inserted,
    message_text,
    tool_note,
)
from priming.transfer.importers import Skipped
from priming.transfer.reading import digest, fields_of, json_lines, part_of, time_of
from priming_formats.json_documents import sample, text_or_none

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_EVENTS = {"user_message": "user", "agent_message": "assistant"}


def read(path: Path) -> Iterator[Conversation]:
    """Read a session; one that was resumed begins anew with lines of another."""
    meta: dict[str, Any] = {}
    spoken: list[tuple[str, Message | Skipped]] = []
    for where, line in json_lines(path):
        try:
            if isinstance(line, Skipped):
                raise line.error
            if not isinstance(line, dict):
                raise ParamError(where, line, "must be an object")
            kind = str(line.get("type", ""))
            item = part_of(line, "payload", where) if kind in _LINES else line
            if kind == "session_meta" or (not kind and "id" in line):
                meta = meta or item
            else:
                how = "shown" if kind == "event_msg" else "sent"
                spoken += [(how, message) for message in _message(how, item, line.get("timestamp"), where)]
        except ParamError as error:
            spoken.append(("", Skipped(error)))
    yield Conversation(str(meta.get("id") or path.stem), [*_once(spoken, meta)])


def _message(kind: str, item: Mapping[str, Any], at: Any, where: str) -> Iterator[Message]:
    shown = _EVENTS.get(str(item.get("type")))
    role, text = (shown, item.get("message")) if kind == "shown" else _item(item, where)
    if role and isinstance(text, str) and not (_is_inserted(text) and role == "user"):
        own = text_or_none(item.get("id")) or (f"{at}-{digest(role + text)}" if at else None)
        yield Message(role, text, time_of(at, f"{where}: timestamp"), own)


def _item(item: Mapping[str, Any], where: str) -> tuple[str | None, str]:
    """Tell who says an item, and what: a message without the parts that are a client's, or a note on a tool call."""
    if item.get("type") == "message" and item.get("role") in _EVENTS.values():
        parts = content if isinstance(content := item.get("content"), list) else [content]
        own_parts = [part for part in parts if not _is_inserted(part)]
        return item["role"], message_text({"content": own_parts}, where)
    if item.get("type") not in _CALLS:
        return None, ""
    call = item.get("arguments") or item.get("input") or item.get("action")
    if isinstance(call, str):
        with suppress(ValueError, RecursionError):
            call = json.loads(call)
    if isinstance(call, dict) and isinstance(call.get("command"), list):
        call = {"command": " ".join(map(str, call["command"]))}
    return "assistant", tool_note(item.get("name", "shell"), call)


def _is_inserted(part: Any) -> bool:
    text = part.get("text") if isinstance(part, dict) else part
    if not isinstance(text, str):
        return False
    heading, _, rest = text.strip().partition("\n")  # the file of instructions has one
    return is_inserted(rest if heading.startswith("# ") and rest.strip() else text)


def _once(
    spoken: list[tuple[str, Message | Skipped]], meta: Mapping[str, Any]
) -> Iterator[Message | Skipped]:
    """Yield what was said, in order: by the user as it was shown, by the agent as it was sent, if it was both.

    The user of a sub-agent is the agent that called it.
    """
    both = {(kind, message.role) for kind, message in spoken if isinstance(message, Message)}
    dropped = {("sent", "user")} if ("shown", "user") in both else set()
    dropped |= {("shown", "assistant")} if ("sent", "assistant") in both else set()
    is_called = "subagent" in fields_of(meta.get("source")) or meta.get("thread_source") == "subagent"
    called = "assistant" if is_called else None
    about = {"cwd": meta.get("cwd"), "branch": fields_of(meta.get("git")).get("branch")}
    metadata = {name: value for name, value in about.items() if isinstance(value, str)}
    for kind, message in spoken:
        if isinstance(message, Skipped):
            yield message
        elif (kind, message.role) not in dropped:
            yield replace(message, role=called or message.role, metadata=metadata)


def _fits(path: Path) -> bool:
    value = fields_of(sample(path))
    keys = value.keys()
    is_early = {"id", "timestamp", "instructions"} <= keys and "type" not in keys
    return is_early or ({"type", "payload"} <= keys and value["type"] in _LINES)


FORMAT = conversation_format("codex", "sessions of Codex CLI", read, _fits, (".jsonl",))
