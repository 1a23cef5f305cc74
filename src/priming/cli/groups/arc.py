"""The memory of the loop in the form of Arc, its seed: a plugin drives the loop by these commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from priming.cli.command import Answer, command, group
from priming.cli.errors import BAD_INPUT
from priming.cli.groups.tasks import ValuesFile
from priming.cli.options import Limit, StoreOptions
from priming.cli.output import DIM, Part, line
from priming.cli.parse import complete, json_texts, text_or_stdin
from priming.errors import ParamError

TYPES = ("failure", "pattern")
Name = Annotated[str, Argument(metavar="NAME", help="Key of a memory")]
SessionFilter = Annotated[
    str | None,
    Option("--session", metavar="SESSION", help="The session it is for, so that verdicts reach the recall"),
]

app = group("Loop")


@command(app)
def context(
    store: StoreOptions,
    objective: Annotated[
        str, Argument(metavar="OBJECTIVE", help="What is to be done; - reads it from stdin")
    ],
    session: SessionFilter = None,
) -> Answer:
    """Show what is known about an objective: memories, the codebase, its complexity."""
    from priming.loop import arc

    with store.open_file() as memory:
        value = arc.context(memory, text_or_stdin(objective, "objective"), Path.cwd(), session=session)
    memories = value["memory"]
    parts = [part for kind in ("patterns", "failures", "connected") for part in _memories(memories[kind])]
    codebase = {**value["codebase"], "complexity": value["complexity"]["level"]}
    return Answer(value, [*parts, *_pairs(codebase)])


@command(app)
def store(
    options: StoreOptions,
    trigger: Annotated[str, Option("--trigger", metavar="TEXT", help="What went wrong, or when it applies")],
    resolution: Annotated[str, Option("--resolution", metavar="TEXT", help="What to do instead")],
    type: Annotated[
        str, Option("--type", metavar="TYPE", help="failure or pattern", autocompletion=complete(TYPES))
    ] = "failure",
    source: Annotated[str | None, Option("--source", metavar="TEXT", help="Where it comes from")] = None,
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """Store a failure or a pattern; a similar stored memory is strengthened instead."""
    from priming.loop import arc

    with options.open_file() as memory:
        return _answer(arc.store(memory, type, trigger, resolution, source))


@command(app)
def recall(
    store: StoreOptions,
    query: Annotated[str, Argument(metavar="QUERY", help="The question; - reads it from stdin")],
    type: Annotated[
        str | None,
        Option("--type", metavar="TYPE", help="failure or pattern", autocompletion=complete(TYPES)),
    ] = None,
    limit: Limit = 5,
    session: SessionFilter = None,
) -> Answer:
    """Recall failures and patterns, by relevance, effectiveness and recency."""
    from priming.loop import arc

    if type is not None and type not in TYPES:
        raise ParamError("type", type, f"must be one of {', '.join(TYPES)}")
    with store.open_file() as memory:
        rows = arc.recall(memory, text_or_stdin(query, "query"), type, limit, session=session)
    return Answer(rows, list(_memories(rows)) or [line(("no memories about it", DIM))])


@command(app)
def feedback(
    store: StoreOptions,
    utilized: Annotated[
        str, Option("--utilized", metavar="JSON", help="Names of used memories, as a JSON array")
    ],
    injected: Annotated[
        str, Option("--injected", metavar="JSON", help="Names of shown memories, as a JSON array")
    ],
) -> Answer:
    """Report which of the shown memories were used: they helped, the others did not."""
    from priming.loop import arc

    used, shown = json_texts("utilized", utilized), json_texts("injected", injected)
    with store.open_file() as memory:
        return _answer(arc.feedback(memory, used, shown))


@command(app)
def relate(
    store: StoreOptions,
    source: Annotated[str, Option("--from", metavar="NAME", help="The memory at which the link starts")],
    target: Annotated[str, Option("--to", metavar="NAME", help="The memory at which it ends")],
    relation: Annotated[str, Option("--type", metavar="NAME", help="The relation, e.g. requires")],
    weight: Annotated[float, Option("--weight", metavar="X", help="Weight in [0, 1]")] = 1.0,
) -> Answer:
    """Link two memories."""
    from priming.loop import arc

    with store.open_file() as memory:
        return _answer(arc.relate(memory, source, target, relation, weight))


@command(app)
def connected(store: StoreOptions, name: Name) -> Answer:
    """Show the memories that strong links lead to from a memory."""
    from priming.loop import arc

    with store.open_file() as memory:
        rows = arc.connected(memory, name)
    return Answer(rows, list(_memories(rows)) or [line(("no strong links", DIM))])


@command(app)
def get(store: StoreOptions, name: Name) -> Answer:
    """Show a memory."""
    from priming.loop import arc

    with store.open_file() as memory:
        return _answer(arc.get(memory, name) or {"error": "not found"})


@command(app)
def prune(store: StoreOptions) -> Answer:
    """Archive failures and patterns that rarely helped."""
    from priming.loop import arc

    with store.open_file() as memory:
        return _answer(arc.prune(memory))


@command(app)
def decay(
    store: StoreOptions,
    days: Annotated[
        float | None, Option("--days", metavar="N", help="Minimum days without use; 30 by default")
    ] = None,
    min_uses: Annotated[
        int | None, Option("--min-uses", metavar="N", help="Fewer verdicts than this; 2 by default")
    ] = None,
) -> Answer:
    """List memories that have faded. Recall ranks them lower by itself, by half in seven days."""
    from priming.loop import arc
    from priming.types import SystemClock

    with store.open_file() as memory:
        return _answer(arc.decay(memory, SystemClock().now(), days, min_uses))


@command(app)
def chunk(
    store: StoreOptions,
    session: Annotated[
        str | None, Argument(metavar="[SESSION]", help="A session whose delivered tasks become patterns")
    ] = None,
    task: Annotated[str | None, Option("--task", metavar="TEXT", help="Instead: what was to be done")] = None,
    outcome: Annotated[
        str | None, Option("--outcome", metavar="TEXT", help="How it went; only 'success…' makes a pattern")
    ] = None,
    approach: Annotated[str | None, Option("--approach", metavar="TEXT", help="What worked")] = None,
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """Make patterns of what worked, or strengthen similar patterns."""
    from priming.loop import arc, learning
    from priming.loop.session_store import Sessions

    texts = (task, outcome, approach)
    is_complete = all(text is not None for text in texts)
    if (session is None) is not is_complete or (
        session is not None and any(text is not None for text in texts)
    ):
        rule = "must be given, or else all of --task, --outcome and --approach: one of the two"
        raise ParamError("session", session, rule)
    with store.open_file() as memory:
        if session is None:
            return _answer(arc.chunk(memory, task or "", outcome or "", approach or ""))
        current = Sessions(memory).get(session)
        patterns = learning.store_patterns(memory, current, project=current.project)
    return _answer({"stored": list(patterns.stored), "strengthened": list(patterns.strengthened)})


@command(app)
def consolidate(store: StoreOptions) -> Answer:
    """Merge failures, and patterns, that say the same."""
    from priming.loop import arc

    with store.open_file() as memory:
        return _answer(arc.consolidate(memory))


@command(app)
def health(store: StoreOptions) -> Answer:
    """Show the state of the loop's memory: its size, what helped, and problems."""
    from priming.loop import arc

    with store.open_file() as memory:
        return _answer(arc.health(memory))


def _answer(value: Mapping[str, Any]) -> Answer:
    """The value; an error or a rejection has the status of bad input."""
    is_refused = "error" in value or value.get("status") == "rejected"
    return Answer(value, list(_pairs(value)), BAD_INPUT if is_refused else 0)


def _memories(rows: list[dict[str, Any]]) -> Iterator[Part]:
    for row in rows:
        counts = f"{row['type']}, helped {row['helped']}, failed {row['failed']}"
        detail = f"  {row['_score']:.2f}" if "_score" in row else f"  {row['_via']}" if "_via" in row else ""
        yield line((row["name"], "bold"), f"{detail}  {counts}")
        yield line(row["trigger"], indent=2)
        yield line(row["resolution"], indent=2)


def _pairs(value: Mapping[str, Any]) -> Iterator[Part]:
    for name, item in value.items():
        if isinstance(item, Mapping):
            item = "; ".join(f"{kind} {_flat(counts)}" for kind, counts in item.items())
        yield line((f"{name.replace('_', ' ')}: ", DIM), _flat(item))


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)
