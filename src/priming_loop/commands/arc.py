"""The memory of the loop in the form of Arc, its seed: a plugin drives the loop by these commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming.cli import records
from priming.cli.command import Answer, command, group
from priming.cli.options import StoreOptions
from priming.cli.output import DIM, KEY, Part, line
from priming.cli.parse import complete, session_or_stdin
from priming.cli.plain import plain
from priming.errors import NotFound, ParamError
from priming.results import Listing
from priming.serialization import encode
from priming_loop.commands.tasks import ValuesFile, answer, from_file, here, pairs, whole

if TYPE_CHECKING:
    from priming_loop.steps.results import LoopContext

TYPES = ("failure", "pattern")
OBJECTIVE = "What is to be done; - reads it from stdin"
_SESSION = "The session it is for, so that verdicts reach the recall"
_TYPE = Annotated[
    str | None, Option("--type", metavar="TYPE", help="failure or pattern", autocompletion=complete(TYPES))
]

app = group("Loop")


def _stored(verb: str, options: StoreOptions, sent: Mapping[str, Any]) -> Any:
    """Return the answer of a verb that stores a lesson; to what it does not take, that of Arc."""
    with options.open() as memory:
        try:
            return getattr(memory, verb)(**sent)
        except ParamError as error:
            return {"status": "rejected", "name": "", "reason": str(error)}


def _chunked(reply: Any) -> Answer:
    """Return the patterns that were made or strengthened, and the name of a single one."""
    value = encode(reply)
    names = [*value.get("stored", ()), *value.get("strengthened", ())]
    return answer({"name": "".join(names if len(names) == 1 else ()), **value})


@command(app)
def relate(
    store: StoreOptions,
    source: Annotated[str, Option("--from", metavar="NAME", help="The memory at which the link starts")],
    target: Annotated[str, Option("--to", metavar="NAME", help="The memory at which it ends")],
    relation: Annotated[str, Option("--type", metavar="NAME", help="The relation, e.g. requires")],
    weight: Annotated[float, Option("--weight", metavar="X", help="Weight in [0, 1]")] = 1.0,
) -> Answer:
    """Link two memories."""
    with store.open() as memory:
        try:
            links = memory.links(source, relation=relation)
            if any((link.source, link.target) == (source, target) for link in links):
                return answer({"status": "exists", "reason": "they already have this link"})
            link = memory.link(source, target, relation, weight)
        except (NotFound, ParamError) as error:
            return answer({"status": "rejected", "reason": str(error)})
    return answer({"status": "added", "reason": link.message or ""})


@command(app)
def get(
    store: StoreOptions, name: Annotated[str, Argument(metavar="NAME", help="Key of a memory")]
) -> Answer:
    """Show a memory."""
    from priming_loop.steps.lessons import memory_shape

    with store.open() as memory:
        try:
            return answer(memory_shape(memory.get(name)))
        except NotFound:
            return answer({"error": "not found"})


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[Part]:
    for row in rows:
        use = f"{row['_use']}, " if "_use" in row else ""
        counts = f"{use}{row['type']}, helped {row['helped']}, failed {row['failed']}"
        detail = f"  {row['_score']:.2f}" if "_score" in row else f"  {row['_via']}" if "_via" in row else ""
        yield line((row["name"], KEY), f"{detail}  {counts}")
        yield line(row["trigger"], indent=2)
        yield line(row["resolution"], indent=2)


def _context(value: LoopContext) -> Answer:
    """Return what is known about an objective."""
    shown = value.memory
    use = dict.fromkeys(shown.fired, "applies here")
    lessons = (*shown.patterns, *shown.failures)
    parts = [*_lines({**encode(each), "_use": use.get(each.name, "similar")} for each in lessons)]
    parts += _lines(map(encode, shown.connected))
    parts += records.reason(value.reason)
    codebase = {**encode(value.codebase), "complexity": value.complexity.level}
    return Answer(value, [*parts, *pairs(codebase)])


def _rows(items: Sequence[Any], empty: str) -> Answer:
    """Return memories in the form of Arc, with the figures of each."""
    rows = Listing(
        (
            {**item.pop("memory"), **{f"_{name}": figure for name, figure in item.items()}}
            for item in map(encode, items)
        ),
        items.reason if isinstance(items, Listing) else None,
    )
    return Answer(rows, list(_lines(rows)) or [line((empty, DIM))])


_typed = partial(plain, app, send=from_file, values=ValuesFile)
"""Register a command whose options may be in a file."""
_typed("loop_store", answer, work=partial(_stored, "loop_store"), name="store", by_name=True, type=_TYPE)
_typed(
    "loop_chunk",
    _chunked,
    work=partial(_stored, "loop_chunk"),
    name="chunk",
    session=Annotated[
        str | None,
        Argument(
            metavar="[SESSION]",
            help="A session whose delivered tasks become patterns; - reads it from stdin",
            callback=session_or_stdin,
        ),
    ],
    outcome='How it went; only what begins with "success" makes a pattern',
)
plain(
    app,
    "loop_context",
    _context,
    send=here,
    name="context",
    help="Show what is known about an objective: memories, the codebase, its complexity.",
    objective=OBJECTIVE,
    session=_SESSION,
    cue=False,
    folder=False,
)
plain(
    app,
    "loop_recall",
    lambda lessons: _rows(lessons, "no memories about it"),
    name="recall",
    query="The question; - reads it from stdin",
    type=_TYPE,
    session=_SESSION,
)
plain(app, "loop_feedback", whole, name="feedback", by_name=True)
plain(app, "loop_connected", lambda nodes: _rows(nodes, "no strong links"), name="connected")
plain(app, "loop_prune", whole, name="prune")
_typed("loop_decay", whole, name="decay")
plain(app, "loop_consolidate", whole, name="consolidate")
plain(app, "loop_health", whole, name="health")
