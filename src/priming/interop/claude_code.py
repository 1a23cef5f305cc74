"""The session files of Claude Code: JSON Lines of messages and tool calls, with lines of its own among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from priming.errors import ParamError
from priming.interop.message_text import message_text
from priming.interop.reading import digest, iso_time, keepable, label

_SPEAKERS = {"user": "user", "assistant": "agent"}
_OWN = ("sessionId", "session_id", "uuid", "leafUuid", "messageId")
_UNSAID = ("isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_INSERTED = re.compile(r"<(system-reminder|local-command-[a-z]+)>.*?</\1>", re.DOTALL)


def is_line(value: Mapping[str, Any], *, among: bool) -> bool:
    """Whether a JSON object is a line of a session: it names its type, and what it belongs to.

    ``among`` other lines of a session, the type is enough.
    """
    return isinstance(value.get("type"), str) and (among or any(name in value for name in _OWN))


def message_of(value: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """The arguments of ``remember`` for one line; None for a line without a message.

    The program's own lines, tool results and thinking are left out. What a sub-agent
    (a side chain) says is a session of its own, and its "user" is the agent that called it.
    """
    if value["type"] == "summary":
        return _summary(value)
    if value["type"] not in _SPEAKERS or any(value.get(name) for name in _UNSAID):
        return None
    message = value.get("message")
    if not isinstance(message, dict):
        raise ParamError(where, value, "must hold the message of a Claude Code session: role and content")
    text = keepable(_INSERTED.sub("", message_text(message, where)).strip())
    return _episode(value, message, text, where) if text else None


def _summary(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the program wrote about a whole session, as a fact."""
    text = value.get("summary")
    if not isinstance(text, str) or not text.strip():
        return None
    leaf = value.get("leafUuid")
    return {
        "content": keepable(text),
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
            name: keepable(text) for name, text in metadata.items() if isinstance(text, str) and text
        },
        "trust": "agent" if speaker == "assistant" else _SPEAKERS[speaker],
    }
