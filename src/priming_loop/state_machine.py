"""The state machine of a session. Every step is saved before the next begins, so that a killed run can be resumed.

INIT → CONTEXT → REASON → ACT ⇄ NEXT → DONE → LEARN → SUMMARY
                 REASON → UNCLEAR → ASK → REASON
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from priming.errors import AgentError, ParamError
from priming_loop.acting import act
from priming_loop.context import advice, alternatives, gather
from priming_loop.environment import LoopEnvironment, Stopped, Turn
from priming_loop.gates.guard import questions
from priming_loop.learning import learn_from_task
from priming_loop.planning import new_subgoal, outcome_of, plan, proven, repeated_way, subgoal_session
from priming_loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    Attempt,
    Impasse,
    LearningResult,
    ObjectiveContext,
    PlanningResult,
    Session,
    Task,
    TaskOutcome,
    TaskPlan,
    Wait,
)
from priming_loop.session_store import LOOP

LAST = "SUMMARY"
_CLOSES = {"passed": DELIVERED, "unverified": UNVERIFIED}
"""How a task ends by the result of its gate, if that ends it."""
_ENDS = {BLOCKED: BLOCKED, "pending": "incomplete", UNVERIFIED: UNVERIFIED}
"""How a session ends by the statuses of its open tasks, in order of precedence."""


def go_on(
    environment: LoopEnvironment, session: Session, parent: Session | None = None, seq: int | None = None
) -> Session:
    """Take step after step until the session ends, stops, waits for a person, or for a report on a task."""
    turn = Turn(environment, session, parent, seq, environment.monotonic())
    while session.state != LAST:
        try:
            turn.check()
            after = _STEPS[session.state](turn, session)
        except Stopped as stop:
            after = replace(session, stopped=str(stop))
        if after is None:
            break
        session = turn.save(after)
        if session.stopped is not None or session.waits is not None:
            break
    return session


def with_answer(session: Session, question: str, answer: str) -> Session:
    """Return the session with a person's answer, in the state REASON."""
    if not answer.strip():
        raise ParamError("answer", answer, "must not be blank")
    answered = (*session.answered, (question, answer.strip()))
    return replace(session, state="REASON", answered=answered, reasoned=None)


def with_yes(session: Session, wait: Wait) -> Session:
    """Return the session with a person's yes to its plan, or to the questions of the guard."""
    approved = session.approved or wait.what == "approval"
    return replace(session, waits=None, approved=approved, yeses=(*session.yeses, *wait.questions))


def _init(turn: Turn, session: Session) -> Session:
    """Put metacognition first for a session that is resumed."""
    if session.assessment.advice == "pivot_now":
        return _pivot(turn, session)
    return replace(session, state="CONTEXT")


def _context(turn: Turn, session: Session) -> Session:
    return replace(session, state="REASON", gathered=_gathered(turn, session, session.objective))


def _gathered(turn: Turn, session: Session, objective: str, within: str | None = None) -> ObjectiveContext:
    """Return the context of an objective in a session, or of a task within it."""
    memory, lineage = turn.environment.memory, turn.lineage(session)
    return gather(memory, objective, session.folder, session=session.id, lineage=lineage, within=within)


def _reason(turn: Turn, session: Session) -> Session:
    """Plan, and once the plan is saved, follow it."""
    if session.reasoned is not None:
        return _follow(turn, session, session.reasoned)
    assessment = session.assessment
    if assessment.advice == "pivot_now":
        return _pivot(turn, session)
    ready = proven(turn, session)
    if ready is not None:
        return ready
    assert session.gathered is not None, "CONTEXT comes before REASON"
    prompted = {
        "answered": session.answered,
        "results": session.results,
        "needs_gates": session.gates_requested,
        "lineage": (*turn.lineage(session), *_left_open(session)),
        "subgoal": None if turn.parent is None else turn.parent.objective,
    }
    try:
        reasoned = plan(turn, session.gathered, assessment, **prompted)
    except AgentError as error:
        return replace(session, stopped="agent", why=str(error))
    return replace(session, reasoned=reasoned)


def _left_open(session: Session) -> list[str]:
    """Return the open tasks of earlier plans, in words."""
    left = [task for task in session.open_tasks if task.status in ("pending", UNVERIFIED)]
    dropped = [task for task in session.tasks if task.seq in session.dropped and task.status == "pending"]
    return [
        f"{'still open' if task in left else 'dropped with its plan'}: {task.plan.objective}"
        for task in (*left, *dropped)
    ]


def _follow(turn: Turn, session: Session, result: PlanningResult) -> Session:
    """Continue with the subgoal, the question, the missing gates, or the tasks of a planning result."""
    if result.impasse is not None:
        return _subgoal(turn, session, result.impasse)
    if result.question is not None:
        return replace(session, state="UNCLEAR")
    why = None if session.answered or session.gathered is None else repeated_way(session.gathered, result)
    if why is not None:
        return _pivot(turn, session, why)
    if not session.gates_requested and any(task.verify is None for task in result.tasks):
        return replace(session, gates_requested=True, reasoned=None)
    first = len(session.tasks) + 1
    tasks = tuple(Task(seq, plan) for seq, plan in enumerate(result.tasks[: session.limits.tasks], first))
    left_out = len(result.tasks) - len(tasks)
    return replace(session, state="ACT", tasks=(*session.tasks, *tasks), left_out=left_out, approved=False)


def _subgoal(turn: Turn, session: Session, impasse: Impasse) -> Session:
    """Work on the subgoal of an impasse, then plan again with its outcome."""
    if session.below is None:
        begun = new_subgoal(turn, session, impasse)
        return _pivot(turn, begun, begun.why) if begun.without_progress else begun
    child = go_on(turn.environment, subgoal_session(turn, session, impasse.subgoal), session)
    session = replace(session, yeses=child.yeses)
    if child.state != LAST:
        return replace(session, waits=child.waits, stopped=child.stopped, why=child.why)
    if child.without_progress:
        return _pivot(turn, replace(session, without_progress=True, below=None), child.why)
    results = (*session.results, f"{impasse.subgoal}: {outcome_of(child)}")
    return replace(session, state="CONTEXT", below=None, reasoned=None, results=results)


def _unclear(_turn: Turn, session: Session) -> Session:
    return replace(session, state="ASK")


def _ask(turn: Turn, session: Session) -> Session:
    """Ask the person who is present; otherwise wait for an answer."""
    assert session.reasoned is not None, "UNCLEAR comes before ASK"
    question, person = session.reasoned.question or "", turn.environment.person
    answer = (person and person.answer(session, question)) or ""
    if not answer.strip():
        return replace(session, waits=Wait("answer", question))
    return with_answer(session, question, answer)


def _act(turn: Turn, session: Session) -> Session | None:
    """Take one step of the task in work; an agent begins once the plan is approved.

    Another program that carries it out reports what it did: past the same guard, and the same gate. None if it has
    reported nothing yet.
    """
    if turn.seq is None and not session.approved:
        return _approval(turn, session)
    task = turn.task(session)
    if task is None:
        return None if session.next_task is not None else replace(session, state="DONE")
    if turn.seq is None and task.gathered is None:
        return _begin(turn, session, task)
    last = task.attempts[-1]
    if last.acted is None and last.error is None:
        return _performed(turn, session, task) if turn.seq is None else None
    if last.acted is not None and last.acted.status == DELIVERED and last.verified is None:
        checked = _guarded(turn, session, task)
        return checked if checked.waits is not None else _verified(turn, checked, task)
    return _settled(turn, session, task)


def _approval(turn: Turn, session: Session) -> Session:
    """Ask whether to act at all."""
    agreed = turn.environment.yes or session.yes or (turn.parent is not None and turn.parent.yes)
    tasks = [task for task in session.round_tasks if task.status == "pending"]
    lines = [f"{task.seq}. {task.plan.objective} [{task.plan.verify or 'no gate'}]" for task in tasks]
    wait = Wait("approval", "\n".join(lines))
    is_allowed = agreed or turn.allows(session, wait)
    return with_yes(session, wait) if is_allowed else replace(session, waits=wait)


def _begin(turn: Turn, session: Session, task: Task) -> Session:
    """Begin a task, unless metacognition advises against it or a person must allow it."""
    if session.assessment.advice == "pivot_now":
        return _pivot(turn, session)
    session = _guarded(turn, session, task)
    if session.waits is not None:
        return session
    gathered = _gathered(turn, session, task.plan.objective, session.objective)
    # An attempt that another program opened shows other memories.
    closed = [attempt for attempt in task.attempts if attempt.acted is not None or attempt.error is not None]
    task = replace(task, gathered=gathered, attempts=tuple(closed))
    return session.with_task(_open_attempt(turn, task, gathered.injected))


def _guarded(turn: Turn, session: Session, task: Task) -> Session:
    """Return the session with a person's yes to a task that needs it, or waiting for that; otherwise as it is."""
    unsettled = open_questions(session, task.plan)
    if not unsettled:
        return session
    about = f"task {task.seq}, {task.plan.objective}: {'; '.join(unsettled)}"
    wait = Wait("destructive", about, task.seq, unsettled)
    return with_yes(session, wait) if turn.allows(session, wait) else replace(session, waits=wait)


def open_questions(session: Session, plan: TaskPlan) -> tuple[str, ...]:
    """Return what a person must say yes to before a task, and has not yet in this session."""
    return tuple(each for each in questions(plan, session.folder or ".") if each not in session.yeses)


def _open_attempt(turn: Turn, task: Task, injected: tuple[str, ...]) -> Task:
    """Return the task with another attempt, which shows these memories."""
    attempt = Attempt(len(task.attempts) + 1, turn.sessions.now(), injected)
    return replace(task, attempts=(*task.attempts, attempt))


def _performed(turn: Turn, session: Session, task: Task) -> Session:
    """Have the agent carry out a task."""
    assert task.gathered is not None, "gathered when the task began"
    verified = [attempt.verified for attempt in task.attempts if attempt.verified is not None]
    prompted = {
        "lineage": _lineage(turn, session, task),
        "failed": verified[-1] if verified else None,
        "advice": advice(session.assessment),
    }
    try:
        result = act(turn, task.plan, len(task.attempts), task.gathered, **prompted)
    except AgentError as error:
        return session.with_task(task.with_last(error=str(error)))
    return session.with_task(task.with_last(acted=result))


def _lineage(turn: Turn, session: Session, task: Task) -> tuple[str, ...]:
    """Return what was done before; with a fresh context, earlier attempts at this task are left out."""
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
    status = _CLOSES.get("" if last.verified is None else last.verified.status)
    if status is None and not is_blocked and last.number < session.limits.attempts:
        return session.with_task(_open_attempt(turn, task, last.injected))
    now, status = turn.sessions.now(), status or BLOCKED
    task = replace(task, status=status, closed_at=now)
    session = replace(session.with_task(task), state="NEXT")
    if status == UNVERIFIED:
        return session
    errors = [attempt.error for attempt in task.attempts if attempt.error is not None]
    notes = task.summary if task.results else "".join(errors[-1:])
    return session.with_outcome(TaskOutcome(task.seq, status == DELIVERED, now, notes))


def _next(turn: Turn, session: Session) -> Session:
    """Learn from a task that is closed, then take the next one."""
    return _learnt(turn, session) or replace(session, state="ACT" if session.next_task else "DONE")


def _learnt(turn: Turn, session: Session) -> Session | None:
    """Learn from the first closed task that was not learned from; None without one.

    A task to which no agent answered teaches nothing.
    """
    for task in session.tasks:
        if task.status != "pending" and task.learnt is None:
            memory = turn.environment.memory
            learnt = learn_from_task(memory, session, task) if task.results else LearningResult()
            return session.with_task(replace(task, learnt=learnt))
    return None


def _done(_turn: Turn, session: Session) -> Session:
    """Determine how the session ended, by the tasks of all its plans."""
    statuses = {task.status for task in session.open_tasks}
    ends = [end for status, end in _ENDS.items() if status in statuses]
    if BLOCKED not in ends and session.left_out:
        ends = ["limit"]
    ended = ends[0] if ends else DELIVERED
    return replace(session, state="LEARN", ended=ended, why=_why(session, ended))


def _why(session: Session, ended: str) -> str | None:
    """Tell why a session ended so, and which tasks were dropped with a plan that a person's answer replaced."""
    dropped = ", ".join(
        f"{task.seq} ({task.plan.objective})" for task in session.tasks if task.seq in session.dropped
    )
    parts = [_open_in_words(session, ended), f"dropped for another way: {dropped}" if dropped else None]
    return "; ".join(filter(None, parts)) or None


def _open_in_words(session: Session, ended: str) -> str | None:
    if ended == DELIVERED:
        return None
    if ended == "limit":
        more = session.left_out
        return f"{more} more tasks than the limit of {session.limits.tasks} were planned, and dropped"
    delivered, total = session.tally
    tasks = ", ".join(f"{task.seq} ({task.status})" for task in session.open_tasks)
    rest = "; no command verifies it" if ended == UNVERIFIED else ""
    return f"{delivered} of {total} tasks delivered; still open: {tasks}{rest}"


def _pivot(turn: Turn, session: Session, why: str | None = None) -> Session:
    """End a session whose approach does not work, with alternatives from the memory."""
    failures = session.assessment.consecutive_failures
    reason = f"{failures} tasks failed in a row: the approach does not work, take another"
    if session.without_progress:
        reason = "the last impasse made no progress: take another approach"
    others = alternatives(turn.environment.memory, session)
    return replace(session, state="LEARN", ended="pivot", why=why or reason, alternatives=others)


def _learn(turn: Turn, session: Session) -> Session:
    """Learn from the tasks that remain, then from the session as a whole."""
    after = _learnt(turn, session)
    if after is not None:
        return after
    memory = turn.environment.memory
    is_below = session.without_progress and session.parent is not None  # the session above learns from it
    is_old = session.learnt is not None and not session.reasoned
    was_tried = session.round_tasks or session.without_progress  # or else it repeats what is known
    own = LearningResult()
    if session.ended == "pivot" and was_tried and not (is_below or is_old):
        own = learn_from_task(memory, session, session.failed_approach(turn.sessions.now()))
    return replace(session, state=LAST, learnt=LearningResult.of((session.learnt, own)))


_STEPS: Mapping[str, Callable[[Turn, Session], Session | None]] = {
    "INIT": _init,
    "CONTEXT": _context,
    "REASON": _reason,
    "UNCLEAR": _unclear,
    "ASK": _ask,
    "ACT": _act,
    "NEXT": _next,
    "DONE": _done,
    "LEARN": _learn,
}
