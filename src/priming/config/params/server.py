"""The parameters of the servers: the HTTP server's, and those of both ends of the socket."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class ServerParams(Checked):
    """What the HTTP server takes from its clients, and how long it waits for them."""

    body_bytes: int = param(8_388_608, low=1, unit="bytes", doc="largest body of a request")
    depth: int = param(64, low=1, unit="levels", doc="deepest nesting of its JSON")
    rate: float = param(
        500.0, low=0.0, unit="requests per second", doc="of one token, or of one client without; 0: no limit"
    )
    burst: int = param(1_000, low=1, unit="requests", doc="so many at once before the rate counts")
    clients: int = param(10_000, low=1, unit="clients", doc="most whose rate is watched; the latest")
    threads: int = param(16, low=1, unit="calls", doc="calls at work at once")
    in_flight: int = param(256, low=1, unit="calls", doc="calls at work or waiting; more are refused")
    call_seconds: float = param(300.0, low=0.0, unit="seconds", doc="patience with a call")
    head_seconds: float = param(10.0, low=0.0, unit="seconds", doc="patience with the head of a request")
    body_seconds: float = param(60.0, low=0.0, unit="seconds", doc="patience with the body of a request")
    read_seconds: float = param(
        60.0, low=0.0, unit="seconds", doc="patience with a client that reads nothing"
    )
    idle_seconds: int = param(15, low=1, unit="seconds", doc="an idle connection is kept so long")
    grace_seconds: int = param(120, low=1, unit="seconds", doc="at its end: patience with calls at work")
    jobs_at_once: int = param(2, low=1, unit="jobs", doc="jobs at work at once")
    jobs_waiting: int = param(32, low=1, unit="jobs", doc="jobs at work or waiting; more are refused")
    jobs_kept: int = param(64, low=0, unit="jobs", doc="finished jobs that are kept")
    job_minutes: float = param(60.0, low=0.0, unit="minutes", doc="and how long")
    ping_seconds: float = param(15.0, low=0.0, unit="seconds", doc="a sign of life on a silent event stream")
    look_seconds: float = param(
        30.0, low=0.0, unit="seconds", doc="how often it looks whether a night is due"
    )


@dataclass(frozen=True, slots=True)
class SocketParams(Checked):
    """Limits and patience of the socket, on both of its ends."""

    waiting: int = param(1_024, low=1, unit="connections", doc="connections that wait to be taken")
    settle: float = param(
        0.05, low=0.0, unit="seconds", doc="after which a first line of under four bytes is taken as one"
    )
    between: float = param(0.1, low=0.0, unit="seconds", doc="between two words of progress")
    drain: float = param(
        5.0, low=0.0, unit="seconds", doc="patience, at the end, with a client that does not read its answer"
    )
    knock: float = param(0.25, low=0.0, unit="seconds", doc="a client's patience with a server's first word")


SERVER = ServerParams()
SOCKET = SocketParams()
