"""The command that sleeps: at once, item by item, or again and again."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.completing import one_of
from priming.cli.failures import tell
from priming.cli.options import Asked, Place
from priming.cli.screen import Progress, draw, line, progress
from priming.cli.verb import Answer, give, verb
from priming.errors import Busy, ParamError
from priming.words import STAGES

if TYPE_CHECKING:
    from priming.llm.protocol import Agent
    from priming.memory import Memory
    from priming.sleeping import Proposal

_LOOK = timedelta(seconds=30)
"""How often new memories are counted while nothing is done."""

_ANSWERS = ("y", "yes", "n", "no", "q", "quit")

app = typer.Typer()


@verb(app)
def sleep(
    place: Place,
    stages: Annotated[
        list[str] | None,
        Argument(
            metavar="[STAGE]...", help=f"Only these: {', '.join(STAGES)}", autocompletion=one_of(STAGES)
        ),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be done")] = False,
    interactive: Annotated[bool, Option("--interactive", help="Ask of each item whether to do it")] = False,
    every: Annotated[
        str | None,
        Option("--every", metavar="TIME", help="Keep at it, so often: 90s, 30m, 8h, 1d; Ctrl-C ends it"),
    ] = None,
    window: Annotated[
        int | None,
        Option("--window", metavar="N", help="Latest episodes that deep looks at; 500 if not given"),
    ] = None,
    *,
    asked: Asked,
) -> Answer:
    """Let links fade, mark duplicates, gather what belongs together, archive what is no good."""
    from priming.cli import render, render_sleeping

    _refuse_what_contradicts(place, dry_run=dry_run, interactive=interactive, every=every)
    chosen = _chosen(stages)
    span = None if every is None else parse.duration("--every", every)
    agent = asked.agent_of()
    with place.memory() as memory:
        if span is not None:
            _keep_at_it(place, memory, chosen, span, window, agent)
        with _bars(chosen) as step:
            only_said = dry_run or interactive
            found = memory.sleep(chosen, dry_run=only_said, window=window, progress=step, agent=agent)
        if not interactive:
            return Answer(found, render_sleeping.proposal(found, dry_run=dry_run))
        wanted = _wanted(found)
        if not wanted:
            said = "nothing was changed" if found.items else "nothing to do"
            return Answer(found, [line((said, "yellow"))])
        done = memory.apply(found, only=wanted)
    return Answer(done, [*render.operation(done), line((f"to take it back: priming undo {done.id}", "dim"))])


def _refuse_what_contradicts(place: Place, *, dry_run: bool, interactive: bool, every: str | None) -> None:
    if interactive and place.as_json:
        raise ParamError("--interactive", True, "cannot stand with --json: a program takes --dry-run")
    if interactive and dry_run:
        raise ParamError("--interactive", True, "cannot stand with --dry-run: answer n to leave an item")
    if every is not None and (interactive or dry_run):
        raise ParamError("--every", every, "cannot stand with --interactive or --dry-run: leave one out")


def _chosen(stages: Sequence[str] | None) -> list[str]:
    """The stages asked for, in their order; what is none of them is left in, for the library to refuse."""
    if not stages:
        return list(STAGES)
    known = [one for one in STAGES if one in stages]
    return known + [one for one in stages if one not in STAGES]


@contextmanager
def _bars(stages: Sequence[str]) -> Iterator[Progress]:
    """A bar for each stage, one after the other: a stage begins where nothing of it is done yet."""
    with ExitStack() as shown:
        waiting, bars = iter(stages), list[Progress]()

        def step(done: int, total: int | None) -> None:
            if total is None:
                shown.close()
                bars[:] = [shown.enter_context(progress(next(waiting)))]
            bars[0](done, total)

        yield step


def _wanted(found: Proposal) -> list[str]:
    """Ask of each item: yes, no, or quit, which leaves the rest."""
    from priming.cli import render_sleeping

    wanted = []
    for one in found.items:
        draw(render_sleeping.item(one))
        answer = _asked()
        if answer == "q":
            break
        if answer == "y":
            wanted.append(one.id)
    return wanted


def _asked() -> str:
    """y, n or q; the end of the input is q, and anything else is asked again."""
    while True:
        typer.echo("Do it? [y/n/q] ", nl=False, err=True)
        said = sys.stdin.readline()
        answer = said.strip().casefold() if said else "q"
        if answer in _ANSWERS:
            return answer[0]


def _keep_at_it(
    place: Place,
    memory: Memory,
    stages: Sequence[str],
    every: timedelta,
    window: int | None,
    agent: Agent | None,
) -> None:
    """Sleep, wait until it is time again, and so on until an interrupt."""
    from priming.cli import render_sleeping

    while True:
        try:
            found = memory.sleep(stages, window=window, agent=agent)
            give(place, Answer(found, render_sleeping.proposal(found, dry_run=False)))
        except Busy as error:
            tell(error.code, str(error), as_json=place.as_json)
        _wait(memory, every)


def _wait(memory: Memory, every: timedelta) -> None:
    """Until a night is due: after so long, or sooner after enough new memories."""
    from priming.sleeping import is_due
    from priming.types import SystemClock

    clock = SystemClock()
    last, before = clock.now(), _count(memory)
    while not is_due(clock.now(), last, every, _count(memory) - before):
        time.sleep(min(every, _LOOK).total_seconds())


def _count(memory: Memory) -> int:
    """How many memories there are that somebody told; names do not count."""
    counted = memory.stats().memories
    return sum(sum(by_status.values()) for kind, by_status in counted.items() if kind != "entity")
