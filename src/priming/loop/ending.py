"""How a session ends: what it came to, what it teaches, and what else there is to try."""

from __future__ import annotations

from dataclasses import astuple, replace
from operator import add

from priming.loop.context import PROFILE, shown_as
from priming.loop.learn import chunk, learnt
from priming.loop.session import how_it_goes, of_this_round, pending, with_task
from priming.loop.turn import Turn, in_words, last_said
from priming.looping import Acted, Attempt, Learnt, Session, Shown, Task, TaskPlan

_ENDS = ("blocked", "unverified")
"""What a task can end with that its session ends with too, the first that there is."""


def given_up(turn: Turn, session: Session) -> Session:
    """End the session where its approach fails again and again: with what else memory knows."""
    failed = how_it_goes(session).consecutive_failures
    return replace(
        session,
        state="LEARN",
        ended="pivot",
        why=f"{failed} tasks failed one after the other: the approach does not work, take another",
        alternatives=_alternatives(turn, session),
    )


def stuck(session: Session, why: str) -> Session:
    """End the session at an impasse."""
    return replace(session, state="LEARN", ended="impasse", why=why)


def learn_from_tasks(turn: Turn, session: Session) -> Session:
    """The state NEXT: what the closed task teaches is stored, then comes the next one."""
    task = _unlearnt(session)
    if task is not None:
        return _learnt(turn, session, task)
    return replace(session, state="ACT" if pending(session) else "DONE")


def done(_turn: Turn, session: Session) -> Session:
    """The state DONE: say how it ended."""
    tasks = of_this_round(session)
    found = [end for end in _ENDS if any(one.status == end for one in tasks)]
    if "blocked" not in found and session.left_out:
        found = ["limit"]
    ended = found[0] if found else "delivered"
    return replace(session, state="LEARN", ended=ended, why=_why(session, ended))


def _why(session: Session, ended: str) -> str | None:
    if ended == "delivered":
        return None
    if ended == "limit":
        more = session.left_out
        return f"{more} more tasks than the limit of {session.limits.tasks} were planned, and left out"
    which = ", ".join(str(one.seq) for one in of_this_round(session) if one.status == ended)
    rest = "no command says whether it is done" if ended == "unverified" else "see what stood in the way"
    return f"{ended}: task {which}: {rest}"


def learn(turn: Turn, session: Session) -> Session:
    """The state LEARN: what is left of the tasks' lessons, then that of the whole."""
    task = _unlearnt(session)
    if task is not None:
        return _learnt(turn, session, task)
    if session.ended == "pivot":
        own = learnt(turn.work.memory, session, _as_task(turn, session), project=session.project)
    else:
        own = chunk(turn.work.memory, session, project=session.project)
    return replace(session, state="SUMMARY", learnt=_together(session.learnt, own))


def _as_task(turn: Turn, session: Session) -> Task:
    """The session as one task that is blocked: why it was given up is a lesson like any other."""
    failed = "; ".join(_failures(session))
    said = Acted("blocked", "", (), session.why, f"take another approach than this: {failed}")
    plan = TaskPlan(session.objective)
    now = turn.sessions.loops.now()
    return Task(-session.earlier, plan, "blocked", (Attempt(1, now, acted=said),), closed_at=now)


def _together(before: Learnt | None, own: Learnt) -> Learnt:
    """What earlier rounds taught, and this one."""
    return own if before is None else Learnt(*map(add, astuple(before), astuple(own)))


def _failures(session: Session) -> list[str]:
    return [in_words(one) for one in session.tasks if one.status == "blocked"]


def _unlearnt(session: Session) -> Task | None:
    return next((one for one in session.tasks if one.status != "pending" and one.learnt is None), None)


def _learnt(turn: Turn, session: Session, task: Task) -> Session:
    """What a task teaches; what no agent answered to says something of the agent, and nothing of the task."""
    if last_said(task) is None:
        return with_task(session, replace(task, learnt=Learnt()))
    found = learnt(turn.work.memory, session, task, project=session.project)
    return with_task(session, replace(task, learnt=found))


def _alternatives(turn: Turn, session: Session) -> tuple[Shown, ...]:
    """Patterns about the objective that no task was shown."""
    tried = {key for task in session.tasks for key in task.injected}
    most = turn.work.params.alternatives
    found = turn.work.memory.recall(
        session.objective, kinds=["pattern"], limit=most + len(tried), session=session.id, profile=PROFILE
    )
    fresh = [shown_as(hit.memory) for hit in found.hits if hit.memory.key not in tried]
    return tuple(fresh[:most])
