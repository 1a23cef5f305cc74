"""One walk over the log and the rows of a namespace, past what cannot be read.

``validate`` asks it which rows are damaged, ``verify`` also how log and rows differ, a salvage which rows are whole,
and what reads a damaged row for its name. A database finds a damaged page. A value that somebody or something changed
within a row it does not: such a row is found when it is decoded, or because the log has other values for it.
"""

from __future__ import annotations

import functools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import UnionType
from typing import Any, ClassVar, get_args, get_type_hints

import numpy as np

from priming.config.params.limits import STORE
from priming.serialization import column_names, from_columns, to_columns
from priming.storage.damage import UNREADABLE
from priming.storage.protocol import Count, DamagedRow, Trace, Visit, Walked
from priming.storage.rows import (
    ROOMS,
    ActivationCount,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    R,
    Row,
    RowChange,
    RowIdentity,
    VectorRow,
    identity,
    unpack,
)
from priming.storage.sql.dialect import Dialect
from priming.storage.sql.kinds import KINDS, selected, stored, stored_token, stored_trace
from priming.storage.sql.tables import COLUMNS, LOGGED
from priming.types import Token

_PLAIN = {str, int, float, bool, datetime, type(None)}
Decoder = Callable[..., object]
_NAMES: Mapping[str, str] = {
    "memories": "memory [key]",
    "versions": "version {version} of memory <memory>",
    "links": "link [relation] from <source> to <target>",
    "verdicts": "verdict [verdict] on memory <memory>",
    "pairs": "pair of <source> and <target>",
    "runs": "run [id]",
    "weights": "weights of [profile]",
    "relations": "sign of relation [relation]",
    "vectors": "vector of version {version} of memory <memory>",
    "loop_sessions": "session [id] of the loop",
    "traces": "recall [recall_id]",
    "activations": "activations of memory [memory]",
}
"""By table the name of a row: ``[…]`` stands for a column in quotation marks, ``{…}`` for it as it is, ``<…>`` for
the key of the memory whose number it has."""
_PART = re.compile(r"([\[{<])(\w+)[\]}>]")
_ORPHANS = (
    "SELECT DISTINCT 'changes of log entry number ' || c.operation, 0 FROM changes c"
    " WHERE c.namespace = :namespace AND NOT EXISTS"
    " (SELECT 1 FROM operations o WHERE o.namespace = c.namespace AND o.number = c.operation)"
)
_AT, _LISTS = COLUMNS.index("at"), (COLUMNS.index("erased"), COLUMNS.index("undoes"))
_BUCKETS, _WORD = 1 << 16, (1 << 64) - 1
_MOST_HELD = 64
"""Rows that only the log has, or only the store, of which each is held; the others are counted."""


def _session(*values: Any) -> None:
    json.loads(from_columns(LoopSessionRow, values).body)


_RECORDS: Mapping[type, Decoder] = {
    LoopSessionRow: _session,
    Trace: stored_trace,
    ActivationCount: ActivationCount,
}
"""What is stored outside the log, and how it is decoded."""


class RowSums:
    """Sums of rows by bucket, in memory that does not grow: rows that are added and subtracted again leave nothing.

    Each row that a log made, without those that it took back, is a row of its store; only rows of a bucket that
    differs are to be looked for by name.
    """

    def __init__(self) -> None:
        self._sums = np.zeros(_BUCKETS, np.uint64)

    def add(self, row: Row, sign: int = 1) -> None:
        """Add a row, or subtract it."""
        bucket = bucket_of(row)
        self._sums[bucket] = np.uint64((int(self._sums[bucket]) + sign * _number(row)) & _WORD)

    def add_changes(self, changes: Iterable[RowChange]) -> None:
        """Add what an operation made, and subtract what it took back."""
        for change in changes:
            if change.before is not None:
                self.add(change.before, -1)
            if change.after is not None:
                self.add(change.after)

    def differing(self) -> list[int]:
        """Return the buckets that are not empty."""
        return [int(bucket) for bucket in np.flatnonzero(self._sums)]


def bucket_of(row: Row) -> int:
    """Return the bucket of all rows with the same identity, in this process."""
    return hash(identity(row)) % _BUCKETS


def _number(row: Row) -> int:
    """Return what a row counts in a sum: never 0."""
    values = to_columns(row)
    plain = (json.dumps(each, sort_keys=True) if isinstance(each, (list, dict)) else each for each in values)
    return hash((type(row).__name__, *plain)) & _WORD | 1


class RowScan(ABC):
    """The rows of a database by their raw columns; a backend says how it reads them."""

    of_pages: ClassVar[tuple[type[Exception], ...]] = ()
    """The errors of damaged pages, where rows can be read around them."""
    records: ClassVar[tuple[tuple[Decoder, str], ...]] = ()
    """What this database stores in a namespace beside the tables that all have, by decoder and query."""
    of_all: ClassVar[tuple[tuple[Decoder, str], ...]] = ()
    """The same in no namespace."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    @abstractmethod
    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """Return the rows of a query with their names, undecoded."""

    def decode(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of a row; ``ValueError`` or ``TypeError`` if a column has none of its type."""
        return list(values)

    def around(self, sql: str, namespace: str, key: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """Return the rows of a query but for those on damaged pages; ``key``, a whole number, is that of a memory."""
        del key
        return self.select(sql, namespace)

    def walk(self, namespace: str, visit: Visit, progress: Count) -> Walked:
        """Read the log and every row, and call ``visit`` with those that can be read.

        A flip in what identifies a row leaves one that the log lacks, and another is missing that the log has: both
        are damaged. Either alone is no flip.
        """
        sums, has_log, operations = RowSums(), False, 0
        damaged: list[DamagedRow] = []
        for changes, unreadable, number in self._read_log(namespace):
            has_log = has_log or bool(changes)
            sums.add_changes(changes)
            damaged += [] if unreadable is None else [unreadable]
            if progress is not None and number > operations and number % STORE.batch == 0:
                progress(number)
            operations = number
        is_sound, rows, unreadable_rows = not damaged, 0, list[DamagedRow]()
        for name, row, reason in self._read_rows(namespace):
            if row is None:
                unreadable_rows.append(DamagedRow(name, reason))
                continue
            rows += 1
            sums.add(row, -1)
            if visit is not None:
                visit(row)
        suspects = set(sums.differing()) if is_sound else set()
        walked = self._differing(namespace, suspects, has_log, unreadable_rows) if suspects else Walked()
        vectors = self._vectors(namespace, visit)
        damaged += unreadable_rows if not suspects else []
        damaged += [*walked.damaged, *self._records(namespace), *vectors]
        return replace(walked, damaged=tuple(damaged), operations=operations, rows=rows)

    def _differing(
        self, namespace: str, suspects: set[int], has_log: bool, unreadable: Sequence[DamagedRow]
    ) -> Walked:
        """Return the rows of suspect buckets that are not as the log has them, read again."""
        logged = {
            identity(change.row): change.after
            for changes, _, _ in self._read_log(namespace)
            for change in sorted(changes, key=lambda change: change.after is not None)  # removals come first
            if bucket_of(change.row) in suspects
        }
        missing = {name: row for name, row in logged.items() if row is not None}
        damaged, rejected = list[DamagedRow](), set[RowIdentity]()
        unlogged: list[tuple[Row, str]] = []
        more = 0
        for title, row, reason in self._read_rows(namespace):
            if row is None:
                damaged.append(DamagedRow(title, reason))
            elif bucket_of(row) in suspects:
                name = identity(row)
                if name not in missing and (has_log or len(unlogged) < _MOST_HELD):
                    unlogged.append((row, title))
                elif name not in missing:
                    more += 1
                elif missing[name] != row:
                    damaged.append(DamagedRow(title, "its values are not those that the log has for it"))
                    rejected.add(name)
                missing.pop(name, None)
        if unreadable:  # the row that cannot be read may be the one that the log has
            missing.clear()
        tables = {identity(row)[0] for row, _ in unlogged} & {name[0] for name in missing}
        exchanged = [(row, title) for row, title in unlogged if identity(row)[0] in tables and has_log]
        damaged += [DamagedRow(title, "the log does not have it") for _, title in exchanged]
        damaged += self._missing([row for name, row in missing.items() if name[0] in tables], namespace)
        rejected |= {identity(row) for row, _ in exchanged}
        lost = [row for name, row in missing.items() if name[0] not in tables]
        alone = [row for row, _ in unlogged if identity(row) not in rejected]
        return Walked(tuple(damaged), 0, 0, tuple(lost), tuple(alone), more, frozenset(rejected))

    def _missing(self, rows: Sequence[Row], namespace: str) -> Iterator[DamagedRow]:
        """Yield what the log has and is not in the store, by name."""
        ends = {part for row in rows for part in identity(row)[1:]}
        keys = {
            row.id: row.key
            for _, row, _ in (self._read_rows(namespace) if rows else ())
            if isinstance(row, MemoryRow) and row.id in ends
        }
        for row in rows:
            yield DamagedRow(_title(row, keys), "the log has it, and it is not in the store")

    def whole_rows(self, namespace: str) -> Iterator[Row]:
        """Yield the rows that can be read around damaged pages; the log is not asked."""
        for _, row, _ in self._read_rows(namespace, around=True):
            if row is not None:
                yield row

    def damage_of_all(self) -> list[DamagedRow]:
        """Return the damaged rows that belong to no namespace: tokens, and the names of namespaces."""
        columns = ", ".join(f"t.{name}" for name in column_names(Token))
        tokens = f"SELECT 'token ' || {self._dialect.quoted.format('t.id')}, {columns} FROM tokens t"
        return list(self._unreadable([(stored_token, tokens), *self.of_all], None))

    def _read_rows(self, namespace: str, *, around: bool = False) -> Iterator[tuple[str, Row | None, str]]:
        """Yield all rows by name, those that cannot be read with the reason; ``around`` leaves out damaged pages."""
        for cls in ROOMS.values():
            table = KINDS[cls]
            sql = self._named(cls)
            rows = (
                self.around(sql, namespace, table.ends[0] if table.ends else table.number)
                if around
                else self.select(f"{sql} ORDER BY {table.order}", namespace)
            )
            for title, values in rows:
                try:
                    yield title, _strict(stored(cls, self.decode(values))), ""
                except UNREADABLE as error:
                    yield title, None, _reason(error)

    def _read_log(self, namespace: str) -> Iterator[tuple[Sequence[RowChange], DamagedRow | None, int]]:
        """Yield each log entry's changes, a few at a time, or the entry if it is damaged; and how many were read."""
        sql = (
            f"SELECT 'log entry ' || {self._dialect.quoted.format('o.id')}, {LOGGED}"
            " WHERE o.namespace = :namespace ORDER BY o.number, c.piece"
        )
        entries, last = 0, None
        for title, values in self.select(sql, namespace):
            entries += title != last
            last = title
            try:
                *fields, rows = self.decode(values)
                datetime.fromisoformat(fields[_AT])
                for i in _LISTS:
                    json.loads(fields[i] or "[]")
                changes = unpack(rows) if rows else []
            except UNREADABLE as error:
                yield (), DamagedRow(title, _reason(error)), entries
            else:
                yield changes, None, entries
        for title, _ in self.select(_ORPHANS, namespace):
            yield (), DamagedRow(title, "its entry is not in the log"), entries

    def _records(self, namespace: str) -> Iterator[DamagedRow]:
        """Return the damaged records of a namespace, which are not in the log."""
        queries = ((decoded, self._named(cls)) for cls, decoded in _RECORDS.items())
        return self._unreadable([*queries, *self.records], namespace)

    def _unreadable(
        self, queries: Iterable[tuple[Decoder, str]], namespace: str | None
    ) -> Iterator[DamagedRow]:
        """Yield the rows of queries that cannot be decoded."""
        for decoded, sql in queries:
            for title, values in self.select(sql, namespace):
                try:
                    decoded(*self.decode(values))
                except UNREADABLE as error:
                    yield DamagedRow(title, _reason(error))

    def _vectors(self, namespace: str, visit: Visit) -> Iterator[DamagedRow]:
        """Yield the vectors that are damaged; ``visit`` is called with the others."""
        if visit is None and not self._dialect.checks_vectors:
            return
        query = selected(self._dialect, VectorRow, {}, whole=True)
        sql = query.sql.replace("SELECT a.id", f"SELECT {self._name('vectors')}, a.id", 1)
        for title, (memory_id, version, generation, *columns) in self.select(sql, namespace):
            vector = self._dialect.vector(*columns)
            if vector is None:
                reason = "its checksum is not that of its bytes"
                yield DamagedRow(title, reason, "compute it anew: priming reembed")
            elif visit is not None:
                try:
                    texts = self.decode([memory_id, generation])
                except UNREADABLE as error:
                    yield DamagedRow(title, _reason(error))
                else:
                    visit(VectorRow(texts[0], version, texts[1], vector))

    def _named(self, cls: type) -> str:
        """Return the query for the rows of a kind, with their names."""
        table = KINDS[cls]
        ends = [*zip("ab", table.ends, strict=False)]
        joins = [self._dialect.each("memories", a, "number", "t", end, outer=True) for a, end in ends]
        columns = ", ".join((*(f"{a}.id" for a, _ in ends), *(f"t.{name}" for name in table.columns)))
        extra = ", t.nodes" if cls is Trace else ""
        tables = f"{table.name} t{''.join(joins)}"
        return (
            f"SELECT {self._name(table.name)}, {columns}{extra} FROM {tables} WHERE t.namespace = :namespace"
        )

    def _name(self, table: str) -> str:
        """Return the name of a row of a kind, in SQL."""

        def part(match: re.Match[str]) -> str:
            mark, column = match.groups()
            if mark == "<":
                alias = "b" if column == "target" else "a"
                key = self._dialect.quoted.format(f"{alias}.key")
                value = f"CASE WHEN {alias}.key IS NULL THEN 'memory number ' || t.{column} ELSE {key} END"
            else:
                value = f"t.{column}" if mark == "{" else self._dialect.quoted.format(f"t.{column}")
            return f"' || {value} || '"

        return f"'{_PART.sub(part, _NAMES[table])}'"


def _title(row: Row, keys: Mapping[str, str]) -> str:
    """Return the name of a row that is not in the store."""

    def part(match: re.Match[str]) -> str:
        mark, column = match.groups()
        value = getattr(row, "id" if column == "memory" else column)
        if mark == "{":
            return str(value)
        return json.dumps(keys.get(value, value) if mark == "<" else value, ensure_ascii=False)

    return _PART.sub(part, _NAMES[KINDS[type(row)].name])


def _strict(row: R) -> R:
    """Return the row, if the memories it refers to are there, values are of their types, and its lists hold times."""
    if None in identity(row)[1:]:
        raise LookupError
    for name, types in _types(type(row)):  # type: ignore[arg-type]  # a class has a hash
        value = getattr(row, name)
        if not isinstance(value, types):
            raise TypeError(f"{name}: {value!r}")
    times = row.recent if isinstance(row, MemoryRow) else row.times if isinstance(row, PairRow) else ()
    for time in times:
        datetime.fromisoformat(str(time))
    return row


@functools.cache
def _types(cls: type[Row]) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """Return the types of the fields of a row that a column holds as they are."""
    hints = get_type_hints(cls).items()
    unions = ((name, get_args(hint) if isinstance(hint, UnionType) else (hint,)) for name, hint in hints)
    return tuple(
        (name, (*types, int) if {float, bool} & {*types} else types)
        for name, types in unions
        if {*types} <= _PLAIN
    )


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return "a list or mapping in it is not JSON"
    if type(error) is LookupError:
        return "a memory that it refers to is not in the store"
    return f"a value in it is not of its type ({str(error)[:80]})"
