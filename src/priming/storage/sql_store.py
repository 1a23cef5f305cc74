"""What every database does alike with a namespace: its parts as streams, operations, restoring and erasing."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, cast

from priming.errors import Conflict
from priming.serialization import column_names
from priming.storage.columns import LINK_COLUMNS, MEMORY_COLUMNS, VERDICT_COLUMNS, VERSION_COLUMNS, stored
from priming.storage.damage.scan import ReadRow, RowScan
from priming.storage.log_rows import logged_operations
from priming.storage.mentions import mentions_any
from priming.storage.protocol import Changes, Kind, Logged, Store, StoredItem, Trace
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
    identity,
    pack,
    unpack,
)
from priming.types import Token

FETCHED = 100
"""The number of rows in memory: a piece of the log may be large."""


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
        f"a.id, t.version, g.name, t.vector FROM vectors t {_OWN} JOIN generations g ON g.generation = t.generation",
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


class SqlStore(Store):
    """A store in a database that speaks SQL: what is alike in all, where a backend says how it runs a statement."""

    places: tuple[Path, ...] = ()
    generations_of_all: ClassVar[bool] = False
    """Whether the generations of vectors are numbered over all namespaces, rather than in each."""

    def apply(self, changes: Changes) -> int:
        """Write one operation and its entry in the log, and return its number."""
        with self.transaction():
            self._check_writable(changes.namespace)
            number = self._log(changes)
            self._write(changes.namespace, changes.rows)
            if changes.generation:
                self.add_vectors(changes.namespace, changes.generation, changes.vectors)
        return number

    def present(self, namespace: str, row: Row) -> Row | None:
        """The stored row with the same identity, or None."""
        alike: Sequence[Row]
        match row:
            case MemoryRow():
                alike = self.memories(namespace, [row.id])
            case VersionRow():
                alike = self.versions(namespace, row.id)
            case LinkRow():
                alike = self._present_link(namespace, row)
            case VerdictRow():
                alike = self.verdicts(namespace, [row.id])
            case PairRow():
                alike = self.pairs(namespace, [row.source, row.target])
            case WeightsRow():
                alike = self.weights(namespace, row.profile)
            case RelationRow():
                alike = self.relations(namespace)
            case _:
                alike = self.runs(namespace, [row.id])
        return next((candidate for candidate in alike if identity(candidate) == identity(row)), None)

    def restore(self, namespace: str, rows: Sequence[Row], operations: Sequence[Logged]) -> None:
        """Fill an empty namespace with rows and the log that produced them."""
        with self.transaction():
            self._check_writable(namespace)
            if self.head(namespace):
                raise Conflict(f"namespace {namespace!r} is not empty: restore into another")
            self._add_namespace(namespace)
            self._insert_operations(
                namespace, [replace(operation, number=i) for i, operation in enumerate(operations, 1)]
            )
            self._mark_undone(namespace)
            self._write(namespace, [RowChange(None, row) for row in rows])

    def part(self, namespace: str, kind: type[Kind]) -> Iterator[Kind]:
        """Every item of a kind, read a few at a time, in an order that is the same in every store."""
        which = cast("type[StoredItem]", kind)
        columns, order = _QUERIES[which]
        if which is VectorRow and not self.generations_of_all:
            columns += " AND g.namespace = t.namespace"
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

    def damage(self, namespace: str | None) -> list[ReadRow]:
        """The rows of a namespace that are damaged; if there are none, those that belong to no namespace."""
        damaged = [] if namespace is None else list(self._scan.damage(namespace))
        return damaged or list(self._scan.damage_of_all())

    def whole_rows(self, namespace: str) -> Iterator[Row]:
        """The rows that are whole, and belong to memories that are."""
        yield from self._scan.whole_rows(namespace)

    def _erase_mentions(self, namespace: str, names: Collection[str]) -> dict[str, int]:
        """Erase what names somebody beside memories: recalls, loops, cues of verdicts, remarks, names of tokens."""
        is_named = mentions_any(names)
        recalls = [row.recall_id for row in self.part(namespace, Trace) if is_named([row.cue, row.session])]
        sql = "DELETE FROM traces WHERE namespace = {namespace} AND recall_id = {id}"
        for recall_id in recalls:
            self._change_of(namespace, sql, {"id": recall_id})
        sessions = [
            row.id
            for row in self.part(namespace, LoopSessionRow)
            if is_named([row.id, row.objective, json.loads(row.body)])
        ]
        sql = "DELETE FROM loop_sessions WHERE namespace = {namespace} AND id = {id}"
        for session_id in sessions:
            self._change_of(namespace, sql, {"id": session_id})
        for sql, values in [
            *self._nameless_rows(namespace, is_named),
            *self._nameless_log(namespace, is_named),
        ]:
            self._change_of(namespace, sql, values)
        tokens = [
            token.id
            for token in self._readable_tokens()
            if token.namespace == namespace and is_named(token.name)
        ]
        for token_id in tokens:
            sql = "UPDATE tokens SET name = NULL WHERE namespace = {namespace} AND id = {id}"
            self._change_of(namespace, sql, {"id": token_id})
        return {"traces": len(recalls), "loop_sessions": len(sessions), "token_names": len(tokens)}

    def _readable_tokens(self) -> list[Token]:
        """The tokens, or none where they are withheld."""
        return self.tokens()

    def _nameless_rows(
        self, namespace: str, is_named: Callable[[Any], bool]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The changes that leave verdicts without their cue and session, and runs without their session."""
        for verdict in self.part(namespace, VerdictRow):
            if is_named([verdict.cue, verdict.session]):
                yield (
                    "UPDATE verdicts SET cue = NULL, session = NULL WHERE namespace = {namespace}"
                    " AND operation = {operation} AND verdict = {verdict} AND memory ="
                    " (SELECT number FROM memories WHERE namespace = {namespace} AND id = {id})",
                    {"operation": verdict.operation, "verdict": verdict.verdict, "id": verdict.id},
                )
        for run in self.part(namespace, RunRow):
            if is_named(run.session):
                yield (
                    "UPDATE runs SET session = '' WHERE namespace = {namespace} AND id = {id}",
                    {"id": run.id},
                )

    def _nameless_log(
        self, namespace: str, is_named: Callable[[Any], bool]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The same in the log, and without remarks, actors and sessions that are named."""
        columns = "t.operation, t.piece, t.rows FROM changes t"
        query = f"SELECT {columns} WHERE t.namespace = {{}} ORDER BY t.operation, t.piece"
        for operation, piece, rows in self._each_of(namespace, query):
            before = unpack(rows)
            after = [
                RowChange(_nameless(change.before, is_named), _nameless(change.after, is_named))
                for change in before
            ]
            if after != before:
                yield (
                    "UPDATE changes SET rows = {rows} WHERE namespace = {namespace} AND operation = {operation}"
                    " AND piece = {piece}",
                    {"rows": pack(after), "operation": operation, "piece": piece},
                )
        remarks = ("actor", "source", "reason", "message", "via", "session")
        columns = f"t.number, {_columns('t', remarks)} FROM operations t"
        query = f"SELECT {columns} WHERE t.namespace = {{}} ORDER BY t.number"
        for number, *texts in self._each_of(namespace, query):
            for name, text in zip(remarks, texts, strict=True):
                if is_named(text):
                    yield (
                        f"UPDATE operations SET {name} = NULL"
                        " WHERE namespace = {namespace} AND number = {number}",
                        {"number": number},
                    )

    def _append_records(self, namespace: str, batch: Sequence[Trace | LoopSessionRow]) -> None:
        for row in batch:
            if isinstance(row, Trace):
                self._append_trace(namespace, row, counted=row.counted)
            else:
                self._append_loop(namespace, row)

    @property
    @abstractmethod
    def _scan(self) -> RowScan:
        """The rows as they are stored, which can be read past damage."""

    @abstractmethod
    def _each_of(self, namespace: str, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that has ``{}`` where the namespace belongs, fetched a few at a time."""

    @abstractmethod
    def _change_of(self, namespace: str, sql: str, values: Mapping[str, Any]) -> None:
        """Execute a statement that has ``{name}`` where a value of that name, or the namespace, belongs."""

    @abstractmethod
    def _add_namespace(self, namespace: str) -> None: ...

    @abstractmethod
    def _check_writable(self, namespace: str) -> None:
        """``Conflict`` if the namespace is read-only."""

    @abstractmethod
    def _present_link(self, namespace: str, row: LinkRow) -> Sequence[LinkRow]:
        """The stored link of the same ends and relation, if there is one."""

    @abstractmethod
    def _log(self, changes: Changes, erased: Collection[str] = (), *, above: int = 0) -> int:
        """Enter an operation in the log, with a number greater than ``above`` and all others."""

    @abstractmethod
    def _mark_undone(self, namespace: str) -> None:
        """Enter in the operations that the log says were undone by which."""

    @abstractmethod
    def _write(self, namespace: str, changes: Sequence[RowChange]) -> None: ...

    @abstractmethod
    def _insert_operations(self, namespace: str, operations: Iterable[Logged]) -> None: ...

    @abstractmethod
    def _append_trace(self, namespace: str, trace: Trace, *, counted: bool) -> int: ...

    @abstractmethod
    def _append_loop(self, namespace: str, row: LoopSessionRow) -> None: ...


def _nameless(row: Row | None, is_named: Callable[[Any], bool]) -> Row | None:
    """A verdict without a cue that is named, a run without such a session."""
    if isinstance(row, VerdictRow) and is_named([row.cue, row.session]):
        return replace(row, cue={}, session=None)
    return replace(row, session="") if isinstance(row, RunRow) and is_named(row.session) else row
