"""The HTTP server as a process: where it listens, how long it waits for slow clients, and how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import resource
import signal
import socket
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import h11
from fastapi import FastAPI
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from priming.api.host import Host
from priming.config.environment import locate
from priming.config.params.server import ServerParams
from priming.engine.tokens import Tokens
from priming.errors import Conflict, ParamError, PrimingError
from priming.serve import logs
from priming.serve.answers import JSON, written
from priming.serve.ipc import serve_socket

_WAITING = 2048
"""Connections that wait to be taken."""
_FILES = 65_536


def loopback(name: str) -> bool:
    """Whether a name to listen at is this machine's own, out of reach for others."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def refuse_strangers(tokens: Tokens, name: str) -> None:
    """``Conflict`` where a server would listen to other machines, and anybody there could use it."""
    if not loopback(name) and not any(one.revoked_at is None for one in tokens.list()):
        raise Conflict(
            f"{name} can be reached from other machines, and the store has no token: make one with"
            " 'priming token new NAMESPACE', or listen at 127.0.0.1"
        )


@contextmanager
def listening(name: str, port: int, uds: Path | None) -> Iterator[socket.socket]:
    """The socket to listen at: of an address, or a file that only its owner can use."""
    with _at_file(uds) if uds is not None else _at_address(name, port) as found:
        found.listen(_WAITING)
        yield found


@contextmanager
def _at_address(name: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except (OSError, OverflowError, UnicodeError) as error:
        raise ParamError("host", name, f"must be an address of this machine ({error})") from None
    with found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(address)
        except OSError as error:
            raise Conflict(
                f"{name}:{port} cannot be listened at ({error.strerror}): name another --port"
            ) from None
        yield found


@contextmanager
def _at_file(path: Path) -> Iterator[socket.socket]:
    """A socket of mode 0600, removed at the end; one that a dead server left is replaced."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as found:
        _remove_dead(path)
        mask = os.umask(0o177)
        try:
            found.bind(str(path))
        except OSError as error:
            raise ParamError("--uds", str(path), f"must be a place for a socket ({error})") from None
        finally:
            os.umask(mask)
        try:
            yield found
        finally:
            path.unlink(missing_ok=True)


def _remove_dead(path: Path) -> None:
    """Remove a socket that nobody listens at."""
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise Conflict(f"{path} is in use by another server: end that one, or name another")


def serve(app: FastAPI, listener: socket.socket, params: ServerParams, ready: Callable[[], None]) -> None:
    """Answer on a socket until SIGTERM or SIGINT: what was begun is finished, jobs up to their present step."""
    _take_many()
    Running(app, params, ready).run([listener])


class Running(Server):
    """uvicorn, with patience for slow clients that ends, and jobs that end before it waits for connections."""

    def __init__(self, app: FastAPI, params: ServerParams, ready: Callable[[], None]) -> None:
        class Protocol(Patient):
            patience = params

        self._app, self._ready = app, ready
        config = Config(
            app,
            http=Protocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=params.idle_seconds,
            timeout_graceful_shutdown=params.grace_seconds,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM and SIGINT end the server, and the process goes on to close what it holds."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let jobs end, so that those who follow them need not be waited for, and then all the rest."""
        self._app.state.server.stop()
        await super().shutdown(sockets)


class Patient(H11Protocol):
    """A connection that is closed when a head does not arrive in time, or nobody reads the answer."""

    patience: ServerParams
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head. The log of requests is the gate's: uvicorn's would quote paths."""
        super().connection_made(transport)
        self.access_log = False
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what came, and go on waiting where it is part of a head only."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_came()
        elif self._late is None:
            self._await_head()

    def send_400_response(self, msg: str) -> None:
        """Tell what is no HTTP so, in the form of every error, and close."""
        body = written({"error": {"code": "bad_param", "message": msg}})
        head = [("Content-Type", JSON), ("Content-Length", str(len(body))), ("Connection", "close")]
        for event in (h11.Response(status_code=400, headers=head), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """From here on the connection is idle, which has a patience of its own."""
        super().on_response_complete()
        self._head_came()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks for it, uvicorn never answers
        """Whether to stay: a client that only reads any more still gets the answer to what it asked."""
        asked = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if asked:
            self.cycle.keep_alive = False
        return asked

    def pause_writing(self) -> None:
        """The client reads nothing: begin to lose patience."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.patience.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for any more."""
        self._head_came()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._late = self.loop.call_later(self.patience.head_seconds, self.transport.close)

    def _head_came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _take_many() -> None:
    """Let this process have as many connections as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@asynccontextmanager
async def socket_beside(host: Host) -> AsyncIterator[None]:
    """The socket beside the database, at which the command line finds this server; another's is left alone."""
    if locate(host.url).path is None:
        yield
        return
    stop, settled = asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(_serve_beside(host, stop, settled))
    await settled.wait()
    try:
        yield
    finally:
        stop.set()
        await serving


async def _serve_beside(host: Host, stop: asyncio.Event, settled: asyncio.Event) -> None:
    """Serve the socket until ``stop``; ``settled`` once it listens, or is known not to."""
    try:
        await serve_socket(host, stop=stop, ready=lambda _: settled.set())
    except Conflict as error:
        logs.write(logging.WARNING, "another server of this store has its socket", code=error.code)
    except PrimingError as error:
        logs.write(logging.WARNING, "no socket beside the store", code=error.code)
    finally:
        settled.set()
