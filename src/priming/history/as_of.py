"""One namespace as it was: the rows of another time in a store of their own, over which the ordinary verbs answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

from priming.core.arguments.checks import check_text, check_time
from priming.core.bitemporal import visible
from priming.errors import NotFound, ParamError
from priming.history.log_replay import PastRows, created_at, rows_at
from priming.history.undo import restored_vectors
from priming.index.document import RULES, embedded_text
from priming.index.working_set import RESTORE
from priming.namespace import Namespace, Outdated, PastNamespace
from priming.results import Hit
from priming.storage.protocol import Logged, VersionKey
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    Row,
    RowChange,
    VerdictRow,
    VersionRow,
    WeightsRow,
    record,
)
from priming.storage.sqlite import SqliteStore
from priming.types import FixedClock, Version

KEPT = 2
"""How many pasts an open memory keeps: to compare two takes both."""
_START, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """What was true at one time, as it was known at another; None is the present.

    ``superseded``: whether versions that held no longer may come up too.
    """

    valid_at: datetime | None
    known_at: datetime | None
    superseded: bool = False


def moment(
    valid_at: datetime | None, known_at: datetime | None, *, superseded: object = False
) -> Moment | None:
    """The moment that is asked about; None is the present, without what is superseded."""
    if not isinstance(superseded, bool):
        raise ParamError("include_superseded", superseded, "must be true or false")
    valid = None if valid_at is None else check_time("valid_at", valid_at)
    known = None if known_at is None else check_time("known_at", known_at)
    asked = Moment(valid, known, superseded)
    return None if asked == Moment(None, None) else asked


def namespace_at(memory: Namespace, asked: Moment | None) -> Namespace:
    """What to ask about a moment: the present itself, or a past with the clock at that time."""
    if asked is None:
        return memory
    now = asked.known_at or memory.now()
    valid = asked.valid_at or now
    with memory.store.transaction(write=False):
        memory.require_exists()
        _refresh(memory)
        latest = _latest(memory, asked.known_at)
        past = next((one for one in memory.pasts if one.matches(latest, valid, asked.superseded)), None)
        past = past or _made(memory, asked.known_at, latest, valid, asked.superseded)
    past.clock, past.true_at = FixedClock(now), valid
    others = [one for one in memory.pasts if one is not past]
    memory.pasts = [past, *others[: KEPT - 1]]
    for one in others[KEPT - 1 :]:
        one.close()
    return past


def _refresh(memory: Namespace) -> None:
    """Let go of all pasts if anything was purged, or everything replaced, since they were made."""
    head = memory.store.head(memory.namespace)
    looked = min((one.head for one in memory.pasts), default=head)
    if looked == head:
        return
    since = memory.store.since(memory.namespace, looked)
    if looked > head or any(one.erased or one.kind == RESTORE for one in since):
        memory.drop_pasts()
    for past in memory.pasts:
        past.head = head


def _latest(memory: Namespace, known: datetime | None) -> str | None:
    """The last operation that was known; of now the last one, whatever time the clock gave it."""
    until = None if known is None else min(known, _END - _INSTANT) + _INSTANT
    found = memory.store.operations(memory.namespace, until=until, limit=1)
    return found[0].id if found else None


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a namespace that a question is asked of: memories with the versions that were known."""

    memories: list[MemoryRow]
    versions: list[VersionRow]
    links: list[LinkRow]
    verdicts: list[VerdictRow]
    weights: list[WeightsRow]
    vectors: dict[VersionKey, bytes]


def _made(
    memory: Namespace, known: datetime | None, latest: str | None, valid: datetime, superseded: bool
) -> PastNamespace:
    rows, outdated = _rows_at(memory, known), dict[str, Outdated]()
    since, until = _span(rows.versions, valid)
    if superseded:
        rows, outdated = _with_outdated(rows, valid)
    store = SqliteStore(None)
    everything: list[Row] = [*rows.memories, *rows.versions, *rows.links, *rows.verdicts, *rows.weights]
    # The one operation is what tells the working set that there is something to read.
    now = known or memory.now()
    store.restore(memory.namespace, everything, [Logged(1, "past", "past", now)])
    store.add_vectors(memory.namespace, memory.embedder.generation, rows.vectors)
    return PastNamespace(
        store,
        memory.namespace,
        memory.embedder,
        FixedClock(now),
        memory.profile,
        latest=latest,
        head=memory.store.head(memory.namespace),
        since=since,
        until=until,
        superseded=superseded,
        outdated=outdated,
    )


def _rows_at(memory: Namespace, known: datetime | None) -> _Rows:
    """The present rows, with those that changed since as they were; memories in the order of insertion of then."""
    store, namespace = memory.store, memory.namespace
    then = PastRows() if known is None else rows_at(memory, known)
    memories = list(then.of(MemoryRow, store.memories(namespace)).values())
    if known is not None and then.gone:
        born = created_at(memory, known)
        memories.sort(key=lambda one: born.get(one.id, (0, 0)))
    there = store.versions(namespace)
    versions = {name: one for name, one in then.of(VersionRow, there).items() if one.retired_at is None}
    return _Rows(
        memories,
        list(versions.values()),
        list(then.of(LinkRow, store.links(namespace)).values()),
        list(then.of(VerdictRow, store.verdicts(namespace)).values()),
        list(then.of(WeightsRow, store.weights(namespace)).values()),
        _vectors(memory, list(versions.values()), there),
    )


def _vectors(
    memory: Namespace, versions: Sequence[VersionRow], there: Sequence[VersionRow]
) -> dict[VersionKey, bytes]:
    """The vectors of some versions: those whose texts are no longer in the store are embedded again.

    The number of a version that was undone is given again, so that a vector may be of another text.
    """
    present = {(one.id, one.version): _embedded(one) for one in there}
    lost = [one for one in versions if present.get((one.id, one.version)) != _embedded(one)]
    known = {(one.id, one.version) for one in versions}
    stored = memory.store.vectors(memory.namespace, memory.embedder.generation)
    found = {key: vector for key, vector in stored if key in known}
    for one in lost:
        found.pop((one.id, one.version), None)
    return found | restored_vectors(memory, [RowChange(None, one) for one in lost])


def _embedded(one: VersionRow) -> str:
    return embedded_text(one.heading or one.speaker, one.content)


def past_room(memory: Namespace, limit: int) -> int:
    """How many hits to look for: a version that holds may rank below the one that it must stand above."""
    return 2 * limit if isinstance(memory, PastNamespace) and memory.outdated else limit


def describe_moment(memory: Namespace, hits: tuple[Hit, ...], limit: int) -> tuple[Hit, ...]:
    """The best hits, of which those that held no longer are named as what they are.

    Such a version counts no more than the one that holds, where that comes up too, and stands below it.
    """
    if not (isinstance(memory, PastNamespace) and memory.outdated):
        return hits
    scores = {hit.memory.id: hit.score for hit in hits}
    found = [_marked(hit, memory.outdated.get(hit.memory.id), scores) for hit in hits]
    return tuple(sorted(found, key=lambda hit: (-hit.score, hit.superseded_by is not None))[:limit])


def _marked(hit: Hit, outdated: Outdated | None, scores: Mapping[str, float]) -> Hit:
    if outdated is None:
        return hit
    was = replace(hit.memory, id=outdated.id, key=outdated.key, valid_to=outdated.valid_to)
    score = min(hit.score, scores.get(outdated.id, hit.score))
    return replace(hit, memory=was, score=score, superseded_by=outdated.followed_by)


def _span(versions: Iterable[VersionRow], valid: datetime) -> tuple[datetime, datetime]:
    """Between which times the same versions are true as at ``valid``."""
    edges = {end for one in versions for end in (one.valid_from, one.valid_to) if end is not None}
    since = max((one for one in edges if one <= valid), default=_START)
    return since, min((one for one in edges if one > valid), default=_END)


def _with_outdated(rows: _Rows, valid: datetime) -> tuple[_Rows, dict[str, Outdated]]:
    """The rows, and a memory of its own for each version that held no longer at ``valid``, after the one it is of.

    To filters such a version has no end, so that they may find it; the answer names the end that it has.
    """
    taken = {one.key for one in rows.memories} | {one.id for one in rows.memories}
    versions = groupby(sorted(rows.versions, key=lambda one: (one.id, one.version)), key=lambda one: one.id)
    ended = {
        memory_id: [(one, after) for one, after in pairwise(some) if one.valid_to and one.valid_to <= valid]
        for memory_id, some in versions
    }
    memories, extra, vectors = list[MemoryRow](), list[VersionRow](), dict(rows.vectors)
    outdated: dict[str, Outdated] = {}
    for memory in rows.memories:
        memories.append(memory)
        for old, after in ended.get(memory.id, ()):
            if memory.kind == "entity" and old.source == RULES:
                continue
            name = _free(f"{memory.key}@{old.version}", taken)
            memories.append(replace(memory, id=name, key=name))
            extra.append(replace(old, id=name, valid_to=None))
            assert old.valid_to is not None, "what held no longer has an end"
            outdated[name] = Outdated(memory.id, memory.key, old.valid_to, after.version)
            if (old.id, old.version) in vectors:
                vectors[name, old.version] = vectors[old.id, old.version]
    return replace(rows, memories=memories, versions=rows.versions + extra, vectors=vectors), outdated


def _free(name: str, taken: set[str]) -> str:
    """A name that no memory has."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def as_of(
    memory: Namespace, key: str, *, valid_at: datetime | None = None, known_at: datetime | None = None
) -> Version:
    """The version of a memory that was true at ``valid_at``, as it was known at ``known_at``.

    Without ``valid_at`` the time is that of ``known_at``, without both it is now. What was recorded at that very
    instant was known.

    Raises:
        NotFound: no memory of that key was known then, or none of its versions was true.
        ParamError: a time without a time zone.

    """
    if not check_text("key", key).strip():
        raise ParamError("key", key, "must be a memory's key or id")
    asked = moment(valid_at, known_at) or Moment(None, None)
    with memory.reading() as now:
        known = asked.known_at or now
        valid = asked.valid_at or known
        then = PastRows() if asked.known_at is None else rows_at(memory, known)
        row = _known(memory, key, then)
        if row is None:
            raise NotFound(
                f"no memory {key!r} was known in {memory.namespace!r} at {known.isoformat()}:"
                " see the log for when it was remembered"
            )
        rows = then.of(VersionRow, memory.store.versions(memory.namespace, row.id)).values()
        versions = [one for one in rows if one.id == row.id and one.retired_at is None]
    # What is there was known since it came, whatever the clock said that recorded it.
    held = [one for one in versions if visible(one, valid_at=valid, known_at=one.recorded_at)]
    if not held:
        raise NotFound(
            f"no version of {row.key!r} was true at {valid.isoformat()}, as known at {known.isoformat()}:"
            " see its history"
        )
    return record(memory.namespace, row, held[0])


def _known(memory: Namespace, key: str, then: PastRows) -> MemoryRow | None:
    """The memory that had a key or id then."""
    there = memory.store.get(memory.namespace, key, memory.now())
    ids = [] if there is None else [there.id]
    rows = then.of(MemoryRow, memory.store.memories(memory.namespace, ids)).values()
    named = [one for one in rows if key in (one.id, one.key)]
    return next((one for one in named if one.id == key), next(iter(named), None))
