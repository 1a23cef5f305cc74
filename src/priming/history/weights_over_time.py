"""The log read as an instrument: how the weights of links moved, and what they were at another time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, pairwise
from statistics import fmean, median

from priming.config.params.laws import SUPPRESSING
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_name, check_source, check_time
from priming.core.plasticity import normalize_strength
from priming.errors import ParamError
from priming.history.log_replay import newest_first, rows_at
from priming.learning.results import Oscillation, StrengthEvent, Strengths
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, RowChange, ends_of, identity

MANUAL = "manual"
LEARNT = ("similar-to", "co-activated")
"""Relations whose weight says how much two memories have to do with each other."""
BINS = 10
_MOST_TIMES = 1_000
_Links = dict[tuple[str, ...], LinkRow]


@dataclass(frozen=True, slots=True)
class PastLinks:
    """The links of another time; ``gone`` has the keys, by id, of memories that were there then and are not now."""

    links: list[LinkRow]
    gone: Mapping[str, str]


def past(memory: Namespace, at: datetime) -> PastLinks:
    """The links as they were at ``at``, what was recorded at that very instant included."""
    with memory.store.transaction(write=False):
        then = rows_at(memory, at)
        links = then.of(LinkRow, memory.store.links(memory.namespace))
    # Who removed a memory wrote down its key.
    gone = {one.id: one.key for one in then.rows.values() if isinstance(one, MemoryRow)}
    return PastLinks([links[name] for name in sorted(links)], gone)


def links_at(memory: Namespace, at: datetime) -> list[LinkRow]:
    """The link rows exactly as they were at ``at``, in order of source, target and relation."""
    return past(memory, at).links


def _present(memory: Namespace) -> _Links:
    return {identity(one): one for one in memory.store.links(memory.namespace)}


def _step_back(links: _Links, logged: Logged) -> None:
    """Bring links from after an operation to before it."""
    for change in logged.rows:
        if isinstance(change.before, LinkRow):
            links[identity(change.before)] = change.before
        elif isinstance(change.after, LinkRow):
            links.pop(identity(change.after), None)


def events(
    memory: Namespace,
    *,
    key: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    source: str | None = None,
    limit: int = 1000,
) -> list[StrengthEvent]:
    """Every weight of a link or memory that an operation moved, newest first; the arguments are those of ``log``.

    Raises:
        NotFound: no such memory.
        ParamError: an argument outside its range.

    """
    with memory.reading():
        memory_id = None if key is None else memory.find(key).id
        log = newest_first(
            memory,
            memory_id=memory_id,
            since=None if since is None else check_time("since", since),
            until=None if until is None else check_time("until", until),
            source=check_source(source),
        )
        moves = (event for logged in log for event in weight_events(memory, logged, memory_id))
        return list(islice(moves, check_count("limit", limit, 1, PAGE_LIMIT)))


def weight_events(memory: Namespace, logged: Logged, memory_id: str | None = None) -> list[StrengthEvent]:
    """What one operation did to weights, of one memory or of any."""
    moves = [
        (one, what)
        for one in logged.rows
        if (what := _event(one)) is not None and memory_id in (None, *one.ends)
    ]
    names = {c.row.id: c.row.key for c in logged.rows if isinstance(c.row, MemoryRow)}
    names |= memory.store.names(memory.namespace, {end for one, _ in moves for end in one.ends})
    return [_told(one, what, logged, names) for one, what in moves]


def _event(change: RowChange) -> str | None:
    """What a change did to a weight; None if it moved none."""
    before, after = change.before, change.after
    if isinstance(before, (LinkRow, MemoryRow)) and isinstance(after, (LinkRow, MemoryRow)):
        moved = "strength_adjust" if isinstance(after, LinkRow) else "node_adjust"
        return None if before.weight == after.weight else moved
    if isinstance(change.row, LinkRow):
        return "link_made" if before is None else "link_removed"
    return None


def _told(change: RowChange, what: str, logged: Logged, names: Mapping[str, str]) -> StrengthEvent:
    old, new = _weight(change.before), _weight(change.after)
    ends = [names.get(end, end) for end in change.ends]
    edge = (ends[0], change.row.relation, ends[1]) if isinstance(change.row, LinkRow) else (ends[0],)
    return StrengthEvent(
        ts=logged.at,
        event=what,
        source=logged.source,
        edge=edge,
        old=old,
        new=new,
        delta=(new or 0.0) - (old or 0.0),
        reason=logged.reason or logged.message,
        operation=logged.id or None,
    )


def _weight(row: object) -> float | None:
    return row.weight if isinstance(row, (LinkRow, MemoryRow)) else None


def strengths(
    memory: Namespace,
    *,
    at: datetime | None = None,
    over: int = 1,
    since: datetime | None = None,
    relation: str | None = None,
) -> list[Strengths]:
    """How the weights of links were distributed ``at`` a time (now), or at ``over`` times up to it.

    These are equally spaced from ``since``, by default the first operation.

    Raises:
        ParamError: an argument outside its range, or ``since`` after ``at``.

    """
    with memory.reading() as now:
        over, relation = check_count("over", over, 1, _MOST_TIMES), check_name("relation", relation)
        end = now if at is None else check_time("at", at)
        if since is not None and over == 1:
            raise ParamError("since", since, "is where a series of times begins: give over ≥ 2 too")
        start = _start(memory, end) if since is None else check_time("since", since)
        if start > end:
            raise ParamError(
                "since", start.isoformat(), f"must be ≤ {end.isoformat()}, where the series ends"
            )
        steps = max(over - 1, 1)
        moments = [end - (end - start) * step / steps for step in range(over)]
        return list(_back_to(memory, moments, relation))[::-1]


def _start(memory: Namespace, end: datetime) -> datetime:
    """When the first operation was, but not after ``end``."""
    first = memory.store.operations(memory.namespace, before=2, limit=1)
    return min([end, *(one.at for one in first)])


def _back_to(memory: Namespace, moments: Sequence[datetime], relation: str | None) -> Iterator[Strengths]:
    """The distribution at each of some moments, latest first."""
    links, log = _present(memory), newest_first(memory)
    logged = next(log, None)
    for moment in moments:
        while logged is not None and logged.at > moment:
            _step_back(links, logged)
            logged = next(log, None)
        yield distribution(moment, [one.weight for one in links.values() if relation in (None, one.relation)])


def distribution(at: datetime, weights: Sequence[float]) -> Strengths:
    """How weights are distributed; a bin has its lower bound in it, the last also its upper one."""
    bins = [0] * BINS
    for weight in weights:
        bins[min(int(weight * BINS), BINS - 1)] += 1
    mean, middle = (fmean(weights), float(median(weights))) if weights else (None, None)
    return Strengths(at, len(weights), mean, middle, tuple(bins))


def oscillating(
    memory: Namespace, *, since: datetime | None = None, turns: int = 2, limit: int = 20
) -> list[Oscillation]:
    """The links whose weight turned direction at least ``turns`` times, most first.

    What was undone does not count, nor do undos: nobody pulled.

    Raises:
        ParamError: an argument outside its range.

    """
    with memory.reading():
        start = None if since is None else check_time("since", since)
        turns, limit = check_count("turns", turns, 1, PAGE_LIMIT), check_count("limit", limit, 1, PAGE_LIMIT)
        moves: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        for logged in newest_first(memory, since=start):
            if logged.undone_by is not None or logged.undoes:
                continue
            for change in logged.rows:
                if isinstance(change.row, LinkRow) and _event(change) == "strength_adjust":
                    delta = (_weight(change.after) or 0.0) - (_weight(change.before) or 0.0)
                    moves[identity(change.row)].append(delta)
        turning = [
            link
            for link in (_oscillation(name, deltas) for name, deltas in moves.items())
            if link.turns >= turns
        ]
        turning.sort(key=lambda link: (-link.turns, -link.travelled, link.source, link.relation, link.target))
        return _named(memory, turning[:limit])


def _oscillation(name: tuple[str, ...], pulled: Sequence[float]) -> Oscillation:
    _, source, target, relation = name
    turns = sum((a > 0) != (b > 0) for a, b in pairwise(pulled))
    return Oscillation(source, relation, target, turns, len(pulled), sum(map(abs, pulled)), sum(pulled), None)


def _named(memory: Namespace, found: Sequence[Oscillation]) -> list[Oscillation]:
    """With keys for ids, and the present weights."""
    ends = {end for one in found for end in (one.source, one.target)}
    names = memory.store.names(memory.namespace, ends)
    rows = memory.store.links(memory.namespace, ends) if ends else []
    weights = {(one.source, one.relation, one.target): one.weight for one in rows}
    return [
        replace(
            one,
            source=names.get(one.source, one.source),
            target=names.get(one.target, one.target),
            weight=weights.get((one.source, one.relation, one.target)),
        )
        for one in found
    ]


def normalize_strengths(
    memory: Namespace, *, relation: str | None = None, apply: bool = False
) -> list[StrengthEvent]:
    """Weigh links by how much their ends' neighbourhoods overlap: clamp(3 · Jaccard index, .1, 1).

    ``relation`` picks the links, by default ``similar-to`` and ``co-activated``. Without ``apply`` it only
    tells what would move.

    Raises:
        ParamError: an argument outside its range.

    """
    relations = LEARNT if relation is None else (check_name("relation", relation) or "",)
    if not isinstance(apply, bool):
        raise ParamError("apply", apply, "must be true or false")
    kind, reason = "normalize-strengths", "3 · Jaccard index of the neighbourhoods, in [.1, 1]"
    if not apply:
        with memory.reading() as now:
            rows = _normalised(memory.store.links(memory.namespace), relations)
            planned = Logged(0, "", kind, now, source=MANUAL, reason=reason, rows=tuple(rows))
            return weight_events(memory, planned)
    with memory.writing() as now:
        memory.require_exists()
        rows = _normalised(memory.store.links(memory.namespace), relations)
        if not rows:
            return []
        message = f"{len(rows):,} {'link' if len(rows) == 1 else 'links'} normalised"
        logged = memory.write(kind, now, rows, source=MANUAL, reason=reason, message=message)
        return weight_events(memory, logged)


def _normalised(links: Iterable[LinkRow], wanted: Sequence[str]) -> list[RowChange]:
    """The links of some relations whose weight is another than their ends' neighbourhoods say."""
    near: defaultdict[str, set[str]] = defaultdict(set)
    chosen = []
    for one in links:
        if one.relation not in SUPPRESSING:
            near[one.source].add(one.target)
            near[one.target].add(one.source)
        if one.relation in wanted:
            chosen.append(one)
    if not chosen:
        return []
    weights = normalize_strength([_overlap(near, *ends_of(one)) for one in chosen])
    return [
        RowChange(one, replace(one, weight=float(weight)))
        for one, weight in zip(chosen, weights, strict=True)
        if one.weight != float(weight)
    ]


def _overlap(near: Mapping[str, set[str]], a: str, b: str) -> float:
    """Jaccard index of two neighbourhoods, without ``a`` and ``b`` themselves; 0 where both are empty."""
    first, second = near.get(a, set()), near.get(b, set())
    shared = len(first & second)
    either = len(first) + len(second) - (b in first) - (a in second) - shared
    return shared / either if either else 0.0
