"""The loop: the state machine of a session. Every state is kept before it acts, so that a killed run goes on.

INIT → CONTEXT → REASON → ACT ⇄ NEXT → DONE → LEARN → SUMMARY
                 REASON → UNCLEAR → ASK → REASON
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from priming.core.metacognition import assess
from priming.errors import AgentError, Conflict, NotFound, ParamError
from priming.ids import uuid7
from priming.loop.acting import acting
from priming.loop.context import gather
from priming.loop.ending import done, given_up, learn, learn_from_tasks, stuck
from priming.loop.reason import reason
from priming.loop.session import Sessions, how_it_goes
from priming.loop.turn import SECONDS, Turn, in_words
from priming.loop.work import TimeUp, Work
from priming.looping import Gathered, Limits, Reasoned, Session, Task, TaskPlan, Wait

LAST = "SUMMARY"
_WHY = {
    "interrupt": "it was interrupted, and goes on where it stopped",
    "minutes": "its minutes are over",
}
_GATES = "Which command says of each task whether it is done?"
_NAME_THEM = (
    "Plan again, with a command under verify for every task; null stays only where no command can say it."
)
_DIFFERENTLY = "What should be done differently?"


def run(
    work: Work,
    objective: str,
    folder: Path | str,
    limits: Limits,
    *,
    fresh_context: bool = False,
) -> Session:
    """Pursue an objective, until it is reached, or a person or a limit is.

    Raises:
        ParamError: an objective or a folder that is none.

    """
    sessions = Sessions(work.memory)
    session = sessions.begin(objective, folder, limits, fresh_context=fresh_context, params=work.params)
    with sessions.loops.held(session.id):
        return go_on(work, session)


def think(work: Work, objective: str, folder: Path | str) -> tuple[Gathered, Reasoned]:
    """Gather the context of an objective and reason about it; nothing is done, learnt or kept."""
    gathered = gather(work.memory, objective, folder, session=None)
    return gathered, reason(work.agent, gathered, assess(()))


@dataclass(frozen=True, slots=True)
class Given:
    """What a person gives a session that is gone on with: a yes, an answer, more minutes."""

    yes: bool = False
    answer: str | None = None
    minutes: float | None = None


def resume(work: Work, session_id: str, given: Given) -> Session:
    """Go on with a session where it stopped. One that ended otherwise than delivered is begun anew, as a round.

    A step of another session is gone on with from the top.

    Raises:
        NotFound: no such session.
        Conflict: an answer, where it waits for none.
        Busy: another process works on it.

    """
    sessions = Sessions(work.memory)
    top = sessions.root(session_id)
    with sessions.loops.held(top.id):
        session = sessions.get(top.id)
        if not Path(session.folder).is_dir():
            raise ParamError("session", session_id, f"works in {session.folder}, which is not there any more")
        if session.state == LAST and session.ended in ("delivered", "unverified"):
            return session
        waiting = _waiting(sessions, session)
        told = _told(waiting, given)
        if waiting.id != session.id:
            sessions.keep(told)
            told = replace(session, waits=None, stopped=None)
        if given.minutes is not None:
            limits = replace(session.limits, minutes=session.seconds / SECONDS + given.minutes)
            told = replace(told, limits=limits)
        return go_on(work, sessions.keep(told))


def go_on(work: Work, session: Session, above: Session | None = None) -> Session:
    """Take step after step until the end, or until it has to stop or wait."""
    turn = Turn(
        work,
        Sessions(work.memory),
        work.monotonic(),
        session.seconds,
        above,
        session.limits.minutes,
    )
    while session.state != LAST:
        stop = turn.must_stop()
        if stop is None:
            try:
                session = _STEPS[session.state](turn, session)
            except TimeUp:
                stop = "minutes"
        if stop is not None:
            session = replace(session, stopped=stop, why=_WHY[stop])
        session = turn.kept(session)
        if session.stopped is not None or session.waits is not None:
            break
    return session


def _waiting(sessions: Sessions, session: Session) -> Session:
    """The session that is at work: the one at the end of the subgoals."""
    if session.below is None:
        return session
    try:
        child = sessions.get(session.below)
    except NotFound:  # killed before it was begun
        return session
    # Killed after it was done: what came of it is still to be taken in above.
    return session if child.state == LAST else _waiting(sessions, child)


def _told(session: Session, given: Given) -> Session:
    """A session with what a person gave it; one that ended is begun anew."""
    wait, fresh = session.waits, replace(session, waits=None, stopped=None, why=None)
    if session.state == LAST:
        return _again(fresh, given)
    if given.answer is not None:
        if wait is None or wait.what != "answer":
            raise Conflict(f"the session {session.id} waits for no answer: leave it out")
        return answered(fresh, wait.about, given.answer)
    if wait is not None and given.yes:
        if wait.what == "approval":
            return replace(fresh, approved=True)
        if wait.what == "destructive" and wait.seq is not None:
            return replace(fresh, allowed=(*fresh.allowed, wait.seq))
    return fresh


def _again(session: Session, given: Given) -> Session:
    """A session that ended, at the beginning of another round; a person's answer is another approach."""
    fresh = replace(
        session,
        state="INIT",
        ended=None,
        reasoned=None,
        asked=False,
        approved=False,
        left_out=0,
        alternatives=(),
        earlier=len(session.tasks),
    )
    if given.answer is None:
        return fresh
    told = (*fresh.answered, (_DIFFERENTLY, given.answer))
    return replace(fresh, answered=told, begun_with=len(fresh.outcomes))


def answered(session: Session, question: str, answer: str) -> Session:
    """A session with a person's answer, about to reason again."""
    if not answer.strip():
        raise ParamError("answer", answer, "must say something")
    told = (*session.answered, (question, answer.strip()))
    return replace(session, state="REASON", answered=told, reasoned=None)


def _init(turn: Turn, session: Session) -> Session:
    """Metacognition comes first where a session continues."""
    if how_it_goes(session).advice == "pivot_now":
        return given_up(turn, session)
    return replace(session, state="CONTEXT")


def _context(turn: Turn, session: Session) -> Session:
    found = gather(
        turn.work.memory,
        session.objective,
        session.folder,
        session=session.id,
        lineage=turn.lineage(session),
    )
    return replace(session, state="REASON", gathered=found)


def _reason(turn: Turn, session: Session) -> Session:
    """Reason, and once that is kept, do what it comes to."""
    if session.reasoned is not None:
        return _followed(turn, session, session.reasoned)
    how = how_it_goes(session)
    if how.advice == "pivot_now":
        return given_up(turn, session)
    assert session.gathered is not None, "CONTEXT comes before REASON"
    try:
        found = reason(
            turn.agent(),
            session.gathered,
            how,
            answered=session.answered,
            lineage=turn.lineage(session),
            subgoal=None if turn.above is None else turn.above.objective,
        )
    except AgentError as error:
        return replace(session, stopped="agent", why=str(error))
    return replace(session, reasoned=found)


def _followed(turn: Turn, session: Session, found: Reasoned) -> Session:
    """What reasoning comes to: a subgoal, a question, gates that are asked for, or tasks."""
    if found.impasse is not None:
        return _subgoal(turn, session, found)
    if found.question is not None:
        return replace(session, state="UNCLEAR")
    if not session.asked and any(one.verify is None for one in found.tasks):
        asked = (*session.answered, (_GATES, _NAME_THEM))
        return replace(session, asked=True, reasoned=None, answered=asked)
    return _planned(session, found.tasks)


def _planned(session: Session, plans: tuple[TaskPlan, ...]) -> Session:
    """The tasks of a plan, as many as the limit lets in."""
    room = session.limits.tasks
    first = len(session.tasks) + 1
    made = tuple(Task(first + number, plan) for number, plan in enumerate(plans[:room]))
    more = len(plans) - len(made)
    return replace(session, state="ACT", tasks=(*session.tasks, *made), left_out=more, approved=False)


def _subgoal(turn: Turn, session: Session, found: Reasoned) -> Session:
    """Work on what would get it out of an impasse, then reason again with what was found."""
    impasse = found.impasse
    assert impasse is not None, "asked for before"
    if session.below is None:
        why = f"{impasse.type}: {impasse.subgoal}"
        if session.depth >= session.limits.depth:
            return stuck(session, f"{why}; subgoals go {session.limits.depth} deep at most")
        if len(session.children) >= turn.work.params.subgoals:
            return stuck(session, f"{why}; a session has {turn.work.params.subgoals} subgoals at most")
        new = uuid7(turn.sessions.loops.now())
        return replace(session, below=new, children=(*session.children, new))
    child = go_on(turn.work, _below(turn, session, impasse.subgoal), session)
    if child.state != LAST:
        wait = child.waits
        return replace(session, waits=wait, stopped=child.stopped, why=child.why)
    told = (*session.answered, (f"What came of the subgoal: {impasse.subgoal}?", what_came(child)))
    return replace(session, state="CONTEXT", below=None, reasoned=None, answered=told)


def _below(turn: Turn, session: Session, subgoal: str) -> Session:
    """The session of a subgoal, begun where it was not yet; it has what time is left."""
    assert session.below is not None, "set before"
    try:
        child = turn.sessions.get(session.below)
    except NotFound:
        child = turn.sessions.begin(
            subgoal,
            session.folder,
            session.limits,
            parent=session,
            session_id=session.below,
            fresh_context=session.fresh_context,
            params=turn.work.params,
        )
    left = turn.left()
    if left is None:
        return child
    minutes = (child.seconds + max(0.0, left)) / SECONDS
    return replace(child, limits=replace(session.limits, minutes=minutes))


def what_came(session: Session) -> str:
    """What a subgoal's session came to, in words."""
    why = "" if session.why is None else f" ({session.why})"
    return "; ".join([f"{session.ended}{why}", *(in_words(one) for one in session.tasks)])


def _unclear(_turn: Turn, session: Session) -> Session:
    return replace(session, state="ASK")


def _ask(turn: Turn, session: Session) -> Session:
    """Ask the person who is there; else wait for one."""
    asked = session.reasoned.question if session.reasoned is not None else None
    assert asked is not None, "UNCLEAR comes before ASK"
    said = None if turn.work.person is None else turn.work.person.answer(session, asked)
    if said is None or not said.strip():
        return replace(session, waits=Wait("answer", asked))
    return answered(session, asked, said)


_STEPS: Mapping[str, Callable[[Turn, Session], Session]] = {
    "INIT": _init,
    "CONTEXT": _context,
    "REASON": _reason,
    "UNCLEAR": _unclear,
    "ASK": _ask,
    "ACT": acting,
    "NEXT": learn_from_tasks,
    "DONE": done,
    "LEARN": learn,
}
