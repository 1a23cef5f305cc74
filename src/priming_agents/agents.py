"""What agents and their hooks say to each other: an ``Event`` from the JSON of each, and output that it accepts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from priming.config.values import dataclass
from priming.errors import ParamError
from priming_agents.calls import INPUT

EVENTS = ("session-start", "prompt", "pre-tool", "post-tool", "stop", "session-end")
AGENTS = ("claude-code", "cursor", "codex", "gemini", "opencode")

_SESSION_KEYS = ("session_id", "conversation_id", "sessionID")
_FILE_KEYS = ("file_path", "notebook_path", "filePath", "path", "target_file")
_COMMAND_KEYS = ("command", "cmd", "script")
_OUTPUT_KEYS = ("tool_response", "tool_output", "result_json", "error", "output")
_PATCHED_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_CHANGES = ("content", "new_string", "new_str", "edits", "new_source", "newString", "contents", "code_edit")
"""The keys of what a tool writes into a file."""
_ANSWER_KEYS = ("last_assistant_message", "prompt_response", "response")
_SHELLS = ("sh", "bash", "zsh", "fish")
_INJECTED = re.compile(r"<(hook_context|priming-rules)>.*?</\1>", re.DOTALL)
"""What hooks or a prompt of MCP injected, as Gemini CLI puts it into a prompt that it reports: nobody's words."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of an agent's session, whichever agent reports it.

    ``context_cleared`` is true where the agent's context no longer holds what hooks injected before. ``output`` is
    the tool's; ``committed`` is true where the agent itself reports that a commit was made.
    """

    session: str
    folder: str | None = None
    prompt: str = ""
    tool: str | None = None
    files: tuple[str, ...] = ()
    command: str = ""
    output: str = ""
    committed: bool = False
    context_cleared: bool = True
    changed: tuple[str, ...] = ()
    """The files that a tool writes, not those that it reads."""
    answer: str = ""
    transcript: str | None = None


def standard_input() -> bytes:
    """Return what the agent writes to the hook."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ParamError("stdin", None, "must be the JSON that an agent sends to its hooks")
    return sys.stdin.buffer.read(INPUT + 1)


def parse(data: bytes) -> Mapping[str, Any]:
    """Return the JSON object that an agent sends."""
    if len(data) > INPUT:
        raise ParamError("stdin", f"more than {INPUT:,} bytes", "must be shorter")
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        raise ParamError("stdin", f"{len(data):,} bytes", "must be one JSON object") from None
    if not isinstance(payload, dict):
        raise ParamError("stdin", type(payload).__name__, "must be one JSON object")
    return payload


def write(text: str) -> None:
    """Write a line at once, if there is any; an agent that no longer reads is not an error."""
    if text:
        with suppress(OSError):
            os.write(1, f"{text}\n".encode())


def report(line: str) -> None:
    """Write a line to standard error, if there is any."""
    if line:
        with suppress(OSError, AttributeError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def agent_of(payload: Mapping[str, Any]) -> str:
    """Return the agent that sent a payload, by the keys that only that agent uses.

    >>> agent_of({"conversation_id": "c", "workspace_roots": []}), agent_of({"session_id": "s"})
    ('cursor', 'claude-code')
    """
    if "conversation_id" in payload or "cursor_version" in payload:
        return "cursor"
    if "sessionID" in payload:
        return "opencode"
    if "hook_event_name" in payload and "timestamp" in payload:
        return "gemini"
    return "codex" if "turn_id" in payload else "claude-code"


def parse_event(payload: Mapping[str, Any]) -> Event:
    """Return the event of an agent's payload; ``ParamError`` if the payload names no session."""
    session = _first_text(payload, _SESSION_KEYS)
    if not session:
        raise ParamError("session_id", None, "is required: the input is not that of a supported agent's hook")
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    tool_input = _tool_input(payload.get("tool_input"))
    return Event(
        session=session,
        folder=_first_text(payload, ("cwd", "directory")) or root,
        prompt=_INJECTED.sub("", _first_text(payload, ("prompt",)) or "").strip(),
        tool=_first_text(payload, ("tool_name",)),
        files=_files(tool_input) or _files(payload),
        command=_command(tool_input) or _command(payload),
        output=next((plain_text(payload[key]) for key in _OUTPUT_KEYS if payload.get(key)), ""),
        committed=_reports_commit(payload.get("tool_response")),
        context_cleared=payload.get("source") != "resume",
        changed=changed_files(payload.get("tool_input")),
        answer=_first_text(payload, _ANSWER_KEYS) or "",
        transcript=_first_text(payload, ("transcript_path",)),
    )


def format_output(agent: str, event: str, text: str) -> dict[str, Any]:
    """Return a text as the JSON object that an agent accepts on standard output at an event."""
    if agent == "opencode":  # as the plugin reads it that ``priming setup opencode`` installs
        return {"context": text}
    if agent == "cursor":
        context = {"additional_context": text}
        return {"continue": True, **context} if event == "prompt" else context
    return {"hookSpecificOutput": {"hookEventName": _events(agent)[event], "additionalContext": text}}


def accepts_text(agent: str, event: str) -> bool:
    """Tell whether an agent keeps what is injected at an event: at the end of a turn it would be the answer."""
    return event in _events(agent)


_CLAUDE_EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "pre-tool": "PreToolUse"}
"""The names of Claude Code, which Codex shares."""
_GEMINI_EVENTS = {"prompt": "BeforeAgent", "pre-tool": "AfterTool"}
"""What Gemini CLI is told when a session starts it puts before the first prompt, and forgets both when it resumes."""


def _events(agent: str) -> Mapping[str, str]:
    """Return the events at which an agent takes a text, by its own names."""
    return _GEMINI_EVENTS if agent == "gemini" else _CLAUDE_EVENTS


def _first_text(values: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return the first value of some keys that is a text and not empty."""
    texts = (_whole(values[key]) for key in keys if isinstance(values.get(key), str))
    return next(filter(None, texts), None)


def _whole(text: str) -> str:
    """Return a text without halves of characters, which clients that cut texts leave, or the NUL character."""
    return text.encode("utf-8", "ignore").decode().replace("\0", "")


def _tool_input(value: Any) -> Mapping[str, Any]:
    """Return the input of a tool: an object, or its JSON; any other text is a command or a patch."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"command": value}
    return value if isinstance(value, dict) else {}


def _files(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the file that a tool's input names, or the files of its patch."""
    file = _first_text(values, _FILE_KEYS)
    if file:
        return (file,)
    patch = _first_text(values, ("patch", "patchText", "input", "command")) or ""
    return tuple(dict.fromkeys(name.strip() for name in _PATCHED_FILE.findall(patch)))


def changed_files(value: Any) -> tuple[str, ...]:
    """Return the files into which a tool writes, by its input.

    >>> changed_files({"file_path": "a.py", "content": "x"}), changed_files({"file_path": "a.py"})
    (('a.py',), ())
    """
    values = _tool_input(value)
    file = _first_text(values, _FILE_KEYS)
    return _files(values) if not file or any(name in values for name in _CHANGES) else ()


def _command(values: Mapping[str, Any]) -> str:
    """Return the command line that a shell is to run."""
    for key in _COMMAND_KEYS:
        value = values.get(key)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            is_shell = len(value) == 3 and value[0].rsplit("/", 1)[-1] in _SHELLS
            value = value[2] if is_shell else " ".join(value)
        if isinstance(value, str) and value and not _PATCHED_FILE.search(value):
            return _whole(value)
    return ""


def _reports_commit(response: Any) -> bool:
    """Tell whether a tool's response reports a commit in Claude Code's form, ``{"gitOperation": {"commit": …}}``."""
    operation = response.get("gitOperation") if isinstance(response, dict) else None
    commit = operation.get("commit") if isinstance(operation, dict) else None
    return isinstance(commit, dict) and bool(commit.get("sha"))


def plain_text(value: Any) -> str:
    """Return the texts of a tool's output, in one."""
    if isinstance(value, dict):
        return "\n".join(map(plain_text, value.values()))
    if isinstance(value, list):
        return "\n".join(map(plain_text, value))
    return _whole(value) if isinstance(value, str) else ""
