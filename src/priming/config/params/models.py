"""The parameters of models: embedders other than the bundled one, and the agents that write text."""

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


AGENT = AgentParams()
ONNX, EMBEDDER = OnnxParams(), EmbedderParams()
