"""The log of operations: what it holds of each, as it is written, read and erased."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Unpack

from priming.errors import NotFound
from priming.serialization import column_names, encode_row
from priming.storage.protocol import Changes, Logged, WhichOperations
from priming.storage.rows import Row, RowChange, RunRow, pack, undos_in_effect, unpack
from priming.storage.sql.dialect import Database, Dialect, bound
from priming.storage.sql.kinds import insertion

COLUMNS = tuple(name for name in column_names(Logged) if name != "rows")
LOGGED = (
    f"{', '.join(f'o.{name}' for name in COLUMNS)}, c.rows FROM operations o LEFT JOIN changes c"
    " ON c.namespace = o.namespace AND c.operation = o.number"
)
"""Operations, a row for each piece of their changes."""
_CLAUSES = {
    "number": "number = :number",
    "after": "number > :after",
    "before": "number < :before",
    "memory_id": "number IN (SELECT operation FROM touched WHERE namespace = :namespace AND memory = :memory_id)",
    "kind": "kind = :kind",
    "source": "source = :source",
    "since": "at >= :since",
    "until": "at < :until",
}
_LISTS = ("erased", "undoes")
_PIECE = 200
"""Rows in one piece of what an operation changed."""


def _values(namespace: str, operation: Logged) -> tuple[Any, ...]:
    """The columns of an operation in the log."""
    values = encode_row(operation)
    for name in _LISTS:
        values[name] = json.dumps(values[name]) if values[name] else None
    return namespace, *(values[name] for name in COLUMNS)


def _pieces(namespace: str, operation: Logged) -> Iterator[tuple[str, int, int, str]]:
    """What an operation changed, in pieces of some hundred rows."""
    for first in range(0, len(operation.rows), _PIECE):
        packed = pack(operation.rows[first : first + _PIECE])
        yield namespace, operation.number, first // _PIECE, packed


class SqlLog:
    """The log of operations, with the rows that each changed."""

    _db: Database
    _dialect: Dialect

    def head(self, namespace: str) -> int:
        """The number of the namespace's latest operation; 0 if there is none."""
        sql = "SELECT coalesce(max(number), 0) FROM operations WHERE namespace = :namespace"
        return int(self._db.run(namespace, sql)[0][0])

    def operations(self, namespace: str, **which: Unpack[WhichOperations]) -> list[Logged]:
        """Operations, newest first; with ``after``, oldest first; ``rows``: with what they changed."""
        rows, first = which.pop("rows", True), which.pop("first", False)
        values = bound(which)
        clauses = {**_CLAUSES, "ids": self._dialect.among("id", "ids")}
        where = ["namespace = :namespace", *(clauses[name] for name in values if name in clauses)]
        # The index of times is used instead of a scan of the log in order. With ``before``, the log is read page by
        # page, and the index of times would be scanned again for each page.
        by_time = "since" in values and "before" not in values
        turn = "ASC" if "after" in values else "DESC"
        order = f"ORDER BY {self._dialect.unindexed('number') if by_time else 'number'} {turn}"
        end = " LIMIT :limit" if "limit" in values else ""
        numbers = f"SELECT number FROM operations WHERE {' AND '.join(where)} {order}{end}"
        columns = LOGGED if rows else f"{', '.join(COLUMNS)}, NULL FROM operations o"
        columns += " AND c.piece = 0" if first else ""
        pieces = ", c.piece" if rows else ""
        sql = (
            f"SELECT {columns} WHERE o.namespace = :namespace AND o.number IN ({numbers})"
            f" ORDER BY o.number {turn}{pieces}"
        )
        return list(logged_operations(self._db.run(namespace, sql, values)))

    def _log(self, changes: Changes, erased: Collection[str] = (), *, above: int = 0) -> int:
        """Append one operation to the log and return its number, greater than ``above``; creates the namespace."""
        namespace = changes.namespace
        self._add_namespace(namespace)
        number = max(above, self.head(namespace)) + 1
        self._insert_operations(namespace, [changes.logged(number, erased)])
        if changes.undoes:
            self._refuse_unknown(namespace, changes.undoes)
            self._mark_undone(namespace)
        self._db.notify(namespace)
        return number

    def _add_namespace(self, namespace: str) -> None:
        self._db.change(namespace, "INSERT INTO namespaces VALUES (:namespace) ON CONFLICT DO NOTHING")

    def _refuse_unknown(self, namespace: str, undone: Collection[str]) -> None:
        sql = (
            f"SELECT i.value FROM {self._dialect.listed('undone', 'i')} WHERE NOT EXISTS"
            " (SELECT 1 FROM operations o WHERE o.namespace = :namespace AND o.id = i.value)"
        )
        for (unknown,) in self._db.run(namespace, sql, {"undone": list(undone)}):
            raise NotFound(f"there is no operation {unknown!r} in {namespace!r} to undo")

    def _mark_undone(self, namespace: str) -> None:
        """Set ``undone_by`` of each operation to the latest of its undos that is not undone itself."""
        sql = (
            "SELECT id, undoes FROM operations WHERE namespace = :namespace AND undoes IS NOT NULL"
            " ORDER BY number DESC"
        )
        rows = self._db.run(namespace, sql)
        undone_by = undos_in_effect((by, json.loads(undone)) for by, undone in rows)
        self._db.many(
            namespace,
            "UPDATE operations SET undone_by = ? WHERE namespace = ? AND id = ?"
            " AND coalesce(undone_by, '') <> coalesce(?, '')",
            [(by, namespace, operation_id, by) for operation_id, by in undone_by.items()],
        )

    def _insert_operations(self, namespace: str, operations: Iterable[Logged]) -> None:
        listed = list(operations)
        self._db.many(
            namespace,
            insertion("operations", ("namespace", *COLUMNS)),
            [_values(namespace, operation) for operation in listed],
        )
        self._db.many(
            namespace,
            "INSERT INTO changes VALUES (?, ?, ?, ?)",
            [piece for operation in listed for piece in _pieces(namespace, operation)],
        )
        self._db.many(
            namespace,
            "INSERT INTO touched VALUES (?, ?, ?)",
            [
                (namespace, end, operation.number)
                for operation in listed
                for end in sorted(touched(operation.rows).union(operation.erased))
            ],
        )

    def _erase_from_log(self, namespace: str, ids: Collection[str]) -> int:
        """Erase the rows about these memories from the log; returns their number."""
        quoted = f"{self._dialect.contains}(c.rows, {self._dialect.quoted.format('t.memory')}) > 0"
        listed = self._db.run(
            namespace,
            "SELECT DISTINCT c.operation, c.piece, c.rows FROM touched t CROSS JOIN changes c"
            f" WHERE t.namespace = :namespace AND {self._dialect.among('t.memory', 'ids')}"
            f" AND c.namespace = t.namespace AND c.operation = t.operation AND {quoted}",
            {"ids": list(ids)},
        )
        erased = 0
        for operation, piece, packed in listed:
            rows = unpack(packed)
            remaining = without(rows, set(ids))
            erased += len(rows) - len(remaining)
            self._replace_piece(namespace, operation, piece, remaining)
            self._erase_touched(namespace, operation, touched(rows) - touched(remaining))
        return erased

    def _erase_touched(self, namespace: str, operation: int, ends: Iterable[str]) -> None:
        """Unlist memories of an operation, except those in other pieces of its changes."""
        quoted = f"{self._dialect.contains}(c.rows, {self._dialect.quoted.format('touched.memory')}) > 0"
        self._db.change(
            namespace,
            f"DELETE FROM touched WHERE namespace = :namespace AND {self._dialect.among('memory', 'ends')}"
            " AND operation = :operation AND NOT EXISTS (SELECT 1 FROM changes c"
            f" WHERE c.namespace = touched.namespace AND c.operation = touched.operation AND {quoted})",
            {"ends": list(ends), "operation": operation},
        )

    def _replace_piece(self, namespace: str, operation: int, piece: int, rows: Sequence[RowChange]) -> None:
        self._db.change(
            namespace,
            "UPDATE changes SET rows = :rows WHERE namespace = :namespace AND operation = :operation"
            " AND piece = :piece",
            {"rows": pack(rows), "operation": operation, "piece": piece},
        )

    def _erase_remarks(self, namespace: str, columns: Sequence[str], is_named: Callable[[str], Any]) -> None:
        """Erase the remarks on operations, in these columns, that name somebody."""
        query = f"SELECT number, {', '.join(columns)} FROM operations WHERE namespace = :namespace ORDER BY number"
        for number, *texts in self._db.each(namespace, query):
            for name, text in zip(columns, texts, strict=True):
                if text and is_named(text):
                    sql = f"UPDATE operations SET {name} = NULL WHERE namespace = :namespace AND number = :number"
                    self._db.change(namespace, sql, {"number": number})


def touched(rows: Iterable[RowChange]) -> set[str]:
    """The ids of the memories that changes are about."""
    return {end for change in rows for end in change.ends}


def without(rows: Sequence[RowChange], ids: set[str]) -> list[RowChange]:
    """The changes that are not about these memories; runs remain without them."""
    return [
        RowChange(without_shown(change.before, ids), without_shown(change.after, ids))
        for change in rows
        if isinstance(change.row, RunRow) or not ids.intersection(change.ends)
    ]


def without_shown(row: Row | None, ids: set[str]) -> Row | None:
    """A row; a run without these memories."""
    if not isinstance(row, RunRow):
        return row
    return replace(row, shown=tuple(memory_id for memory_id in row.shown if memory_id not in ids))


def logged_operations(rows: Iterable[tuple[Any, ...]]) -> Iterator[Logged]:
    """Operations from rows of which each has one piece of the changes."""
    for _, run in groupby(rows, key=lambda row: int(row[0])):
        pieces = list(run)
        values = dict(zip(COLUMNS, pieces[0], strict=False))
        values["at"] = datetime.fromisoformat(values["at"])
        for name in _LISTS:
            values[name] = tuple(json.loads(values[name])) if values[name] else ()
        yield Logged(
            **values, rows=tuple(change for *_, packed in pieces if packed for change in unpack(packed))
        )
