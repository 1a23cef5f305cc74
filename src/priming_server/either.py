"""A socket of the server's own that takes what the store's socket takes: HTTP, and the messages of Ethos."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from priming.operations.local_server import METHODS

HandOver = Callable[[socket.socket, bytes], None]


def http_or_messages(hand_over: HandOver) -> type[H11Protocol]:
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
