"""The parameters of language models: patience, and the size of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class AgentParams(Checked):
    """How long an agent may take, and how much it may say."""

    timeout: float = param(
        300.0, low=0.0, unit="seconds", doc="patience with one answer; a repair has as much"
    )
    connect: float = param(
        10.0, low=0.0, unit="seconds", doc="patience with an endpoint that takes no connection"
    )
    output: int = param(1_048_576, low=1, unit="bytes", doc="most that an agent may answer")
    repairs: int = param(1, low=0, unit="rounds", doc="times that a malformed answer is asked for again")
    retries: int = param(3, low=0, unit="requests", doc="sent again after status 429 or 5xx")
    pause: float = param(
        1.0, low=0.0, unit="seconds", doc="before the first of these; each next waits twice as long"
    )
    longest_pause: float = param(
        30.0, low=0.0, unit="seconds", doc="longest of these, whatever `Retry-After` says"
    )
    drain: float = param(
        1.0, low=0.0, unit="seconds", doc="patience with the output of a command that has ended"
    )
    repeated: int = param(
        300, low=1, unit="characters", doc="most of what an agent said that an error repeats"
    )


AGENT = AgentParams()
