"""Answers that make sense: what a schema cannot say is checked here, and asked for again once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from priming.agents.answers import repaired
from priming.agents.protocol import Agent, Answer, Schema
from priming.config.params.loop import CONTEXT, ContextParams
from priming.errors import AgentError, ParamError

T = TypeVar("T")


def sensible(
    agent: Agent, prompt: str, schema: Schema, made: Callable[[Answer], T], params: ContextParams = CONTEXT
) -> T:
    """What ``made`` makes of the answer; where it refuses with a ``ParamError``, the agent is asked once more.

    Raises:
        AgentError: it gave no answer, or none that makes sense.

    """
    asked, problem = prompt, ""
    for _ in range(1 + params.repairs):
        try:
            return made(agent.answer(asked, schema))
        except ParamError as error:
            problem = str(error)
            asked = repaired(prompt, problem)
    raise AgentError(
        f"the agent's answer makes no sense, asked {1 + params.repairs} times: {problem};"
        " see what it answers, or take another agent"
    )


def said(name: str, value: str | None, params: ContextParams = CONTEXT) -> str | None:
    """A text of an answer, None where it is blank; one that is too long, or cannot be kept, is refused."""
    if value is None or not value.strip():
        return None
    if "\x00" in value:
        raise ParamError(name, value, "must not contain the NUL character")
    if len(value) > params.answer_length:
        raise ParamError(
            name, value, f"has {len(value):,} characters, at most {params.answer_length:,}: say it shorter"
        )
    return value.strip()
