"""Which agent is asked: the one that an argument gives, or that settings name."""

from __future__ import annotations

from typing import Any

from priming.agents.command import CommandAgent
from priming.agents.endpoint import EndpointAgent, parsed
from priming.agents.protocol import Agent as Agent
from priming.config.environment import AgentSettings
from priming.errors import ParamError


def agent_of(settings: AgentSettings) -> Agent | None:
    """The agent that settings name, if they name one."""
    if settings.model is not None:
        return EndpointAgent(*parsed(settings.model), settings.key)
    return None if settings.command is None else CommandAgent(settings.command)


def agent_(value: Any) -> Agent | None:
    """An agent, or None."""
    if value is not None and (isinstance(value, type) or not isinstance(value, Agent)):
        raise ParamError("agent", value, "must have a method answer, such as CommandAgent('claude -p')")
    agent: Agent | None = value
    return agent
