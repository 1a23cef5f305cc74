"""The memory of the loop from the command line, in the form of its seed: a plugin drives the loop by these."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from priming.cli.completing import one_of
from priming.cli.failures import BAD_INPUT
from priming.cli.options import Place
from priming.cli.screen import Part, line
from priming.cli.verb import Answer, verb
from priming.errors import ParamError

app = typer.Typer()

TYPES = ("failure", "pattern")
Name = Annotated[str, Argument(metavar="NAME", help="A memory's key")]
Type = Annotated[
    str, Option("--type", metavar="TYPE", help="failure or pattern", autocompletion=one_of(TYPES))
]
Session = Annotated[
    str | None,
    Option("--session", metavar="SESSION", help="The session that it is for: verdicts find it then"),
]


@verb(app)
def context(
    place: Place,
    objective: Annotated[
        str, Argument(metavar="OBJECTIVE", help="What is to be done; - reads it from stdin")
    ],
    session: Session = None,
) -> Answer:
    """Show what is known about an objective: memories, the codebase, how complex it looks."""
    from priming.cli.parse import text_of
    from priming.loop import arc

    with place.file() as memory:
        found = arc.context(memory, text_of(objective, "objective"), Path.cwd(), session=session)
    told = found["memory"]
    parts = [one for kind in ("patterns", "failures", "connected") for one in _memories(told[kind])]
    return Answer(found, [*parts, *_pairs({**found["codebase"], "complexity": found["complexity"]["level"]})])


@verb(app)
def store(
    place: Place,
    trigger: Annotated[str, Option("--trigger", metavar="TEXT", help="What went wrong, or when it applies")],
    resolution: Annotated[str, Option("--resolution", metavar="TEXT", help="What to do instead")],
    type: Type = "failure",
    source: Annotated[str | None, Option("--source", metavar="TEXT", help="Where it comes from")] = None,
) -> Answer:
    """Keep a failure or a pattern; one as good as there already is strengthened."""
    from priming.loop import arc

    with place.file() as memory:
        return _answer(arc.store(memory, type, trigger, resolution, source))


@verb(app)
def recall(
    place: Place,
    query: Annotated[str, Argument(metavar="QUERY", help="What it is about; - reads it from stdin")],
    type: Annotated[
        str | None, Option("--type", metavar="TYPE", help="failure or pattern", autocompletion=one_of(TYPES))
    ] = None,
    limit: Annotated[int, Option("--limit", metavar="N", help="At most so many")] = 5,
    session: Session = None,
) -> Answer:
    """Bring up failures and patterns, by relevance, effectiveness and recency."""
    from priming.cli.parse import text_of
    from priming.loop import arc

    if type is not None and type not in TYPES:
        raise ParamError("type", type, f"must be one of {', '.join(TYPES)}")
    with place.file() as memory:
        found = arc.recall(memory, text_of(query, "query"), type, limit, session=session)
    return Answer(found, list(_memories(found)) or [line(("nothing is known about it", "dim"))])


@verb(app)
def feedback(
    place: Place,
    utilized: Annotated[
        str, Option("--utilized", metavar="JSON", help="Names that were used, as a JSON array")
    ],
    injected: Annotated[
        str, Option("--injected", metavar="JSON", help="Names that were shown, as a JSON array")
    ],
) -> Answer:
    """Say which of the memories that were shown were used: they helped, the others did not."""
    from priming.loop import arc

    used, shown = _names("utilized", utilized), _names("injected", injected)
    with place.file() as memory:
        return _answer(arc.feedback(memory, used, shown))


@verb(app)
def relate(
    place: Place,
    source: Annotated[str, Option("--from", metavar="NAME", help="The memory that the link leaves")],
    target: Annotated[str, Option("--to", metavar="NAME", help="The memory that it reaches")],
    relation: Annotated[str, Option("--type", metavar="NAME", help="What it means, e.g. requires")],
    weight: Annotated[float, Option("--weight", metavar="X", help="In [0, 1]")] = 1.0,
) -> Answer:
    """Link two memories."""
    from priming.loop import arc

    with place.file() as memory:
        return _answer(arc.relate(memory, source, target, relation, weight))


@verb(app)
def connected(place: Place, name: Name) -> Answer:
    """Show what strong links lead to from a memory."""
    from priming.loop import arc

    with place.file() as memory:
        found = arc.connected(memory, name)
    return Answer(found, list(_memories(found)) or [line(("nothing is linked to it so strongly", "dim"))])


@verb(app)
def get(place: Place, name: Name) -> Answer:
    """Show one memory."""
    from priming.loop import arc

    with place.file() as memory:
        return _answer(arc.get(memory, name) or {"error": "not found"})


@verb(app)
def prune(place: Place) -> Answer:
    """Archive failures and patterns that rarely helped."""
    from priming.loop import arc

    with place.file() as memory:
        return _answer(arc.prune(memory))


@verb(app)
def decay(
    place: Place,
    days: Annotated[
        float | None, Option("--days", metavar="N", help="Not used for longer; 30 if not given")
    ] = None,
    min_uses: Annotated[
        int | None, Option("--min-uses", metavar="N", help="With fewer verdicts; 2 if not given")
    ] = None,
) -> Answer:
    """Show what has faded: recall takes it down by itself, by half in seven days."""
    from priming.loop import arc
    from priming.types import SystemClock

    with place.file() as memory:
        return _answer(arc.decay(memory, SystemClock().now(), days, min_uses))


@verb(app)
def chunk(
    place: Place,
    session: Annotated[
        str | None, Argument(metavar="[SESSION]", help="A session: what it delivered becomes patterns")
    ] = None,
    task: Annotated[str | None, Option("--task", metavar="TEXT", help="Instead: what was to be done")] = None,
    outcome: Annotated[
        str | None, Option("--outcome", metavar="TEXT", help="How it went; only 'success…' makes a pattern")
    ] = None,
    approach: Annotated[str | None, Option("--approach", metavar="TEXT", help="What worked")] = None,
) -> Answer:
    """Make patterns of what worked, or strengthen those that say so already."""
    from priming.loop import arc, learning
    from priming.loop.session_store import Sessions

    said = [one for one in (task, outcome, approach) if one is not None]
    if (session is None) is not bool(said) or (
        said and (task is None or outcome is None or approach is None)
    ):
        raise ParamError(
            "session",
            session,
            "must be given, or else all of --task, --outcome and --approach: one of the two",
        )
    with place.file() as memory:
        if task is not None and outcome is not None and approach is not None:
            return _answer(arc.chunk(memory, task, outcome, approach))
        assert session is not None, "checked above"
        found = Sessions(memory).get(session)
        made = learning.store_patterns(memory, found, project=found.project)
    return _answer({"stored": list(made.stored), "strengthened": list(made.strengthened)})


@verb(app)
def consolidate(place: Place) -> Answer:
    """Merge failures, and patterns, that say the same."""
    from priming.loop import arc

    with place.file() as memory:
        return _answer(arc.consolidate(memory))


@verb(app)
def health(place: Place) -> Answer:
    """Show how the memory of the loop is: how much there is, what helped, what is amiss."""
    from priming.loop import arc

    with place.file() as memory:
        return _answer(arc.health(memory))


def _answer(value: Mapping[str, Any]) -> Answer:
    """An answer as it is; one that says no has the status of bad input."""
    bad = "error" in value or value.get("status") == "rejected"
    return Answer(value, list(_pairs(value)), BAD_INPUT if bad else 0)


def _names(name: str, value: str) -> list[str]:
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ParamError(name, value, 'must be a JSON array of names, such as ["a", "b"]')
    return found


def _memories(found: list[dict[str, Any]]) -> Iterator[Part]:
    for one in found:
        counts = f"{one['type']}, helped {one['helped']}, failed {one['failed']}"
        scored = f"  {one['_score']:.2f}" if "_score" in one else f"  {one['_via']}" if "_via" in one else ""
        yield line((one["name"], "bold"), f"{scored}  {counts}")
        yield line(one["trigger"], indent=2)
        yield line(one["resolution"], indent=2)


def _pairs(value: Mapping[str, Any]) -> Iterator[Part]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            one = "; ".join(f"{kind} {_flat(counts)}" for kind, counts in one.items())
        yield line((f"{name.replace('_', ' ')}: ", "dim"), _flat(one))


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)
