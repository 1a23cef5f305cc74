"""The rows of a database that cannot be read, by name, and all others.

A damaged page is found by SQLite. A bit that flips within a value is not: SQLite stores no checksums. Such a row is
found when it is decoded, or because the log has other values for it.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from priming.config.values import dataclass
from priming.storage.columns import (
    LINK_COLUMNS,
    MEMORY_COLUMNS,
    VERDICT_COLUMNS,
    VERSION_COLUMNS,
    stored,
)
from priming.storage.damaged_rows import REMEDY, UNREADABLE
from priming.storage.fingerprints import RowSums, bucket_of
from priming.storage.record_rows import (
    LOOP_SESSION_COLUMNS,
    TOKEN_COLUMNS,
    TRACE_COLUMNS,
    stored_loop_session,
    stored_token,
    stored_trace,
)
from priming.storage.rows import (
    ActivationCount,
    LinkRow,
    MemoryRow,
    PairRow,
    R,
    RelationRow,
    Row,
    RowChange,
    RowIdentity,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    identity,
    unpack,
)
from priming.storage.sql_store import FETCHED
from priming.storage.sqlite.vectors import damaged_vectors

T = TypeVar("T")
_PLAIN = {str, int, float, bool, datetime, type(None)}


def _columns(alias: str, names: Sequence[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


_OF = "LEFT JOIN memories {0} ON {0}.namespace = t.namespace AND {0}.number = t.{1}"
_END = "iif({0}.key IS NULL, 'memory number ' || t.{1}, json_quote({0}.key))"
_BOTH_ENDS = f"{_OF.format('a', 'source')} {_OF.format('b', 'target')}"
_OWN = _OF.format("a", "memory")
_SOURCE, _TARGET, _MEMORY = _END.format("a", "source"), _END.format("b", "target"), _END.format("a", "memory")
_TABLES: tuple[tuple[type[Row], str, str], ...] = (
    (MemoryRow, "'memory ' || json_quote(t.key)", f"{_columns('t', MEMORY_COLUMNS)} FROM memories t"),
    (
        VersionRow,
        f"'version ' || t.version || ' of memory ' || {_MEMORY}",
        f"a.id, {_columns('t', VERSION_COLUMNS)} FROM versions t {_OWN}",
    ),
    (
        LinkRow,
        f"'link ' || json_quote(t.relation) || ' from ' || {_SOURCE} || ' to ' || {_TARGET}",
        f"a.id, b.id, {_columns('t', LINK_COLUMNS)} FROM links t {_BOTH_ENDS}",
    ),
    (
        VerdictRow,
        f"'verdict ' || json_quote(t.verdict) || ' on memory ' || {_MEMORY}",
        f"a.id, {_columns('t', VERDICT_COLUMNS)} FROM verdicts t {_OWN}",
    ),
    (
        PairRow,
        f"'pair of ' || {_SOURCE} || ' and ' || {_TARGET}",
        f"a.id, b.id, t.times FROM pairs t {_BOTH_ENDS}",
    ),
    (
        RunRow,
        "'run ' || json_quote(t.id)",
        "t.id, t.session, t.started_at, t.ended_at, t.settled, t.shown FROM runs t",
    ),
    (WeightsRow, "'weights of ' || json_quote(t.profile)", "t.profile, t.weights FROM weights t"),
    (
        RelationRow,
        "'sign of relation ' || json_quote(t.relation)",
        "t.relation, t.sign, t.introduced FROM relations t",
    ),
)
_LOG = (
    "SELECT 'log entry ' || json_quote(o.id), o.id, o.kind, o.at, o.actor, o.source, o.reason, o.undone_by,"
    " o.message, o.via, o.session, o.erased, o.undoes, c.rows FROM operations o LEFT JOIN changes c"
    " ON c.namespace = o.namespace AND c.operation = o.number WHERE o.namespace = ? ORDER BY o.number, c.piece"
)
_ORPHANS = (
    "SELECT DISTINCT 'changes of log entry number ' || c.operation, 0 FROM changes c"
    " WHERE c.namespace = ? AND NOT EXISTS"
    " (SELECT 1 FROM operations o WHERE o.namespace = c.namespace AND o.number = c.operation)"
)
_TIME, _LISTS = 2, slice(10, 12)


def _session(*values: Any) -> None:
    json.loads(stored_loop_session(*values).body)


_RECORDS: tuple[tuple[Callable[..., object], str], ...] = (
    (
        _session,
        f"'session ' || json_quote(t.id) || ' of the loop', {LOOP_SESSION_COLUMNS} FROM loop_sessions t",
    ),
    (stored_trace, f"'recall ' || json_quote(t.recall_id), {TRACE_COLUMNS}, nodes FROM traces t"),
    (
        ActivationCount,
        "'activations of memory ' || json_quote(t.memory), t.profile, t.memory, t.day, t.total FROM activations t",
    ),
    (
        str,
        "DISTINCT 'embedding generation ' || g.generation, g.name FROM vectors t JOIN generations g"
        " ON g.generation = t.generation",
    ),
)
"""What is stored outside the log: how it is decoded, and the columns for that after its name."""
_OF_ALL: tuple[tuple[Callable[..., object], str], ...] = (
    (stored_token, f"'token ' || json_quote(t.id), {TOKEN_COLUMNS} FROM tokens t"),
    (str, "'a namespace', t.namespace FROM namespaces t"),
    (str, "'a read-only namespace', t.namespace FROM read_only t"),
)
"""What belongs to no namespace."""


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as it was read: its name, and its values or the reason why it has none."""

    name: str
    row: Row | None
    reason: str = ""
    remedy: str = REMEDY


def read_rows(connection: sqlite3.Connection, namespace: str) -> Iterator[ReadRow]:
    """All rows of a namespace, those that cannot be read included."""
    for cls, name, columns in _TABLES:
        for title, values in _raw(connection, f"SELECT {name}, {columns} WHERE t.namespace = ?", namespace):
            try:
                yield ReadRow(title, _strict(stored(cls, _texts(values))))
            except UNREADABLE as error:
                yield ReadRow(title, None, _reason(error))


def damage(connection: sqlite3.Connection, namespace: str) -> Iterator[ReadRow]:
    """The rows and log entries of a namespace that are damaged.

    A flip in what identifies a row leaves one that the log does not have, and another is missing that the log has.
    Either alone is no flip: ``verify`` finds it.
    """
    sums, has_log, damaged = RowSums(), False, list[ReadRow]()
    for changes, unreadable in _read_log(connection, namespace):
        has_log = has_log or bool(changes)
        sums.add_changes(changes)
        damaged += [] if unreadable is None else [unreadable]
    yield from damaged
    # The past, which is made of rows, has no log.
    suspects, is_sound = set[int](), False
    if has_log and not damaged:
        is_readable = _subtract_rows(connection, namespace, sums)
        suspects = set(sums.differing())
        is_sound = is_readable and not suspects
    yield from () if is_sound else _damaged_rows(connection, namespace, suspects)
    yield from _damaged_records(connection, _RECORDS, namespace)
    yield from (
        ReadRow(name, None, "its checksum is not that of its bytes", "compute it anew: priming reembed")
        for name in damaged_vectors(connection, namespace)
    )


def _damaged_rows(connection: sqlite3.Connection, namespace: str, suspects: set[int]) -> Iterator[ReadRow]:
    """The rows that cannot be read, and in the buckets that are suspects those that are not as the log has them."""
    logged = {
        identity(change.row): change.after
        for changes, _ in (_read_log(connection, namespace) if suspects else ())
        for change in changes
        if bucket_of(change.row) in suspects
    }
    missing = {name: row for name, row in logged.items() if row is not None}
    unlogged: list[tuple[str, str]] = []
    for read in read_rows(connection, namespace):
        if read.row is None:
            missing.clear()  # the row that cannot be read may be the one
            yield read
            continue
        if bucket_of(read.row) not in suspects:
            continue
        name = identity(read.row)
        if name not in logged:
            unlogged.append((name[0], read.name))
        elif logged[name] != read.row:
            yield ReadRow(read.name, None, "its values are not those that the log has for it")
        missing.pop(name, None)
    yield from _exchanged(unlogged, missing, connection, namespace)


def _subtract_rows(connection: sqlite3.Connection, namespace: str, sums: RowSums) -> bool:
    """Subtract the rows that can be read from the sums of the log; whether all can."""
    is_readable = True
    for read in read_rows(connection, namespace):
        if read.row is None:
            is_readable = False
        else:
            sums.add(read.row, -1)
    return is_readable


def _exchanged(
    unlogged: Sequence[tuple[str, str]],
    missing: Mapping[RowIdentity, Row],
    connection: sqlite3.Connection,
    namespace: str,
) -> Iterator[ReadRow]:
    """The rows of the tables that have rows unknown to the log, and lack rows that it has."""
    tables = {table for table, _ in unlogged} & {name[0] for name in missing}
    for table, title in unlogged:
        if table in tables:
            yield ReadRow(title, None, "the log does not have it")
    for name, row in missing.items():
        if name[0] in tables:
            keys = _keys(connection, namespace, name[1:])
            yield ReadRow(_title(row, keys), None, "the log has it, and it is not in the store")


def _keys(connection: sqlite3.Connection, namespace: str, ids: Sequence[str]) -> dict[str, str]:
    """The keys of the memories among these ids that can be read."""
    keys = {}
    for memory_id in ids:
        sql = "SELECT key FROM memories WHERE namespace = ? AND id = ?"
        with suppress(sqlite3.Error):
            for (key,) in connection.execute(sql, (namespace, memory_id)).fetchall():
                keys[memory_id] = key
    return keys


def _read_log(
    connection: sqlite3.Connection, namespace: str
) -> Iterator[tuple[Sequence[RowChange], ReadRow | None]]:
    """The changes of each log entry, a few at a time, or the entry if it is damaged."""
    for title, values in _raw(connection, _LOG, namespace):
        try:
            *fields, rows = _texts(values)
            datetime.fromisoformat(fields[_TIME])
            for names in fields[_LISTS]:
                json.loads(names or "[]")
            changes = unpack(rows) if rows else []
        except UNREADABLE as error:
            yield (), ReadRow(title, None, _reason(error))
        else:
            yield changes, None
    for title, _ in _raw(connection, _ORPHANS, namespace):
        yield (), ReadRow(title, None, "its entry is not in the log")


def _title(row: Row, keys: Mapping[str, str]) -> str:
    """The name of a row that is not in the store."""

    def key(memory_id: str) -> str:
        return json.dumps(keys.get(memory_id, memory_id), ensure_ascii=False)

    match row:
        case MemoryRow():
            return f"memory {json.dumps(row.key, ensure_ascii=False)}"
        case VersionRow():
            return f"version {row.version} of memory {key(row.id)}"
        case LinkRow():
            return f'link "{row.relation}" from {key(row.source)} to {key(row.target)}'
        case VerdictRow():
            return f'verdict "{row.verdict}" on memory {key(row.id)}'
        case PairRow():
            return f"pair of {key(row.source)} and {key(row.target)}"
        case WeightsRow():
            return f'weights of "{row.profile}"'
        case RelationRow():
            return f'sign of relation "{row.relation}"'
    return f'run "{row.id}"'


def damage_of_all(connection: sqlite3.Connection) -> Iterator[ReadRow]:
    """The damaged rows that belong to no namespace: tokens, and the names of namespaces."""
    return _damaged_records(connection, _OF_ALL)


def _damaged_records(
    connection: sqlite3.Connection,
    tables: Iterable[tuple[Callable[..., object], str]],
    namespace: str | None = None,
) -> Iterator[ReadRow]:
    for decode, columns in tables:
        which = "" if namespace is None else " WHERE t.namespace = ?"
        for title, values in _raw(connection, f"SELECT {columns}{which}", namespace):
            try:
                decode(*_texts(values))
            except UNREADABLE as error:
                yield ReadRow(title, None, _reason(error))


def _strict(row: R) -> R:
    """The row, if the memories that it refers to are there, values are of their types, and its lists hold times."""
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
    """The types of the fields of a row that a column holds as they are."""
    hints = get_type_hints(cls).items()
    unions = ((name, get_args(hint) if isinstance(hint, UnionType) else (hint,)) for name, hint in hints)
    return tuple(
        (name, (*types, int) if {float, bool} & {*types} else types)
        for name, types in unions
        if {*types} <= _PLAIN
    )


class _Text(bytes):
    """What a column has as text, undecoded; a blob is ``bytes``."""


def _raw(
    connection: sqlite3.Connection, sql: str, namespace: str | None
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The rows of a query with their names, their texts as bytes, a few at a time; a damaged page ends them."""
    values = () if namespace is None else (namespace,)
    with closing(_undecoded(connection, lambda: connection.execute(sql, values))) as cursor:
        while rows := _undecoded(connection, lambda: cursor.fetchmany(FETCHED)):
            for name, *columns in rows:
                yield (name or b"a row without a name").decode("utf-8", "replace"), tuple(columns)


def _undecoded(connection: sqlite3.Connection, call: Callable[[], T]) -> T:
    """What a call returns that reads texts as bytes."""
    former, connection.text_factory = connection.text_factory, _Text
    try:
        return call()
    finally:
        connection.text_factory = former


def _texts(values: Sequence[Any]) -> list[Any]:
    for value in values:
        if isinstance(value, bytes) and not isinstance(value, _Text):
            raise TypeError("a blob")
    return [value.decode() if isinstance(value, _Text) else value for value in values]


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return "a list or mapping in it is not JSON"
    if type(error) is LookupError:
        return "a memory that it refers to is not in the store"
    return f"a value in it is not of its type ({str(error)[:80]})"


def whole_rows(connection: sqlite3.Connection, namespace: str) -> Iterator[Row]:
    """The rows that are whole, and belong to memories that are."""
    damaged = {read.name for read in damage(connection, namespace)}
    reads = read_rows(connection, namespace)
    rows = [read.row for read in reads if read.row is not None and read.name not in damaged]
    versioned = {row.id for row in rows if isinstance(row, VersionRow)}
    whole = {row.id for row in rows if isinstance(row, MemoryRow)} & versioned
    for row in rows:
        if isinstance(row, (MemoryRow, VersionRow, VerdictRow)):
            is_whole = row.id in whole
        elif isinstance(row, (LinkRow, PairRow)):
            is_whole = {row.source, row.target} <= whole
        else:
            is_whole = True
        if is_whole:
            yield row
