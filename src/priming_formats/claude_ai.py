"""Claude.ai's export: ``conversations.json``, a list of conversations.

Each has ``uuid``, ``name`` and ``chat_messages``, which have ``uuid``, ``sender`` (human or assistant),
``created_at``, ``text``, in later exports ``content`` (a list of texts, calls and results of tools, thoughts), and
``attachments`` and ``files`` with a ``file_name``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format, message_text
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, id_of, list_of, time_of
from priming_formats.json_documents import file_notes, first_item, read_conversations, read_each, text_or_none

_ROLES = {"human": "user", "assistant": "assistant"}


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read the conversations of a file, or the only one."""
    return read_conversations(path, _conversations)


def _conversations(value: dict[str, Any], where: str) -> Iterator[Conversation]:
    own = id_of(value, where, "uuid")
    messages = read_each(list_of(value, "chat_messages", where), f"{where} ({own})", _messages)
    yield Conversation(own, messages, text_or_none(value.get("name")))


def _messages(message: dict[str, Any], where: str) -> Iterator[Message]:
    if (role := _ROLES.get(str(message.get("sender")))) is None:
        raise ParamError(f"{where}: sender", message.get("sender"), "must be human or assistant")
    text = message_text({"content": message.get("content") or message.get("text")}, where)
    attached = [list_of(message, name, where) for name in ("attachments", "files")]
    notes = file_notes(*attached, field="file_name")
    at = time_of(message.get("created_at"), f"{where}: created_at")
    yield Message(role, "\n".join(filter(None, [text, *notes])), at, id_of(message, where, "uuid"))


def _fits(path: Path) -> bool:
    return isinstance(fields_of(first_item(path)).get("chat_messages"), list)


FORMAT = conversation_format("claude-ai", "an export of Claude.ai: conversations.json", read, _fits)
