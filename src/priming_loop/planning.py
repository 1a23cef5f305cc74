"""The reason phase: from an objective and its context to tasks, a question, or an impasse with its subgoal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from priming.config.ids import uuid7
from priming.config.words import ASSESSMENTS, IMPASSES
from priming.core.metacognition import Assessment
from priming.errors import ParamError
from priming.llm.protocol import Agent, Answer, Schema, fenced, prompt
from priming.namespace import Namespace
from priming.text.quotation import quote_text
from priming.text.statements.judge import judge
from priming_loop import context
from priming_loop.codebase import CONTEXT
from priming_loop.environment import SECONDS, Turn, object_schema, validated_answer
from priming_loop.gates.guard import checked_plan
from priming_loop.knowledge import cut, existing, meaning_same, plain
from priming_loop.session import (
    DELIVERED,
    Impasse,
    ObjectiveContext,
    PlanningResult,
    Session,
    TaskPlan,
    plain_objective,
)
from priming_loop.session_store import LOOP

PHASE = "reason"
UNCLEAR, IMPASSE = "unclear", "impasse"
_RECENT = 20
"""Maximum number of sessions of an objective that are examined for a proven plan."""
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
    return validated_answer(agent, text, SCHEMA, parse_plan)


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
    """Return the prompt of the reason phase.

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
        context.listing(
            "It is a step out of an impasse; once it is done, this goes on:", filter(None, [subgoal])
        ),
        context.advice(assessment),
        _failed_section(gathered),
        f"It looks {complexity.level}{signs}.",
        _answers_section(answered),
        context.listing("How the steps out of earlier impasses ended:", results, CONTEXT.text_length),
        _NAME_GATES if needs_gates else None,
        context.memories_section(gathered),
        context.lineage_section(lineage),
        context.codebase_section(gathered.codebase),
    )
    places = {"objective": fenced(plain(gathered.objective)), "context": sections}
    return prompt(context.PACKAGE, PHASE, places, SCHEMA)


def proven(turn: Turn, session: Session) -> Session | None:
    """Return the session with the plan with which its objective succeeded again and again; None if none is proven.

    Slow reasoning becomes a rule that fires (the seed's chunking): the latest run of the objective has delivered
    all its tasks, and so have at least ``LOOP.proven`` runs in all, by the same patterns, which are still in use.
    The objective must be new here, and not to be deliberated on.
    """
    if session.deliberate or session.parent is not None or session.answered or session.earlier:
        return None
    others = turn.sessions.of_objective(session.objective, _RECENT)
    closed = [each for each in others if each.id != session.id and each.tasks and each.next_task is None]
    ways = [_way(each) for each in closed]
    if not ways or ways[0] is None or ways.count(ways[0]) < LOOP.proven:
        return None
    patterns = [existing(turn.environment.memory, key) for key in ways[0]]
    if not all(pattern and pattern.status == "active" for pattern in patterns):
        return None
    plans = tuple(task.plan for task in closed[0].tasks)
    reasoned = PlanningResult("simple", plans, reasoning=f"proven by {', '.join(ways[0])}")
    return replace(session, reasoned=reasoned, proven=ways.count(ways[0]))


def _way(session: Session) -> tuple[str, ...] | None:
    """Return the patterns that record how a session delivered each task; None if it did not, or without a record."""
    if any(task.status != DELIVERED or task.learnt is None for task in session.tasks):
        return None
    patterns = [task.learnt.patterns for task in session.tasks if task.learnt is not None]
    return tuple(keys[0] for keys in patterns) if all(patterns) else None


def _failed_section(gathered: ObjectiveContext) -> str | None:
    """Return how often the objective failed, and how, once that is more than once: another way is due."""
    if gathered.failed < REPEATED:
        return None
    return context.listing(
        f"It failed {gathered.failed} times before. Take another way: a plan that repeats what failed ends here."
        " This was tried:",
        gathered.ways,
    )


def repeated_way(gathered: ObjectiveContext, plan: PlanningResult) -> str | None:
    """Tell why a plan will not do: a task of it is no other way than what failed more than once; None if all are."""
    if gathered.failed < REPEATED:
        return None
    pairs = ((task.objective, way) for task in plan.tasks for way in gathered.ways)
    repeated = next((task for task, way in pairs if judge(way, task).kind == "same"), None)
    why = f"it failed {gathered.failed} times before, and the plan is no other way: {repeated}"
    return None if repeated is None else why


def _answers_section(answered: Sequence[tuple[str, str]]) -> str | None:
    lines = [" → ".join(quote_text(cut(text, CONTEXT.text_length)) for text in pair) for pair in answered]
    title = "Questions that a person has answered; follow the answers:\n"
    return title + fenced("\n".join(lines)) if lines else None


def parse_plan(answer: Answer) -> PlanningResult:
    """Return the result that an answer of the schema contains; ``ParamError`` if the answer contradicts itself."""
    assessment, question, impasse = answer["assessment"], answer["question"], answer["impasse"]
    tasks = tuple(_task(f"tasks[{number}]", task) for number, task in enumerate(answer["tasks"]))
    _check(assessment, tasks, question, impasse)
    stuck = impasse and Impasse(**impasse)
    question = question if assessment == UNCLEAR else None
    return PlanningResult(assessment, tasks, question, stuck, answer["reasoning"] or "")


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
    if impasse is not None and impasse["subgoal"] is None:
        raise ParamError("impasse.subgoal", None, "must say what to find out or make first")
    plain = [plain_objective(objective) for objective in objectives]
    for number, text in enumerate(plain):
        if text in plain[:number]:
            raise ParamError(
                f"tasks[{number}].objective", objectives[number], "must differ from those before it"
            )


def _task(where: str, answer: Mapping[str, Any]) -> TaskPlan:
    if answer["objective"] is None:
        raise ParamError(f"{where}.objective", None, "must say what to do")
    if len(answer["delta"]) > CONTEXT.delta:
        raise ParamError(f"{where}.delta", len(answer["delta"]), f"must be at most {CONTEXT.delta} files")
    delta = tuple(path or "" for path in answer["delta"])
    return checked_plan(TaskPlan(answer["objective"], delta, answer["verify"]), "")


def _without_progress(turn: Turn, session: Session, impasse: Impasse) -> str | None:
    """Tell why another impasse is no progress: its subgoal is repeated, or the one before led to no task at all."""
    members = [session]
    while members[-1].parent is not None:
        members.append(turn.sessions.get(members[-1].parent))
    subgoals = [child for member in members for child in turn.sessions.children(member)]
    goals = [member.objective for member in (*members, *subgoals)]
    if is_repeated(turn.environment.memory, impasse.subgoal, goals):
        return f"The impasse makes no progress. This subgoal was open before: {_in_words(impasse)}"
    last = turn.sessions.find(session.children[-1]) if session.children else None
    if last is not None and not last.tasks:
        return f"The impasse makes no progress. The last subgoal led to no task: {last.objective}"
    return None


def is_repeated(memory: Namespace, subgoal: str, others: Sequence[str]) -> bool:
    """Tell whether a subgoal is one of these objectives, or one in other words."""
    return any(judge(other, subgoal).kind == "same" for other in others) or meaning_same(
        memory, subgoal, others
    )


def _in_words(impasse: Impasse) -> str:
    return f"{impasse.subgoal} ({impasse.type.replace('_', ' ')})"


def new_subgoal(turn: Turn, session: Session, impasse: Impasse) -> Session:
    """Reserve the id of a subgoal's session, if another subgoal is progress and within the limits."""
    why = _without_progress(turn, session, impasse)
    if why is not None:
        return replace(session, without_progress=True, why=why)
    if session.depth >= session.limits.depth:
        limit = f"Subgoals may be at most {session.limits.depth} deep"
    elif len(session.children) >= LOOP.subgoals:
        limit = f"A session may have at most {LOOP.subgoals} subgoals"
    else:
        child_id = uuid7(turn.sessions.now())
        return replace(session, below=child_id, children=(*session.children, child_id))
    return replace(session, state="LEARN", ended="impasse", why=f"{_in_words(impasse)}. {limit}")


def subgoal_session(turn: Turn, session: Session, subgoal: str) -> Session:
    """Return the session of a subgoal, begun if necessary, with the time that is left."""
    assert session.below is not None, "set before"
    own: dict[str, Any] = {"parent": session.id, "depth": session.depth + 1, "yeses": session.yeses}
    own |= {"session_id": session.below, "fresh_context": session.fresh_context}
    child = turn.sessions.find(session.below)
    if child is None:
        child = turn.sessions.begin(subgoal, session.folder or None, session.limits, **own)
    if session.limits.minutes is None:
        return child
    minutes = (child.seconds + max(0.0, turn.seconds_left())) / SECONDS
    return replace(child, limits=replace(session.limits, minutes=minutes))


def outcome_of(session: Session) -> str:
    """Return how a subgoal's session ended, in words."""
    why = "" if session.why is None else f" ({session.why})"
    return "; ".join([f"{session.ended}{why}", *(task.summary for task in session.tasks)])
