"""ChatGPT's export: ``conversations.json``, a list of conversations, each a tree of messages.

A conversation has ``conversation_id`` (or ``id``), ``title``, ``current_node``, and ``mapping``: by id, nodes of
``message``, ``parent`` and ``children``. An edited prompt or another answer is another branch: ``current_node`` ends
the one that is shown. A message has ``author.role``, ``create_time`` in seconds, ``recipient`` (a tool, or all),
``content`` with ``parts`` (texts, and objects for images and speech) or, for code, ``text``. Custom instructions,
memories and reasoning are messages without ``parts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from priming.transfer.conversations import (
    Conversation,
    Message,
    conversation_format,
    message_text,
    tool_note,
)
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, id_of, list_of, part_of, time_of
from priming_formats.json_documents import file_notes, first_item, read_conversations, read_each, text_or_none

_ROLES = ("user", "assistant")
_ALL = "all"


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read the branch that is shown of each conversation."""
    return read_conversations(path, _conversations)


def _conversations(value: dict[str, Any], where: str) -> Iterator[Conversation]:
    own = id_of(value, where, "conversation_id" if "conversation_id" in value else "id")
    branch = _branch(part_of(value, "mapping", where), value.get("current_node"))
    yield Conversation(
        own, read_each(branch, f"{where} ({own})", _messages), text_or_none(value.get("title"))
    )


def _branch(nodes: dict[str, Any], last: Any) -> list[Any]:
    """Return the nodes up to the last one, the first first; without a last one, up to the newest."""
    name = last if isinstance(last, str) and last in nodes else next(reversed(nodes), None)
    branch: dict[Any, Any] = {}
    while isinstance(name, str) and name in nodes and name not in branch:
        branch[name] = nodes[name]
        name = fields_of(nodes[name]).get("parent")
    return [*reversed(branch.values())]


def _messages(node: dict[str, Any], where: str) -> Iterator[Message]:
    """Yield the message of a node, unless a tool, the program or nobody says it."""
    message = part_of(node, "message", where)
    role, metadata = part_of(message, "author", where).get("role"), part_of(message, "metadata", where)
    if role not in _ROLES or metadata.get("is_visually_hidden_from_conversation"):
        return
    text = _text(message, part_of(message, "content", where), where)
    notes = file_notes(list_of(metadata, "attachments", where), field="name")
    yield Message(
        role,
        "\n".join(filter(None, [text, *notes])),
        time_of(message.get("create_time"), f"{where}: create_time"),
        id_of(message if "id" in message else node, where),
    )


def _text(message: Mapping[str, Any], content: Mapping[str, Any], where: str) -> str:
    """Return the texts of a message, with a note on each image, or a note on a call of a tool."""
    if (recipient := message.get("recipient", _ALL)) not in (_ALL, None):
        parts = list_of(content, "parts", where)
        return tool_note(recipient, content.get("text") or next(iter(parts), None))
    parts = [
        {"type": str(part.get("content_type")).removesuffix("_asset_pointer"), **part}
        if isinstance(part, dict)
        else part
        for part in list_of(content, "parts", where)
    ]
    return message_text({"content": parts}, where)


def _fits(path: Path) -> bool:
    return isinstance(fields_of(first_item(path)).get("mapping"), dict)


FORMAT = conversation_format("chatgpt", "an export of ChatGPT: conversations.json", read, _fits)
