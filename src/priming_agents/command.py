"""``priming hook``: an agent's JSON on standard input, the text to inject as the agent's JSON on standard output.

A hook never disturbs an agent: on any failure it ends in time, with status 0 and without standard output. One line
on standard error names the failure; with ``PRIMING_DEBUG`` set, a traceback.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files, variables
from priming.errors import Busy, ParamError
from priming.operations import local_socket
from priming_agents import agents, session, stores
from priming_agents.calls import moment, new_call
from priming_agents.limits import HOOK
from priming_agents.stores import HookStore, Hosts, find_stores, is_everywhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from priming.config.settings import Settings
    from priming.config.store_urls import Location
    from priming.operations.local_server import LocalServer
    from priming_agents.agents import Event
    from priming_agents.session import Mark

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
    work = Work(call or new_call())
    spent = 0.0 if began is None else time.monotonic() - began
    with _time_limit(event, work, HOOK.patience - spent):
        try:
            sent = agents.standard_input() if data is None else data
            output = respond(event, sent, agent, store, work=work)
            agents.report(work.notice)
            work.reply(output)
        except Exception as error:  # noqa: BLE001
            agents.report(failure_line(event, error, work))
            if isinstance(error, Busy):
                work.reply(work.leftover(read=True))
            return
        finally:
            work.hosts.close()
    if server and event in LAUNCHING and work.store is not None:
        launch(work, store)


def launch(work: Work, options: Mapping[str, str | None]) -> None:
    """Start the server of the store of a call, and do not wait for it; nothing happens where it has one.

    It is ``priming serve --local``, in a process that shares no session, pipe or terminal with the agent. A lock that
    the hook takes and the server inherits is held as long as the server lives, however it ends: until it listens, no
    other hook starts another.
    """
    import subprocess

    assert work.store is not None
    database = work.store.database
    if (
        not local_socket.available()
        or not sys.executable
        or local_socket.listens(local_socket.socket_path(database))
    ):
        return
    options = {"global": "", **options, "url": None} if work.is_everywhere else options
    chosen = [
        word for name, value in options.items() if value is not None for word in (f"--{name}", value) if word
    ]
    command = [sys.executable, "-P", "-m", "priming.cli.start", "serve", "--local", "--idle"]
    with suppress(OSError):
        lock = private_files.take(session.folder_of(database) / session.SERVER_LOCK)
        if lock is None:
            return
        try:
            process = subprocess.Popen(
                [*command, f"{HOOK.idle * 60:.0f}s", *chosen],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/" if work.is_everywhere else work.folder,
                pass_fds=(lock,),
                start_new_session=True,
            )
            process.returncode = 0  # nobody waits for it
        finally:
            os.close(lock)


class Work:
    """A call of a hook: its id, the stores that it opens, its one reply, and what it tells if it fails.

    ``leftover`` is the output of a hook that is cut off, with what it reads if there is time to ``read``.
    """

    def __init__(self, call: str, hosts: Hosts | None = None) -> None:
        self.call, self.hosts = call, hosts or Hosts()
        self.installation = variables.hook_installation()
        self.attended = variables.is_attended()
        """Whether a person reads the agent's answers."""
        self.store: HookStore | None = None
        """The store whose server may answer the next calls; None where the settings forbid it."""
        self.is_everywhere = False
        """Whether that is the store of all projects."""
        self.folder: Path | None = None
        self.queued = False
        self.notice = ""
        self.leftover: Callable[..., str] = lambda **_: ""
        self.stores_known = threading.Event()
        self._replies = threading.Lock()

    def reply(self, output: str) -> bool:
        """Write the output, unless the hook has replied before."""
        is_first = self._replies.acquire(blocking=False)
        if is_first:
            agents.write(output)
        return is_first

    def admit(self, settings: Settings, stores: Sequence[HookStore]) -> None:
        """Begin with the stores of the call, first the one that is written to."""
        if settings["hooks.server"] == "on" and environment.server_wanted():
            self.store, self.folder = stores[0], environment.here()
            self.is_everywhere = is_everywhere(stores[0].database)


def respond(
    name: str,
    data: bytes,
    agent: str | None = None,
    store: Mapping[str, str | None] | None = None,
    *,
    work: Work | None = None,
    attended: bool | None = None,
) -> str:
    """Return the standard output of a hook for its standard input; empty if there is nothing to inject.

    ``store`` are the options ``url``, ``namespace``, ``profile`` and ``embedder``. ``attended`` says whether a person
    reads the agent's answers; None: as the environment says. It works in the agent's folder.

    Raises:
        PrimingError, OSError: whatever fails.

    """
    payload = agents.parse(data)
    with closing(Hosts()) if work is None else nullcontext() as hosts:
        work = work or Work(new_call(), hosts)
        if attended is not None:
            work.attended = attended
        return _output(name, payload, agent, store or {}, work)


def _output(
    name: str,
    payload: Mapping[str, Any],
    agent: str | None,
    options: Mapping[str, str | None],
    work: Work,
) -> str:
    """Return the output of a hook for what its agent sends."""
    if name not in agents.EVENTS:
        raise ParamError("event", name, f"must be one of {', '.join(agents.EVENTS)}")
    if agent is not None and agent not in agents.AGENTS:
        raise ParamError("agent", agent, f"must be one of {', '.join(agents.AGENTS)}")
    event = agents.parse_event(payload)
    agent = agent or agents.agent_of(payload)
    mark = session.mark_of(name, payload, work.installation)
    chosen = {**options, "url": local_socket.absolute_url(options.get("url"))}
    with environment.working_in(event.folder):
        text = _text(name, event, mark, agent, chosen, work)
    return _formatted(agent, name, text)


def _formatted(agent: str, name: str, text: str) -> str:
    """Return a text as an agent accepts it at an event; empty if there is none, or none is accepted."""
    is_due = text and agents.accepts_text(agent, name)
    return json.dumps(agents.format_output(agent, name, text)) if is_due else ""


def failure_line(event: str, error: Exception, work: Work | None = None) -> str:
    """Return a failure as one line without any remembered text; as a traceback if debugging is on."""
    if environment.is_debugging():
        import traceback

        return "".join(traceback.format_exception(error)).rstrip()
    if isinstance(error, stores.DatabaseAway):
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
) -> str:
    """Return the text that an event injects. The session is that of the project, also before it has a store."""
    from priming.config import settings
    from priming.config.caller import Caller, calling
    from priming.maintenance.adoption import content_of
    from priming_agents import capture, context, events, teaching

    values = {f"store.{name}": (value, f"--{name}") for name, value in options.items() if value is not None}
    chosen = settings.load(values)
    content = content_of(chosen)
    work.notice = content.first_message()
    existing = find_stores(
        chosen, work.hosts, content=content, project_only=options["url"] is not None, call=work.call
    )
    place = stores.place_of_new_store(chosen)
    if (created := _new_store(place, chosen, name, event, work)) is not None:
        existing = [created, *existing]
    path = None if place is None else place.path
    if not existing:
        return teaching.unadopted(name, event) if content.store else teaching.unstored(path, name, event)
    work.admit(chosen, existing)
    database = path or existing[0].database
    shown = partial(session.read_session, database, event.session)
    work.leftover = lambda *, read: _formatted(
        agent, name, session.constraints_text(existing if read else (), shown())
    )
    work.stores_known.set()
    work.queued = content.store is None and teaching.put(database, work.call, name, event, mark)
    if not existing[0].answers():
        return ""
    if created is not None:
        created.create()  # the correction waits in its file by now
    folder = environment.here()
    with (
        session.locked_session(database, event.session) as state,
        calling(Caller(agent, f"hook {name}", event.session)),
    ):
        if work.call not in state.answers and not state.claim(mark, work.call):
            state.answer(work.call, "")
        if work.call not in state.answers:
            own, project = content.store is None, context.project_of(folder)
            captures = own and capture.is_on(chosen, existing[0].database)
            call = session.HookCall(
                event, agent, state, folder, project, existing, work.attended, own, captures
            )
            state.answer(work.call, events.handle(name, call))
            if time.time() > moment(work.call) / 1_000 + HOOK.patience:
                raise Busy("the hook has ended")  # what nobody was told does not count as shown
            events.record(call)
            state.end_claim(mark)
        text = state.answers[work.call]
    if teaching.UNLEARNED not in text:
        teaching.remove(database, work.call)
    return text


def _new_store(
    place: Location | None, settings: Settings, name: str, event: Event, work: Work
) -> HookStore | None:
    """Return the store that a project gets at a place, with its folder; None where it needs none.

    It gets one at its first correction, and a repository at the first prompt of a session that is captured.
    """
    from priming_agents import capture, teaching

    if place is None or place.path is None:
        return None
    if not (capture.needs_store(settings, place.path, name) or teaching.is_due(place.path, name, event)):
        return None
    private_files.make_folder(place.path.parent)  # so that a correction can wait in it
    return HookStore(place, place.path, settings, work.hosts, call=work.call)


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


class HookAnswers:
    """What a server answers at ``/local/hook``: the work of a hook, with the stores that the server has open.

    One after another, since each takes milliseconds once the store is open.
    """

    def __init__(self, server: LocalServer) -> None:
        from priming.maintenance import adoption
        from priming.rules import learn
        from priming_agents import context, events, prompts, teaching

        assert all((adoption, learn, context, events, prompts, teaching))  # loaded before the first call
        self._server, self._hosts, self._turn = server, Hosts(server), Lock()

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the output of a hook and its line of error, or why the hook has to do the work itself."""
        own = variables.identity()
        if any(request.get(name) != value for name, value in own.items()):
            # An update has replaced the program in its place: what runs here is no longer what is installed.
            if request.get("package") == own["package"] and request.get("version") != own["version"]:
                self._server.end_session()
            return {"refused": "another version, or other variables"}
        work = _ServedWork(str(request["call"]), self._hosts, self._server)
        work.installation = str(request.get("installation") or "")
        work.attended = bool(request.get("attended"))
        try:
            with self._turn, environment.working_in(str(request["folder"])):
                output = _output(
                    str(request["event"]),
                    request["payload"],
                    request.get("agent"),
                    request["store"],
                    work,
                )
        except (NotServed, Busy) as error:
            return {"refused": str(error)}
        except Exception as error:  # noqa: BLE001 - as in a process of its own, whatever fails is a line
            return {"output": "", "error": failure_line(str(request["event"]), error, work)}
        return {"output": output, "error": work.notice}


class NotServed(Exception):
    """A call that this server does not answer: the hook does the work itself."""


OFF, OTHER = "hooks.server is off", "another store"


class _ServedWork(Work):
    """A call that a server answers, with the stores that it has open."""

    def __init__(self, call: str, hosts: Hosts, server: LocalServer) -> None:
        super().__init__(call, hosts)
        self._server = server

    def admit(self, settings: Settings, stores: Sequence[HookStore]) -> None:
        """Refuse calls that the settings do not allow, or that belong to the server of another store."""
        super().admit(settings, stores)
        if local_socket.socket_path(stores[0].database) != self._server.local.path:
            raise NotServed(OTHER)
        if self.store is None and self._server.is_of_session:
            self._server.end_session()
            raise NotServed(OFF)
