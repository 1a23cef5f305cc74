"""The state machine of a session. Every step is saved before the next begins, so that a killed run can be resumed.

INIT → CONTEXT → REASON → ACT ⇄ NEXT → DONE → LEARN → SUMMARY
                 REASON → UNCLEAR → ASK → REASON
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, replace
from operator import add

from priming.config.ids import uuid7
from priming.errors import AgentError, NotFound, ParamError
from priming.llm.agents import DeadlineExceeded
from priming.loop.acting import AgentDriver, advance, destructive_reason, open_attempt
from priming.loop.context import PROFILE, gather, shown_memory
from priming.loop.environment import SECONDS, LoopEnvironment, Turn
from priming.loop.learning import learn_from_task, store_patterns
from priming.loop.planning import plan
from priming.loop.session import (
    BLOCKED,
    DELIVERED,
    UNVERIFIED,
    ActionResult,
    Attempt,
    LearningResult,
    PlanningResult,
    Session,
    ShownMemory,
    Task,
    TaskPlan,
    Wait,
    assessment_of,
    with_task,
)

LAST = "SUMMARY"
_WHY = {
    "interrupt": "the run was interrupted, and can be resumed",
    "minutes": "the minutes of the run are over",
}
_ENDS = (BLOCKED, UNVERIFIED)
"""The statuses of a task with which its session ends too, in order of precedence."""
_GATES = "Which command says of each task whether it is done?"
_NAME_GATES = (
    "Plan again, with a command under verify for every task; null stays only where no command can say it."
)


def go_on(environment: LoopEnvironment, session: Session, parent: Session | None = None) -> Session:
    """Take step after step until the session ends, stops, or waits for a person."""
    turn = Turn.of(environment, session, parent)
    while session.state != LAST:
        stop = turn.stop_reason()
        if stop is None:
            try:
                session = _STEPS[session.state](turn, session)
            except DeadlineExceeded:
                stop = "minutes"
        if stop is not None:
            session = replace(session, stopped=stop, why=_WHY[stop])
        session = turn.save(session)
        if session.stopped is not None or session.waits is not None:
            break
    return session


def with_answer(session: Session, question: str, answer: str) -> Session:
    """The session with a person's answer, in the state REASON."""
    if not answer.strip():
        raise ParamError("answer", answer, "must not be blank")
    answered = (*session.answered, (question, answer.strip()))
    return replace(session, state="REASON", answered=answered, reasoned=None)


def _init(turn: Turn, session: Session) -> Session:
    """Metacognition comes first for a session that is resumed."""
    if assessment_of(session).advice == "pivot_now":
        return _pivot(turn, session)
    return replace(session, state="CONTEXT")


def _context(turn: Turn, session: Session) -> Session:
    gathered = gather(
        turn.environment.memory,
        session.objective,
        session.folder,
        session=session.id,
        lineage=turn.lineage(session),
    )
    return replace(session, state="REASON", gathered=gathered)


def _reason(turn: Turn, session: Session) -> Session:
    """Plan, and once the plan is saved, follow it."""
    if session.reasoned is not None:
        return _follow(turn, session, session.reasoned)
    assessment = assessment_of(session)
    if assessment.advice == "pivot_now":
        return _pivot(turn, session)
    assert session.gathered is not None, "CONTEXT comes before REASON"
    try:
        reasoned = plan(
            turn.agent(),
            session.gathered,
            assessment,
            answered=session.answered,
            lineage=turn.lineage(session),
            subgoal=None if turn.parent is None else turn.parent.objective,
        )
    except AgentError as error:
        return replace(session, stopped="agent", why=str(error))
    return replace(session, reasoned=reasoned)


def _follow(turn: Turn, session: Session, result: PlanningResult) -> Session:
    """Continue with the subgoal, the question, the missing gates, or the tasks of a planning result."""
    if result.impasse is not None:
        return _subgoal(turn, session, result)
    if result.question is not None:
        return replace(session, state="UNCLEAR")
    if not session.gates_requested and any(task.verify is None for task in result.tasks):
        answered = (*session.answered, (_GATES, _NAME_GATES))
        return replace(session, gates_requested=True, reasoned=None, answered=answered)
    return _planned(session, result.tasks)


def _planned(session: Session, plans: tuple[TaskPlan, ...]) -> Session:
    """The session with the tasks of a plan, up to the limit."""
    first = len(session.tasks) + 1
    tasks = tuple(Task(seq, plan) for seq, plan in enumerate(plans[: session.limits.tasks], first))
    left_out = len(plans) - len(tasks)
    return replace(session, state="ACT", tasks=(*session.tasks, *tasks), left_out=left_out, approved=False)


def _subgoal(turn: Turn, session: Session, result: PlanningResult) -> Session:
    """Work on the subgoal of an impasse, then plan again with its outcome."""
    impasse = result.impasse
    assert impasse is not None, "checked before"
    if session.below is None:
        return _new_subgoal(turn, session, f"{impasse.type}: {impasse.subgoal}")
    child = go_on(turn.environment, _child(turn, session, impasse.subgoal), session)
    if child.state != LAST:
        return replace(session, waits=child.waits, stopped=child.stopped, why=child.why)
    answered = (*session.answered, (f"What came of the subgoal: {impasse.subgoal}?", _outcome(child)))
    return replace(session, state="CONTEXT", below=None, reasoned=None, answered=answered)


def _new_subgoal(turn: Turn, session: Session, why: str) -> Session:
    """Reserve the id of a subgoal's session, if the limits permit another subgoal."""
    most = turn.environment.params.subgoals
    if session.depth >= session.limits.depth:
        return _stuck(session, f"{why}; subgoals go {session.limits.depth} deep at most")
    if len(session.children) >= most:
        return _stuck(session, f"{why}; a session has {most} subgoals at most")
    child_id = uuid7(turn.sessions.now())
    return replace(session, below=child_id, children=(*session.children, child_id))


def _child(turn: Turn, session: Session, subgoal: str) -> Session:
    """The session of a subgoal, begun if necessary, with the time that is left."""
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
            params=turn.environment.params,
        )
    left = turn.seconds_left()
    if left is None:
        return child
    minutes = (child.seconds + max(0.0, left)) / SECONDS
    return replace(child, limits=replace(session.limits, minutes=minutes))


def _outcome(session: Session) -> str:
    """How a subgoal's session ended, in words."""
    why = "" if session.why is None else f" ({session.why})"
    return "; ".join([f"{session.ended}{why}", *(task.summary for task in session.tasks)])


def _unclear(_turn: Turn, session: Session) -> Session:
    return replace(session, state="ASK")


def _ask(turn: Turn, session: Session) -> Session:
    """Ask the person who is present; otherwise wait for an answer."""
    question = session.reasoned.question if session.reasoned is not None else None
    assert question is not None, "UNCLEAR comes before ASK"
    person = turn.environment.person
    answer = None if person is None else person.answer(session, question)
    if answer is None or not answer.strip():
        return replace(session, waits=Wait("answer", question))
    return with_answer(session, question, answer)


def _act(turn: Turn, session: Session) -> Session:
    """Take one step of the next task, once the plan is approved."""
    if not session.approved:
        return _approval(turn, session)
    task = session.next_task
    if task is None:
        return replace(session, state="DONE")
    if task.gathered is None:
        return _begin(turn, session, task)
    after = advance(turn, AgentDriver(), session, task)
    assert after is not None, "an agent's result is there at once"
    is_open = any(other.seq == task.seq and other.status == "pending" for other in after.tasks)
    return after if is_open else replace(after, state="NEXT")


def _approval(turn: Turn, session: Session) -> Session:
    """Ask whether to act at all."""
    environment = turn.environment
    tasks = [task for task in session.round_tasks if task.status == "pending"]
    lines = [f"{task.seq}. {task.plan.objective} [{task.plan.verify or 'no gate'}]" for task in tasks]
    wait = Wait("approval", "\n".join(lines))
    if environment.yes or (environment.person is not None and environment.person.allow(session, wait)):
        return replace(session, approved=True)
    return replace(session, waits=wait)


def _begin(turn: Turn, session: Session, task: Task) -> Session:
    """Begin a task, unless metacognition advises against it or a person must allow it."""
    if assessment_of(session).advice == "pivot_now":
        return _pivot(turn, session)
    why = destructive_reason(task.plan, turn.environment.params)
    if why is not None and task.seq not in session.allowed:
        wait = Wait("destructive", f"task {task.seq}, {task.plan.objective}: {why}", task.seq)
        person = turn.environment.person
        if person is None or not person.allow(session, wait):
            return replace(session, waits=wait)
        session = replace(session, allowed=(*session.allowed, task.seq))
    gathered = gather(
        turn.environment.memory,
        task.plan.objective,
        session.folder,
        session=session.id,
        lineage=turn.lineage(session),
        within=session.objective,
    )
    # An attempt that another program opened shows other memories.
    closed = [attempt for attempt in task.attempts if attempt.acted is not None or attempt.error is not None]
    task = replace(task, gathered=gathered, attempts=tuple(closed))
    return with_task(session, open_attempt(turn, task, gathered.injected))


def _next(turn: Turn, session: Session) -> Session:
    """Learn from the task that is closed, then take the next one."""
    learnt = _learn_from_tasks(turn, session)
    if learnt is not None:
        return learnt
    return replace(session, state="ACT" if session.next_task else "DONE")


def _learn_from_tasks(turn: Turn, session: Session) -> Session | None:
    """Learn from the first closed task that has not been learnt from; None if there is none."""
    tasks = (task for task in session.tasks if task.status != "pending" and task.learnt is None)
    task = next(tasks, None)
    return None if task is None else advance(turn, AgentDriver(), session, task)


def _done(_turn: Turn, session: Session) -> Session:
    """Determine how the session ended."""
    statuses = {task.status for task in session.round_tasks}
    ends = [end for end in _ENDS if end in statuses]
    if BLOCKED not in ends and session.left_out:
        ends = ["limit"]
    ended = ends[0] if ends else DELIVERED
    return replace(session, state="LEARN", ended=ended, why=_why(session, ended))


def _why(session: Session, ended: str) -> str | None:
    if ended == DELIVERED:
        return None
    if ended == "limit":
        more = session.left_out
        return f"{more} more tasks than the limit of {session.limits.tasks} were planned, and left out"
    numbers = ", ".join(str(task.seq) for task in session.round_tasks if task.status == ended)
    rest = "no command says whether it is done" if ended == UNVERIFIED else "see what stood in the way"
    return f"{ended}: task {numbers}: {rest}"


def _pivot(turn: Turn, session: Session) -> Session:
    """End a session whose approach fails again and again, with alternatives from the memory."""
    failures = assessment_of(session).consecutive_failures
    return replace(
        session,
        state="LEARN",
        ended="pivot",
        why=f"{failures} tasks failed in a row: the approach does not work, take another",
        alternatives=_alternatives(turn, session),
    )


def _alternatives(turn: Turn, session: Session) -> tuple[ShownMemory, ...]:
    """Patterns about the objective that no task was shown."""
    tried = {key for task in session.tasks for key in task.injected}
    most = turn.environment.params.alternatives
    recall = turn.environment.memory.recall(
        session.objective, kinds=["pattern"], limit=most + len(tried), session=session.id, profile=PROFILE
    )
    fresh = [shown_memory(hit.memory) for hit in recall.hits if hit.memory.key not in tried]
    return tuple(fresh[:most])


def _stuck(session: Session, why: str) -> Session:
    """End a session at an impasse."""
    return replace(session, state="LEARN", ended="impasse", why=why)


def _learn(turn: Turn, session: Session) -> Session:
    """Learn from the tasks that remain, then from the session as a whole."""
    learnt = _learn_from_tasks(turn, session)
    if learnt is not None:
        return learnt
    memory = turn.environment.memory
    if session.ended == "pivot":
        own = learn_from_task(memory, session, _failed_approach(turn, session), project=session.project)
    else:
        own = store_patterns(memory, session, project=session.project)
    earlier = session.learnt
    total = own if earlier is None else LearningResult(*map(add, astuple(earlier), astuple(own)))
    return replace(session, state=LAST, learnt=total)


def _failed_approach(turn: Turn, session: Session) -> Task:
    """The whole of an approach that did not work, as a blocked task with a number of its own for each round."""
    failures = "; ".join(task.summary for task in session.tasks if task.status == BLOCKED)
    advice = f"take another approach than this: {failures}"
    result = ActionResult(BLOCKED, "", (), session.why, advice)
    now = turn.sessions.now()
    attempt = Attempt(1, now, acted=result)
    return Task(-session.earlier, TaskPlan(session.objective), BLOCKED, (attempt,), closed_at=now)


_STEPS: Mapping[str, Callable[[Turn, Session], Session]] = {
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
