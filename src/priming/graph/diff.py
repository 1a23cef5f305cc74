"""Differences between two times: in memories, in links, and in the answer to a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from priming.config.values import dataclass
from priming.core.arguments.checks import check_count, check_time
from priming.errors import ParamError
from priming.history.log import PastRows, changes_since
from priming.index.document import RULES
from priming.namespace import Namespace
from priming.recall.recall import MOST_HITS, recall
from priming.results import Diff, Hit, LinkMove, MemoryMove, RankMove
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    Row,
    RowChange,
    RowIdentity,
    VersionRow,
    ends_of,
    identity,
)


def diff(
    memory: Namespace, d1: datetime, d2: datetime, *, question: str | None = None, limit: int = 10
) -> Diff:
    """Compare two times: memories, links, and the answer to a question after ``d1`` and up to ``d2``.

    Args:
        d1: the earlier time.
        d2: the later time.
        question: a question to recall as of both times; without one no answers are compared.
        limit: maximum number of hits in each answer.

    Raises:
        ParamError: a time without a time zone, ``d2`` before ``d1``, or an argument outside its range.

    """
    since, until = check_time("d1", d1), check_time("d2", d2)
    if since > until:
        rule = f"must be ≥ {since.isoformat()}, which is d1: name the earlier time first"
        raise ParamError("d2", until.isoformat(), rule)
    check_count("limit", limit, 1, MOST_HITS)
    with memory.reading():
        span = _changed_rows(memory, since, until)
        memories, links = tuple(_memory_moves(memory, span)), tuple(_link_moves(memory, span))
        times = () if question is None else (since, until)
        answers = [recall(memory, question, limit=limit, known_at=at).hits for at in times]
        reason = None if memories or links else memory.empty_reason()
    moves = tuple(_rank_moves(*answers)) if answers else ()
    return Diff(since, until, memories, links, question, moves, reason)


@dataclass
class _ChangedRows:
    """The rows that a span changed: ``after`` at its end; ``first`` and ``last`` reach its ends from the present."""

    first: PastRows = field(default_factory=PastRows)
    last: PastRows = field(default_factory=PastRows)
    after: dict[RowIdentity, Row | None] = field(default_factory=dict)
    changed: dict[tuple[str, ...], datetime] = field(default_factory=dict)
    """When an aspect of a memory, or the weight of a link, changed last; when a version was first stored."""

    def pairs(self) -> Iterator[tuple[Row | None, Row | None]]:
        """Yield each row before and after the span; the row changed last comes last."""
        for name, after in reversed(self.after.items()):
            if self.first.rows[name] != after:
                yield self.first.rows[name], after


def _changed_rows(memory: Namespace, since: datetime, until: datetime) -> _ChangedRows:
    span = _ChangedRows()
    within = False
    for logged in changes_since(memory, since):
        within = within or logged.at <= until
        span.first.step_back(logged)
        if not within:
            span.last.step_back(logged)
            continue
        for change in reversed(logged.rows):
            span.after.setdefault(identity(change.row), change.after)
            _note_times(span.changed, change, logged.at)
    return span


def _note_times(changed: dict[tuple[str, ...], datetime], change: RowChange, at: datetime) -> None:
    """Note when a row changed; changes come latest first."""
    row, before, after = change.row, change.before, change.after
    if isinstance(row, LinkRow) and _weight(before) != _weight(after):
        changed.setdefault(identity(row), at)
    elif isinstance(row, VersionRow) and before is None:
        changed["told", row.id, str(row.version)] = at
    elif isinstance(row, VersionRow) and after is None:
        changed.setdefault(("taken back", row.id), at)
    elif isinstance(row, MemoryRow) and _status(before) != _status(after):
        changed.setdefault(("status", row.id), at)
        if before is None or after is None:
            changed.setdefault(("existence", row.id), at)


def _memory_moves(memory: Namespace, span: _ChangedRows) -> Iterator[MemoryMove]:
    """Yield how each memory changed, except names that rules found."""
    rows = (row for pair in span.pairs() for row in pair if isinstance(row, (MemoryRow, VersionRow)))
    ids = list(dict.fromkeys(row.id for row in rows))
    memories = memory.rows(MemoryRow, ids=ids)
    versions = [row for memory_id in ids for row in memory.rows(VersionRow, ids=[memory_id])]
    before, after = (_states(past, memories, versions) for past in (span.first, span.last))
    for memory_id in ids:
        yield from _moves(span, before.get(memory_id), after.get(memory_id))


_State = tuple[MemoryRow, VersionRow]
"""A memory with its latest version at a time."""


def _states(
    past: PastRows, memories: Sequence[MemoryRow], versions: Sequence[VersionRow]
) -> dict[str, _State]:
    """Map each id to its memory, of those that existed at one end of a span."""
    current = [row for row in past.of(VersionRow, versions).values() if row.retired_at is None]
    latest = {row.id: row for row in sorted(current, key=lambda row: row.version)}
    rows = past.of(MemoryRow, memories).values()
    return {row.id: (row, latest[row.id]) for row in rows if row.id in latest}


def _moves(span: _ChangedRows, before: _State | None, after: _State | None) -> Iterator[MemoryMove]:
    state = after or before
    assert state is not None, "a memory that changed exists at one end"
    memory, version = state
    if version.source == RULES and memory.kind == "entity":
        return
    gists = None if before is None else before[1].gist, None if after is None else after[1].gist
    for what in _changes(before, after):
        at, (start, end) = span.changed.get(_aspect(what, version)), (version.valid_from, version.valid_to)
        if what == "known" and version.version > 1:
            start = end = None  # those of the present version, which was told later
        yield MemoryMove(memory.key, memory.kind, what, *gists, at, start, end)


def _aspect(what: str, version: VersionRow) -> tuple[str, ...]:
    """Return the subject of a change, as used in the times of changes."""
    match what:
        case "known" | "gone":
            return "existence", version.id
        case "superseded":
            return "told", version.id, str(version.version)
        case "reverted":
            return "taken back", version.id
        case _:
            return "status", version.id


def _changes(before: _State | None, after: _State | None) -> Iterator[str]:
    """Yield what happened to a memory, as ``MemoryMove.what`` says it; several may apply."""
    if before is None:
        yield "known"
    if after is None:
        yield "gone"
        return
    status = "active" if before is None else before[0].status
    if after[0].status != status:
        yield "restored" if after[0].status == "active" else after[0].status
    version = 1 if before is None else before[1].version
    if after[1].version != version:
        yield "superseded" if version < after[1].version else "reverted"


def _link_moves(memory: Namespace, span: _ChangedRows) -> Iterator[LinkMove]:
    """Yield how each link changed: another weight, or present at one end only."""
    pairs = [pair for pair in span.pairs() if isinstance(pair[0] or pair[1], LinkRow)]
    names = _names(memory, span, pairs)
    for before, after in pairs:
        old, new = _weight(before), _weight(after)
        link = after or before
        if isinstance(link, LinkRow) and old != new:
            what = "made" if old is None else "removed" if new is None else "moved"
            at = span.changed.get(identity(link))
            yield LinkMove(names[link.source], link.relation, names[link.target], what, old, new, at)


def _status(row: Row | None) -> str | None:
    return row.status if isinstance(row, MemoryRow) else None


def _weight(row: Row | None) -> float | None:
    return row.weight if isinstance(row, LinkRow) else None


def _names(
    memory: Namespace, span: _ChangedRows, pairs: Sequence[tuple[Row | None, Row | None]]
) -> Mapping[str, str]:
    """Return the keys of the ends of links, by id; that of a removed memory is in the log."""
    ends = {end for pair in pairs for row in pair if row is not None for end in ends_of(row)}
    rows = [*span.first.rows.values(), *span.after.values()]
    logged = {row.id: row.key for row in rows if isinstance(row, MemoryRow)}
    return dict(zip(ends, ends, strict=True)) | logged | memory.names(ids=ends)


def _rank_moves(before: Sequence[Hit], after: Sequence[Hit]) -> Iterator[RankMove]:
    """Yield how the rank of each hit changed, in the order of the later answer; hits gone from it come last."""
    old = {hit.memory.key: (rank, hit) for rank, hit in enumerate(before, 1)}
    new = {hit.memory.key: (rank, hit) for rank, hit in enumerate(after, 1)}
    for key in [*new, *(key for key in old if key not in new)]:
        old_rank, left = old.get(key, (None, None))
        new_rank, right = new.get(key, (None, None))
        what = _direction(old_rank, new_rank)
        if what == "same" and left and right and left.memory.content != right.memory.content:
            what = "restated"
        yield RankMove(
            key,
            what,
            old_rank,
            new_rank,
            None if left is None else left.score,
            None if right is None else right.score,
            None if left is None else left.memory.gist,
            None if right is None else right.memory.gist,
        )


def _direction(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "new" if before is None else "gone"
    return "same" if after == before else "up" if after < before else "down"
