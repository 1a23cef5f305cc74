"""The one seam between the engine and a database.

A backend holds SQL, not policy: what to write is decided by the engine and handed over as one
``Changes`` value, which is applied in one transaction together with its entry in the log.
``tests/store/contract.py`` says what every backend must do. A namespace is a required argument of
every method that touches data: nothing ever crosses it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from priming.results import Finding
from priming.storage.filters import Condition
from priming.storage.rows import (
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
)
from priming.types import MemoryRecord, Token

VersionKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Changes:
    """One operation, ready to be applied. ``vectors`` are derived data: they are not in the log.

    ``vectors`` maps (memory id, version) to little-endian float32 bytes of the embedding ``generation``.
    """

    namespace: str
    id: str
    kind: str
    at: datetime
    rows: tuple[RowChange, ...] = ()
    vectors: Mapping[VersionKey, bytes] = field(default_factory=dict)
    generation: str | None = None
    actor: str | None = None
    source: str | None = None
    reason: str | None = None
    message: str | None = None
    undoes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Logged:
    """One operation as it stands in the log. ``erased``: the ids of memories that a purge removed.

    ``undoes`` are the operations that it took back. ``undone_by`` is the one that took it back and stands: None
    says that it counts as done, also where that one was taken back in turn.
    """

    number: int
    id: str
    kind: str
    at: datetime
    actor: str | None = None
    source: str | None = None
    reason: str | None = None
    undone_by: str | None = None
    message: str | None = None
    rows: tuple[RowChange, ...] = ()
    erased: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """One recall, kept: ``hits`` are (memory id, score) in their order.

    ``nodes`` are the ids of the memories that the ``flow`` speaks of, which is bytes to the store; a flow is kept
    for the latest recalls only, and is None where there is none.
    """

    recall_id: str
    at: datetime
    session: str | None
    profile: str
    cue: Mapping[str, Any]
    hits: tuple[tuple[str, float], ...]
    nodes: tuple[str, ...] = ()
    flow: bytes | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The figures of ``stats``."""

    memories: Mapping[str, Mapping[str, int]]
    links: Mapping[str, int]
    operations: int
    traces: int
    bytes: int
    generation: str | None


class Store(Protocol):
    """A database of memories. Every method raises errors of the tree, and leaves no partial write.

    A store serves one thread at a time: its caller holds a lock.
    """

    @property
    def scratch(self) -> Path | None:
        """A folder for disposable files of this store; it need not exist yet. None: there is no place for them."""
        ...

    @property
    def backups(self) -> Path | None:
        """The folder where backups are put that are given no place; it need not exist yet. None: there is none."""
        ...

    def close(self) -> None:
        """Release the database; a second call does nothing."""
        ...

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """Hold the write lock: what is read inside stays true until the block ends and commits.

        Nested blocks join the outermost. An exception rolls everything back; one of a nested block that writes does
        so even if it is caught: then the outermost ends in ``StoreError``. ``Busy`` after the timeout.
        Without ``write`` the block only sees one state of the store, and hinders nobody.
        """
        ...

    def apply(self, changes: Changes) -> int:
        """Write one operation and its entry in the log; its number. Creates the namespace.

        Rows are removed first, memories after what refers to them, in whatever order they are given; the others
        are made and changed in their order, where new memories may come after the rows that need them.
        ``Conflict`` for a key or id that is taken, a second verdict of one recall, memory and verdict, a memory
        removed before what refers to it, or a version whose text would change; ``NotFound`` for a link, verdict or
        pair of nothing or for a row to change that is not there.
        """
        ...

    def purge(self, changes: Changes, ids: Collection[str]) -> dict[str, int]:
        """Erase memories and every trace of them, the log's included; rows erased by table.

        Runs stay, but have not shown them; recalls that brought them up go, of others only flows through them.
        """
        ...

    def flush(self) -> None:
        """Leave no byte of erased rows in the store, its journals and temporary files; slow in a large store.

        ``Busy`` if that cannot be done while another process reads an older state.
        """
        ...

    def restore(self, namespace: str, rows: Sequence[Row], operations: Sequence[Logged]) -> None:
        """Fill an empty namespace with rows and the log that made them, oldest operation first.

        Operations get numbers of this store. ``Conflict`` if the namespace is not empty.
        """
        ...

    def namespaces(self) -> list[str]:
        """All namespaces, sorted."""
        ...

    def head(self, namespace: str) -> int:
        """The number of the namespace's latest operation; 0 if there is none."""
        ...

    def operation_id(self, namespace: str, number: int) -> str | None:
        """The id of an operation by its number."""
        ...

    def since(self, namespace: str, number: int) -> list[Logged]:
        """The operations after ``number``, oldest first, with their rows."""
        ...

    def get(self, namespace: str, key: str, at: datetime) -> MemoryRecord | None:
        """The memory of that key or id: the version valid at ``at``, else its latest."""
        ...

    def records(self, namespace: str, ids: Collection[str], at: datetime) -> dict[str, MemoryRecord]:
        """By id, the memories of ``ids`` that have a version known now and valid at ``at``."""
        ...

    def page(
        self,
        namespace: str,
        at: datetime,
        *,
        kinds: Sequence[str] | None = None,
        status: str | None = "active",
        matching: str | None = None,
        limit: int | None = 100,
        after: str | None = None,
    ) -> list[MemoryRecord]:
        """Memories with a version known now and valid at ``at``, in order of insertion, after the id ``after``.

        ``matching`` keeps those that contain every one of its words, by the database's own text index: words in
        any form of theirs, and any characters of a script that is written without spaces.
        """
        ...

    def scan(self, namespace: str, at: datetime) -> Iterator[MemoryRecord]:
        """Every active memory with a version known now and not yet over at ``at``, in order of insertion."""
        ...

    def versions(self, namespace: str, memory_id: str | None = None) -> list[VersionRow]:
        """All rows of a memory's versions (None: of all memories, in order of insertion), oldest first."""
        ...

    def memories(self, namespace: str, ids: Collection[str] | None = None) -> list[MemoryRow]:
        """Identity and state of memories of any status (None: of all), in order of insertion."""
        ...

    def links(
        self, namespace: str, ids: Collection[str] | None = None, relation: str | None = None
    ) -> list[LinkRow]:
        """Links that touch any of ``ids`` (None: all), in order of source, relation and target."""
        ...

    def present(self, namespace: str, row: Row) -> Row | None:
        """The row of the same identity as it is now."""
        ...

    def keys(self, namespace: str, keys: Collection[str]) -> dict[str, str]:
        """Key → id, for those of ``keys`` that are taken."""
        ...

    def names(self, namespace: str, ids: Collection[str]) -> dict[str, str]:
        """Id → key, for those of ``ids`` that exist."""
        ...

    def digests(self, namespace: str, digests: Collection[str]) -> dict[str, str]:
        """Content digest → id of the oldest active memory with that content."""
        ...

    def session_tail(self, namespace: str, session: str, count: int) -> list[str]:
        """Ids of the latest active memories of a session, newest first."""
        ...

    def vectors(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> Iterator[tuple[VersionKey, bytes]]:
        """The vectors of one embedding generation; None means those of all memories."""
        ...

    def add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, in place of those there; those of no version are passed over."""
        ...

    def matching(self, namespace: str, condition: Condition, at: datetime) -> list[str]:
        """Ids of the active memories whose version valid at ``at`` satisfies ``condition``, in order of insertion."""
        ...

    def operation(self, namespace: str, operation_id: str) -> Logged | None:
        """One operation with its rows."""
        ...

    def operations(
        self,
        namespace: str,
        *,
        memory_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        source: str | None = None,
        before: int | None = None,
        limit: int | None = 100,
    ) -> list[Logged]:
        """Operations with their rows, newest first; ``until`` and ``before``, a number, are exclusive."""
        ...

    def add_trace(
        self, namespace: str, trace: Trace, *, keep: int, keep_flows: int, not_before: datetime
    ) -> None:
        """Keep one recall; drop those before ``not_before`` and beyond the latest ``keep``.

        Of those beyond the latest ``keep_flows`` the flow is dropped, with its nodes.

        ``Busy`` soon, rather than after the timeout: a recall does not wait for a writer.
        """
        ...

    def traces(
        self,
        namespace: str,
        *,
        since: datetime | None = None,
        session: str | None = None,
        memory_id: str | None = None,
        limit: int = 100,
    ) -> list[Trace]:
        """Recalls, newest first, without their flows; of one session, or with a memory among their hits."""
        ...

    def trace(self, namespace: str, recall_id: str) -> Trace | None:
        """One recall with its flow."""
        ...

    def verdicts(
        self, namespace: str, ids: Collection[str] | None = None, *, recall: str | None = None
    ) -> list[VerdictRow]:
        """Verdicts on any of ``ids`` (None: on all), of one recall or of any, oldest first."""
        ...

    def pairs(
        self, namespace: str, ids: Collection[str] | None = None, *, both: bool = True
    ) -> list[PairRow]:
        """Pairs with both ends among ``ids`` (None: all), or with any of them, in order of source and target."""
        ...

    def runs(
        self, namespace: str, ids: Collection[str] | None = None, *, settled: bool = True
    ) -> list[RunRow]:
        """Runs by id (None: all), oldest first; without ``settled`` only those that still wait."""
        ...

    def weights(self, namespace: str, profile: str | None = None) -> list[WeightsRow]:
        """The weights that are set for a profile (None: for any), in the order of their names."""
        ...

    def backup(self, path: Path) -> None:
        """Copy the whole store, every namespace, to a new file, whole or not at all; others may write meanwhile.

        What this store writes in a transaction that is not over is left out.
        ``Conflict`` if the file exists already, ``StoreError`` where it cannot be written.
        """
        ...

    def restore_backup(self, path: Path, changes: Collection[Changes]) -> None:
        """Put the content of a backup in the place of everything that is here, in one step.

        ``changes`` are operations without rows, one for each namespace that is here, logged afterwards with numbers
        above all that were ever given here, so that whoever follows the log knows to read everything anew.
        ``ParamError`` for a path without a file, ``Conflict`` for the store itself, ``Corrupt`` or ``SchemaTooNew``
        for a file that is no backup of a Priming store; nothing changes then.
        """
        ...

    def add_token(self, token: Token, digest: bytes) -> None:
        """Keep a new token, by the digest of its secret. Tokens are not in the log, nor put back from a backup."""
        ...

    def tokens(self) -> list[Token]:
        """All that were ever made, oldest first."""
        ...

    def any_token(self) -> bool:
        """Whether one was ever made."""
        ...

    def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """A token and the digest of its secret."""
        ...

    def revoke_token(self, token_id: str, at: datetime) -> bool:
        """Revoke a token; whether there is one of that id that was not revoked yet."""
        ...

    def use_token(self, token_id: str, at: datetime) -> None:
        """Note when a token was last used; ``Busy`` soon, rather than after the timeout."""
        ...

    def add_loop(self, namespace: str, row: LoopSessionRow) -> None:
        """Keep a new session of the loop; ``Conflict`` for an id that is taken. Sessions are not in the log."""
        ...

    def keep_loop(self, namespace: str, row: LoopSessionRow) -> bool:
        """Keep a session as it is now; whether it is still there: a purge erases those that name its memories."""
        ...

    def loop(self, namespace: str, session_id: str) -> LoopSessionRow | None:
        """One session of the loop."""
        ...

    def loops(self, namespace: str, *, limit: int = 100) -> list[LoopSessionRow]:
        """Sessions of the loop, those first that began last."""
        ...

    def counts(self, namespace: str) -> Counts:
        """What the namespace holds."""
        ...

    def check(self, namespace: str) -> list[Finding]:
        """What is wrong with the database itself: damaged pages, rows that point to nothing, a stale index."""
        ...
