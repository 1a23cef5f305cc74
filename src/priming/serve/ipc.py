"""The Unix socket: every operation of the table, and the actions of Ethos, for the processes of one user."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from priming.api import envelope, frames, places, requests
from priming.api.host import Host
from priming.api.requests import Gone
from priming.config.params.server import SOCKET, SocketParams
from priming.config.settings import Settings
from priming.embed.choose import stamp_of
from priming.errors import Conflict, ParamError, StoreError

_READ = 1 << 16
HELLO = {"action": "hello"}
_log = logging.getLogger(__name__)


def run(
    url: str | None = None,
    *,
    profile: str = "priming",
    settings: Settings | None = None,
    path: str | Path | None = None,
    ready: Callable[[Path], None] | None = None,
) -> None:
    """Serve a store on its socket until SIGTERM or SIGINT; ``ready`` is called with the path once it listens."""
    _take_many()
    host = Host(url, profile=profile, settings=settings)
    try:
        asyncio.run(_until_stopped(host, None if path is None else Path(path), ready))
    finally:
        host.close()


async def _until_stopped(host: Host, path: Path | None, ready: Callable[[Path], None] | None) -> None:
    stop = asyncio.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(one, stop.set)
    await serve_socket(host, path, ready=ready, stop=stop)


async def serve_socket(
    host: Host,
    path: Path | None = None,
    *,
    ready: Callable[[Path], None] | None = None,
    stop: asyncio.Event,
    params: SocketParams = SOCKET,
) -> None:
    """Answer on a socket until ``stop``; calls at work are then finished, long ones after their present step.

    ``path`` None means the one beside the database, where clients of the store look for it.

    Raises:
        Conflict: another server listens there.
        StoreError: a socket cannot be made there.

    """
    greeting = await asyncio.to_thread(_greeting, host)
    at = places.socket_path(Path(greeting["database"])) if path is None else path.absolute()
    with listening(at) as listener:
        server = Server(host, greeting, params)
        accepting = await asyncio.start_unix_server(server.connected, sock=listener, backlog=params.waiting)
        _log.info("listening on %s", at)
        if ready is not None:
            ready(at)
        await stop.wait()
        accepting.close()
        await server.end()


def _greeting(host: Host) -> dict[str, str]:
    """What the server is. The store is opened, and made where it is not there."""
    where = places.real(host.url)
    if where is None:
        raise ParamError("url", host.url, "must be a store in a file: a socket stands beside it")
    with host.memory("default"):
        return places.greeting(where, host.profile, host.settings, stamp_of(host.embedder))


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """A socket that only the user can reach, removed at the end. That of a dead server is replaced."""
    if len(os.fsencode(path)) > places.LONGEST:
        raise ParamError("socket", str(path), f"must have at most {places.LONGEST} bytes")
    places.prepare(path.parent)
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _alone(path.parent):
            _clear(path)
            _bind(end, path)
            own = path.lstat().st_ino
        try:
            yield end
        finally:
            with _alone(path.parent), suppress(FileNotFoundError):
                if path.lstat().st_ino == own:
                    path.unlink()
    finally:
        end.close()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else makes or removes a socket in the folder meanwhile."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _clear(path: Path) -> None:
    """Remove the socket of a server that is no more; ``Conflict`` for what is anything else."""
    if not path.exists() and not path.is_symlink():
        return
    if not places.is_ours(path):
        raise Conflict(f"{path} is no socket of yours: remove it, or name another")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knocking:
        knocking.settimeout(1.0)
        try:
            knocking.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError:
            pass  # it is there, and too busy to answer
    raise Conflict(f"a server listens on {path} already: use it, or end it first")


def _bind(end: socket.socket, path: Path) -> None:
    before = os.umask(0o177)  # the socket is the user's own from its first moment
    try:
        end.bind(str(path))
    except OSError as error:
        raise StoreError(f"{path} cannot be made ({error.strerror}): name another socket") from error
    finally:
        os.umask(before)
    end.listen()
    end.setblocking(False)


class Server:
    """The connections of a socket. Each is answered in the order in which it asks, its calls in a pool of threads."""

    def __init__(self, host: Host, greeting: dict[str, str], params: SocketParams = SOCKET) -> None:
        self._host, self._greeting, self._params = host, greeting, params
        self._pool = ThreadPoolExecutor(params.threads, thread_name_prefix="socket")
        self._all: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.Task[None]] = set()
        self._ending = Event()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it ends."""
        task = asyncio.current_task()
        assert task is not None
        self._all.add(task)
        try:
            if places.peer_is_us(writer.get_extra_info("socket")):
                await self._converse(task, reader, writer)
        except (ConnectionError, Gone, asyncio.CancelledError):
            pass  # the other end went away, or the server ends
        finally:
            self._all.discard(task)
            writer.close()

    async def end(self) -> None:
        """Let the calls at work finish, and part from everybody; who does not read an answer is not waited for."""
        self._ending.set()
        for task in tuple(self._idle):
            task.cancel()
        await asyncio.to_thread(self._pool.shutdown)
        if self._all:
            _, left = await asyncio.wait(self._all, timeout=self._params.drain)
            for task in left:
                task.cancel()

    async def _converse(
        self, task: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        decoder = frames.Decoder()
        more = True
        while more:
            data = await self._read(task, reader, decoder)
            more = data != b""
            try:
                for message in _messages(decoder, data):
                    await self._answer(decoder.framing, message, writer)
            except ParamError as error:
                await _send(writer, frames.pack(decoder.framing, envelope.failed(error)))
                return

    async def _read(
        self, task: asyncio.Task[None], reader: asyncio.StreamReader, decoder: frames.Decoder
    ) -> bytes | None:
        """What came, nothing at the end; None where the framing is open and nothing more comes for now."""
        patience = self._params.settle if decoder.undecided else None
        self._idle.add(task)
        try:
            return await asyncio.wait_for(reader.read(_READ), patience)
        except TimeoutError:
            return None
        finally:
            self._idle.discard(task)

    async def _answer(self, framing: str | None, message: bytes, writer: asyncio.StreamWriter) -> None:
        """Answer one message; ``ParamError`` if it is none, after which there is nothing to go on with."""
        if len(message) <= _READ:
            request = frames.parse(framing, message)
        else:
            request = await self._pooled(frames.parse, framing, message)
        if request == HELLO:
            told = envelope.done(self._greeting)
        else:
            told = await self._pooled(
                requests.reply, self._host, request, self._progress(framing, request, writer)
            )
        await _send(writer, _packed(framing, told))

    async def _pooled(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._ending.is_set():
            raise Gone
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    def _progress(
        self, framing: str | None, request: dict[str, Any], writer: asyncio.StreamWriter
    ) -> Callable[[int, int | None], None]:
        """What a long call tells its progress to, from its thread: it ends the call where nobody waits any more."""
        loop, telling = asyncio.get_running_loop(), requests.wants_progress(request)
        end = writer.get_extra_info("socket")
        last = 0.0

        def progress(done: int, total: int | None) -> None:
            nonlocal last
            if self._ending.is_set() or writer.is_closing() or _is_gone(end.fileno()):
                raise Gone
            if telling and (total is None or done == total or monotonic() - last >= self._params.between):
                last = monotonic()
                loop.call_soon_threadsafe(writer.write, frames.pack(framing, {"progress": [done, total]}))

        return progress


def _messages(decoder: frames.Decoder, data: bytes | None) -> Iterator[bytes]:
    if data is None:
        return decoder.settle()
    return decoder.feed(data) if data else decoder.end()


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send, and wait until the other end has read enough of it."""
    writer.write(data)
    await writer.drain()


def _packed(framing: str | None, told: dict[str, Any]) -> bytes:
    """An envelope as bytes; one that is too long becomes one that says so."""
    try:
        return frames.pack(framing, told)
    except frames.TooLong:
        named = {"id": told["id"]} if "id" in told else {}
        return frames.pack(framing, {**envelope.too_long(frames.LIMIT), **named})


def _is_gone(end: int) -> bool:
    """Whether the other end is closed altogether; one that only sends no more still waits for its answer."""
    looking = select.poll()
    looking.register(end, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in looking.poll(0))


def _take_many() -> None:
    """Let the process have as many connections as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
