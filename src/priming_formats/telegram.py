"""An export of Telegram Desktop in JSON: ``result.json``, a chat, or an account with ``chats.list``.

A chat has ``id``, ``name``, ``type`` and ``messages``, which have ``id``, ``type`` (message or service),
``date_unixtime``, in early exports only ``date`` of the machine's zone, ``from``, ``reply_to_message_id``, and
``text``: a text, or a list of texts and objects with a ``text``, such as links.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format, message_text
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, list_of, part_of, time_of
from priming_formats.json_documents import read_conversations, read_each, sample, text_or_none


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read the chats of a file."""
    return read_conversations(path, _conversations, _chats)


def _chats(value: Any, where: str) -> list[Any]:
    """Return the only chat of a file, and those of an account."""
    if not isinstance(value, dict):
        raise ParamError("path", where, "must hold a chat, or an account with chats")
    lists = (list_of(part_of(value, name, where), "list", where) for name in ("chats", "left_chats"))
    return [*([value] if "messages" in value else []), *chain(*lists)]


def _conversations(chat: dict[str, Any], where: str) -> Iterator[Conversation]:
    own = _number_of(chat, where, "chat")
    messages = read_each(list_of(chat, "messages", where), f"{where} ({own})", _messages)
    yield Conversation(own, messages, text_or_none(chat.get("name")))


def _number_of(value: dict[str, Any], where: str, what: str) -> str:
    if not isinstance(value.get("id"), int):
        raise ParamError(f"{where}: id", value.get("id"), f"must be the number of a {what}")
    return str(value["id"])


def _messages(message: dict[str, Any], where: str) -> Iterator[Message]:
    if message.get("type") != "message":
        return
    own, answered = _number_of(message, where, "message"), message.get("reply_to_message_id")
    text = message.get("text")
    parts = text if isinstance(text, list) else [text]
    plain = "".join(message_text({"content": [part]}, where) for part in parts if part is not None)
    speaker = message.get("from") or message.get("from_id")
    metadata: dict[str, Any] = {"answers": answered} if isinstance(answered, int) else {}
    if forwarded := text_or_none(message.get("forwarded_from")):
        metadata["forwarded_from"] = forwarded
    date = message.get("date_unixtime") or str(message.get("date"))
    at = time_of(date, f"{where}: date", datetime.astimezone)
    yield Message("person", plain, at, own, text_or_none(speaker), metadata)


def _fits(path: Path) -> bool:
    value = fields_of(sample(path))
    messages = value.get("messages")
    if isinstance(messages, list) and {"id", "type"} <= value.keys():
        return not messages or {"id", "type", "date"} <= fields_of(messages[0]).keys()
    return "list" in fields_of(value.get("chats"))


FORMAT = conversation_format("telegram", "an export of Telegram Desktop: result.json", read, _fits)
