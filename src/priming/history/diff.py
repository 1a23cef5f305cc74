"""What became different between two times: memories, links, and the answer to a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from priming.core.arguments.checks import check_count, check_time
from priming.errors import ParamError
from priming.history.log_replay import Identity, PastRows, changes_since
from priming.index.document import RULES
from priming.namespace import Namespace
from priming.recall.recall import MOST_HITS, recall
from priming.results import Diff, Hit, LinkMove, MemoryMove, RankMove
from priming.storage.rows import LinkRow, MemoryRow, Row, VersionRow, ends_of, identity


def diff(
    memory: Namespace, d1: datetime, d2: datetime, *, question: str | None = None, limit: int = 10
) -> Diff:
    """What became different after ``d1`` and up to ``d2``: memories, links, and the answer to a question.

    Args:
        d1: the earlier time.
        d2: the later time.
        question: what is asked as of both times; without one no answers are compared.
        limit: most hits of each answer.

    Raises:
        ParamError: a time without a time zone, ``d2`` before ``d1``, or an argument outside its range.

    """
    since, until = check_time("d1", d1), check_time("d2", d2)
    if since > until:
        rule = f"must be ≥ {since.isoformat()}, which is d1: name the earlier time first"
        raise ParamError("d2", until.isoformat(), rule)
    check_count("limit", limit, 1, MOST_HITS)
    with memory.reading():
        changed = _changed(memory, since, until)
        memories, links = tuple(_memories(memory, changed)), tuple(_links(memory, changed))
        ends = () if question is None else (since, until)
        answers = [recall(memory, question, limit=limit, known_at=end).hits for end in ends]
    return Diff(since, until, memories, links, question, tuple(_answers(*answers)) if answers else ())


@dataclass
class _DiffBuilder:
    """What a span changed: ``made`` are its rows at the end, ``first`` and ``last`` lead back to its two ends."""

    first: PastRows = field(default_factory=PastRows)
    last: PastRows = field(default_factory=PastRows)
    made: dict[Identity, Row | None] = field(default_factory=dict)

    def pairs(self) -> Iterator[tuple[Row | None, Row | None]]:
        """Each row at the beginning and at the end, those that were changed last at the end."""
        for name, after in reversed(self.made.items()):
            if self.first.rows[name] != after:
                yield self.first.rows[name], after


def _changed(memory: Namespace, since: datetime, until: datetime) -> _DiffBuilder:
    found = _DiffBuilder()
    within = False
    for logged in changes_since(memory, since):
        within = within or logged.at <= until
        found.first.back(logged)
        if not within:
            found.last.back(logged)
            continue
        for change in reversed(logged.rows):
            found.made.setdefault(identity(change.row), change.after)
    return found


def _memories(memory: Namespace, changed: _DiffBuilder) -> Iterator[MemoryMove]:
    """What became of each memory that changed; a name that a rule made is passed over."""
    rows = (row for pair in changed.pairs() for row in pair if isinstance(row, (MemoryRow, VersionRow)))
    ids = list(dict.fromkeys(row.id for row in rows))
    memories = memory.store.memories(memory.namespace, ids)
    versions = [row for one in ids for row in memory.store.versions(memory.namespace, one)]
    before, after = (_at_one_end(then, memories, versions) for then in (changed.first, changed.last))
    for memory_id in ids:
        yield from _moves(before.get(memory_id), after.get(memory_id))


_End = tuple[MemoryRow, VersionRow]
"""A memory with the latest version of it that was known."""


def _at_one_end(
    then: PastRows, memories: Sequence[MemoryRow], versions: Sequence[VersionRow]
) -> dict[str, _End]:
    known = [one for one in then.of(VersionRow, versions).values() if one.retired_at is None]
    latest = {one.id: one for one in sorted(known, key=lambda one: one.version)}
    there = then.of(MemoryRow, memories).values()
    return {one.id: (one, latest[one.id]) for one in there if one.id in latest}


def _moves(before: _End | None, after: _End | None) -> Iterator[MemoryMove]:
    memory, version = after or before or _nothing()
    if version.source == RULES and memory.kind == "entity":
        return
    gists = None if before is None else before[1].gist, None if after is None else after[1].gist
    for what in _what(before, after):
        yield MemoryMove(memory.key, memory.kind, what, *gists)


def _nothing() -> _End:
    raise AssertionError("a memory that changed was there at one end")


def _what(before: _End | None, after: _End | None) -> Iterator[str]:
    """What became of a memory, in words; several may be true of one."""
    if before is None:
        yield "known"
    if after is None:
        yield "gone"
        return
    status = "active" if before is None else before[0].status
    if after[0].status != status:
        yield "restored" if after[0].status == "active" else after[0].status
    if before is not None and before[1].version != after[1].version:
        yield "superseded" if before[1].version < after[1].version else "reverted"


def _links(memory: Namespace, changed: _DiffBuilder) -> Iterator[LinkMove]:
    """What became of each link whose weight is another, or that is there at one end only."""
    pairs = [pair for pair in changed.pairs() if isinstance(pair[0] or pair[1], LinkRow)]
    names = _names(memory, changed, pairs)
    for before, after in pairs:
        old, new = _weight(before), _weight(after)
        link = after or before
        if isinstance(link, LinkRow) and old != new:
            what = "made" if old is None else "removed" if new is None else "moved"
            yield LinkMove(names[link.source], link.relation, names[link.target], what, old, new)


def _weight(row: Row | None) -> float | None:
    return row.weight if isinstance(row, LinkRow) else None


def _names(
    memory: Namespace, changed: _DiffBuilder, pairs: Sequence[tuple[Row | None, Row | None]]
) -> Mapping[str, str]:
    """The keys of the ends of links; who removed a memory wrote down its key."""
    ends = {end for pair in pairs for row in pair if row is not None for end in ends_of(row)}
    then = [*changed.first.rows.values(), *changed.made.values()]
    written = {one.id: one.key for one in then if isinstance(one, MemoryRow)}
    return dict(zip(ends, ends, strict=True)) | written | memory.store.names(memory.namespace, ends)


def _answers(before: Sequence[Hit], after: Sequence[Hit]) -> Iterator[RankMove]:
    """Where each hit of two answers stands in both, in the order of the later one, what is gone last."""
    old = {hit.memory.key: (rank, hit) for rank, hit in enumerate(before, 1)}
    new = {hit.memory.key: (rank, hit) for rank, hit in enumerate(after, 1)}
    for key in [*new, *(key for key in old if key not in new)]:
        was, left = old.get(key, (None, None))
        now, right = new.get(key, (None, None))
        what = _moved(was, now)
        if what == "same" and left and right and left.memory.content != right.memory.content:
            what = "restated"
        yield RankMove(
            key,
            what,
            was,
            now,
            None if left is None else left.score,
            None if right is None else right.score,
            None if left is None else left.memory.gist,
            None if right is None else right.memory.gist,
        )


def _moved(was: int | None, now: int | None) -> str:
    if was is None or now is None:
        return "new" if was is None else "gone"
    return "same" if now == was else "up" if now < was else "down"
