"""A hook as its agent starts it: handed to the session's server, by a process that imports next to nothing.

Where no server answers in time, the process does the work itself (``priming_agents.command``). Both may come to do
it, and the id of the call then says that it is one.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import priming
from priming.config import environment
from priming.config.params.hooks import HOOK
from priming.config.store_urls import Location, url_of
from priming.errors import ParamError, PrimingError
from priming.operations import local_socket as places
from priming_agents import agents, databases

ENDING = ".hooks.sock"
"""The socket of a session's server is named after the database, with this ending."""
_OPTIONS = {f"--{name}": name for name in ("agent", "url", "namespace", "profile", "embedder")}
_CHUNK = 65_536


def run_plain(arguments: Sequence[str]) -> bool:
    """Run a plain ``hook EVENT --agent NAME …`` without loading the command line; False for any other arguments."""
    options = plain_options(arguments)
    if options is None:
        return False
    began, data, call = time.monotonic(), None, new_call()
    with suppress(PrimingError, OSError):
        data = standard_input()
    answer = None if data is None else _handed_over(options, data, call)
    if answer is None:
        gc.disable()  # the process ends before garbage matters, and imports make much of what is searched for it
        from priming_agents.command import run

        run(**options, data=data, call=call, began=began)
    else:
        report(answer["error"])
        write(answer["output"])
    return True


def plain_options(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The options of a plain ``hook EVENT --agent NAME …``; None for any other arguments, such as ``--help``.

    >>> plain_options(["hook", "stop", "--agent", "cursor"]), plain_options(["hook", "--help"])
    ({'event': 'stop', 'agent': 'cursor'}, None)
    """
    if len(arguments) < 2 or arguments[0] != "hook" or arguments[1].startswith("-"):
        return None
    options: dict[str, Any] = {"event": arguments[1]}
    rest = iter(arguments[2:])
    for argument in rest:
        name, _, value = argument.partition("=")
        value = value or next(rest, "")
        if name not in _OPTIONS or not value:
            return None
        options[_OPTIONS[name]] = value
    return options


def new_call() -> str:
    """An id for one call of a hook: the milliseconds of now, and chance."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


def standard_input() -> bytes:
    """What the agent writes to the hook."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ParamError("stdin", None, "must be the JSON that an agent sends to its hooks")
    return sys.stdin.buffer.read(HOOK.input + 1)


def parse(data: bytes) -> Mapping[str, Any]:
    """The JSON object that an agent sends."""
    if len(data) > HOOK.input:
        raise ParamError("stdin", f"more than {HOOK.input:,} bytes", "must be shorter")
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


def identity() -> dict[str, Any]:
    """What a client and a server must have in common: the program, its version, and the variables that it reads."""
    return {
        "version": environment.VERSION,
        "package": str(priming.__path__[0]),
        "variables": environment.all_variables(),
    }


def ask(database: Path, request: Mapping[str, Any], data: bytes = b"") -> dict[str, Any] | None:
    """The answer of the server of a store's hooks; None where none answers in time."""
    try:
        path = places.socket_path(database, ENDING)
        if not places.is_ours(path):
            return None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.settimeout(HOOK.answer)
            end.connect(str(path))
            if not places.peer_is_us(end):
                return None
            end.sendall(json.dumps(request).encode() + b"\n" + data)
            end.shutdown(socket.SHUT_WR)
            answer = json.loads(_all(end))
    except (OSError, ValueError, PrimingError):
        return None
    return answer if isinstance(answer, dict) else None


def _all(end: socket.socket) -> bytes:
    """All that the server sends, before it is too late."""
    deadline, chunks = time.monotonic() + HOOK.answer, list[bytes]()
    while chunk := end.recv(_CHUNK):
        chunks.append(chunk)
        end.settimeout(max(0.001, deadline - time.monotonic()))
    return b"".join(chunks)


def _handed_over(options: Mapping[str, Any], data: bytes, call: str) -> dict[str, Any] | None:
    """The server's output and line of error for a hook; None where the hook has to do the work itself."""
    try:
        if not places.available() or not environment.server_wanted():
            return None
        store = {name: options.get(name) for name in ("url", "namespace", "profile", "embedder")}
        store["url"] = places.absolute_url(store["url"])
        folder = os.getcwd()
        enter(agents.parse_event(parse(data)).folder)
        database = database_of(store["url"])
    except (OSError, PrimingError):
        return None  # the hook itself says what is wrong
    if database is None or databases.is_away(database):
        return None
    request = {
        "do": "hook",
        "event": options["event"],
        "agent": options.get("agent"),
        "store": store,
        "folder": folder,
        "call": call,
        "attended": environment.is_attended(),
        "installation": environment.hook_installation(),
        **identity(),
    }
    answer = ask(database, request, data)
    return answer if answer is not None and "output" in answer else None


def enter(folder: str | None) -> None:
    """Work in the agent's folder; where it is gone or closed to us, stay."""
    if folder is not None:
        with suppress(OSError):
            os.chdir(folder)


def database_of(url: str | None) -> Path | None:
    """The database that hooks in the working directory ask first; None where there is none."""
    everywhere = None if url is not None else url_of(environment.global_store())
    if url is None and environment.settings_mention("url"):
        from priming.config import settings

        url = settings.load().store_url
    for store in (url, everywhere):
        place = database_at(store)
        if place is not None:
            return place[1]
        if everywhere is None:
            break
    return None


def database_at(url: str | None) -> tuple[Location, Path] | None:
    """A store and its file, or the file that stands for a store in a database; None where there is no store."""
    location = environment.locate(url)
    if location.url is not None:
        return location, databases.place_of(location)
    real = places.real(url)
    return None if real is None or real.path is None or not is_store(real.path) else (real, real.path)


def is_store(path: Path) -> bool:
    """Whether a store is there: an empty file is a store that is being created."""
    return path.is_file() and path.stat().st_size > 0
