"""``priming hook``: an agent's JSON on standard input, the text to inject as the agent's JSON on standard output.

A hook never disturbs an agent: on any failure it ends in time, with status 0 and without standard output. One line
on standard error names the failure; with ``PRIMING_DEBUG`` set, a traceback.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from priming.config import environment
from priming.config.params.hooks import HOOK
from priming.errors import Busy, ParamError
from priming.operations import local_socket
from priming_agents import client, databases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from priming.config.settings import Settings
    from priming_agents.agents import Event
    from priming_agents.session import Mark
    from priming_agents.stores import HookStore, Hosts

_SUCCESS = 0
LAUNCHING = ("session-start", "prompt")
"""The events that start a server if none answered: a session begins, or continues after a pause."""


def run(
    *,
    event: str,
    agent: str | None = None,
    url: str | None = None,
    namespace: str | None = None,
    profile: str | None = None,
    embedder: str | None = None,
    server: bool = True,
    data: bytes | None = None,
    call: str | None = None,
    began: float | None = None,
) -> None:
    """Handle an event: read standard input, write standard output, and succeed whatever happens.

    ``data`` is what was read already, ``call`` the id of a call that a session's server may have begun, and ``began``
    when that was, by the monotonic clock.
    """
    store = {"url": url, "namespace": namespace, "profile": profile, "embedder": embedder}
    work = Work(call or client.new_call())
    spent = 0.0 if began is None else time.monotonic() - began
    with _time_limit(event, work, HOOK.patience - spent):
        try:
            folder = Path.cwd()
            sent = client.standard_input() if data is None else data
            output = respond(event, sent, agent, store, server=server, work=work)
            client.report(work.notice)
            work.reply(output)
        except Exception as error:  # noqa: BLE001
            client.report(failure_line(event, error, work))
            if isinstance(error, Busy):
                work.reply(work.leftover(read=True))
            return
        finally:
            work.hosts.close()
    if server and event in LAUNCHING and work.database is not None:
        from priming_agents import background

        background.launch(work.database, folder, store)


class Work:
    """A call of a hook: its id, the stores that it opens, its one reply, and what it tells if it fails.

    ``leftover`` is the output of a hook that is cut off, with what it reads if there is time to ``read``.
    """

    def __init__(self, call: str, hosts: Hosts | None = None) -> None:
        from priming_agents.stores import Hosts

        self.call, self.hosts = call, hosts or Hosts()
        self.installation = environment.hook_installation()
        self.database: Path | None = None
        self.queued = False
        self.notice = ""
        self.leftover: Callable[..., str] = lambda **_: ""
        self.stores_known = threading.Event()
        self._replies = threading.Lock()

    def reply(self, output: str) -> bool:
        """Write the output, unless the hook has replied before."""
        is_first = self._replies.acquire(blocking=False)
        if is_first:
            client.write(output)
        return is_first

    def admit(self, settings: Settings, stores: Sequence[HookStore]) -> None:
        """Begin with the stores of the call, first the one that is written to."""
        if settings["hooks.server"] == "on" and environment.server_wanted():
            self.database = stores[0].database


def respond(
    name: str,
    data: bytes,
    agent: str | None = None,
    store: Mapping[str, str | None] | None = None,
    *,
    server: bool = True,
    work: Work | None = None,
    attended: bool | None = None,
) -> str:
    """The standard output of a hook for its standard input; empty if there is nothing to inject.

    ``store`` are the options ``url``, ``namespace``, ``profile`` and ``embedder``. ``attended`` says whether a person
    reads the agent's answers; None: as the environment says. The working directory becomes the agent's.

    Raises:
        PrimingError, OSError: whatever fails.

    """
    from priming_agents import agents
    from priming_agents.session import mark_of

    if name not in agents.EVENTS:
        raise ParamError("event", name, f"must be one of {', '.join(agents.EVENTS)}")
    if agent is not None and agent not in agents.AGENTS:
        raise ParamError("agent", agent, f"must be one of {', '.join(agents.AGENTS)}")
    payload = client.parse(data)
    event = agents.parse_event(payload)
    options = dict(store or {})
    options["url"] = local_socket.absolute_url(options.get("url"))
    client.enter(event.folder)
    agent = agent or agents.agent_of(payload)
    with ExitStack() as exits:
        if work is None:
            work = Work(client.new_call())
            exits.callback(work.hosts.close)
        attended = environment.is_attended() if attended is None else attended
        mark = mark_of(name, payload, work.installation)
        text = _text(name, event, mark, agent, options, work, server=server, attended=attended)
    return _formatted(agent, name, text)


def _formatted(agent: str, name: str, text: str) -> str:
    """A text as an agent accepts it at an event; empty if there is none, or none is accepted."""
    from priming_agents import agents

    is_due = text and agents.accepts_text(name)
    return json.dumps(agents.format_output(agent, name, text)) if is_due else ""


def failure_line(event: str, error: Exception, work: Work | None = None) -> str:
    """A failure as one line without any remembered text; as a traceback if debugging is on."""
    if environment.is_debugging():
        import traceback

        return "".join(traceback.format_exception(error)).rstrip()
    if isinstance(error, databases.DatabaseAway):
        details = f"{error}; hooks go without it, and say so no more"
    else:
        details = type(error).__name__ + (f": {error}" if isinstance(error, ParamError) else "")
    queued = "; a later hook will learn the correction" if work is not None and work.queued else ""
    return f"priming hook {event}: {details}{queued}"


def _text(
    name: str,
    event: Event,
    mark: Mark,
    agent: str,
    options: Mapping[str, str | None],
    work: Work,
    *,
    server: bool,
    attended: bool,
) -> str:
    """The text that an event injects; empty if there is no store yet, and no correction to create one for."""
    from priming.config import settings
    from priming.config.caller import Caller, calling
    from priming.maintenance.adoption import content_of
    from priming_agents import context, cut, events, session, stores, teaching

    values = {f"store.{key}": (value, f"--{key}") for key, value in options.items() if value is not None}
    with ExitStack() as exits:
        chosen = settings.load(values)
        content = content_of(chosen)
        work.notice = content.first_message()
        existing = stores.find_stores(
            chosen,
            exits,
            work.hosts,
            content=content,
            project_only=options["url"] is not None,
            server=server,
            prefer_served=name != "session-start",
            call=work.call,
        )
        if (created := _new_store(chosen, name, event, work, server=server)) is not None:
            existing = [created, *existing]
            exits.callback(created.close)
        if not existing:
            return ""
        work.admit(chosen, existing)
        database = existing[0].database
        shown = partial(session.read_session, database, event.session)
        work.leftover = lambda *, read: _formatted(
            agent, name, cut.constraints_text(existing if read else (), shown())
        )
        work.stores_known.set()
        work.queued = content.store is None and teaching.put(database, work.call, name, event, mark)
        if not existing[0].answers():
            return ""
        if created is not None:
            created.create()  # the correction waits in its file by now
        folder = Path.cwd()
        project = context.project_of(folder)
        with (
            session.locked_session(database, event.session) as state,
            calling(Caller(agent, f"hook {name}", event.session)),
        ):
            if work.call not in state.answers and not state.claim(mark, work.call):
                state.answer(work.call, "")
            if work.call not in state.answers:
                call = session.HookCall(
                    event, state, folder, project, existing, attended, content.store is None
                )
                if name in LAUNCHING:
                    events.learn_left_behind(call, database, work.call)
                state.answer(work.call, events.handle(name, call))
                if time.time() > session.moment(work.call) / 1_000 + HOOK.patience:
                    raise Busy("the hook has ended")  # what nobody was told does not count as shown
                state.end_claim(mark)
            text = state.answers[work.call]
        if events.UNLEARNED not in text:
            teaching.remove(database, work.call)
        return text


def _new_store(settings: Settings, name: str, event: Event, work: Work, *, server: bool) -> HookStore | None:
    """The store that a project gets at its first correction, with its folder; None where it needs none."""
    from priming_agents import stores, teaching

    place = stores.place_of_new_store(settings) if settings["hooks.create"] == "on" else None
    if place is None or place.path is None or not teaching.is_due(place.path, name, event):
        return None
    created = stores.HookStore(place, place.path, settings, work.hosts, server=server, call=work.call)
    created.make_folder()
    return created


@contextmanager
def _time_limit(event: str, work: Work, seconds: float) -> Iterator[None]:
    """End the process with success, and report it, if the block takes too long, for instance at a locked store.

    What is left of the time is for reading constraints.
    """
    outputs = list[str]()

    def read() -> None:
        work.stores_known.wait()
        outputs.append(work.leftover(read=True))

    def give_up() -> None:
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(HOOK.rest)
        if work.reply(outputs[0] if outputs else work.leftover(read=False)):
            with suppress(OSError):
                os.write(2, f"{failure_line(event, TimeoutError(), work)}\n".encode())
            os._exit(_SUCCESS)

    alarm = threading.Timer(max(0.0, seconds - HOOK.rest), give_up)
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
