"""The rows of a database that cannot be read, by name, and all others.

A damaged page is found by SQLite. A bit that flips within a value is not: SQLite stores no checksums. Such a row is
found when it is decoded, or because the log has other values for it.
"""

from __future__ import annotations

import functools
import inspect
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, TypeVar

from priming.config.values import dataclass
from priming.errors import Corrupt, PrimingError
from priming.storage.columns import (
    LINK_COLUMNS,
    MEMORY_COLUMNS,
    VERDICT_COLUMNS,
    VERSION_COLUMNS,
    stored,
)
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    RelationRow,
    Row,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    identity,
    unpack,
)

RULE = "damaged-row"
DETAIL = "the row is damaged"
REMEDY = "restore a backup, or export what is whole: priming export --salvage FILE"
_MOST_NAMES = 3
_UNNAMED = "transaction", "check", "damage", "whole_rows"
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError)
S = TypeVar("S")


def _columns(alias: str, names: Sequence[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


_OF = "LEFT JOIN memories {0} ON {0}.namespace = t.namespace AND {0}.number = t.{1}"
_BOTH_ENDS = f"{_OF.format('a', 'source')} {_OF.format('b', 'target')}"
_OWN = _OF.format("a", "memory")
_TABLES: tuple[tuple[type[Row], str, str], ...] = (
    (MemoryRow, "'memory ' || json_quote(t.key)", f"{_columns('t', MEMORY_COLUMNS)} FROM memories t"),
    (
        VersionRow,
        "'version ' || t.version || ' of memory ' || json_quote(a.key)",
        f"a.id, {_columns('t', VERSION_COLUMNS)} FROM versions t {_OWN}",
    ),
    (
        LinkRow,
        "'link ' || json_quote(t.relation) || ' from ' || json_quote(a.key) || ' to ' || json_quote(b.key)",
        f"a.id, b.id, {_columns('t', LINK_COLUMNS)} FROM links t {_BOTH_ENDS}",
    ),
    (
        VerdictRow,
        "'verdict ' || json_quote(t.verdict) || ' on memory ' || json_quote(a.key)",
        f"a.id, {_columns('t', VERDICT_COLUMNS)} FROM verdicts t {_OWN}",
    ),
    (
        PairRow,
        "'pair of ' || json_quote(a.key) || ' and ' || json_quote(b.key)",
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
    " o.message, o.erased, o.undoes, c.rows FROM operations o LEFT JOIN changes c ON c.namespace = o.namespace AND"
    " c.operation = o.number WHERE o.namespace = ? ORDER BY o.number, c.piece"
)
_TIME, _LISTS = 2, slice(8, 10)


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as it was read: its name, and its values or the reason why it has none."""

    name: str
    row: Row | None
    reason: str = ""


def read_rows(connection: sqlite3.Connection, namespace: str) -> Iterator[ReadRow]:
    """All rows of a namespace, those that cannot be read included."""
    for cls, name, columns in _TABLES:
        for title, values in _raw(connection, f"SELECT {name}, {columns} WHERE t.namespace = ?", namespace):
            try:
                yield ReadRow(title, stored(cls, _texts(values)))
            except _UNREADABLE as error:
                yield ReadRow(title, None, _reason(error))


def damage(connection: sqlite3.Connection, namespace: str) -> Iterator[ReadRow]:
    """The rows and log entries of a namespace that are damaged."""
    logged, is_log_whole = dict[tuple[str, ...], Row | None](), True
    for title, values in _raw(connection, _LOG, namespace):
        try:
            *fields, rows = _texts(values)
            datetime.fromisoformat(fields[_TIME])
            for names in fields[_LISTS]:
                json.loads(names or "[]")
            logged |= {identity(change.row): change.after for change in unpack(rows)} if rows else {}
        except _UNREADABLE as error:
            is_log_whole = False
            yield ReadRow(title, None, _reason(error))
    for read in read_rows(connection, namespace):
        if read.row is None:
            yield read
        elif is_log_whole and logged.get(identity(read.row), read.row) != read.row:
            yield ReadRow(read.name, None, "its values are not those that the log has for it")


def _raw(connection: sqlite3.Connection, sql: str, namespace: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The rows of a query with their names, their texts as bytes; a damaged page ends them."""
    former, connection.text_factory = connection.text_factory, bytes
    try:
        with closing(connection.execute(sql, (namespace,))) as cursor:
            rows = cursor.fetchall()
    finally:
        connection.text_factory = former
    for name, *values in rows:
        yield (name or b"a row without a memory").decode("utf-8", "replace"), tuple(values)


def _texts(values: Sequence[Any]) -> list[Any]:
    return [value.decode() if isinstance(value, bytes) else value for value in values]


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return "a list or mapping in it is not JSON"
    return f"a value in it is not of its type ({str(error)[:80]})"


def naming_damage(*bases: type) -> Callable[[type[S]], type[S]]:
    """A class decorator: an error of decoding in a method of ``bases`` becomes ``Corrupt`` with the row's name.

    If no row is damaged, the error stays what it is.
    """

    def decorate(cls: type[S]) -> type[S]:
        for name in sorted({name for base in (cls, *bases) for name in vars(base)}):
            method = getattr(cls, name)
            if not name.startswith("_") and inspect.isfunction(method) and name not in _UNNAMED:
                setattr(cls, name, _naming(method))
        return cls

    return decorate


def _naming(method: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(method):

        @functools.wraps(method)
        def generate(store: Any, *arguments: Any, **named: Any) -> Iterator[Any]:
            try:
                yield from method(store, *arguments, **named)
            except (*_UNREADABLE, Corrupt) as error:
                _raise_named(store, arguments, error)

        return generate

    @functools.wraps(method)
    def call(store: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(store, *arguments, **named)
        except (*_UNREADABLE, Corrupt) as error:
            _raise_named(store, arguments, error)

    return call


def _raise_named(store: Any, arguments: Sequence[Any], error: Exception) -> None:
    """Raise ``Corrupt`` with the names of the damaged rows of the first argument, a namespace; else the error."""
    is_ours = isinstance(error, PrimingError) and not isinstance(error, Corrupt)
    if is_ours or getattr(error, "names_rows", False) or not (arguments and isinstance(arguments[0], str)):
        raise error
    try:
        damaged = list(store.damage(arguments[0]))
    except (PrimingError, sqlite3.Error):
        raise error from None
    if not damaged:
        raise error
    raise corrupt(store.place, damaged) from error


def corrupt(place: str, damaged: Sequence[ReadRow]) -> Corrupt:
    """The error that names damaged rows."""
    named = "; ".join(f"{read.name}: {read.reason}" for read in damaged[:_MOST_NAMES])
    more = f"; and {len(damaged) - _MOST_NAMES:,} more" if len(damaged) > _MOST_NAMES else ""
    error = Corrupt(f"{place} is damaged: {named}{more}; {REMEDY}")
    error.names_rows = True  # type: ignore[attr-defined]
    return error


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
