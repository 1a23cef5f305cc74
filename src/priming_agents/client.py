"""A hook as its agent starts it: posted to the server of the store, by a process that imports next to nothing.

Where no server answers in time, the process does the work itself (``priming_agents.command``). Both may come to do
it, and the id of the call then says that it is one.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from priming.config import environment
from priming.errors import PrimingError
from priming.operations import local_socket as places
from priming_agents import agents, stores
from priming_agents.limits import HOOK

ROUTE = "/local/hook"
_OPTIONS = {f"--{name}": name for name in ("agent", "url", "namespace", "profile", "embedder")}
_CHUNK = 65_536


def run_plain(arguments: Sequence[str]) -> bool:
    """Run a plain ``hook EVENT --agent NAME …`` without loading the command line; False for any other arguments."""
    options = plain_options(arguments)
    if options is None:
        return False
    began, data, call = time.monotonic(), None, stores.new_call()
    with suppress(PrimingError, OSError):
        data = agents.standard_input()
    answer = None if data is None else _handed_over(options, data, call)
    if answer is None:
        gc.disable()  # the process ends before garbage matters, and imports make much of what is searched for it
        from priming_agents.command import run

        run(**options, data=data, call=call, began=began)
    else:
        agents.report(answer["error"])
        agents.write(answer["output"])
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


def ask(database: Path, request: Mapping[str, Any], data: bytes = b"null") -> dict[str, Any] | None:
    """Return the answer of the server of a store to a hook with its agent's JSON; None where none comes in time."""
    try:
        path = places.socket_path(database)
        if not places.is_ours(path):
            return None
        body = json.dumps(request).encode()[:-1] + b', "payload": ' + data + b"}"
        head = f"POST {ROUTE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.settimeout(HOOK.answer)
            end.connect(str(path))
            if not places.peer_is_us(end):
                return None
            end.sendall(head.encode() + body)
            status, _, text = _all(end).partition(b"\r\n\r\n")
        answer = json.loads(text) if status.split(None, 2)[1:2] == [b"200"] else None
    except (OSError, ValueError, PrimingError):
        return None
    return answer if isinstance(answer, dict) else None


def _all(end: socket.socket) -> bytes:
    """Return all that the server sends, before it is too late."""
    deadline, chunks = time.monotonic() + HOOK.answer, list[bytes]()
    while chunk := end.recv(_CHUNK):
        chunks.append(chunk)
        end.settimeout(max(0.001, deadline - time.monotonic()))
    return b"".join(chunks)


def _handed_over(options: Mapping[str, Any], data: bytes, call: str) -> dict[str, Any] | None:
    """Return the server's output and line of error for a hook; None where the hook has to do the work itself."""
    try:
        if not places.available() or not environment.server_wanted():
            return None
        store = {name: options.get(name) for name in ("url", "namespace", "profile", "embedder")}
        store["url"] = places.absolute_url(store["url"])
        folder = os.getcwd()
        with environment.working_in(agents.parse_event(agents.parse(data)).folder):
            database = stores.database_of(store["url"])
    except (OSError, PrimingError):
        return None  # the hook itself says what is wrong
    if database is None or stores.is_away(database):
        return None
    request = {
        "event": options["event"],
        "agent": options.get("agent"),
        "store": store,
        "folder": folder,
        "call": call,
        "attended": environment.is_attended(),
        "installation": environment.hook_installation(),
        **environment.identity(),
    }
    answer = ask(database, request, data)
    return answer if answer is not None and "output" in answer else None
