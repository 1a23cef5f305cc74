"""The server that a session starts: it answers the hooks of one store, and ends when it is no longer called.

It is a process of its own, which shares no session, pipe or terminal with the agent. A lock that it holds for its
life makes it the only one of its store; the system frees the lock however the process ends, so that a dead server's
socket is replaced. It answers call after call: what a hook asks takes milliseconds once the store is open.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.params.embedding import EMBEDDER
from priming.config.params.hooks import HOOK, HookParams
from priming.errors import Busy, PrimingError
from priming.operations import local_socket as places
from priming_agents import client, command
from priming_agents.session import SERVER_LOCK, folder_of

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming_agents.stores import HookStore, Hosts

_WAITING = 64
_CHUNK = 65_536


class NotServed(Exception):
    """A call that this server does not answer: the hook does the work itself."""


def launch(database: Path, folder: Path, store: Mapping[str, str | None]) -> None:
    """Start the server of a store and do not wait for it; nothing happens where it runs already.

    Args:
        database: the database of the store.
        folder: where relative paths of the agent's hooks begin.
        store: the options of the hook, with which the store is opened beforehand.

    """
    if not places.available() or not sys.executable or is_running(database):
        return
    import subprocess

    options = json.dumps({name: value for name, value in store.items() if value is not None})
    module = [sys.executable, "-P", "-m", "priming_agents.background"]
    with suppress(OSError):
        process = subprocess.Popen(
            [*module, str(database), str(folder), options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            close_fds=True,
            start_new_session=True,
        )
        process.returncode = 0  # nobody waits for it


def is_running(database: Path) -> bool:
    """Whether a server of the store runs, or is about to."""
    try:
        handle = os.open(folder_of(database) / SERVER_LOCK, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _is_free(handle)
    finally:
        os.close(handle)


def state(database: Path) -> dict[str, Any] | None:
    """What the server of a store says of itself; None where none runs."""
    return client.ask(database, {"do": "state"}) if is_running(database) else None


def process_of(database: Path) -> int | None:
    """The process of the server of a store, by its lock; None where none runs."""
    with suppress(OSError, ValueError):
        number = int(private_files.read_text(folder_of(database) / SERVER_LOCK))
        return number if is_running(database) else None
    return None


def stop(database: Path) -> bool:
    """End the server of a store and wait for that; whether there was one."""
    if client.ask(database, {"do": "stop"}) is None:
        process = process_of(database)
        if process is None:
            return False
        with suppress(OSError):  # it does not answer: it has not begun to listen, or is busy
            os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + HOOK.patience
    while is_running(database) and time.monotonic() < deadline:
        time.sleep(0.01)
    return True


@contextmanager
def _lock(database: Path) -> Iterator[bool]:
    """The lock of the server of a store, for the block; False where another process has it, or there can be none."""
    try:
        private_files.make_folder(folder_of(database))
        handle = os.open(folder_of(database) / SERVER_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        alone = _is_free(handle)
        if alone:
            os.truncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
        yield alone
    finally:
        os.close(handle)


def _is_free(handle: int) -> bool:
    """Take a lock; returns whether it was free."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class HookServer:
    """Answers the hooks of a store until calls cease, the store is gone, or a signal arrives."""

    def __init__(self, database: Path, hosts: Hosts, params: HookParams = HOOK) -> None:
        self.database, self._hosts, self._params = database, hosts, params
        self._began = self._called = time.monotonic()
        self._calls, self._ended = 0, False
        self._wake, self._waker = socket.socketpair()
        self._file = _file_of(database)

    def end(self, *_signal: Any) -> None:
        """End as soon as the present call is answered."""
        self._ended = True
        with suppress(OSError):
            self._waker.send(b"x")

    def run(self) -> None:
        """Listen and answer."""
        path = places.socket_path(self.database, client.ENDING)
        places.prepare(path.parent)
        path.unlink(missing_ok=True)  # of a dead server: this one has the lock
        with self._wake, self._waker, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            mask = os.umask(0o177)
            try:
                listener.bind(str(path))
            finally:
                os.umask(mask)
            ours = path.lstat().st_ino
            listener.listen(_WAITING)
            try:
                while not self._ended and self._is_wanted(path, ours):
                    self._take(listener)
            finally:
                with suppress(OSError):
                    if path.lstat().st_ino == ours:
                        path.unlink()

    def _is_wanted(self, path: Path, ours: int) -> bool:
        """Whether the store and the socket are still those of the start, and there was a recent call."""
        with suppress(OSError):
            same = _file_of(self.database) == self._file and path.lstat().st_ino == ours
            return same and time.monotonic() - self._called < self._params.idle * 60.0
        return False

    def _take(self, listener: socket.socket) -> None:
        """Answer the next call, if one comes before it is time to look around; between calls, make vectors."""
        patience = min(self._params.look, self._params.idle * 60.0)
        ready, _, _ = select.select([listener, self._wake], [], [], patience)
        if not ready:
            self._hosts.make_vectors(EMBEDDER.idle)
        if listener not in ready:
            return
        end, _ = listener.accept()
        with end, suppress(OSError, ValueError, TypeError, KeyError, RecursionError):  # no request of ours
            end.settimeout(self._params.answer)
            if not places.peer_is_us(end):
                return
            head, _, data = _received(end).partition(b"\n")
            request = json.loads(head)
            if isinstance(request, dict):
                end.sendall(json.dumps(self._answer(request, data)).encode())

    def _answer(self, request: Mapping[str, Any], data: bytes) -> dict[str, Any]:
        """The answer to a request."""
        match request.get("do"):
            case "hook":
                return self._answer_hook(request, data)
            case "stop":
                self._ended = True
                return {"pid": os.getpid()}
            case _:
                now = time.monotonic()
                return {
                    "pid": os.getpid(),
                    "version": environment.VERSION,
                    "seconds": now - self._began,
                    "idle": now - self._called,
                    "ends_after": self._params.idle * 60.0,
                    "calls": self._calls,
                }

    def _answer_hook(self, request: Mapping[str, Any], data: bytes) -> dict[str, Any]:
        """The output of a hook and its line of error; a refusal where the hook has to do the work itself."""
        own = client.identity()
        if any(request.get(name) != value for name, value in own.items()):
            # An update has replaced the program in its place: what runs here is no longer what is installed.
            self._ended = (
                request.get("package") == own["package"] and request.get("version") != own["version"]
            )
            return {"refused": "another version, or other variables"}
        work = _ServedWork(str(request["call"]), self._hosts, self.database)
        work.installation = str(request.get("installation") or "")
        try:
            with _working_in(str(request["folder"])):
                event, agent = str(request["event"]), request["agent"]
                attended = bool(request.get("attended"))
                output = command.respond(
                    event, data, agent, request["store"], server=False, work=work, attended=attended
                )
        except (NotServed, Busy) as error:
            self._ended = self._ended or error.args[0] == OFF
            return {"refused": str(error)}
        except Exception as error:  # noqa: BLE001 - as in a process of its own, whatever fails is a line
            self._called = time.monotonic()
            return {"output": "", "error": command.failure_line(str(request["event"]), error, work)}
        self._calls += 1
        self._called = time.monotonic()
        return {"output": output, "error": work.notice}


OFF, OTHER = "hooks.server is off", "another store"


class _ServedWork(command.Work):
    """A call that a server answers, with the stores that it has open."""

    def __init__(self, call: str, hosts: Hosts, database: Path) -> None:
        super().__init__(call, hosts)
        self._served = database

    def admit(self, settings: Settings, stores: Sequence[HookStore]) -> None:
        """Refuse calls that the settings do not allow, or that belong to the server of another store."""
        super().admit(settings, stores)
        if self.database is None:
            raise NotServed(OFF)
        if self.database != self._served:
            raise NotServed(OTHER)


@contextmanager
def _working_in(folder: str) -> Iterator[None]:
    """Work in a folder, and hold none afterwards, so that it can be removed or unmounted."""
    try:
        with suppress(OSError):
            os.chdir(folder)
        yield
    finally:
        os.chdir("/")


def _received(end: socket.socket) -> bytes:
    chunks = list[bytes]()
    while chunk := end.recv(_CHUNK):
        chunks.append(chunk)
    return b"".join(chunks)


def _file_of(database: Path) -> tuple[int, int]:
    status = database.stat()
    return status.st_dev, status.st_ino


def _open_beforehand(hosts: Hosts, options: Mapping[str, str]) -> None:
    """Open the store and load what recalls need, so that the first hook does not wait for it."""
    from priming.config import settings
    from priming.maintenance.adoption import content_of
    from priming.rules import learn
    from priming_agents import context, corrections, events, stores, teaching

    assert all((context, corrections, events, teaching, learn))
    values = {f"store.{name}": (value, f"--{name}") for name, value in options.items()}
    with ExitStack() as exits:
        chosen = settings.load(values)
        existing = stores.find_stores(
            chosen,
            exits,
            hosts,
            content=content_of(chosen),
            project_only="url" in options,
            server=False,
            prefer_served=False,
            call=client.new_call(),
        )
        for store in existing:
            store.warm()


def main(arguments: Sequence[str]) -> None:
    """Be the server of a store, unless it has one."""
    database, folder, options = Path(arguments[0]), arguments[1], json.loads(arguments[2])
    # A hook waits no longer for an answer: a call beyond that serves nobody.
    with places.ending_within(HOOK.answer), _lock(database) as alone:
        if not alone:
            return
        from priming_agents.stores import Hosts

        hosts = Hosts()
        server = HookServer(database, hosts)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, server.end)
        with suppress(PrimingError, OSError), _working_in(folder):
            _open_beforehand(hosts, options)
        server.run()
        if database.exists():
            hosts.close()


if __name__ == "__main__":
    main(sys.argv[1:])
