"""``priming hook``: an agent's JSON on standard input, what it is to be told on standard output.

A hook never stands in an agent's way: whatever goes wrong, it ends in time, with status 0, and has said nothing
on standard output. One line on standard error says what it was; with ``PRIMING_DEBUG`` also where.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming import config
from priming.errors import ParamError
from priming.hook_params import HOOK

if TYPE_CHECKING:
    from priming.serve.hook_agents import Event
    from priming.serve.hook_calls import Asked
    from priming.settings import Settings

_DONE = 0


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
    """Answer one event: read standard input, write standard output, and end well."""
    with _in_time():
        try:
            options = {"url": url, "namespace": namespace, "profile": profile, "embedder": embedder}
            told = _answer(event, agent, options, server=server)
        except Exception as error:  # noqa: BLE001
            _tell(event, error)
            return
        if told:
            _write(json.dumps(told))


def _answer(
    name: str, agent: str | None, options: Mapping[str, str | None], *, server: bool
) -> dict[str, Any] | None:
    from priming.serve import hook_agents

    if name not in hook_agents.EVENTS:
        raise ParamError("event", name, f"must be one of {', '.join(hook_agents.EVENTS)}")
    if agent is not None and agent not in hook_agents.AGENTS:
        raise ParamError("agent", agent, f"must be one of {', '.join(hook_agents.AGENTS)}")
    said = _said()
    event = hook_agents.read(said)
    options = {**options, "url": _absolute(options["url"])}
    if event.folder is not None:
        with suppress(OSError):  # the agent's folder is gone, or not ours to enter: then that of the process
            os.chdir(event.folder)
    text = _text(name, event, options, server=server)
    of = agent or hook_agents.agent_of(said)
    return hook_agents.answered(of, name, text) if text and hook_agents.carries(of, name) else None


def _absolute(url: str | None) -> str | None:
    """The URL of a store that stays the same wherever the process goes."""
    if url is None:
        return None
    from priming.operations import local_socket as places

    where = places.real(url)
    if where is None or where.path is None:
        return url
    return f"{config.url_of(where.path)}?synchronous={where.synchronous}"


def _text(name: str, event: Event, options: Mapping[str, str | None], *, server: bool) -> str:
    """What an event brings up; nothing where nothing was ever remembered."""
    from priming import settings
    from priming.serve import hook_cues, hook_events, hook_state

    given = {f"store.{key}": (one, f"--{key}") for key, one in options.items() if one is not None}
    chosen = settings.load(given)
    with ExitStack() as closing:
        stores = _stores(name, chosen, closing, alone=options["url"] is not None, server=server)
        if not stores:
            return ""
        folder = Path.cwd()
        project = hook_cues.project_of(folder)
        with hook_state.held(stores[0].database, event.session) as state:
            return hook_events.happened(name, hook_events.Moment(event, state, folder, project, stores))


def _stores(name: str, chosen: Settings, closing: ExitStack, *, alone: bool, server: bool) -> list[Asked]:
    """The store of the project and that of all projects, as far as they are there.

    That of all projects is left out where it would be slow: no server of it runs, and one of the project's does. A
    session begins with it in any case.
    """
    from priming.serve.hook_calls import Asked

    found: list[Asked] = []
    urls = [chosen["store.url"]] if alone else [chosen["store.url"], config.url_of(config.global_store())]
    for url in urls:
        one = Asked.of(url, chosen, server=server)
        if one is not None and all(one.database != other.database for other in found):
            closing.callback(one.close)
            found.append(one)
    if len(found) > 1 and name != "session-start" and found[0].reach() and not found[1].reach():
        found.pop()
    return found


def _said() -> Mapping[str, Any]:
    """What the agent says: one JSON object."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ParamError("stdin", None, "must be the JSON that an agent gives its hooks")
    data = sys.stdin.buffer.read(HOOK.input + 1)
    if len(data) > HOOK.input:
        raise ParamError("stdin", f"more than {HOOK.input:,} bytes", "must be shorter")
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        raise ParamError("stdin", f"{len(data):,} bytes", "must be one JSON object") from None
    if not isinstance(said, dict):
        raise ParamError("stdin", type(said).__name__, "must be one JSON object")
    return said


@contextmanager
def _in_time() -> Iterator[None]:
    """End the process, well and silently, where the block takes too long: a locked store may keep it waiting."""
    alarm = threading.Timer(HOOK.patience, os._exit, [_DONE])
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _write(text: str) -> None:
    """Write at once and in whole; an agent that does not listen any more is none of our business."""
    with suppress(OSError):
        os.write(1, f"{text}\n".encode())


def _tell(event: str, error: Exception) -> None:
    """One line on standard error, without a word of what is remembered but where debugging is wanted."""
    said = f"priming hook {event}: {type(error).__name__}"
    with suppress(OSError, AttributeError):
        if config.is_debugging():
            import traceback

            said = "".join(traceback.format_exception(error)).rstrip()
        elif isinstance(error, ParamError):
            said = f"{said}: {error}"
        sys.stderr.write(f"{said}\n")
        sys.stderr.flush()
