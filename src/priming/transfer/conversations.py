"""Conversations as memories: what formats of chats share, from the message to the folder of exports.

A format reads its file as ``Conversation``s of ``Message``s; ``conversation_format`` makes an importer of that.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from priming.config.values import dataclass
from priming.errors import ParamError
from priming.text.quotation import one_line
from priming.transfer.importers import Entry, Format, Item, Skipped
from priming.transfer.reading import (
    DAMAGED,
    checked_entry,
    clean_text,
    digest,
    digest_of,
    files,
    label,
    skipping,
    time_of,
    title,
    unreadable,
)

_TIMES = ("timestamp", "created_at", "create_time", "created", "time")
_TRUST = {"user": "user", "human": "user", "assistant": "agent", "model": "agent", "ai": "agent"}
_ENCRYPTED = 1
LOOKED_AT = 20
"""The files of a folder that are looked at to recognise it."""


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said: ``role`` decides how far it is trusted, ``speaker`` is who, by default the role."""

    role: str
    text: str
    at: datetime | None = None
    own: str | None = None
    """Its id in the conversation; without one it is known by its place and text."""
    speaker: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that belong together, in order, by an id that stays; what cannot be read of them is ``Skipped``."""

    own: str
    messages: Iterable[Message | Skipped]
    title: str | None = None


def message_entry(message: Message, key: str, session: str, source: str, where: str) -> Entry:
    """Return a message as an episode of its session."""
    return checked_entry(
        {
            "content": clean_text(message.text),
            "key": label(key),
            "speaker": title(message.speaker or "") or title(message.role),
            "session": session,
            "occurred_at": message.at,
            "metadata": {**message.metadata, "role": message.role},
            "source": source,
            "trust": _TRUST.get(message.role, "tool"),
        },
        where,
    )


def conversation_format(
    name: str,
    shape: str,
    read_file: Callable[[Path], Iterator[Conversation | Skipped]],
    fits: Callable[[Path], bool],
    endings: tuple[str, ...] = (".json",),
) -> Format:
    """Return the format of files of conversations: each is a session, each message an episode.

    Of a folder, or of a zip file, the files are read that ``fits`` recognises by their content.
    """

    def read(path: Path) -> Iterator[Item]:
        below = _below(path, endings)
        chosen = [path] if below is None else [file for file in below if fits(file)]
        entries = 0
        for item in chain.from_iterable(map(items_of, chosen)):
            entries += isinstance(item, Entry)
            yield item
        if not entries and not any(map(fits, chosen)):
            rule = f"must hold {shape}" + (": no file below it does" if not chosen else "")
            raise ParamError("path", str(path), rule)

    def items_of(file: Path) -> Iterator[Item]:
        source = label(f"{name}:{Path(str(file)).absolute()}")
        for conversation in skipping(read_file(file)):
            if isinstance(conversation, Skipped):
                yield conversation
            else:
                yield from skipping(_entries(conversation, name, source, str(file)))

    def fits_path(path: Path) -> bool:
        below = _below(path, endings)
        return fits(path) if below is None else any(map(fits, islice(below, LOOKED_AT)))

    return Format(read, shape, fits_path, partial(digest_of, endings=endings), own_keys=True)


def _below(path: Path, endings: tuple[str, ...]) -> Iterable[Path] | None:
    """Return the files with one of the endings in a folder, or in a zip file, which opens them as a folder does."""
    if path.is_dir():
        return files(path, endings)
    if not zipfile.is_zipfile(path):
        return None
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGED as error:
        raise unreadable(path, error) from error
    names = sorted(each.filename for each in archive.infolist() if not each.flag_bits & _ENCRYPTED)
    return cast(
        "list[Path]",
        [zipfile.Path(archive, name) for name in names if name.lower().endswith(endings)],
    )


def _entries(conversation: Conversation, name: str, source: str, file: str) -> Iterator[Item]:
    session = label(f"{name}:{conversation.own}")
    about = {"title": conversation.title} if conversation.title else {}
    for number, message in enumerate(conversation.messages):
        if isinstance(message, Skipped):
            yield message
        elif message.text.strip():
            own = message.own or f"{number}-{digest(message.role + message.text)}"
            spoken = replace(message, metadata={**about, **message.metadata})
            where = f"{file}, conversation {conversation.own}, message {number}"
            yield from skipping(
                map(message_entry, [spoken], [f"{session}:{own}"], [session], [source], [where])
            )


def message_time(message: Mapping[str, Any], where: str) -> datetime | None:
    """Return the first time in a message: ISO 8601 with a zone, or seconds or milliseconds since 1970."""
    for name in _TIMES:
        value = message.get(name)
        if value is not None and not isinstance(value, bool):
            return time_of(value, f"{where}: {name}")
    return None


_ELEMENT = re.compile(r"<([a-z]+(?:[-_][a-z]+)+|[A-Z]+)(?: [^<>]*)?>")
_NOTICE = re.compile(r"\[[^\W\d_][\w #+:-]*\]")


def is_inserted(text: str) -> bool:
    """Tell whether a text is all a client's: elements whose names are compounds or capitals, or a notice in brackets.

    >>> is_inserted("<command-name>/clear</command-name> <command-args></command-args>")
    True
    >>> is_inserted("[Request interrupted by user]"), is_inserted("<b>Stop</b> [Request interrupted by user]")
    (True, False)
    """
    text, at = text.strip(), 0
    while (opening := _ELEMENT.match(text, at)) is not None:
        closing = re.compile(rf"</{opening[1]}>\s*")
        if (end := closing.search(text, opening.end())) is None:
            return False
        at = end.end()
    return at == len(text) or (at == 0 and _NOTICE.fullmatch(text) is not None)


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
    """Return the text parts of a message, joined; tool calls and images become a line each."""
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
    """Yield notes on the tool calls that are listed outside of the content."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield tool_note(function.get("name"), function.get("arguments"))


def tool_note(name: Any, arguments: Any) -> str:
    """Return a line about a tool call: ``ran Bash: git status``."""
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
