"""Runs of the loop: an agent pursues an objective, or another program drives a session task by task.

Both take the same steps of a task (``acting.advance``): the same gate, the same learning, the same lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from priming.config.params.loop import LOOP, LoopParams
from priming.core.metacognition import assess
from priming.errors import Conflict, NotFound, ParamError
from priming.loop.acting import ReportDriver, advance
from priming.loop.context import gather
from priming.loop.environment import SECONDS, LoopEnvironment, Turn
from priming.loop.planning import plan
from priming.loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    ActionResult,
    Attempt,
    Limits,
    ObjectiveContext,
    PlanningResult,
    Session,
    Task,
    TaskOutcome,
    TaskPlan,
    Verification,
    with_outcome,
    with_task,
)
from priming.loop.session_store import Sessions
from priming.loop.state_machine import LAST, go_on, with_answer
from priming.loop.verification import Verifier, verify

DRIVEN = "Tasks that are driven from outside."
"""The objective of a driven session that has none of its own."""
_DIFFERENTLY = "What should be done differently?"


def run(
    environment: LoopEnvironment,
    objective: str,
    folder: Path | str,
    limits: Limits,
    *,
    fresh_context: bool = False,
    deliberate: bool = False,
) -> Session:
    """Pursue an objective until it is reached, a limit is reached, or a person is needed.

    An objective whose plan is proven is not reasoned about, unless ``deliberate``.

    Raises:
        ParamError: an invalid objective or folder.

    """
    sessions = Sessions(environment.memory)
    session = sessions.begin(
        objective,
        folder,
        limits,
        fresh_context=fresh_context,
        yes=environment.yes,
        deliberate=deliberate,
        params=environment.params,
    )
    with sessions.lock(session.id):
        return go_on(environment, session)


def think(
    environment: LoopEnvironment, objective: str, folder: Path | str
) -> tuple[ObjectiveContext, PlanningResult]:
    """Gather the context of an objective and plan; nothing is done, learnt or saved."""
    assert environment.agent is not None, "planning needs an agent"
    gathered = gather(environment.memory, objective, folder, session=None)
    return gathered, plan(environment.agent, gathered, assess(()))


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    """What a person contributes to a session that is resumed: a yes, an answer, more minutes."""

    yes: bool = False
    answer: str | None = None
    minutes: float | None = None


def resume(environment: LoopEnvironment, session_id: str, options: ResumeOptions) -> Session:
    """Resume a session where it stopped. A session that ended without success begins a new round.

    The session of a subgoal is resumed from the session at the top.

    Raises:
        NotFound: no such session.
        Conflict: an answer to a session that waits for none.
        Busy: another process works on the session.

    """
    sessions = Sessions(environment.memory)
    top = sessions.root(session_id)
    with sessions.lock(top.id):
        session = sessions.get(top.id)
        if not Path(session.folder).is_dir():
            raise ParamError("session", session_id, f"works in {session.folder}, which no longer exists")
        if session.state == LAST and session.ended in (DELIVERED, UNVERIFIED):
            return session
        active = _active(sessions, session)
        resumed = _resumed(active, options)
        if active.id != session.id:
            sessions.save(resumed)
            resumed = replace(session, waits=None, stopped=None)
        if options.minutes is not None:
            limits = replace(session.limits, minutes=session.seconds / SECONDS + options.minutes)
            resumed = replace(resumed, limits=limits)
        return go_on(environment, sessions.save(resumed))


def _active(sessions: Sessions, session: Session) -> Session:
    """The session in progress: the last in the chain of subgoals."""
    if session.below is None:
        return session
    try:
        child = sessions.get(session.below)
    except NotFound:  # killed before the child began
        return session
    # A child may have ended before its parent could read its outcome.
    return session if child.state == LAST else _active(sessions, child)


def _resumed(session: Session, options: ResumeOptions) -> Session:
    """The session with a person's contribution; a session that ended begins a new round."""
    wait = session.waits
    fresh = replace(session, waits=None, stopped=None, why=None, yes=session.yes or options.yes)
    if session.state == LAST:
        return _new_round(fresh, options)
    if options.answer is not None:
        if wait is None or wait.what != "answer":
            raise Conflict(
                f"the session {session.id} waits for no answer: 'priming loop resume {session.id}' goes on"
            )
        return with_answer(fresh, wait.about, options.answer)
    if wait is not None and options.yes:
        if wait.what == "approval":
            return replace(fresh, approved=True)
        if wait.what == "destructive" and wait.seq is not None:
            return replace(fresh, allowed=(*fresh.allowed, wait.seq))
    return fresh


def _new_round(session: Session, options: ResumeOptions) -> Session:
    """A session that ended, at the beginning of another round; an answer means another approach."""
    fresh = replace(
        session,
        state="INIT",
        ended=None,
        reasoned=None,
        gates_requested=False,
        approved=False,
        left_out=0,
        proven=0,
        alternatives=(),
        earlier=len(session.tasks),
    )
    if options.answer is None:
        return fresh
    answered = (*fresh.answered, (_DIFFERENTLY, options.answer))
    return replace(fresh, answered=answered, begun_with=len(fresh.outcomes), without_progress=False)


@dataclass(frozen=True, slots=True)
class TaskReply:
    """The reply to a report on a task: the task as it is now, and the verification if its gate ran."""

    task: Task
    verified: Verification | None = None


def new_session(sessions: Sessions, objective: str, folder: Path | str, params: LoopParams = LOOP) -> Session:
    """Begin a session without a plan: another program adds its tasks."""
    limits = Limits(params.attempts, params.tasks, params.depth, params.timeout)
    return sessions.begin(objective, folder, limits, state="ACT", approved=True, params=params)


def add(
    sessions: Sessions, session_id: str, seq: int, plan: TaskPlan, injected: Sequence[str] = ()
) -> tuple[Session, Task]:
    """Add a task, with the memories shown to whoever carries it out."""
    _check_seq(seq)
    if not plan.objective.strip():
        raise ParamError("objective", plan.objective, "must say what is to be done")
    with sessions.lock(sessions.root(session_id).id):
        session = sessions.get(session_id)
        if any(task.seq == seq for task in session.tasks):
            raise Conflict(f"task {seq} of session {session_id} already exists: take another seq")
        task = Task(seq, plan, attempts=(Attempt(1, sessions.now(), tuple(injected)),))
        tasks = tuple(sorted((*session.tasks, task), key=lambda other: other.seq))
        return sessions.save(replace(session, tasks=tasks)), task


def complete(
    sessions: Sessions,
    session_id: str,
    seq: int,
    delivered: str,
    utilized: Sequence[str] = (),
    params: LoopParams = LOOP,
    verify: Verifier = verify,
) -> TaskReply:
    """Report a task as delivered. If its gate fails, it stays pending, and is blocked after its last attempt."""
    environment = LoopEnvironment(sessions.memory, params=params, verify=verify)
    return _report(environment, session_id, seq, ActionResult(DELIVERED, delivered, tuple(utilized)))


def block(
    sessions: Sessions, session_id: str, seq: int, reason: str, utilized: Sequence[str] = ()
) -> TaskReply:
    """Report a task as blocked."""
    if not reason.strip():
        raise ParamError("reason", reason, "must say what stands in the way")
    result = ActionResult(BLOCKED, "", tuple(utilized), reason)
    return _report(LoopEnvironment(sessions.memory), session_id, seq, result)


def _report(environment: LoopEnvironment, session_id: str, seq: int, result: ActionResult) -> TaskReply:
    """Advance a task with the result of its attempt, until it is closed or its next attempt is open."""
    turn, driver = Turn(environment, Sessions(environment.memory)), ReportDriver(result)
    with turn.sessions.lock(turn.sessions.root(session_id).id):
        session = turn.sessions.get(session_id)
        task = task_of(session, seq)
        is_open = task.status == "pending"
        if is_open:
            session = with_task(session, _reopened(turn, task))
        while (after := advance(turn, driver, session, task_of(session, seq))) is not None:
            session = turn.sessions.save(after)
    number, task = max(0, len(task.attempts) - 1), task_of(session, seq)
    return TaskReply(task, task.attempts[number].verified if is_open else None)


def _reopened(turn: Turn, task: Task) -> Task:
    """The task with its last attempt open: what a process that was killed had begun with it is repeated."""
    if not task.attempts:
        return replace(task, attempts=(Attempt(1, turn.sessions.now()),))
    last = replace(task.attempts[-1], acted=None, verified=None, error=None)
    return replace(task, attempts=(*task.attempts[:-1], last))


def record(sessions: Sessions, session_id: str, seq: int, success: bool, notes: str = "") -> bool:
    """Record whether a task succeeded, for metacognition; True if that replaces an earlier record."""
    _check_seq(seq)
    with sessions.lock(sessions.root(session_id).id):
        session = sessions.get(session_id)
        replaces = any(outcome.seq == seq for outcome in session.outcomes)
        sessions.save(with_outcome(session, TaskOutcome(seq, success, sessions.now(), notes)))
    return replaces


def clear(sessions: Sessions, session_id: str) -> int:
    """Delete the outcomes of a session, because another approach begins; returns their number."""
    with sessions.lock(sessions.root(session_id).id):
        session = sessions.get(session_id)
        sessions.save(replace(session, outcomes=(), begun_with=0))
    return len(session.outcomes)


def task_of(session: Session, seq: int) -> Task:
    """The task of a number."""
    task = next((task for task in session.tasks if task.seq == seq), None)
    if task is None:
        numbers = ", ".join(str(task.seq) for task in session.tasks) or "none yet"
        raise NotFound(f"session {session.id} has no task {seq}: there are {numbers}")
    return task


def _check_seq(seq: int) -> None:
    if seq < 1:
        raise ParamError("seq", seq, "must be 1 or more")
