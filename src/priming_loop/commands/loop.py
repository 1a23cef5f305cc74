"""The commands of the loop: run an objective, resume it, and report on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from priming.cli.command import FAILURE, Answer, command, group
from priming.cli.options import AgentOptions, StoreOptions
from priming.cli.output import DIM, ERROR, KEY, OK, WARN, Part, Table, clean, line, names
from priming.cli.plain import plain
from priming.text.quotation import label
from priming_loop.commands import arc, tasks
from priming_loop.commands.terminal import interrupts

if TYPE_CHECKING:
    from priming.namespace import Namespace
    from priming_loop.environment import LoopEnvironment
    from priming_loop.session import Session, Task
    from priming_loop.steps.results import SessionReport, SessionSummary, Thought

_BOUNDS = ("max_attempts", "max_tasks", "depth", "timeout", "budget_minutes")
_COLOURS = {"delivered": OK, "blocked": ERROR}

app = group("Loop", "loop", "Reason, act and learn: pursue an objective with an agent.")
app.add_typer(arc.app)
app.add_typer(tasks.app)
app.add_typer(tasks.meta_app)
GROUPS = (app,)

AnySession = Annotated[
    str | None, Argument(metavar="[SESSION]", help="A session of the loop; default: the latest")
]
SessionId = Annotated[str, Argument(metavar="SESSION", help="A session of the loop, see 'loop list'")]


def _run(store: StoreOptions, sent: dict[str, Any], *, options: AgentOptions) -> SessionReport:
    """Pursue an objective in the folder of the command."""
    from priming_loop.run import run
    from priming_loop.session_store import limits

    bounds = limits(*(sent.get(name) for name in _BOUNDS))
    own = {name: sent[name] for name in ("fresh_context", "deliberate")}
    with _work(store, options, yes=sent["yes"]) as work:
        return _reported(work.memory, run(work, sent["objective"], Path.cwd(), bounds, **own))


def _resume(store: StoreOptions, sent: dict[str, Any], *, options: AgentOptions) -> SessionReport:
    """Resume a session, for the person who types it."""
    from priming_loop.run import ResumeOptions, resume

    own = ResumeOptions(sent["yes"], sent.get("answer"), sent.get("budget_minutes"))
    with _work(store, options, yes=own.yes) as work:
        return _reported(work.memory, resume(work, sent["session"], own))


def _think(store: StoreOptions, sent: dict[str, Any], *, options: AgentOptions) -> Thought:
    """Reason in the folder of the command."""
    from priming_loop.run import loop_think

    with _work(store, options) as work:
        return loop_think(work.memory, sent["objective"], str(Path.cwd()), agent=work.agent)


@command(app)
def allow(
    store: StoreOptions,
    session: SessionId,
    seq: Annotated[
        int | None, Option("--seq", metavar="N", help="The task; by default the one that it waits for")
    ] = None,
) -> Answer:
    """Say yes to a command that is not known to be harmless: it runs when its task is reported or resumed again."""
    from priming_loop.run import allow as allow_task

    with store.open_file() as memory:
        current = _reported(memory, allow_task(memory, session, seq))
    return Answer(current, _state(current))


def _thought(thought: Thought) -> Iterator[Part]:
    """Yield the result of reasoning, and the memories it was shown."""
    context, reasoned = thought.context, thought.reasoned
    yield line((reasoned.assessment, KEY), f"  {reasoned.reasoning}")
    for number, plan in enumerate(reasoned.tasks, 1):
        yield line(f"{number}. {plan.objective}")
        yield line((f"files {', '.join(plan.delta) or '-'}; gate {plan.verify or 'none'}", DIM), indent=3)
    if reasoned.question is not None:
        yield line(("question: ", WARN), reasoned.question)
    if reasoned.impasse is not None:
        yield line(("impasse: ", WARN), f"{reasoned.impasse.type}: {reasoned.impasse.subgoal}")
    if context.injected:
        yield line(("shown: ", DIM), *names(context.injected))


def _state(report: SessionReport) -> Iterator[Part]:
    from priming_loop.steps.report import describe_state

    yield line((report.session, KEY), f"  {describe_state(report)}")
    yield line(report.objective, indent=2)
    yield from (_task(task) for task in report.tasks)
    yield from _next_step(report)


def _sessions(sessions: Sequence[SessionSummary]) -> Iterator[Part]:
    if not sessions:
        yield line(("no sessions yet", DIM))
        return
    rows = tuple(
        (
            label(session.session),
            session.created_at.astimezone().strftime("%Y-%m-%d %H:%M"),
            f"{session.delivered}/{session.tasks}",
            session.stands,
            session.objective,
        )
        for session in sessions
    )
    yield Table(("session", "started", "tasks", "", "objective"), rows, cut=True)


def _report(report: SessionReport, indent: int = 0) -> Iterator[Part]:
    """Yield the report of a session and of its subgoals."""
    from priming_loop.steps.report import describe_attempt, describe_state, learnt_by_effect

    yield line(
        (describe_state(report), _COLOURS.get(report.ended or "", WARN)),
        f"  {report.objective}",
        indent=indent,
    )
    yield line((f"session {report.session}", DIM), indent=indent)
    if report.proven:
        times = f"{report.proven} earlier runs"
        yield line((f"planned as {times} delivered it; --deliberate reasons anew", DIM), indent=indent)
    for task in report.tasks:
        yield _task(task, indent)
        yield from (line((describe_attempt(attempt), DIM), indent=indent + 3) for attempt in task.attempts)
    for lesson, keys in learnt_by_effect(report):
        yield line((f"{lesson}: ", DIM), *names(keys), indent=indent)
    yield from _next_step(report, indent)
    for other in report.alternatives:
        yield line(("alternative: ", DIM), (other.key, KEY), f"  {other.text}", indent=indent)
    yield line((report.line, DIM), indent=indent)
    for child in report.children:
        yield from _report(child, indent + 2)


def _task(task: Task, indent: int = 0) -> Part:
    status = (task.status, _COLOURS.get(task.status, WARN))
    return line(f"{task.seq}. ", status, f"  {task.plan.objective}", indent=indent)


def _next_step(report: SessionReport, indent: int = 0) -> Iterator[Part]:
    """Yield what the session waits for or why it stopped, and how to resume it."""
    if report.waits is not None:
        yield line((report.waits.about, WARN), indent=indent + 2)
    elif report.why is not None:
        yield line((report.why, WARN), indent=indent + 2)
    if report.next_command is not None and not (indent and report.waits is None):
        unless = report.waits is None and report.stopped is None and report.state != "SUMMARY"
        condition = "if no process works on it, " if unless else ""
        yield line((f"{condition}to continue: {report.next_command}", DIM), indent=indent)


@contextmanager
def _work(store: StoreOptions, options: AgentOptions, *, yes: bool = False) -> Iterator[LoopEnvironment]:
    """Open what a run works with: questions go to a person if a person is at the terminal and reads the answer."""
    from priming_loop.environment import LoopEnvironment, check_present

    agent = check_present(options.load())
    with store.open_file() as memory, interrupts() as terminal:
        person = terminal if not store.as_json and sys.stdin.isatty() else None
        announce = (lambda _: None) if store.as_json else _announce
        yield LoopEnvironment(memory, agent, person, yes, terminal.stop, announce)


def _announce(session: Session) -> None:
    """Print the current step, on a terminal."""
    if not sys.stderr.isatty():
        return
    task = session.next_task if session.state == "ACT" else None
    about = f" {task.seq}: {task.plan.objective} (attempt {max(1, len(task.attempts))})" if task else ""
    typer.echo(clean(session.state + about), err=True)


def _reported(memory: Namespace, session: Session) -> SessionReport:
    from priming_loop.session_store import Sessions
    from priming_loop.steps.report import report

    return report(Sessions(memory), session)


def _ended(report: SessionReport) -> Answer:
    """Return the report of a run, with its exit status."""
    return Answer(report, _report(report), FAILURE if report.status is None else report.status)


_with_agent = partial(plain, app, options=AgentOptions)
_begin = partial(_with_agent, objective=arc.OBJECTIVE, folder=False)
_begin("loop_run", _ended, work=_run, name="run", yes="act without asking, except what the guard asks")
_with_agent(
    "loop_resume",
    _ended,
    work=_resume,
    name="resume",
    session=SessionId,
    yes="approve what it waits for, and act without asking from then on",
    answer="A person's answer to its question, or another approach; - reads it from stdin",
)
_begin("loop_think", _thought, work=_think, name="think")
_of_session = partial(plain, app, "loop_report", session=AnySession)
_of_session(_state, name="status", help="Show the state of a session and its tasks.")
_of_session(
    _report, name="report", help="Report what was tried, what was learned, and which memories helped."
)
plain(app, "loop_list", _sessions, name="list")
