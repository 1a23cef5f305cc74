"""Where each agent keeps its configuration, and what setting it up changes there."""

from __future__ import annotations

import difflib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from priming.cli import agent_parts as parts
from priming.cli import json_text
from priming.cli.agent_parts import NAME, Edit, Text
from priming.config import environment
from priming.errors import Conflict, StoreError

AGENTS = ("claude-code", "cursor", "codex", "opencode")
PROJECT, USER = "project", "user"

Place = tuple[Path, str, Edit, Edit]
"""A file, its text where it is not there yet, what puts our parts in and what takes them out."""


def places(agent: str, scope: str, command: Sequence[str]) -> Iterator[Place]:
    """The files of an agent that are changed, for the project in the working directory or for the user."""
    yield from _PLACES[agent](Path.cwd() if scope == PROJECT else None, command)


def launcher(scope: str) -> list[str]:
    """The command that agents are to run: by its name where others share the file, else by its path."""
    found = shutil.which(NAME)
    if scope == PROJECT or found is None:
        return [NAME]
    return [str(Path(found).absolute())]


def plan(agent: str, scope: str, *, remove: bool) -> list[Text]:
    """What would be written, file by file; files that stay as they are left out.

    Raises:
        Conflict: a file that is not understood, or has something else under our name; nothing is written then.

    """
    found = []
    for path, empty, put, take in places(agent, scope, launcher(scope)):
        before = _read(path)
        if remove and before is None:
            continue
        text = take(path, before or "") if remove else put(path, before if before else empty)
        after = None if remove and _is_nothing(text, empty) else text
        if after != before:
            found.append(Text(path, before, after))
    return found


def difference(change: Text) -> str:
    """A change as a unified diff."""
    name = str(change.path)
    lines = difflib.unified_diff(
        (change.before or "").splitlines(keepends=True),
        (change.after or "").splitlines(keepends=True),
        name if change.before is not None else os.devnull,
        name if change.after is not None else os.devnull,
    )
    return "".join(one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n" for one in lines)


def write(changes: Sequence[Text]) -> None:
    """Write what was shown, each file as a whole.

    Raises:
        Conflict: a file is not any more what was shown; nothing is written.
        StoreError: a file cannot be written.

    """
    for one in changes:
        if _read(one.path) != one.before:
            raise Conflict(
                f"{one.path} was changed by another program meanwhile: try again; nothing was written"
            )
    for one in changes:
        try:
            _replace(one)
        except OSError as error:
            raise StoreError(f"{one.path} cannot be written ({error.strerror}): mend its rights") from error


def is_set_up(agent: str, scope: str) -> list[Path]:
    """The files of an agent that have parts of ours."""
    return [
        path
        for path, _, _, take in places(agent, scope, [NAME])
        if (text := _read(path)) is not None and take(path, text) != text
    ]


def _read(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None where there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise Conflict(f"{path} is no UTF-8 (byte {error.start}): mend it and try again") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}): mend its rights") from error


def _is_nothing(text: str, empty: str) -> bool:
    """Whether nothing of anybody's is left in a file."""
    if not text.strip():
        return True
    if not empty:
        return False
    return json_text.parse(text).value in ({}, {"version": 1}) and "/" not in text


def _replace(change: Text) -> None:
    path = Path(os.path.realpath(change.path))
    if change.after is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(change.after.encode("utf-8"))
        if path.exists():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _claude_code(project: Path | None, command: Sequence[str]) -> Iterator[Place]:
    folder = environment.folder_named("CLAUDE_CONFIG_DIR")
    own = folder / ".claude.json" if folder else Path.home() / ".claude.json"
    settings = (folder or Path.home() / ".claude") / "settings.json"
    entry = {"command": command[0], "args": [*command[1:], "mcp"]}
    yield _json(project / ".mcp.json" if project else own, ("mcpServers",), entry)
    yield _hooks(project / ".claude" / "settings.json" if project else settings, "claude-code", command)


def _cursor(project: Path | None, command: Sequence[str]) -> Iterator[Place]:
    folder = (project or Path.home()) / ".cursor"
    yield _json(folder / "mcp.json", ("mcpServers",), {"command": command[0], "args": [*command[1:], "mcp"]})
    yield _hooks(folder / "hooks.json", "cursor", command)


def _codex(project: Path | None, command: Sequence[str]) -> Iterator[Place]:
    folder = (
        project / ".codex" if project else environment.folder_named("CODEX_HOME") or Path.home() / ".codex"
    )
    yield folder / "config.toml", "", parts.toml_server([*command, "mcp"]), parts.without_toml_server()
    yield _hooks(folder / "hooks.json", "codex", command)


def _opencode(project: Path | None, command: Sequence[str]) -> Iterator[Place]:
    above = environment.folder_named("XDG_CONFIG_HOME") or Path.home() / ".config"
    folder = project / ".opencode" if project else above / "opencode"
    own = project or folder
    names = [
        own / "opencode.json",
        own / "opencode.jsonc",
        folder / "opencode.json",
        folder / "opencode.jsonc",
    ]
    path = next((one for one in names if one.is_file()), own / "opencode.json")
    entry = {"type": "local", "command": [*command, "mcp"]}
    place = _opencode_place(path)
    yield path, "{}\n", parts.servers(place, entry), parts.without_servers(place)
    yield folder / "plugins" / f"{NAME}.js", "", parts.plugin(command), parts.without_plugin()


def _opencode_place(path: Path) -> tuple[str, ...]:
    """Under which names servers stand: V1 has them in ``mcp`` itself, V2 one level below."""
    text = _read(path)
    try:
        found = json_text.find(json_text.parse(text), ("mcp",)) if text else None
    except json_text.Unreadable:
        found = None  # what reads the file next says so
    table = found.value if found is not None and isinstance(found.value, dict) else {}
    first = "servers" not in table and any(isinstance(one, dict) and "type" in one for one in table.values())
    return ("mcp",) if first else ("mcp", "servers")


def _json(path: Path, place: Sequence[str], entry: Mapping[str, object]) -> Place:
    return path, "{}\n", parts.servers(place, entry), parts.without_servers(place)


def _hooks(path: Path, agent: str, command: Sequence[str]) -> Place:
    return path, "{}\n", parts.hooks(agent, command), parts.without_hooks()


_PLACES: Mapping[str, Callable[[Path | None, Sequence[str]], Iterator[Place]]] = {
    "claude-code": _claude_code,
    "cursor": _cursor,
    "codex": _codex,
    "opencode": _opencode,
}
