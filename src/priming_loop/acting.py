"""The act phase: what an agent that carries out a task is told, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from priming.errors import ParamError
from priming.llm.protocol import Agent, Answer, Schema, fenced, prompt
from priming.text.quotation import quote_text
from priming_loop import context
from priming_loop.environment import object_schema, validated_answer
from priming_loop.session import BLOCKED, DELIVERED, ActionResult, ObjectiveContext, TaskPlan, Verification

PHASE = "act"

_OPTIONAL = {"type": ["string", "null"]}
SCHEMA: Schema = object_schema(
    {
        "status": {"enum": [DELIVERED, BLOCKED]},
        "details": {"type": "string"},
        "utilized": {"type": "array", "items": {"type": "string"}},
        "obstacle": _OPTIONAL,
        "learning": _OPTIONAL,
    }
)
"""The schema of the answer."""


def act(
    agent: Agent, plan: TaskPlan, number: int, gathered: ObjectiveContext, **prompted: Any
) -> ActionResult:
    """Have an agent carry out a task, by the prompt that ``acting_prompt`` makes of the arguments.

    Raises:
        AgentError: the agent gives no answer, or none that makes sense.

    """
    text = acting_prompt(plan, number, gathered, **prompted)
    return validated_answer(agent, text, SCHEMA, parse_result)


def acting_prompt(
    plan: TaskPlan,
    number: int,
    gathered: ObjectiveContext,
    *,
    lineage: Sequence[str] = (),
    failed: Verification | None = None,
    advice: str | None = None,
) -> str:
    """Return the prompt of the act phase.

    Args:
        plan: the task.
        number: the number of the attempt, from 1 on.
        gathered: the memories that the prompt shows.
        lineage: the tasks delivered before, in words.
        failed: the verification of the previous attempt.
        advice: the advice of metacognition, in words.

    """
    sections = context.sections(
        None if failed is None else context.verification_section(failed),
        advice,
        context.memories_section(gathered),
        context.lineage_section(lineage),
    )
    places = {"attempt": str(number), "task": _task_section(plan), "context": sections}
    return prompt(context.PACKAGE, PHASE, places, SCHEMA)


def _task_section(plan: TaskPlan) -> str:
    lines = [f"objective: {quote_text(plan.objective)}"]
    if plan.delta:
        lines.append(f"files: {', '.join(map(quote_text, plan.delta))}")
    lines.append(f"verify: {'none' if plan.verify is None else quote_text(plan.verify)}")
    return "The task:\n" + fenced("\n".join(lines))


def parse_result(answer: Answer) -> ActionResult:
    """Return the result that an answer of the schema contains; ``ParamError`` if the answer contradicts itself."""
    if answer["status"] == BLOCKED and not (answer["obstacle"] or answer["details"]):
        raise ParamError("obstacle", answer["obstacle"], "must say what blocks the task")
    utilized = tuple(dict.fromkeys(filter(None, answer["utilized"])))
    return ActionResult(**{**answer, "details": answer["details"] or "", "utilized": utilized})
