"""The commands of the loop: run an objective, resume it, and report on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.command import Answer, command, group
from priming.cli.options import AgentOptions, StoreOptions
from priming.cli.output import DIM, ERROR, KEY, OK, WARN, Part, Table, clean, line, names
from priming.cli.plain import plain
from priming.errors import ParamError
from priming.text.quotation import label
from priming_loop.commands import arc, tasks
from priming_loop.commands.terminal import Terminal, interrupts

if TYPE_CHECKING:
    from priming.llm.protocol import Agent
    from priming.memory import Memory
    from priming_loop.environment import LoopEnvironment
    from priming_loop.session import Session, Task
    from priming_loop.steps.results import SessionReport, SessionSummary, Thought

_COLOURS = {"delivered": OK, "blocked": ERROR}

app = group("Loop", "loop", "Reason, act and learn: pursue an objective with an agent.")
app.add_typer(arc.app)
app.add_typer(tasks.app)
app.add_typer(tasks.meta_app)
GROUPS = (app,)

Objective = Annotated[str, Argument(metavar="OBJECTIVE", help="What is to be done; - reads it from stdin")]
AnySession = Annotated[
    str | None, Argument(metavar="[SESSION]", help="A session of the loop; default: the latest")
]
SessionId = Annotated[str, Argument(metavar="SESSION", help="A session of the loop, see 'loop list'")]
Minutes = Annotated[
    float | None,
    Option("--budget-minutes", metavar="M", help="Stop after this many minutes; the session can be resumed"),
]


@command(app)
def run(
    store: StoreOptions,
    objective: Objective,
    yes: Annotated[bool, Option("--yes", help="Act without asking, except what the guard asks")] = False,
    max_attempts: Annotated[
        int | None, Option("--max-attempts", metavar="N", help="Maximum attempts per task; 3 by default")
    ] = None,
    budget_minutes: Minutes = None,
    fresh_context: Annotated[
        bool,
        Option("--fresh-context", help="Give each attempt only the gate's output of the attempts before"),
    ] = False,
    deliberate: Annotated[
        bool, Option("--deliberate", help="Reason even where the same plan was delivered three times")
    ] = False,
    max_tasks: Annotated[
        int | None, Option("--max-tasks", metavar="N", help="Maximum tasks of a plan; 20 by default")
    ] = None,
    depth: Annotated[
        int | None, Option("--depth", metavar="N", help="Maximum depth of subgoals; 2 by default")
    ] = None,
    timeout: Annotated[
        float | None,
        Option("--timeout", metavar="S", help="Seconds for an answer, and for a gate; 600 by default"),
    ] = None,
    *,
    options: AgentOptions,
) -> Answer:
    """Reason about an objective, act task by task until each gate passes, and learn from it."""
    from priming_loop.run import run as run_loop
    from priming_loop.session_store import limits

    bounds = limits(max_attempts, max_tasks, depth, timeout, budget_minutes)
    agent = _agent(options, bounds.timeout)
    text = parse.text_or_stdin(objective, "objective")
    with store.open_file() as memory, _work(store, memory, agent, yes=yes) as work:
        session = run_loop(work, text, Path.cwd(), bounds, fresh_context=fresh_context, deliberate=deliberate)
        return _result(memory, session)


@command(app)
def resume(
    store: StoreOptions,
    session: SessionId,
    yes: Annotated[
        bool, Option("--yes", help="Approve what it waits for, and act without asking from then on")
    ] = False,
    answer: Annotated[
        str | None, Option("--answer", metavar="TEXT", help="The answer to its question, or another approach")
    ] = None,
    budget_minutes: Minutes = None,
    *,
    options: AgentOptions,
) -> Answer:
    """Resume a session that stopped, was killed, or ended without success."""
    from priming_loop.run import ResumeOptions
    from priming_loop.run import resume as resume_loop
    from priming_loop.session_store import Sessions

    with store.open_file() as memory:
        agent = _agent(options, Sessions(memory).root(session).limits.timeout)
        with _work(store, memory, agent, yes=yes) as work:
            return _result(memory, resume_loop(work, session, ResumeOptions(yes, answer, budget_minutes)))


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
    from priming_loop.session_store import Sessions
    from priming_loop.steps.report import report as report_of

    with store.open_file() as memory:
        current = report_of(Sessions(memory), allow_task(memory, session, seq))
    return Answer(current, _state(current))


@command(app)
def think(store: StoreOptions, objective: Objective, *, options: AgentOptions) -> Answer:
    """Gather the context and reason, without acting, learning or storing."""
    from priming_loop.run import loop_think
    from priming_loop.session_store import LOOP

    agent = _agent(options, LOOP.timeout)
    text = parse.text_or_stdin(objective, "objective")
    with store.open_file() as memory, interrupts():
        thought = loop_think(memory, text, str(Path.cwd()), agent=agent)
    return Answer(thought, _thought(thought))


def _thought(thought: Thought) -> Iterator[Part]:
    """The result of reasoning, and the memories it was shown."""
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
    """The report of a session and of its subgoals."""
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
    """What the session waits for or why it stopped, and how to resume it."""
    if report.waits is not None:
        yield line((report.waits.about, WARN), indent=indent + 2)
    elif report.why is not None:
        yield line((report.why, WARN), indent=indent + 2)
    if report.next_command is not None and not (indent and report.waits is None):
        unless = report.waits is None and report.stopped is None and report.state != "SUMMARY"
        condition = "if no process works on it, " if unless else ""
        yield line((f"{condition}to continue: {report.next_command}", DIM), indent=indent)


def _agent(options: AgentOptions, timeout: float) -> Agent:
    """The agent, with a time limit for an answer."""
    from priming_loop.environment import with_timeout

    agent = options.load()
    if agent is None:
        rule = "must be given: --agent 'claude -p', --model URL,NAME, or PRIMING_AGENT"
        raise ParamError("agent", None, rule)
    return with_timeout(agent, timeout)


@contextmanager
def _work(
    store: StoreOptions, memory: Memory, agent: Agent, *, yes: bool = False
) -> Iterator[LoopEnvironment]:
    """What a run works with: questions go to a person if a person is at the terminal and reads the answer."""
    from priming_loop.environment import LoopEnvironment

    with interrupts() as handler:
        has_person = not store.as_json and sys.stdin.isatty()
        person = Terminal(handler) if has_person else None
        yield LoopEnvironment(
            memory,
            agent,
            person,
            yes,
            handler.stop,
            lambda session: None if store.as_json else _report_step(session),
        )


def _report_step(session: Session) -> None:
    """Print the current step, on a terminal."""
    if not sys.stderr.isatty():
        return
    task = session.next_task if session.state == "ACT" else None
    about = f" {task.seq}: {task.plan.objective} (attempt {max(1, len(task.attempts))})" if task else ""
    typer.echo(clean(session.state + about), err=True)


def _result(memory: Memory, session: Session) -> Answer:
    """The report of a run, with its exit status."""
    from priming_loop.session_store import Sessions
    from priming_loop.steps.report import FAILED
    from priming_loop.steps.report import report as report_of

    current = report_of(Sessions(memory), session)
    return Answer(current, _report(current), FAILED if current.status is None else current.status)


plain(
    app,
    "loop_report",
    _state,
    name="status",
    help="Show the state of a session and its tasks.",
    session=AnySession,
)
plain(
    app,
    "loop_report",
    lambda report: _report(report),
    name="report",
    help="Report what was tried, what was learned, and which memories helped.",
    session=AnySession,
)
plain(app, "loop_list", _sessions, name="list")
