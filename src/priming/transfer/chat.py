"""Chat transcripts: the role/content JSON that chat APIs use, and the session files of Claude Code."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.errors import ParamError
from priming.transfer.importers import Entry, Item
from priming.transfer.reading import (
    checked_entry,
    clean_text,
    digest,
    files,
    iso_time,
    label,
    lines,
    name_below,
    one_line,
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
    path = transcript.path
    head = list(islice(lines(path, STORE.file_bytes), 2))
    if not head:
        return
    if _is_json(head[0][1]):
        for number, line in lines(path, STORE.file_bytes):
            where = f"{path}, line {number}"
            yield from _value(parse_json(line, where), transcript, where)
    else:
        yield from _value(_read_value(path, head), transcript, str(path))


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


def _value(value: Any, transcript: Transcript, where: str) -> Iterator[Entry]:
    """The entries of any value in a transcript: a message, a conversation, or a list of either."""
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


def _list(values: list[Any], transcript: Transcript, where: str) -> Iterator[Entry]:
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


def _conversation(messages: list[Any], name: Any, transcript: Transcript, where: str) -> Iterator[Entry]:
    transcript.begin(name)
    for number, message in enumerate(messages):
        place = f"{where}, message {number}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ParamError(place, message, "must be an object with a role and content")
        yield from _message(message, transcript, place)
    transcript.session = None


def _message(message: Mapping[str, Any], transcript: Transcript, where: str) -> Iterator[Entry]:
    """A message as an episode; nothing for the result of a tool, or for a message without text."""
    transcript.recognised = True
    session = str(transcript.session)
    number = transcript.counts[session]
    transcript.counts[session] += 1
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
            "source": transcript.source,
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


_SPEAKERS = {"user": "user", "assistant": "agent"}
_IDS = ("sessionId", "session_id", "uuid", "leafUuid", "messageId")
_INTERNAL = ("isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_INSERTED = re.compile(r"<(/?)(system-reminder|local-command-[a-z]+)>")


def is_session_line(value: Mapping[str, Any], *, within_session: bool) -> bool:
    """Whether a JSON object is a line of a session: it has a type and an id of its session.

    After other lines of a session, ``within_session``, the type suffices.
    """
    return isinstance(value.get("type"), str) and (within_session or any(name in value for name in _IDS))


def session_message(value: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """The arguments of ``remember`` for one line; None for a line without a message.

    Internal lines, tool results and thinking are left out. A sub-agent (a side chain) has a session of its own,
    in which the "user" is the agent that called it.
    """
    if value["type"] == "summary":
        return _summary(value)
    if value["type"] not in _SPEAKERS or any(value.get(name) for name in _INTERNAL):
        return None
    message = value.get("message")
    if not isinstance(message, dict):
        raise ParamError(where, value, "must hold the message of a Claude Code session: role and content")
    text = clean_text(_without_inserted(message_text(message, where)).strip())
    return _episode(value, message, text, where) if text else None


def _without_inserted(text: str) -> str:
    """A text without what the program inserted between tags; a tag that is never closed is part of the text."""
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
    """The program's summary of a session, as a fact."""
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


_NOTE_LETTERS = 160
_TEXTS = ("text", "input_text", "output_text")
_CALLS = ("tool_use", "server_tool_use", "function_call", "tool_call")
_SKIPPED = ("thinking", "redacted_thinking", "reasoning", "tool_result", "function_call_output")
_DETAILS = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
)


def message_text(message: Mapping[str, Any], where: str) -> str:
    """The text parts of a message, joined; tool calls and images become a line each."""
    return "\n".join([*_parts(message.get("content"), where), *_calls(message)])


def _parts(content: Any, where: str) -> Iterator[str]:
    if content is None:
        return
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _part(part, where)
    else:
        raise ParamError(f"{where}: content", content, "must be a text or a list of parts")


def _part(part: Any, where: str) -> Iterator[str]:
    if isinstance(part, str):
        yield part
        return
    if not isinstance(part, dict):
        raise ParamError(f"{where}: content", part, "must hold texts and objects with a type")
    kind = part.get("type", "text")
    if kind in _SKIPPED:
        return
    if kind in _CALLS:
        yield tool_note(part.get("name"), part.get("input", part.get("arguments")))
    elif kind in _TEXTS or isinstance(part.get("text"), str):
        if isinstance(part.get("text"), str):
            yield part["text"]
    else:
        yield one_line(f"({str(kind).removeprefix('input_').removesuffix('_url')})", _NOTE_LETTERS)


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """Notes on the tool calls that are listed outside of the content."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield tool_note(function.get("name"), function.get("arguments"))


def tool_note(name: Any, arguments: Any) -> str:
    """A line about a tool call: ``ran Bash: git status``."""
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    if isinstance(arguments, dict):
        texts = {key: value for key, value in arguments.items() if isinstance(value, str) and value.strip()}
        arguments = next(
            (texts[key] for key in _DETAILS if key in texts), next(iter(texts.values()), arguments)
        )
    details = (
        arguments
        if isinstance(arguments, str)
        else json.dumps(arguments, ensure_ascii=False)
        if arguments
        else ""
    )
    return one_line(f"ran {name or 'a tool'}" + (f": {details}" if details else ""), _NOTE_LETTERS)
