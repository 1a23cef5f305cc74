"""The state ACT: a person agrees, then task after task is tried until its gate passes or its attempts are used up.

Each call does one thing, which is kept before the next is begun: an attempt is opened, the agent acts, the gate runs,
the task is closed. What a killed process had begun and not finished is done again, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from priming.errors import AgentError
from priming.loop.act import act
from priming.loop.context import gather
from priming.loop.destructive import why_destructive
from priming.loop.ending import given_up
from priming.loop.gate import verify
from priming.loop.prompting import advice
from priming.loop.session import how_it_goes, of_this_round, pending, recorded, with_task
from priming.loop.turn import Turn, in_words, last_said
from priming.loop.work import TimeUp
from priming.looping import Attempt, Outcome, Session, Task, Verified, Wait

BLOCKED, DELIVERED, UNVERIFIED = "blocked", "delivered", "unverified"


def acting(turn: Turn, session: Session) -> Session:
    """One thing of the state ACT."""
    if not session.approved:
        return _agreed(turn, session)
    task = pending(session)
    if task is None:
        return replace(session, state="DONE")
    if task.gathered is None:
        return _begun(turn, session, task)
    last = task.attempts[-1]
    if last.acted is None and last.error is None:
        return _acted(turn, session, task, last)
    if last.acted is not None and last.acted.status == DELIVERED and last.verified is None:
        return _verified(turn, session, task, last)
    return _settled(turn, session, task, last)


def plan_in_words(session: Session) -> str:
    """The tasks that wait, for a person to agree to."""
    tasks = [one for one in of_this_round(session) if one.status == "pending"]
    lines = [f"{one.seq}. {one.plan.objective} [{one.plan.verify or 'no gate'}]" for one in tasks]
    return "\n".join(lines)


def _agreed(turn: Turn, session: Session) -> Session:
    """Ask whether to act at all."""
    wait = Wait("approval", plan_in_words(session))
    if turn.work.yes or (turn.work.person is not None and turn.work.person.allow(session, wait)):
        return replace(session, approved=True)
    return replace(session, waits=wait)


def _begun(turn: Turn, session: Session, task: Task) -> Session:
    """Begin a task, where nothing speaks against it."""
    if how_it_goes(session).advice == "pivot_now":
        return given_up(turn, session)
    why = why_destructive(task.plan, turn.work.params)
    if why is not None and task.seq not in session.allowed:
        wait = Wait("destructive", f"task {task.seq}, {task.plan.objective}: {why}", task.seq)
        if turn.work.person is None or not turn.work.person.allow(session, wait):
            return replace(session, waits=wait)
        session = replace(session, allowed=(*session.allowed, task.seq))
    gathered = gather(
        turn.work.memory,
        task.plan.objective,
        session.folder,
        session=session.id,
        lineage=turn.lineage(session),
    )
    # One that was opened from outside was shown other memories.
    closed_ones = tuple(one for one in task.attempts if one.acted is not None or one.error is not None)
    fresh = replace(task, gathered=gathered, attempts=closed_ones)
    return _tried(turn, session, fresh, len(closed_ones) + 1)


def _tried(turn: Turn, session: Session, task: Task, number: int) -> Session:
    """Open an attempt, before anybody acts."""
    shown = () if task.gathered is None else task.gathered.injected
    opened = Attempt(number, turn.sessions.loops.now(), shown)
    return with_task(session, replace(task, attempts=(*task.attempts, opened)))


def _acted(turn: Turn, session: Session, task: Task, last: Attempt) -> Session:
    """Let the agent act."""
    assert task.gathered is not None, "gathered when the task was begun"
    try:
        said = act(
            turn.agent(),
            task.plan,
            last.number,
            task.gathered,
            lineage=_lineage(turn, session, task),
            failed=_failed(task),
            advice=advice(how_it_goes(session)),
        )
    except AgentError as error:
        return with_task(session, _with_last(task, replace(last, error=str(error))))
    return with_task(session, _with_last(task, replace(last, acted=said)))


def _lineage(turn: Turn, session: Session, task: Task) -> tuple[str, ...]:
    """What was done before; with a fresh context nothing is said of earlier attempts at this task."""
    if session.fresh_context:
        return turn.lineage(session)
    tried = [
        f"attempt {one.number} at this task, which did not pass: {one.acted.details}"
        for one in task.attempts[:-1]
        if one.acted is not None
    ]
    return (*turn.lineage(session), *tried)


def _failed(task: Task) -> Verified | None:
    """What the gate found last."""
    found = [one.verified for one in task.attempts if one.verified is not None]
    return found[-1] if found else None


def _verified(turn: Turn, session: Session, task: Task, last: Attempt) -> Session:
    """Run the gate: the agent's word that it is done counts for nothing."""
    left = turn.left()
    timeout = session.limits.timeout if left is None else min(session.limits.timeout, left)
    if timeout <= 0:
        raise TimeUp
    found = verify(task.plan.verify, session.folder, timeout=timeout, most_output=turn.work.params.output)
    if found.status == "late" and timeout < session.limits.timeout:
        raise TimeUp
    return with_task(session, _with_last(task, replace(last, verified=found)))


def _settled(turn: Turn, session: Session, task: Task, last: Attempt) -> Session:
    """Close the task, or try again."""
    status = "failed" if last.verified is None else last.verified.status
    if status == "passed":
        return _done(turn, session, task, DELIVERED)
    if status == UNVERIFIED:
        return _done(turn, session, task, UNVERIFIED)
    has_given_up = last.acted is not None and last.acted.status == BLOCKED
    if has_given_up or last.number >= session.limits.attempts:
        return _done(turn, session, task, BLOCKED)
    return _tried(turn, session, task, last.number + 1)


def _done(turn: Turn, session: Session, task: Task, status: str) -> Session:
    after = closed(session, replace(task, status=status, closed_at=turn.sessions.loops.now()))
    return replace(after, state="NEXT")


def closed(session: Session, task: Task) -> Session:
    """A session with a task that is closed; what nothing verified is neither a success nor a failure."""
    after = with_task(session, task)
    if task.status == UNVERIFIED:
        return after
    assert task.closed_at is not None, "the task is closed"
    return recorded(after, Outcome(task.seq, task.status == DELIVERED, task.closed_at, notes(task)))


def notes(task: Task) -> str:
    """What is to be said of how a task ended."""
    said = last_said(task)
    if said is None:
        errors = [one.error for one in task.attempts if one.error is not None]
        return errors[-1] if errors else ""
    return in_words(task)


def _with_last(task: Task, attempt: Attempt) -> Task:
    return replace(task, attempts=(*task.attempts[:-1], attempt))
