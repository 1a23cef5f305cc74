"""A session that somebody else drives: tasks are added, and closed through the same gate and the same learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from priming.config.params.loop import LOOP, LoopParams
from priming.core.metacognition import Assessment
from priming.errors import Conflict, NotFound, ParamError
from priming.loop.acting import closed
from priming.loop.gate import verify
from priming.loop.learn import learnt
from priming.loop.report import in_a_line
from priming.loop.session import Sessions, how_it_goes, recorded, with_task
from priming.looping import Acted, Attempt, Learnt, Limits, Outcome, Session, Task, TaskPlan, Verified

DRIVEN = "Tasks that are driven from outside."
_STATUS = {"pending": "pending", "delivered": "complete", "unverified": "complete", "blocked": "blocked"}
_SUGGESTIONS = {
    "pivot_now": (
        True,
        "Stop: what was tried failed again and again.",
        ("make the objective simpler", "take another approach", "ask what is meant", "begin afresh"),
    ),
    "consider_pivot": (
        "maybe",
        "Most tasks fail: consider another approach.",
        ("go on with smaller steps", "look at what fails first", "heed the failures that memory knows"),
    ),
}


@dataclass(frozen=True, slots=True)
class Closed:
    """What closing a task came to: the task as it is now, and what the gate found where it ran."""

    task: Task
    verified: Verified | None = None


def new_session(sessions: Sessions, objective: str, folder: Path | str, params: LoopParams = LOOP) -> Session:
    """Begin a session without a plan: its tasks are added one by one."""
    limits = Limits(params.attempts, params.tasks, params.depth, params.timeout)
    began = sessions.begin(objective, folder, limits, state="ACT", params=params)
    return sessions.keep(replace(began, approved=True))


def add(
    sessions: Sessions, session_id: str, seq: int, plan: TaskPlan, injected: Sequence[str] = ()
) -> tuple[Session, Task]:
    """Add a task, with the memories that its agent is shown."""
    _number(seq)
    if not plan.objective.strip():
        raise ParamError("objective", plan.objective, "must say what is to be done")
    with sessions.loops.held(sessions.root(session_id).id):
        session = sessions.get(session_id)
        if any(one.seq == seq for one in session.tasks):
            raise Conflict(f"task {seq} of session {session_id} is there already: take another seq")
        shown = Attempt(1, sessions.loops.now(), tuple(injected))
        task = Task(seq, plan, attempts=(shown,))
        tasks = tuple(sorted((*session.tasks, task), key=lambda one: one.seq))
        return sessions.keep(replace(session, tasks=tasks)), task


def complete(
    sessions: Sessions,
    session_id: str,
    seq: int,
    delivered: str,
    utilized: Sequence[str] = (),
    params: LoopParams = LOOP,
) -> Closed:
    """Close a task as delivered, if its gate passes; else it stays pending, and after the last attempt is blocked."""
    with sessions.loops.held(sessions.root(session_id).id):
        session = sessions.get(session_id)
        task = task_of(session, seq)
        if task.status != "pending":
            return _again(sessions, session, task)
        last = replace(task.attempts[-1], acted=Acted("delivered", delivered, tuple(utilized)))
        timeout, most = session.limits.timeout, params.output
        found = verify(task.plan.verify, session.folder, timeout=timeout, most_output=most)
        tried = _with_last(task, replace(last, verified=found))
        if found.status in ("failed", "late") and last.number < session.limits.attempts:
            fresh = Attempt(last.number + 1, sessions.loops.now(), last.injected)
            waiting = replace(tried, attempts=(*tried.attempts, fresh))
            sessions.keep(with_task(session, waiting))
            return Closed(waiting, found)
        status = {"passed": "delivered", "unverified": "unverified"}.get(found.status, "blocked")
        return _close(sessions, session, tried, status, found)


def block(sessions: Sessions, session_id: str, seq: int, reason: str, utilized: Sequence[str] = ()) -> Closed:
    """Close a task as blocked."""
    if not reason.strip():
        raise ParamError("reason", reason, "must say what stands in the way")
    with sessions.loops.held(sessions.root(session_id).id):
        session = sessions.get(session_id)
        task = task_of(session, seq)
        if task.status != "pending":
            return _again(sessions, session, task)
        last = replace(task.attempts[-1], acted=Acted("blocked", "", tuple(utilized), reason))
        return _close(sessions, session, _with_last(task, last), "blocked")


def record(sessions: Sessions, session_id: str, seq: int, success: bool, notes: str = "") -> bool:
    """Note how a task ended, for metacognition; whether there was a note of it before."""
    _number(seq)
    with sessions.loops.held(sessions.root(session_id).id):
        session = sessions.get(session_id)
        there = any(one.seq == seq for one in session.outcomes)
        sessions.keep(recorded(session, Outcome(seq, success, sessions.loops.now(), notes)))
    return there


def clear(sessions: Sessions, session_id: str) -> int:
    """Forget how the tasks of a session ended: another approach begins; how many there were."""
    with sessions.loops.held(sessions.root(session_id).id):
        session = sessions.get(session_id)
        sessions.keep(replace(session, outcomes=(), begun_with=0))
    return len(session.outcomes)


def assessed(session: Session) -> dict[str, Any]:
    """The metacognitive assessment of a session, in the shape of the seed."""
    how = how_it_goes(session)
    told = session.outcomes[session.begun_with :]
    return {
        "status": how.state,
        "success_rate": how.success_rate,
        "total_tasks": len(told),
        "successes": sum(one.success for one in told),
        "consecutive_failures": how.consecutive_failures,
        "recommendation": how.advice,
        "reason": in_a_line(how),
    }


def should_pivot(how: Assessment) -> dict[str, Any]:
    """Whether to take another approach, in the shape of the seed."""
    if how.advice not in _SUGGESTIONS:
        return {"should_pivot": False, "confidence": how.confidence, "suggestion": "Go on.", "options": []}
    pivot, suggestion, options = _SUGGESTIONS[how.advice]
    confidence = "high" if pivot is True else "medium"
    return {
        "should_pivot": pivot,
        "confidence": confidence,
        "suggestion": suggestion,
        "options": list(options),
    }


def outcomes(session: Session) -> dict[str, Any]:
    """How the tasks of a session ended, in the shape of the seed."""
    told = session.outcomes
    done = sum(one.success for one in told)
    return {
        "session_id": session.id,
        "total_tasks": len(told),
        "successes": done,
        "success_rate": how_it_goes(replace(session, begun_with=0)).success_rate,
        "tasks": [
            {"seq": one.seq, "success": one.success, "notes": one.notes, "recorded_at": one.at}
            for one in told
        ],
        "failure_notes": [one.notes for one in told if not one.success and one.notes],
        "success_notes": [one.notes for one in told if one.success and one.notes],
    }


def counted(session: Session) -> dict[str, Any]:
    """How many tasks there are of each status, in the shape of the seed."""
    statuses = [_STATUS[one.status] for one in session.tasks]
    counts = {status: statuses.count(status) for status in ("pending", "complete", "blocked")}
    return {"session_id": session.id, "total": len(statuses), **counts}


def shaped(session: Session, task: Task) -> dict[str, Any]:
    """A task in the shape of the seed, with its gate."""
    said = [one.acted for one in task.attempts if one.acted is not None]
    last = said[-1] if said else None
    return {
        "session_id": session.id,
        "seq": task.seq,
        "objective": task.plan.objective,
        "delta": list(task.plan.delta),
        "verify": task.plan.verify,
        "status": _STATUS[task.status],
        "verified": task.status == "delivered",
        "delivered": None if last is None else _delivered(last),
        "injected": list(task.injected),
        "utilized": list(task.utilized),
        "created_at": task.attempts[0].at if task.attempts else session.created_at,
        "completed_at": task.closed_at,
    }


def answer(done: Closed) -> dict[str, Any]:
    """What closing a task came to, in the shape of the seed, with what the gate found."""
    task = done.task
    told = {"status": _STATUS[task.status], "verified": task.status == "delivered"}
    if done.verified is not None:
        told["gate"] = done.verified
    if task.status == "pending":
        return {**told, "attempt": task.attempts[-1].number}
    if task.status == "blocked":
        said = task.attempts[-1].acted
        told["reason"] = "its gate did not pass" if said is None or said.obstacle is None else said.obstacle
    return {**told, "feedback": _feedback(task.learnt or Learnt())}


def _feedback(one: Learnt) -> dict[str, Any]:
    return {
        "helped": len(one.helped),
        "unhelpful": len(one.unused),
        "missing": list(one.unknown),
        "stored": list(one.stored),
        "strengthened": list(one.strengthened),
    }


def _delivered(said: Acted) -> str:
    return said.details if said.obstacle is None else f"BLOCKED: {said.obstacle}"


def task_of(session: Session, seq: int) -> Task:
    """A task of a session by its number."""
    found = next((one for one in session.tasks if one.seq == seq), None)
    if found is None:
        known = ", ".join(str(one.seq) for one in session.tasks) or "none yet"
        raise NotFound(f"session {session.id} has no task {seq}: there are {known}")
    return found


def _close(
    sessions: Sessions, session: Session, task: Task, status: str, found: Verified | None = None
) -> Closed:
    """Close a task, keep that, and learn from it."""
    done = replace(task, status=status, closed_at=sessions.loops.now())
    return replace(_again(sessions, sessions.keep(closed(session, done)), done), verified=found)


def _again(sessions: Sessions, session: Session, task: Task) -> Closed:
    """A task that is closed: what it teaches is learnt, once."""
    if task.learnt is None:
        taught = learnt(sessions.memory, session, task, project=session.project)
        task = replace(task, learnt=taught)
        sessions.keep(with_task(session, task))
    return Closed(task)


def _with_last(task: Task, attempt: Attempt) -> Task:
    return replace(task, attempts=(*task.attempts[:-1], attempt))


def _number(seq: int) -> None:
    if seq < 1:
        raise ParamError("seq", seq, "must be 1 or more")
