"""The parts of a namespace as streams, the same in every database: how they are read, ordered and appended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any, cast

from priming.serialization import column_names
from priming.storage.columns import LINK_COLUMNS, MEMORY_COLUMNS, VERDICT_COLUMNS, VERSION_COLUMNS, stored
from priming.storage.log_rows import logged_operations
from priming.storage.protocol import Kind, Logged, StoredItem, Trace, VersionKey
from priming.storage.record_rows import (
    LOOP_SESSION_COLUMNS,
    TRACE_COLUMNS,
    stored_loop_session,
    stored_trace,
)
from priming.storage.rows import (
    ROOMS,
    ActivationCount,
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    RelationRow,
    Row,
    RowChange,
    RunRow,
    VectorRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
)


def _columns(alias: str, names: Sequence[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


_MEMORY = "memories {0} ON {0}.namespace = t.namespace AND {0}.number = t.{1}"
_ENDS = f"JOIN {_MEMORY.format('a', 'source')} JOIN {_MEMORY.format('b', 'target')}"
_OWN = f"JOIN {_MEMORY.format('a', 'memory')}"
_LOGGED = "number, id, kind, at, actor, source, reason, undone_by, message, erased, undoes, via, session"
_QUERIES: Mapping[type[StoredItem], tuple[str, str]] = {
    Logged: (
        f"{_columns('t', _LOGGED.split(', '))}, c.rows FROM operations t LEFT JOIN changes c"
        " ON c.namespace = t.namespace AND c.operation = t.number",
        "t.number, c.piece",
    ),
    MemoryRow: (f"{_columns('t', MEMORY_COLUMNS)} FROM memories t", "t.number"),
    VersionRow: (f"a.id, {_columns('t', VERSION_COLUMNS)} FROM versions t {_OWN}", "t.memory, t.revision"),
    LinkRow: (
        f"a.id, b.id, {_columns('t', LINK_COLUMNS)} FROM links t {_ENDS}",
        "t.source, t.relation, t.target",
    ),
    VerdictRow: (
        f"a.id, {_columns('t', VERDICT_COLUMNS)} FROM verdicts t {_OWN}",
        "t.memory, t.verdict, t.operation",
    ),
    PairRow: (f"a.id, b.id, t.times FROM pairs t {_ENDS}", "t.source, t.target"),
    RunRow: (f"{_columns('t', column_names(RunRow))} FROM runs t", "t.id"),
    WeightsRow: ("t.profile, t.weights FROM weights t", "t.profile"),
    RelationRow: (f"{_columns('t', column_names(RelationRow))} FROM relations t", "t.relation"),
    Trace: (f"{TRACE_COLUMNS}, nodes, flow, counted FROM traces t", "t.number"),
    VectorRow: (
        f"a.id, t.version, g.name, t.vector FROM vectors t {_OWN}"
        " JOIN (SELECT DISTINCT generation, name FROM generations) g ON g.generation = t.generation",
        "t.memory, t.version, g.name",
    ),
    ActivationCount: ("t.profile, t.memory, t.day, t.total FROM activations t", "t.profile, t.memory, t.day"),
    LoopSessionRow: (f"{LOOP_SESSION_COLUMNS} FROM loop_sessions t", "t.id"),
}
"""By kind of item the columns and tables, and an order that is the same wherever text is compared by its bytes."""
_READERS: Mapping[type[StoredItem], Callable[..., StoredItem]] = {
    Trace: stored_trace,
    LoopSessionRow: stored_loop_session,
    VectorRow: VectorRow,
    ActivationCount: ActivationCount,
}


class StoreParts(ABC):
    """The parts of the namespaces of a store, read and appended; a backend says how it runs a query."""

    def part(self, namespace: str, kind: type[Kind]) -> Iterator[Kind]:
        """Every item of a kind, read a few at a time, in an order that is the same in every store."""
        which = cast("type[StoredItem]", kind)
        columns, order = _QUERIES[which]
        rows = self._each_of(namespace, f"SELECT {columns} WHERE t.namespace = {{}} ORDER BY {order}")
        items: Iterator[StoredItem]
        if which is Logged:
            items = logged_operations(rows)
        elif which in _READERS:
            items = (_READERS[which](*row) for row in rows)
        else:
            items = (stored(cast("type[Row]", which), row) for row in rows)
        yield from cast("Iterator[Kind]", items)

    def append(self, namespace: str, items: Sequence[StoredItem]) -> None:
        """Add what ``part`` of another store returned, in its order; read-only or not."""
        with self.transaction():
            self._add_namespace(namespace)
            for kind, run in groupby(items, key=type):
                batch: list[Any] = list(run)
                if kind in ROOMS.values():
                    self._write(namespace, [RowChange(None, row) for row in batch])
                elif kind is Logged:
                    self._insert_operations(namespace, batch)
                elif kind is ActivationCount:
                    self.restore_activations(namespace, batch)
                elif kind is VectorRow:
                    for generation in dict.fromkeys(row.generation for row in batch):
                        vectors = {(r.id, r.version): r.vector for r in batch if r.generation == generation}
                        self.add_vectors(namespace, generation, vectors)
                else:
                    self._append_records(namespace, batch)

    def _append_records(self, namespace: str, batch: Sequence[Trace | LoopSessionRow]) -> None:
        for row in batch:
            if isinstance(row, Trace):
                self._append_trace(namespace, row, counted=row.counted)
            else:
                self._append_loop(namespace, row)

    @abstractmethod
    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """See ``Store``."""

    @abstractmethod
    def add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """See ``Store``."""

    @abstractmethod
    def restore_activations(self, namespace: str, counts: Sequence[ActivationCount]) -> None:
        """See ``Store``."""

    @abstractmethod
    def _each_of(self, namespace: str, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that has ``{}`` where the namespace belongs, fetched a few at a time."""

    @abstractmethod
    def _add_namespace(self, namespace: str) -> None: ...

    @abstractmethod
    def _write(self, namespace: str, changes: Sequence[RowChange]) -> None: ...

    @abstractmethod
    def _insert_operations(self, namespace: str, operations: Iterable[Logged]) -> None: ...

    @abstractmethod
    def _append_trace(self, namespace: str, trace: Trace, *, counted: bool) -> int: ...

    @abstractmethod
    def _append_loop(self, namespace: str, row: LoopSessionRow) -> None: ...
