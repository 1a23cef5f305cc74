"""Runs of the loop: an agent pursues an objective, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from priming.core.metacognition import assess
from priming.errors import Conflict, NotFound, ParamError
from priming.loop.context import gather
from priming.loop.environment import SECONDS, LoopEnvironment
from priming.loop.planning import plan
from priming.loop.session import (
    DELIVERED,
    UNVERIFIED,
    Limits,
    ObjectiveContext,
    PlanningResult,
    Session,
)
from priming.loop.session_store import Sessions
from priming.loop.state_machine import LAST, go_on, with_answer

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
        if not session.folder:
            rule = "has no folder to work in: the program that began it drives it, task by task"
            raise ParamError("session", session_id, rule)
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
