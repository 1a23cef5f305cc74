"""The act phase: a task is carried out, verified, closed or tried again, and learnt from.

Whoever carries out tasks is a ``TaskDriver``: an agent, or another program that reports what it did. ``advance``
takes one step of a task for either, and each step is saved before the next begins: after a process was killed, at
most the step it was at is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from priming.config.values import dataclass
from priming.errors import AgentError, ParamError
from priming.llm.protocol import Agent, Answer, Schema, fenced, prompt
from priming.text.quotation import quote_text
from priming_loop import context
from priming_loop.codebase import CONTEXT, ContextParams
from priming_loop.environment import DeadlineExceeded, Turn, text_field, validated_answer
from priming_loop.learning import learn_from_task
from priming_loop.planning import is_rooted
from priming_loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    ActionResult,
    Attempt,
    LearningResult,
    ObjectiveContext,
    Session,
    Task,
    TaskOutcome,
    TaskPlan,
    Verification,
    assessment_of,
    with_attempt,
    with_outcome,
    with_task,
)
from priming_loop.session_store import LOOP, LoopParams

PHASE = "act"

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
_WORD = re.compile(r"[^\s;|&()<>\"'`$=]+")


def act(
    agent: Agent,
    plan: TaskPlan,
    number: int,
    gathered: ObjectiveContext,
    *,
    lineage: Sequence[str] = (),
    failed: Verification | None = None,
    advice: str | None = None,
    params: ContextParams = CONTEXT,
) -> ActionResult:
    """Have an agent carry out a task.

    Args:
        agent: the agent.
        plan: the task.
        number: the number of the attempt, from 1 on.
        gathered: the memories that the prompt shows.
        lineage: the tasks delivered before, in words.
        failed: the verification of the previous attempt.
        advice: the advice of metacognition, in words.
        params: limits of what the prompt shows and of what the answer may contain.

    Raises:
        AgentError: the agent gives no answer, or none that makes sense.

    """
    text = acting_prompt(plan, number, gathered, lineage=lineage, failed=failed, advice=advice, params=params)
    return validated_answer(agent, text, SCHEMA, lambda answer: parse_result(answer, params), params.repairs)


def acting_prompt(
    plan: TaskPlan,
    number: int,
    gathered: ObjectiveContext,
    *,
    lineage: Sequence[str] = (),
    failed: Verification | None = None,
    advice: str | None = None,
    params: ContextParams = CONTEXT,
) -> str:
    """The prompt of the act phase."""
    sections = context.sections(
        (
            None if failed is None else context.verification_section(failed, params),
            advice,
            context.memories_section(gathered),
            context.lineage_section(lineage, params),
        )
    )
    places = {"attempt": str(number), "task": _task_section(plan), "context": sections}
    return prompt(context.PACKAGE, PHASE, places, SCHEMA)


def _task_section(plan: TaskPlan) -> str:
    lines = [f"objective: {quote_text(plan.objective)}"]
    if plan.delta:
        lines.append(f"files: {', '.join(map(quote_text, plan.delta))}")
    lines.append(f"verify: {'none' if plan.verify is None else quote_text(plan.verify)}")
    return "The task:\n" + fenced("\n".join(lines))


def parse_result(answer: Answer, params: ContextParams = CONTEXT) -> ActionResult:
    """The result that an answer of the schema contains; ``ParamError`` if the answer contradicts itself."""
    details = text_field("details", answer["details"], params.answer_length) or ""
    obstacle = text_field("obstacle", answer["obstacle"], params.answer_length)
    if answer["status"] == BLOCKED and not (obstacle or details):
        raise ParamError("obstacle", answer["obstacle"], "must say what blocks the task")
    utilized = dict.fromkeys(key for name in answer["utilized"] if (key := name.strip()))
    learning = text_field("learning", answer["learning"], params.answer_length)
    return ActionResult(answer["status"], details, tuple(utilized), obstacle, learning)


def destructive_reason(plan: TaskPlan, params: LoopParams = LOOP, *, folder: Path | str = ".") -> str | None:
    """Why a person must allow a task before it begins; None if there is no reason.

    A task is destructive if its command contains the words of a rule of ``params.destructive`` in their order,
    whatever the folder of a program; or if one of its files is among ``params.precious``, or outside ``folder``. A
    file is where its path leads: symbolic links are followed before paths are compared.

    >>> destructive_reason(TaskPlan("Tidy up.", verify="sh -c 'cd build; /bin/rm -r .'"))
    "its command contains 'rm'"
    >>> destructive_reason(TaskPlan("Mend it.", ("src/app.py",), "pytest -q tests/test_rm.py"))
    """
    words = [word.rsplit("/", 1)[-1].casefold() for word in _WORD.findall(plan.verify or "")]
    for rule in params.destructive:
        if _in_order(words, rule.casefold().split()):
            return f"its command contains {rule!r}"
    for path in plan.delta:
        place = _place(path, Path(folder))
        if place is None:
            return f"it concerns {path}, which is outside the folder"
        if any(_fits(name, rule) for rule in params.precious for name in (path, place)):
            return f"it is about {path}" + ("" if _fits(place, path) else f", which is {place}")
    return None


def _in_order(words: list[str], rule: list[str]) -> bool:
    left = iter(words)
    return all(any(fnmatchcase(word, part) for word in left) for part in rule)


def _place(path: str, folder: Path) -> str | None:
    """The target of a path, as a path in the folder; None if it is outside, or if a link has no target."""
    if is_rooted(path) and not Path(path).is_absolute():
        return None
    try:
        root = folder.resolve()
        target = (root / path.replace("\\", "/")).resolve()
        return None if target.is_symlink() else target.relative_to(root).as_posix()  # a link to itself
    except (OSError, RuntimeError, ValueError):
        return None


def _fits(path: str, rule: str) -> bool:
    """Whether the end of a path has the form of a rule; capitals do not count, as on many file systems."""
    parts = path.removeprefix("./").casefold().split("/")
    return any(fnmatchcase("/".join(parts[place:]), rule.casefold()) for place in range(len(parts)))


class TaskDriver(Protocol):
    """Whoever carries out tasks."""

    def perform(self, turn: Turn, session: Session, task: Task) -> ActionResult | None:
        """The result of the open attempt; None if there is none yet. ``AgentError`` if none will come."""
        ...


class AgentDriver:
    """Has an agent carry out tasks."""

    def perform(self, turn: Turn, session: Session, task: Task) -> ActionResult | None:
        """Ask the agent."""
        assert task.gathered is not None, "gathered when the task began"
        return act(
            turn.agent(),
            task.plan,
            task.attempts[-1].number,
            task.gathered,
            lineage=_lineage(turn, session, task),
            failed=last_verification(task),
            advice=context.advice(assessment_of(session)),
        )


@dataclass(slots=True)
class ReportDriver:
    """Another program that carries out tasks: it has reported the result of one attempt."""

    result: ActionResult | None

    def perform(self, turn: Turn, session: Session, task: Task) -> ActionResult | None:  # noqa: ARG002
        """The report; None for the next attempt."""
        result, self.result = self.result, None
        return result


def advance(turn: Turn, driver: TaskDriver, session: Session, task: Task) -> Session | None:
    """Take one step of a task; None if its driver has reported nothing yet, or nothing is left to do."""
    if task.status != "pending":
        return None if task.learnt is not None else _learnt(turn, session, task)
    last = task.attempts[-1]
    if last.acted is None and last.error is None:
        return _performed(turn, driver, session, task)
    if last.acted is not None and last.acted.status == DELIVERED and last.verified is None:
        return _verified(turn, session, task, last)
    return _settled(turn, session, task, last)


def open_attempt(turn: Turn, task: Task, injected: Sequence[str]) -> Task:
    """The task with another attempt, which shows these memories."""
    attempt = Attempt(len(task.attempts) + 1, turn.sessions.now(), tuple(injected))
    return replace(task, attempts=(*task.attempts, attempt))


def last_verification(task: Task) -> Verification | None:
    """The latest result of the task's gate."""
    results = [attempt.verified for attempt in task.attempts if attempt.verified is not None]
    return results[-1] if results else None


def _performed(turn: Turn, driver: TaskDriver, session: Session, task: Task) -> Session | None:
    last = task.attempts[-1]
    try:
        result = driver.perform(turn, session, task)
    except AgentError as error:
        return with_task(session, with_attempt(task, replace(last, error=str(error))))
    return None if result is None else with_task(session, with_attempt(task, replace(last, acted=result)))


def _lineage(turn: Turn, session: Session, task: Task) -> tuple[str, ...]:
    """What was done before; with a fresh context, earlier attempts at this task are left out."""
    if session.fresh_context:
        return turn.lineage(session)
    attempts = [
        f"attempt {attempt.number} at this task, which failed its gate: {attempt.acted.details}"
        for attempt in task.attempts[:-1]
        if attempt.acted is not None
    ]
    return (*turn.lineage(session), *attempts)


def _verified(turn: Turn, session: Session, task: Task, last: Attempt) -> Session:
    """Run the gate: a report of success is not enough."""
    left = turn.seconds_left()
    timeout = session.limits.timeout if left is None else min(session.limits.timeout, left)
    if timeout <= 0:
        raise DeadlineExceeded
    result = turn.environment.verify(
        task.plan.verify, session.folder, timeout=timeout, most_output=turn.environment.params.output
    )
    if result.status == "late" and timeout < session.limits.timeout:
        raise DeadlineExceeded
    return with_task(session, with_attempt(task, replace(last, verified=result)))


def _settled(turn: Turn, session: Session, task: Task, last: Attempt) -> Session:
    """Close the task, or open another attempt."""
    status = "failed" if last.verified is None else last.verified.status
    if status == "passed":
        return _closed(turn, session, task, DELIVERED)
    if status == UNVERIFIED:
        return _closed(turn, session, task, UNVERIFIED)
    is_blocked = last.acted is not None and last.acted.status == BLOCKED
    if is_blocked or last.number >= session.limits.attempts:
        return _closed(turn, session, task, BLOCKED)
    injected = last.injected if task.gathered is None else task.gathered.injected
    return with_task(session, open_attempt(turn, task, injected))


def _closed(turn: Turn, session: Session, task: Task, status: str) -> Session:
    """Close the task; an unverified task counts neither as a success nor as a failure."""
    now = turn.sessions.now()
    task = replace(task, status=status, closed_at=now)
    session = with_task(session, task)
    if status == UNVERIFIED:
        return session
    return with_outcome(session, TaskOutcome(task.seq, status == DELIVERED, now, _notes(task)))


def _notes(task: Task) -> str:
    """How a task ended: in words, or by the last error of an agent that gave no answer at all."""
    if task.results:
        return task.summary
    errors = [attempt.error for attempt in task.attempts if attempt.error is not None]
    return errors[-1] if errors else ""


def _learnt(turn: Turn, session: Session, task: Task) -> Session:
    """Learn from a task; a task to which no agent answered teaches nothing."""
    learnt = LearningResult()
    if task.results:
        learnt = learn_from_task(turn.environment.memory, session, task, project=session.project)
    return with_task(session, replace(task, learnt=learnt))
