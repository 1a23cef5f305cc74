"""The server as a process: where it listens, how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from priming import extensions
from priming.config.params.services import SERVER, ServerParams
from priming.config.settings import Settings
from priming.operations import local_socket
from priming.operations.local_http import LocalListener, create_store
from priming.operations.local_server import CLOSING, METHODS, LocalServer
from priming.operations.service import LocalService
from priming_server import telemetry
from priming_server.access.auth import is_loopback
from priming_server.access.tokens import Tokens
from priming_server.ethos.socket import converse
from priming_server.http import create_app
from priming_server.listeners import (
    beside_store,
    listening,
    notify_supervisor,
    refuse_open_server,
)

_FILES = 65_536


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
    level: str | None = None,
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
        level: what is logged; None: what the settings say.
        ready: called with the address.

    Raises:
        ParamError: an address that is none.
        Conflict: an address in use, or one that other machines reach while the store has no token.

    """
    from priming_server.mcp_http import mounted

    path = None if uds is None else Path(uds)
    last = params.drain_seconds + params.grace_seconds + CLOSING
    with (
        local_socket.ending_within(last),
        Tokens(url) as tokens,
        closing(LocalService(url, profile=profile, settings=settings)) as service,
    ):
        if path is None:
            refuse_open_server(tokens, host)
        with listening(host, port, path, params.read_seconds) as listener:
            telemetry.begin(level=level or ("info" if settings is None else settings["service.log_level"]))
            create_store(service)
            others = [Route(app.path, app) for app in extensions.load(extensions.MOUNTS)]
            with beside_store(service) as local:
                app = create_app(
                    service,
                    tokens,
                    params=params,
                    names_only=path is None and is_loopback(host),
                    greeting=None if local is None else local.greeting,
                    sleep_every=sleep_every,
                    mounts=[mounted(service, tools), *others],
                )
                address = str(path) if path else _address(listener)
                _raise_file_limit()
                announce = partial(ready or (lambda _: None), address)
                server = UvicornServer(app, params, announce, local, own_file=path is not None)
                if server.local is not None and path is None:
                    server.local.address = address
                server.run([listener])


def free_port(port: int) -> int:
    """Return the port if nothing on this machine listens at it, else 0."""
    with socket.socket() as probe:
        return 0 if probe.connect_ex(("127.0.0.1", port)) == 0 else port


def _address(listener: socket.socket) -> str:
    """Return where it listens, as a URL."""
    name, port = listener.getsockname()[:2]
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def http_or_messages(hand_over: Callable[[socket.socket, bytes], None]) -> type[H11Protocol]:
    """Return a protocol that serves HTTP, and hands over connections whose first bytes are no HTTP."""

    class HttpOrMessages(H11Protocol):
        def __init__(self, *parts: Any, **named: Any) -> None:
            super().__init__(*parts, **named)
            self._start: bytes | None = b""
            """The first bytes; None once they are of HTTP."""

        def data_received(self, data: bytes) -> None:
            """Find out what the connection speaks."""
            if self._start is None:
                super().data_received(data)
                return
            self._start += data
            if self._start[:4] in METHODS:
                data, self._start = self._start, None
                super().data_received(data)
            elif len(self._start) >= 4 or not any(method.startswith(self._start) for method in METHODS):
                own = self.transport.get_extra_info("socket")
                end = socket.socket(fileno=os.dup(own.fileno()))
                end.setblocking(True)
                self.transport.abort()
                hand_over(end, self._start)

    return HttpOrMessages


class UvicornServer(Server):
    """uvicorn beside the server of the store's socket; it cancels jobs before it waits for connections."""

    def __init__(
        self,
        app: Starlette,
        params: ServerParams,
        ready: Callable[[], None],
        local: LocalListener | None = None,
        *,
        own_file: bool = False,
    ) -> None:
        """Prepare to listen, with ``own_file`` at a file of its user alone, for all that the store's socket takes."""
        self._app, self._params, self._ready = app, params, ready
        self._drained = math.inf
        state = app.state.server
        self.local = (
            None
            if local is None
            else LocalServer(
                state.service, local, grace=params.grace_seconds, adapter=converse, observe=state.observe
            )
        )
        self._beside = None if self.local is None else threading.Thread(target=self.local.run)
        logging.getLogger(
            "uvicorn.access"
        ).disabled = True  # it would quote paths: the middleware logs requests
        config = Config(
            app,
            http=http_or_messages(self.local.take_over) if own_file and self.local is not None else "h11",
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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Announce the end first on SIGTERM, if there is time to drain; end at once on a second signal, or SIGINT.

        uvicorn's own would send the process the signal again at the end, which then could not close what it holds.
        """
        state = self._app.state.server
        if sig == signal.SIGTERM and self._params.drain_seconds and not state.draining:
            state.draining = True
            self._drained = time.monotonic() + self._params.drain_seconds
            notify_supervisor("STOPPING=1")
        else:
            self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
            self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Tell whether to end: uvicorn asks ten times a second."""
        return time.monotonic() >= self._drained or await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen at all sockets, and then call ``ready``."""
        await super().startup(sockets)
        if self._beside is not None:
            self._beside.start()
        self._ready()
        notify_supervisor("READY=1")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel jobs, so that their followers need not be waited for, and then end all connections."""
        notify_supervisor("STOPPING=1")
        self._app.state.server.stop()
        if self.local is not None:
            self.local.stop()
        await super().shutdown(sockets)
        if self._beside is not None:
            await asyncio.to_thread(self._beside.join)


def _raise_file_limit() -> None:
    """Let this process have as many connections as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
