"""The parameters of language models: patience, and the size of an answer."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class AgentParams(Checked):
    """How long an agent may take, and how much it may say."""

    timeout: float = param(
        300.0, low=0.0, unit="seconds", doc="time limit for one answer; a repair has the same"
    )
    connect: float = param(10.0, low=0.0, unit="seconds", doc="time limit for connecting to the endpoint")
    output: int = param(1_048_576, low=1, unit="bytes", doc="maximum size of an agent's answer")
    repairs: int = param(
        1, low=0, unit="rounds", doc="number of times that the agent is asked to repair a malformed answer"
    )
    retries: int = param(3, low=0, unit="requests", doc="maximum number of retries after status 429 or 5xx")
    pause: float = param(
        1.0, low=0.0, unit="seconds", doc="wait before the first retry; it doubles with each further one"
    )
    longest_pause: float = param(
        30.0, low=0.0, unit="seconds", doc="maximum wait before a retry, whatever `Retry-After` says"
    )
    drain: float = param(
        1.0, low=0.0, unit="seconds", doc="time limit for reading the output of a command that has ended"
    )
    repeated: int = param(
        300, low=1, unit="characters", doc="maximum length of an agent's output quoted in an error"
    )


AGENT = AgentParams()
