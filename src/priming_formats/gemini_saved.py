"""Chats as the API of Gemini has them: turns of ``role`` and ``parts``, and what the program says at their start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Message, is_inserted, message_text, tool_note
from priming.transfer.reading import fields_of, time_of

ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_CONTEXT = "This is the Gemini CLI."
"""What early versions of the program tell the model first; later ones put it into an element."""


def without_context(turns: Any) -> Any:
    """Return the turns after what the program tells the model of the folder, and after the answer to that."""
    first, second = map(fields_of, [*turns, {}, {}][:2] if isinstance(turns, list) else ({}, {}))
    texts = [text for part in _parts(first) if isinstance(text := fields_of(part).get("text"), str)]
    if not texts or not (texts[0].startswith(_CONTEXT) or all(map(is_inserted, texts))):
        return turns
    return turns[2:] if second.get("role") == "model" else turns[1:]


def turn(item: dict[str, Any], where: str) -> Iterator[Message]:
    """Read a turn, unless it is a thought."""
    role = ROLES.get(str(item.get("role")))
    if role is None:
        raise ParamError(f"{where}: role", item.get("role"), "must be user or model")
    if not item.get("isThought"):
        yield Message(
            role, text_of(_parts(item), where), time_of(item.get("createTime"), f"{where}: createTime")
        )


def _parts(item: Mapping[str, Any]) -> list[Any]:
    parts = item.get("parts")
    return parts if isinstance(parts, list) else [item]


def text_of(content: Any, where: str) -> str:
    """Return the texts of a message that are no client's and no thoughts, and notes on the calls of tools."""
    texts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and isinstance(call := part.get("functionCall"), dict):
            texts.append(tool_note(call.get("name"), call.get("args")))
        elif not (isinstance(part, dict) and part.get("thought")) and part is not None:
            text = message_text({"content": [part]}, where)
            texts += [] if is_inserted(text) else [text]
    return "\n".join(texts)
