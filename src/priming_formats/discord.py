"""Chats of Discord: the JSON of DiscordChatExporter, and Discord's own package of what its user wrote.

- DiscordChatExporter writes a file for each channel: ``guild``, ``channel`` (``id``, ``name``) and ``messages``,
  which have ``id``, ``type`` (Default and Reply are what people say), ``timestamp``, ``content``,
  ``author`` (``name``, ``nickname``, ``isBot``), and ``reference.messageId`` in a reply.
- The package has a folder for each channel, with ``channel.json`` (``id``, ``name``, ``guild.name``) and
  ``messages.json``, in early packages ``messages.csv``: ``ID``, ``Timestamp`` in UTC, ``Contents``. Who wrote them
  all stands in ``Account/user.json``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, head_of, id_of, iso_time, list_of, part_of, read_text, time_of
from priming_formats.json_documents import document, first_item, read_each, sample, text_or_none

_SAID = ("Default", "Reply")
_ROW = {"ID", "Timestamp", "Contents"}


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read a channel."""
    if path.suffix == ".csv":
        rows: list[Any] = [*csv.DictReader(read_text(path).splitlines(keepends=True))]
        yield _of_package(rows, path)
        return
    value, damaged = document(path)
    if isinstance(value, dict):
        channel = part_of(value, "channel", str(path))
        messages = read_each(list_of(value, "messages", str(path)), str(path), _messages)
        title = _title(channel, part_of(value, "guild", str(path)))
        yield Conversation(id_of(channel, f"{path}: channel"), messages, title)
    else:
        yield _of_package(value, path)
    yield from damaged


def _title(channel: Mapping[str, Any], guild: Mapping[str, Any]) -> str | None:
    names = [name for name in (guild.get("name"), channel.get("name")) if isinstance(name, str)]
    return " / ".join(names) or None


def _of_package(rows: list[Any], path: Path) -> Conversation:
    channel = _object(path.parent / "channel.json")
    user = _object(path.parent.parent.parent / "Account" / "user.json")
    name = text_or_none(user.get("global_name")) or text_or_none(user.get("username"))
    own = str(channel.get("id") or path.parent.name.removeprefix("c"))
    title = _title(channel, part_of(channel, "guild", str(path)))
    return Conversation(own, read_each(rows, str(path), partial(_rows, name=name)), title)


def _object(path: Path) -> dict[str, Any]:
    """Return the object in a file beside; one that is missing or no object is empty."""
    with suppress(ParamError):
        return fields_of(document(path)[0])
    return {}


def _messages(message: dict[str, Any], where: str) -> Iterator[Message]:
    author = part_of(message, "author", where)
    if message.get("type", _SAID[0]) not in _SAID or author.get("isBot"):
        return
    text, at = message.get("content"), time_of(message.get("timestamp"), f"{where}: timestamp")
    if not isinstance(text, str):
        raise ParamError(f"{where}: content", text, "must be a text")
    answered = part_of(message, "reference", where).get("messageId")
    speaker = text_or_none(author.get("nickname")) or text_or_none(author.get("name"))
    metadata = {"answers": answered} if isinstance(answered, str) else {}
    yield Message("person", text, at, id_of(message, where), speaker, metadata)


def _rows(row: dict[str, Any], where: str, *, name: str | None) -> Iterator[Message]:
    own, text = row.get("ID"), row.get("Contents")
    if not own or not isinstance(text, str):
        raise ParamError(where, row, "must have an ID and Contents")
    at = iso_time(str(row.get("Timestamp")), f"{where}: Timestamp", partial(datetime.replace, tzinfo=UTC))
    yield Message("person", text, at, str(own), name)


def _fits(path: Path) -> bool:
    if path.suffix == ".csv":
        return set(head_of(path).partition("\n")[0].strip().split(",")) >= _ROW
    needed = _ROW if isinstance(sample(path), list) else {"guild", "channel", "messages"}
    return fields_of(first_item(path)).keys() >= needed


FORMAT = conversation_format(
    "discord", "chats of DiscordChatExporter, or Discord's own package", read, _fits, (".json", ".csv")
)
