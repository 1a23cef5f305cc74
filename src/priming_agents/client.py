"""A hook as its agent starts it: posted to the server of the store, by a process that imports next to nothing.

The first server that it asks is that of the nearest store above its folder, by the socket beside it: a server refuses
what belongs to another store. Only then is it read which store that is. Where no server answers in time, the process
does the work itself (``priming_agents.command``). Both may come to do it, and the id of the call then says that it is
one.
"""

from __future__ import annotations

import os
import stat
import sys
import time

from priming.config import variables
from priming_agents import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ROUTE = "/local/hook"
_OPTIONS = {f"--{name}": name for name in ("agent", "url", "namespace", "profile", "embedder")}
_STORE = ("url", "namespace", "profile", "embedder")
_BESIDE = ".priming/memory.db.sock"
"""The socket of a project's store, from its folder."""
_LONGEST = 107
_CHUNK = 65_536
_NOTHING = b'{"output":"","error":""}'
"""The answer of a server to most calls, which is not worth the time to load what reads JSON."""


def run_plain(arguments: Sequence[str]) -> bool:
    """Run a plain ``hook EVENT --agent NAME …`` without loading the command line; False for any other arguments."""
    options = plain_options(arguments)
    if options is None:
        return False
    began, call, folder = time.monotonic(), calls.new_call(), _folder()
    data = None if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(calls.INPUT + 1)
    request = {
        "event": options["event"],
        "agent": options.get("agent"),
        "store": {name: options.get(name) for name in _STORE},
        "folder": folder,
        "call": call,
        "attended": variables.is_attended(),
        "installation": variables.hook_installation(),
        **variables.identity(),
    }
    answer = None
    if data is not None and folder is not None and variables.server_variable() == "on":
        answer = _served(request, data)
    if answer is None:
        import gc

        gc.disable()  # the process ends before garbage matters, and imports make much of what is searched for it
        from priming_agents.command import run

        run(**options, data=data, call=call, began=began)
    elif any(answer.values()):
        from priming_agents import agents

        agents.report(answer["error"])
        agents.write(answer["output"])
    return True


def plain_options(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the options of a plain ``hook EVENT --agent NAME …``; None for any other arguments, such as ``--help``.

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


def _served(request: Mapping[str, Any], data: bytes) -> dict[str, Any] | None:
    """Return the answer of the first server that does a hook's work; None if there is none. None is before twice."""
    before = None
    for find in (_nearest, _named):
        path = find(request, data)
        answer = ask(path, request, data) if path != before else None
        if answer is not None and "output" in answer:
            return answer
        before = path
    return None


def ask(path: str | None, request: Mapping[str, Any], data: bytes = b"null") -> dict[str, Any] | None:
    """Return the answer of a server to a hook with its agent's JSON; None where it gives none in time.

    ``path`` is that of its socket, which has to be the user's, as has the process behind it.
    """
    import _socket

    if path is None or not hasattr(_socket, "AF_UNIX"):
        return None
    try:
        status = os.lstat(path)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
            return None
        body = _json(request).encode()[:-1] + b', "payload": ' + data + b"}"
        head = f"POST {ROUTE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        end = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            end.settimeout(calls.ANSWER)
            end.connect(path)
            if hasattr(_socket, "SO_PEERCRED"):
                credentials = end.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
                if int.from_bytes(credentials[4:8], sys.byteorder) != os.geteuid():
                    return None
            end.sendall(head.encode() + body)
            state, _, text = _all(end).partition(b"\r\n\r\n")
        finally:
            end.close()
        return _answer(text) if state.split(None, 2)[1:2] == [b"200"] else None
    except (OSError, ValueError):
        return None


def _answer(text: bytes) -> dict[str, Any] | None:
    """Return what a server answers: an output and a line of error, or why it does not do the work."""
    if text == _NOTHING:
        return {"output": "", "error": ""}
    import json

    answer = json.loads(text)
    return answer if isinstance(answer, dict) else None


def _all(end: Any) -> bytes:
    """Return all that the server sends, before it is too late."""
    deadline, chunks = time.monotonic() + calls.ANSWER, list[bytes]()
    while chunk := end.recv(_CHUNK):
        chunks.append(chunk)
        end.settimeout(max(0.001, deadline - time.monotonic()))
    return b"".join(chunks)


def _json(value: Any) -> str:
    """Return a value of strings as JSON, without what else would be loaded for it.

    >>> _json({"folder": "/a b", "agent": None, "attended": True})
    '{"folder": "/a b", "agent": null, "attended": true}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json(name)}: {_json(each)}" for name, each in value.items()) + "}"
    if isinstance(value, str):
        if not value.isprintable():
            raise ValueError(value)
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}"'
    return {None: "null", True: "true", False: "false"}[value]


def _folder() -> str | None:
    """Return the working directory; None where somebody removed it."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _nearest(request: Mapping[str, Any], _: bytes) -> str | None:
    """Find the socket beside the folder's store, as far as the names of folders say; None where options name one."""
    folder = None if any(request["store"].values()) else request["folder"]
    while folder is not None:
        path = os.path.join(folder, _BESIDE)
        if os.path.lexists(os.path.dirname(path)):
            return path if len(os.fsencode(path)) <= _LONGEST and os.path.lexists(path) else None
        is_last = os.path.lexists(os.path.join(folder, ".git")) or folder == os.path.dirname(folder)
        folder = None if is_last else os.path.dirname(folder)
    return None


def _named(request: Mapping[str, Any], data: bytes) -> str | None:
    """Find the socket of the store that options, variables and settings name; the request has its URL afterwards."""
    from priming.config import environment
    from priming.errors import PrimingError
    from priming.operations import local_socket as places
    from priming_agents import agents, stores

    try:
        request["store"]["url"] = url = places.absolute_url(request["store"]["url"])
        with environment.working_in(agents.parse_event(agents.parse(data)).folder):
            database = stores.database_of(url)
        if database is None or stores.is_away(database):
            return None
        return str(places.socket_path(database))
    except (OSError, PrimingError):
        return None  # the hook itself says what is wrong
