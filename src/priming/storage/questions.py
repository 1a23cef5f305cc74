"""Questions that several reads of a store answer together, the same for every store, and writes made of others.

Among them are the names that a reader may have meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Unpack

from priming.config.values import dataclass
from priming.core.bitemporal import visible
from priming.errors import Conflict
from priming.serialization import stamp
from priming.storage.protocol import (
    EmbeddedRow,
    Kind,
    Logged,
    ReadOnlyRow,
    Store,
    Trace,
    VersionKey,
    Where,
    WhichNames,
    WhichOperations,
    WhichRecords,
)
from priming.storage.rows import (
    ActivationCount,
    LinkRow,
    MemoryRow,
    PairRow,
    R,
    RelationRow,
    Row,
    RunRow,
    VectorRow,
    VersionRow,
    WeightsRow,
    ends_of,
    identity,
    undos_in_effect,
)
from priming.types import MemoryRecord

_MOST_NAMES, _MOST_ASKED, _NEAREST = 3, 20, 5
"""Namespaces that a reason names, and whose memories are looked for; names that resemble another by their letters."""
_LAST = datetime.max.replace(tzinfo=UTC)


def day_of(at: datetime) -> str:
    """Return the day of a time, in UTC, as its stamp begins."""
    return stamp(at)[:10]


@dataclass(eq=False, repr=False)
class StoredNamespace:
    """A namespace of a store: what is in it, and what its reads answer together, in every store."""

    store: Store
    namespace: str

    def rows(self, kind: type[Kind], **where: Unpack[Where]) -> list[Kind]:
        """Return the stored items of a kind, as ``Store.rows`` has them; none are read of no ``ids``."""
        return [] if _is_empty(where) else self.store.rows(self.namespace, kind, **where)

    def part(self, kind: type[Kind], **where: Unpack[Where]) -> Iterator[Kind]:
        """Read the same a few at a time."""
        return iter(()) if _is_empty(where) else self.store.part(self.namespace, kind, **where)

    def operations(self, **which: Unpack[WhichOperations]) -> list[Logged]:
        """Return operations, newest first; with ``after``, oldest first."""
        return self.store.operations(self.namespace, **which)

    def names(self, **which: Unpack[WhichNames]) -> dict[str, str]:
        """Return id → key of the memories of these ids or keys, or as ``Store.names`` chooses them."""
        return {} if _is_empty(which) else self.store.names(self.namespace, **which)

    def records(self, at: datetime, **which: Unpack[WhichRecords]) -> dict[str, MemoryRecord]:
        """Return id → memory in its current version valid at a time, as ``Store.records`` chooses them."""
        return {} if _is_empty(which) else self.store.records(self.namespace, at, **which)

    def record_named(self, name: str, at: datetime) -> MemoryRecord | None:
        """Return the memory of a key or id, in the version valid at ``at``, else in its latest."""
        return next(iter(self.records(at, name=name).values()), None)

    def page_of(self, at: datetime, **which: Unpack[WhichRecords]) -> list[MemoryRecord]:
        """Return memories in their current version valid at ``at``, in order of insertion: active ones by default."""
        which.setdefault("status", "active")
        return list(self.records(at, **which).values())

    def ids_of(self, keys: Collection[str]) -> dict[str, str]:
        """Return key → id, for those of ``keys`` that are taken."""
        return {key: memory_id for memory_id, key in self.names(keys=keys).items()}

    def ids_of_digests(self, digests: Mapping[str, datetime]) -> dict[str, str]:
        """Return content digest → id of the latest active memory that has that content at the digest's time."""
        versions = [
            row
            for row in self.rows(VersionRow, digests=list(digests))
            if visible(row, valid_at=digests[row.digest], known_at=row.recorded_at)
        ]
        ids = {row.id for row in versions}
        rows = self.rows(MemoryRow, ids=ids)
        active = {row.id for row in rows if row.status == "active"}
        return {row.digest: row.id for row in versions if row.id in active}

    def stored(self, row: R) -> R | None:
        """Return the stored row with the same identity."""
        kind = type(row)
        if isinstance(row, WeightsRow):
            alike = self.rows(kind, profile=row.profile)
        elif isinstance(row, LinkRow):
            ends = [row.source, row.target]
            alike = self.rows(kind, ids=ends, both=True, relation=row.relation)
        elif isinstance(row, RelationRow):
            alike = self.rows(kind)
        else:
            ids = [row.source, row.target] if isinstance(row, PairRow) else [row.id]
            alike = self.rows(kind, ids=ids, both=isinstance(row, PairRow))
        return next((candidate for candidate in alike if identity(candidate) == identity(row)), None)

    def operation_of(self, operation_id: str) -> Logged | None:
        """Return the operation of an id, with its rows."""
        return next(iter(self.operations(ids=[operation_id])), None)

    def operation_id(self, number: int) -> str | None:
        """Return the id of an operation by its number."""
        return next((logged.id for logged in self.operations(number=number, rows=False)), None)

    def recall_of(self, recall_id: str) -> Trace | None:
        """Return the recall of an id, with its flow."""
        return next(iter(self.rows(Trace, ids=[recall_id], flows=True)), None)

    def activations_until(self, until: datetime, profile: str, ids: Collection[str]) -> dict[str, int]:
        """Return how often each of these memories was activated by then; exact to the day where recalls are gone."""
        with self.store.transaction(write=False):
            latest = self.rows(ActivationCount, profile=profile, ids=ids, until=until)
            recalls = self.rows(Trace, profile=profile, counted=True, since=until + timedelta(microseconds=1))
        totals = {count.id: count.total for count in latest}
        for recall in recalls:
            if day_of(recall.at) == day_of(until):
                for hit, _ in recall.hits:
                    totals[hit] = totals.get(hit, 0) - 1
        return {memory_id: totals[memory_id] for memory_id in ids if memory_id in totals}

    def raised_activations(
        self, profile: str, counts: Mapping[str, int], at: datetime
    ) -> list[ActivationCount]:
        """Return how often memories were activated in all, when so many times are added, to be appended.

        They are not logged: like a recall, they change nothing.
        """
        day = day_of(at)
        rows = self.rows(ActivationCount, profile=profile, ids=counts, until=_LAST)
        latest = {row.id: row for row in rows}
        none = ActivationCount(profile, "", day, 0)
        return [
            ActivationCount(profile, memory_id, max(day, last.day), last.total + number)
            for memory_id, number in counts.items()
            for last in [latest.get(memory_id, none)]
        ]

    def whole_rows(self) -> Iterator[Row]:
        """Yield the rows that are whole, and belong to memories that are. Around a damaged page, no log is asked."""
        rows: list[Row] = []

        def visit(row: Row | VectorRow) -> None:
            if not isinstance(row, VectorRow):
                rows.append(row)

        walked = self.store.walk(self.namespace, visit)
        if walked.cut:
            rows.clear()
            walked = self.store.walk(self.namespace, visit, around=True)
        rows = [row for row in rows if identity(row) not in walked.rejected]
        versioned = {row.id for row in rows if isinstance(row, VersionRow)}
        whole = {row.id for row in rows if isinstance(row, MemoryRow)} & versioned
        yield from (row for row in rows if isinstance(row, RunRow) or whole.issuperset(ends_of(row)))

    def check_writable(self) -> None:
        """Raise ``Conflict`` if the namespace is read-only."""
        if self.rows(ReadOnlyRow):
            raise Conflict(
                f"the namespace {self.namespace!r} is read-only:"
                " 'priming token read-only NAMESPACE --off' accepts writes again"
            )

    def fill(self, rows: Sequence[Row], operations: Sequence[Logged]) -> None:
        """Fill an empty namespace with rows and their log, oldest first, numbered anew.

        Raises:
            Conflict: the namespace is read-only, or not empty.

        """
        undos = ((logged.id, logged.undoes) for logged in reversed(operations) if logged.undoes)
        undone_by = undos_in_effect(undos)
        log = [
            replace(logged, number=number, undone_by=undone_by.get(logged.id, logged.undone_by))
            for number, logged in enumerate(operations, 1)
        ]
        with self.store.transaction(self.namespace):
            self.check_writable()
            if self.store.head(self.namespace):
                raise Conflict(f"namespace {self.namespace!r} is not empty: restore into another")
            self.store.append(self.namespace, [*log, *rows])

    def stored_vectors(
        self, generation: str, ids: Collection[str] | None = None
    ) -> Iterator[tuple[VersionKey, bytes]]:
        """Yield the vectors of one embedding generation; None means those of all memories."""
        for row in self.part(VectorRow, generation=generation, ids=ids):
            yield (row.id, row.version), row.vector

    def embedded_versions(self, generation: str, ids: Collection[str] | None = None) -> set[VersionKey]:
        """Return the versions that have a vector of a generation, undamaged; None means those of all memories."""
        rows = self.rows(EmbeddedRow, generation=generation, ids=ids)
        return {(row.id, row.version) for row in rows}

    def add_vectors(self, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, replacing present ones; vectors of missing versions are skipped."""
        rows = [
            VectorRow(memory_id, version, generation, vector)
            for (memory_id, version), vector in vectors.items()
        ]
        self.store.append(self.namespace, rows)


def _is_empty(which: Mapping[str, Any]) -> bool:
    """Tell whether memories of no ids, or of no keys, are chosen."""
    return any(which.get(name) is not None and not which[name] for name in ("ids", "keys"))


def suggestion(name: str, others: Collection[str], has_memories: Callable[[str], bool]) -> str:
    """Return the namespaces with memories that resemble a name, else a few with memories; empty if there are none.

    >>> suggestion("prod", ["production", "staging"], lambda name: True)
    '; did you mean "production"?'
    """
    near = resembling(name, others)[:_MOST_ASKED]
    similar = [other for other in near if has_memories(other)][:_MOST_NAMES]
    if similar:
        *first, last = (f'"{other}"' for other in similar)
        return f"; did you mean {', '.join(first)}{' or ' if first else ''}{last}?"
    filled = [other for other in list(others)[:_MOST_ASKED] if has_memories(other)]
    if not filled:
        return ""
    names = ", ".join(f'"{other}"' for other in filled[:_MOST_NAMES])
    rest = len(filled) - _MOST_NAMES
    more = f" and {'at least ' if len(others) > _MOST_ASKED else ''}{rest:,} more" if rest > 0 else ""
    return f"; there are some in {names}{more}"


def resembling(name: str, others: Iterable[str]) -> list[str]:
    """Return the names that resemble another, the nearest first: by their letters, or as a part."""
    from difflib import get_close_matches

    forms: dict[str, list[str]] = {}
    for other in others:
        forms.setdefault(other.casefold(), []).append(other)
    form = name.casefold()
    near = get_close_matches(form, forms, n=_NEAREST)
    near += [other for other in forms if form and other not in near and (form in other or other in form)]
    return [other for form in near for other in forms[form]]


def nearest_first(name: str, names: Sequence[str]) -> list[str]:
    """Return the names, those that resemble ``name`` first, the nearest before the others."""
    return list(dict.fromkeys([*resembling(name, names), *names]))
