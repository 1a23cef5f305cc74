"""The steps of a session that another program drives: its tasks, how they ended, and whether the approach works.

They go through the same state machine as a run of an agent: the same guard, gate, learning, end and lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from priming.core.arguments.checks import PAGE_LIMIT, check_text, check_unique, check_whole
from priming.errors import Conflict, NotFound, ParamError
from priming.namespace import Namespace
from priming_loop.context import gather
from priming_loop.environment import LoopEnvironment
from priming_loop.gates.guard import checked_plan
from priming_loop.planning import repeated_way
from priming_loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    ActionResult,
    Attempt,
    LearningResult,
    PlanningResult,
    Session,
    Task,
    TaskPlan,
    Verification,
)
from priming_loop.session_store import Sessions, check_objective, limits, taken
from priming_loop.state_machine import LAST, go_on, open_questions
from priming_loop.steps.results import SessionBegun, SessionTask, TaskAdded, TaskFeedback, TaskReply

DRIVEN = "Tasks that are driven from outside."
"""The objective of a driven session that has none of its own."""
STATUS = {"pending": "pending", "delivered": "complete", "unverified": "unverified", "blocked": "blocked"}
"""The statuses of tasks in the words of Arc."""
_DRIVEN = ("ACT", "NEXT", "DONE", "LEARN", LAST)
"""The states in which a session has a plan."""


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
    if requested is not None and sessions.find(requested):
        return SessionBegun(requested)  # the answer to the same call was lost
    text = DRIVEN if objective is None else objective
    begun = sessions.begin(text, folder, limits(), session_id=requested, state="ACT", approved=True)
    return SessionBegun(begun.id)


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

    A file outside the folder is refused. The answer says if a person must say yes before the task can be completed.

    Args:
        session: the session.
        seq: the number of the task, 1 or more.
        objective: what is to be done.
        delta: the files that it is about.
        injected: the names of the memories that were shown to whoever carries it out.
        verify: the command that says whether it is done, run in the folder of the session when the task is
            completed. Only this machine's own processes may name it.

    """
    check_whole("seq", seq, low=1)
    check_objective(objective)
    files, shown = check_unique("delta", delta, PAGE_LIMIT), check_unique("injected", injected, PAGE_LIMIT)
    command = None if verify is None else check_text("verify", verify)
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        plan = checked_plan(TaskPlan(objective, files, command), current.folder)
        if verify is not None and not current.folder:
            rule = "cannot be run: the session has no folder; begin it with one, on this machine"
            raise ParamError("verify", verify, rule)
        existing = current.task(seq)
        if existing is not None and (existing.plan, existing.injected) != (plan, shown):
            raise Conflict(f"task {seq} of session {session} already exists: take another seq")
        if existing is None and current.state == LAST and current.reasoned is not None:
            raise Conflict(
                f"session {session} has ended ({current.ended}), so no task can be added:"
                " begin another with 'priming loop task new-session'"
            )
        if existing is None:
            task = Task(seq, plan, attempts=(Attempt(1, sessions.now(), shown),))
            tasks = tuple(sorted((*current.tasks, task), key=lambda other: other.seq))
            sessions.save(replace(_reopened(current), tasks=tasks))
    status = STATUS["pending" if existing is None else existing.status]
    needs = [f"a person's yes first: {each}" for each in open_questions(current, plan)]
    with memory.reading() as now:
        has_failed = bool(memory.records(now, kinds=["failure"], limit=1))
    if existing is None and has_failed:
        gathered = gather(memory, current.objective, None, session=None)
        why = repeated_way(gathered, PlanningResult("simple", (plan,)))
        needs += [] if why is None else [f"another way: {why}"]
    return TaskAdded(session, seq, status, "; ".join(needs) or None)


def loop_task_complete(
    memory: Namespace, session: str, seq: int, delivered: str, *, utilized: Sequence[str] = ()
) -> TaskReply:
    """Report a task as done. Its gate is run now, and only that decides.

    If the gate fails, the task stays pending, and is blocked after its last attempt. Memories are judged and lessons
    are stored once the task is closed; the session ends with its last task. A task whose command is not known to be
    harmless is ``waiting``, and nothing is run, until a person has allowed it by ``priming loop allow``.

    Args:
        session: the session.
        seq: the number of the task.
        delivered: what was done.
        utilized: the names of the memories that were used.

    """
    used = check_unique("utilized", utilized, PAGE_LIMIT)
    return _reported(memory, session, seq, ActionResult(DELIVERED, check_text("delivered", delivered), used))


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
    used = check_unique("utilized", utilized, PAGE_LIMIT)
    return _reported(memory, session, seq, ActionResult(BLOCKED, "", used, reason))


def loop_task_get(memory: Namespace, session: str, *, seq: int | None = None) -> list[SessionTask]:
    """Return the tasks of a session, each with how it ended.

    Args:
        session: the session.
        seq: only the task of this number.

    """
    current = Sessions(memory).get(session)
    tasks = current.tasks if seq is None else (_task_of(current, seq),)
    return [_shape(current, task) for task in tasks]


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


def _reported(memory: Namespace, session_id: str, seq: int, result: ActionResult) -> TaskReply:
    """Go on with a session by a report on one of its tasks, as far as the report leads."""
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session_id).id):
        session = sessions.get(session_id)
        task = _task_of(session, seq)
        is_open = task.status == "pending"
        if result.status == BLOCKED and task.status in (DELIVERED, UNVERIFIED):
            raise Conflict(
                f"task {seq} of session {session_id} is {STATUS[task.status]}: add another for what is left"
            )
        if is_open:
            # What a process that was killed had begun with the result of the last attempt is repeated.
            begun = task if task.attempts else replace(task, attempts=(Attempt(1, sessions.now()),))
            session = _reopened(session).with_task(begun.with_last(acted=result, verified=None, error=None))
        if session.state not in _DRIVEN:
            raise Conflict(
                f"session {session_id} is being planned: 'priming loop resume {session_id}' goes on"
            )
        session = go_on(LoopEnvironment(memory), session, seq=seq)
    number, task = max(0, len(task.attempts) - 1), _task_of(session, seq)
    return _reply(session, task, task.attempts[number].verified if is_open else None)


def _reopened(session: Session) -> Session:
    """Return the session as it goes on with a task, though it had ended, or waited for a yes."""
    if session.state == LAST:
        session = replace(session, state="ACT", ended=None, why=None)
    return replace(session, waits=None)


def _reply(session: Session, task: Task, verified: Verification | None) -> TaskReply:
    """Return the answer to a report, with the verification if the gate ran."""
    reply = TaskReply(STATUS[task.status], task.status == DELIVERED, verified)
    if session.waits is not None and session.waits.seq == task.seq:
        command = f"'priming loop allow {session.id} --seq {task.seq}'"
        reason = f"{session.waits.about}; once a person has typed {command}, report it again"
        return replace(reply, status="waiting", attempt=task.attempts[-1].number, reason=reason)
    if task.status == "pending":
        return replace(reply, attempt=task.attempts[-1].number)
    why: str | None = None
    if task.status == BLOCKED:
        last = task.attempts[-1].acted
        why = "its gate did not pass" if last is None or last.obstacle is None else last.obstacle
    learnt = task.learnt or LearningResult()
    counts = {"helped": len(learnt.helped), "unhelpful": len(learnt.unused), "missing": learnt.unknown}
    feedback = taken(TaskFeedback, (learnt,), **counts)
    return replace(reply, reason=why, feedback=feedback)


def _shape(session: Session, task: Task) -> SessionTask:
    ends = [each.details if each.obstacle is None else f"BLOCKED: {each.obstacle}" for each in task.results]
    return taken(
        SessionTask,
        (task, task.plan),
        session_id=session.id,
        status=STATUS[task.status],
        verified=task.status == DELIVERED,
        delivered=ends[-1] if ends else None,
        created_at=task.attempts[0].at if task.attempts else session.created_at,
        completed_at=task.closed_at,
    )


def _task_of(session: Session, seq: int) -> Task:
    """Return the task of a number."""
    task = session.task(seq)
    if task is None:
        numbers = ", ".join(str(task.seq) for task in session.tasks) or "none yet"
        raise NotFound(f"session {session.id} has no task {seq}: there are {numbers}")
    return task
