"""Commands on memories and their links: remember, supersede, show, list, link, links, forget, purge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from priming.cli import records
from priming.cli.command import FAILURE, Answer, command, group
from priming.cli.options import (
    TIME,
    DryRun,
    Key,
    Kinds,
    KnownThen,
    StoreOptions,
    Text,
    Yes,
    argument,
    flag,
    option,
)
from priming.cli.output import DIM, ERROR, KEY, OK, WARN, Part, Table, confirm, draw, line, timestamp
from priming.cli.plain import plain
from priming.config.words import BRINGS, RELATIONS, STATUSES, TAKES, UNSTORED
from priming.errors import ParamError
from priming.text.quotation import label

if TYPE_CHECKING:
    from priming.results import ErasedMemory, Receipt, Remembered
    from priming.types import Link, MemoryRecord

ANY = "any"
_LINKS_SHOWN = 10
_ERASED_SHOWN = 50
LINK_ORDERS = ("weight", "changed", "learned")
_TIMES = ("version", "occurred", "recorded", "superseded", "valid from", "valid to")
"""The columns of the times of a version."""

app = group("Memory")
GROUPS = (app,)


def _with_procedure(
    sent: Mapping[str, Any], *, step: list[str] | None = None, trigger: str | None = None
) -> dict[str, Any]:
    """Put the steps and the trigger of a procedure into its metadata."""
    metadata = sent.get("metadata", {})
    fields = {"steps": step, "trigger": trigger}
    fields = {name: value for name, value in fields.items() if value is not None}
    for name, value in fields.items():
        option = f"--{name.removesuffix('s')}"
        if sent["kind"] != "procedure":
            raise ParamError(option, value, "belongs to a procedure: add --kind procedure, or leave it out")
        if name in metadata:
            raise ParamError(option, value, f"cannot be combined with metadata {name!r}: leave one out")
    return {"metadata": {**metadata, **fields}} if fields else {}


def stored_lines(stored: Remembered, *, explain: bool) -> Iterator[Part]:
    """Tell whether a text was stored, and its links."""
    yield line((stored.status, OK if stored.status == "stored" else WARN), "  ", (stored.key, KEY))
    if stored.status in UNSTORED:
        yield line((UNSTORED[stored.status], DIM), indent=2)
    for link in stored.links:
        if link.message:
            yield line((link.message, WARN), indent=2)
    for link in stored.links if explain else ():
        arrow = f"─{label(link.relation)}→ {label(link.target)}"
        if link.source != stored.key:
            arrow = f"←{label(link.relation)}─ {label(link.source)}"
        yield line((f"{arrow} {records.strength(link)}", DIM), indent=2)


_SESSION = Annotated[str | None, option("--session", "NAME", "The conversation it belongs to")]
plain(
    app,
    "remember",
    stored_lines,
    send=_with_procedure,
    content=Text,
    key="Its key; made from the text by default",
    session=_SESSION,
    step=Annotated[
        list[str] | None, option("--step", "TEXT", "A step of a procedure (repeatable, in order)")
    ],
    trigger=Annotated[str | None, option("--trigger", "TEXT", "When a procedure is to be carried out")],
    explain="Also show the links that were made",
    help="Store a memory and link it to others.",
)
plain(
    app,
    "supersede",
    content=Text,
    session=_SESSION,
    valid_from=f"When it becomes true; now by default: {TIME}",
    help="Replace a memory with a new version. The old version stays in its history.",
)


@command(app)
def show(store: StoreOptions, key: Key) -> Answer:
    """Show a memory in full, whatever its status, with the links made by hand."""
    with store.open() as memory:
        record = memory.get(key)
        links = [link for link in memory.links(record.id) if link.given or link.sign == TAKES]
    shown = records.first(links, lambda link: records.links([link]), _LINKS_SHOWN, rest="priming links")
    return Answer(record, [*records.memory(record), *shown])


def page_lines(
    memories: Sequence[MemoryRecord],
    *,
    limit: int,
    explain: bool = False,
    valid_at: str | None = None,
    known_at: str | None = None,
) -> Iterator[Part]:
    """Yield a page of memories, with the date of each or, of another time or explained, the times of its version."""
    if not memories:
        yield line(("no memories", DIM))
        return
    with_times = explain or valid_at is not None or known_at is not None
    worths = [records.worth(each) for each in memories]
    scopes = [records.scope(each) for each in memories]
    rows = [
        (
            label(each.key),
            each.kind,
            *_times(each, with_times=with_times),
            ("" if with_times else _beginning(each)) or records.state(each),
            worth,
            applies,
            each.gist,
        )
        for each, worth, applies in zip(memories, worths, scopes, strict=True)
    ]
    names = ("key", "kind", *(_TIMES if with_times else ("date",)), "state", "worth", "applies", "gist")
    shown = [i for i, name in enumerate(names) if any(row[i] for row in rows) or name == "gist"]
    table = tuple(tuple(row[i] for i in shown) for row in rows)
    yield Table(tuple(names[i] for i in shown), table, cut=True)
    if len(memories) == limit:
        yield line((f"there may be more: --after {memories[-1].id}", DIM))


def _beginning(memory: MemoryRecord) -> str:
    """Tell from when on a memory holds, if it does not yet."""
    start = memory.valid_from
    return f"from {timestamp(start)[:10]}" if start is not None and start > datetime.now(UTC) else ""


def _times(memory: MemoryRecord, *, with_times: bool) -> tuple[str, ...]:
    """Return the cells of a memory's times."""
    if not with_times:
        return (timestamp(memory.occurred_at or memory.recorded_at)[:10],)
    times = (memory.occurred_at, memory.recorded_at, memory.retired_at, memory.valid_from, memory.valid_to)
    return str(memory.version), *map(timestamp, times)


plain(
    app,
    "list",
    page_lines,
    send=lambda sent: {"status": None} if sent["status"] == ANY else {},
    kinds=Kinds,
    status=Annotated[str, option("--status", "NAME", f"{', '.join(STATUSES)} or {ANY}", (*STATUSES, ANY))],
    after=Annotated[str | None, option("--after", "ID", "The last id of the previous page")],
    matching=Annotated[
        str | None, option("--matching", "WORDS", "Only memories that contain all these words")
    ],
    gists="Only the summaries that sleep made of several memories",
    explain="Also show version numbers, and when each version was stored, superseded and true",
    known_at=KnownThen,
    help="List memories with their worth and scope, oldest first.\n\n"
    "Of another time, or with --explain, each with the times of its version.",
)


def _sign(_sent: Mapping[str, Any], *, suppressing: bool | None = None) -> dict[str, int]:
    return {} if suppressing is None else {"sign": TAKES if suppressing else BRINGS}


def _linked(link: Link) -> Iterator[Part]:
    yield from records.links([link])
    if link.message:
        yield line((link.message, WARN), indent=2)


for _name in ("link", "connect"):
    plain(
        app,
        "link",
        _linked,
        send=_sign,
        name=_name,
        hidden=_name == "connect",
        sign=False,
        relation=Annotated[str, option("--relation", "NAME", "Any name", RELATIONS)],
        weight=Annotated[float | None, option("--weight", "X", "Weight in [0, 1]; 0.5 by default")],
        suppressing=Annotated[
            bool | None,
            flag(
                "--suppressing/--exciting",
                "Whether links of this relation take activation away; by default its name decides",
            ),
        ],
        help="Link two memories. If the link exists, its weight is set.",
    )


def _links(links: Sequence[Link], *, by: str | None) -> Iterator[Part]:
    return records.links(links, times=by == "changed")


plain(
    app,
    "links",
    _links,
    key=Annotated[str | None, argument("[KEY]", "Key or id of a memory; all links without it")],
    by=Annotated[
        str | None,
        option(
            "--by",
            "NAME",
            "weight (strongest first), changed (latest first), learned (only those strengthened by use)",
            LINK_ORDERS,
        ),
    ],
    limit="Maximum number of links",
)


plain(app, "forget")


@command(app)
def purge(
    store: StoreOptions,
    key: Annotated[str | None, argument("[KEY]", "Key or id of a memory")] = None,
    subject: Annotated[
        str | None,
        option("--subject", "NAME", "Instead, all that mentions NAME, and what was derived from it"),
    ] = None,
    include: Annotated[
        list[str] | None,
        option("--include", "KEY", "With --subject, a doubtful memory that is about NAME (repeatable)"),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Erase a memory for good, with its versions, vectors, links and log rows.

    --subject erases all that is about somebody or something; what only may be is listed, and stays.
    """
    if store.as_json and not (yes or dry_run):
        raise ParamError("--yes", False, "must be given with --json: a purge cannot be undone")
    with store.open() as memory:
        if not (yes or dry_run):
            draw(_receipt(memory.purge(key, subject=subject, include=include or (), dry_run=True)))
            what = f"{key!r}" if subject is None else f"all that is about {subject!r}"
            if not confirm(f"Erase {what} for good? [y/N] "):
                typer.echo("nothing was erased", err=True)
                raise typer.Exit(FAILURE)
        receipt = memory.purge(key, subject=subject, include=include or (), dry_run=dry_run)
    return Answer(receipt, _receipt(receipt), 0 if all(copy.reached for copy in receipt.copies) else FAILURE)


def _receipt(receipt: Receipt) -> Iterator[Part]:
    counts = ", ".join(f"{number:,} {table}" for table, number in receipt.erased.items() if number)
    mark = "would erase" if receipt.dry_run else "erased" if counts else "nothing erased"
    end = "nothing was erased" if receipt.dry_run or not counts else "it cannot be undone"
    yield line((mark, ERROR), "  ", (receipt.key, KEY))
    if receipt.subject is not None:
        yield from _memories(receipt.memories, "why")
    yield line((f"{counts or 'no rows'}; {end}", DIM), indent=2)
    if receipt.doubtful:
        yield line(("doubtful", WARN), "  not erased without --include KEY")
        yield from _memories(receipt.doubtful, "doubt")
    for copy in receipt.copies:
        yield line((f"copy {copy.path} {copy.outcome}", DIM if copy.reached else WARN), indent=2)
    for place in receipt.not_reached:
        yield line((f"not reached: {place}", DIM), indent=2)


def _memories(memories: Sequence[ErasedMemory], why: str) -> Iterator[Part]:
    shown = memories[:_ERASED_SHOWN]
    yield Table(("key", "kind", why), tuple((label(row.key), row.kind, row.reason) for row in shown))
    if len(memories) > len(shown):
        yield line((f"and {len(memories) - len(shown):,} more: --json lists all", DIM))
