"""Chat transcripts: the role/content JSON that chat APIs use, and the session files of Claude Code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from priming.config.params.store import STORE
from priming.config.values import dataclass
from priming.errors import ParamError
from priming.transfer.importers import Entry, Item
from priming.transfer.messages import is_session_line, message_text, session_message
from priming.transfer.reading import (
    checked_entry,
    clean_text,
    digest,
    files,
    iso_time,
    label,
    lines,
    name_below,
    parse_json,
    read_text,
    title,
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
class Transcript:
    """A file with conversations, and the state of reading it."""

    path: Path
    name: str
    unnamed: int = 0
    recognised: bool = False

    @property
    def source(self) -> str:
        """The source of the memories from this file."""
        return label(f"chat:{self.path.absolute()}")


def read(path: Path) -> Iterator[Item]:
    """Read a transcript, or all transcripts in a folder: each message is an episode, each conversation a session.

    The format is recognised by the content. In a folder, JSON files that are not transcripts are skipped.
    """
    if not path.is_dir():
        transcript = Transcript(path, path.name)
        yield from _read_transcript(transcript)
        if not transcript.recognised:
            raise ParamError("path", str(path), f"is empty: it {SHAPE}")
        return
    any_recognised = False
    for file in files(path, ENDINGS):
        transcript = Transcript(file, name_below(path, file))
        try:
            yield from _read_transcript(transcript)
        except ShapeError:
            if transcript.recognised:
                raise
        any_recognised = any_recognised or transcript.recognised
    if not any_recognised:
        raise ParamError("path", str(path), "must hold transcripts in files ending in .json or .jsonl")


class ShapeError(ParamError):
    """JSON that does not have the shape of a transcript."""


def _read_transcript(transcript: Transcript) -> Iterator[Entry]:
    """Read JSON Lines if the first line is JSON by itself, else one JSON value."""
    conversation = CurrentConversation(transcript)
    path = transcript.path
    head = list(islice(lines(path, STORE.file_bytes), 2))
    if not head:
        return
    if _is_json(head[0][1]):
        for number, line in lines(path, STORE.file_bytes):
            where = f"{path}, line {number}"
            yield from _value(parse_json(line, where), conversation, where)
    else:
        yield from _value(_read_value(path, head), conversation, str(path))


def _read_value(path: Path, head: list[tuple[int, str]]) -> Any:
    """The value of a JSON file; if it is invalid and its second line is a value, the error names the first line."""
    try:
        return parse_json(read_text(path), str(path))
    except ParamError:
        (number, line), *rest = head
        if line.startswith("{") and rest and _is_json(rest[0][1]):
            parse_json(line, f"{path}, line {number}")
        raise


def _is_json(line: str) -> bool:
    try:
        parse_json(line, "")
    except ParamError:
        return False
    return True


@dataclass(slots=True)
class CurrentConversation:
    """The current conversation of a reader of messages, and the number of messages read from each."""

    transcript: Transcript
    session: str | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def enter(self, value: Mapping[str, Any]) -> None:
        """Switch to the conversation that a single message names; stay if it names none."""
        name = _first(value, _CONVERSATIONS)
        if name is not None or self.session is None:
            self.begin(name)

    def begin(self, name: Any) -> None:
        """Start a conversation by its id, or the next of the file's conversations without an id."""
        if name is None:
            name, self.transcript.unnamed = self.transcript.unnamed, self.transcript.unnamed + 1
        self.session = label(f"{self.transcript.name}#{name}")


def _value(value: Any, conversation: CurrentConversation, where: str) -> Iterator[Entry]:
    """The entries of any value in a transcript: a message, a conversation, or a list of either."""
    if isinstance(value, list):
        yield from _list(value, conversation, where)
    elif not isinstance(value, dict):
        raise ShapeError(where, value, SHAPE)
    elif isinstance(value.get("role"), str):
        conversation.enter(value)
        yield from _message(value, conversation, where)
    elif isinstance(value.get("messages"), list):
        yield from _conversation(value["messages"], _first(value, _NAMES), conversation, where)
    elif is_session_line(value, within_session=conversation.transcript.recognised):
        conversation.transcript.recognised = True
        if (arguments := session_message(value, where)) is not None:
            yield checked_entry({**arguments, "source": conversation.transcript.source}, where)
    else:
        raise ShapeError(where, value, SHAPE)


def _list(values: list[Any], conversation: CurrentConversation, where: str) -> Iterator[Entry]:
    messages = [item for item in values if isinstance(item, dict) and isinstance(item.get("role"), str)]
    if messages and len(messages) == len(values):
        yield from _conversation(messages, None, conversation, where)
        return
    for number, value in enumerate(values):
        place = f"{where}, item {number}"
        if isinstance(value, list):
            yield from _conversation(value, None, conversation, place)
        else:
            yield from _value(value, conversation, place)


def _conversation(
    messages: list[Any], name: Any, conversation: CurrentConversation, where: str
) -> Iterator[Entry]:
    conversation.begin(name)
    for number, message in enumerate(messages):
        place = f"{where}, message {number}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ParamError(place, message, "must be an object with a role and content")
        yield from _message(message, conversation, place)
    conversation.session = None


def _message(message: Mapping[str, Any], conversation: CurrentConversation, where: str) -> Iterator[Entry]:
    """A message as an episode; nothing for the result of a tool, or for a message without text."""
    conversation.transcript.recognised = True
    session = str(conversation.session)
    number = conversation.counts[session]
    conversation.counts[session] += 1
    role = str(message["role"])
    text = clean_text("" if role in _RESULTS else message_text(message, where))
    if not text.strip():
        return
    speaker = title(message["name"]) if isinstance(message.get("name"), str) else None
    own = message.get("id")
    key = f"{session}:{own if isinstance(own, str) and own else f'{number}-{digest(role + text)}'}"
    yield checked_entry(
        {
            "content": text,
            "key": label(f"chat:{key}"),
            "speaker": speaker or title(role),
            "session": session,
            "occurred_at": _time(message, where),
            "metadata": {"role": role},
            "source": conversation.transcript.source,
            "trust": _TRUST.get(role, "tool"),
        },
        where,
    )


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    present = (value[name] for name in names if isinstance(value.get(name), (str, int)))
    return next(present, None)


def _time(message: Mapping[str, Any], where: str) -> datetime | None:
    """The first time in a message: ISO 8601 with a zone, or seconds or milliseconds since 1970."""
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
