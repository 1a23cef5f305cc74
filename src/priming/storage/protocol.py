"""The one seam between the engine and a database.

A backend holds SQL, not policy: the engine decides what to write, one ``Changes`` value for each entry in the log.
``tests/storage/contract.py`` tests what every backend must do. Every method that touches data names its namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_args

from priming.config.values import dataclass
from priming.results import Finding
from priming.storage.filters import Condition
from priming.storage.rows import (
    ROOMS,
    ActivationCount,
    Counts,
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    RelationRow,
    Row,
    RowChange,
    RunRow,
    Unlogged,
    VerdictRow,
    VersionRow,
    WeightsRow,
)
from priming.types import MemoryRecord, Token

VersionKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Changes:
    """One operation, ready to be applied. ``vectors``, by (memory id, version), are float32 and not logged."""

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
    via: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """One operation in the log. ``erased`` lists the ids of memories that a purge removed.

    ``undoes`` are the operations that it undid, ``undone_by`` the one that undid it and is in effect.
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
    via: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded recall: ``hits`` are (memory id, score) in order of rank; ``nodes`` are the ids in its flow.

    ``flow`` is the activation on links, as bytes that the store does not read; None but for the latest recalls. Only
    ``part`` reads ``counted``: its hits were activated.
    """

    recall_id: str
    at: datetime
    session: str | None
    profile: str
    cue: Mapping[str, Any]
    hits: tuple[tuple[str, float], ...]
    nodes: tuple[str, ...] = ()
    flow: bytes | None = None
    counted: bool = False


StoredItem = Row | Unlogged | Logged | Trace
Kind = TypeVar("Kind", bound=StoredItem)
PARTS: tuple[type[StoredItem], ...] = (Logged, *ROOMS.values(), Trace, *get_args(Unlogged))
"""All that a namespace holds, in an order in which it can be appended."""


class Store(Protocol):
    """A database, used by one thread at a time. Methods raise ``priming.errors`` and leave no partial write."""

    places: tuple[Path, ...]
    """The paths beside which this machine has files of the store."""

    @property
    def scratch(self) -> Path | None:
        """The folder for disposable files of this store, which may not exist yet; None if it has none."""

    @property
    def exists(self) -> bool:
        """Whether the database exists: reading does not create it, and finds it empty."""

    @property
    def backups(self) -> Path | None:
        """The default folder for backups, which may not exist yet; None if the store has none."""

    def close(self) -> None:
        """Release the database; a second call does nothing."""

    def lease(self, namespace: str, work: str | None = None) -> AbstractContextManager[None]:
        """Take turns with other long work. With ``work``, do it alone; ``Busy`` names who does it already."""

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Call ``wake``, in another thread, after writes of others to a namespace, if the database tells of them."""

    def transaction(
        self, namespace: str | None = None, *, write: bool = True
    ) -> AbstractContextManager[None]:
        """Hold the write lock until the block ends and commits: nothing that was read inside changes meanwhile.

        It is held from the beginning if it is that of ``namespace``; of others, at latest from the first use on.
        Nested blocks join the outermost. An exception rolls everything back; caught in a nested block that writes, it
        ends the outermost in ``StoreError``. ``Busy`` after the timeout. Without ``write`` the block reads one state.
        """

    def apply(self, changes: Changes) -> int:
        """Write one operation and its entry in the log, and return its number; creates the namespace.

        Rows are removed first, in any order: memories after the rows that refer to them. Other rows are inserted and
        updated in order, and new memories may follow the rows that refer to them.
        ``Conflict`` for a key or id that is taken, a second verdict of one recall, memory and verdict, a memory that
        other rows still refer to, or a version whose text would change; ``NotFound`` for a link, verdict or pair of
        a missing memory, or for a missing row to update.
        """

    def purge(self, changes: Changes, ids: Collection[str], names: Collection[str] = ()) -> dict[str, int]:
        """Erase memories and what refers to them or has one of ``names``, in the log too; the rows by table."""

    def flush(self) -> None:
        """Remove every byte of erased rows from the store's files; ``Busy`` while another reads an older state."""

    def restore(self, namespace: str, rows: Sequence[Row], operations: Sequence[Logged]) -> None:
        """Fill an empty namespace with rows and their log, oldest first, numbered anew; ``Conflict`` if it is not."""

    def part(self, namespace: str, kind: type[Kind]) -> Iterator[Kind]:
        """Every item of a kind, read a few at a time, in an order that is the same in every store."""

    def append(self, namespace: str, items: Sequence[StoredItem]) -> None:
        """Add what ``part`` of another store returned, in its order and that of ``PARTS``; read-only or not."""

    def clear(self, namespace: str) -> None:
        """Remove a namespace and all that it holds, its log included; read-only or not."""

    def namespaces(self) -> list[str]:
        """All namespaces, sorted."""

    def head(self, namespace: str) -> int:
        """The number of the namespace's latest operation; 0 if there is none."""

    def operation_id(self, namespace: str, number: int) -> str | None:
        """The id of an operation by its number."""

    def since(self, namespace: str, number: int) -> list[Logged]:
        """The operations after ``number``, oldest first, with their rows."""

    def get(self, namespace: str, key: str, at: datetime) -> MemoryRecord | None:
        """The memory with that key or id, in the version valid at ``at``, else in its latest."""

    def records(self, namespace: str, ids: Collection[str], at: datetime) -> dict[str, MemoryRecord]:
        """The memories among ``ids`` that have a current version valid at ``at``, by id."""

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
        """Memories with a current version valid at ``at``, in order of insertion, after the id ``after``.

        ``matching`` selects those that contain all of its words, in any inflected form; a script without spaces
        matches by its characters.
        """

    def scan(self, namespace: str, at: datetime) -> Iterator[MemoryRecord]:
        """Every active memory with a current version that has not ended at ``at``, in order of insertion."""

    def versions(self, namespace: str, memory_id: str | None = None) -> list[VersionRow]:
        """All version rows of a memory (None: of all memories, in order of insertion), oldest first."""

    def memories(self, namespace: str, ids: Collection[str] | None = None) -> list[MemoryRow]:
        """Identity and state of memories of any status (None: of all), in order of insertion."""

    def links(
        self, namespace: str, ids: Collection[str] | None = None, relation: str | None = None
    ) -> list[LinkRow]:
        """Links that touch any of ``ids`` (None: all), in order of source, relation and target."""

    def present(self, namespace: str, row: Row) -> Row | None:
        """The stored row with the same identity, or None."""

    def keys(self, namespace: str, keys: Collection[str]) -> dict[str, str]:
        """Key → id, for those of ``keys`` that are taken."""

    def names(self, namespace: str, ids: Collection[str]) -> dict[str, str]:
        """Id → key, for those of ``ids`` that exist."""

    def digests(self, namespace: str, digests: Collection[str]) -> dict[str, str]:
        """Content digest → id of the oldest active memory with that content."""

    def sessions(self, namespace: str, *, name: str | None = None, limit: int = 100) -> list[str]:
        """Sessions of recalls, memories, runs, operations or the loop, the latest first; with ``name``, only that."""

    def session_tail(self, namespace: str, session: str, count: int) -> list[str]:
        """Ids of the latest active memories of a session, newest first."""

    def vectors(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> Iterator[tuple[VersionKey, bytes]]:
        """The vectors of one embedding generation; None means those of all memories."""

    def embedded(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> set[VersionKey]:
        """The versions that have a vector of a generation, undamaged; None means those of all memories."""

    def add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, replacing present ones; vectors of missing versions are skipped."""

    def matching(self, namespace: str, condition: Condition, at: datetime) -> list[str]:
        """Ids of the active memories whose version valid at ``at`` satisfies ``condition``, in order of insertion."""

    def operation(self, namespace: str, operation_id: str) -> Logged | None:
        """One operation with its rows."""

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

    def add_trace(
        self,
        namespace: str,
        trace: Trace,
        *,
        keep: int,
        keep_flows: int,
        not_before: datetime,
        counted: bool = False,
    ) -> None:
        """Record a recall; delete those before ``not_before`` and beyond the latest ``keep``.

        Those beyond ``keep_flows`` lose their flow. ``counted``: its hits were activated. Raises ``Busy`` soon.
        """

    def activations(
        self, namespace: str, profile: str, ids: Collection[str], until: datetime
    ) -> dict[str, int]:
        """How often each of these memories was activated by ``until``; exact to the day where recalls are gone."""

    def add_activations(self, namespace: str, profile: str, counts: Mapping[str, int], at: datetime) -> None:
        """Add to how often memories were activated. Counts are not logged: like a recall, they change nothing."""

    def all_activations(self, namespace: str) -> list[ActivationCount]:
        """Every count of activations, by profile, memory and day."""

    def restore_activations(self, namespace: str, counts: Collection[ActivationCount]) -> None:
        """Store counts of an export; those of the same profile, memory and day are replaced."""

    def traces(
        self,
        namespace: str,
        *,
        since: datetime | None = None,
        session: str | None = None,
        memory_id: str | None = None,
        limit: int = 100,
    ) -> list[Trace]:
        """Recalls without flows, newest first, filtered by session or by a memory among their hits."""

    def shown(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """Id → how many of the stored recalls returned it, for those of ``ids`` that any did."""

    def trace(self, namespace: str, recall_id: str) -> Trace | None:
        """One recall with its flow."""

    def verdicts(
        self, namespace: str, ids: Collection[str] | None = None, *, recall: str | None = None
    ) -> list[VerdictRow]:
        """Verdicts on any of ``ids`` (None: on all), of one recall or of any, oldest first."""

    def pairs(
        self, namespace: str, ids: Collection[str] | None = None, *, both: bool = True
    ) -> list[PairRow]:
        """Pairs with both ends among ``ids`` (None: all), or with any of them, in order of source and target."""

    def runs(
        self, namespace: str, ids: Collection[str] | None = None, *, settled: bool = True
    ) -> list[RunRow]:
        """Runs by id (None: all), oldest first; ``settled=False`` returns only unsettled ones."""

    def weights(self, namespace: str, profile: str | None = None) -> list[WeightsRow]:
        """The weights that are set for a profile (None: for every profile), by name of profile."""

    def relations(self, namespace: str) -> list[RelationRow]:
        """The relations whose sign is stored, by name."""

    def backup(self, path: Path) -> None:
        """Copy what is committed, every namespace, to a new file, atomically; others may write meanwhile.

        ``Conflict`` if the file exists, ``StoreError`` if it cannot be written.
        """

    def restore_backup(self, path: Path, changes: Collection[Changes]) -> None:
        """Replace the whole content of the store with that of a backup, in one transaction.

        ``changes``, one for each namespace, are logged with numbers above all earlier ones. ``ParamError`` for a path
        without a file, ``Conflict`` for the store itself, ``Corrupt`` or ``SchemaTooNew`` for what is no backup.
        """

    def add_token(self, token: Token, digest: bytes) -> None:
        """Store a new token by the digest of its secret. Tokens are neither logged nor restored from a backup."""

    def tokens(self) -> list[Token]:
        """All tokens, revoked ones included, oldest first."""

    def any_token(self) -> bool:
        """Whether a token was ever created."""

    def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """A token and the digest of its secret."""

    def revoke_token(self, token_id: str, at: datetime) -> bool:
        """Revoke a token; returns whether one with that id existed and was not revoked."""

    def set_read_only(self, namespace: str, *, on: bool) -> None:
        """Refuse writes to a namespace with ``Conflict``, a replaced store's excepted, or accept them again."""

    def all_read_only(self, namespace: str | None = None) -> list[str]:
        """The namespaces to which writes are refused, by name (of one: it or none)."""

    def use_token(self, token_id: str, at: datetime) -> None:
        """Record when a token was last used; raises ``Busy`` after a short wait rather than the timeout."""

    def add_loop(self, namespace: str, row: LoopSessionRow) -> None:
        """Store a new session of the loop; ``Conflict`` for an id that is taken. Sessions are not logged."""

    def keep_loop(self, namespace: str, row: LoopSessionRow) -> bool:
        """Update a session; returns whether it exists: a purge erases the sessions that name its memories."""

    def loop(self, namespace: str, session_id: str) -> LoopSessionRow | None:
        """One session of the loop."""

    def loops(
        self, namespace: str, *, limit: int = 100, objective: str | None = None
    ) -> list[LoopSessionRow]:
        """Sessions of the loop, newest first; with ``objective``, only those with it, in upper or lower case."""

    def counts(self, namespace: str) -> Counts:
        """What the namespace holds."""

    def whole_rows(self, namespace: str) -> Iterator[Row]:
        """The rows that can be read, and belong to memories that can; errors of decoding do not end it."""

    def check(self, namespace: str, *, words: bool = False) -> list[Finding]:
        """Problems of the database: damaged pages, dangling references, with ``words`` those of each text as well."""
