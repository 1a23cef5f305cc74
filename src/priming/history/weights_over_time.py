"""Weights over time, read from the log: how they moved, and the links and distributions at another time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import islice, pairwise

from priming.config.values import dataclass
from priming.config.words import RelationSigns
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_name, check_time
from priming.core.plasticity import normalize_strength
from priming.errors import ParamError
from priming.history.log import PastRows, newest_first, restrictions, rows_at
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, RowChange, RowIdentity, ends_of, identity
from priming.text.quotation import count_text

MANUAL, LINKER = "manual", "linker"
LEARNT = ("similar-to", "co-activated")
"""Relations whose weight measures how closely two memories are related."""
BINS = 10
_MOST_TIMES = 1_000


@dataclass(frozen=True, slots=True)
class StrengthEvent:
    """One weight that an operation moved: of a link (``edge`` is source, relation, target) or of a memory.

    ``old`` is None for a new link, ``new`` for a removed one; ``delta`` is the difference, where None counts as 0.
    ``operation`` is None for a change that was only proposed. ``actor`` is who asked for it, ``via`` by what, and
    ``source`` the tier: conscious, automatic or manual, ``linker`` for links that a rule makes as a memory is stored.
    """

    ts: datetime
    event: str
    source: str | None
    edge: tuple[str, ...]
    old: float | None
    new: float | None
    delta: float
    reason: str | None
    operation: str | None
    actor: str | None = field(default=None, compare=False)
    via: str | None = field(default=None, compare=False)
    session: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Strengths:
    """The distribution of the weights of links at a time; ``bins`` counts them in tenths of [0, 1]."""

    at: datetime
    links: int
    mean: float | None
    median: float | None
    bins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Oscillation:
    """A link whose weight moved up and down: how often the direction turned, and the total and net movement."""

    source: str
    relation: str
    target: str
    turns: int
    moves: int
    travelled: float
    net: float
    weight: float | None


@dataclass(frozen=True, slots=True)
class PastLinks:
    """The links of another time; ``gone`` are the keys, by id, of memories that changed or were removed since."""

    links: list[LinkRow]
    gone: Mapping[str, str]


def past(memory: Namespace, at: datetime) -> PastLinks:
    """Return the links as they were at ``at``, after any operation at that very instant."""
    with memory.store.transaction(write=False):
        rows = rows_at(memory, at)
        links = rows.of(LinkRow, memory.rows(LinkRow))
    # The operation that removed a memory has its key.
    gone = {row.id: row.key for row in rows.rows.values() if isinstance(row, MemoryRow)}
    return PastLinks([links[name] for name in sorted(links)], gone)


def links_at(memory: Namespace, at: datetime) -> list[LinkRow]:
    """Return the link rows as they were at ``at``, ordered by source, target and relation."""
    return past(memory, at).links


def events(
    memory: Namespace,
    *,
    key: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    source: str | None = None,
    limit: int = 1000,
) -> list[StrengthEvent]:
    """Return each change of a link's or memory's weight, newest first; the arguments are those of ``log``.

    Raises:
        NotFound: no such memory.
        ParamError: an argument outside its range.

    """
    with memory.reading():
        which = restrictions(memory, key, since, until, source)
        log = newest_first(memory, **which)
        moves = (event for logged in log for event in weight_events(memory, logged, which["memory_id"]))
        return memory.listed(islice(moves, check_count("limit", limit, 1, PAGE_LIMIT)))


def weight_events(memory: Namespace, logged: Logged, memory_id: str | None = None) -> list[StrengthEvent]:
    """Return the changes of weights by one operation: those of one memory, or all."""
    moves = [
        (change, event)
        for change in logged.rows
        if (event := _event_name(change)) is not None and memory_id in (None, *change.ends)
    ]
    names = {c.row.id: c.row.key for c in logged.rows if isinstance(c.row, MemoryRow)}
    names |= memory.names(ids={end for change, _ in moves for end in change.ends})
    return [_strength_event(change, event, logged, names) for change, event in moves]


def _event_name(change: RowChange) -> str | None:
    """Return the name of the event that a change is; None if it moves no weight."""
    before, after = change.before, change.after
    if isinstance(before, (LinkRow, MemoryRow)) and isinstance(after, (LinkRow, MemoryRow)):
        event = "strength_adjust" if isinstance(after, LinkRow) else "node_adjust"
        return None if before.weight == after.weight else event
    if isinstance(change.row, LinkRow):
        return "link_made" if before is None else "link_removed"
    return None


def _strength_event(change: RowChange, event: str, logged: Logged, names: Mapping[str, str]) -> StrengthEvent:
    old, new = _weight(change.before), _weight(change.after)
    ends = [names.get(end, end) for end in change.ends]
    edge = (ends[0], change.row.relation, ends[1]) if isinstance(change.row, LinkRow) else (ends[0],)
    return StrengthEvent(
        ts=logged.at,
        event=event,
        source=logged.source or (LINKER if logged.kind == "remember" else None),
        edge=edge,
        old=old,
        new=new,
        delta=(new or 0.0) - (old or 0.0),
        reason=logged.reason or logged.message,
        operation=logged.id or None,
        actor=logged.actor,
        via=logged.via,
        session=logged.session,
    )


def _weight(row: object) -> float | None:
    return row.weight if isinstance(row, (LinkRow, MemoryRow)) else None


def strengths(
    memory: Namespace,
    *,
    over: int = 1,
    since: datetime | None = None,
    at: datetime | None = None,
    relation: str | None = None,
) -> list[Strengths]:
    """Show the distribution of link weights, now or over time.

    Args:
        over: number of times, equally spaced from ``since`` up to ``at``.
        since: the first of these; by default the first operation.
        at: the last or only time; now by default.
        relation: only links of this relation.

    Raises:
        ParamError: an argument outside its range, or ``since`` after ``at``.

    """
    with memory.reading() as now:
        over, relation = check_count("over", over, 1, _MOST_TIMES), check_name("relation", relation)
        end = now if at is None else check_time("at", at)
        if since is not None and over == 1:
            raise ParamError("since", since, "is the start of a series of times: also give over ≥ 2")
        start = _start(memory, end) if since is None else check_time("since", since)
        if start > end:
            raise ParamError(
                "since", start.isoformat(), f"must be ≤ {end.isoformat()}, where the series ends"
            )
        steps = max(over - 1, 1)
        moments = [end - (end - start) * step / steps for step in range(over)]
        distributions = list(_distributions(memory, moments, relation))[::-1]
        return memory.listed(distributions, empty=not any(each.links for each in distributions))


def _start(memory: Namespace, end: datetime) -> datetime:
    """Return the time of the first operation, at most ``end``."""
    first = memory.operations(before=2, limit=1)
    return min([end, *(logged.at for logged in first)])


def _distributions(
    memory: Namespace, moments: Sequence[datetime], relation: str | None
) -> Iterator[Strengths]:
    """Yield the distribution at each of the moments, latest first."""
    present, past_rows = memory.rows(LinkRow), PastRows()
    log = newest_first(memory)
    logged = next(log, None)
    for moment in moments:
        while logged is not None and logged.at > moment:
            past_rows.step_back(logged)
            logged = next(log, None)
        links = past_rows.of(LinkRow, present).values()
        weights = [link.weight for link in links if relation in (None, link.relation)]
        yield distribution(moment, weights)


def distribution(at: datetime, weights: Sequence[float]) -> Strengths:
    """Return the distribution of weights; a bin includes its lower bound, the last bin also its upper bound."""
    from statistics import fmean, median  # it loads fractions and decimals, which no verb but this needs

    bins = [0] * BINS
    for weight in weights:
        bins[min(int(weight * BINS), BINS - 1)] += 1
    mean, middle = (fmean(weights), float(median(weights))) if weights else (None, None)
    return Strengths(at, len(weights), mean, middle, tuple(bins))


def oscillating(
    memory: Namespace, *, since: datetime | None = None, turns: int = 2, limit: int = 20
) -> list[Oscillation]:
    """List links whose weight rose and fell in turns, most turns first.

    ``turns`` is the minimum number of turns.
    Undone operations and undos do not count: no verdict moved the weight.

    Raises:
        ParamError: an argument outside its range.

    """
    with memory.reading():
        start = None if since is None else check_time("since", since)
        turns, limit = check_count("turns", turns, 1, PAGE_LIMIT), check_count("limit", limit, 1, PAGE_LIMIT)
        moves: defaultdict[RowIdentity, list[float]] = defaultdict(list)
        for logged in newest_first(memory, since=start):
            if logged.undone_by is not None or logged.undoes:
                continue
            for change in logged.rows:
                if isinstance(change.row, LinkRow) and _event_name(change) == "strength_adjust":
                    delta = (_weight(change.after) or 0.0) - (_weight(change.before) or 0.0)
                    moves[identity(change.row)].append(delta)
        turning = [
            link
            for link in (_oscillation(name, deltas) for name, deltas in moves.items())
            if link.turns >= turns
        ]
        turning.sort(key=lambda link: (-link.turns, -link.travelled, link.source, link.relation, link.target))
        return memory.listed(_named(memory, turning[:limit]))


def _oscillation(name: RowIdentity, deltas: Sequence[float]) -> Oscillation:
    _, source, target, relation = name
    turns = sum((a > 0) != (b > 0) for a, b in pairwise(deltas))
    return Oscillation(source, relation, target, turns, len(deltas), sum(map(abs, deltas)), sum(deltas), None)


def _named(memory: Namespace, oscillations: Sequence[Oscillation]) -> list[Oscillation]:
    """Return the oscillations with keys in place of ids, and the present weights."""
    ends = {end for link in oscillations for end in (link.source, link.target)}
    names = memory.names(ids=ends)
    rows = memory.rows(LinkRow, ids=ends)
    weights = {(row.source, row.relation, row.target): row.weight for row in rows}
    return [
        replace(
            link,
            source=names.get(link.source, link.source),
            target=names.get(link.target, link.target),
            weight=weights.get((link.source, link.relation, link.target)),
        )
        for link in oscillations
    ]


def normalize_strengths(
    memory: Namespace, *, relation: str | None = None, apply: bool = False
) -> list[StrengthEvent]:
    """Weigh links by the overlap of their ends' neighbourhoods: clamp(3 · Jaccard index, .1, 1).

    ``relation`` selects the links, by default ``similar-to`` and ``co-activated``. Without ``apply`` nothing is
    written: the changes are only returned.

    Raises:
        ParamError: an argument outside its range.

    """
    relations = LEARNT if relation is None else (check_name("relation", relation) or "",)
    kind, reason = "normalize-strengths", "3 · Jaccard index of the neighbourhoods, in [.1, 1]"
    with memory.changing() if apply else memory.reading() as now:
        rows = _normalised(memory.rows(LinkRow), relations, memory.signs())
        if not apply:
            logged = Logged(0, "", kind, now, source=MANUAL, reason=reason, rows=tuple(rows))
        elif rows:
            message = f"{count_text(len(rows), 'link')} normalised"
            logged = memory.write(kind, now, rows, source=MANUAL, reason=reason, message=message)
        return memory.listed(weight_events(memory, logged) if rows else [])


def _normalised(links: Iterable[LinkRow], relations: Sequence[str], signs: RelationSigns) -> list[RowChange]:
    """Return the links of ``relations`` whose weight differs from the overlap of their ends' neighbourhoods."""
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    selected = []
    for link in links:
        if not signs.suppresses(link.relation):
            neighbours[link.source].add(link.target)
            neighbours[link.target].add(link.source)
        if link.relation in relations:
            selected.append(link)
    if not selected:
        return []
    weights = normalize_strength([_overlap(neighbours, *ends_of(link)) for link in selected])
    return [
        RowChange(link, replace(link, weight=float(weight)))
        for link, weight in zip(selected, weights, strict=True)
        if link.weight != float(weight)
    ]


def _overlap(neighbours: Mapping[str, set[str]], a: str, b: str) -> float:
    """Return the Jaccard index of the neighbourhoods of ``a`` and ``b``, without these two; 0 if both are empty."""
    first, second = neighbours.get(a, set()), neighbours.get(b, set())
    shared = len(first & second)
    either = len(first) + len(second) - (b in first) - (a in second) - shared
    return shared / either if either else 0.0
