"""A namespace at another time: its rows of then in a store of their own, which the ordinary verbs read.

A ``Moment`` is what a query asks for; answers of then mark the versions that no longer hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

from priming.config.values import dataclass
from priming.core.arguments.checks import check_key, check_time
from priming.core.bitemporal import in_order, visible
from priming.errors import NotFound
from priming.history.log import PastRows, created_at, rows_at
from priming.index.document import RULES, embedded_text
from priming.index.working_set import RESTORE
from priming.namespace import Namespace
from priming.results import Hit
from priming.storage.filters import Combination, Comparison, Condition
from priming.storage.protocol import Logged, Store, VersionKey
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    RelationRow,
    Row,
    RowChange,
    VerdictRow,
    VersionRow,
    WeightsRow,
    record_among,
)
from priming.types import FixedClock, Version

EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_SEVERAL = {"eq": "in", "in": "in", "ne": "nin", "nin": "nin"}
"""For comparisons of equality, those with several values."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """A superseded version: its memory, the end of its validity, the next version, and when that was stored."""

    id: str
    key: str
    valid_to: datetime
    followed_by: int
    retired_at: datetime


@dataclass(eq=False, repr=False)
class PastNamespace(Namespace):
    """A namespace as it was after the operation ``latest``, at the valid times from ``since`` up to ``until``.

    ``head`` is the operation up to which the present was checked for purges. ``outdated`` are, by their id in this
    namespace, the memories that represent superseded versions.
    """

    latest: str | None = None
    head: int = 0
    true_at: datetime = EARLIEST
    since: datetime = EARLIEST
    until: datetime = LATEST
    superseded: bool = False
    outdated: Mapping[str, Outdated] = field(default_factory=dict)
    present: Store | None = None
    """The store that this is the past of, which has the counts of activations."""

    def activations(self, profile: str, ids: Collection[str]) -> dict[str, int]:
        """Return how often each of these memories had been activated by then."""
        stored = StoredNamespace(self.present or self.store, self.namespace)
        return stored.activations_until(self.now(), profile, ids)

    def valid_time(self, now: datetime) -> datetime:  # noqa: ARG002
        """Return the valid time of queries."""
        return self.true_at

    def matches(self, latest: str | None, valid: datetime, superseded: bool) -> bool:
        """Tell whether this is the namespace after an operation at a valid time."""
        same = (self.latest, self.superseded) == (latest, superseded)
        return same and self.since <= valid < self.until


@dataclass(frozen=True, slots=True)
class Moment:
    """A valid time and a known time; None is the present.

    ``superseded``: whether versions that no longer hold may be returned too.
    """

    valid_at: datetime | None
    known_at: datetime | None
    superseded: bool = False


def moment(
    valid_at: datetime | None, known_at: datetime | None, *, superseded: bool = False
) -> Moment | None:
    """Return the moment of a query, checked; None is the present without superseded versions."""
    checked = Moment(
        None if valid_at is None else check_time("valid_at", valid_at),
        None if known_at is None else check_time("known_at", known_at),
        superseded,
    )
    return None if checked == Moment(None, None) else checked


def past_room(memory: Namespace, limit: int) -> int:
    """Return how many hits to retrieve: a current version may rank below the outdated one that it must precede."""
    return 2 * limit if isinstance(memory, PastNamespace) and memory.outdated else limit


def naming_versions(memory: Namespace, condition: Condition) -> Condition:
    """Return a filter in which the key or id of a memory names its outdated versions too."""
    if not (isinstance(memory, PastNamespace) and memory.outdated):
        return condition
    if isinstance(condition, Combination):
        return replace(condition, parts=tuple(naming_versions(memory, part) for part in condition.parts))
    operator = _SEVERAL.get(condition.operator)
    if condition.path not in (("key",), ("id",)) or operator is None:
        return condition
    name = condition.path[0]
    values = condition.value if operator == condition.operator else (condition.value,)
    versions = [version for version, old in memory.outdated.items() if getattr(old, name) in values]
    return Comparison(condition.path, operator, (*values, *versions))


def describe_moment(memory: Namespace, hits: tuple[Hit, ...], limit: int) -> tuple[Hit, ...]:
    """Return the best hits, with outdated versions marked as such.

    An outdated version never scores higher than the current version of its memory among the hits, and follows it.
    """
    if not (isinstance(memory, PastNamespace) and memory.outdated):
        return hits
    scores = {hit.memory.id: hit.score for hit in hits}
    marked = [_mark_outdated(hit, memory.outdated.get(hit.memory.id), scores) for hit in hits]
    return tuple(sorted(marked, key=lambda hit: (-hit.score, hit.superseded_by is not None))[:limit])


def _mark_outdated(hit: Hit, outdated: Outdated | None, scores: Mapping[str, float]) -> Hit:
    if outdated is None:
        return hit
    version = replace(hit.memory, id=outdated.id, key=outdated.key, valid_to=outdated.valid_to)
    version = replace(version, retired_at=outdated.retired_at)
    score = min(hit.score, scores.get(outdated.id, hit.score))
    return replace(hit, memory=version, score=score, superseded_by=outdated.followed_by)


PAST_NAMESPACES = 2
"""How many past namespaces an open memory keeps: a comparison reads both."""
_INSTANT = timedelta(microseconds=1)
_OTHERS: tuple[type[Row], ...] = (LinkRow, VerdictRow, WeightsRow, RelationRow)


def namespace_at(memory: Namespace, queried: Moment | None) -> Namespace:
    """Return the namespace to query for a moment: the present one, or a past one with its clock at that time."""
    if queried is None:
        return memory
    now = queried.known_at or memory.now()
    valid = queried.valid_at or now
    with memory.store.transaction(write=False):
        _discard_erased(memory)
        latest = _latest(memory, queried.known_at)
        matches = (past for past in _pasts(memory) if past.matches(latest, valid, queried.superseded))
        past = next(matches, None)
        past = past or _past_namespace(memory, queried.known_at, latest, valid, queried.superseded)
    past.clock, past.true_at = FixedClock(now), valid
    others = [other for other in memory.pasts if other is not past]
    memory.pasts = [past, *others[: PAST_NAMESPACES - 1]]
    for other in others[PAST_NAMESPACES - 1 :]:
        other.close()
    return past


def _discard_erased(memory: Namespace) -> None:
    """Discard all past namespaces if anything was purged, or a backup restored, since they were built."""
    head = memory.store.head(memory.namespace)
    checked = min((past.head for past in _pasts(memory)), default=head)
    if checked == head:
        return
    since = memory.operations(after=checked)
    if checked > head or any(logged.erased or logged.kind == RESTORE for logged in since):
        memory.drop_pasts()
    for past in _pasts(memory):
        past.head = head


def _pasts(memory: Namespace) -> list[PastNamespace]:
    return [past for past in memory.pasts if isinstance(past, PastNamespace)]


def _latest(memory: Namespace, known_at: datetime | None) -> str | None:
    """Return the id of the last operation up to ``known_at``; for the present the last one, whatever its time."""
    until = None if known_at is None else min(known_at, LATEST - _INSTANT) + _INSTANT
    operations = memory.operations(until=until, limit=1)
    return operations[0].id if operations else None


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a namespace at a time, with the vectors of its versions."""

    memories: list[MemoryRow]
    versions: list[VersionRow]
    others: list[Row]
    vectors: dict[VersionKey, bytes]


def _past_namespace(
    memory: Namespace, known_at: datetime | None, latest: str | None, valid: datetime, superseded: bool
) -> PastNamespace:
    from priming.storage.sqlite.store import SqliteStore

    rows, outdated = _rows_at(memory, known_at), dict[str, Outdated]()
    since, until = _span(rows.versions, valid)
    if superseded:
        rows, outdated = _with_outdated(rows, valid)
    store = SqliteStore(None)
    everything: list[Row] = [*rows.memories, *rows.versions, *rows.others]
    # A single operation in the log makes the working set read the store.
    now = known_at or memory.now()
    past = StoredNamespace(store, memory.namespace)
    past.fill(everything, [Logged(1, "past", "past", now)])
    past.add_vectors(memory.embedder.generation, rows.vectors)
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
        present=memory.store,
    )


def _rows_at(memory: Namespace, known_at: datetime | None) -> _Rows:
    """Return the rows as they were at ``known_at``, memories in their order of insertion at that time."""
    past = PastRows() if known_at is None else rows_at(memory, known_at)
    memories = list(past.of(MemoryRow, memory.rows(MemoryRow)).values())
    if known_at is not None and past.gone:
        positions = created_at(memory, known_at)
        memories.sort(key=lambda row: positions.get(row.id, (0, 0)))
    present = memory.rows(VersionRow)
    versions = _from_their_event(_told_first(list(past.of(VersionRow, present).values())), memories)
    others = [row for cls in _OTHERS for row in past.of(cls, memory.rows(cls)).values()]
    return _Rows(memories, versions, others, _vectors(memory, versions, present))


def _told_first(rows: Sequence[VersionRow]) -> list[VersionRow]:
    """Return the current rows, each recorded when its version was stored: a store of the past has no other rows."""
    first: dict[VersionKey, datetime] = {}
    for row in rows:
        key = row.id, row.version
        first[key] = min(row.recorded_at, first.get(key, row.recorded_at))
    return [replace(row, recorded_at=first[row.id, row.version]) for row in rows if row.retired_at is None]


def _from_their_event(rows: Sequence[VersionRow], memories: Sequence[MemoryRow]) -> list[VersionRow]:
    """Return the rows, those of episodes true from when they happened on: what was to come was no event yet."""
    episodes = {memory.id for memory in memories if memory.kind == "episode"}
    return [
        replace(row, valid_from=row.occurred_at)
        if row.id in episodes
        and row.valid_from is None
        and row.occurred_at is not None
        and row.occurred_at <= row.recorded_at
        else row
        for row in rows
    ]


def _vectors(
    memory: Namespace, versions: Sequence[VersionRow], present: Sequence[VersionRow]
) -> dict[VersionKey, bytes]:
    """Return the vectors of versions; those whose texts are no longer stored are embedded again.

    An undone version's number is used again, so the vector stored under it may belong to another text.
    """
    texts = {(row.id, row.version): _embedded(row) for row in present}
    changed = [row for row in versions if texts.get((row.id, row.version)) != _embedded(row)]
    keys = {(row.id, row.version) for row in versions} - {(row.id, row.version) for row in changed}
    stored = memory.stored_vectors(memory.embedder.generation)
    vectors = {key: vector for key, vector in stored if key in keys}
    from priming.history.undo import restored_vectors

    return vectors | restored_vectors(memory, [RowChange(None, row) for row in changed])


def _embedded(version: VersionRow) -> str:
    return embedded_text(version.heading or version.speaker, version.content)


def _span(versions: Iterable[VersionRow], valid: datetime) -> tuple[datetime, datetime]:
    """Return the interval around ``valid`` in which the same versions are true."""
    edges = {edge for row in versions for edge in (row.valid_from, row.valid_to) if edge is not None}
    since = max((edge for edge in edges if edge <= valid), default=EARLIEST)
    return since, min((edge for edge in edges if edge > valid), default=LATEST)


def _with_outdated(rows: _Rows, valid: datetime) -> tuple[_Rows, dict[str, Outdated]]:
    """Add a memory for each version that no longer holds at ``valid``, after the memory that it belongs to.

    The version has no end in the rows, so that filters match it; ``Outdated`` has its true end.
    """
    taken = {row.key for row in rows.memories} | {row.id for row in rows.memories}
    ended = _ended_versions(rows.versions, valid)
    memories, extra, vectors = list[MemoryRow](), list[VersionRow](), dict(rows.vectors)
    outdated: dict[str, Outdated] = {}
    for memory in rows.memories:
        memories.append(memory)
        for old, following in ended.get(memory.id, ()):
            if memory.kind == "entity" and old.source == RULES:
                continue
            name = _free_name(f"{memory.key}@{old.version}", taken)
            memories.append(replace(memory, id=name, key=name))
            extra.append(replace(old, id=name, valid_to=None))
            assert old.valid_to is not None, "a version that no longer holds has an end"
            closed = following.version, following.recorded_at
            outdated[name] = Outdated(memory.id, memory.key, old.valid_to, *closed)
            if (old.id, old.version) in vectors:
                vectors[name, old.version] = vectors[old.id, old.version]
    return replace(rows, memories=memories, versions=rows.versions + extra, vectors=vectors), outdated


def _ended_versions(
    versions: Iterable[VersionRow], valid: datetime
) -> dict[str, list[tuple[VersionRow, VersionRow]]]:
    """Map each memory id to the versions that ended by ``valid``, each with the version that follows it."""
    ordered = sorted(in_order(versions), key=lambda row: row.id)
    return {
        memory_id: [(old, new) for old, new in pairwise(group) if old.valid_to and old.valid_to <= valid]
        for memory_id, group in groupby(ordered, key=lambda row: row.id)
    }


def _free_name(name: str, taken: set[str]) -> str:
    """Return a name that no memory has; adds it to ``taken``."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def as_of(
    memory: Namespace, key: str, *, valid_at: datetime | None = None, known_at: datetime | None = None
) -> Version:
    """Return the version of a memory that was true at ``valid_at``, as known at ``known_at``.

    ``valid_at`` defaults to ``known_at``, and ``known_at`` to now. What was recorded exactly at ``known_at`` counts
    as known.

    Raises:
        NotFound: no memory of that key was known then, or none of its versions was true.
        ParamError: a time without a time zone.

    """
    key = check_key(key)
    queried = moment(valid_at, known_at) or Moment(None, None)
    with memory.reading() as now:
        known_time = queried.known_at or now
        valid_time = queried.valid_at or known_time
        past = PastRows() if queried.known_at is None else rows_at(memory, known_time)
        row = _memory_at(memory, key, past)
        if row is None:
            raise memory.not_found(
                f"no memory {key!r} was known in {memory.namespace!r} at {known_time.isoformat()}:"
                " see the log for when it was remembered"
            )
        stored = past.of(VersionRow, memory.rows(VersionRow, ids=[row.id])).values()
        rows = [version for version in stored if version.id == row.id]
        versions = [version for version in rows if version.retired_at is None]
    # A stored version is known since it was recorded, even if the clock was ahead at that time.
    valid_versions = [
        version for version in versions if visible(version, valid_at=valid_time, known_at=version.recorded_at)
    ]
    if not valid_versions:
        raise NotFound(
            f"no version of {row.key!r} was true at {valid_time.isoformat()}, as known at {known_time.isoformat()}:"
            " see its history"
        )
    return record_among(memory.namespace, row, valid_versions[0], rows)


def _memory_at(memory: Namespace, key: str, past: PastRows) -> MemoryRow | None:
    """Return the memory that had a key or id at a past time; an id takes precedence."""
    present = memory.record_named(key, memory.now())
    ids = [] if present is None else [present.id]
    rows = past.of(MemoryRow, memory.rows(MemoryRow, ids=ids)).values()
    matches = [row for row in rows if key in (row.id, row.key)]
    return next((row for row in matches if row.id == key), next(iter(matches), None))
