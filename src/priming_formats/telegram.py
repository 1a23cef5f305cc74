"""An export of Telegram Desktop in JSON: ``result.json``, a chat, or an account with ``chats.list``.

A chat has ``id``, ``name``, ``type`` and ``messages``, which have ``id``, ``type`` (message or service),
``date_unixtime``, in early exports only ``date`` of the machine's zone, ``from``, ``reply_to_message_id``, and
``text``: a text, or a list of texts and objects with a ``text``, such as links.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format, epoch, message_text
from priming.transfer.importers import Skipped
from priming.transfer.reading import list_of, part_of
from priming_formats.json_documents import document, read_each, sample, text_or_none


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read the chats of a file."""
    value, damaged = document(path)
    if not isinstance(value, dict):
        raise ParamError("path", str(path), "must hold a chat, or an account with chats")
    chats = [value] if "messages" in value else []
    for name in ("chats", "left_chats"):
        chats += list_of(part_of(value, name, str(path)), "list", str(path))
    for number, chat in enumerate(chats):
        where = f"{path}, chat {number}"
        if isinstance(chat, dict) and isinstance(chat.get("id"), int):
            messages = read_each(list_of(chat, "messages", where), f"{where} ({chat['id']})", _messages)
            yield Conversation(str(chat["id"]), messages, text_or_none(chat.get("name")))
        else:
            yield Skipped(ParamError(where, chat, "must be a chat: an object with an id and messages"))
    yield from damaged


def _messages(message: dict[str, Any], where: str) -> Iterator[Message]:
    if message.get("type") != "message":
        return
    own, answered = message.get("id"), message.get("reply_to_message_id")
    if not isinstance(own, int):
        raise ParamError(f"{where}: id", own, "must be the number of a message")
    text = message.get("text")
    parts = text if isinstance(text, list) else [text]
    plain = "".join(message_text({"content": [part]}, where) for part in parts if part is not None)
    speaker = message.get("from") or message.get("from_id")
    metadata: dict[str, Any] = {"answers": answered} if isinstance(answered, int) else {}
    if forwarded := text_or_none(message.get("forwarded_from")):
        metadata["forwarded_from"] = forwarded
    yield Message("person", plain, _time(message, where), str(own), text_or_none(speaker), metadata)


def _time(message: dict[str, Any], where: str) -> datetime:
    seconds, date = message.get("date_unixtime"), message.get("date")
    try:
        if seconds is not None:
            return epoch(float(seconds), f"{where}: date_unixtime")
        return datetime.fromisoformat(str(date)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ParamError(f"{where}: date", seconds or date, "must be a time") from None


def _fits(path: Path) -> bool:
    value = sample(path)
    if not isinstance(value, dict):
        return False
    messages, chats = value.get("messages"), value.get("chats")
    if isinstance(messages, list) and {"id", "type"} <= value.keys():
        return not messages or (
            isinstance(messages[0], dict) and {"id", "type", "date"} <= messages[0].keys()
        )
    return isinstance(chats, dict) and "list" in chats


FORMAT = conversation_format("telegram", "an export of Telegram Desktop: result.json", read, _fits)
