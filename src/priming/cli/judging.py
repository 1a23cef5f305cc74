"""Commands that say what came of what was recalled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from priming.cli.completing import one_of
from priming.cli.options import Place
from priming.cli.verb import Answer, verb
from priming.errors import NotFound, ParamError

if TYPE_CHECKING:
    from priming.verdicts import Run

Keys = Annotated[list[str], Argument(metavar="KEY...", help="Keys or ids of memories")]
RunId = Annotated[
    str | None, Argument(metavar="RUN", help="The id of a run; the latest that is open if not given")
]

app = typer.Typer()
run = typer.Typer()


@dataclass(frozen=True, slots=True)
class Given:
    """Which recall is judged, how much the verdict weighs, and why."""

    recall: Annotated[
        str | None,
        Option("--recall", metavar="ID", help="The recall judged; without, the latest that brought each up"),
    ] = None
    session: Annotated[
        str | None, Option("--session", metavar="NAME", help="Without --recall: only recalls of this session")
    ] = None
    tier: Annotated[
        str,
        Option(
            "--tier",
            metavar="NAME",
            help="conscious, or automatic: a thousandth of it",
            autocompletion=one_of(("conscious", "automatic")),
        ),
    ] = "conscious"
    reason: Annotated[str | None, Option("--reason", metavar="TEXT", help="Why, for the log")] = None


def _judge(place: Place, given: Given, **verdicts: Any) -> Answer:
    from priming.cli import render

    how: dict[str, Any] = {"tier": given.tier, "session": given.session, "reason": given.reason}
    with place.memory() as memory:
        try:
            done = memory.feedback(given.recall, **verdicts, **how)
        except NotFound as error:
            raise _elsewhere(place, error, [key for keys in verdicts.values() for key in keys]) from None
    return Answer(done, render.operation(done))


def _elsewhere(place: Place, error: NotFound, keys: list[str]) -> NotFound:
    """The error, saying so where the memories are in the store of all projects."""
    other = place.beside()
    if other is None:
        return error
    with other:
        try:
            for key in keys:
                other.get(key)
        except NotFound:
            return error
    return NotFound(f"{error}; it is in the store of all projects: add --global")


@verb(app)
def used(place: Place, keys: Keys, given: Given) -> Answer:
    """Say that memories helped. The links that led to them and their weight rise."""
    return _judge(place, given, used=keys)


@verb(app, "not-relevant")
def not_relevant(place: Place, keys: Keys, given: Given) -> Answer:
    """Say that memories were not what was asked for. The links that led to them sink."""
    return _judge(place, given, not_relevant=keys)


@verb(app, "not-useful")
def not_useful(place: Place, keys: Keys, given: Given) -> Answer:
    """Say that memories were found rightly but are no good. Their weight sinks."""
    return _judge(place, given, not_useful=keys)


@verb(app)
def confirmed(place: Place, keys: Keys, given: Given) -> Answer:
    """Say that rules held. An automatic confirmation counts once a session."""
    return _judge(place, given, confirmed=keys)


@verb(app)
def overridden(place: Place, keys: Keys, given: Given) -> Answer:
    """Say that rules did not hold, and something else was done."""
    return _judge(place, given, overridden=keys)


@verb(app)
def wrong(
    place: Place,
    key: Annotated[str, Argument(metavar="KEY", help="A memory's key or id")],
    about: Annotated[
        str | None, Argument(metavar="CONTEXT", help="What is wrong with it, for the log")
    ] = None,
) -> Answer:
    """Say that a memory is wrong: the same as not-useful, with a reason."""
    return _judge(place, Given(reason=about), not_useful=[key])


@verb(app)
def feedback(
    place: Place,
    used: Annotated[list[str] | None, Option("--used", metavar="KEY", help="It helped (repeatable)")] = None,
    not_relevant: Annotated[
        list[str] | None, Option("--not-relevant", metavar="KEY", help="It was not asked for (repeatable)")
    ] = None,
    not_useful: Annotated[
        list[str] | None, Option("--not-useful", metavar="KEY", help="It is no good (repeatable)")
    ] = None,
    confirmed: Annotated[
        list[str] | None, Option("--confirmed", metavar="KEY", help="The rule held (repeatable)")
    ] = None,
    overridden: Annotated[
        list[str] | None, Option("--overridden", metavar="KEY", help="The rule did not hold (repeatable)")
    ] = None,
    *,
    given: Given,
) -> Answer:
    """Give several verdicts at once, as one operation."""
    return _judge(
        place,
        given,
        used=used or [],
        not_relevant=not_relevant or [],
        not_useful=not_useful or [],
        confirmed=confirmed or [],
        overridden=overridden or [],
    )


def _latest(found: list[Run], *, ended: bool | None) -> str:
    """The id of the latest run that is not settled, and has ended or not."""
    waiting = [one for one in found if one.settled is None and ended in (None, one.ended_at is not None)]
    if not waiting:
        state = "waits to be settled" if ended is None else "is under way"
        raise NotFound(f"there is no run that {state}: begin one with 'priming run start'")
    return waiting[-1].id


@verb(run)
def start(
    place: Place,
    session: Annotated[
        str | None, Option("--session", metavar="NAME", help="The session whose recalls belong to it")
    ] = None,
) -> Answer:
    """Begin a piece of work. Recalls with its session belong to it."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.run_start(session)
    return Answer(done, render.run(done))


@verb(run)
def end(
    place: Place,
    run_id: RunId = None,
    used: Annotated[bool, Option("--used", help="Its output was used")] = False,
    unused: Annotated[bool, Option("--unused", help="It came to nothing")] = False,
) -> Answer:
    """End a run. Without --used or --unused it waits for what becomes of its output."""
    from priming.cli import render

    if used and unused:
        raise ParamError("--unused", True, "must not stand beside --used: it is one or the other")
    with place.memory() as memory:
        chosen = run_id or _latest(memory.run_list(), ended=False)
        done = memory.run_end(chosen, used=True if used else False if unused else None)
    return Answer(done, render.run(done))


@verb(run, "used")
def run_used(place: Place, run_id: RunId = None) -> Answer:
    """Say that the output of a run was used. The links among what it was shown rise a little."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.run_used(run_id or _latest(memory.run_list(), ended=None))
    return Answer(done, render.run(done))


@verb(run, "list")
def run_list(place: Place) -> Answer:
    """List the runs, oldest first."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.run_list()
    return Answer(found, render.runs(found))
