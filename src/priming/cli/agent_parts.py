"""What Priming puts into an agent's configuration, part by part: each can be put in, found again, and taken out."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePath
from typing import Any

from priming.cli import json_text
from priming.errors import Conflict

NAME = "priming"
"""What Priming is called in the files of others."""
_TIMEOUT = 10
_TEXT = re.compile(r'("(?:[^"\\\n]|\\.)*")(\s*:)?')
_HOOKS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "claude-code": (
        ("SessionStart", "session-start", ""),
        ("UserPromptSubmit", "prompt", ""),
        ("PreToolUse", "pre-tool", "Bash|Edit|MultiEdit|Write|NotebookEdit"),
        ("PostToolUse", "post-tool", "Bash"),
        ("Stop", "stop", ""),
    ),
    "codex": (
        ("SessionStart", "session-start", ""),
        ("UserPromptSubmit", "prompt", ""),
        ("PreToolUse", "pre-tool", "Bash|apply_patch|Edit|Write"),
        ("PostToolUse", "post-tool", "Bash"),
        ("Stop", "stop", ""),
    ),
    "cursor": (
        ("sessionStart", "session-start", ""),
        ("beforeSubmitPrompt", "prompt", ""),
        ("preToolUse", "pre-tool", "Shell|Write|Edit|StrReplace"),
        ("postToolUse", "post-tool", "Shell"),
        ("stop", "stop", ""),
    ),
}
"""Each agent's own name of an event, ours, and for which tools it is wanted."""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file, what it becomes; None where there is no file."""

    path: Path
    before: str | None
    after: str | None


Edit = Callable[[Path, str], str]
"""From a text to a text; ``Conflict`` where what is there cannot be changed without harm."""


def servers(place: Sequence[str], entry: Mapping[str, Any]) -> Edit:
    """Put in the MCP server, in JSON, under the names of ``place``."""

    def edit(path: Path, text: str) -> str:
        found = _found(path, text, (*place, NAME))
        if found is not None and found.value == entry:
            return text
        if found is not None:
            if not _is_server(found.value):
                raise _taken(path)
            text = json_text.remove(text, (*place, NAME))
        _must_be(path, text, place, dict)
        return json_text.put(text, (*place, NAME), entry)

    return edit


def without_servers(place: Sequence[str]) -> Edit:
    """Take the MCP server out again."""

    def edit(path: Path, text: str) -> str:
        found = _found(path, text, (*place, NAME))
        return (
            json_text.remove(text, (*place, NAME)) if found is not None and _is_server(found.value) else text
        )

    return edit


def hooks(agent: str, command: Sequence[str]) -> Edit:
    """Put in the hooks, in JSON, after those that are there."""

    def edit(path: Path, text: str) -> str:
        wanted = dict(_wanted(agent, command))
        root = _parsed(path, text)
        ours = [(event, item.value) for event, _, item, _ in _ours(root)]
        if ours == list(wanted.items()):
            return text
        text = _without_hooks(path, text)
        _must_be(path, text, ("hooks",), dict)
        if agent == "cursor" and json_text.find(_parsed(path, text), ("version",)) is None:
            text = json_text.put(text, ("version",), 1)
        for event, entry in wanted.items():
            _must_be(path, text, ("hooks", event), list)
            text = json_text.append(text, ("hooks", event), entry)
        return text

    return edit


def without_hooks() -> Edit:
    """Take the hooks out again, and nothing else."""
    return _without_hooks


def toml_server(command: Sequence[str]) -> Edit:
    """Put in the MCP server of Codex, in TOML, at the end."""

    def edit(path: Path, text: str) -> str:
        table = _toml(path, text).get("mcp_servers", {})
        entry = {"command": command[0], "args": list(command[1:])}
        if isinstance(table, dict) and table.get(NAME) == entry:
            return text
        if isinstance(table, dict) and NAME in table:
            if not _is_server(table[NAME]):
                raise _taken(path)
            text = _without_toml(path, text)
        lines = [f"[mcp_servers.{NAME}]", *(f"{name} = {_quoted(value)}" for name, value in entry.items())]
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        changed = f"{text}{gap}" + "\n".join(lines) + "\n"
        try:
            whole = tomllib.loads(changed)["mcp_servers"][NAME] == entry
        except (tomllib.TOMLDecodeError, KeyError, TypeError):
            whole = False
        if not whole:
            raise Conflict(
                f"{path} has mcp_servers in a form that cannot be added to: write there {', '.join(lines)}"
            )
        return changed

    return edit


def without_toml_server() -> Edit:
    """Take the MCP server of Codex out again."""
    return _without_toml


def plugin(command: Sequence[str]) -> Edit:
    """The plugin of opencode, which is a file of our own."""

    def edit(path: Path, text: str) -> str:
        if text.strip() and _MARK not in text:
            raise Conflict(f"{path} is not of Priming: move it, or name it otherwise")
        return _plugin().replace('["priming"]', _quoted(list(command)), 1)

    return edit


def without_plugin() -> Edit:
    """No plugin: the file goes, if it is ours."""
    return lambda _path, text: "" if _MARK in text else text


def _plugin() -> str:
    return resources.files("priming.cli").joinpath("templates", "opencode.js").read_text("utf-8")


_MARK = "priming setup opencode"


def _wanted(agent: str, command: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The entry of each hook, by the agent's own name of its event."""
    for event, ours, tools in _HOOKS[agent]:
        line = shlex.join([*command, "hook", ours, "--agent", agent])
        matcher = {"matcher": tools} if tools else {}
        if agent == "cursor":
            yield event, {"command": line, "timeout": _TIMEOUT, **matcher}
        else:
            yield event, {**matcher, "hooks": [{"type": "command", "command": line, "timeout": _TIMEOUT}]}


def _ours(root: json_text.Node) -> Iterator[tuple[str, int, json_text.Node, list[int]]]:
    """Entries that run a hook of ours: event, place in its list, and which are ours of a group with others'."""
    found = json_text.find(root, ("hooks",))
    for event in found.parts if found is not None and isinstance(found.value, dict) else ():
        for at, item in enumerate(event.node.parts):
            if not isinstance(item.node.value, dict):
                continue
            inner = json_text.find(item.node, ("hooks",))
            inside = [n for n, one in enumerate(inner.parts) if _is_hook(one.node.value)] if inner else []
            whole = _is_hook(item.node.value) or (inner is not None and len(inside) == len(inner.parts) > 0)
            if whole or inside:
                yield str(event.key), at, item.node, [] if whole else inside


def _without_hooks(path: Path, text: str) -> str:
    for event, at, _, inside in reversed(list(_ours(_parsed(path, text)))):
        for one in reversed(inside):
            text = json_text.remove(text, ("hooks", event, at, "hooks", one))
        if not inside:
            text = json_text.remove(text, ("hooks", event, at))
    return text


def _without_toml(path: Path, text: str) -> str:
    table = _toml(path, text).get("mcp_servers", {})
    if not isinstance(table, dict) or not _is_server(table.get(NAME)):
        return text
    lines = text.splitlines(keepends=True)
    heads = [n for n, line in enumerate(lines) if line.strip() == f"[mcp_servers.{NAME}]"]
    if not heads:
        raise Conflict(f"{path} has mcp_servers.{NAME} in a form of its own: take it out there")
    start = heads[0]
    end = next((n for n in range(start + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    while end > start + 1 and end < len(lines) and not lines[end - 1].strip():
        end -= 1
    before = "".join(lines[:start])
    if end == len(lines) and before.endswith("\n\n"):
        before = before[:-1]
    return before + "".join(lines[end:])


def _is_server(entry: Any) -> bool:
    """Whether an entry runs the MCP server of ours."""
    if not isinstance(entry, dict):
        return False
    command, more = entry.get("command"), entry.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(more if isinstance(more, list) else []),
    ]
    return _runs(words, "mcp")


def _is_hook(entry: Any) -> bool:
    """Whether an entry runs a hook of ours."""
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        return False
    try:
        return _runs(shlex.split(entry["command"]), "hook")
    except ValueError:
        return False


def programs(text: str) -> Iterator[str]:
    """The programs of ours that a file names, whatever its form: they are the first words of texts in quotes."""
    for found in _TEXT.finditer(text):
        try:
            words = [] if found[2] else shlex.split(json.loads(found[1]))
        except ValueError:
            continue
        if words and _is_ours(words[0]):
            yield words[0]


def _is_ours(program: str) -> bool:
    return PurePath(program.replace("\\", "/")).name.removesuffix(".exe") == NAME


def _runs(words: Sequence[Any], verb: str) -> bool:
    return len(words) > 1 and isinstance(words[0], str) and _is_ours(words[0]) and words[1] == verb


def _parsed(path: Path, text: str) -> json_text.Node:
    try:
        root = json_text.parse(text)
    except json_text.Unreadable as error:
        raise Conflict(f"{path} is no JSON, {error}: mend it and try again; nothing was written") from None
    if not isinstance(root.value, dict):
        raise Conflict(f"{path} holds no object: mend it and try again; nothing was written")
    return root


def _found(path: Path, text: str, place: Sequence[str]) -> json_text.Node | None:
    return json_text.find(_parsed(path, text), place)


def _must_be(path: Path, text: str, place: Sequence[str], kind: type) -> None:
    """``Conflict`` where something of another kind stands on the way to a place."""
    root = _parsed(path, text)
    for n in range(1, len(place) + 1):
        found = json_text.find(root, place[:n])
        wanted = kind if n == len(place) else dict
        if found is not None and not isinstance(found.value, wanted):
            raise Conflict(
                f"{path}: {'.'.join(place[:n])} is of another kind than it should be: mend it and try again"
            )


def _taken(path: Path) -> Conflict:
    return Conflict(f"{path} has a server {NAME!r} that runs something else: rename it there, and try again")


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Conflict(f"{path} is no TOML: {error}: mend it and try again; nothing was written") from None


def _quoted(value: str | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
