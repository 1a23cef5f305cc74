"""Commands on time: log, history, as-of, diff, undo, rollback, review, aliases, fading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from priming.cli import parse, records
from priming.cli.command import Answer, command, group
from priming.cli.groups.graph import events, number
from priming.cli.options import (
    TIME,
    DryRun,
    KnownThen,
    Limit,
    LogSource,
    Since,
    StoreOptions,
    argument,
    flag,
    option,
)
from priming.cli.output import DIM, ERROR, KEY, OK, WARN, Part, Table, choose, draw, line, timestamp
from priming.cli.plain import plain
from priming.text.quotation import count_text, label

if TYPE_CHECKING:
    from priming.memory import Memory
    from priming.results import Alias, Diff, Fading, LinkMove, MemoryMove, RankMove
    from priming.rules.results import ConflictingFact, Review
    from priming.types import MemoryRecord, Operation

_ALIAS_REASONS = {"said": "a text states it", "part": "part of a full name, in its session"}

app = group("Time")
GROUPS = (app,)


@command(app)
def log(
    store: StoreOptions,
    key: Annotated[str | None, option("--key", "KEY", "Only changes of this memory")] = None,
    since: Since = None,
    until: Annotated[str | None, option("--until", "TIME", f"Only before this time: {TIME}")] = None,
    source: LogSource = None,
    limit: Limit = 100,
    each_weight: Annotated[
        bool, flag("--events", "List every change of a weight instead of operations")
    ] = False,
) -> Answer:
    """List operations, newest first, or the changes of weights."""
    first, end = parse.optional_moment("since", since), parse.optional_moment("until", until)
    with store.open() as memory:
        if each_weight:
            changes = memory.events(key=key, since=first, until=end, source=source, limit=limit)
            return Answer(changes, events(changes))
        rows = memory.log(key=key, since=first, until=end, source=source, limit=limit)
    return Answer(rows, records.operations(rows))


def version_lines(versions: Sequence[MemoryRecord]) -> Iterator[Part]:
    """Yield the versions of a memory, with when each was true."""
    for version in versions:
        yield line((f"version {version.version}", "bold"), (f"  {records.version_times(version)}", DIM))
        yield from records.content(version)


plain(app, "history", version_lines)


plain(
    app, "as_of", known_at=KnownThen, help="Show the version of a memory that was true or recorded at a time."
)


def _diff(difference: Diff) -> Iterator[Part]:
    """Yield memories, links, and the two answers side by side."""
    yield line((f"after {timestamp(difference.since)}, up to {timestamp(difference.until)}", DIM))
    if difference.reason is not None:
        yield line((difference.reason, WARN))
    elif not (difference.memories or difference.links):
        yield line(("no memory and no link changed", DIM))
    yield from records.first(difference.memories, _memory_move)
    yield from records.first(difference.links, _link_move)
    if difference.question is not None:
        yield line(("question: ", DIM), difference.question)
        yield from _answers(difference.answers)


plain(
    app,
    "diff",
    _diff,
    d1=f"The earlier time: {TIME}",
    question=Annotated[str | None, argument("[QUESTION]", "A question to compare the answers of")],
    help="Show what changed between two times.\n\n"
    "Lists memories, links and, with a question, how the answer changed.",
)


def _memory_move(move: MemoryMove) -> Iterator[Part]:
    times = f"  {move.kind}  {timestamp(move.at)}"
    if move.valid_from is not None:
        times += f", valid from {timestamp(move.valid_from)}"
    yield line((move.what, WARN), "  ", (move.key, KEY), (times.rstrip(), DIM))
    yield from _gists(move.before, move.after)


def _gists(before: str | None, after: str | None) -> Iterator[Part]:
    """Yield the text before and after, unless they are equal."""
    if before is not None and before != after:
        yield line((f"- {before}", ERROR), indent=4)
    if after is not None and before != after:
        yield line((f"+ {after}", OK), indent=4)


def _link_move(move: LinkMove) -> Iterator[Part]:
    arrow = records.edge(move.source, move.relation, move.target)
    weights = f"{number(move.before)} → {number(move.after)}"
    yield line((move.what, WARN), f"  {arrow}  {weights}", (f"  {timestamp(move.at)}".rstrip(), DIM))


def _answers(moves: Sequence[RankMove]) -> Iterator[Part]:
    if not moves:
        yield line(("neither answer has a hit", DIM))
        return
    rows = [(_rank(move.rank_before), _rank(move.rank_after), move.what, label(move.key)) for move in moves]
    yield Table(("before", "after", "", "key"), tuple(rows), cut=True)
    for move in moves:
        if move.before is not None and move.after is not None and move.before != move.after:
            yield line((move.key, KEY), ("  has another text", DIM))
            yield from _gists(move.before, move.after)


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _undone(undone: Operation) -> Iterator[Part]:
    yield from records.operation(undone)
    yield line((f"to redo: priming undo {undone.id}", DIM), indent=4)


plain(
    app,
    "undo",
    _undone,
    operation_id=Annotated[
        str,
        argument(
            "ID",
            "Id of an operation, or 'last': the newest that is not an undo, not undone,"
            " and not the start or end of a run",
        ),
    ],
)


@command(app)
def rollback(
    store: StoreOptions,
    since: Annotated[str, option("--since", "TIME", f"Undo operations from this time on: {TIME}")],
    until: Annotated[
        str | None, option("--until", "TIME", f"Only operations before this time: {TIME}")
    ] = None,
    source: LogSource = None,
    dry_run: DryRun = False,
) -> Answer:
    """Undo all operations in a span of time. The rollback is one operation, and can be undone."""
    start, end = parse.moment("since", since), parse.optional_moment("until", until)
    with store.open() as memory:
        if dry_run:
            rows = memory.would_undo(since=start, until=end, source=source)
            planned = memory.rollback(since=start, until=end, source=source, dry_run=True)
            return Answer(rows, _rollback_plan(rows, planned))
        operation = memory.rollback(since=start, until=end, source=source)
    return Answer(operation, [*records.operation(operation), records.undo_hint(operation.id, indent=4)])


def _rollback_plan(rows: Sequence[Operation], planned: Operation) -> Iterator[Part]:
    """Yield the operations that a rollback would undo, and where the weights would be then."""
    yield from records.operations(rows)
    moves = [
        (change.key, change.before.get("weight"), change.after.get("weight"))
        for change in planned.changes
        if change.before is not None and change.after is not None
    ]
    moved = [(key, before, after) for key, before, after in moves if before != after]
    yield from records.first(moved, _moved_weight, rest="--json lists the operations", indent=2)
    yield line((f"{count_text(len(rows), 'operation')} would be undone", WARN))


def _moved_weight(move: tuple[str, float | None, float | None]) -> Iterator[Part]:
    key, before, after = move
    yield line((key, "bold"), f"  {number(before)} → {number(after)}", indent=2)


@command(app)
def review(
    store: StoreOptions,
    limit: Limit = 50,
    keep: Annotated[str | None, option("--keep", "ID", "Settle this contradiction: both hold")] = None,
    settle: Annotated[bool, flag("--settle", "Ask about each pair which holds, and settle it")] = False,
) -> Answer:
    """List facts and rules that contradict each other or may, and rules gone quiet, with what settles them."""
    with store.open() as memory:
        if settle:
            operations = list(_settled(memory, limit))
            return Answer(operations, records.operations(operations))
        if keep is not None:
            operation = memory.keep_both(keep)
            return Answer(operation, records.operation(operation))
        reviews = memory.review(limit=limit)
    return Answer(reviews, _reviews(reviews))


def _settled(memory: Memory, limit: int) -> Iterator[Operation]:
    """Ask about each pair which holds, and yield the operations that settle them; one may settle others too."""
    shown: set[str] = set()
    while pairs := [each for each in memory.review(limit=limit) if each.newer and each.id not in shown]:
        each = pairs[0]
        assert each.newer is not None, "a pair has two"
        shown.add(each.id)
        draw(_reviews([each]))
        older, newer = each.older.key, each.newer.key
        place = f"{len(shown)} of {len(shown) + len(pairs) - 1}"
        question = f"{place}: which holds? [l]ater, [e]arlier, [b]oth, [s]kip, [q]uit: "
        answer = choose(question, "later", "earlier", "both", "skip", "quit")
        if answer == "q":
            return
        if answer == "l":
            yield memory.deprecate(older, by=newer)
        elif answer == "e":
            yield memory.deprecate(newer, by=older)
        elif answer == "b":
            yield memory.keep_both(each.id)


def _reviews(reviews: Sequence[Review]) -> Iterator[Part]:
    if not reviews:
        yield line(("no facts or rules contradict each other", DIM))
    for each in reviews:
        if each.slot or each.newer is None:
            yield line((each.subject, KEY), (f" {each.slot}", "bold"))
        else:
            yield line((each.older.value, KEY), " or ", (each.newer.value, KEY), "?")
        if each.reason:
            yield line((each.reason, ""), indent=2)
        yield _claim(each.older)
        if each.newer is not None:
            yield _claim(each.newer)
        for text in each.instead:
            yield line(("instead: ", DIM), text, indent=2)
        if each.kind == "quiet-rule" and not each.instead:
            yield line(
                ("instead: nobody said; the next time, priming overridden KEY --reason TEXT", DIM), indent=2
            )
        for hint in each.commands:
            yield line((hint, DIM), indent=4)


def _claim(claim: ConflictingFact) -> Part:
    date = f"{timestamp(claim.told_at)[:10]}  " if claim.told_at else ""
    return line((date, DIM), (claim.key, KEY), f"  {claim.content}", indent=2)


def _aliases(merges: Sequence[Alias], *, dry_run: bool) -> Iterator[Part]:
    if not merges:
        yield line(("no two names mean the same", DIM))
        return
    for alias in merges:
        reason = _ALIAS_REASONS[alias.reason]
        yield line((alias.alias, KEY), " → ", (alias.name, KEY), (f"  {reason}", DIM))
        for evidence in alias.evidence:
            yield line((evidence.key, KEY), f"  {evidence.text}", indent=2)
    if dry_run:
        yield line(("nothing was merged: that was a dry run", WARN))
    else:
        yield records.undo_hint(merges[0].operation)


plain(app, "aliases", _aliases, limit="Maximum number of names to merge")


def fading_lines(rows: Sequence[Fading]) -> Iterator[Part]:
    """Yield memories about to be forgotten, with how retrievable and why important they are."""
    for row in rows:
        yield line((row.key, KEY), f"  {row.retrievability:.2f} now, {row.later:.2f} in a week")
        yield line(row.gist, indent=2)
        yield line((row.reason, DIM), indent=2)
    if not rows:
        yield line(("no important memory is about to be forgotten", DIM))


plain(app, "fading", fading_lines)
