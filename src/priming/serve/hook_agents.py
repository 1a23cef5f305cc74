"""What each agent says to a hook, and what it wants to hear: their JSON, and one value for all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priming.errors import ParamError

EVENTS = ("session-start", "prompt", "pre-tool", "post-tool", "stop")
AGENTS = ("claude-code", "cursor", "codex", "opencode")

_SESSION = ("session_id", "conversation_id", "sessionID")
_FILES = ("file_path", "notebook_path", "filePath", "path", "target_file")
_COMMANDS = ("command", "cmd", "script")
_ANSWERS = ("tool_response", "tool_output", "result_json", "error", "output")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_SHELLS = ("sh", "bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Event:
    """What an agent says has happened, or is about to.

    ``emptied`` says that its context holds nothing of what was shown before; ``continued`` that it goes on because a
    hook asked it to, or was interrupted. ``answer`` is what a tool answered, as text.
    """

    session: str
    folder: str | None = None
    prompt: str = ""
    tool: str | None = None
    files: tuple[str, ...] = ()
    command: str = ""
    answer: str = ""
    emptied: bool = True
    continued: bool = False


def agent_of(said: Mapping[str, Any]) -> str:
    """Whose JSON this is, by the names that only that agent uses.

    >>> agent_of({"conversation_id": "c", "workspace_roots": []}), agent_of({"session_id": "s"})
    ('cursor', 'claude-code')
    """
    if "conversation_id" in said or "cursor_version" in said:
        return "cursor"
    if "sessionID" in said:
        return "opencode"
    return "codex" if "turn_id" in said else "claude-code"


def read(said: Mapping[str, Any]) -> Event:
    """The event that an agent's JSON tells of; ``ParamError`` if it does not say of which session."""
    session = _text(said, _SESSION)
    if not session:
        raise ParamError(
            "session_id", None, "must be given: the hook was not called by an agent that is known"
        )
    roots = said.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    asked = _object(said.get("tool_input"))
    return Event(
        session=session,
        folder=_text(said, ("cwd", "directory")) or first,
        prompt=_text(said, ("prompt",)) or "",
        tool=_text(said, ("tool_name",)),
        files=_files(asked) or _files(said),
        command=_command(asked) or _command(said),
        answer=next((_plain(said[name]) for name in _ANSWERS if said.get(name)), ""),
        emptied=said.get("source") != "resume",
        continued=bool(said.get("stop_hook_active") or said.get("loop_count"))
        or said.get("status") in ("aborted", "error"),
    )


def answered(agent: str, event: str, text: str) -> dict[str, Any]:
    """How an agent is told a text at an event, as the object that it expects on standard output."""
    return _ANSWERED[agent](event, text)


def carries(agent: str, event: str) -> bool:
    """Whether an agent takes a text at an event at all."""
    return event != "post-tool" and (agent, event) != ("opencode", "stop")


_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "pre-tool": "PreToolUse"}


def _as_claude(event: str, text: str) -> dict[str, Any]:
    """Claude Code's form, which is Codex's too."""
    if event == "stop":
        return {"decision": "block", "reason": text}
    return {"hookSpecificOutput": {"hookEventName": _NAMES[event], "additionalContext": text}}


def _as_cursor(event: str, text: str) -> dict[str, Any]:
    if event == "stop":
        return {"followup_message": text}
    return (
        {"continue": True, "additional_context": text} if event == "prompt" else {"additional_context": text}
    )


def _as_opencode(_event: str, text: str) -> dict[str, Any]:
    """What the plugin that ``priming setup opencode`` installs reads."""
    return {"context": text}


_ANSWERED: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "claude-code": _as_claude,
    "cursor": _as_cursor,
    "codex": _as_claude,
    "opencode": _as_opencode,
}


def _text(said: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of some members that is a text and not empty."""
    return next((said[name] for name in names if isinstance(said.get(name), str) and said[name]), None)


def _object(value: Any) -> Mapping[str, Any]:
    """What a tool is asked: an object, or the text of one; a bare text is a command or a patch."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"command": value}
    return value if isinstance(value, dict) else {}


def _files(asked: Mapping[str, Any]) -> tuple[str, ...]:
    named = _text(asked, _FILES)
    if named:
        return (named,)
    patch = _text(asked, ("patch", "input", "command")) or ""
    return tuple(dict.fromkeys(one.strip() for one in _PATCHED.findall(patch)))


def _command(asked: Mapping[str, Any]) -> str:
    """The command line that a shell is asked to run."""
    for name in _COMMANDS:
        value = asked.get(name)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            inner = len(value) == 3 and value[0].rsplit("/", 1)[-1] in _SHELLS
            value = value[2] if inner else " ".join(value)
        if isinstance(value, str) and value and not _PATCHED.search(value):
            return value
    return ""


def _plain(value: Any) -> str:
    """What a tool answered, as one text."""
    if isinstance(value, dict):
        return "\n".join(_plain(one) for one in value.values())
    if isinstance(value, list):
        return "\n".join(_plain(one) for one in value)
    return value if isinstance(value, str) else ""
