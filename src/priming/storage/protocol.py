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
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, get_args

from priming.config.values import dataclass
from priming.results import Finding
from priming.serialization import column_names
from priming.storage.filters import Condition
from priming.storage.rows import (
    ROOMS,
    Counts,
    LoopSessionRow,
    Row,
    RowChange,
    RowIdentity,
    Unlogged,
    VectorRow,
)
from priming.types import MemoryRecord, Token

VersionKey = tuple[str, int]
Named = Callable[[Any], bool]
Visit = Callable[[Row | VectorRow], None] | None
"""What a walk calls with each row that can be read, and each vector."""
Count = Callable[[int], None] | None
"""What a walk calls with the number of operations so far."""


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

    def logged(self, number: int, erased: Collection[str] = ()) -> Logged:
        """Return the entry of the operation in the log, by its number."""
        return Logged(number=number, erased=tuple(erased), **{name: getattr(self, name) for name in _SHARED})


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

    ``flow`` is the activation on links, of the latest recalls; ``counted``: its hits were activated (for ``part``).
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


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token of the store's server, with the digest of its secret. It is neither logged nor part of a backup."""

    token: Token
    digest: bytes


@dataclass(frozen=True, slots=True)
class ReadOnlyRow:
    """A namespace that refuses writes with ``Conflict``."""

    namespace: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session of recalls, memories, runs, operations or the loop, with its latest time. It is derived."""

    session: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ShownRow:
    """How many of the stored recalls returned a memory. It is derived."""

    id: str
    recalls: int


@dataclass(frozen=True, slots=True)
class EmbeddedRow:
    """A version that has a vector of a generation, undamaged. It is derived."""

    id: str
    version: int


_SHARED = tuple(name for name in column_names(Changes) if name in column_names(Logged))
REMEDY = "restore a backup, or export what is whole: priming export --salvage FILE"


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that is damaged: its name, why it counts as damaged, and the remedy."""

    name: str
    reason: str
    remedy: str = REMEDY


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk over a namespace came to: how much was read, which rows are damaged, and how log and rows differ.

    ``rejected`` are damaged rows that can be read, ``lost`` rows that the log has and the store lacks, ``unlogged``
    those that only the store has, and ``more`` how many of these are not listed. ``cut``: a damaged page ended it.
    """

    damaged: tuple[DamagedRow, ...] = ()
    operations: int = 0
    rows: int = 0
    lost: tuple[Row, ...] = ()
    unlogged: tuple[Row, ...] = ()
    more: int = 0
    rejected: frozenset[RowIdentity] = frozenset()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is: its name in errors, whether it ``exists``, and what this machine has beside it.

    Reading creates no store. ``beside`` are the paths beside which this machine has files of it; the folders
    ``scratch``, for disposable files, and ``backups`` may not exist yet.
    """

    name: str
    exists: bool = True
    beside: tuple[Path, ...] = ()
    scratch: Path | None = None
    backups: Path | None = None


StoredItem = Row | Unlogged | Logged | Trace
Kind = TypeVar("Kind")
PARTS: tuple[type[StoredItem], ...] = (Logged, *ROOMS.values(), Trace, *get_args(Unlogged))
"""All that a namespace holds, in an order in which it can be appended."""


class Where(TypedDict, total=False):
    """What restricts ``rows`` and ``part`` to some items of a kind; each kind has a few of these."""

    ids: Collection[str] | None
    """Own ids, or those of the memories that a row is about: one end of a link or pair is enough."""
    both: bool
    """Links and pairs with both ends among ``ids``."""
    relation: str | None
    recall: str | None
    profile: str | None
    settled: bool
    digests: Collection[str]
    """Versions that are current and have one of these digests of their content."""
    generation: str
    session: str | None
    hit: str | None
    """Recalls that returned this memory."""
    counted: bool
    since: datetime | None
    until: datetime
    """Recalls before it; the latest count of activations of each memory up to its day; records not ended by then."""
    during: datetime
    """Runs that had begun by this time, and have ended since."""
    objective: str | None
    flows: bool
    """Whether ``rows`` reads recalls with their flow."""
    limit: int
    """The latest so many, the latest first."""


class WhichOperations(TypedDict, total=False):
    """What restricts ``operations``; None is no restriction."""

    ids: Collection[str] | None
    number: int | None
    after: int | None
    """A number, exclusive, as are ``before`` and ``until``."""
    before: int | None
    memory_id: str | None
    kind: str | None
    source: str | None
    since: datetime | None
    until: datetime | None
    limit: int | None
    rows: bool
    """Whether to read what they changed; by default it is."""
    first: bool
    """Of what each changed only the first rows, at most a few hundred."""


class WhichNames(TypedDict, total=False):
    """Of which memories ``names`` reads the keys."""

    ids: Collection[str] | None
    keys: Collection[str] | None
    session: str | None
    condition: Condition | None
    at: datetime | None
    limit: int | None


class WhichRecords(TypedDict, total=False):
    """Which memories ``records`` reads."""

    ids: Collection[str] | None
    name: str | None
    kinds: Sequence[str] | None
    status: str | None
    words: str | None
    coming: bool
    after: str | None
    limit: int | None


class Store(Protocol):
    """A database, used by one thread at a time. Methods raise ``priming.errors`` and leave no partial write."""

    @property
    def place(self) -> Place:
        """Where the store is."""

    def close(self) -> None:
        """Release the database; a second call does nothing."""

    def lease(self, namespace: str, work: str | None = None) -> AbstractContextManager[None]:
        """Take turns with other long work. With ``work``, do it alone; ``Busy`` names who does it already."""

    def turn(self) -> AbstractContextManager[None]:
        """Hold a turn of long work, if the thread's is, before what others wait for: it waits for none inside."""

    def watch(self, namespace: str, wake: Callable[[], None]) -> None:
        """Call ``wake``, in another thread, after writes of others to a namespace, if the database tells of them."""

    def transaction(
        self, namespace: str | None = None, *, write: bool = True, patience: float | None = None
    ) -> AbstractContextManager[None]:
        """Hold the write lock until the block ends and commits: nothing that was read inside changes meanwhile.

        It is held from the beginning if it is that of ``namespace``; of others, at latest from the first use on.
        Nested blocks join the outermost. An exception rolls everything back; caught in a nested block that writes, it
        ends the outermost in ``StoreError``. ``Busy`` after the timeout, or ``patience`` in seconds.
        Without ``write`` the block reads one state.
        """

    def namespaces(self) -> list[str]:
        """Return all namespaces, sorted."""

    def head(self, namespace: str) -> int:
        """Return the number of the namespace's latest operation; 0 if there is none."""

    def operations(self, namespace: str, **which: Unpack[WhichOperations]) -> list[Logged]:
        """Return operations, newest first; with ``after``, oldest first."""

    def rows(self, namespace: str | None, kind: type[Kind], **where: Unpack[Where]) -> list[Kind]:
        """Return items of a kind, in an order that is the same in every store; the namespace of tokens is None.

        That is the order of insertion; of verdicts and runs by time; of names by their bytes.
        """

    def part(self, namespace: str, kind: type[Kind], **where: Unpack[Where]) -> Iterator[Kind]:
        """Read the same a few at a time, recalls whole; of ``MemoryRecord`` each current version of those active."""

    def names(self, namespace: str, **which: Unpack[WhichNames]) -> dict[str, str]:
        """Map each id to its key, of the memories of these ids, or keys.

        With ``session``, of its latest active memories, the latest first. With ``condition``, of the active memories
        whose version valid at ``at`` satisfies it, in order of insertion.
        """

    def records(self, namespace: str, at: datetime, **which: Unpack[WhichRecords]) -> dict[str, MemoryRecord]:
        """Map each id to its memory in its current version valid at ``at``, in the order of ``ids`` or of insertion.

        ``name`` selects the memory of that id or key, in its latest version if none is valid; ``coming`` also those
        that hold only later. ``words`` selects those with all of its words, in any form. ``after`` is a memory's id.
        """

    def counts(self, namespace: str, *, brief: bool = False) -> Counts:
        """Count what the namespace holds; ``brief``: links under one name, no bytes, for which all rows are read."""

    def apply(self, changes: Changes) -> int:
        """Write one operation and its entry in the log, and return its number; creates the namespace.

        Rows are removed first, in any order: memories after the rows that refer to them. Other rows are inserted and
        updated in order, and new memories may follow the rows that refer to them.
        ``Conflict`` for a key or id that is taken, a second verdict of one recall, memory and verdict, a memory that
        other rows still refer to, or a version whose text would change; ``NotFound`` for a link, verdict or pair of
        a missing memory, or for a missing row to update.
        """

    def append(self, namespace: str, items: Sequence[StoredItem]) -> None:
        """Add what ``part`` of another store returned, in its order and that of ``PARTS``; read-only or not.

        Vectors and counts of activations replace those that are there; vectors of missing versions are skipped.
        """

    def save(self, namespace: str | None, row: LoopSessionRow | TokenRow, *, new: bool) -> bool:
        """Insert what is not logged, or update it: a session of the loop, a token; whether it was there to update.

        ``Conflict`` for an id that is taken. A purge erases the sessions that name its memories. A token that was
        revoked stays so.
        """

    def add_trace(
        self, namespace: str, trace: Trace, *, keep: int, keep_flows: int, not_before: datetime
    ) -> None:
        """Record a recall; delete those before ``not_before`` and beyond the latest ``keep``.

        Those beyond ``keep_flows`` lose their flow. Hits of a ``counted`` one were activated. Raises ``Busy`` soon.
        """

    def set_read_only(self, namespace: str, *, on: bool) -> None:
        """Refuse writes to a namespace with ``Conflict``, a replaced store's excepted, or accept them again."""

    def purge(self, changes: Changes, ids: Collection[str], is_named: Named | None = None) -> dict[str, int]:
        """Erase memories and what refers to them or ``is_named``, in the log too; the rows by table."""

    def clear(self, namespace: str) -> None:
        """Remove a namespace and all that it holds, its log included; read-only or not."""

    def flush(self) -> None:
        """Remove every byte of erased rows from the store's files; ``Busy`` while another reads an older state."""

    def backup(self, path: Path) -> None:
        """Copy what is committed, every namespace, to a new file, atomically; others may write meanwhile.

        ``Conflict`` if the file exists, ``StoreError`` if it cannot be written.
        """

    def restore_backup(self, path: Path, changes: Collection[Changes]) -> None:
        """Replace the whole content of the store with that of a backup, in one transaction.

        ``changes``, one for each namespace, are logged with numbers above all earlier ones. ``ParamError`` for a path
        without a file, ``Conflict`` for the store itself, ``Corrupt`` or ``SchemaTooNew`` for what is no backup.
        """

    def walk(
        self, namespace: str | None, visit: Visit = None, *, around: bool = False, progress: Count = None
    ) -> Walked:
        """Read the log and every row, once, and call ``visit`` with each row that can be read, and each vector.

        Without a namespace it reads what belongs to none; with ``around`` rows around damaged pages, without the log.
        """

    def check(self, namespace: str, *, words: bool = False, walked: Walked | None = None) -> list[Finding]:
        """Find damage and dangling references, with ``words`` each text's too; ``walked`` is what a walk came to."""
