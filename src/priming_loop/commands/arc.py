"""The memory of the loop in the form of Arc, its seed: a plugin drives the loop by these commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming.cli import records
from priming.cli.command import Answer, command, group
from priming.cli.options import StoreOptions
from priming.cli.output import DIM, KEY, Part, line
from priming.cli.parse import complete, session_or_stdin, text_or_stdin
from priming.cli.plain import plain
from priming.errors import NotFound, ParamError
from priming.results import Listing
from priming.serialization import encode
from priming_loop.commands.tasks import ValuesFile, answer, from_file, here, opened, pairs, whole

if TYPE_CHECKING:
    from priming.memory import Memory
    from priming_loop.steps.results import LoopContext, LoopMemory

TYPES = ("failure", "pattern")
SessionFilter = Annotated[
    str | None,
    Option("--session", metavar="SESSION", help="The session it is for, so that verdicts reach the recall"),
]

Type = Option("--type", metavar="TYPE", help="failure or pattern", autocompletion=complete(TYPES))

app = group("Loop")


def typed(name: str, meaning: str) -> Any:
    """A text that is typed without a name, or read from stdin."""
    shown = f"{meaning}; - reads it from stdin"
    return Annotated[
        str, Argument(metavar=name.upper(), help=shown, callback=lambda text: text_or_stdin(text, name))
    ]


@command(app)
def store(
    options: StoreOptions,
    trigger: Annotated[str, Option("--trigger", metavar="TEXT", help="What went wrong, or when it applies")],
    resolution: Annotated[str, Option("--resolution", metavar="TEXT", help="What to do instead")],
    type: Annotated[str, Type] = "failure",
    source: Annotated[str | None, Option("--source", metavar="TEXT", help="Where it comes from")] = None,
    values: ValuesFile = None,  # noqa: ARG001, read by its callback
) -> Answer:
    """Store a failure or a pattern; a similar stored memory is strengthened instead."""
    with opened(options) as memory:
        try:
            reply = memory.loop_store(trigger, resolution, type=type, source=source)
        except ParamError as error:
            return _rejected(name="", reason=str(error))
    return answer(reply)


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
            return answer({"status": "exists", "reason": "they already have this link"})
        link = memory.link(source, target, relation, weight)
    return answer({"status": "added", "reason": link.message or ""})


@command(app)
def get(
    store: StoreOptions, name: Annotated[str, Argument(metavar="NAME", help="Key of a memory")]
) -> Answer:
    """Show a memory."""
    with opened(store) as memory:
        record = _read(memory, name)
    return answer(record or {"error": "not found"})


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
    values: ValuesFile = None,  # noqa: ARG001, read by its callback
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
        return answer({**value, **({"status": reply.status, "reason": reply.reason} if reply.reason else {})})
    (name,) = (*reply.stored, *reply.strengthened) or ("",)
    return answer({"status": reply.status, "name": name, "reason": reply.reason})


def _rejected(**values: str) -> Answer:
    """A rejected request and the reason, in Arc's form."""
    return answer({"status": "rejected", **values})


def _read(memory: Memory, name: str) -> LoopMemory | None:
    """The memory with this name, or None."""
    from priming_loop.steps.lessons import memory_shape

    try:
        return memory_shape(memory.get(name))
    except NotFound:
        return None


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[Part]:
    for row in rows:
        use = f"{row['_use']}, " if "_use" in row else ""
        counts = f"{use}{row['type']}, helped {row['helped']}, failed {row['failed']}"
        detail = f"  {row['_score']:.2f}" if "_score" in row else f"  {row['_via']}" if "_via" in row else ""
        yield line((row["name"], KEY), f"{detail}  {counts}")
        yield line(row["trigger"], indent=2)
        yield line(row["resolution"], indent=2)


def _context(value: LoopContext) -> Answer:
    """What is known about an objective."""
    shown = value.memory
    use = dict.fromkeys(shown.fired, "applies here")
    lessons = (*shown.patterns, *shown.failures)
    parts = [*_lines({**encode(each), "_use": use.get(each.name, "similar")} for each in lessons)]
    parts += _lines(map(encode, shown.connected))
    parts += records.reason(value.reason)
    codebase = {**encode(value.codebase), "complexity": value.complexity.level}
    return Answer(value, [*parts, *pairs(codebase)])


def _rows(items: Sequence[Any], empty: str) -> Answer:
    """Memories in the form of Arc, with the figures of each."""
    rows = Listing(
        (
            {**item.pop("memory"), **{f"_{name}": figure for name, figure in item.items()}}
            for item in map(encode, items)
        ),
        items.reason if isinstance(items, Listing) else None,
    )
    return Answer(rows, list(_lines(rows)) or [line((empty, DIM))])


plain(
    app,
    "loop_context",
    _context,
    send=here,
    name="context",
    help="Show what is known about an objective: memories, the codebase, its complexity.",
    objective=typed("objective", "What is to be done"),
    session=SessionFilter,
    cue=False,
    folder=False,
)
plain(
    app,
    "loop_recall",
    lambda lessons: _rows(lessons, "no memories about it"),
    name="recall",
    query=typed("query", "The question"),
    type=Annotated[str | None, Type],
    session=SessionFilter,
)
plain(app, "loop_feedback", whole, name="feedback", by_name=True)
plain(app, "loop_connected", lambda nodes: _rows(nodes, "no strong links"), name="connected")
plain(app, "loop_prune", whole, name="prune")
plain(app, "loop_decay", whole, send=from_file, name="decay", values=ValuesFile)
plain(app, "loop_consolidate", whole, name="consolidate")
plain(app, "loop_health", whole, name="health")
