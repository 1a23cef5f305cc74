"""Questions that several reads of a store answer together, the same for every store, and writes made of others.

Among them are the names that a reader may have meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from priming.errors import Conflict
from priming.serialization import stamp
from priming.storage.protocol import (
    EmbeddedRow,
    Logged,
    ReadOnlyRow,
    Store,
    Trace,
    VersionKey,
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


def record_named(store: Store, namespace: str, name: str, at: datetime) -> MemoryRecord | None:
    """Return the memory of a key or id, in the version valid at ``at``, else in its latest."""
    return next(iter(store.records(namespace, at, name=name).values()), None)


def page_of(
    store: Store,
    namespace: str,
    at: datetime,
    *,
    kinds: Sequence[str] | None = None,
    status: str | None = "active",
    words: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[MemoryRecord]:
    """Return memories in their current version valid at ``at``, in order of insertion, after the id ``after``."""
    records = store.records(namespace, at, kinds=kinds, status=status, words=words, after=after, limit=limit)
    return list(records.values())


def ids_of(store: Store, namespace: str, keys: Collection[str]) -> dict[str, str]:
    """Return key → id, for those of ``keys`` that are taken."""
    return {key: memory_id for memory_id, key in store.names(namespace, keys=keys).items()}


def ids_of_digests(store: Store, namespace: str, digests: Collection[str]) -> dict[str, str]:
    """Return content digest → id of the latest active memory with that content now."""
    versions = [row for row in store.rows(namespace, VersionRow, digests=digests) if row.valid_to is None]
    ids = {row.id for row in versions}
    rows = store.rows(namespace, MemoryRow, ids=ids) if ids else []
    active = {row.id for row in rows if row.status == "active"}
    return {row.digest: row.id for row in versions if row.id in active}


def present(store: Store, namespace: str, row: R) -> R | None:
    """Return the stored row with the same identity."""
    kind = type(row)
    if isinstance(row, WeightsRow):
        alike = store.rows(namespace, kind, profile=row.profile)
    elif isinstance(row, LinkRow):
        ends = [row.source, row.target]
        alike = store.rows(namespace, kind, ids=ends, both=True, relation=row.relation)
    elif isinstance(row, RelationRow):
        alike = store.rows(namespace, kind)
    else:
        ids = [row.source, row.target] if isinstance(row, PairRow) else [row.id]
        alike = store.rows(namespace, kind, ids=ids, both=isinstance(row, PairRow))
    return next((candidate for candidate in alike if identity(candidate) == identity(row)), None)


def operation_of(store: Store, namespace: str, operation_id: str) -> Logged | None:
    """Return the operation of an id, with its rows."""
    return next(iter(store.operations(namespace, ids=[operation_id])), None)


def operation_id(store: Store, namespace: str, number: int) -> str | None:
    """Return the id of an operation by its number."""
    return next((logged.id for logged in store.operations(namespace, number=number, rows=False)), None)


def recall_of(store: Store, namespace: str, recall_id: str) -> Trace | None:
    """Return the recall of an id, with its flow."""
    return next(iter(store.rows(namespace, Trace, ids=[recall_id], flows=True)), None)


def day_of(at: datetime) -> str:
    """Return the day of a time, in UTC, as its stamp begins."""
    return stamp(at)[:10]


def activations(
    store: Store, namespace: str, profile: str, ids: Collection[str], until: datetime
) -> dict[str, int]:
    """Return how often each of these memories was activated by ``until``; exact to the day where recalls are gone."""
    with store.transaction(write=False):
        latest = store.rows(namespace, ActivationCount, profile=profile, ids=ids, until=until)
        recalls = store.rows(
            namespace, Trace, profile=profile, counted=True, since=until + timedelta(microseconds=1)
        )
    totals = {count.id: count.total for count in latest}
    for recall in recalls:
        if day_of(recall.at) == day_of(until):
            for hit, _ in recall.hits:
                totals[hit] = totals.get(hit, 0) - 1
    return {memory_id: totals[memory_id] for memory_id in ids if memory_id in totals}


def raised_activations(
    store: Store, namespace: str, profile: str, counts: Mapping[str, int], at: datetime
) -> list[ActivationCount]:
    """Return how often memories were activated in all, when so many times are added, to be appended.

    They are not logged: like a recall, they change nothing.
    """
    day = day_of(at)
    rows = store.rows(namespace, ActivationCount, profile=profile, ids=counts, until=_LAST)
    latest = {row.id: row for row in rows}
    none = ActivationCount(profile, "", day, 0)
    return [
        ActivationCount(profile, memory_id, max(day, last.day), last.total + number)
        for memory_id, number in counts.items()
        for last in [latest.get(memory_id, none)]
    ]


def whole_rows(store: Store, namespace: str) -> Iterator[Row]:
    """Yield the rows that are whole, and belong to memories that are. Around a damaged page, the log is not asked."""
    rows: list[Row] = []

    def visit(row: Row | VectorRow) -> None:
        if not isinstance(row, VectorRow):
            rows.append(row)

    walked = store.walk(namespace, visit)
    if walked.cut:
        rows.clear()
        walked = store.walk(namespace, visit, around=True)
    rows = [row for row in rows if identity(row) not in walked.rejected]
    versioned = {row.id for row in rows if isinstance(row, VersionRow)}
    whole = {row.id for row in rows if isinstance(row, MemoryRow)} & versioned
    yield from (row for row in rows if isinstance(row, RunRow) or whole.issuperset(ends_of(row)))


def check_writable(store: Store, namespace: str) -> None:
    """Raise ``Conflict`` if the namespace is read-only."""
    if store.rows(namespace, ReadOnlyRow):
        raise Conflict(
            f"the namespace {namespace!r} is read-only:"
            " 'priming token read-only NAMESPACE --off' accepts writes again"
        )


def restore(store: Store, namespace: str, rows: Sequence[Row], operations: Sequence[Logged]) -> None:
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
    with store.transaction(namespace):
        check_writable(store, namespace)
        if store.head(namespace):
            raise Conflict(f"namespace {namespace!r} is not empty: restore into another")
        store.append(namespace, [*log, *rows])


def stored_vectors(
    store: Store, namespace: str, generation: str, ids: Collection[str] | None = None
) -> Iterator[tuple[VersionKey, bytes]]:
    """Yield the vectors of one embedding generation; None means those of all memories."""
    for row in store.part(namespace, VectorRow, generation=generation, ids=ids):
        yield (row.id, row.version), row.vector


def embedded_versions(
    store: Store, namespace: str, generation: str, ids: Collection[str] | None = None
) -> set[VersionKey]:
    """Return the versions that have a vector of a generation, undamaged; None means those of all memories."""
    rows = store.rows(namespace, EmbeddedRow, generation=generation, ids=ids)
    return {(row.id, row.version) for row in rows}


def add_vectors(store: Store, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
    """Store derived vectors outside the log, replacing present ones; vectors of missing versions are skipped."""
    rows = [
        VectorRow(memory_id, version, generation, vector) for (memory_id, version), vector in vectors.items()
    ]
    store.append(namespace, rows)


def suggestion(name: str, others: Collection[str], has_memories: Callable[[str], bool]) -> str:
    """The namespaces with memories that resemble a name, else a few with memories; empty if there are none.

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
