"""An open namespace: what every verb works with."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from priming import __version__
from priming.checks import check_text, check_time
from priming.config.profiles import ALL, Profile
from priming.embed.protocol import Embedder
from priming.engine.document import Document
from priming.engine.echo import EchoGuard
from priming.engine.snapshot import load, save
from priming.engine.working import Own, WorkingSet
from priming.errors import Conflict, NotFound, ParamError, StoreError
from priming.ids import uuid7
from priming.serialization import encode_row
from priming.sleeping import Proposal
from priming.store.protocol import Changes, Logged, Store, VersionKey
from priming.store.rows import LinkRow, PairRow, RowChange, WeightsRow
from priming.types import Change, Clock, Link, MemoryRecord, Operation

if TYPE_CHECKING:
    from priming.engine.past import Past

DEFAULT_NAMESPACE = "default"
_PROPOSALS = 8
"""How many proposals of sleep are kept."""


@dataclass
class Opened:
    """A store, a namespace in it, an embedder, a clock and a profile, and the working set over them."""

    store: Store
    namespace: str
    embedder: Embedder
    clock: Clock
    profile: Profile
    profiles: Mapping[str, Profile] = field(default_factory=lambda: ALL)
    """Those that a recall may name."""
    lock: RLock = field(default_factory=RLock)
    _working: WorkingSet | None = None
    _echo: EchoGuard | None = None
    _own: dict[int, Own] = field(default_factory=dict)
    pasts: list[Past] = field(default_factory=list)
    """What it was at times that were asked about lately, the latest first."""
    proposals: dict[str, Proposal] = field(default_factory=dict)
    """What sleep proposed lately, by id: to be applied by those who cannot hand the proposal back."""
    request: str | None = None
    """The id that the next operation gets: a client's own, so that it can look for what it asked for."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return check_time("clock.now()", self.clock.now())

    def valid(self, now: datetime) -> datetime:
        """The time whose truth is asked for: the present."""
        return now

    def working(self, now: datetime) -> WorkingSet:
        """The working set, brought up to date."""
        if self._working is None:
            self._working = self._from_snapshot()
        try:
            self._working.refresh(now, self._own)
        except BaseException:
            self._working = None  # what was taken in by half is of no use
            raise
        finally:
            self._own = {}
        return self._working

    def took(self, head: int, logged: Logged, documents: Mapping[str, Document]) -> None:
        """Keep an operation ready for the next refresh: the one after ``head``, made under the write lock."""
        self._own[head] = logged, documents

    def untake(self) -> None:
        """Let go of operations kept ready: the transaction that they were made in was rolled back."""
        self._own = {}

    @property
    def echo(self) -> EchoGuard:
        """What recalls emitted lately."""
        if self._echo is None:
            self._echo = EchoGuard(self.store, self.namespace)
        return self._echo

    def close(self) -> None:
        """Release the store, leaving the working set for the next to open it; a second call does nothing."""
        with self.lock:
            self.drop_pasts()
            working, self._working = self._working, None
            try:
                if working is not None:
                    self._leave(working)
            finally:
                self.store.close()

    def _leave(self, working: WorkingSet) -> None:
        """Take in what this process wrote last, and keep a snapshot; a store in trouble costs only that."""
        with suppress(StoreError):
            if self._own:
                working.refresh(self.now(), self._own)
                self._own = {}
            self._keep_snapshot(working)

    def _snapshot_path(self) -> Path | None:
        folder = self.store.scratch
        name = hashlib.blake2b(self.namespace.encode(), digest_size=8).hexdigest()
        return None if folder is None else folder / f"{name}.snapshot"

    def _stamp(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "generation": self.embedder.generation, "version": __version__}

    def _from_snapshot(self) -> WorkingSet:
        path = self._snapshot_path()
        working = WorkingSet(self.store, self.namespace, self.embedder)
        if path is None or not path.exists() or load(working, path, self._is_ours):
            return working
        return WorkingSet(self.store, self.namespace, self.embedder)

    def _is_ours(self, stamp: Mapping[str, Any]) -> bool:
        """Whether a snapshot was taken of this namespace of this store, and no purge came after."""
        if {**self._stamp(), **stamp} != {**stamp, **self._stamp()} or "operation" not in stamp:
            return False
        return bool(self.store.operation_id(self.namespace, stamp["head"]) == stamp["operation"])

    def _keep_snapshot(self, working: WorkingSet) -> None:
        path = self._snapshot_path()
        if path is None or not working.worth_keeping or self._purged_since(working.head):
            return
        if self._was_embedded(working):
            return
        stamp = {
            **self._stamp(),
            "head": working.head,
            "operation": self.store.operation_id(self.namespace, working.head),
        }
        # It is disposable: a full disk or a folder that cannot be written costs time at the next open, no more.
        with suppress(OSError):
            save(working, path, stamp)
            # Another process may have purged meanwhile, and have found no snapshot to drop.
            if self._purged_since(working.head):
                self.drop_snapshot()

    def _was_embedded(self, working: WorkingSet) -> bool:
        """Whether vectors that the working set lacks are in the store: another process made them."""
        lacking = working.unembedded
        found = self.store.vectors(self.namespace, self.embedder.generation, lacking) if lacking else ()
        return any(True for _ in found)

    def _purged_since(self, head: int) -> bool:
        return any(logged.erased for logged in self.store.since(self.namespace, head))

    def drop_snapshot(self) -> None:
        """Let the working set go, in memory and on disk: no word of what was purged may stay in it."""
        self._working, self._echo, self._own = None, None, {}
        self.drop_pasts()
        path = self._snapshot_path()
        if path is not None:
            for leftover in path.parent.glob(f"{path.name}*"):
                leftover.unlink(missing_ok=True)

    def drop_pasts(self) -> None:
        """Let go of what it was at other times."""
        pasts, self.pasts = self.pasts, []
        for past in pasts:
            past.close()

    def proposed(self, proposal: Proposal) -> None:
        """Keep a proposal, and only the latest few."""
        self.proposals = {**dict([*self.proposals.items()][1 - _PROPOSALS :]), proposal.id: proposal}

    def readable(self) -> None:
        """``NotFound`` if the namespace was never written to; the default one may always be read."""
        if self.namespace != DEFAULT_NAMESPACE and not self.store.head(self.namespace):
            error = NotFound(f"there is no namespace {self.namespace!r}: writing creates one")
            # A note, so that a server can leave it out: whom it answers may not know of the others.
            error.add_note(f"there are {', '.join(self.store.namespaces()) or 'none yet'}")
            raise error

    def find(self, key: str, now: datetime | None = None) -> MemoryRecord:
        """The memory of a key or id, or ``NotFound``."""
        if not check_text("key", key).strip():
            raise ParamError("key", key, "must be a memory's key or id")
        self.readable()
        found = self.store.get(self.namespace, key, now or self.now())
        if found is None:
            near = ", ".join(self._alike(key)[:3])
            raise NotFound(
                f"there is no memory {key!r} in {self.namespace!r}"
                + (f": did you mean {near}?" if near else "")
            )
        return found

    def _alike(self, key: str) -> list[str]:
        words = key.replace("-", " ").replace(":", " ")
        now = self.now()
        return [one.key for one in self.store.page(self.namespace, now, matching=words, limit=3)]

    @contextmanager
    def writing(self) -> Iterator[datetime]:
        """Hold the write lock; gives the present, taken once the lock is held."""
        with self.lock, self.store.transaction():
            yield self.now()

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
        """Apply one operation; the working set takes it in from the log at its next use."""
        changes = Changes(
            namespace=self.namespace,
            id=operation_id or self.operation_id(at),
            kind=kind,
            at=at,
            rows=tuple(rows),
            vectors=vectors or {},
            generation=self.embedder.generation if vectors else None,
            actor="user",
            source=source,
            reason=reason,
            message=message,
            undoes=tuple(undoes),
        )
        number = self.store.apply(changes)
        return Logged(
            number, changes.id, kind, at, changes.actor, source, reason, None, message, changes.rows
        )

    @contextmanager
    def identified(self, operation_id: str) -> Iterator[None]:
        """Let the first operation inside the block have an id that the caller chose; nobody else writes meanwhile."""
        with self.lock:
            self.request = operation_id
            try:
                yield
            finally:
                self.request = None

    def operation_id(self, at: datetime) -> str:
        """The id of the next operation: the one that the caller asked for, once, else a new one."""
        asked, self.request = self.request, None
        if asked is not None and self.store.operation(self.namespace, asked) is not None:
            raise Conflict(f"operation {asked} was carried out already: the log has it")
        return asked or uuid7(at)

    def links(self, rows: Collection[LinkRow]) -> tuple[Link, ...]:
        """Link rows with their ends named by key."""
        names = self.store.names(self.namespace, {end for row in rows for end in (row.source, row.target)})
        return tuple(
            Link(
                source=names.get(row.source, row.source),
                target=names.get(row.target, row.target),
                relation=row.relation,
                weight=row.weight,
                created_at=row.created_at,
                last_activated=row.last_activated,
                given=row.given,
            )
            for row in rows
        )

    def changes(self, rows: Iterable[RowChange], names: Mapping[str, str]) -> tuple[Change, ...]:
        """Changes of rows as callers see them; ``names`` are keys by id."""
        return tuple(
            Change(change.room, _named(change.row, names), _side(change.before), _side(change.after))
            for change in rows
        )

    def operation(self, logged: Logged) -> Operation:
        """A log entry as callers see it, its rows named by key where they still exist."""
        ends = {end for change in logged.rows for end in change.ends}
        names = self.store.names(self.namespace, ends)
        changes = self.changes(logged.rows, names)
        changes += tuple(Change("memories", one, None, None) for one in logged.erased)
        return Operation(
            id=logged.id,
            kind=logged.kind,
            at=logged.at,
            actor=logged.actor,
            source=logged.source,
            reason=logged.reason,
            changes=changes,
            undone_by=logged.undone_by,
            message=logged.message,
        )


def _side(row: Any) -> Mapping[str, Any] | None:
    return None if row is None else encode_row(row)


def _named(row: Any, names: Mapping[str, str]) -> str:
    if isinstance(row, LinkRow):
        return f"{names.get(row.source, row.source)} {row.relation} {names.get(row.target, row.target)}"
    if isinstance(row, PairRow):
        return f"{names.get(row.source, row.source)} + {names.get(row.target, row.target)}"
    if isinstance(row, WeightsRow):
        return row.profile
    return str(names.get(row.id, row.id))
