"""What a run works with: a memory, an agent, a person who may be there, and a clock that runs out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Protocol

from priming.agents.command import CommandAgent
from priming.agents.endpoint import EndpointAgent
from priming.agents.protocol import Agent, Answer, Schema
from priming.config.params.loop import LOOP, LoopParams
from priming.errors import AgentError
from priming.looping import Session, Wait
from priming.memory import Memory


class Person(Protocol):
    """Somebody who is there to be asked."""

    def answer(self, session: Session, question: str) -> str | None:
        """What they answer to a question; None: nothing now."""
        ...

    def allow(self, session: Session, wait: Wait) -> bool:
        """Whether they allow what is about to be done."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """What a run works with. ``yes``: plans are agreed to, but not what is called destructive."""

    memory: Memory
    agent: Agent
    person: Person | None = None
    yes: bool = False
    stop: Callable[[], bool] = lambda: False
    """Whether somebody wants it to stop after the step that it is at."""
    tell: Callable[[Session], None] = lambda _: None
    """Hears of every step, once it is kept."""
    monotonic: Callable[[], float] = monotonic
    params: LoopParams = LOOP


def patient(agent: Agent, seconds: float) -> Agent:
    """An agent of ours that may take so long over one answer; others have patience of their own."""
    if not isinstance(agent, (CommandAgent, EndpointAgent)):
        return agent
    return replace(agent, params=replace(agent.params, timeout=seconds))


class TimeUp(Exception):
    """The minutes of a session are over."""


@dataclass(frozen=True, slots=True)
class Hurried:
    """An agent that has until a deadline: each answer, with its repair, gets no more time than is left."""

    agent: Agent
    deadline: float
    monotonic: Callable[[], float]

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask it; ``TimeUp`` where it is not done in what time is left."""
        left = self.deadline - self.monotonic()
        if left <= 0:
            raise TimeUp
        (asked, patience), began = self._within(left), self.monotonic()
        try:
            return asked.answer(prompt, schema)
        except AgentError:
            # What was cut short is no fault of the agent's.
            if self.monotonic() - began >= patience:
                raise TimeUp from None
            raise

    def _within(self, left: float) -> tuple[Agent, float]:
        """The agent, with its patience cut to what is left where that is less, and that patience."""
        one = self.agent
        if not isinstance(one, (CommandAgent, EndpointAgent)):
            return one, math.inf
        share = left / (1 + one.params.repairs)
        if one.params.timeout <= share:
            return one, math.inf
        return replace(one, params=replace(one.params, timeout=share)), share
