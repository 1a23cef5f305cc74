"""The memory of the loop in the form of Arc, its seed: a plugin drives the loop by these commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming.cli import records
from priming.cli.command import BAD_INPUT, Answer, command, group
from priming.cli.options import Limit, StoreOptions
from priming.cli.output import DIM, KEY, Part, line
from priming.cli.parse import complete, json_texts, session_or_stdin, text_or_stdin
from priming.errors import NotFound, ParamError
from priming.results import Listing
from priming.serialization import encode
from priming_loop.commands.tasks import ValuesFile, opened

if TYPE_CHECKING:
    from priming.memory import Memory
    from priming_loop.steps.results import (
        ConnectedMemory,
        DormantLessons,
        LoopHealth,
        LoopMemory,
        RecalledLesson,
    )

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
    with opened(store) as memory:
        text = text_or_stdin(objective, "objective")
        value = memory.loop_context(text, session=session, folder=str(Path.cwd()))
    shown = value.memory
    use = dict.fromkeys(shown.fired, "applies here")
    lessons = (*shown.patterns, *shown.failures)
    parts = [*_lines({**encode(each), "_use": use.get(each.name, "similar")} for each in lessons)]
    parts += _memories(shown.connected)
    parts += records.reason(value.reason)
    codebase = {**encode(value.codebase), "complexity": value.complexity.level}
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
    with opened(options) as memory:
        try:
            reply = memory.loop_store(trigger, resolution, type=type, source=source)
        except ParamError as error:
            return _rejected(name="", reason=str(error))
    return _answer(encode(reply))


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
    with opened(store) as memory:
        lessons = memory.loop_recall(text_or_stdin(query, "query"), type=type, limit=limit, session=session)
    rows = Listing(
        (
            _row(lesson, _relevance=lesson.relevance, _recency=lesson.recency, _score=lesson.score)
            for lesson in lessons
        ),
        lessons.reason if isinstance(lessons, Listing) else None,
    )
    return Answer(rows, list(_lines(rows)) or [line(("no memories about it", DIM))])


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
    used, shown = json_texts("utilized", utilized), json_texts("injected", injected)
    with opened(store) as memory:
        return _answer(encode(memory.loop_feedback(used, shown)))


@command(app)
def relate(
    store: StoreOptions,
    source: Annotated[str, Option("--from", metavar="NAME", help="The memory at which the link starts")],
    target: Annotated[str, Option("--to", metavar="NAME", help="The memory at which it ends")],
    relation: Annotated[str, Option("--type", metavar="NAME", help="The relation, e.g. requires")],
    weight: Annotated[float, Option("--weight", metavar="X", help="Weight in [0, 1]")] = 1.0,
) -> Answer:
    """Link two memories."""
    with opened(store) as memory:
        for name in (source, target):
            if _read(memory, name) is None:
                return _rejected(reason=f"memory not found: {name}")
        if source == target:
            return _rejected(reason="a memory cannot be linked to itself")
        links = memory.links(source, relation=relation)
        if any((link.source, link.target) == (source, target) for link in links):
            return _answer({"status": "exists", "reason": "they already have this link"})
        link = memory.link(source, target, relation, weight)
    return _answer({"status": "added", "reason": link.message or ""})


@command(app)
def connected(store: StoreOptions, name: Name) -> Answer:
    """Show the memories that strong links lead to from a memory."""
    with opened(store) as memory:
        nodes = memory.loop_connected(name)
    reason = nodes.reason if isinstance(nodes, Listing) else None
    rows = Listing((_row(node, _hop=node.hop, _via=node.via) for node in nodes), reason)
    return Answer(rows, list(_lines(rows)) or [line(("no strong links", DIM))])


@command(app)
def get(store: StoreOptions, name: Name) -> Answer:
    """Show a memory."""
    with opened(store) as memory:
        record = _read(memory, name)
    return _answer({"error": "not found"} if record is None else encode(record))


@command(app)
def prune(store: StoreOptions) -> Answer:
    """Archive failures and patterns that rarely helped."""
    with opened(store) as memory:
        return _answer(encode(memory.loop_prune()))


@command(app)
def decay(
    store: StoreOptions,
    days: Annotated[
        float | None, Option("--days", metavar="N", help="Minimum days without use; 30 by default")
    ] = None,
    min_uses: Annotated[
        int | None, Option("--min-uses", metavar="N", help="Fewer verdicts than this; 2 by default")
    ] = None,
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """List memories that have faded. Recall ranks them lower by itself, by half in seven days."""
    with opened(store) as memory:
        return _answer(_with_reason(memory.loop_decay(days=days, min_uses=min_uses)))


@command(app)
def chunk(
    store: StoreOptions,
    session: Annotated[
        str | None,
        Argument(
            metavar="[SESSION]",
            help="A session whose delivered tasks become patterns; - reads it from stdin",
            callback=session_or_stdin,
        ),
    ] = None,
    task: Annotated[str | None, Option("--task", metavar="TEXT", help="Instead: what was to be done")] = None,
    outcome: Annotated[
        str | None, Option("--outcome", metavar="TEXT", help="How it went; only 'success…' makes a pattern")
    ] = None,
    approach: Annotated[str | None, Option("--approach", metavar="TEXT", help="What worked")] = None,
    values: ValuesFile = None,  # noqa: ARG001, expanded by the group
) -> Answer:
    """Make patterns of what worked, or strengthen similar patterns."""
    with opened(store) as memory:
        try:
            reply = memory.loop_chunk(session, task=task, outcome=outcome, approach=approach)
        except ParamError as error:
            if session is not None or None in (task, outcome, approach):
                raise
            return _rejected(name="", reason=str(error))
    if session is not None:
        value = {"stored": reply.stored, "strengthened": reply.strengthened}
        return _answer(
            {**value, **({"status": reply.status, "reason": reply.reason} if reply.reason else {})}
        )
    (name,) = (*reply.stored, *reply.strengthened) or ("",)
    return _answer({"status": reply.status, "name": name, "reason": reply.reason})


@command(app)
def consolidate(store: StoreOptions) -> Answer:
    """Merge failures, and patterns, that say the same."""
    with opened(store) as memory:
        return _answer(encode(memory.loop_consolidate()))


@command(app)
def health(store: StoreOptions) -> Answer:
    """Show the state of the loop's memory: its size, what helped, and problems."""
    with opened(store) as memory:
        return _answer(_with_reason(memory.loop_health()))


def _with_reason(value: DormantLessons | LoopHealth) -> dict[str, Any]:
    """A value in the shape of Arc, with the reason if there is one."""
    return {name: part for name, part in encode(value).items() if name != "reason" or part}


def _answer(value: Mapping[str, Any]) -> Answer:
    """The value; an error or a rejection has the status of bad input."""
    is_refused = "error" in value or value.get("status") == "rejected"
    return Answer(value, list(_pairs(value)), BAD_INPUT if is_refused else 0)


def _rejected(**values: str) -> Answer:
    """A rejected request and the reason, in Arc's form."""
    return _answer({"status": "rejected", **values})


def _read(memory: Memory, name: str) -> LoopMemory | None:
    """The memory with this name, or None."""
    from priming_loop.steps.lessons import memory_shape

    try:
        return memory_shape(memory.get(name))
    except NotFound:
        return None


def _row(item: RecalledLesson | ConnectedMemory, **details: Any) -> dict[str, Any]:
    """A memory in Arc's form, with the scores of a query."""
    return {**encode(item.memory), **details}


def _memories(memories: Iterable[LoopMemory]) -> Iterator[Part]:
    return _lines(encode(memory) for memory in memories)


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[Part]:
    for row in rows:
        use = f"{row['_use']}, " if "_use" in row else ""
        counts = f"{use}{row['type']}, helped {row['helped']}, failed {row['failed']}"
        detail = f"  {row['_score']:.2f}" if "_score" in row else f"  {row['_via']}" if "_via" in row else ""
        yield line((row["name"], KEY), f"{detail}  {counts}")
        yield line(row["trigger"], indent=2)
        yield line(row["resolution"], indent=2)


def _pairs(value: Mapping[str, Any]) -> Iterator[Part]:
    for name, item in value.items():
        if name == "reason" and not item:
            continue
        if isinstance(item, Mapping):
            item = "; ".join(f"{kind} {_flat(counts)}" for kind, counts in item.items())
        yield line((f"{name.replace('_', ' ')}: ", DIM), _flat(item))


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)
