"""One namespace as it was: the rows of another time in a store of their own, over which the ordinary verbs answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

from priming.checks import check_text, check_time
from priming.core.bitemporal import visible
from priming.engine.backwards import Then, back_to, births
from priming.engine.document import RULES, embedded_text
from priming.engine.opened import Opened
from priming.engine.undo import vectors_again
from priming.engine.working import RESTORE
from priming.errors import NotFound, ParamError
from priming.store.protocol import Logged, VersionKey
from priming.store.rows import (
    LinkRow,
    MemoryRow,
    Row,
    RowChange,
    VerdictRow,
    VersionRow,
    WeightsRow,
    record,
)
from priming.store.sqlite import SqliteStore
from priming.types import FixedClock, Hit, MemoryRecord

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


@dataclass(frozen=True, slots=True)
class Outdated:
    """A version that held no longer: whose it is, until when it held, and which version followed."""

    id: str
    key: str
    valid_to: datetime
    followed_by: int


@dataclass
class Past(Opened):
    """A namespace as it was after the operation ``latest``, at the valid times from ``since`` up to ``until``.

    ``head`` is the operation up to which the present was looked at for purges. ``outdated`` tells, by the id that
    they have here, which memories stand for versions that held no longer.
    """

    latest: str | None = None
    head: int = 0
    true_at: datetime = _START
    since: datetime = _START
    until: datetime = _END
    superseded: bool = False
    outdated: Mapping[str, Outdated] = field(default_factory=dict)

    def valid(self, now: datetime) -> datetime:  # noqa: ARG002
        """The time whose truth is asked for."""
        return self.true_at

    def answers(self, latest: str | None, valid: datetime, superseded: bool) -> bool:
        """Whether it is the past that is asked for."""
        alike = (self.latest, self.superseded) == (latest, superseded)
        return alike and self.since <= valid < self.until


def at(opened: Opened, asked: Moment | None) -> Opened:
    """What to ask about a moment: the present itself, or a past with the clock at that time."""
    if asked is None:
        return opened
    now = asked.known_at or opened.now()
    valid = asked.valid_at or now
    with opened.store.transaction(write=False):
        opened.readable()
        _refresh(opened)
        latest = _latest(opened, asked.known_at)
        past = next((one for one in opened.pasts if one.answers(latest, valid, asked.superseded)), None)
        past = past or _made(opened, asked.known_at, latest, valid, asked.superseded)
    past.clock, past.true_at = FixedClock(now), valid
    others = [one for one in opened.pasts if one is not past]
    opened.pasts = [past, *others[: KEPT - 1]]
    for one in others[KEPT - 1 :]:
        one.close()
    return past


def _refresh(opened: Opened) -> None:
    """Let go of all pasts if anything was purged, or everything replaced, since they were made."""
    head = opened.store.head(opened.namespace)
    looked = min((one.head for one in opened.pasts), default=head)
    if looked == head:
        return
    since = opened.store.since(opened.namespace, looked)
    if looked > head or any(one.erased or one.kind == RESTORE for one in since):
        opened.drop_pasts()
    for past in opened.pasts:
        past.head = head


def _latest(opened: Opened, known: datetime | None) -> str | None:
    """The last operation that was known; of now the last one, whatever time the clock gave it."""
    until = None if known is None else min(known, _END - _INSTANT) + _INSTANT
    found = opened.store.operations(opened.namespace, until=until, limit=1)
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
    opened: Opened, known: datetime | None, latest: str | None, valid: datetime, superseded: bool
) -> Past:
    rows, outdated = _rows_at(opened, known), dict[str, Outdated]()
    since, until = _span(rows.versions, valid)
    if superseded:
        rows, outdated = _with_outdated(rows, valid)
    store = SqliteStore(None)
    everything: list[Row] = [*rows.memories, *rows.versions, *rows.links, *rows.verdicts, *rows.weights]
    # The one operation is what tells the working set that there is something to read.
    now = known or opened.now()
    store.restore(opened.namespace, everything, [Logged(1, "past", "past", now)])
    store.add_vectors(opened.namespace, opened.embedder.generation, rows.vectors)
    return Past(
        store,
        opened.namespace,
        opened.embedder,
        FixedClock(now),
        opened.profile,
        latest=latest,
        head=opened.store.head(opened.namespace),
        since=since,
        until=until,
        superseded=superseded,
        outdated=outdated,
    )


def _rows_at(opened: Opened, known: datetime | None) -> _Rows:
    """The present rows, with those that changed since as they were; memories in the order of insertion of then."""
    store, namespace = opened.store, opened.namespace
    then = Then() if known is None else back_to(opened, known)
    memories = list(then.of(MemoryRow, store.memories(namespace)).values())
    if known is not None and then.gone:
        born = births(opened, known)
        memories.sort(key=lambda one: born.get(one.id, (0, 0)))
    there = store.versions(namespace)
    versions = {name: one for name, one in then.of(VersionRow, there).items() if one.retired_at is None}
    return _Rows(
        memories,
        list(versions.values()),
        list(then.of(LinkRow, store.links(namespace)).values()),
        list(then.of(VerdictRow, store.verdicts(namespace)).values()),
        list(then.of(WeightsRow, store.weights(namespace)).values()),
        _vectors(opened, list(versions.values()), there),
    )


def _vectors(
    opened: Opened, versions: Sequence[VersionRow], there: Sequence[VersionRow]
) -> dict[VersionKey, bytes]:
    """The vectors of some versions: those whose texts are no longer in the store are embedded again.

    The number of a version that was undone is given again, so that a vector may be of another text.
    """
    present = {(one.id, one.version): _embedded(one) for one in there}
    lost = [one for one in versions if present.get((one.id, one.version)) != _embedded(one)]
    known = {(one.id, one.version) for one in versions}
    stored = opened.store.vectors(opened.namespace, opened.embedder.generation)
    found = {key: vector for key, vector in stored if key in known}
    for one in lost:
        found.pop((one.id, one.version), None)
    return found | vectors_again(opened, [RowChange(None, one) for one in lost])


def _embedded(one: VersionRow) -> str:
    return embedded_text(one.heading or one.speaker, one.content)


def room(opened: Opened, limit: int) -> int:
    """How many hits to look for: a version that holds may rank below the one that it must stand above."""
    return 2 * limit if isinstance(opened, Past) and opened.outdated else limit


def told(opened: Opened, hits: tuple[Hit, ...], limit: int) -> tuple[Hit, ...]:
    """The best hits, of which those that held no longer are named as what they are.

    Such a version counts no more than the one that holds, where that comes up too, and stands below it.
    """
    if not (isinstance(opened, Past) and opened.outdated):
        return hits
    scores = {hit.memory.id: hit.score for hit in hits}
    found = [_marked(hit, opened.outdated.get(hit.memory.id), scores) for hit in hits]
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


def as_of(opened: Opened, key: str, *, valid_at: datetime | None, known_at: datetime | None) -> MemoryRecord:
    """The version of a memory that was true at one time, as it was known at another; both are now by default."""
    if not check_text("key", key).strip():
        raise ParamError("key", key, "must be a memory's key or id")
    asked = moment(valid_at, known_at) or Moment(None, None)
    known = asked.known_at or opened.now()
    valid = asked.valid_at or known
    with opened.store.transaction(write=False):
        opened.readable()
        then = Then() if asked.known_at is None else back_to(opened, known)
        memory = _known(opened, key, then)
        if memory is None:
            raise NotFound(
                f"no memory {key!r} was known in {opened.namespace!r} at {known.isoformat()}:"
                " see the log for when it was remembered"
            )
        rows = then.of(VersionRow, opened.store.versions(opened.namespace, memory.id)).values()
        versions = [one for one in rows if one.id == memory.id and one.retired_at is None]
    # What is there was known since it came, whatever the clock said that recorded it.
    held = [one for one in versions if visible(one, valid_at=valid, known_at=one.recorded_at)]
    if not held:
        raise NotFound(
            f"no version of {memory.key!r} was true at {valid.isoformat()}, as known at {known.isoformat()}:"
            " see its history"
        )
    return record(opened.namespace, memory, held[0])


def _known(opened: Opened, key: str, then: Then) -> MemoryRow | None:
    """The memory that had a key or id then."""
    there = opened.store.get(opened.namespace, key, opened.now())
    ids = [] if there is None else [there.id]
    rows = then.of(MemoryRow, opened.store.memories(opened.namespace, ids)).values()
    named = [one for one in rows if key in (one.id, one.key)]
    return next((one for one in named if one.id == key), next(iter(named), None))
