"""The parameters of models, which are embedders and the agents that write text, and of the HTTP server.

Those of the server are the settings of ``[server]``.
"""

from __future__ import annotations

from priming.config.values import Checked, dataclass, param


@dataclass(frozen=True, slots=True)
class OnnxParams(Checked):
    """How a model runs on this machine, and what of a text it reads."""

    tokens: int = param(256, low=3, unit="tokens", source="model card of all-MiniLM-L6-v2")
    """Maximum length of a text, including the two marks at its ends; the rest is not read."""
    threads: int = param(0, low=0, unit="texts")
    """Number of texts processed at once; 0: one for each processor."""


@dataclass(frozen=True, slots=True)
class EmbedderParams(Checked):
    """Patience and limits of an embedder behind an endpoint."""

    batch: int = param(64, low=1, unit="texts")
    """Texts in one request."""
    characters: int = param(32_768, low=1, unit="characters")
    """Maximum length of a text; the rest is not sent."""
    timeout: float = param(60.0, low=0.0, unit="seconds")
    """Time limit for one batch, including retries."""
    connect: float = param(10.0, low=0.0, unit="seconds")
    """Time limit for connecting to the endpoint."""
    output: int = param(67_108_864, low=1, unit="bytes")
    """Longest answer."""
    retries: int = param(3, low=0, unit="requests")
    """Maximum number of retries after status 429 or 5xx."""
    pause: float = param(1.0, low=0.0, unit="seconds")
    """Wait before the first retry; it doubles with each further one."""
    longest_pause: float = param(30.0, low=0.0, unit="seconds")
    """Maximum wait before a retry, whatever `Retry-After` says."""
    repeated: int = param(300, low=1, unit="characters")
    """Maximum length of an answer quoted in an error."""


@dataclass(frozen=True, slots=True)
class AgentParams(Checked):
    """How long an agent may take, and how much it may say."""

    timeout: float = param(300.0, low=0.0, unit="seconds")
    """Time limit for one answer; a repair has the same."""
    connect: float = param(10.0, low=0.0, unit="seconds")
    """Time limit for connecting to the endpoint."""
    output: int = param(1_048_576, low=1, unit="bytes")
    """Maximum size of an agent's answer."""
    repairs: int = param(1, low=0, unit="rounds")
    """Number of times that the agent is asked to repair a malformed answer."""
    retries: int = param(3, low=0, unit="requests")
    """Maximum number of retries after status 429 or 5xx."""
    pause: float = param(1.0, low=0.0, unit="seconds")
    """Wait before the first retry; it doubles with each further one."""
    longest_pause: float = param(30.0, low=0.0, unit="seconds")
    """Maximum wait before a retry, whatever `Retry-After` says."""
    drain: float = param(1.0, low=0.0, unit="seconds")
    """Time limit for reading the output of a command that has ended."""
    repeated: int = param(300, low=1, unit="characters")
    """Maximum length of an agent's output quoted in an error."""


@dataclass(frozen=True, slots=True)
class ServerParams(Checked):
    """What the HTTP server takes from its clients, and how long it waits for them."""

    body_bytes: int = param(8_388_608, low=1, unit="bytes")
    """Maximum size of a request's body."""
    depth: int = param(64, low=1, unit="levels")
    """Maximum nesting of its JSON."""
    values: int = param(1_048_576, low=1, unit="values")
    """Maximum number of objects, arrays, members and items in its JSON."""
    bodies_bytes: int = param(536_870_912, low=1, unit="bytes")
    """Maximum size of all bodies that arrive or are being answered at once."""
    bodies_each: int = param(134_217_728, low=1, unit="bytes")
    """Maximum size of those of one token, or of one client without a token."""
    rate: float = param(500.0, low=0.0, unit="requests per second")
    """Maximum rate of one token, or of one client without a token; 0: no limit."""
    burst: int = param(1_000, low=1, unit="requests")
    """Number of requests allowed at once before the rate applies."""
    clients: int = param(10_000, low=1, unit="clients")
    """Maximum number of clients whose rate is tracked, the latest first."""
    threads: int = param(16, low=1, unit="calls")
    """Number of calls running at once; a namespace without any gets one more."""
    threads_each: int = param(4, low=1, unit="calls")
    """Maximum number of calls of one namespace running at once."""
    lanes: int = param(256, low=1, unit="namespaces")
    """Maximum number of namespaces with a call running, beyond that."""
    in_flight: int = param(256, low=1, unit="calls")
    """Maximum number of calls of one namespace running or waiting; further ones are refused."""
    call_seconds: float = param(300.0, low=0.0, unit="seconds")
    """Time limit for a call."""
    body_seconds: float = param(60.0, low=0.0, unit="seconds")
    """Time limit for the body of a request."""
    read_seconds: float = param(60.0, low=0.0, unit="seconds")
    """Time limit for a client that reads nothing, on Linux."""
    idle_seconds: int = param(15, low=1, unit="seconds")
    """Time for which an idle connection is kept open."""
    ready_seconds: float = param(3.0, low=0.0, unit="seconds")
    """Time limit for the store's answer to /ready."""
    grace_seconds: int = param(8, low=1, unit="seconds")
    """Time limit for running calls at shutdown, after which they are cut off."""
    drain_seconds: float = param(0.0, low=0.0, unit="seconds")
    """Time after SIGTERM in which it still accepts requests, while /ready refuses: for a load balancer."""
    jobs_at_once: int = param(4, low=1, unit="jobs")
    """Number of jobs running at once; a namespace without any gets one more."""
    jobs_each: int = param(1, low=1, unit="jobs")
    """Maximum number of jobs of one namespace running at once."""
    job_lanes: int = param(32, low=1, unit="namespaces")
    """Maximum number of namespaces with a job running, beyond that."""
    jobs_waiting: int = param(32, low=1, unit="jobs")
    """Maximum number of jobs of one namespace running or waiting; further ones are refused."""
    jobs_kept: int = param(64, low=0, unit="jobs")
    """Maximum number of finished jobs of one namespace that are kept."""
    job_minutes: float = param(60.0, low=0.0, unit="minutes")
    """Time for which they are kept."""
    ping_seconds: float = param(15.0, low=0.0, unit="seconds")
    """Interval of keep-alive comments on a silent event stream."""
    look_seconds: float = param(30.0, low=0.0, unit="seconds")
    """Interval at which it checks whether a night is due, and makes vectors that are waited for."""


AGENT = AgentParams()
ONNX, EMBEDDER = OnnxParams(), EmbedderParams()
SERVER = ServerParams()
