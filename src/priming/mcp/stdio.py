"""MCP on standard input and output.

What needs no store is answered as it is read, with nothing heavy loaded; other requests are answered in threads. The
engine is loaded behind the list of tools, or when a client calls one. A thread reads standard input, so that nothing
waits for a silent client when the server is to end.

Claude Code starts the server of a plugin and that of its settings side by side, and would offer each tool twice: the
plugin's then offers nothing. A server that is not the plugin's announces itself in a file, which it keeps locked as
long as it runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.params.services import SERVER
from priming.config.variables import VERSION
from priming.errors import ParamError, StoreError
from priming.mcp.messages import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    RequestError,
    as_bytes,
    error_message,
    method_of,
    number_of,
    progress_message,
    read_message,
    refusal,
    result_message,
)
from priming.mcp.protocol import READY, McpClient, McpConversation, progress_token
from priming.operations import local_socket
from priming.verbs.rows import group_names

if TYPE_CHECKING:
    from priming.operations.service import Service

_CHUNK = 65_536
_LINE_BYTES = 1 << 24
_GRACE = 0.5
"""Seconds after SIGINT in which running calls may end and the store is closed."""
_INTERRUPTED = 130
_THREADS = 16
"""Requests that are answered at once."""
Lines = SimpleQueue[bytes | None]


def run(
    *,
    service: Callable[[], Service],
    namespace: str,
    groups: str = "core",
    agent: Callable[[], Any] = lambda: None,
    url: str | None = None,
    conversation: Callable[[McpClient], Any] = McpConversation,
) -> None:
    """Speak on stdin and stdout until the client closes them. ``agent`` opens the agent that the loop asks.

    Where another server of the session has the tools of the store at ``url``, it is told that there is nothing.
    """
    with side_by_side(url, namespace, groups) as offers:
        lines, write = Lines(), partial(_write, _claimed_output())
        signal.signal(signal.SIGINT, lambda *_: _end(lines))
        threading.Thread(target=_read, args=(_claimed_input(), lines), daemon=True).start()
        opened = _Opened(service)
        exchange = StdioExchange(conversation(McpClient(opened, namespace, groups, agent)), write)
        try:
            while (line := lines.get()) is not None:
                if offers:
                    exchange.receive(line)
                elif answer := silent_answer(line):
                    write(answer + b"\n")
        finally:
            exchange.close()
            opened.close()


def _end(lines: Lines) -> None:
    """End as if the client had gone away, and soon: a call that does not stop is left alone, as in a crash."""
    lines.put(None)
    last = threading.Timer(_GRACE, os._exit, [_INTERRUPTED])
    last.daemon = True
    last.start()


class RequestCancelled(Exception):
    """The client cancelled the request, or went away: there is nobody to answer."""


class StdioExchange:
    """Requests and their answers: several at once, each line written whole."""

    def __init__(self, conversation: Any, write: Callable[[bytes], None]) -> None:
        self._conversation, self._write = conversation, write
        self._turn = Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="priming-mcp")
        self._loaded: Future[None] | None = None
        self._cancelled: dict[str | int, Event] = {}
        """The requests under way, and whether each was cancelled."""

    def receive(self, line: bytes) -> None:
        """Answer a line of the client, or let a thread answer it."""
        if not line.strip():
            return
        try:
            message = read_message(line, SERVER.depth, SERVER.values)
        except ParamError as error:
            self._send(refusal(line, error))
            return
        method, number = method_of(message), number_of(message)
        if method == "notifications/cancelled":
            self._cancel(message.get("params"))
        elif number is None:
            return
        elif method in READY:
            self._send(self._conversation.answer(message))
            if method == "tools/list":
                self._load()
        else:
            self._load()
            cancelled = self._cancelled[number] = Event()
            self._threads.submit(self._answer, number, message, cancelled)

    def close(self) -> None:
        """End long calls after their present step, and wait for all."""
        for cancelled in [*self._cancelled.values()]:
            cancelled.set()
        self._threads.shutdown()

    def _answer(self, number: str | int, message: Mapping[str, Any], cancelled: Event) -> None:
        """Answer a request, in a thread; a client may give the next request its id as soon as it has the answer."""
        token = progress_token(message)

        def step(done: int, total: int | None) -> None:
            if cancelled.is_set():
                raise RequestCancelled
            if token is not None:
                self._send(progress_message(token, done, total))

        try:
            assert self._loaded is not None
            self._loaded.result()  # two threads that import the same modules can wait for each other for ever
            self._send(self._conversation.answer(message, step))
        except RequestCancelled:
            pass
        except Exception:  # noqa: BLE001 - a bug: the client is not left waiting
            traceback.print_exc()
            error = RequestError(INTERNAL_ERROR, "a bug: standard error has it")
            self._send(error_message(number, error))
        finally:
            if self._cancelled.get(number) is cancelled:
                del self._cancelled[number]

    def _cancel(self, params: Any) -> None:
        request = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request, (str, int)) and (cancelled := self._cancelled.get(request)):
            cancelled.set()

    def _load(self) -> None:
        """Load what the first call will need."""
        if self._loaded is None:
            self._loaded = self._threads.submit(load)

    def _send(self, message: Mapping[str, Any] | None) -> None:
        if message is not None:
            with self._turn, suppress(OSError):  # a client that went away needs no answer
                self._write(as_bytes(message) + b"\n")


def load() -> None:
    """Load the engine."""
    for name in ("priming.operations.schema", "priming.memory"):
        import_module(name)


class _Opened:
    """The service, opened at its first use, by one thread for all."""

    def __init__(self, open_it: Callable[[], Service]) -> None:
        self._open, self._turn = open_it, Lock()
        self._service: Service | None = None

    def __call__(self) -> Service:
        with self._turn:
            if self._service is None:
                self._service = self._open()
            return self._service

    def close(self) -> None:
        """Close it, if it was opened."""
        if self._service is not None:
            self._service.close()


def _chunk(source: int) -> bytes:
    """Return the next bytes of the client; none at its end, or if this process was begun without standard input."""
    try:
        return os.read(source, _CHUNK)
    except OSError:
        return b""


def _read(source: int, lines: Lines) -> None:
    """Queue the lines of the client, and None behind the last; one beyond the limit is cut, and is no JSON then."""
    rest = bytearray()
    while chunk := _chunk(source):
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest += line
            lines.put(bytes(rest[:_LINE_BYTES]))
            rest.clear()
        if len(rest) < _LINE_BYTES:
            rest += last
    if rest:
        lines.put(bytes(rest[:_LINE_BYTES]))
    lines.put(None)


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]


def _claimed_input() -> int:
    """Claim standard input for this module alone: whatever else reads it, such as a loop command, reads nothing."""
    own, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


def _claimed_output() -> int:
    """Claim standard output for this module alone: what anything else prints goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


_PATIENCE = 1.0
"""Seconds that the plugin's server waits for another that the settings name: it may not be allowed to run."""
_INTERVAL = 0.02
_NAME, _VERB, _PREFIX = "priming", "mcp", "mcp"


@contextmanager
def side_by_side(url: str | None, namespace: str, groups: str) -> Iterator[bool]:
    """Tell whether this process is to offer its tools, those of ``groups``, for a store and a namespace.

    Only the plugin's server steps back, and only where another of the same session has all of its tools; where the
    system has no locks, each offers its own.
    """
    place = _place(url, namespace) if private_files.HAS_LOCKS and environment.is_in_claude_code() else None
    if place is None:
        yield True
    elif environment.is_of_plugin():
        yield not _is_beside_another(place, group_names(groups))
    else:
        with _announced(place, groups):
            yield True


def silent_answer(line: bytes) -> bytes:
    """Return the answer of a server that offers nothing to a line of the client; empty if it needs none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return b""
    number, method = number_of(message), method_of(message)
    if number is None:
        return b""
    params = message.get("params")
    if method == "initialize" and isinstance(params, dict):
        about = {"name": _NAME, "version": VERSION}
        version = params.get("protocolVersion")
        return as_bytes(
            result_message(number, {"protocolVersion": version, "capabilities": {}, "serverInfo": about})
        )
    if method == "ping":
        return as_bytes(result_message(number, {}))
    rule = "this server offers nothing: another one of the session has its tools"
    return as_bytes(error_message(number, RequestError(METHOD_NOT_FOUND, rule)))


def _place(url: str | None, namespace: str) -> Path | None:
    """Return the beginning of the paths of a session's servers' files: a session is the process that starts them."""
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
            private_files.try_lock(handle)
            os.write(handle, groups.encode())
            draft.rename(path)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _is_beside_another(place: Path, groups: set[str]) -> bool:
    """Tell whether another server of the session has these groups of tools; it is awaited if the settings name it."""
    deadline = time.monotonic() + (_PATIENCE if _is_configured() else 0.0)
    while True:
        others = [group_names(text) for text in _announcements(place)]
        if others:
            return any("all" in other or groups <= other for other in others)
        if time.monotonic() >= deadline:
            return False
        time.sleep(_INTERVAL)


def _announcements(place: Path) -> Iterator[str]:
    """Yield the groups of the servers that run beside this one. What a dead one left is removed."""
    for path in place.parent.glob(f"{place.name}-*"):
        with suppress(OSError), path.open("rb") as file:
            if private_files.try_lock(file.fileno(), shared=True):
                path.unlink()
            else:
                yield file.read().decode("utf-8", "replace")


def _is_configured() -> bool:
    """Tell whether a server of ours is in the settings of Claude Code for this project, or for the user."""
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
    """Tell whether an entry runs our server, as far as its words say."""
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
