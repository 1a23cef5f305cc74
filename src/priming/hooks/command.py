"""``priming hook``: an agent's JSON on standard input, the text to inject as the agent's JSON on standard output.

A hook never disturbs an agent: on any failure it ends in time, with status 0 and without standard output. One line
on standard error names the failure; with ``PRIMING_DEBUG`` set, a traceback.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment
from priming.config.params.hooks import HOOK
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.hooks.agents import Event

_SUCCESS = 0
_OPTIONS = {f"--{name}": name for name in ("agent", "url", "namespace", "profile", "embedder")}


def run_plain(arguments: Sequence[str]) -> bool:
    """Run a plain ``hook EVENT --agent NAME …`` without loading the command line; False for any other arguments."""
    options = plain_options(arguments)
    if options is None:
        return False
    run(**options)
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


def run(
    *,
    event: str,
    agent: str | None = None,
    url: str | None = None,
    namespace: str | None = None,
    profile: str | None = None,
    embedder: str | None = None,
    server: bool = True,
) -> None:
    """Handle an event: read standard input, write standard output, and succeed whatever happens."""
    store = {"url": url, "namespace": namespace, "profile": profile, "embedder": embedder}
    with _time_limit():
        try:
            output = respond(event, _standard_input(), agent, store, server=server)
        except Exception as error:  # noqa: BLE001
            with suppress(OSError, AttributeError):
                sys.stderr.write(f"{failure_line(event, error)}\n")
                sys.stderr.flush()
            return
        if output:
            _write(output)


def respond(
    name: str,
    data: bytes,
    agent: str | None = None,
    store: Mapping[str, str | None] | None = None,
    *,
    server: bool = True,
) -> str:
    """The standard output of a hook for its standard input; empty where there is nothing to inject.

    ``store`` are the options ``url``, ``namespace``, ``profile`` and ``embedder``. The working directory becomes the
    agent's.

    Raises:
        PrimingError, OSError: whatever fails.

    """
    from priming.hooks import agents, stores

    if name not in agents.EVENTS:
        raise ParamError("event", name, f"must be one of {', '.join(agents.EVENTS)}")
    if agent is not None and agent not in agents.AGENTS:
        raise ParamError("agent", agent, f"must be one of {', '.join(agents.AGENTS)}")
    payload = _parse(data)
    event = agents.parse_event(payload)
    options = dict(store or {})
    options["url"] = stores.absolute_url(options.get("url"))
    if event.folder is not None:
        with suppress(OSError):  # the agent's folder is gone or closed to us: stay in that of the process
            os.chdir(event.folder)
    agent = agent or agents.agent_of(payload)
    text = _text(name, event, agent, options, server=server)
    if not text or not agents.accepts_text(agent, name):
        return ""
    return json.dumps(agents.format_output(agent, name, text))


def failure_line(event: str, error: Exception) -> str:
    """A failure as one line without a word of what is remembered; as a traceback where debugging is on."""
    if environment.is_debugging():
        import traceback

        return "".join(traceback.format_exception(error)).rstrip()
    details = f": {error}" if isinstance(error, ParamError) else ""
    return f"priming hook {event}: {type(error).__name__}{details}"


def _text(name: str, event: Event, agent: str, options: Mapping[str, str | None], *, server: bool) -> str:
    """The text that an event injects; empty where there is no store yet."""
    from priming.config import settings
    from priming.config.caller import Caller, calling
    from priming.hooks import context, events, session, stores

    values = {f"store.{key}": (value, f"--{key}") for key, value in options.items() if value is not None}
    with ExitStack() as exits:
        existing = stores.find_stores(
            settings.load(values),
            exits,
            project_only=options["url"] is not None,
            server=server,
            prefer_served=name != "session-start",
        )
        if not existing:
            return ""
        folder = Path.cwd()
        project = context.project_of(folder)
        with (
            session.locked_session(existing[0].database, event.session) as state,
            calling(Caller(agent, f"hook {name}", event.session)),
        ):
            return events.handle(name, events.HookCall(event, state, folder, project, existing))


def _standard_input() -> bytes:
    """What the agent writes to the hook."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ParamError("stdin", None, "must be the JSON that an agent sends to its hooks")
    return sys.stdin.buffer.read(HOOK.input + 1)


def _parse(data: bytes) -> Mapping[str, Any]:
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


@contextmanager
def _time_limit() -> Iterator[None]:
    """End the process silently and with success if the block takes too long, for instance at a locked store."""
    alarm = threading.Timer(HOOK.patience, os._exit, [_SUCCESS])
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _write(text: str) -> None:
    """Write a line at once and in whole; an agent that no longer reads is no failure."""
    with suppress(OSError):
        os.write(1, f"{text}\n".encode())
