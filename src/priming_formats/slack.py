"""An export of Slack: ``users.json``, ``channels.json``, and a folder for each channel with a file a day.

A file is a list of messages. A message has ``type`` (message), ``ts`` (seconds since 1970, its id in the channel),
``user``, ``text``, for what is no ordinary message ``subtype``, and in a thread ``thread_ts``. In texts stand
``<@U123>``, ``<#C123|name>``, ``<!here>`` and ``<https://…|text>``, and ``&amp;``, ``&lt;``, ``&gt;``.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, time_of
from priming_formats.json_documents import document, first_item, read_each, stamp_of

_SAID = (None, "thread_broadcast", "file_share", "me_message")
"""The subtypes of what people say: others are joins, leaves, topics, and what bots write."""
_CHANNELS = ("channels.json", "groups.json", "mpims.json")
_MARK = re.compile(r"<([@#!])?([^<>|]*)(?:\|([^<>]*))?>")


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read a day of a channel, which is a session of all its days."""
    value, damaged = document(path)
    channel, top = path.parent.name, path.parent.parent
    users, *channels = [_names(top / name, stamp_of(top / name)) for name in ("users.json", *_CHANNELS)]
    names = ChainMap(users, *channels)
    own = next((own for each in channels for own, name in each.items() if name == channel), channel)
    yield Conversation(own, read_each(value, str(path), partial(_messages, names=names)), f"#{channel}")
    yield from damaged


@lru_cache(maxsize=8)
def _names(file: Path, _stamp: int) -> dict[str, str]:
    """Return the names of the people or channels of a workspace, by their ids; a missing list has none."""
    listed: Any = None
    with suppress(ParamError):
        listed = document(file)[0]
    objects = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {each["id"]: _name(each) for each in objects if isinstance(each.get("id"), str)}


def _name(user: Mapping[str, Any]) -> str:
    """Return the name a person shows, else the real one, else that of the account; a channel has the last only."""
    profile = fields_of(user.get("profile"))
    names = profile.get("display_name"), user.get("real_name"), profile.get("real_name"), user.get("name")
    return next((name for name in names if isinstance(name, str) and name.strip()), user["id"])


def _messages(message: dict[str, Any], where: str, *, names: Mapping[str, str]) -> Iterator[Message]:
    if message.get("subtype") not in _SAID or message.get("bot_id"):
        return
    user, own, text = str(message.get("user")), str(message.get("ts")), message.get("text")
    if not isinstance(text, str):
        raise ParamError(f"{where}: text", text, "must be a text")
    thread = message.get("thread_ts")
    metadata = {"thread": thread} if isinstance(thread, str) and thread != own else {}
    at = time_of(own, f"{where}: ts")
    yield Message("person", _plain(text, names), at, own, names.get(user, user), metadata)


def _plain(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names in place of ids, and links as a person reads them."""

    def shown(mark: re.Match[str]) -> str:
        sign, target, name = mark.groups()
        if sign == "@":
            return f"@{name or names.get(target, target)}"
        if sign:
            return f"{'#' if sign == '#' else '@'}{name or names.get(target, target)}"
        return target.removeprefix("mailto:") if not name or name in target else f"{name} ({target})"

    plain = _MARK.sub(shown, text)
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _fits(path: Path) -> bool:
    value = fields_of(first_item(path))
    return value.get("type") == "message" and isinstance(value.get("ts"), str)


FORMAT = conversation_format("slack", "an export of Slack: a folder with one for each channel", read, _fits)
