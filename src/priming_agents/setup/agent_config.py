"""Priming's entries in an agent's configuration: how each is added, recognised, and removed again.

Our entries are recognised by their command, and no marks are left in others' files. Of TOML only one table at
the end of a file is written, after ``tomllib`` has read the whole as intended.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from priming.errors import Conflict
from priming_agents.agents import EVENTS
from priming_agents.setup import jsonc
from priming_agents.setup.jsonc import JsonNode

NAME = "priming"
"""The name of Priming's entries, and of its program."""
MODULE = "priming.cli.start"
"""The module that does the work of the program, for an interpreter beside which there is no program."""
_TIMEOUT = 10
"""Seconds that an agent waits for a hook; Gemini CLI wants milliseconds."""
_BEGINS = re.compile(r"""(?:"command":|command =|\[)\s*\Z""")
"""What stands before the program of a command."""
_STRING = re.compile(r'("(?:[^"\\\n]|\\.)*"?)(\s*:)?')


def _hooks(names: str, before: str, after: str) -> tuple[tuple[str, str, str], ...]:
    """Return an agent's names of events, in our order, with the tools that those before and after a tool are for."""
    tools = {"pre-tool": before, "post-tool": after}
    return tuple(
        (name, event, tools.get(event, "")) for name, event in zip(names.split(), EVENTS, strict=False)
    )


_HOOKS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "claude-code": _hooks(
        "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SessionEnd",
        "Bash|Edit|MultiEdit|Write|NotebookEdit",
        "Bash",
    ),
    "codex": _hooks(
        "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop", "Bash|apply_patch|Edit|Write", "Bash"
    ),
    "cursor": _hooks(
        "sessionStart beforeSubmitPrompt preToolUse postToolUse stop sessionEnd",
        "Shell|Write|Edit|StrReplace",
        "Shell",
    ),
    "gemini": (
        *_hooks(
            "SessionStart BeforeAgent AfterTool AfterTool AfterAgent",
            "read_file|write_file|replace|run_shell_command",
            "run_shell_command",
        ),
        ("PreCompress", "session-start", "manual"),
        ("SessionEnd", "session-end", ""),
    ),
}
"""By agent: its name of an event, our name of it, and the tools, or the cause, that the hook is for.

Gemini CLI takes no text before a tool: the rules for a file come with the result of the tool that reads it. At each
turn it says that it may compress its context, and only at a user's command that it does.
"""

Edit = Callable[[Path, str], str]
"""From the text of a file to its new text; ``Conflict`` where the text cannot be changed without harm."""


def add_server(keys: Sequence[str], entry: Mapping[str, Any]) -> Edit:
    """Add the MCP server to JSON, below ``keys``."""
    path_of_entry = (*keys, NAME)

    def edit(path: Path, text: str) -> str:
        node = jsonc.find(_parse(path, text), path_of_entry)
        if node is not None and node.value == entry:
            return text
        if node is not None:
            if not _is_server(node.value):
                raise _name_taken(path)
            text = jsonc.remove(text, path_of_entry)
        _require_type(path, text, keys, dict)
        return jsonc.put(text, path_of_entry, entry)

    return edit


def remove_server(keys: Sequence[str]) -> Edit:
    """Remove the MCP server from JSON."""
    path_of_entry = (*keys, NAME)

    def edit(path: Path, text: str) -> str:
        node = jsonc.find(_parse(path, text), path_of_entry)
        return text if node is None or not _is_server(node.value) else jsonc.remove(text, path_of_entry)

    return edit


def add_hooks(agent: str, command: Sequence[str]) -> Edit:
    """Add the hooks to JSON, after the hooks of others."""
    entries = hook_entries(agent, command)

    def edit(path: Path, text: str) -> str:
        present = [(event, node.value) for event, _, node, _ in _own_hooks(_parse(path, text))]
        if present == entries:
            return text
        text = remove_hooks(path, text)
        _require_type(path, text, ("hooks",), dict)
        if agent == "cursor" and jsonc.find(_parse(path, text), ("version",)) is None:
            text = jsonc.put(text, ("version",), 1)
        for event, entry in entries:
            _require_type(path, text, ("hooks", event), list)
            text = jsonc.append(text, ("hooks", event), entry)
        return text

    return edit


def remove_hooks(path: Path, text: str) -> str:
    """Remove the hooks from JSON, and nothing else."""
    for event, index, _, inner in reversed(list(_own_hooks(_parse(path, text)))):
        for inner_index in reversed(inner):
            text = jsonc.remove(text, ("hooks", event, index, "hooks", inner_index))
        if not inner:
            text = jsonc.remove(text, ("hooks", event, index))
    return text


def hook_entries(agent: str, command: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the entry of each hook, after the agent's own name of its event."""
    entries: list[tuple[str, Any]] = []
    for event, name, tools in _HOOKS[agent]:
        line = shlex.join([*command, "hook", name, "--agent", agent])
        matcher = {"matcher": tools} if tools else {}
        if agent == "cursor":
            entries.append((event, {"command": line, "timeout": _TIMEOUT, **matcher}))
            continue
        hook: dict[str, Any] = {"type": "command", "command": line, "timeout": _TIMEOUT}
        if agent == "gemini":
            hook = {"name": NAME, **hook, "timeout": _TIMEOUT * 1000}
        entries.append((event, {**matcher, "hooks": [hook]}))
    return entries


def add_toml_server(command: Sequence[str]) -> Edit:
    """Add the MCP server to Codex's TOML, as the last table."""

    def edit(path: Path, text: str) -> str:
        table = _parse_toml(path, text).get("mcp_servers", {})
        entry = {"command": command[0], "args": list(command[1:])}
        if isinstance(table, dict) and table.get(NAME) == entry:
            return text
        if isinstance(table, dict) and NAME in table:
            if not _is_server(table[NAME]):
                raise _name_taken(path)
            text = remove_toml_server(path, text)
        lines = [f"[mcp_servers.{NAME}]", *(f"{key} = {_quoted(value)}" for key, value in entry.items())]
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        changed = f"{text}{gap}" + "\n".join(lines) + "\n"
        if not _has_toml_server(changed, entry):
            raise Conflict(
                f"{path} has mcp_servers in a form that cannot be added to: add there {', '.join(lines)}"
            )
        return changed

    return edit


def remove_toml_server(path: Path, text: str) -> str:
    """Remove the MCP server from Codex's TOML: its table, and the empty line before it."""
    table = _parse_toml(path, text).get("mcp_servers", {})
    if not isinstance(table, dict) or not _is_server(table.get(NAME)):
        return text
    lines = text.splitlines(keepends=True)
    start = next((n for n, line in enumerate(lines) if line.strip() == f"[mcp_servers.{NAME}]"), None)
    if start is None:
        raise Conflict(f"{path} has mcp_servers.{NAME} in another form: remove it there")
    end = next((n for n in range(start + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    while end > start + 1 and end < len(lines) and not lines[end - 1].strip():
        end -= 1
    before = "".join(lines[:start])
    if end == len(lines) and before.endswith("\n\n"):
        before = before[:-1]
    return before + "".join(lines[end:])


def in_turn(first: Edit, second: Edit) -> Edit:
    """Join two edits of the same file."""
    return lambda path, text: second(path, first(path, text))


def add_plugin(command: Sequence[str]) -> Edit:
    """Return the plugin of opencode, in a file of our own."""

    def edit(path: Path, text: str) -> str:
        if text.strip() and _PLUGIN_MARK not in text:
            raise Conflict(f"{path} is not of Priming: move or rename it")
        template = Path(__file__).with_name("templates") / "opencode.js"
        return template.read_text("utf-8").replace('["priming"]', _quoted(list(command)), 1)

    return edit


def remove_plugin(_path: Path, text: str) -> str:
    """Return nothing, if the file is the plugin of ours: an empty file is deleted."""
    return "" if _PLUGIN_MARK in text else text


_PLUGIN_MARK = "priming setup opencode"


def programs(text: str) -> Iterator[str]:
    """Yield the paths of Priming's program in a file of any format: quoted, or the first word of what is quoted.

    The bare name counts only where a command begins, since it is also that of an entry.
    """
    for match in _STRING.finditer(text):
        try:
            value = "" if match[2] else json.loads(match[1])
            words = [value] if _is_own_program(value) else shlex.split(value)
        except ValueError:
            continue
        is_name = words == [NAME] and not _BEGINS.search(text, 0, match.start())
        if words and not is_name and (_is_own_program(words[0]) or _is_own_module(words)):
            yield words[0]


def _own_hooks(root: JsonNode) -> Iterator[tuple[str, int, JsonNode, list[int]]]:
    """Yield entries with hooks of ours: event, index, entry, and indices of ours in a group shared with others."""
    hooks = jsonc.find(root, ("hooks",))
    for event in hooks.members if hooks is not None and isinstance(hooks.value, dict) else ():
        for index, item in enumerate(event.node.members):
            if not isinstance(item.node.value, dict):
                continue
            group = jsonc.find(item.node, ("hooks",))
            members = group.members if group is not None else []
            own = [n for n, member in enumerate(members) if _is_hook(member.node.value)]
            if _is_hook(item.node.value) or len(own) == len(members) > 0:
                yield str(event.key), index, item.node, []
            elif own:
                yield str(event.key), index, item.node, own


def _is_server(entry: Any) -> bool:
    """Tell whether an entry runs our MCP server."""
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command]
    return _runs([*words, *(arguments if isinstance(arguments, list) else [])], "mcp")


def _is_hook(entry: Any) -> bool:
    """Tell whether an entry runs a hook of ours."""
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        return False
    try:
        return _runs(shlex.split(entry["command"]), "hook")
    except ValueError:
        return False


def _runs(words: Sequence[Any], verb: str) -> bool:
    """Tell whether a command is our program, or our module in an interpreter, with a verb."""
    if not words or not all(isinstance(word, str) for word in words):
        return False
    rest = words[1:] if _is_own_program(words[0]) else words[3:] if _is_own_module(words) else []
    return len(rest) > 0 and rest[0] == verb


def _is_own_program(program: str) -> bool:
    return PurePath(program.replace("\\", "/")).name.removesuffix(".exe") == NAME


def _is_own_module(words: Sequence[str]) -> bool:
    return list(words[1:3]) == ["-m", MODULE]


def _parse(path: Path, text: str) -> JsonNode:
    try:
        root = jsonc.parse(text)
    except jsonc.JsonSyntaxError as error:
        raise Conflict(
            f"{path} is not valid JSON, {error}: correct it and try again; nothing was written"
        ) from None
    if not isinstance(root.value, dict):
        raise Conflict(f"{path} holds no object: correct it and try again; nothing was written")
    return root


def _require_type(path: Path, text: str, keys: Sequence[str], expected: type) -> None:
    """Raise ``Conflict`` if a value of another type prevents an entry."""
    root = _parse(path, text)
    for depth in range(1, len(keys) + 1):
        node = jsonc.find(root, keys[:depth])
        if node is not None and not isinstance(node.value, expected if depth == len(keys) else dict):
            name = ".".join(keys[:depth])
            raise Conflict(f"{path}: {name} has another type than it must have: correct it and try again")


def _name_taken(path: Path) -> Conflict:
    return Conflict(f"{path} has a server {NAME!r} that runs something else: rename it there, and try again")


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Conflict(
            f"{path} is not valid TOML: {error}: correct it and try again; nothing was written"
        ) from None


def _has_toml_server(text: str, entry: Mapping[str, Any]) -> bool:
    """Tell whether a text is valid TOML with the server in it."""
    try:
        return bool(tomllib.loads(text)["mcp_servers"][NAME] == entry)
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return False


def _quoted(value: str | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
