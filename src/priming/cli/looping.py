"""The commands of the loop: run an objective, go on with it, look at what became of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli import arc_memory
from priming.cli.completing import one_of
from priming.cli.loop_outside import meta, task
from priming.cli.options import Asked, Limit, Place
from priming.cli.screen import clean, line
from priming.cli.terminal import Terminal, interrupts
from priming.cli.verb import Answer, give, verb
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.llm.protocol import Agent
    from priming.loop.environment import LoopEnvironment
    from priming.loop.session import Session
    from priming.memory import Memory

FORMATS = ("text", "markdown", "json")

app = typer.Typer()
app.add_typer(arc_memory.app)
app.add_typer(task, name="task", help="Tasks that somebody else carries out, through the same gate.")
app.add_typer(meta, name="meta", help="How a session is going; 'meta SESSION' says it.")

Objective = Annotated[str, Argument(metavar="OBJECTIVE", help="What is to be done; - reads it from stdin")]
SessionId = Annotated[str, Argument(metavar="SESSION", help="A session of the loop, see 'loop list'")]
Yes = Annotated[bool, Option("--yes", help="Act without asking, but for what is called destructive")]
Minutes = Annotated[
    float | None, Option("--budget-minutes", metavar="M", help="Stop after so long; it can be gone on with")
]


@verb(app)
def run(
    place: Place,
    objective: Objective,
    yes: Yes = False,
    max_attempts: Annotated[
        int | None, Option("--max-attempts", metavar="N", help="Attempts at a task; 3 if not given")
    ] = None,
    budget_minutes: Minutes = None,
    fresh_context: Annotated[
        bool,
        Option("--fresh-context", help="Tell an attempt nothing of those before, but what its gate said"),
    ] = False,
    max_tasks: Annotated[
        int | None, Option("--max-tasks", metavar="N", help="Tasks of a plan; 20 if not given")
    ] = None,
    depth: Annotated[
        int | None, Option("--depth", metavar="N", help="How deep subgoals go; 2 if not given")
    ] = None,
    timeout: Annotated[
        float | None,
        Option("--timeout", metavar="S", help="Seconds of one answer, and of one gate; 600 if not given"),
    ] = None,
    *,
    asked: Asked,
) -> Answer:
    """Reason about an objective, act task by task until each gate passes, and learn from it."""
    from priming.cli.parse import text_of
    from priming.loop.run import run as run_
    from priming.loop.session_store import limits

    found = limits(max_attempts, max_tasks, depth, timeout, budget_minutes)
    agent = _agent(asked, found.timeout)
    text = text_of(objective, "objective")
    with place.file() as memory, _working(place, memory, agent, yes=yes) as work:
        return _told(memory, run_(work, text, Path.cwd(), found, fresh_context=fresh_context))


@verb(app)
def resume(
    place: Place,
    session: SessionId,
    yes: Annotated[
        bool, Option("--yes", help="Allow what it waits for, and act without asking from then on")
    ] = False,
    answer: Annotated[
        str | None,
        Option("--answer", metavar="TEXT", help="The answer to what it asked, or another approach"),
    ] = None,
    budget_minutes: Minutes = None,
    *,
    asked: Asked,
) -> Answer:
    """Go on with a session where it stopped, was killed, or ended without success."""
    from priming.loop.run import ResumeOptions
    from priming.loop.run import resume as resume_
    from priming.loop.session_store import Sessions

    with place.file() as memory:
        agent = _agent(asked, Sessions(memory).root(session).limits.timeout)
        with _working(place, memory, agent, yes=yes) as work:
            return _told(memory, resume_(work, session, ResumeOptions(yes, answer, budget_minutes)))


@verb(app)
def think(place: Place, objective: Objective, *, asked: Asked) -> Answer:
    """Gather the context and reason; nothing is done, learnt or kept."""
    from priming.cli import render_looping
    from priming.cli.parse import text_of
    from priming.config.params.loop import LOOP
    from priming.loop.run import think as think_

    agent = _agent(asked, LOOP.timeout)
    text = text_of(objective, "objective")
    with place.file() as memory, _working(place, memory, agent) as work:
        gathered, found = think_(work, text, Path.cwd())
    return Answer({"context": gathered, "reasoned": found}, render_looping.thought(gathered, found))


@verb(app)
def status(
    place: Place,
    session: Annotated[
        str | None, Argument(metavar="[SESSION]", help="A session; the latest if not given")
    ] = None,
) -> Answer:
    """Show where a session stands."""
    from priming.cli import render_looping
    from priming.loop.report import report as report_
    from priming.loop.session_store import Sessions

    with place.file() as memory:
        sessions = Sessions(memory)
        chosen = sessions.latest() if session is None else sessions.get(session)
        found = report_(sessions, chosen)
    return Answer(found, render_looping.stands(found))


@verb(app, "list")
def list_(place: Place, limit: Limit = 20) -> Answer:
    """List the sessions, the latest first."""
    from priming.cli import render_looping
    from priming.loop.report import summarise
    from priming.loop.session_store import Sessions

    with place.file() as memory:
        found = [summarise(one) for one in Sessions(memory).list(limit)]
    return Answer(found, render_looping.sessions(found))


@verb(app)
def report(
    place: Place,
    session: SessionId,
    form: Annotated[
        str, Option("--format", metavar="NAME", help=", ".join(FORMATS), autocompletion=one_of(FORMATS))
    ] = "text",
) -> Answer:
    """Tell what was tried, what was learnt, which memories helped, and how it goes."""
    from priming.cli import render_looping
    from priming.loop.report import markdown
    from priming.loop.report import report as report_
    from priming.loop.session_store import Sessions

    if form not in FORMATS:
        raise ParamError("format", form, f"must be one of {', '.join(FORMATS)}")
    with place.file() as memory:
        sessions = Sessions(memory)
        found = report_(sessions, sessions.get(session))
    if form == "json":
        place = replace(place, as_json=True)
        give(place, Answer(found, ()))
        raise typer.Exit
    return Answer(found, [line(markdown(found))] if form == "markdown" else render_looping.report(found))


def _agent(asked: Asked, timeout: float) -> Agent:
    """The agent that is named, with so much patience for one answer."""
    from priming.llm.agents import with_timeout

    found = asked.agent_of()
    if found is None:
        raise ParamError(
            "agent", None, "must be given: --agent 'claude -p', --model URL,NAME, or PRIMING_AGENT"
        )
    return with_timeout(found, timeout)


@contextmanager
def _working(place: Place, memory: Memory, agent: Agent, *, yes: bool = False) -> Iterator[LoopEnvironment]:
    """What a run works with: a person is asked where one sits there and reads the answer."""
    from priming.loop.environment import LoopEnvironment

    with interrupts() as handling:
        has_person = not place.as_json and sys.stdin.isatty()
        person = Terminal(handling) if has_person else None
        yield LoopEnvironment(memory, agent, person, yes, handling.stop, _silent if place.as_json else _tell)


def _silent(_session: Session) -> None:
    """A program reads the answer only."""


def _tell(session: Session) -> None:
    """Where it is at, for those who look."""
    from priming.cli import render_looping

    if sys.stderr.isatty():
        typer.echo(clean(render_looping.step(session)), err=True)


def _told(memory: Memory, session: Session) -> Answer:
    """The report of a run, with its exit status."""
    from priming.cli import render_looping
    from priming.loop.report import FAILED
    from priming.loop.report import report as report_
    from priming.loop.session_store import Sessions

    found = report_(Sessions(memory), session)
    status = FAILED if found.status is None else found.status
    return Answer(found, render_looping.report(found), status)
