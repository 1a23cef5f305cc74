"""Agents from settings, and agents with limited time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from priming.config.environment import AgentSettings
from priming.config.values import dataclass
from priming.errors import AgentError, ParamError
from priming.llm.command import CommandAgent
from priming.llm.endpoint import EndpointAgent, parse_model
from priming.llm.protocol import Agent, Answer, Schema


def open_agent(settings: AgentSettings) -> Agent | None:
    """The agent that settings name; None if they name none."""
    if settings.model is not None:
        return EndpointAgent(*parse_model(settings.model), settings.key)
    return None if settings.command is None else CommandAgent(settings.command)


def check_agent(value: Any) -> Agent | None:
    """An argument that must be an agent or None."""
    if value is not None and (isinstance(value, type) or not isinstance(value, Agent)):
        raise ParamError("agent", value, "must have a method answer, such as CommandAgent('claude -p')")
    agent: Agent | None = value
    return agent


def with_timeout(agent: Agent, seconds: float) -> Agent:
    """The agent with a timeout for each answer; an agent of another class keeps its own."""
    if not isinstance(agent, (CommandAgent, EndpointAgent)):
        return agent
    return replace(agent, params=replace(agent.params, timeout=seconds))


class DeadlineExceeded(Exception):
    """The time for a piece of work is over."""


@dataclass(frozen=True, slots=True)
class DeadlineAgent:
    """An agent with a deadline: each answer, repairs included, gets no more time than is left."""

    agent: Agent
    deadline: float
    monotonic: Callable[[], float]

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask the agent; ``DeadlineExceeded`` if it has not answered in the time that is left."""
        left = self.deadline - self.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        (agent, timeout), began = self._limited(left), self.monotonic()
        try:
            return agent.answer(prompt, schema)
        except AgentError:
            # An agent that was cut short is not at fault.
            if self.monotonic() - began >= timeout:
                raise DeadlineExceeded from None
            raise

    def _limited(self, left: float) -> tuple[Agent, float]:
        """The agent with its timeout reduced to the time left if that is less, and that timeout."""
        agent = self.agent
        if not isinstance(agent, (CommandAgent, EndpointAgent)):
            return agent, math.inf
        share = left / (1 + agent.params.repairs)
        if agent.params.timeout <= share:
            return agent, math.inf
        return with_timeout(agent, share), share
