"""The log read as an instrument: how the weights of links moved, and what they were at another time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, pairwise
from statistics import fmean, median

from priming.checks import PAGE_LIMIT, check_count, check_name, check_source, check_time
from priming.config.params.laws import SUPPRESSING
from priming.core.plasticity import normalize_strength
from priming.engine.backwards import back_to, newest_first
from priming.engine.opened import Opened
from priming.errors import ParamError
from priming.store.protocol import Logged
from priming.store.rows import LinkRow, MemoryRow, RowChange, ends_of, identity
from priming.verdicts import Oscillation, StrengthEvent, Strengths

MANUAL = "manual"
LEARNT = ("similar-to", "co-activated")
"""Relations whose weight says how much two memories have to do with each other."""
BINS = 10
_MOST_TIMES = 1_000
_Links = dict[tuple[str, ...], LinkRow]


@dataclass(frozen=True, slots=True)
class Past:
    """The links of another time; ``gone`` has the keys, by id, of memories that were there then and are not now."""

    links: list[LinkRow]
    gone: Mapping[str, str]


def past(opened: Opened, at: datetime) -> Past:
    """The links as they were at ``at``, what was recorded at that very instant included."""
    with opened.store.transaction(write=False):
        then = back_to(opened, at)
        links = then.of(LinkRow, opened.store.links(opened.namespace))
    # Who removed a memory wrote down its key.
    gone = {one.id: one.key for one in then.rows.values() if isinstance(one, MemoryRow)}
    return Past([links[name] for name in sorted(links)], gone)


def links_at(opened: Opened, at: datetime) -> list[LinkRow]:
    """The link rows exactly as they were at ``at``, in order of source, target and relation."""
    return past(opened, at).links


def _present(opened: Opened) -> _Links:
    return {identity(one): one for one in opened.store.links(opened.namespace)}


def _step_back(links: _Links, logged: Logged) -> None:
    """Bring links from after an operation to before it."""
    for change in logged.rows:
        if isinstance(change.before, LinkRow):
            links[identity(change.before)] = change.before
        elif isinstance(change.after, LinkRow):
            links.pop(identity(change.after), None)


def events(
    opened: Opened,
    *,
    key: str | None,
    since: datetime | None,
    until: datetime | None,
    source: str | None,
    limit: int,
) -> list[StrengthEvent]:
    """What moved a weight, newest first."""
    opened.readable()
    memory_id = None if key is None else opened.find(key).id
    log = newest_first(
        opened,
        memory_id=memory_id,
        since=None if since is None else check_time("since", since),
        until=None if until is None else check_time("until", until),
        source=check_source(source),
    )
    with opened.store.transaction(write=False):
        moved = (event for logged in log for event in events_of(opened, logged, memory_id))
        return list(islice(moved, check_count("limit", limit, 1, PAGE_LIMIT)))


def events_of(opened: Opened, logged: Logged, memory_id: str | None = None) -> list[StrengthEvent]:
    """What one operation did to weights, of one memory or of any."""
    moves = [
        (one, what)
        for one in logged.rows
        if (what := _event(one)) is not None and memory_id in (None, *one.ends)
    ]
    names = {c.row.id: c.row.key for c in logged.rows if isinstance(c.row, MemoryRow)}
    names |= opened.store.names(opened.namespace, {end for one, _ in moves for end in one.ends})
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
    opened: Opened, *, at: datetime | None, over: int, since: datetime | None, relation: str | None
) -> list[Strengths]:
    """The distribution of weights at ``over`` times, the last of them ``at``, oldest first."""
    opened.readable()
    over, relation = check_count("over", over, 1, _MOST_TIMES), check_name("relation", relation)
    end = opened.now() if at is None else check_time("at", at)
    if since is not None and over == 1:
        raise ParamError("since", since, "is where a series of times begins: give over ≥ 2 too")
    with opened.store.transaction(write=False):
        start = _start(opened, end) if since is None else check_time("since", since)
        if start > end:
            raise ParamError(
                "since", start.isoformat(), f"must be ≤ {end.isoformat()}, where the series ends"
            )
        steps = max(over - 1, 1)
        moments = [end - (end - start) * step / steps for step in range(over)]
        found = list(_back_to(opened, moments, relation))
    return found[::-1]


def _start(opened: Opened, end: datetime) -> datetime:
    """When the first operation was, but not after ``end``."""
    first = opened.store.operations(opened.namespace, before=2, limit=1)
    return min([end, *(one.at for one in first)])


def _back_to(opened: Opened, moments: Sequence[datetime], relation: str | None) -> Iterator[Strengths]:
    """The distribution at each of some moments, latest first."""
    links, log = _present(opened), newest_first(opened)
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


def oscillating(opened: Opened, *, since: datetime | None, turns: int, limit: int) -> list[Oscillation]:
    """The links that were pulled both ways, those that turned most often first."""
    opened.readable()
    start = None if since is None else check_time("since", since)
    turns, limit = check_count("turns", turns, 1, PAGE_LIMIT), check_count("limit", limit, 1, PAGE_LIMIT)
    pulls: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    with opened.store.transaction(write=False):
        for logged in newest_first(opened, since=start):
            if logged.undone_by is not None or logged.undoes:
                continue
            for change in logged.rows:
                if isinstance(change.row, LinkRow) and _event(change) == "strength_adjust":
                    moved = (_weight(change.after) or 0.0) - (_weight(change.before) or 0.0)
                    pulls[identity(change.row)].append(moved)
        found = [_oscillation(name, pulled) for name, pulled in pulls.items()]
        most = sorted(
            (one for one in found if one.turns >= turns),
            key=lambda one: (-one.turns, -one.travelled, one.source, one.relation, one.target),
        )
        return _named(opened, most[:limit])


def _oscillation(name: tuple[str, ...], pulled: Sequence[float]) -> Oscillation:
    _, source, target, relation = name
    turns = sum((a > 0) != (b > 0) for a, b in pairwise(pulled))
    return Oscillation(source, relation, target, turns, len(pulled), sum(map(abs, pulled)), sum(pulled), None)


def _named(opened: Opened, found: Sequence[Oscillation]) -> list[Oscillation]:
    """With keys for ids, and the present weights."""
    ends = {end for one in found for end in (one.source, one.target)}
    names = opened.store.names(opened.namespace, ends)
    rows = opened.store.links(opened.namespace, ends) if ends else []
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


def normalize_strengths(opened: Opened, *, relation: str | None, apply: bool) -> list[StrengthEvent]:
    """Set weights by how much the neighbourhoods of a link's ends overlap, or tell what that would do."""
    wanted = LEARNT if relation is None else (check_name("relation", relation) or "",)
    if not isinstance(apply, bool):
        raise ParamError("apply", apply, "must be true or false")
    kind, reason = "normalize-strengths", "3 · Jaccard index of the neighbourhoods, in [.1, 1]"
    if not apply:
        opened.readable()
        rows = _normalised(opened.store.links(opened.namespace), wanted)
        planned = Logged(0, "", kind, opened.now(), source=MANUAL, reason=reason, rows=tuple(rows))
        return events_of(opened, planned)
    with opened.writing() as now:
        opened.readable()
        rows = _normalised(opened.store.links(opened.namespace), wanted)
        if not rows:
            return []
        message = f"{len(rows):,} {'link' if len(rows) == 1 else 'links'} normalised"
        logged = opened.write(kind, now, rows, source=MANUAL, reason=reason, message=message)
        return events_of(opened, logged)


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
