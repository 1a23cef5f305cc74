"""Chat transcripts: the role/content JSON that chat APIs use, and the session files of Claude Code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.errors import ParamError
from priming.transfer.conversations import (
    LOOKED_AT,
    Message,
    is_inserted,
    message_entry,
    message_text,
    message_time,
)
from priming.transfer.importers import Entry, Format, Item, Skipped
from priming.transfer.reading import (
    checked_entry,
    clean_text,
    digest,
    digest_of,
    files,
    iso_time,
    json_lines,
    label,
    name_below,
    parse_json,
    read_text,
    skipping,
)

ENDINGS = (".json", ".jsonl")
SHAPE = (
    "must be a message with a role and content, a list of messages, an object with messages, "
    "a list of conversations, or a line of a Claude Code session"
)

_CONVERSATIONS = ("conversation_id", "session_id", "thread_id", "chat_id")
_NAMES = ("id", "conversation_id", "session_id", "thread_id", "uuid")
_RESULTS = ("tool", "function")


@dataclass(slots=True)
class Transcript:
    """A file with conversations, and the state of reading it: the current conversation, the messages of each."""

    path: Path
    name: str
    recognised: bool = False
    session: str | None = None
    unnamed: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def source(self) -> str:
        """The source of the memories from this file."""
        return label(f"chat:{self.path.absolute()}")

    def enter(self, value: Mapping[str, Any]) -> None:
        """Switch to the conversation that a single message names; stay if it names none."""
        name = _first(value, _CONVERSATIONS)
        if name is not None or self.session is None:
            self.begin(name)

    def begin(self, name: Any) -> None:
        """Start a conversation by its id, or the next of the file's conversations without an id."""
        if name is None:
            name, self.unnamed = self.unnamed, self.unnamed + 1
        self.session = label(f"{self.name}#{name}")


def read(path: Path) -> Iterator[Item]:
    """Read a transcript, or all transcripts in a folder: each message is an episode, each conversation a session.

    The format is recognised by the content. In a folder, JSON files that are not transcripts are left out; what
    cannot be read of a transcript is skipped.
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
        with suppress(ShapeError):
            yield from _read_transcript(transcript)
        any_recognised = any_recognised or transcript.recognised
    if not any_recognised:
        raise ParamError("path", str(path), "must hold transcripts in files ending in .json or .jsonl")


class ShapeError(ParamError):
    """JSON that does not have the shape of a transcript."""


def _read_transcript(transcript: Transcript) -> Iterator[Item]:
    """Read JSON Lines if one of the first two lines is JSON by itself, else one JSON value."""
    path, skipped = transcript.path, list[Skipped]()
    head = [value for _, value in islice(json_lines(path, STORE.file_bytes), 2)]
    if not head:
        return
    if isinstance(head[0], Skipped) and (len(head) < 2 or not isinstance(head[1], dict)):
        values = iter([(str(path), parse_json(read_text(path), str(path)))])
    else:
        values = json_lines(path, STORE.file_bytes)
    for where, value in values:
        if isinstance(value, Skipped):
            skipped.append(value)
            continue
        try:
            yield from _value(value, transcript, where)
        except ShapeError as error:
            if not transcript.recognised:
                raise
            skipped.append(Skipped(error))
        except ParamError as error:
            skipped.append(Skipped(error))
    yield from skipped


def _value(value: Any, transcript: Transcript, where: str) -> Iterator[Item]:
    """Yield the entries of any value in a transcript: a message, a conversation, or a list of either."""
    if isinstance(value, list):
        yield from _list(value, transcript, where)
    elif not isinstance(value, dict):
        raise ShapeError(where, value, SHAPE)
    elif isinstance(value.get("role"), str):
        transcript.enter(value)
        yield from _message(value, transcript, where)
    elif isinstance(value.get("messages"), list):
        yield from _conversation(value["messages"], _first(value, _NAMES), transcript, where)
    elif is_session_line(value, within_session=transcript.recognised):
        transcript.recognised = True
        if (arguments := session_message(value, where)) is not None:
            yield checked_entry({**arguments, "source": transcript.source}, where)
    else:
        raise ShapeError(where, value, SHAPE)


def _list(values: list[Any], transcript: Transcript, where: str) -> Iterator[Item]:
    messages = [item for item in values if isinstance(item, dict) and isinstance(item.get("role"), str)]
    if messages and len(messages) == len(values):
        yield from _conversation(messages, None, transcript, where)
        return
    for number, value in enumerate(values):
        place = f"{where}, item {number}"
        if isinstance(value, list):
            yield from _conversation(value, None, transcript, place)
        else:
            yield from _value(value, transcript, place)


def _conversation(messages: list[Any], name: Any, transcript: Transcript, where: str) -> Iterator[Item]:
    transcript.begin(name)
    for number, message in enumerate(messages):
        place = f"{where}, message {number}"
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            yield from skipping(_message(message, transcript, place))
        else:
            yield Skipped(ParamError(place, message, "must be an object with a role and content"))
    transcript.session = None


def _message(message: Mapping[str, Any], transcript: Transcript, where: str) -> Iterator[Entry]:
    """Yield a message as an episode; nothing for the result of a tool, or for a message without text."""
    transcript.recognised = True
    session = str(transcript.session)
    number = transcript.counts[session]
    transcript.counts[session] += 1
    role, name, own = str(message["role"]), message.get("name"), message.get("id")
    text = clean_text("" if role in _RESULTS else message_text(message, where))
    if text.strip():
        own = own if isinstance(own, str) and own else f"{number}-{digest(role + text)}"
        spoken = Message(
            role, text, message_time(message, where), speaker=name if isinstance(name, str) else None
        )
        yield message_entry(spoken, f"chat:{session}:{own}", session, transcript.source, where)


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    present = (value[name] for name in names if isinstance(value.get(name), (str, int)))
    return next(present, None)


_SPEAKERS = {"user": "user", "assistant": "agent"}
_IDS = ("sessionId", "session_id", "uuid", "leafUuid", "messageId")
_INTERNAL = ("isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_INSERTED = re.compile(r"<(/?)(system-reminder|local-command-[a-z]+)>")


def is_session_line(value: Mapping[str, Any], *, within_session: bool) -> bool:
    """Tell whether a JSON object is a line of a session: it has a type and an id of its session.

    After other lines of a session, ``within_session``, the type suffices.
    """
    return isinstance(value.get("type"), str) and (within_session or any(name in value for name in _IDS))


def session_message(value: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """Return the arguments of ``remember`` for one line; None for a line without a message.

    Internal lines, tool results, thinking, and what the client wrote by itself are left out. A sub-agent (a side
    chain) has a session of its own, in which the "user" is the agent that called it.
    """
    if value["type"] == "summary":
        return _summary(value)
    if value["type"] not in _SPEAKERS or any(value.get(name) for name in _INTERNAL):
        return None
    message = value.get("message")
    if not isinstance(message, dict):
        raise ParamError(where, value, "must hold the message of a Claude Code session: role and content")
    if isinstance(parts := message.get("content"), list):
        message = {**message, "content": [part for part in parts if not _is_inserted_part(part)]}
    text = clean_text(_without_inserted(message_text(message, where)).strip())
    return None if is_inserted(text) else _episode(value, message, text, where)


def _is_inserted_part(part: Any) -> bool:
    text = part.get("text") if isinstance(part, dict) else part
    return isinstance(text, str) and is_inserted(text)


def _without_inserted(text: str) -> str:
    """Return a text without what the program inserted between tags; a tag never closed is part of the text."""
    marks = list(_INSERTED.finditer(text))
    last = {mark[2]: mark.start() for mark in marks if mark[1]}
    parts, at, opened = [], 0, ""
    for mark in marks:
        if not opened and not mark[1] and last.get(mark[2], -1) > mark.start():
            parts.append(text[at : mark.start()])
            opened = mark[2]
        elif opened == mark[2] and mark[1]:
            at, opened = mark.end(), ""
    return "".join([*parts, text[at:]])


def _summary(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the program's summary of a session, as a fact."""
    text = value.get("summary")
    if not isinstance(text, str) or not text.strip():
        return None
    leaf = value.get("leafUuid")
    return {
        "content": clean_text(text),
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
            name: clean_text(text) for name, text in metadata.items() if isinstance(text, str) and text
        },
        "trust": "agent" if speaker == "assistant" else _SPEAKERS[speaker],
    }


def _fits(path: Path) -> bool:
    """Tell whether a file is a transcript, or a folder holds one among its first files."""
    return (
        any(map(_is_transcript, islice(files(path, ENDINGS), LOOKED_AT)))
        if path.is_dir()
        else _is_transcript(path)
    )


def _is_transcript(path: Path) -> bool:
    transcript = Transcript(path, path.name)
    try:
        return any(isinstance(item, Entry) for item in islice(_read_transcript(transcript), 1))
    except ParamError:
        return False


FORMAT = Format(
    read,
    "messages with role and content, and sessions of Claude Code",
    _fits,
    partial(digest_of, endings=ENDINGS),
    endings=ENDINGS,
)
