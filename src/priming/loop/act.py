"""The act phase: an agent carries out one task, and says what it did, which memories it used, and what it learnt."""

from __future__ import annotations

from collections.abc import Sequence

from priming.agents.prompts import fenced, prompt
from priming.agents.protocol import Agent, Answer, Schema
from priming.config.params.loop import CONTEXT, ContextParams
from priming.engine.present import quoted
from priming.errors import ParamError
from priming.loop import prompting
from priming.loop.sense import said, sensible
from priming.looping import Acted, Gathered, TaskPlan, Verified

PHASE = "act"
DELIVERED, BLOCKED = "delivered", "blocked"

_OPTIONAL = {"type": ["string", "null"]}
_PROPERTIES = {
    "status": {"enum": [DELIVERED, BLOCKED]},
    "details": {"type": "string"},
    "utilized": {"type": "array", "items": {"type": "string"}},
    "obstacle": _OPTIONAL,
    "learning": _OPTIONAL,
}
SCHEMA: Schema = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}
"""The schema of the answer."""


def act(
    agent: Agent,
    plan: TaskPlan,
    number: int,
    gathered: Gathered,
    *,
    lineage: Sequence[str] = (),
    failed: Verified | None = None,
    advice: str | None = None,
    params: ContextParams = CONTEXT,
) -> Acted:
    """Have an agent carry out a task.

    Args:
        agent: whom to ask.
        plan: the task.
        number: which attempt this is, from 1 on.
        gathered: the memories that it is shown.
        lineage: what was delivered before, in words.
        failed: what the gate found after the attempt before.
        advice: what metacognition says, in words.
        params: how much is shown, and accepted.

    Raises:
        AgentError: there is no answer, or none that makes sense.

    """
    asked = question(plan, number, gathered, lineage=lineage, failed=failed, advice=advice, params=params)
    return sensible(agent, asked, SCHEMA, lambda answer: made(answer, params), params)


def question(
    plan: TaskPlan,
    number: int,
    gathered: Gathered,
    *,
    lineage: Sequence[str] = (),
    failed: Verified | None = None,
    advice: str | None = None,
    params: ContextParams = CONTEXT,
) -> str:
    """The prompt of the act phase."""
    context = prompting.sections(
        (
            None if failed is None else prompting.gate(failed, params),
            advice,
            prompting.memories(gathered),
            prompting.earlier(lineage, params),
        )
    )
    places = {"attempt": str(number), "task": _task(plan), "context": context}
    return prompt(prompting.PACKAGE, PHASE, places, SCHEMA)


def _task(plan: TaskPlan) -> str:
    lines = [f"objective: {quoted(plan.objective)}"]
    if plan.delta:
        lines.append(f"files: {', '.join(map(quoted, plan.delta))}")
    lines.append(f"verify: {'none' if plan.verify is None else quoted(plan.verify)}")
    return "The task:\n" + fenced("\n".join(lines))


def made(answer: Answer, params: ContextParams = CONTEXT) -> Acted:
    """What an answer by the schema says; ``ParamError`` where it contradicts itself."""
    details = said("details", answer["details"], params) or ""
    obstacle = said("obstacle", answer["obstacle"], params)
    if answer["status"] == BLOCKED and not (obstacle or details):
        raise ParamError(
            "obstacle", answer["obstacle"], "must say what stands in the way where it is blocked"
        )
    utilized = dict.fromkeys(key for one in answer["utilized"] if (key := one.strip()))
    return Acted(
        answer["status"], details, tuple(utilized), obstacle, said("learning", answer["learning"], params)
    )
