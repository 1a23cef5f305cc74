"""An open namespace: the store, embedder, clock, lock and working set that every verb uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import datetime
from threading import local
from typing import Any, NamedTuple, TypeVar

from priming.config.caller import present_caller
from priming.config.ids import uuid7
from priming.config.params.limits import VECTORS
from priming.config.profiles import ALL, Profile
from priming.config.values import dataclass
from priming.config.words import REASONS, TEXT_KINDS, RelationSigns
from priming.core.arguments.checks import check_key, check_time, check_uuid
from priming.embedding.protocol import Embedder, token_part
from priming.errors import Conflict, NotFound, PrimingError, StoreError
from priming.index.document import Document, Embeddable, vectors_needed
from priming.index.snapshot import SnapshotFile
from priming.index.working_set import PreparedOperation, WorkingSet
from priming.results import Listing, no_memories
from priming.storage.damage import NamespaceLock
from priming.storage.protocol import (
    Changes,
    Logged,
    ReadOnlyRow,
    VersionKey,
)
from priming.storage.questions import StoredNamespace, suggestion
from priming.storage.rows import LinkRow, PairRow, RelationRow, RowChange, WeightsRow, sides
from priming.types import Change, Clock, Link, MemoryRecord, Operation, Proposal

DEFAULT_NAMESPACE = "default"
T = TypeVar("T")


class _Requested(local):
    """The id of a thread's next operation, if a client chose it to look for the operation later."""

    id: str | None = None


class EmittedLine(NamedTuple):
    """The memory that a line of recalls comes from, and when recalls first and last emitted the line."""

    memory: str
    first: datetime
    last: datetime


@dataclass(eq=False, repr=False)
class Namespace(StoredNamespace):
    """One namespace of a store with its embedder, clock and profile, and its working set."""

    embedder: Embedder
    clock: Clock
    profile: Profile
    profiles: Mapping[str, Profile] = field(default_factory=lambda: ALL)
    """The profiles that a recall can name."""
    lock: NamespaceLock = field(init=False)
    _working: WorkingSet | None = None
    _watches: bool = False
    _queued: dict[int, PreparedOperation] = field(default_factory=dict)
    pasts: list[Namespace] = field(default_factory=list)
    """The namespace at other times, as recently queried; the latest query comes first."""
    proposals: dict[str, Proposal] = field(default_factory=dict)
    """The latest proposals of sleep by id, for clients that can only name a proposal."""
    emitted: dict[str, EmittedLine] = field(default_factory=dict)
    """The lines that recent recalls emitted, which are not stored again; the line emitted last comes last."""
    emitted_until: datetime | None = None
    """The time of the last recall whose lines are in ``emitted``."""
    waited: bool = False
    """Whether memories waited for their vectors when it was closed."""
    _requested: _Requested = field(init=False, default_factory=_Requested)

    def __post_init__(self) -> None:
        self.lock = NamespaceLock(self.store, self.namespace)

    def now(self) -> datetime:
        """Return the present, in UTC."""
        return check_time("clock.now()", self.clock.now())

    def valid_time(self, now: datetime) -> datetime:
        """Return the valid time of queries: the present."""
        return now

    def working(self, now: datetime) -> WorkingSet:
        """Return the working set, after an update from the log."""
        if self._working is None:
            self._working = self._snapshot.load()
        elif not self._watches:  # whoever asks twice stays
            self._watches = True
            self.store.watch(self.namespace, self._catch_up)
        try:
            self._working.refresh(now, self._queued)
        except BaseException:
            self._working = None  # a working set that was updated in part is inconsistent
            raise
        finally:
            self._queued = {}
        return self._working

    def _catch_up(self) -> None:
        """Update the working set after writes of other processes, unless it is in use: its user updates it."""
        if self.lock.acquire(blocking=False):
            try:
                if self._working is not None:
                    with suppress(PrimingError), self.reading() as now:
                        self.working(now)
            finally:
                self.lock.release()

    def queue_operation(self, head: int, logged: Logged, documents: Mapping[str, Document]) -> None:
        """Queue an operation of this process, the one after ``head`` in the log, for the next refresh."""
        self._queued[head] = logged, documents

    def discard_queued(self) -> None:
        """Discard the queued operations after their transaction was rolled back."""
        self._queued = {}

    @property
    def _snapshot(self) -> SnapshotFile:
        return SnapshotFile(self.store, self.namespace, self.embedder)

    def close(self) -> None:
        """Release the store; a second call does nothing."""
        with self.lock:
            self.drop_pasts()
            working, self._working = self._working, None
            try:
                if working is not None:
                    self._save(working)
                    self.waited = working.missing_vectors
            finally:
                self.store.close()

    def _save(self, working: WorkingSet) -> None:
        """Apply the queued operations and save a snapshot; if the store fails, only the snapshot is lost."""
        with suppress(StoreError):
            if self._queued:
                working.refresh(self.now(), self._queued)
                self._queued = {}
            self._snapshot.save(working)

    def drop_snapshot(self) -> None:
        """Drop the working set, in memory and on disk, so that no word of a purged memory stays in it."""
        self._working, self._queued = None, {}
        self.emitted, self.emitted_until = {}, None
        self.drop_pasts()
        self._snapshot.delete()

    def drop_pasts(self) -> None:
        """Close the namespaces of other times."""
        pasts, self.pasts = self.pasts, []
        for past in pasts:
            past.close()

    def empty_reason(self) -> str | None:
        """Tell why answers are empty: the namespace has no memory, and which others resemble it; None if it has some.

        To a caller who may not use all namespaces, or through a role of the database that may not, it names none.
        """
        with self.lock:
            if self._has_memories(self.namespace):
                return None
            names: list[str] = []
            if present_caller().everywhere:
                with suppress(StoreError):
                    names = [name for name in self.store.namespaces() if name != self.namespace]
            return no_memories(self.namespace) + suggestion(self.namespace, names, self._has_memories)

    def _has_memories(self, namespace: str) -> bool:
        stored = StoredNamespace(self.store, namespace)
        return bool(stored.page_of(self.now(), kinds=TEXT_KINDS, coming=True, limit=1))

    def listed(self, items: Iterable[T], *, empty: bool | None = None) -> list[T]:
        """Return the items of an answer, with the reason if there are none because the namespace has no memories.

        ``empty`` says whether items that are there amount to nothing.
        """
        listing = Listing(items)
        if not listing if empty is None else empty:
            listing.reason = self.empty_reason()
        return listing

    def not_found(self, message: str) -> NotFound:
        """Return an error, with a note if the namespace has no memories.

        A server leaves the note out where a client must not learn the names of other namespaces.
        """
        error = NotFound(message)
        reason = self.empty_reason()
        if reason is not None:
            error.add_note(reason)
        return error

    def find(self, key: str, now: datetime | None = None) -> MemoryRecord:
        """Return the memory of a key or id, or ``NotFound``."""
        key = check_key(key)
        record = self.record_named(key, now or self.now())
        if record is None:
            words = key.replace("-", " ").replace(":", " ")
            similar = self.page_of(self.now(), words=words, limit=3)
            near = ", ".join(row.key for row in similar)
            raise self.not_found(
                f"there is no memory {key!r} in {self.namespace!r}"
                + (f": did you mean {near}?" if near else "")
            )
        return record

    def must_wait(self, texts: Sequence[Embeddable | None], *, later: bool = False) -> bool:
        """Tell whether new texts are stored without their vectors, which follow: those of many, or a very long one.

        Sums over tokens take no time worth waiting for. The designs of other systems link a memory to its nearest as
        they store it.
        """
        if token_part(self.embedder) is self.embedder or self.profile.anchors is not None:
            return False
        return later or len(texts) > VECTORS.at_once or vectors_needed(texts) > VECTORS.at_once

    def activations(self, profile: str, ids: Collection[str]) -> dict[str, int]:
        """Return how often each of these memories was activated in a profile, so far."""
        return self.activations_until(self.now(), profile, ids)

    @property
    def is_read_only(self) -> bool:
        """Whether the store refuses writes to the namespace."""
        return bool(self.rows(ReadOnlyRow))

    @contextmanager
    def reading(self) -> Iterator[datetime]:
        """Hold the lock over one state of the store and yield the present."""
        with self.lock, self.store.transaction(self.namespace, write=False):
            yield self.now()

    @contextmanager
    def writing(self) -> Iterator[datetime]:
        """Hold the write lock and yield the present, read after the lock is acquired."""
        with self.lock, self.store.transaction(self.namespace):
            yield self.now()

    @contextmanager
    def changing(self) -> Iterator[datetime]:
        """Do the same for changing existing memories: without a store there are none, and no store is created."""
        with self.lock, self.store.transaction(self.namespace, write=self.store.place.exists):
            yield self.now()

    @property
    def requested_id(self) -> str | None:
        """The id of this thread's next operation, if its caller chose it: other threads go on meanwhile."""
        return self._requested.id

    @requested_id.setter
    def requested_id(self, value: str | None) -> None:
        self._requested.id = value

    @contextmanager
    def identified(self, operation_id: str) -> Iterator[None]:
        """Give the first operation inside the block an id of the caller's choice, so that the caller can find it.

        A caller without an answer looks the id up with ``operation``, and repeats the call only if needed.

        Raises:
            ParamError: the id is not a UUID.
            Conflict: an operation has that id already; the verb inside the block raises it.

        """
        self.requested_id = check_uuid("operation_id", operation_id)
        try:
            yield
        finally:
            self.requested_id = None

    def write(
        self,
        kind: str,
        at: datetime,
        rows: Iterable[RowChange],
        *,
        vectors: Mapping[VersionKey, bytes] | None = None,
        undoes: Collection[str] = (),
        message: str | None = None,
        reason: str | None = None,
        source: str | None = None,
        operation_id: str | None = None,
    ) -> Logged:
        """Apply one operation; the working set reads it from the log at its next use."""
        changes = Changes(
            namespace=self.namespace,
            id=operation_id or self.next_operation_id(at),
            kind=kind,
            at=at,
            rows=tuple(rows),
            vectors=vectors or {},
            generation=self.embedder.generation if vectors else None,
            source=source,
            reason=reason or REASONS.get(kind) or message or f"{kind} was requested",
            message=message,
            undoes=tuple(undoes),
            **present_caller().attribution(),
        )
        return changes.logged(self.store.apply(changes))

    def next_operation_id(self, at: datetime) -> str:
        """Return the id of the next operation: the requested id, which counts once, else a new one."""
        requested, self.requested_id = self.requested_id, None
        if requested is not None and self.operation_of(requested) is not None:
            raise Conflict(f"operation {requested} was carried out already: the log has it")
        return requested or uuid7(at)

    def to_links(self, rows: Collection[LinkRow]) -> tuple[Link, ...]:
        """Link rows with their ends named by key."""
        signs = self.signs()
        ends = {end for row in rows for end in (row.source, row.target)}
        names = self.names(ids=ends)
        return tuple(
            Link(
                source=names.get(row.source, row.source),
                target=names.get(row.target, row.target),
                relation=row.relation,
                weight=row.weight,
                created_at=row.created_at,
                last_activated=row.last_activated,
                given=row.given,
                sign=signs.sign(row.relation),
            )
            for row in rows
        )

    def signs(self) -> RelationSigns:
        """Return the signs of the relations."""
        return RelationSigns({row.relation: row.sign for row in self.rows(RelationRow)})

    def to_changes(self, rows: Iterable[RowChange], names: Mapping[str, str]) -> tuple[Change, ...]:
        """Return changes of rows in their public form; ``names`` are keys by id."""
        return tuple(Change(change.room, _row_name(change.row, names), **sides(change)) for change in rows)

    def to_operation(self, logged: Logged) -> Operation:
        """Return a log entry in its public form, its rows named by key where they still exist."""
        ends = {end for change in logged.rows for end in change.ends}
        names = self.names(ids=ends)
        changes = self.to_changes(logged.rows, names)
        changes += tuple(Change("memories", memory_id, None, None) for memory_id in logged.erased)
        alike = ("id", "kind", "at", "actor", "source", "reason", "undone_by", "message", "via", "session")
        return Operation(changes=changes, **{name: getattr(logged, name) for name in alike})


def _row_name(row: Any, names: Mapping[str, str]) -> str:
    if isinstance(row, LinkRow):
        return f"{names.get(row.source, row.source)} {row.relation} {names.get(row.target, row.target)}"
    if isinstance(row, PairRow):
        return f"{names.get(row.source, row.source)} + {names.get(row.target, row.target)}"
    if isinstance(row, WeightsRow):
        return row.profile
    if isinstance(row, RelationRow):
        return row.relation
    return str(names.get(row.id, row.id))
