"""Runs of the loop: an agent pursues an objective, step by step."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from priming.config.values import dataclass
from priming.core.metacognition import assess
from priming.errors import Conflict, NotFound, ParamError
from priming.llm.protocol import Agent
from priming.namespace import Namespace
from priming.types import Progress
from priming_loop.context import gather
from priming_loop.environment import SECONDS, LoopEnvironment, check_present, with_timeout
from priming_loop.planning import plan
from priming_loop.session import BLOCKED, DELIVERED, UNVERIFIED, Limits, Session
from priming_loop.session_store import LOOP, Sessions, check_folder, limits
from priming_loop.state_machine import LAST, go_on, open_questions, with_answer, with_yes
from priming_loop.steps.report import report
from priming_loop.steps.results import SessionReport, Thought

_DIFFERENTLY = "What should be done differently?"


def run(
    environment: LoopEnvironment, objective: str, folder: Path | str | None, limits: Limits, **own: Any
) -> Session:
    """Pursue an objective until it is reached, a limit is reached, or a person is needed.

    An objective whose plan is proven is not reasoned about, unless its ``own`` field ``deliberate`` is true; with
    ``fresh_context`` an attempt learns only the gate's output of those before.

    Raises:
        ParamError: an invalid objective or folder, or no agent.

    """
    check_present(environment.agent)
    if folder is None:
        raise ParamError("folder", None, "must be the absolute path of an existing folder: a run has gates")
    sessions = Sessions(environment.memory)
    session = sessions.begin(objective, folder, limits, yes=environment.yes, **own)
    with sessions.lock(session.id):
        return go_on(environment, session)


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    """A person's contribution to a resumed session: approval, an answer, more minutes."""

    yes: bool = False
    answer: str | None = None
    minutes: float | None = None
    is_person: bool = True
    """Whether a person at this machine says yes, who may allow what is not known to be harmless."""


def allow(memory: Namespace, session_id: str, seq: int | None = None) -> Session:
    """Say a person's yes, for the session, to what a task asks: the one that waits for it, or one by number.

    Raises:
        NotFound: no such session, or no such task.
        Conflict: nothing there needs a yes.

    """
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session_id).id):
        session = _active(sessions, sessions.get(session_id))
        waits = session.waits if session.waits is not None and session.waits.what == "destructive" else None
        number = waits.seq if seq is None and waits is not None else seq
        task = session.task(number)
        if number is not None and task is None:
            raise NotFound(f"session {session_id} has no task {number}")
        if task is None or task.status != "pending":
            raise Conflict(
                f"no task of session {session_id} waits for a yes: 'priming loop status {session_id}'"
            )
        if waits is not None and waits.seq == number:
            return sessions.save(with_yes(session, waits))
        return sessions.save(replace(session, yeses=(*session.yeses, *open_questions(session, task.plan))))


def resume(environment: LoopEnvironment, session_id: str, options: ResumeOptions) -> Session:
    """Resume a session where it stopped. A session that ended without success begins a new round.

    The session of a subgoal is resumed from the session at the top.

    Raises:
        NotFound: no such session.
        Conflict: an answer to a session that waits for none, or is delivered.
        Busy: another process works on the session.

    """
    check_present(environment.agent)
    sessions = Sessions(environment.memory)
    top = sessions.root(session_id)
    with sessions.lock(top.id):
        session = sessions.get(top.id)
        if not session.folder:
            rule = "has no folder to work in: the program that began it drives it, task by task"
            raise ParamError("session", session_id, rule)
        if not Path(session.folder).is_dir():
            raise ParamError("session", session_id, f"works in {session.folder}, which no longer exists")
        has_ended = session.ended if session.state == LAST else None
        if has_ended in (DELIVERED, UNVERIFIED) and options.answer is None:
            return session  # the same plan would end the same way
        if has_ended == DELIVERED:
            command = f"priming loop run {shlex.quote(session.objective)} --deliberate"
            raise Conflict(
                f"the session {session.id} is delivered, and takes no answer; begin another with {command}"
            )
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
    """Return the session in progress: the last in the chain of subgoals."""
    if session.below is None:
        return session
    child = sessions.find(session.below)  # none, if killed before it began
    # A child may have ended before its parent could read its outcome.
    return session if child is None or child.state == LAST else _active(sessions, child)


def _resumed(session: Session, options: ResumeOptions) -> Session:
    """Return the session with a person's contribution; a session that ended begins a new round."""
    wait = session.waits
    fresh = replace(session, waits=None, stopped=None, why=None, yes=session.yes or options.yes)
    if session.state == LAST:
        return _new_round(fresh, options)
    if options.answer is not None:
        if wait is None or wait.what != "answer":
            raise Conflict(
                f"the session {session.id} awaits no answer: 'priming loop resume {session.id}' continues it"
            )
        return with_answer(fresh, wait.about, options.answer)
    if wait is None or not options.yes:
        return fresh
    if wait.what == "destructive" and not options.is_person:
        rule = f"is no program's to give for {wait.about}: 'priming loop allow {session.id}' is a person's"
        raise ParamError("yes", True, rule)
    return with_yes(fresh, wait)


def _new_round(session: Session, options: ResumeOptions) -> Session:
    """Return a session that ended, at the beginning of another round; an answer means another approach."""
    if options.answer is not None:
        session = replace(
            with_answer(session, _DIFFERENTLY, options.answer),
            begun_with=len(session.outcomes),
            without_progress=False,
            dropped=tuple(task.seq for task in session.tasks if task.status in (BLOCKED, "pending")),
        )
    return replace(
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


def loop_think(memory: Namespace, objective: str, folder: str, *, agent: Agent | None = None) -> Thought:
    """Gather the context of an objective and have the agent reason about it; nothing is done, learnt or saved.

    Args:
        objective: what is to be done.
        folder: the absolute path of the project.
        agent: the agent.

    """
    present = with_timeout(check_present(agent), LOOP.timeout)
    gathered = gather(memory, objective, check_folder(folder), session=None)
    return Thought(gathered, plan(present, gathered, assess(())))


def loop_run(
    memory: Namespace,
    objective: str,
    folder: str,
    *,
    yes: bool = False,
    deliberate: bool = False,
    fresh_context: bool = False,
    max_attempts: int | None = None,
    max_tasks: int | None = None,
    depth: int | None = None,
    timeout: float | None = None,
    budget_minutes: float | None = None,
    agent: Agent | None = None,
    progress: Progress | None = None,
) -> SessionReport:
    """Have the agent pursue an objective: it reasons, acts task by task until each gate passes, and learns from it.

    Args:
        objective: what is to be done.
        folder: the absolute path of the folder to work in.
        yes: whether to act on the plan without asking; otherwise the session waits, and ``loop_resume`` goes on.
        deliberate: whether to reason even where the same plan was delivered three times.
        fresh_context: whether an attempt learns only the gate's output of the attempts before.
        max_attempts: most attempts at a task, 3 by default.
        max_tasks: most tasks of a plan, 20 by default.
        depth: greatest depth of subgoals, 2 by default.
        timeout: seconds for an answer of the agent, and for a gate, 600 by default.
        budget_minutes: stop after so many minutes; the session can be resumed.
        agent: the agent.
        progress: called after every step with the number of steps.

    """
    bounds = limits(max_attempts, max_tasks, depth, timeout, budget_minutes)
    own = {"fresh_context": fresh_context, "deliberate": deliberate}
    session = run(_environment(memory, agent, yes, progress), objective, folder, bounds, **own)
    return report(Sessions(memory), session)


def loop_resume(
    memory: Namespace,
    session: str,
    *,
    yes: bool = False,
    answer: str | None = None,
    budget_minutes: float | None = None,
    agent: Agent | None = None,
    progress: Progress | None = None,
) -> SessionReport:
    """Resume a session that waits, stopped, or ended without success.

    Args:
        session: the session.
        yes: whether a person approves the plan that it waits for. A task whose command is not known to be harmless
            waits for ``priming loop allow``, which a person types.
        answer: a person's answer to its question, or another approach.
        budget_minutes: so many minutes more.
        agent: the agent.
        progress: called after every step with the number of steps.

    """
    options = ResumeOptions(yes, answer, budget_minutes, is_person=False)
    return report(Sessions(memory), resume(_environment(memory, agent, yes, progress), session, options))


def _environment(
    memory: Namespace, agent: Agent | None, yes: bool, progress: Progress | None
) -> LoopEnvironment:
    """Return the environment of a run by another program, without a person at a terminal."""
    steps = count(1)
    on_step = (lambda _: None) if progress is None else (lambda _: progress(next(steps), None))
    return LoopEnvironment(memory, agent, yes=yes, on_step=on_step)
