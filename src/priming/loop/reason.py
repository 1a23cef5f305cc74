"""The reason phase: from an objective and its context to tasks, a question, or an impasse that is owned up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from priming.agents.prompts import fenced, prompt
from priming.agents.protocol import Agent, Answer, Schema
from priming.config.params.loop import CONTEXT, ContextParams
from priming.core.metacognition import Assessment
from priming.engine.present import quoted
from priming.errors import ParamError
from priming.loop import prompting
from priming.loop.context import cut
from priming.loop.sense import said, sensible
from priming.looping import Gathered, Impasse, Reasoned, TaskPlan
from priming.words import ASSESSMENTS, IMPASSES

PHASE = "reason"
UNCLEAR, IMPASSE = "unclear", "impasse"

_TEXT, _OPTIONAL = {"type": "string"}, {"type": ["string", "null"]}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_TASK = _object({"objective": _TEXT, "delta": {"type": "array", "items": _TEXT}, "verify": _OPTIONAL})
_STUCK = {**_object({"type": {"enum": list(IMPASSES)}, "subgoal": _TEXT}), "type": ["object", "null"]}
SCHEMA: Schema = _object(
    {
        "assessment": {"enum": list(ASSESSMENTS)},
        "tasks": {"type": "array", "items": _TASK},
        "question": _OPTIONAL,
        "impasse": _STUCK,
        "reasoning": _TEXT,
    }
)
"""The schema of the answer."""


def reason(
    agent: Agent,
    gathered: Gathered,
    assessment: Assessment | None,
    *,
    answered: Sequence[tuple[str, str]] = (),
    lineage: Sequence[str] = (),
    subgoal: str | None = None,
    params: ContextParams = CONTEXT,
) -> Reasoned:
    """Ask an agent for a plan.

    Args:
        agent: whom to ask.
        gathered: the objective and its context.
        assessment: how the session is going: its advice is put before the agent.
        answered: questions that a person answered, with the answers.
        lineage: what was delivered before, in words.
        subgoal: the objective that this one is a step to, where an impasse made it one.
        params: how much is shown, and accepted.

    Raises:
        AgentError: there is no answer, or none that makes sense.

    """
    asked = question(gathered, assessment, answered=answered, lineage=lineage, subgoal=subgoal, params=params)
    return sensible(agent, asked, SCHEMA, lambda answer: made(answer, params), params)


def question(
    gathered: Gathered,
    assessment: Assessment | None = None,
    *,
    answered: Sequence[tuple[str, str]] = (),
    lineage: Sequence[str] = (),
    subgoal: str | None = None,
    params: ContextParams = CONTEXT,
) -> str:
    """The prompt of the reason phase."""
    complexity = gathered.complexity
    signs = f" (by its words: {', '.join(complexity.signals)})" if complexity.signals else ""
    context = prompting.sections(
        (
            _subgoal(subgoal, params),
            prompting.advice(assessment),
            f"It looks {complexity.level}{signs}.",
            _answers(answered, params),
            prompting.memories(gathered),
            prompting.earlier(lineage, params),
            prompting.project(gathered.codebase),
        )
    )
    places = {"objective": fenced(prompting.plain(gathered.objective)), "context": context}
    return prompt(prompting.PACKAGE, PHASE, places, SCHEMA)


def _subgoal(of: str | None, params: ContextParams) -> str | None:
    if of is None:
        return None
    larger = quoted(cut(of, params.memory_length))
    return "It is a step out of an impasse; once it is done, this goes on:\n" + fenced(larger)


def _answers(answered: Sequence[tuple[str, str]], params: ContextParams) -> str | None:
    if not answered:
        return None
    most = params.text_length
    lines = [f"{quoted(cut(a, most))} → {quoted(cut(b, most))}" for a, b in answered]
    return "What was asked, and what a person answered, which holds:\n" + fenced("\n".join(lines))


def made(answer: Answer, params: ContextParams = CONTEXT) -> Reasoned:
    """What an answer by the schema says; ``ParamError`` where it contradicts itself."""
    assessment = answer["assessment"]
    tasks = [_task(number, one, params) for number, one in enumerate(answer["tasks"])]
    asked = said("question", answer["question"], params)
    impasse = answer["impasse"]
    _check(assessment, tasks, asked, impasse, params)
    stuck = None
    if impasse is not None:
        subgoal = said("impasse.subgoal", impasse["subgoal"], params)
        if subgoal is None:
            raise ParamError("impasse.subgoal", impasse["subgoal"], "must say what to find out or make first")
        stuck = Impasse(impasse["type"], subgoal)
    reasoning = said("reasoning", answer["reasoning"], params) or ""
    return Reasoned(assessment, tuple(tasks), asked if assessment == UNCLEAR else None, stuck, reasoning)


def _check(
    assessment: str,
    tasks: Sequence[TaskPlan],
    asked: str | None,
    impasse: Mapping[str, Any] | None,
    params: ContextParams,
) -> None:
    """The parts of an answer belong together."""
    plans = assessment not in (UNCLEAR, IMPASSE)
    if plans and not tasks:
        raise ParamError("tasks", [], f"must have at least one where the assessment is {assessment}")
    if not plans and tasks:
        raise ParamError("tasks", [one.objective for one in tasks], f"must be empty where it is {assessment}")
    if len(tasks) > params.tasks:
        raise ParamError("tasks", len(tasks), f"must be at most {params.tasks}: make them larger")
    if assessment == UNCLEAR and asked is None:
        raise ParamError("question", asked, "must be asked where the assessment is unclear")
    if (assessment == IMPASSE) != (impasse is not None):
        rule = "must have a type and a subgoal" if impasse is None else "must be null"
        raise ParamError("impasse", impasse, f"{rule} where the assessment is {assessment}")
    told = [" ".join(one.objective.casefold().split()) for one in tasks]
    for number, one in enumerate(told):
        if one in told[:number]:
            raise ParamError(f"tasks[{number}].objective", tasks[number].objective, "stands there twice")


def _task(number: int, answer: Mapping[str, Any], params: ContextParams) -> TaskPlan:
    where = f"tasks[{number}]"
    objective = said(f"{where}.objective", answer["objective"], params)
    if objective is None:
        raise ParamError(f"{where}.objective", answer["objective"], "must say what to do")
    if len(answer["delta"]) > params.delta:
        raise ParamError(f"{where}.delta", len(answer["delta"]), f"must be at most {params.delta} files")
    delta = dict.fromkeys(inside(f"{where}.delta", one) for one in answer["delta"])
    return TaskPlan(objective, tuple(delta), said(f"{where}.verify", answer["verify"], params))


def inside(name: str, path: str) -> str:
    """A path in the project, without detours; one that leads out of it is refused.

    >>> inside("delta", "./src/../src/app.py")
    'src/app.py'
    """
    parts: list[str] = []
    for part in PurePosixPath(path.replace("\\", "/")).parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    rooted = path.startswith(("/", "~", "\\")) or PureWindowsPath(path).drive
    if not parts or rooted or ".." in parts or not path.isprintable():
        raise ParamError(name, path, "must be the path of a file in the project, such as src/app.py")
    return "/".join(parts)
