"""A store moved to another database, namespace by namespace: everything that it holds, verified item by item."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from priming.config.environment import locate
from priming.config.params.limits import STORE
from priming.config.store_urls import url_of
from priming.config.values import dataclass
from priming.core.arguments.checks import check_name, check_text
from priming.errors import Conflict, NotFound, ParamError
from priming.serialization import column_names, to_columns
from priming.storage.opening import open_store
from priming.storage.protocol import PARTS, Logged, ReadOnlyRow, Store, StoredItem, TokenRow, Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import ROOMS, ActivationCount, LoopSessionRow, RowChange, VectorRow
from priming.types import Progress

TABLES: Mapping[type[StoredItem], str] = {
    Logged: "operations",
    **{cls: room for room, cls in ROOMS.items()},
    Trace: "traces",
    VectorRow: "vectors",
    ActivationCount: "activations",
    LoopSessionRow: "loop_sessions",
}
"""The kinds of what is moved, by the names of their tables."""
_SIZE = 8
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False)
_BY_LOG = (Logged, *ROOMS.values())
NOT_MOVED = (
    "backups: they stay where they are",
    "working sets on disk: the first use of the target builds its own",
    "settings and servers: they go on with the source until they name the target",
)
MOVED, CONTINUED, PRESENT = "moved", "continued", "present"
"""What became of a namespace: moved as a whole, from where a move was interrupted, or moved before."""


@dataclass(frozen=True, slots=True)
class PartDigest:
    """The number of items of one kind, and the digest of all in their order, in hexadecimal digits."""

    count: int
    digest: str


class DigestedItems:
    """The digest of items that are added in order."""

    def __init__(self) -> None:
        self._count, self._hash = 0, hashlib.blake2b(digest_size=_SIZE)

    def add(self, items: Iterable[StoredItem]) -> None:
        """Add the next items."""
        for item in items:
            self._hash.update(fingerprint(item))
            self._count += 1

    @property
    def digest(self) -> PartDigest:
        """The digest of all so far."""
        return PartDigest(self._count, self._hash.hexdigest())


def fingerprint(item: StoredItem) -> bytes:
    """Return the digest of one item. Equal items have equal digests, whichever backend they were read from."""
    text = _JSON.encode(_plain(item)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_SIZE).digest()


@dataclass(frozen=True, slots=True)
class MovedNamespace:
    """A namespace in the target: its tables with the number of items and their digest, and what differs there."""

    namespace: str
    status: str
    head: int
    tables: Mapping[str, PartDigest]
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MovedStore:
    """A move between stores: what was moved and verified, and what is not part of a store's content."""

    source: str
    target: str
    namespaces: tuple[MovedNamespace, ...]
    tokens: int
    read_only: tuple[str, ...]
    not_moved: tuple[str, ...] = NOT_MOVED

    @property
    def is_verified(self) -> bool:
        """Whether the target has what the source has."""
        return not any(moved.differs for moved in self.namespaces)


def migrate(
    source: str, target: str, *, namespaces: Sequence[str] | None = None, progress: Progress | None = None
) -> MovedStore:
    """Move everything that a store holds to another, of either kind, and verify it there.

    Each namespace is read in one state, in which others may go on writing; what they write meanwhile is not moved. It
    is written in small transactions. Until it is complete, the target refuses writes to it. A move that was
    interrupted goes on where it stopped. The source is not changed.

    Args:
        source: the URL or file of the store to read.
        target: the URL or file of the store to write; without one, it is created.
        namespaces: those to move, with their tokens; None: all.
        progress: called with (items moved, None).

    Raises:
        NotFound: there is no such store or namespace to move.
        Conflict: a namespace of the target holds something else; all of them are named, and nothing is moved.

    """
    with closing(_opened("source", source)) as old, closing(_opened("target", target)) as new:
        if old.place.name == new.place.name:
            raise Conflict(f"{old.place.name} is both source and target: name another target")
        if not old.place.exists:
            raise NotFound(f"there is no store at {old.place.name}: name the URL or the file of one")
        chosen = _chosen(old, namespaces)
        states = {name: _state(old, new, name) for name in chosen}
        refused = [
            f"{name!r} {why}" for name, why in states.items() if why not in (MOVED, CONTINUED, PRESENT)
        ]
        if refused:
            raise Conflict(
                f"{new.place.name} holds something else: {'; '.join(refused)}: name another target, or move the other"
                " namespaces by name; nothing was moved"
            )
        counter = _Counter(progress)
        moved = tuple(_moved(old, new, name, states[name], counter) for name in chosen)
        tokens = _move_tokens(old, new, None if namespaces is None else chosen)
        flags = tuple(
            row.namespace
            for row in old.rows(None, ReadOnlyRow)
            if namespaces is None or row.namespace in chosen
        )
        for name in flags:
            new.set_read_only(name, on=True)  # also one that holds nothing
        return MovedStore(old.place.name, new.place.name, moved, tokens, flags)


class _Counter:
    """Counts items, and reports them."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._items = progress, 0

    def add(self, number: int) -> None:
        """Count items that were moved."""
        self._items += number
        if self._progress is not None:
            self._progress(self._items, None)


def _opened(name: str, place: str) -> Store:
    """Return the store of a URL or a file."""
    text = check_text(name, place)
    if not text.strip():
        raise ParamError(name, place, "must be the URL or the file of a store")
    location = locate(text if "://" in text else url_of(Path(text)))
    if location.path is None and location.url is None:
        raise ParamError(name, place, "is a store in memory, which ends with its process: name a file")
    return open_store(location)


def _chosen(old: Store, namespaces: Sequence[str] | None) -> list[str]:
    names = old.namespaces()
    if namespaces is None:
        return names
    chosen = dict.fromkeys(str(check_name("namespace", name)) for name in namespaces)
    for name in chosen:
        if name not in names:
            raise NotFound(f"there is no namespace {name!r} to move: there are {', '.join(names) or 'none'}")
    return list(chosen)


def _state(old: Store, new: Store, name: str) -> str:
    """Return what is to be done about a namespace, or why it cannot be moved."""
    if not any(True for kind in PARTS for _ in new.part(name, kind)):
        return MOVED
    head = new.head(name)
    last = [StoredNamespace(store, name).operation_id(head) for store in (old, new)]
    if head and last[0] != last[1]:
        return "has operations that the source has not"
    if new.rows(name, ReadOnlyRow):
        return CONTINUED
    if head != old.head(name):
        return f"was moved before, when the source had {head:,} operations"
    if any(_digest(old, name, kind) != _digest(new, name, kind) for kind in (_BY_LOG if head else PARTS)):
        return "has other rows than the source"
    return PRESENT


def _digest(store: Store, name: str, kind: type[StoredItem]) -> PartDigest:
    digested = DigestedItems()
    digested.add(store.part(name, kind))
    return digested.digest


def _moved(old: Store, new: Store, name: str, state: str, counter: _Counter) -> MovedNamespace:
    """Move a namespace, or the rest of it, and compare the two."""
    if state == PRESENT:
        digests = {TABLES[kind]: _digest(new, name, kind) for kind in PARTS}
        return MovedNamespace(name, PRESENT, new.head(name), digests)
    new.set_read_only(name, on=True)
    with old.transaction(write=False):
        appended = _append_missing(old, new, name, counter)
        if appended is None:  # the source went on since the move was interrupted
            new.clear(name)
            appended = _append_missing(old, new, name, counter)
        digests, head = appended or {}, old.head(name)
    differs = tuple(
        TABLES[kind] for kind in PARTS if _digest(new, name, kind) != digests.get(TABLES[kind])
    ) + (() if new.head(name) == head else ("head",))
    if not differs:
        new.set_read_only(name, on=bool(old.rows(name, ReadOnlyRow)))
    return MovedNamespace(name, state, head, digests, differs)


def _append_missing(old: Store, new: Store, name: str, counter: _Counter) -> dict[str, PartDigest] | None:
    """Append what the target lacks, and digest what the source has; None if the target has anything else."""
    digests = {}
    for kind in PARTS:
        digested, items = DigestedItems(), old.part(name, kind)
        for present in new.part(name, kind):
            item = next(items, None)
            if item is None or fingerprint(item) != fingerprint(present):
                return None
            digested.add([item])
        for batch in _batches(items):
            new.append(name, batch)
            digested.add(batch)
            counter.add(len(batch))
        digests[TABLES[kind]] = digested.digest
    return digests


def _batches(items: Iterator[StoredItem]) -> Iterator[list[StoredItem]]:
    """Yield the items for one transaction each; an operation weighs as much as the rows that it changed."""
    batch: list[StoredItem] = []
    weight = 0
    for item in items:
        batch.append(item)
        weight += 1 + (len(item.rows) if isinstance(item, Logged) else 0)
        if weight >= STORE.batch:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _move_tokens(old: Store, new: Store, namespaces: Sequence[str] | None) -> int:
    """Move the tokens that the target lacks, as they are: revoked ones, too."""
    present = {row.token.id for row in new.rows(None, TokenRow)}
    moved = [
        row
        for row in old.rows(None, TokenRow)
        if row.token.id not in present and not (namespaces and row.token.namespace not in namespaces)
    ]
    for row in moved:
        new.save(None, row, new=True)
    return len(moved)


def _plain(item: StoredItem | RowChange) -> Any:
    """Return an item as JSON holds it; a number of a field of fractions is one, however it was stored."""
    if isinstance(item, VectorRow):
        return [item.id, item.version, item.generation, item.vector.hex()]
    if isinstance(item, Logged):
        values = to_columns(item)
        at = column_names(Logged).index("rows")
        values[at] = [[_side(change.before), _side(change.after)] for change in item.rows]
        return values
    values = to_columns(item)
    if isinstance(item, Trace):
        values[column_names(Trace).index("flow")] = None if item.flow is None else item.flow.hex()
    kind: Any = type(item)
    for i in _fractions(kind):
        if values[i] is not None:
            values[i] = float(values[i])
    return values


def _side(row: Any) -> Any:
    return None if row is None else [type(row).__name__, *_plain(row)]


@cache
def _fractions(cls: Any) -> tuple[int, ...]:
    """Return the positions of the fields that hold fractions."""
    hints = get_type_hints(cls)
    return tuple(i for i, name in enumerate(column_names(cls)) if hints[name] in (float, float | None))
