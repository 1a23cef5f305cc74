"""Two servers of the same memory in one session of Claude Code: the plugin's offers nothing beside another.

Claude Code starts the plugin's server and that of its settings side by side, and would offer each tool twice. A
server that is not the plugin's announces itself in a file, which it keeps locked as long as it runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from priming.config import environment
from priming.errors import StoreError
from priming.mcp.messages import METHOD_NOT_FOUND, RequestError, as_bytes, error_message, result_message
from priming.operations import local_socket
from priming.verbs.rows import group_names

try:
    import fcntl
except ImportError:  # Windows has no such locks: each server offers its tools there
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 1.0
"""Seconds that the plugin's server waits for another that the settings name: it may not be allowed to run."""
_INTERVAL = 0.02
_NAME, _VERB, _PREFIX = "priming", "mcp", "mcp"


@contextmanager
def side_by_side(url: str | None, namespace: str, groups: str) -> Iterator[bool]:
    """Whether this process is to offer its tools, those of ``groups``, for a store and a namespace.

    Only the plugin's server steps back, and only where another of the same session has all of its tools.
    """
    place = _place(url, namespace) if fcntl is not None and environment.is_in_claude_code() else None
    if place is None:
        yield True
    elif environment.is_of_plugin():
        yield not _is_beside_another(place, group_names(groups))
    else:
        with _announced(place, groups):
            yield True


def silent_answer(line: bytes) -> bytes:
    """The answer of a server that offers nothing to a line of the client; empty if it needs none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return b""
    if not isinstance(message, dict) or not isinstance(message.get("id"), (str, int)):
        return b""
    number, params = message["id"], message.get("params")
    if message.get("method") == "initialize" and isinstance(params, dict):
        version = params.get("protocolVersion")
        about = {"name": _NAME, "version": environment.VERSION}
        answer = {"protocolVersion": version, "capabilities": {}, "serverInfo": about}
        return as_bytes(result_message(number, answer))
    if message.get("method") == "ping":
        return as_bytes(result_message(number, {}))
    rule = "this server offers nothing: another one of the session has its tools"
    return as_bytes(error_message(number, RequestError(METHOD_NOT_FOUND, rule)))


def _place(url: str | None, namespace: str) -> Path | None:
    """The beginning of the paths of the files of a session's servers: a session is the process that starts them."""
    where = local_socket.real(url)
    if where is None:
        return None
    folder = environment.runtime_folder()
    try:
        local_socket.prepare(folder)
    except StoreError:
        return None
    name = hashlib.blake2b(os.fsencode(f"{where.path}\n{namespace}"), digest_size=8).hexdigest()
    return folder / f"{_PREFIX}-{os.getppid()}-{name}"


@contextmanager
def _announced(place: Path, groups: str) -> Iterator[None]:
    """Announce this process, with its tools, for the block. The file is locked and complete when it gets its name."""
    for _ in _announcements(place.with_name(_PREFIX)):
        pass  # removes what killed servers of any session left
    path = Path(f"{place}-{os.getpid()}")
    draft = path.with_name(f".{path.name}")
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.write(handle, groups.encode())
            draft.rename(path)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _is_beside_another(place: Path, groups: set[str]) -> bool:
    """Whether another server of the session has these groups of tools; it is awaited if the settings name it."""
    deadline = time.monotonic() + (_PATIENCE if _is_configured() else 0.0)
    while True:
        others = [group_names(text) for text in _announcements(place)]
        if others:
            return any("all" in other or groups <= other for other in others)
        if time.monotonic() >= deadline:
            return False
        time.sleep(_INTERVAL)


def _announcements(place: Path) -> Iterator[str]:
    """The groups of the servers that run beside this one. What a dead one left is removed."""
    for path in place.parent.glob(f"{place.name}-*"):
        with suppress(OSError), path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                yield file.read().decode("utf-8", "replace")
            else:
                path.unlink()


def _is_configured() -> bool:
    """Whether a server of ours is in the settings of Claude Code for this project, or for the user."""
    project = environment.folder_named("CLAUDE_PROJECT_DIR") or Path.cwd()
    places = (project, *project.parents)
    user = _json(environment.claude_servers())
    projects = user.get("projects")
    tables: list[Any] = [user, *(_json(folder / ".mcp.json") for folder in places)]
    if isinstance(projects, dict):
        tables += [projects.get(str(folder)) for folder in places]
    return any(_is_ours(entry) for table in tables for entry in _servers(table))


def _servers(table: Any) -> list[Any]:
    servers = table.get("mcpServers") if isinstance(table, dict) else None
    return [*servers.values()] if isinstance(servers, dict) else []


def _is_ours(entry: Any) -> bool:
    """Whether an entry runs our server, as far as its words say."""
    if not isinstance(entry, dict):
        return False
    words = [str(entry.get("command")), *map(str, entry.get("args") or ())]
    return _VERB in words and any(_NAME in word for word in words)


def _json(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
