"""Where each agent keeps its configuration, and what is written there.

The command is written by its path, which any shell and any desktop program finds; ``--shared`` writes the name.
Trust in a project's hooks is left to the user.
"""

from __future__ import annotations

import difflib
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from priming.config import environment, private_files
from priming.config.values import dataclass
from priming.errors import Conflict, StoreError
from priming_agents.setup import agent_config, jsonc
from priming_agents.setup.agent_config import MODULE, NAME, Edit

PROJECT, USER = "project", "user"
_PLUGINS = "plugins"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of an agent's configuration: how our entries are added and removed, and its text when it is empty."""

    path: Path
    add: Edit
    remove: Edit
    empty: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's text before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None


def config_files(
    agent: str, scope: str, command: Sequence[str], tools: str | None = None
) -> Iterator[ConfigFile]:
    """Yield the files that are changed for an agent, of the project in the working directory or of the user.

    ``tools`` are the groups of tools that its MCP server offers, if not those of the settings.
    """
    server = [*command, "mcp", *(() if tools is None else ("--tools", tools))]
    yield from _CONFIG_FILES[agent](Path.cwd() if scope == PROJECT else None, command, server)


def launcher(*, shared: bool = False, argument: str | None = None, python: str | None = None) -> list[str]:
    """Return the command that agents run: its path, which any shell finds; its name in files to share with a team.

    ``argument`` is how this program was called and ``python`` the interpreter, those of this process by default. The
    program is preferred as it was called, so that a link stays a link, such as pipx makes.
    """
    if shared:
        return [NAME]
    called, interpreter = Path(argument or sys.argv[0]), Path(python or sys.executable)
    programs = [called] if called.stem == NAME else []
    programs += [interpreter.with_name(name) for name in (NAME, f"{NAME}.exe")]
    on_path = shutil.which(NAME)
    programs += [Path(on_path)] if on_path else []
    for program in programs:
        if program.is_file() and os.access(program, os.X_OK):
            return [os.path.abspath(program)]
    return [str(interpreter), "-m", MODULE]


def plan(
    agent: str, scope: str, *, remove: bool, tools: str | None = None, command: Sequence[str] = (NAME,)
) -> list[FileChange]:
    """Return the files that would be written or deleted, without those that stay as they are.

    ``command`` is what the agent is to run, as ``launcher`` finds it.

    Raises:
        Conflict: a file cannot be parsed, or has a foreign entry under our name; nothing is written then.

    """
    changes = []
    for file in config_files(agent, scope, command, tools):
        before = _read(file.path)
        if remove and before is None:
            continue
        text = file.remove(file.path, before or "") if remove else file.add(file.path, before or file.empty)
        after = None if remove and _is_empty(text, file.empty) else text
        if after != before:
            changes.append(FileChange(file.path, before, after))
    return changes


def difference(change: FileChange) -> str:
    """Return a change as a unified diff."""
    name = str(change.path)
    lines = difflib.unified_diff(
        (change.before or "").splitlines(keepends=True),
        (change.after or "").splitlines(keepends=True),
        name if change.before is not None else os.devnull,
        name if change.after is not None else os.devnull,
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write(changes: Sequence[FileChange]) -> None:
    """Write planned changes, each file as a whole.

    Raises:
        Conflict: a file was changed since the plan; nothing is written.
        StoreError: a file cannot be written.

    """
    for change in changes:
        if _read(change.path) != change.before:
            raise Conflict(
                f"{change.path} was changed by another program in the meantime: try again; nothing was written"
            )
    for change in changes:
        try:
            _replace(change)
        except OSError as error:
            raise StoreError(
                f"{change.path} cannot be written ({error.strerror}): correct its permissions"
            ) from error


def configured_files(agent: str, scope: str) -> list[Path]:
    """Return the files of an agent that have entries of ours."""
    return [
        file.path
        for file in config_files(agent, scope, [NAME])
        if (text := _read(file.path)) is not None and file.remove(file.path, text) != text
    ]


def _read(path: Path) -> str | None:
    """Return the text of a file with its line ends; None where there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise Conflict(f"{path} is not UTF-8 (byte {error.start}): correct it and try again") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}): correct its permissions") from error


def _is_empty(text: str, empty: str) -> bool:
    """Tell whether a file has no content left."""
    if not text.strip():
        return True
    if not empty:
        return False
    return jsonc.parse(text).value in ({}, {"version": 1}) and "/" not in text


def _replace(change: FileChange) -> None:
    """Write or delete a file; a link stays a link, and the mode stays."""
    path = Path(os.path.realpath(change.path))
    if change.after is None:
        path.unlink(missing_ok=True)
        _remove_empty(path.parent)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with private_files.replacing(path, temporary):
        temporary.write_bytes(change.after.encode("utf-8"))
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))


def _remove_empty(folder: Path) -> None:
    """Remove an agent's own folders that are empty now: ``.opencode/plugins``, then ``.opencode``."""
    while folder.name.startswith(".") or folder.name == _PLUGINS:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _claude_code(project: Path | None, command: Sequence[str], server: Sequence[str]) -> Iterator[ConfigFile]:
    folder = environment.folder_named("CLAUDE_CONFIG_DIR")
    settings = (folder or Path.home() / ".claude") / "settings.json"
    path = project / ".mcp.json" if project else environment.claude_servers()
    yield _server_file(path, server, alwaysLoad=True)  # it would list the tools by a search, and start late
    yield _hook_file(project / ".claude" / "settings.json" if project else settings, "claude-code", command)


def _cursor(project: Path | None, command: Sequence[str], server: Sequence[str]) -> Iterator[ConfigFile]:
    folder = (project or Path.home()) / ".cursor"
    yield _server_file(folder / "mcp.json", server)
    yield _hook_file(folder / "hooks.json", "cursor", command)


def _codex(project: Path | None, command: Sequence[str], server: Sequence[str]) -> Iterator[ConfigFile]:
    folder = (
        project / ".codex" if project else environment.folder_named("CODEX_HOME") or Path.home() / ".codex"
    )
    add = agent_config.add_toml_server(server)
    yield ConfigFile(folder / "config.toml", add, agent_config.remove_toml_server)
    yield _hook_file(folder / "hooks.json", "codex", command)


def _gemini(project: Path | None, command: Sequence[str], server: Sequence[str]) -> Iterator[ConfigFile]:
    folder = project or environment.folder_named("GEMINI_CLI_HOME") or Path.home()
    path = folder / ".gemini" / "settings.json"
    servers, hooks = _server_file(path, server), _hook_file(path, "gemini", command)
    add = agent_config.in_turn(servers.add, hooks.add)
    yield ConfigFile(path, add, agent_config.in_turn(servers.remove, hooks.remove), empty="{}\n")


def _opencode(project: Path | None, command: Sequence[str], server: Sequence[str]) -> Iterator[ConfigFile]:
    base = environment.folder_named("XDG_CONFIG_HOME") or Path.home() / ".config"
    folder = project / ".opencode" if project else base / "opencode"
    candidates = [
        parent / name
        for parent in (project or folder, folder)
        for name in ("opencode.json", "opencode.jsonc")
    ]
    path = next((candidate for candidate in candidates if candidate.is_file()), candidates[0])
    entry = {"type": "local", "command": [*server]}
    add, remove = agent_config.add_server(("mcp",), entry), agent_config.remove_server(("mcp",))
    yield ConfigFile(path, add, remove, empty="{}\n")
    plugin = folder / _PLUGINS / f"{NAME}.js"
    yield ConfigFile(plugin, agent_config.add_plugin(command), agent_config.remove_plugin)


def _server_file(path: Path, command: Sequence[str], **more: bool) -> ConfigFile:
    keys, entry = ("mcpServers",), {"command": command[0], "args": [*command[1:]], **more}
    add, remove = agent_config.add_server(keys, entry), agent_config.remove_server(keys)
    return ConfigFile(path, add, remove, empty="{}\n")


def _hook_file(path: Path, agent: str, command: Sequence[str]) -> ConfigFile:
    return ConfigFile(path, agent_config.add_hooks(agent, command), agent_config.remove_hooks, empty="{}\n")


_CONFIG_FILES: Mapping[str, Callable[[Path | None, Sequence[str], Sequence[str]], Iterator[ConfigFile]]] = {
    "claude-code": _claude_code,
    "cursor": _cursor,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}
