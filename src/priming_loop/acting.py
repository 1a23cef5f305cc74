"""The act phase: a task is carried out, verified, closed or tried again, and learnt from.

An agent carries out tasks, or another program that reports what it did. ``advance`` takes one step of a task for
either, past the same guard and the same gate, and each step is saved before the next begins: after a process was
killed, at most the step it was at is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from priming.errors import AgentError, ParamError
from priming.llm.protocol import Agent, Answer, Schema, fenced, prompt
from priming.text.quotation import quote_text
from priming_loop import context
from priming_loop.environment import Stopped, Turn, object_schema, validated_answer
from priming_loop.gates.guard import questions
from priming_loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    ActionResult,
    Attempt,
    ObjectiveContext,
    Session,
    Task,
    TaskOutcome,
    TaskPlan,
    Verification,
    Wait,
)
from priming_loop.session_store import LOOP

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
_ENDS = {"passed": DELIVERED, "unverified": UNVERIFIED}
"""How a task ends by the result of its gate, if that ends it."""


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
    """The prompt of the act phase.

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
    """The result that an answer of the schema contains; ``ParamError`` if the answer contradicts itself."""
    if answer["status"] == BLOCKED and not (answer["obstacle"] or answer["details"]):
        raise ParamError("obstacle", answer["obstacle"], "must say what blocks the task")
    utilized = tuple(dict.fromkeys(filter(None, answer["utilized"])))
    return ActionResult(**{**answer, "details": answer["details"] or "", "utilized": utilized})


def guarded(turn: Turn, session: Session, task: Task) -> Session:
    """The session with a person's yes to a task that needs it, or waiting for that; otherwise as it is."""
    unsettled = open_questions(session, task.plan)
    if not unsettled:
        return session
    about = f"task {task.seq}, {task.plan.objective}: {'; '.join(unsettled)}"
    wait = Wait("destructive", about, task.seq, unsettled)
    if not turn.allows(session, wait):
        return replace(session, waits=wait)
    return replace(session, yeses=(*session.yeses, *wait.questions))


def open_questions(session: Session, plan: TaskPlan) -> tuple[str, ...]:
    """What a person must say yes to before a task, and has not yet in this session."""
    return tuple(each for each in questions(plan, session.folder or ".") if each not in session.yeses)


def advance(turn: Turn, session: Session, task: Task) -> Session | None:
    """Take one step of an open task; None if the program that carries it out has reported nothing yet."""
    last = task.attempts[-1]
    if last.acted is None and last.error is None:
        return _performed(turn, session, task) if turn.seq is None else None
    if last.acted is not None and last.acted.status == DELIVERED and last.verified is None:
        checked = guarded(turn, session, task)
        return checked if checked.waits is not None else _verified(turn, checked, task)
    return _settled(turn, session, task)


def open_attempt(turn: Turn, task: Task, injected: tuple[str, ...]) -> Task:
    """The task with another attempt, which shows these memories."""
    attempt = Attempt(len(task.attempts) + 1, turn.sessions.now(), injected)
    return replace(task, attempts=(*task.attempts, attempt))


def _performed(turn: Turn, session: Session, task: Task) -> Session:
    """Have the agent carry out a task."""
    assert task.gathered is not None, "gathered when the task began"
    verified = [attempt.verified for attempt in task.attempts if attempt.verified is not None]
    prompted = {
        "lineage": _lineage(turn, session, task),
        "failed": verified[-1] if verified else None,
        "advice": context.advice(session.assessment),
    }
    try:
        result = act(turn, task.plan, len(task.attempts), task.gathered, **prompted)
    except AgentError as error:
        return session.with_task(task.with_last(error=str(error)))
    return session.with_task(task.with_last(acted=result))


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


def _verified(turn: Turn, session: Session, task: Task) -> Session:
    """Run the gate: a report of success is not enough."""
    timeout = min(session.limits.timeout, turn.seconds_left())
    if timeout <= 0:
        raise Stopped("minutes")
    result = turn.environment.verify(
        task.plan.verify, session.folder, timeout=timeout, most_output=LOOP.output
    )
    if result.status == "late" and timeout < session.limits.timeout:
        raise Stopped("minutes")
    return session.with_task(task.with_last(verified=result))


def _settled(turn: Turn, session: Session, task: Task) -> Session:
    """Close the task, or open another attempt; an unverified task is neither a success nor a failure."""
    last = task.attempts[-1]
    is_blocked = last.acted is not None and last.acted.status == BLOCKED
    status = _ENDS.get("" if last.verified is None else last.verified.status)
    if status is None and not is_blocked and last.number < session.limits.attempts:
        return session.with_task(open_attempt(turn, task, last.injected))
    now, status = turn.sessions.now(), status or BLOCKED
    task = replace(task, status=status, closed_at=now)
    session = session.with_task(task)
    if status == UNVERIFIED:
        return session
    errors = [attempt.error for attempt in task.attempts if attempt.error is not None]
    notes = task.summary if task.results else "".join(errors[-1:])
    return session.with_outcome(TaskOutcome(task.seq, status == DELIVERED, now, notes))
