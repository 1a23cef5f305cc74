"""Chat transcripts: the role/content JSON that chat APIs use, and the session files of Claude Code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.importers import Entry, Item
from priming.transfer.messages import is_line, message_of, message_text
from priming.transfer.reading import (
    checked,
    digest,
    files,
    iso_time,
    keepable,
    label,
    lines,
    parsed,
    text_of,
    title,
    under,
)

ENDINGS = (".json", ".jsonl")
SHAPE = (
    "must be a message with a role and content, a list of messages, an object with messages, "
    "a list of conversations, or a line of a Claude Code session"
)

_TIMES = ("timestamp", "created_at", "create_time", "created", "time")
_CONVERSATIONS = ("conversation_id", "session_id", "thread_id", "chat_id")
_NAMES = ("id", "conversation_id", "session_id", "thread_id", "uuid")
_TRUST = {"user": "user", "human": "user", "assistant": "agent", "model": "agent", "ai": "agent"}
_RESULTS = ("tool", "function")
_MILLISECONDS_FROM = 100_000_000_000


@dataclass(slots=True)
class File:
    """One transcript, and how far it was read."""

    path: Path
    name: str
    unnamed: int = 0
    recognised: bool = False

    @property
    def source(self) -> str:
        """What memories from here name as their source."""
        return label(f"chat:{self.path.absolute()}")


def read(path: Path) -> Iterator[Item]:
    """Read a transcript, or every one in a folder: each message an episode, each conversation a session.

    The content shows the format. In a folder, JSON files that are not transcripts are skipped.
    """
    if not path.is_dir():
        file = File(path, path.name)
        yield from _file(file)
        if not file.recognised:
            raise ParamError("path", str(path), f"is empty: it {SHAPE}")
        return
    any_recognised = False
    for transcript in files(path, ENDINGS):
        file = File(transcript, under(path, transcript))
        try:
            yield from _file(file)
        except ShapeError:
            if file.recognised:
                raise
        any_recognised = any_recognised or file.recognised
    if not any_recognised:
        raise ParamError("path", str(path), "must hold transcripts in files ending in .json or .jsonl")


class ShapeError(ParamError):
    """JSON of some other shape than a transcript's."""


def _file(file: File) -> Iterator[Entry]:
    """JSON Lines if the first line is JSON by itself, else one JSON value."""
    talk = Talk(file)
    head = list(islice(lines(file.path), 2))
    if not head:
        return
    if _is_json(head[0][1]):
        for number, line in lines(file.path):
            where = f"{file.path}, line {number}"
            yield from _value(parsed(line, where), talk, where)
    else:
        yield from _value(_whole(file.path, head), talk, str(file.path))


def _whole(path: Path, head: list[tuple[int, str]]) -> Any:
    """The one value of a JSON file; if it breaks and the second line is a value, the first is at fault."""
    try:
        return parsed(text_of(path), str(path))
    except ParamError:
        (number, line), *after = head
        if line.startswith("{") and after and _is_json(after[0][1]):
            parsed(line, f"{path}, line {number}")
        raise


def _is_json(line: str) -> bool:
    try:
        parsed(line, "")
    except ParamError:
        return False
    return True


@dataclass(slots=True)
class Talk:
    """The conversation that a reader of messages is in, and how many messages each had so far."""

    file: File
    session: str | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def enter(self, value: Mapping[str, Any]) -> None:
        """Go to the conversation that a message by itself belongs to."""
        name = _first(value, _CONVERSATIONS)
        if name is not None or self.session is None:
            self.begin(name)

    def begin(self, name: Any) -> None:
        """Go to a conversation by its id, or to the next one of the file that has none."""
        if name is None:
            name, self.file.unnamed = self.file.unnamed, self.file.unnamed + 1
        self.session = label(f"{self.file.name}#{name}")


def _value(value: Any, talk: Talk, where: str) -> Iterator[Entry]:
    """Whatever a transcript may hold: a message, a conversation, or a list of either."""
    if isinstance(value, list):
        yield from _list(value, talk, where)
    elif not isinstance(value, dict):
        raise ShapeError(where, value, SHAPE)
    elif isinstance(value.get("role"), str):
        talk.enter(value)
        yield from _message(value, talk, where)
    elif isinstance(value.get("messages"), list):
        yield from _conversation(value["messages"], _first(value, _NAMES), talk, where)
    elif is_line(value, among=talk.file.recognised):
        talk.file.recognised = True
        if (arguments := message_of(value, where)) is not None:
            yield checked({**arguments, "source": talk.file.source}, where)
    else:
        raise ShapeError(where, value, SHAPE)


def _list(values: list[Any], talk: Talk, where: str) -> Iterator[Entry]:
    messages = [item for item in values if isinstance(item, dict) and isinstance(item.get("role"), str)]
    if messages and len(messages) == len(values):
        yield from _conversation(messages, None, talk, where)
        return
    for number, value in enumerate(values):
        place = f"{where}, item {number}"
        if isinstance(value, list):
            yield from _conversation(value, None, talk, place)
        else:
            yield from _value(value, talk, place)


def _conversation(messages: list[Any], name: Any, talk: Talk, where: str) -> Iterator[Entry]:
    talk.begin(name)
    for number, message in enumerate(messages):
        place = f"{where}, message {number}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ParamError(place, message, "must be an object with a role and content")
        yield from _message(message, talk, place)
    talk.session = None


def _message(message: Mapping[str, Any], talk: Talk, where: str) -> Iterator[Entry]:
    """One message as an episode; nothing for a tool's answer, or where no text is left."""
    talk.file.recognised = True
    session = str(talk.session)
    number = talk.counts[session]
    talk.counts[session] += 1
    role = str(message["role"])
    text = keepable("" if role in _RESULTS else message_text(message, where))
    if not text.strip():
        return
    speaker = title(message["name"]) if isinstance(message.get("name"), str) else None
    own = message.get("id")
    key = f"{session}:{own if isinstance(own, str) and own else f'{number}-{digest(role + text)}'}"
    yield checked(
        {
            "content": text,
            "key": label(f"chat:{key}"),
            "speaker": speaker or title(role),
            "session": session,
            "occurred_at": _time(message, where),
            "metadata": {"role": role},
            "source": talk.file.source,
            "trust": _TRUST.get(role, "tool"),
        },
        where,
    )


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    present = (value[name] for name in names if isinstance(value.get(name), (str, int)))
    return next(present, None)


def _time(message: Mapping[str, Any], where: str) -> datetime | None:
    """The first time that a message gives: ISO 8601 with a zone, or seconds or milliseconds since 1970."""
    for name in _TIMES:
        value = message.get(name)
        if value is None or isinstance(value, bool):
            continue
        if isinstance(value, (int, float)):
            return _epoch(value, f"{where}: {name}")
        return iso_time(value, f"{where}: {name}")
    return None


def _epoch(value: float, where: str) -> datetime:
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (OverflowError, OSError, ValueError):
        raise ParamError(where, value, "must be seconds or milliseconds since 1970") from None
