"""The parameters of the servers: the HTTP server's, and those of both ends of the socket."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class ServerParams(Checked):
    """What the HTTP server takes from its clients, and how long it waits for them."""

    body_bytes: int = param(8_388_608, low=1, unit="bytes", doc="maximum size of a request's body")
    depth: int = param(64, low=1, unit="levels", doc="maximum nesting of its JSON")
    values: int = param(
        1_048_576,
        low=1,
        unit="values",
        doc="maximum number of objects, arrays, members and items in its JSON",
    )
    bodies_bytes: int = param(
        536_870_912,
        low=1,
        unit="bytes",
        doc="maximum size of all bodies that arrive or are being answered at once",
    )
    bodies_each: int = param(
        134_217_728,
        low=1,
        unit="bytes",
        doc="maximum size of those of one token, or of one client without a token",
    )
    rate: float = param(
        500.0,
        low=0.0,
        unit="requests per second",
        doc="maximum rate of one token, or of one client without a token; 0: no limit",
    )
    burst: int = param(
        1_000, low=1, unit="requests", doc="number of requests allowed at once before the rate applies"
    )
    clients: int = param(
        10_000, low=1, unit="clients", doc="maximum number of clients whose rate is tracked, the latest first"
    )
    threads: int = param(
        16, low=1, unit="calls", doc="number of calls running at once; a namespace without any gets one more"
    )
    threads_each: int = param(
        4, low=1, unit="calls", doc="maximum number of calls of one namespace running at once"
    )
    lanes: int = param(
        256,
        low=1,
        unit="namespaces",
        doc="maximum number of namespaces with a call running, beyond that",
    )
    in_flight: int = param(
        256,
        low=1,
        unit="calls",
        doc="maximum number of calls of one namespace running or waiting; further ones are refused",
    )
    call_seconds: float = param(300.0, low=0.0, unit="seconds", doc="time limit for a call")
    body_seconds: float = param(60.0, low=0.0, unit="seconds", doc="time limit for the body of a request")
    read_seconds: float = param(
        60.0, low=0.0, unit="seconds", doc="time limit for a client that reads nothing, on Linux"
    )
    idle_seconds: int = param(15, low=1, unit="seconds", doc="time for which an idle connection is kept open")
    ready_seconds: float = param(
        3.0, low=0.0, unit="seconds", doc="time limit for the store's answer to /ready"
    )
    grace_seconds: int = param(
        8, low=1, unit="seconds", doc="time limit for running calls at shutdown, after which they are cut off"
    )
    drain_seconds: float = param(
        0.0,
        low=0.0,
        unit="seconds",
        doc="time after SIGTERM in which it still accepts requests, while /ready refuses: for a load balancer",
    )
    jobs_at_once: int = param(
        4, low=1, unit="jobs", doc="number of jobs running at once; a namespace without any gets one more"
    )
    jobs_each: int = param(
        1, low=1, unit="jobs", doc="maximum number of jobs of one namespace running at once"
    )
    job_lanes: int = param(
        32,
        low=1,
        unit="namespaces",
        doc="maximum number of namespaces with a job running, beyond that",
    )
    jobs_waiting: int = param(
        32,
        low=1,
        unit="jobs",
        doc="maximum number of jobs of one namespace running or waiting; further ones are refused",
    )
    jobs_kept: int = param(
        64, low=0, unit="jobs", doc="maximum number of finished jobs of one namespace that are kept"
    )
    job_minutes: float = param(60.0, low=0.0, unit="minutes", doc="time for which they are kept")
    ping_seconds: float = param(
        15.0, low=0.0, unit="seconds", doc="interval of keep-alive comments on a silent event stream"
    )
    look_seconds: float = param(
        30.0,
        low=0.0,
        unit="seconds",
        doc="interval at which it checks whether a night is due, and makes vectors that are waited for",
    )


@dataclass(frozen=True, slots=True)
class SocketParams(Checked):
    """Limits and patience of the socket, on both of its ends."""

    waiting: int = param(
        1_024, low=1, unit="connections", doc="maximum number of connections waiting to be accepted"
    )
    settle: float = param(
        0.05,
        low=0.0,
        unit="seconds",
        doc="time after which a first line of under four bytes is taken as a line",
    )
    between: float = param(0.1, low=0.0, unit="seconds", doc="minimum interval between progress messages")
    drain: float = param(
        5.0, low=0.0, unit="seconds", doc="time limit at shutdown for a client that does not read its answer"
    )
    knock: float = param(0.25, low=0.0, unit="seconds", doc="a client's time limit for a server's greeting")


SERVER = ServerParams()
SOCKET = SocketParams()
