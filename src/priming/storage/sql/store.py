"""The store in SQL: what it reads and writes in every database; a backend has its dialect and its connection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, ClassVar, Unpack, cast

from priming.results import Finding
from priming.serialization import column_names, encode_row, stamp, to_columns
from priming.storage.damage import REIMPORT, STALE_WORDS, damage_findings, listed_findings
from priming.storage.protocol import (
    Changes,
    Count,
    Kind,
    Logged,
    ReadOnlyRow,
    StoredItem,
    TokenRow,
    Trace,
    VersionKey,
    Visit,
    Walked,
    Where,
)
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    ROOMS,
    ActivationCount,
    LoopSessionRow,
    RowChange,
    VectorRow,
)
from priming.storage.sql.dialect import NO_NAMESPACE, TRACES, Database, Dialect
from priming.storage.sql.kinds import insertion, selected, trace_values
from priming.storage.sql.tables import LOGGED, MemoryReader, logged_operations
from priming.storage.sql.walk import RowScan
from priming.storage.sql.writer import Erasure
from priming.types import MemoryRecord

FETCHED = 100
"""The number of rows in memory of a read in parts: a piece of the log may be large."""
_FEW_BYTES = 2_000
_TRACE_PATIENCE = 0.25
"""Seconds that a recall, whose record can be omitted, waits for another writer."""


StoreRule = tuple[str, str, str, str]
"""A rule, the query for the subjects that break it, what is wrong with them, and the remedy."""
RULES: tuple[StoreRule, ...] = (
    (
        "self-link",
        "SELECT m.key FROM links l JOIN memories m ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND l.source = l.target",
        "the memory is linked to itself; the link has no effect",
        "undo the operation that made the link",
    ),
    (
        "weight-range",
        "SELECT m.key || ' ' || l.relation || ' ' || l.weight FROM links l JOIN memories m"
        " ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND NOT (l.weight >= 0 AND l.weight <= 1)",
        "a link's weight is outside [0, 1]",
        "set it with set_strength",
    ),
    (
        "no-version",
        "SELECT m.key FROM memories m WHERE m.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.namespace = m.namespace AND v.memory = m.number"
        " AND v.retired_at IS NULL)",
        "the memory has no current version",
        "undo the operation that retired it, or purge the memory",
    ),
    (
        "overlapping-versions",
        "WITH v AS MATERIALIZED (SELECT memory, revision, valid_from, valid_to,"
        " count(*) OVER (PARTITION BY memory) AS n FROM versions"
        " WHERE namespace = :namespace AND retired_at IS NULL),"
        " w AS MATERIALIZED (SELECT * FROM v WHERE n > 1)"
        " SELECT DISTINCT m.key FROM w a JOIN w b ON b.memory = a.memory AND b.revision > a.revision"
        " JOIN memories m ON m.namespace = :namespace AND m.number = a.memory"
        " WHERE (a.valid_to IS NULL OR b.valid_from IS NULL OR b.valid_from < a.valid_to)"
        " AND (b.valid_to IS NULL OR a.valid_from IS NULL OR a.valid_from < b.valid_to)",
        "two versions of the memory are valid at the same time",
        "undo the operation that recorded the later one",
    ),
    (
        "stray-vector",
        "SELECT x.memory || ' version ' || x.version FROM vectors x WHERE x.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.namespace = x.namespace AND v.memory = x.memory"
        " AND v.version = x.version)",
        "the vector belongs to no version",
        REIMPORT,
    ),
)


class SqlStore(MemoryReader, Erasure):
    """A store in a database that speaks SQL."""

    dialect: ClassVar[Dialect]
    rules: ClassVar[tuple[StoreRule, ...]]
    """What holds between the rows of this database beside ``RULES``."""

    def __init__(self, db: Database) -> None:
        super().__init__(db, self.dialect)

    def close(self) -> None:
        """Release the database; a second call does nothing."""
        self._db.close()

    def namespaces(self) -> list[str]:
        """Return all namespaces, sorted."""
        sql = "SELECT namespace FROM namespaces ORDER BY namespace"
        return [name for (name,) in self._db.of_every(sql)]

    def rows(self, namespace: str | None, kind: type[Kind], **where: Unpack[Where]) -> list[Kind]:
        """Return items of a kind, in an order that is the same in every store."""
        query = selected(self.dialect, kind, where, whole=False)
        if kind is ReadOnlyRow and namespace is None:
            rows = self._db.of_every(query.sql.replace("t.namespace = :namespace", "1 = 1"))
        else:
            rows = self._db.run(NO_NAMESPACE if namespace is None else namespace, query.sql, query.values)
        items = [query.item(row) for row in rows]
        return [item for item in items if item is not None]

    def part(self, namespace: str, kind: type[Kind], **where: Unpack[Where]) -> Iterator[Kind]:
        """Read the same a few at a time."""
        items: Iterator[Any]
        if kind is MemoryRecord:
            items = self._each_record(namespace, where.get("until"))
        elif kind is Logged:
            sql = f"SELECT {LOGGED} WHERE o.namespace = :namespace ORDER BY o.number, c.piece"
            items = logged_operations(self._db.each(namespace, sql, batch=FETCHED))
        else:
            query = selected(self.dialect, kind, where, whole=True)
            batch = FETCHED if kind is Trace else _FEW_BYTES
            items = map(query.item, self._db.each(namespace, query.sql, query.values, batch=batch))
        yield from cast("Iterator[Kind]", items)

    def apply(self, changes: Changes) -> int:
        """Write one operation and its entry in the log, and return its number."""
        with self.transaction():
            StoredNamespace(self, changes.namespace).check_writable()
            number = self._log(changes)
            self._write(changes.namespace, changes.rows)
            if changes.generation:
                self._add_vectors(changes.namespace, changes.generation, changes.vectors)
        return number

    def append(self, namespace: str, items: Sequence[StoredItem]) -> None:
        """Add what ``part`` of another store returned, in its order; read-only or not."""
        if not items:
            return
        with self.transaction():
            self._add_namespace(namespace)
            for kind, run in groupby(items, key=type):
                batch: list[Any] = list(run)
                if kind in ROOMS.values():
                    self._write(namespace, [RowChange(None, row) for row in batch])
                elif kind is Logged:
                    self._insert_operations(namespace, batch)
                elif kind is ActivationCount:
                    self._put_activations(namespace, batch)
                elif kind is VectorRow:
                    for generation in dict.fromkeys(row.generation for row in batch):
                        vectors = {(r.id, r.version): r.vector for r in batch if r.generation == generation}
                        self._add_vectors(namespace, generation, vectors)
                elif kind is Trace:
                    for trace in batch:
                        self._append_trace(namespace, trace)
                else:
                    self._append_loops(namespace, batch)

    def _add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, replacing present ones."""
        numbers = self._numbers(namespace, {memory_id for memory_id, _ in vectors})
        if not numbers:
            return
        number, beside = self._generation(namespace, generation), self.dialect.vector_column
        self._db.many(
            namespace,
            f"INSERT INTO vectors (namespace, memory, version, generation, vector, {beside})"
            f" SELECT v.namespace, v.memory, v.version, ?, ?, {self.dialect.bytes_value} FROM versions v"
            " WHERE v.namespace = ? AND v.memory = ? AND v.version = ? LIMIT 1"
            " ON CONFLICT (namespace, memory, version, generation) DO UPDATE"
            f" SET vector = excluded.vector, {beside} = excluded.{beside}",
            [
                (number, *self.dialect.vector_values(vector), namespace, numbers[memory_id], version)
                for (memory_id, version), vector in vectors.items()
                if memory_id in numbers
            ],
        )

    def add_trace(
        self, namespace: str, trace: Trace, *, keep: int, keep_flows: int, not_before: datetime
    ) -> None:
        """Record a recall, beside whoever writes; delete those before ``not_before`` or beyond ``keep``."""
        with self._db.transaction(patience=_TRACE_PATIENCE, lock=TRACES):
            number = self._append_trace(namespace, trace)
            if trace.counted:
                hits = dict.fromkeys(dict(trace.hits), 1)
                counts = StoredNamespace(self, namespace).raised_activations(trace.profile, hits, trace.at)
                self._put_activations(namespace, counts)
            values = {"before": stamp(not_before), "last": number - keep, "last_flow": number - keep_flows}
            drop = "DELETE FROM traces WHERE namespace = :namespace AND"
            self._db.change(namespace, f"{drop} at < :before", values)
            if number > keep:
                self._db.change(namespace, f"{drop} number <= :last", values)
            if number > keep_flows:
                self._db.change(
                    namespace,
                    "UPDATE traces SET nodes = NULL, flow = NULL"
                    " WHERE namespace = :namespace AND number <= :last_flow AND flow IS NOT NULL",
                    values,
                )

    def _append_trace(self, namespace: str, trace: Trace) -> int:
        """Store a recall after all others, and return its number."""
        self._db.lock(namespace, TRACES)
        sql = "SELECT coalesce(max(number), 0) + 1 FROM traces WHERE namespace = :namespace"
        ((number,),) = self._db.run(namespace, sql)
        values = {"namespace": namespace, "number": number, **trace_values(trace)}
        self._db.many(namespace, insertion("traces", values), [tuple(values.values())])
        return int(number)

    def _put_activations(self, namespace: str, counts: Sequence[ActivationCount]) -> None:
        """Store counts; those of the same profile, memory and day are replaced."""
        self._db.lock(namespace, TRACES)
        self._db.many(
            namespace,
            "INSERT INTO activations (namespace, profile, memory, day, total) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (namespace, profile, memory, day) DO UPDATE SET total = excluded.total",
            [(namespace, count.profile, count.id, count.day, count.total) for count in counts],
        )

    def save(self, namespace: str | None, row: LoopSessionRow | TokenRow, *, new: bool) -> bool:
        """Insert a session of the loop or a token, or update it; whether it was there to update."""
        if isinstance(row, TokenRow):
            return self._save_token(row, new=new)
        assert namespace is not None, "a session of the loop is of a namespace"
        with self.transaction():
            StoredNamespace(self, namespace).check_writable()
            if new:
                self._append_loops(namespace, [row])
                return False
            sql = (
                "UPDATE loop_sessions SET state = :state, updated_at = :at, body = :body"
                " WHERE namespace = :namespace AND id = :id"
            )
            values = {"state": row.state, "at": stamp(row.updated_at), "body": row.body, "id": row.id}
            return bool(self._db.change(namespace, sql, values))

    def _append_loops(self, namespace: str, rows: Sequence[LoopSessionRow]) -> None:
        columns = ("namespace", *column_names(LoopSessionRow))
        values = [(namespace, *to_columns(row)) for row in rows]
        self._db.many(namespace, insertion("loop_sessions", columns), values)

    def _save_token(self, row: TokenRow, *, new: bool) -> bool:
        values = {**encode_row(row.token), "digest": row.digest}
        with self.transaction():
            if new:
                self._db.many(NO_NAMESPACE, insertion("tokens", values), [tuple(values.values())])
                return False
            sql = (
                "UPDATE tokens SET revoked_at = coalesce(revoked_at, :revoked_at),"
                " used_at = coalesce(:used_at, used_at) WHERE id = :id"
            )
            return bool(self._db.change(NO_NAMESPACE, sql, values))

    def set_read_only(self, namespace: str, *, on: bool) -> None:
        """Refuse writes to a namespace from now on, or accept them again."""
        with self.transaction():
            if on:
                sql = "INSERT INTO read_only (namespace) VALUES (:namespace) ON CONFLICT DO NOTHING"
            else:
                sql = "DELETE FROM read_only WHERE namespace = :namespace"
            self._db.change(namespace, sql)

    def walk(
        self, namespace: str | None, visit: Visit = None, *, around: bool = False, progress: Count = None
    ) -> Walked:
        """Read the log and every row, once, and call ``visit`` with each row that can be read, and each vector."""
        scan = self._scan
        if namespace is None:
            return Walked(tuple(scan.damage_of_all()))
        if around:
            for row in scan.whole_rows(namespace):
                if visit is not None:
                    visit(row)
            return Walked(cut=True)
        try:
            with self.transaction(write=False):  # the log and the rows of one state
                return scan.walk(namespace, visit, progress)
        except scan.of_pages:
            return Walked(cut=True)

    def check(self, namespace: str, *, words: bool = False, walked: Walked | None = None) -> list[Finding]:
        """Find problems of the database itself, damaged rows first."""
        damaged = (walked or self.walk(namespace)).damaged
        return damage_findings(damaged) + self._findings(namespace, words=words)

    def _findings(self, namespace: str, *, words: bool) -> list[Finding]:
        """Find rows that contradict one another; ``words``: also texts that are found by other words than theirs."""
        findings: list[Finding] = []
        for rule, query, detail, remedy in (*RULES, *self.rules):
            subjects = [str(subject) for (subject,) in self._db.run(namespace, query)]
            findings += listed_findings(rule, subjects, detail, remedy)
        if words:
            findings += listed_findings("stale-words", [*self._stale_words(namespace)], *STALE_WORDS)
        return findings

    @abstractmethod
    def _stale_words(self, namespace: str) -> Iterable[str]:
        """Return the versions that a search finds by other words than those of their text."""

    @property
    @abstractmethod
    def _scan(self) -> RowScan:
        """The rows as they are stored, which can be read past damage."""

    @abstractmethod
    def _generation(self, namespace: str, name: str) -> int:
        """Return the number of a generation of vectors, which a new one gets."""
