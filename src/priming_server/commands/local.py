"""``priming serve --local``: the server at the socket of a store alone, which the base install can run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

from priming.config.params.services import SERVER, ServerParams
from priming.config.settings import Settings
from priming.operations import local_socket
from priming.operations.local_http import create_store, local_listener
from priming.operations.local_server import CLOSING, LocalServer
from priming.operations.service import LocalService
from priming_server.ethos.socket import converse


def run(
    url: str | None,
    settings: Settings,
    *,
    idle: timedelta | None = None,
    params: ServerParams = SERVER,
    ready: Callable[[str], None],
) -> None:
    """Serve a store at its socket until SIGTERM or SIGINT, or until nobody called for the time of ``idle``.

    ``ready`` is called with the path once it listens. With ``idle`` it is the server that a session leaves behind: it
    creates no store, opens the namespace beforehand, and holds no folder that somebody may want to remove.

    Raises:
        Conflict: another server of the store is running.
        StoreError: there is no store yet, or no socket can be beside it.

    """
    where = local_socket.real(url)
    if where is not None and where.path is not None:
        url = where.as_url()  # whatever the working directory is by then
    with (
        local_socket.ending_within(params.grace_seconds + CLOSING),
        closing(LocalService(url, profile=settings["store.profile"], settings=settings)) as service,
    ):
        if idle is None:
            create_store(service)
        with local_listener(service, takes_over=idle is None) as local:
            seconds = None if idle is None else idle.total_seconds()
            server = LocalServer(service, local, idle=seconds, grace=params.grace_seconds, adapter=converse)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, server.stop)
            if idle is not None:
                server.warm(settings["store.namespace"])
                os.chdir("/")
            ready(str(local.path))
            server.run()
