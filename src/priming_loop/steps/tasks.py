"""The steps of a session that another program drives: its tasks, how they ended, and whether the approach works.

They go through the same gate, the same learning and the same lock as a run of an agent (``acting.advance``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from priming.config.values import dataclass
from priming.core.arguments.checks import check_text
from priming.core.metacognition import Assessment
from priming.errors import Conflict, NotFound, ParamError
from priming.namespace import Namespace
from priming_loop.acting import ReportDriver, advance
from priming_loop.environment import LoopEnvironment, Turn
from priming_loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    ActionResult,
    Attempt,
    LearningResult,
    Limits,
    Session,
    Task,
    TaskOutcome,
    TaskPlan,
    Verification,
    assessment_of,
    with_outcome,
    with_task,
)
from priming_loop.session_store import LOOP, Sessions, check_folder
from priming_loop.state_machine import LAST
from priming_loop.steps.report import describe_assessment
from priming_loop.steps.results import (
    OutcomeRecorded,
    OutcomesCleared,
    PivotAdvice,
    RecordedOutcome,
    SessionAssessment,
    SessionBegun,
    SessionOutcomes,
    SessionTask,
    TaskAdded,
    TaskFeedback,
    TaskReply,
)

DRIVEN = "Tasks that are driven from outside."
"""The objective of a driven session that has none of its own."""
STATUS = {"pending": "pending", "delivered": "complete", "unverified": "unverified", "blocked": "blocked"}
"""The statuses of tasks in the words of Arc."""
_GO_ON = PivotAdvice(False, "low", "Go on.", ())
_SUGGESTIONS = {
    "pivot_now": PivotAdvice(
        True,
        "high",
        "Stop: what was tried failed again and again.",
        ("make the objective simpler", "take another approach", "ask what is meant", "begin afresh"),
    ),
    "consider_pivot": PivotAdvice(
        "maybe",
        "medium",
        "Most tasks fail: consider another approach.",
        ("go on with smaller steps", "look at what fails first", "heed the failures that memory knows"),
    ),
}
"""Suggestions by the advice of metacognition."""


def loop_task_new_session(
    memory: Namespace, objective: str | None = None, *, folder: str | None = None
) -> SessionBegun:
    """Begin a session without a plan, whose tasks are added one by one.

    Args:
        objective: what its tasks are for.
        folder: the absolute path of the folder in which gates are run; null: its tasks have no gates. Only this
            machine's own processes may name it.

    """
    sessions, requested = Sessions(memory), memory.requested_id
    if requested is not None and sessions.has(requested):
        return SessionBegun(requested)  # the answer to the same call was lost
    limits = Limits(LOOP.attempts, LOOP.tasks, LOOP.depth, LOOP.timeout)
    session = sessions.begin(
        DRIVEN if objective is None else objective,
        check_folder(folder),
        limits,
        session_id=requested,
        state="ACT",
        approved=True,
    )
    return SessionBegun(session.id)


def loop_task_add(
    memory: Namespace,
    session: str,
    seq: int,
    objective: str,
    *,
    delta: Sequence[str] = (),
    injected: Sequence[str] = (),
    verify: str | None = None,
) -> TaskAdded:
    """Add a task to a session. The same task again changes nothing.

    Args:
        session: the session.
        seq: the number of the task, 1 or more.
        objective: what is to be done.
        delta: the files that it is about.
        injected: the names of the memories that were shown to whoever carries it out.
        verify: the command that says whether it is done, run in the folder of the session when the task is
            completed. Only this machine's own processes may name it.

    """
    _check_seq(seq)
    if not check_text("objective", objective).strip():
        raise ParamError("objective", objective, "must say what is to be done")
    plan = TaskPlan(objective, tuple(delta), verify)
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        if verify is not None and not current.folder:
            rule = "cannot be run: the session has no folder; begin it with one, on this machine"
            raise ParamError("verify", verify, rule)
        existing = next((task for task in current.tasks if task.seq == seq), None)
        if existing is not None and (existing.plan, existing.injected) != (plan, tuple(injected)):
            raise Conflict(f"task {seq} of session {session} already exists: take another seq")
        if existing is None and current.state == LAST:
            raise Conflict(
                f"session {session} has ended ({current.ended}), so no task can be added:"
                " begin another with 'priming loop task new-session'"
            )
        if existing is None:
            task = Task(seq, plan, attempts=(Attempt(1, sessions.now(), tuple(injected)),))
            tasks = tuple(sorted((*current.tasks, task), key=lambda other: other.seq))
            sessions.save(replace(current, tasks=tasks))
    return TaskAdded(session, seq, STATUS["pending" if existing is None else existing.status])


def loop_task_complete(
    memory: Namespace, session: str, seq: int, delivered: str, *, utilized: Sequence[str] = ()
) -> TaskReply:
    """Report a task as done. Its gate is run now, and only that decides.

    If the gate fails, the task stays pending, and is blocked after its last attempt. Memories are judged and lessons
    are stored once the task is closed.

    Args:
        session: the session.
        seq: the number of the task.
        delivered: what was done.
        utilized: the names of the memories that were used.

    """
    details = check_text("delivered", delivered)
    return _reply(_reported(memory, session, seq, ActionResult(DELIVERED, details, tuple(utilized))))


def loop_task_block(
    memory: Namespace, session: str, seq: int, reason: str, *, utilized: Sequence[str] = ()
) -> TaskReply:
    """Report a task as blocked: memories are judged, and the failure is stored.

    Args:
        session: the session.
        seq: the number of the task.
        reason: what stands in the way.
        utilized: the names of the memories that were used.

    """
    if not check_text("reason", reason).strip():
        raise ParamError("reason", reason, "must say what blocks the task")
    return _reply(_reported(memory, session, seq, ActionResult(BLOCKED, "", tuple(utilized), reason)))


def loop_task_get(memory: Namespace, session: str, *, seq: int | None = None) -> list[SessionTask]:
    """The tasks of a session, each with how it ended.

    Args:
        session: the session.
        seq: only the task of this number.

    """
    current = Sessions(memory).get(session)
    tasks = current.tasks if seq is None else (_task_of(current, seq),)
    return [_shape(current, task) for task in tasks]


def loop_meta_record(
    memory: Namespace, session: str, seq: int, success: bool, *, notes: str = ""
) -> OutcomeRecorded:
    """Record whether a task succeeded, for the assessment of its session.

    Args:
        session: the session.
        seq: the number of the task, 1 or more.
        success: whether it succeeded.
        notes: anything to be kept with it.

    """
    _check_seq(seq)
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        replaces = any(outcome.seq == seq for outcome in current.outcomes)
        outcome = TaskOutcome(seq, success, sessions.now(), check_text("notes", notes))
        sessions.save(with_outcome(current, outcome))
    return OutcomeRecorded("updated" if replaces else "recorded")


def loop_meta_assess(memory: Namespace, session: str) -> SessionAssessment:
    """Assess whether the approach of a session works, and whether to take another.

    Args:
        session: the session.

    """
    current = Sessions(memory).get(session)
    assessment = assessment_of(current)
    outcomes = current.outcomes[current.begun_with :]
    return SessionAssessment(
        status=assessment.state,
        success_rate=assessment.success_rate,
        total_tasks=len(outcomes),
        successes=sum(outcome.success for outcome in outcomes),
        consecutive_failures=assessment.consecutive_failures,
        recommendation=assessment.advice,
        reason=describe_assessment(assessment),
        pivot=pivot_advice(assessment),
    )


def loop_meta_summary(memory: Namespace, session: str) -> SessionOutcomes:
    """How the tasks of a session ended, with the notes of each.

    Args:
        session: the session.

    """
    current = Sessions(memory).get(session)
    outcomes = current.outcomes
    return SessionOutcomes(
        session_id=current.id,
        total_tasks=len(outcomes),
        successes=sum(outcome.success for outcome in outcomes),
        success_rate=assessment_of(replace(current, begun_with=0)).success_rate,
        tasks=tuple(RecordedOutcome(o.seq, o.success, o.notes, o.at) for o in outcomes),
        failure_notes=tuple(o.notes for o in outcomes if not o.success and o.notes),
        success_notes=tuple(o.notes for o in outcomes if o.success and o.notes),
    )


def loop_meta_clear(memory: Namespace, session: str) -> OutcomesCleared:
    """Clear the record of how tasks ended, because another approach begins.

    Args:
        session: the session.

    """
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        sessions.save(replace(current, outcomes=(), begun_with=0))
    return OutcomesCleared(len(current.outcomes))


def loop_task_close(
    memory: Namespace, session: str, seq: int, delivered: str, *, utilized: Sequence[str] = ()
) -> TaskReply:
    """Report a task without a gate as done: it ends as ``unverified``.

    A gate is a command, which is run on the machine of the session only, by ``priming loop task complete``.

    Args:
        session: the session.
        seq: the number of the task.
        delivered: what was done.
        utilized: the names of the memories that were used.

    Raises:
        Conflict: the task has a gate.

    """
    verify = _task_of(Sessions(memory).get(session), seq).plan.verify
    if verify is not None:
        raise Conflict(
            f"task {seq} has a gate, which is run on its own machine only:"
            f" 'priming loop task complete --session {session} --seq {seq}' there"
        )
    return loop_task_complete(memory, session, seq, delivered, utilized=utilized)


def pivot_advice(assessment: Assessment) -> PivotAdvice:
    """Whether to take another approach."""
    return _SUGGESTIONS.get(assessment.advice, replace(_GO_ON, confidence=assessment.confidence))


@dataclass(frozen=True, slots=True)
class _ReportedTask:
    """A task after a report on it, and the verification if its gate ran."""

    task: Task
    verified: Verification | None = None


def _reported(memory: Namespace, session_id: str, seq: int, result: ActionResult) -> _ReportedTask:
    """Advance a task with the result of its attempt, until it is closed or its next attempt is open."""
    environment = LoopEnvironment(memory)
    turn, driver = Turn(environment, Sessions(memory)), ReportDriver(result)
    with turn.sessions.lock(turn.sessions.root(session_id).id):
        session = turn.sessions.get(session_id)
        task = _task_of(session, seq)
        is_open = task.status == "pending"
        if result.status == BLOCKED and task.status in (DELIVERED, UNVERIFIED):
            raise Conflict(
                f"task {seq} of session {session_id} is {STATUS[task.status]}: add another for what is left"
            )
        if is_open:
            session = with_task(session, _reopened(turn, task))
        while (after := advance(turn, driver, session, _task_of(session, seq))) is not None:
            session = turn.sessions.save(after)
    number, task = max(0, len(task.attempts) - 1), _task_of(session, seq)
    return _ReportedTask(task, task.attempts[number].verified if is_open else None)


def _reopened(turn: Turn, task: Task) -> Task:
    """The task with its last attempt open: what a process that was killed had begun with it is repeated."""
    if not task.attempts:
        return replace(task, attempts=(Attempt(1, turn.sessions.now()),))
    last = replace(task.attempts[-1], acted=None, verified=None, error=None)
    return replace(task, attempts=(*task.attempts[:-1], last))


def _reply(reported: _ReportedTask) -> TaskReply:
    task = reported.task
    reply = TaskReply(STATUS[task.status], task.status == DELIVERED, reported.verified)
    if task.status == "pending":
        return replace(reply, attempt=task.attempts[-1].number)
    reason = None
    if task.status == BLOCKED:
        last = task.attempts[-1].acted
        reason = "its gate did not pass" if last is None or last.obstacle is None else last.obstacle
    learnt = task.learnt or LearningResult()
    feedback = TaskFeedback(
        helped=len(learnt.helped),
        unhelpful=len(learnt.unused),
        missing=learnt.unknown,
        stored=learnt.stored,
        strengthened=learnt.strengthened,
    )
    return replace(reply, reason=reason, feedback=feedback)


def _shape(session: Session, task: Task) -> SessionTask:
    last = task.results[-1] if task.results else None
    delivered = None if last is None else last.details
    if last is not None and last.obstacle is not None:
        delivered = f"BLOCKED: {last.obstacle}"
    return SessionTask(
        session_id=session.id,
        seq=task.seq,
        objective=task.plan.objective,
        delta=task.plan.delta,
        verify=task.plan.verify,
        status=STATUS[task.status],
        verified=task.status == DELIVERED,
        delivered=delivered,
        injected=task.injected,
        utilized=task.utilized,
        created_at=task.attempts[0].at if task.attempts else session.created_at,
        completed_at=task.closed_at,
    )


def _task_of(session: Session, seq: int) -> Task:
    """The task of a number."""
    task = next((task for task in session.tasks if task.seq == seq), None)
    if task is None:
        numbers = ", ".join(str(task.seq) for task in session.tasks) or "none yet"
        raise NotFound(f"session {session.id} has no task {seq}: there are {numbers}")
    return task


def _check_seq(seq: int) -> None:
    if seq < 1:
        raise ParamError("seq", seq, "must be 1 or more")
