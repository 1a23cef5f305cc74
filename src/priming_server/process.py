"""The server as a process: start and end, protocols, and time limits for slow clients."""

from __future__ import annotations

import asyncio
import math
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import h11
from fastapi import FastAPI
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from priming.config.params.server import SERVER, SOCKET, ServerParams
from priming.config.settings import Settings
from priming.operations import local_socket
from priming.operations.service import LocalService
from priming_server import telemetry
from priming_server.ethos.socket import Conversation, Shared
from priming_server.http import create_app
from priming_server.listeners import (
    LocalListener,
    beside_store,
    create_store,
    listening,
    loopback,
    notify_supervisor,
    refuse_open_server,
)
from priming_server.responses import JSON, json_bytes
from priming_server.tokens import Tokens

_FILES = 65_536
_METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"PATC", b"DELE", b"OPTI")
"""The first four bytes of HTTP: no message of the other framings begins with them."""
_FOREVER = 10**9
_CLOSING = 1.0
"""Seconds beyond its grace after which a server that was told to end is ended, whatever it does."""


def run(
    url: str | None = None,
    *,
    profile: str = "priming",
    settings: Settings | None = None,
    host: str = "127.0.0.1",
    port: int = 7777,
    uds: str | Path | None = None,
    sleep_every: timedelta | None = None,
    tools: str = "core",
    params: ServerParams = SERVER,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a store until SIGTERM or SIGINT; ``ready`` is called with the address once it listens.

    What does not end in its grace is cut off, as by a crash: the store is then as it was before that call or step.

    It listens at the socket beside the store as well, at which clients on this machine look for it. A store that does
    not exist yet is created, since the first write may come by that socket.

    Args:
        url: the store.
        profile: the profile of its recalls.
        settings: those of retrieval and of the log; None: the defaults.
        host: the address to listen at; another than a loopback address needs a token.
        port: 0 lets the system choose.
        uds: the path of a Unix socket to listen at instead.
        sleep_every: how often the open namespaces sleep by themselves; None: never.
        tools: the groups of tools that MCP offers to clients that name none.
        params: limits and patience.
        ready: called with the address.

    Raises:
        ParamError: an address that is none.
        Conflict: an address in use, or one that other machines reach while the store has no token.

    """
    from priming_server.mcp_http import mounted

    path = None if uds is None else Path(uds)
    last = params.drain_seconds + params.grace_seconds + _CLOSING
    with (
        local_socket.ending_within(last),
        Tokens(url) as tokens,
        closing(LocalService(url, profile=profile, settings=settings)) as service,
    ):
        if path is None:
            refuse_open_server(tokens, host)
        with listening(host, port, path) as listener:
            telemetry.begin(level="info" if settings is None else settings["service.log_level"])
            create_store(service)
            with beside_store(service) as local:
                app = create_app(
                    service,
                    tokens,
                    params=params,
                    names_only=path is None and loopback(host),
                    greeting=None if local is None else local.greeting,
                    sleep_every=sleep_every,
                    mounts=[mounted(service, params, tools)],
                )
                address = str(path) if path else _address(listener)
                serve(app, listener, params, partial(ready or _ignore, address), local)


def _address(listener: socket.socket) -> str:
    """Where it listens, as a URL."""
    name, port = listener.getsockname()[:2]
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _ignore(address: str) -> None:
    """Do nothing with the address."""


def serve(
    app: FastAPI,
    listener: socket.socket,
    params: ServerParams,
    ready: Callable[[], None],
    local: LocalListener | None = None,
) -> None:
    """Answer at the sockets until SIGTERM or SIGINT: running calls are finished, jobs up to their current step."""
    _raise_file_limit()
    UvicornServer(app, params, ready, local).run([listener])


class UvicornServer(Server):
    """uvicorn with time limits for clients; it cancels jobs before it waits for connections."""

    def __init__(
        self,
        app: FastAPI,
        params: ServerParams,
        ready: Callable[[], None],
        local: LocalListener | None = None,
    ) -> None:
        class Protocol(PatientProtocol):
            patience = params

        self._app, self._params, self._ready, self._local = app, params, ready, local
        self._drained = math.inf
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
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM first announces the end, if there is time to drain; a second signal, or SIGINT, ends at once."""
        state = self._app.state.server
        if sig == signal.SIGTERM and self._params.drain_seconds and not state.draining:
            state.draining = True
            self._drained = time.monotonic() + self._params.drain_seconds
            notify_supervisor("STOPPING=1")
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Whether to end: uvicorn asks ten times a second."""
        return time.monotonic() >= self._drained or await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen at all sockets, and then call ``ready``."""
        await super().startup(sockets)
        if self._local is not None:
            protocol = partial(LocalProtocol, self, self._local.greeting)
            loop = asyncio.get_running_loop()
            # The loop listens again: with its own default it would cut the queue to 100.
            backlog = SOCKET.waiting
            self.servers.append(await loop.create_server(protocol, sock=self._local.socket, backlog=backlog))
        self._ready()
        notify_supervisor("READY=1")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel jobs, so that their followers need not be waited for, and then end all connections."""
        notify_supervisor("STOPPING=1")
        self._app.state.server.stop()
        await super().shutdown(sockets)

    def http_protocol(self) -> H11Protocol:
        """The protocol of a connection at the store's own socket that speaks HTTP."""
        state = {**self.lifespan.state, "local": True}
        protocol = LocalHttpProtocol(self.config, self.server_state, state)
        protocol.patience, protocol.timeout_keep_alive = self._params, _FOREVER
        return protocol

    def ethos_protocol(self, greeting: Mapping[str, str]) -> asyncio.Protocol:
        """The protocol of a connection at the store's own socket that speaks the framings of Ethos."""
        server = self._app.state.server
        shared = Shared(server.service, greeting, server.workers, server.ending, SOCKET)
        conversation = Conversation(shared, self.server_state.connections)
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(), conversation.connected)


class LocalProtocol(asyncio.Protocol):
    """A new connection at the store's own socket, whose first bytes show whether it is HTTP."""

    def __init__(self, server: UvicornServer, greeting: Mapping[str, str]) -> None:
        self._server, self._greeting = server, greeting
        self._start = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: Any) -> None:
        """Accept the connection of a process of the same user; close any other."""
        self._transport = transport
        self._server.server_state.connections.add(self)  # type: ignore[arg-type]  # it has ``shutdown``
        if not local_socket.peer_is_us(transport.get_extra_info("socket")):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Hand the connection over as soon as its first bytes are clear."""
        self._start += data
        head = self._start[:4]
        if not any(method.startswith(head) for method in _METHODS):
            self._hand_over(self._server.ethos_protocol(self._greeting))
        elif len(head) == 4:
            self._hand_over(self._server.http_protocol())

    def eof_received(self) -> bool | None:
        """Answer a client that sent too little for HTTP by the other framings."""
        if not self._start:
            return False
        protocol = self._hand_over(self._server.ethos_protocol(self._greeting))
        return protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Forget the connection."""
        self._server.server_state.connections.discard(self)

    def shutdown(self) -> None:
        """Close a connection that has sent no request."""
        self._transport.close()

    def _hand_over(self, protocol: asyncio.Protocol) -> asyncio.Protocol:
        self._server.server_state.connections.discard(self)
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(self._start)
        return protocol


class PatientProtocol(H11Protocol):
    """A connection that is closed if a head does not arrive, or an answer is not read, in time."""

    patience: ServerParams
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head. The middleware logs requests: uvicorn's log would quote paths."""
        super().connection_made(transport)
        self.access_log = False
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take the data, and go on waiting if it is part of a head only."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_came()
        elif self._late is None:
            self._await_head()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP with an error in the usual form, and close."""
        body = json_bytes({"error": {"code": "bad_param", "message": msg}})
        head = [("Content-Type", JSON), ("Content-Length", str(len(body))), ("Connection", "close")]
        for event in (h11.Response(status_code=400, headers=head), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """From here on the connection is idle, which has its own time limit."""
        super().on_response_complete()
        self._head_came()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks for it, uvicorn never answers
        """Whether to keep the connection: a client that only stopped sending still gets its answer."""
        answering = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if answering:
            self.cycle.keep_alive = False
        return answering

    def pause_writing(self) -> None:
        """The client reads nothing: start the time limit."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.patience.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._head_came()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._late = self.loop.call_later(self.patience.head_seconds, self.transport.close)

    def _head_came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class LocalHttpProtocol(PatientProtocol):
    """HTTP at the store's own socket, whose clients may be idle as long as they like."""

    def eof_received(self) -> bool:  # type: ignore[override]  # see above
        """Whether to keep the connection: here the system says whether the client is gone altogether."""
        gone = local_socket.hung_up(self.transport.get_extra_info("socket").fileno())
        return super().eof_received() and not gone


def _raise_file_limit() -> None:
    """Let this process have as many connections as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
