"""The reason phase: from an objective and its context to tasks, a question, or an impasse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from priming.config.words import ASSESSMENTS, IMPASSES
from priming.core.metacognition import Assessment
from priming.errors import ParamError
from priming.llm.protocol import Agent, Answer, Schema, fenced, prompt
from priming.text.quotation import quote_text
from priming.text.statements.judge import judge
from priming_loop import context
from priming_loop.codebase import CONTEXT
from priming_loop.environment import object_schema, text_field, validated_answer
from priming_loop.gates.paths import project_path
from priming_loop.knowledge import texts
from priming_loop.session import (
    DELIVERED,
    Impasse,
    ObjectiveContext,
    PlanningResult,
    Session,
    TaskPlan,
    plain_objective,
)

PHASE = "reason"
UNCLEAR, IMPASSE = "unclear", "impasse"
REPEATED = 2
"""Number of failures of an objective from which only another way is taken."""
_NAME_GATES = (
    "Plan again, with a command under verify for every task; leave null only if no command can verify it."
)

_TEXT, _OPTIONAL = {"type": "string"}, {"type": ["string", "null"]}


_TASK = object_schema({"objective": _TEXT, "delta": {"type": "array", "items": _TEXT}, "verify": _OPTIONAL})
_STUCK = {**object_schema({"type": {"enum": list(IMPASSES)}, "subgoal": _TEXT}), "type": ["object", "null"]}
SCHEMA: Schema = object_schema(
    {
        "assessment": {"enum": list(ASSESSMENTS)},
        "tasks": {"type": "array", "items": _TASK},
        "question": _OPTIONAL,
        "impasse": _STUCK,
        "reasoning": _TEXT,
    }
)
"""The schema of the answer."""


def plan(
    agent: Agent, gathered: ObjectiveContext, assessment: Assessment | None, **prompted: Any
) -> PlanningResult:
    """Ask an agent for a plan, by the prompt that ``planning_prompt`` makes of the arguments.

    Raises:
        AgentError: the agent gives no answer, or none that makes sense.

    """
    text = planning_prompt(gathered, assessment, **prompted)
    return validated_answer(agent, text, SCHEMA, parse_plan, CONTEXT.repairs)


def planning_prompt(
    gathered: ObjectiveContext,
    assessment: Assessment | None = None,
    *,
    answered: Sequence[tuple[str, str]] = (),
    results: Sequence[str] = (),
    needs_gates: bool = False,
    lineage: Sequence[str] = (),
    subgoal: str | None = None,
) -> str:
    """The prompt of the reason phase.

    Args:
        gathered: the objective and its context.
        assessment: how the session is going: its advice is part of the prompt.
        answered: questions that a person answered, with the answers.
        results: how the subgoals of earlier impasses ended, in words.
        needs_gates: whether the plan before lacked commands that verify its tasks.
        lineage: the tasks delivered before, in words.
        subgoal: the objective above, if this one is a step out of its impasse.

    """
    complexity = gathered.complexity
    signs = f" (by its words: {', '.join(complexity.signals)})" if complexity.signals else ""
    sections = context.sections(
        (
            _subgoal_section(subgoal),
            context.advice(assessment),
            _failed_section(gathered),
            f"It looks {complexity.level}{signs}.",
            _answers_section(answered),
            _results_section(results),
            _NAME_GATES if needs_gates else None,
            context.memories_section(gathered),
            context.lineage_section(lineage),
            context.codebase_section(gathered.codebase),
        )
    )
    places = {"objective": fenced(texts.plain(gathered.objective)), "context": sections}
    return prompt(context.PACKAGE, PHASE, places, SCHEMA)


def proven_plan(
    sessions: Sequence[Session], is_active: Callable[[str], bool], least: int
) -> tuple[PlanningResult, int] | None:
    """The plan with which an objective succeeded again and again, and how often; None if it is not proven.

    Slow reasoning becomes a rule that fires (the seed's chunking): the latest run of the objective has delivered
    all its tasks, and so have at least ``least`` runs in all, by the same patterns, which are still in use.

    Args:
        sessions: earlier sessions of the same objective, the latest first.
        is_active: whether the memory of a key is in use.
        least: the fewest runs.

    """
    closed = [session for session in sessions if session.tasks and session.next_task is None]
    ways = [_way(session) for session in closed]
    if not ways or ways[0] is None or not all(map(is_active, ways[0])):
        return None
    count = ways.count(ways[0])
    if count < least:
        return None
    plans = tuple(task.plan for task in closed[0].tasks)
    return PlanningResult("simple", plans, reasoning=f"proven by {', '.join(ways[0])}"), count


def _way(session: Session) -> tuple[str, ...] | None:
    """The patterns that record how a session delivered each task; None if it did not, or without a record."""
    if any(task.status != DELIVERED or task.learnt is None for task in session.tasks):
        return None
    patterns = [task.learnt.patterns for task in session.tasks if task.learnt is not None]
    return tuple(keys[0] for keys in patterns) if all(patterns) else None


def _subgoal_section(objective: str | None) -> str | None:
    if objective is None:
        return None
    text = quote_text(texts.cut(objective, CONTEXT.memory_length))
    return "It is a step out of an impasse; once it is done, this goes on:\n" + fenced(text)


def _failed_section(gathered: ObjectiveContext) -> str | None:
    """How often the objective failed, and how, once that is more than once: another way is due."""
    if gathered.failed < REPEATED:
        return None
    lines = [quote_text(texts.cut(way, CONTEXT.memory_length)) for way in gathered.ways]
    return (
        f"It failed {gathered.failed} times before. Take another way: a plan that repeats what failed ends here."
        " This was tried:\n" + fenced("\n".join(lines))
    )


def repeated_way(gathered: ObjectiveContext, plan: PlanningResult) -> str | None:
    """The task of a plan that is no other way than what failed more than once; None if all are."""
    if gathered.failed < REPEATED:
        return None
    pairs = ((task.objective, way) for task in plan.tasks for way in gathered.ways)
    return next((task for task, way in pairs if judge(way, task).kind == "same"), None)


def _answers_section(answered: Sequence[tuple[str, str]]) -> str | None:
    if not answered:
        return None
    most = CONTEXT.text_length
    lines = [
        f"{quote_text(texts.cut(question, most))} → {quote_text(texts.cut(answer, most))}"
        for question, answer in answered
    ]
    return "Questions that a person has answered; follow the answers:\n" + fenced("\n".join(lines))


def _results_section(results: Sequence[str]) -> str | None:
    lines = [quote_text(texts.cut(result, CONTEXT.text_length)) for result in results]
    return "How the steps out of earlier impasses ended:\n" + fenced("\n".join(lines)) if lines else None


def parse_plan(answer: Answer) -> PlanningResult:
    """The result that an answer of the schema contains; ``ParamError`` if the answer contradicts itself."""
    assessment = answer["assessment"]
    tasks = [_task(number, task) for number, task in enumerate(answer["tasks"])]
    question = text_field("question", answer["question"], CONTEXT.answer_length)
    _check(assessment, tasks, question, answer["impasse"])
    reasoning = text_field("reasoning", answer["reasoning"], CONTEXT.answer_length) or ""
    return PlanningResult(
        assessment,
        tuple(tasks),
        question if assessment == UNCLEAR else None,
        _impasse(answer["impasse"]),
        reasoning,
    )


def _impasse(answer: Mapping[str, Any] | None) -> Impasse | None:
    if answer is None:
        return None
    subgoal = text_field("impasse.subgoal", answer["subgoal"], CONTEXT.answer_length)
    if subgoal is None:
        raise ParamError("impasse.subgoal", answer["subgoal"], "must say what to find out or make first")
    return Impasse(answer["type"], subgoal)


def _check(
    assessment: str, tasks: Sequence[TaskPlan], question: str | None, impasse: Mapping[str, Any] | None
) -> None:
    """Check that the parts of an answer agree with one another."""
    has_plan = assessment not in (UNCLEAR, IMPASSE)
    objectives = [task.objective for task in tasks]
    if has_plan and not tasks:
        raise ParamError("tasks", [], f"must have at least one where the assessment is {assessment}")
    if not has_plan and tasks:
        raise ParamError("tasks", objectives, f"must be empty where the assessment is {assessment}")
    if len(tasks) > CONTEXT.tasks:
        raise ParamError("tasks", len(tasks), f"must be at most {CONTEXT.tasks}: make them larger")
    if assessment == UNCLEAR and question is None:
        raise ParamError("question", question, "must be asked where the assessment is unclear")
    if (assessment == IMPASSE) != (impasse is not None):
        rule = "must have a type and a subgoal" if impasse is None else "must be null"
        raise ParamError("impasse", impasse, f"{rule} where the assessment is {assessment}")
    plain = [plain_objective(objective) for objective in objectives]
    for number, text in enumerate(plain):
        if text in plain[:number]:
            raise ParamError(
                f"tasks[{number}].objective", objectives[number], "must differ from those before it"
            )


def _task(number: int, answer: Mapping[str, Any]) -> TaskPlan:
    where = f"tasks[{number}]"
    objective = text_field(f"{where}.objective", answer["objective"], CONTEXT.answer_length)
    if objective is None:
        raise ParamError(f"{where}.objective", answer["objective"], "must say what to do")
    if len(answer["delta"]) > CONTEXT.delta:
        raise ParamError(f"{where}.delta", len(answer["delta"]), f"must be at most {CONTEXT.delta} files")
    delta = dict.fromkeys(project_path(f"{where}.delta", path) for path in answer["delta"])
    return TaskPlan(
        objective, tuple(delta), text_field(f"{where}.verify", answer["verify"], CONTEXT.answer_length)
    )
