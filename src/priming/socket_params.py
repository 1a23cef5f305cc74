"""The tunables of the socket. They are asked for as ``priming.params``; light clients ask here."""

from __future__ import annotations

from dataclasses import dataclass

from priming.checked import Checked, param


@dataclass(frozen=True, slots=True)
class SocketParams(Checked):
    """Limits and patience of the socket, on both of its ends."""

    settle: float = param(
        0.05, low=0.0, unit="seconds", doc="after which a first line of under four bytes is taken as one"
    )
    between: float = param(0.1, low=0.0, unit="seconds", doc="between two words of progress")
    drain: float = param(
        5.0, low=0.0, unit="seconds", doc="patience, at the end, with a client that does not read its answer"
    )
    knock: float = param(0.25, low=0.0, unit="seconds", doc="a client's patience with a server's first word")


SOCKET = SocketParams()
