"""Chats of Gemini CLI, in ``~/.gemini/tmp``, and prompts of Google AI Studio.

- ``chats/session-*.json``: ``sessionId``, ``summary`` and ``messages`` with ``id``, ``timestamp``, ``type`` (user,
  gemini, or what the program shows), ``content`` (a text or parts) and ``toolCalls``. Later ``session-*.jsonl``: the
  same by line, where a message with an earlier id replaces it, ``$rewindTo`` takes back a message and those after it,
  and ``$set`` changes the fields of the session.
- ``logs.json``: a list of what was typed: ``sessionId``, ``messageId``, ``message``, ``timestamp``.
- ``checkpoint-*.json``: a list of ``role`` (user, model) and ``parts``, alone or as ``history``; it begins with what
  the program tells the model of the folder.
- AI Studio: ``chunkedPrompt`` with ``chunks`` of ``role`` and ``text``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format, tool_note
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, id_of, json_lines, list_of, part_of, time_of
from priming_formats.gemini_saved import ROLES, text_of, turn, without_context
from priming_formats.json_documents import document, first_item, read_each, sample, text_or_none


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read a session, a log of what was typed, a checkpoint, or a prompt."""
    head, first = fields_of(sample(path)), fields_of(first_item(path))
    is_by_line = "sessionId" in head and "messages" not in head
    value, damaged = _joined(path) if is_by_line else document(path)
    if isinstance(value, list) and "sessionId" in first:
        yield from _log(value, path)
    elif isinstance(value, dict) and "sessionId" in value:
        message = partial(_message, calling=value.get("kind") == "subagent")
        turns = read_each(value.get("messages"), str(path), message)
        yield Conversation(id_of(value, str(path), "sessionId"), turns, text_or_none(value.get("summary")))
    else:
        saved = value
        if isinstance(value, dict):
            chunks = list_of(part_of(value, "chunkedPrompt", str(path)), "chunks", str(path))
            saved = list_of(value, "history", str(path)) or chunks
        own = f"{path.parent.name}/{path.stem}"
        yield Conversation(own, read_each(without_context(saved), str(path), turn))
    yield from damaged


def _joined(path: Path) -> tuple[dict[str, Any], list[Skipped]]:
    """Return the session that lines make, and the lines that cannot be read."""
    session: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    skipped = []
    for where, line in json_lines(path):
        if not isinstance(line, dict):
            error = ParamError(where, line, "must be an object")
            skipped.append(line if isinstance(line, Skipped) else Skipped(error))
        elif "$rewindTo" in line:
            back = [*messages]
            start = back.index(line["$rewindTo"]) if line["$rewindTo"] in back else 0
            messages = {own: messages[own] for own in back[:start]}
        elif isinstance(line.get("id"), str):
            messages[line["id"]] = line
        else:
            session |= part_of(line, "$set", where) or line
    return {**session, "messages": session.get("messages") or [*messages.values()]}, skipped


def _log(items: list[Any], path: Path) -> Iterator[Conversation]:
    """Yield what was typed in the sessions of a folder that have no file of their own."""
    chats = path.parent / "chats"
    heads = map(sample, chats.iterdir() if chats.is_dir() else ())
    own_files = {str(fields_of(head).get("sessionId")) for head in heads}
    sessions: dict[Any, list[Any]] = {}
    for item in items:
        session = fields_of(item).get("sessionId")
        sessions.setdefault(session if isinstance(session, str) else "unnamed", []).append(item)
    for own, typed in sessions.items():
        if own not in own_files:
            yield Conversation(own, read_each(typed, f"{path}, session {own}", _typed))


def _typed(item: dict[str, Any], where: str) -> Iterator[Message]:
    text, at = item.get("message"), time_of(item.get("timestamp"), f"{where}: timestamp")
    if item.get("type") == "user" and isinstance(text, str) and not text.startswith("/"):
        yield Message("user", text, at, f"typed-{item.get('messageId')}")


def _message(item: dict[str, Any], where: str, *, calling: bool) -> Iterator[Message]:
    """Yield a message of a session; of a sub-agent, the user is the agent that ``calling`` is true for."""
    if (role := ROLES.get(str(item.get("type")))) is not None:
        calls = [each for each in list_of(item, "toolCalls", where) if isinstance(each, dict)]
        notes = [tool_note(call.get("name"), call.get("args")) for call in calls]
        text = "\n".join(
            filter(None, [text_of(item.get("displayContent") or item.get("content"), where), *notes])
        )
        at = time_of(item.get("timestamp"), f"{where}: timestamp")
        yield Message("assistant" if calling else role, text, at, id_of(item, where))


def _fits(path: Path) -> bool:
    value = sample(path)
    saved = value.get("history") if isinstance(value, dict) else value
    keys = fields_of(saved[0] if isinstance(saved, list) and saved else None).keys()
    if {"sessionId", "messageId"} <= keys or {"role", "parts"} <= keys:
        return True
    return {"sessionId", "projectHash"} <= fields_of(value).keys() or "chunkedPrompt" in fields_of(value)


FORMAT = conversation_format(
    "gemini", "chats of Gemini CLI and prompts of Google AI Studio", read, _fits, (".json", ".jsonl")
)
