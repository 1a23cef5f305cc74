"""Memories as they are read, by id, key, words or filter; and the log as it is written, read and erased."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Unpack

from priming.errors import NotFound
from priming.serialization import column_names, encode_row, stamp
from priming.storage.protocol import Changes, Logged, WhichNames, WhichOperations, WhichRecords
from priming.storage.rows import Counts, Row, RowChange, RunRow, pack, undos_in_effect, unpack
from priming.storage.sql.dialect import RECORDED_AT, RETIRED_AT, Database, Dialect, bound
from priming.storage.sql.kinds import MEMORY_COLUMNS, VERSION_COLUMNS, insertion, stored_record
from priming.types import MemoryRecord

_INTERVAL = {"recorded_at": RECORDED_AT, "retired_at": RETIRED_AT}
# A version as a record: from its first row on, up to the first row of the next version (``core.bitemporal``).
_RECORD = ", ".join(
    (
        *(f"m.{name}" for name in MEMORY_COLUMNS),
        "m.id",
        *(_INTERVAL.get(name, f"v.{name}") for name in VERSION_COLUMNS),
    )
)
_HERE = "m.namespace = :namespace"
_CURRENT = "v.retired_at IS NULL"
_VALID = "(v.valid_from IS NULL OR v.valid_from <= :at) AND (v.valid_to IS NULL OR v.valid_to > :at)"

_NOT_ENDED = "({0}.valid_to IS NULL OR {0}.valid_to > :at)"
_FIRST = (
    f"{_NOT_ENDED.format('v')} AND NOT EXISTS (SELECT 1 FROM versions e WHERE e.namespace = v.namespace"
    " AND e.memory = v.memory AND e.retired_at IS NULL AND (e.valid_from IS NULL OR e.valid_from < v.valid_from)"
    f" AND e.version <> v.version AND {_NOT_ENDED.format('e')})"
)
"""The version that is valid, else the first that will be."""


class MemoryReader:
    """Reads of memories in their current versions."""

    def __init__(self, db: Database, dialect: Dialect) -> None:
        self._db, self._dialect = db, dialect
        self._versions = f"memories m{dialect.each('versions', 'v', 'memory', 'm', 'number')}"
        self._owners = f"versions v{dialect.each('memories', 'm', 'number', 'v', 'memory')}"

    def records(self, namespace: str, at: datetime, **which: Unpack[WhichRecords]) -> dict[str, MemoryRecord]:
        """Map each id to its memory in its current version valid at ``at``."""
        values = bound(which)
        tables, order = self._versions, "m.number"
        clauses = {
            "ids": self._dialect.among("m.id", "ids"),
            "kinds": self._dialect.among("m.kind", "kinds"),
            "status": "m.status = :status",
            "after": "m.number > (SELECT number FROM memories m WHERE m.namespace = :namespace AND m.id = :after)",
            "name": "(m.key = :name OR m.id = :name)",
        }
        where = [_HERE, _CURRENT, *(clauses[name] for name in values if name in clauses)]
        if "name" in values:
            values["limit"] = 1
            order = f"m.id = :name DESC, ({_VALID}) DESC, v.version DESC"
        else:
            where.append(_FIRST if values.pop("coming", False) else _VALID)
        if "words" in values:
            tables, matches, values["words"] = self._dialect.search(values["words"])
            where.append(matches)
        end = " LIMIT :limit" if "limit" in values else ""
        sql = f"SELECT {_RECORD} FROM {tables} WHERE {' AND '.join(where)} ORDER BY {order}{end}"
        rows = self._db.run(namespace, sql, {**values, "at": stamp(at)})
        records = {record.id: record for record in (stored_record(namespace, row) for row in rows)}
        return {id_: records[id_] for id_ in values.get("ids", records) if id_ in records}

    def _each_record(self, namespace: str, until: datetime | None) -> Iterator[MemoryRecord]:
        """Yield every active memory in each current version that has not ended."""
        ended = "" if until is None else " AND (v.valid_to IS NULL OR v.valid_to > :until)"
        sql = (
            f"SELECT {_RECORD} FROM {self._versions} WHERE {_HERE} AND m.status = 'active' AND {_CURRENT}{ended}"
            " ORDER BY m.number, v.version"
        )
        values = {} if until is None else {"until": stamp(until)}
        for row in self._db.each(namespace, sql, values):
            yield stored_record(namespace, row)

    def names(self, namespace: str, **which: Unpack[WhichNames]) -> dict[str, str]:
        """Map the ids of memories to their keys."""
        condition = which.pop("condition", None)
        values = bound(which)
        if condition is not None:
            where, compared = self._dialect.condition(condition)
            values |= compared
            chosen = (
                f"{self._versions} WHERE {_HERE} AND m.status = 'active' AND {_CURRENT} AND {_VALID} AND ({where})"
                " ORDER BY m.number"
            )
        elif "session" in values:
            chosen = (
                f"{self._owners} WHERE v.namespace = :namespace AND v.session = :session AND {_CURRENT}"
                " AND v.valid_to IS NULL AND m.status = 'active' ORDER BY v.memory DESC"
            )
        else:
            column = "id" if "ids" in values else "key"
            chosen = f"memories m WHERE {_HERE} AND {self._dialect.among(f'm.{column}', f'{column}s')}"
        end = " LIMIT :limit" if "limit" in values else ""
        return dict(self._db.run(namespace, f"SELECT m.id, m.key FROM {chosen}{end}", values))

    def _numbers(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """Return the numbers of the memories that exist, by id."""
        sql = f"SELECT m.id, m.number FROM memories m WHERE {_HERE} AND {self._dialect.among('m.id', 'ids')}"
        return dict(self._db.run(namespace, sql, {"ids": list(dict.fromkeys(ids))}))

    def counts(self, namespace: str, *, brief: bool = False) -> Counts:
        """Return what the namespace holds; ``brief``: links under one name, and no bytes."""
        with self._db.transaction(write=False):
            return self._counts(namespace, brief=brief)

    def _counts(self, namespace: str, *, brief: bool) -> Counts:
        def select(sql: str) -> list[tuple[Any, ...]]:
            return self._db.run(namespace, sql)

        here = "WHERE namespace = :namespace"
        memories: dict[str, dict[str, int]] = {}
        for kind, status, count in select(
            f"SELECT kind, status, count(*) FROM memories {here} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            memories.setdefault(kind, {})[status] = count
        of_all = "WHERE" if self._dialect.generations_of_all else f"{here} AND"
        latest = f"generation = (SELECT max(generation) FROM vectors {here})"
        of_links = f"SELECT {{}}, count(*) FROM links {here}"
        links = of_links.format("''") if brief else f"{of_links.format('relation')} GROUP BY 1 ORDER BY 1"
        generation = select(f"SELECT name FROM generations {of_all} {latest}")
        return Counts(
            memories=memories,
            links=dict(select(links)),
            operations=select(f"SELECT count(*) FROM operations {here}")[0][0],
            traces=select(f"SELECT count(*) FROM traces {here}")[0][0],
            bytes=0 if brief else self._dialect.size(namespace, self._db.run),
            generation=generation[0][0] if generation else None,
        )


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
    """Return the columns of an operation in the log."""
    values = encode_row(operation)
    for name in _LISTS:
        values[name] = json.dumps(values[name]) if values[name] else None
    return namespace, *(values[name] for name in COLUMNS)


def _pieces(namespace: str, operation: Logged) -> Iterator[tuple[str, int, int, str]]:
    """Yield what an operation changed, in pieces of some hundred rows."""
    for first in range(0, len(operation.rows), _PIECE):
        packed = pack(operation.rows[first : first + _PIECE])
        yield namespace, operation.number, first // _PIECE, packed


class SqlLog:
    """The log of operations, with the rows that each changed."""

    _db: Database
    _dialect: Dialect

    def head(self, namespace: str) -> int:
        """Return the number of the namespace's latest operation; 0 if there is none."""
        sql = "SELECT coalesce(max(number), 0) FROM operations WHERE namespace = :namespace"
        return int(self._db.run(namespace, sql)[0][0])

    def operations(self, namespace: str, **which: Unpack[WhichOperations]) -> list[Logged]:
        """Return operations, newest first; with ``after``, oldest first; ``rows``: with what they changed."""
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
    """Return the ids of the memories that changes are about."""
    return {end for change in rows for end in change.ends}


def without(rows: Sequence[RowChange], ids: set[str]) -> list[RowChange]:
    """Return the changes that are not about these memories; runs remain without them."""
    return [
        RowChange(without_shown(change.before, ids), without_shown(change.after, ids))
        for change in rows
        if isinstance(change.row, RunRow) or not ids.intersection(change.ends)
    ]


def without_shown(row: Row | None, ids: set[str]) -> Row | None:
    """Return a row; a run without these memories."""
    if not isinstance(row, RunRow):
        return row
    return replace(row, shown=tuple(memory_id for memory_id in row.shown if memory_id not in ids))


def logged_operations(rows: Iterable[tuple[Any, ...]]) -> Iterator[Logged]:
    """Yield operations from rows of which each has one piece of the changes."""
    for _, run in groupby(rows, key=lambda row: int(row[0])):
        pieces = list(run)
        values = dict(zip(COLUMNS, pieces[0], strict=False))
        values["at"] = datetime.fromisoformat(values["at"])
        for name in _LISTS:
            values[name] = tuple(json.loads(values[name])) if values[name] else ()
        yield Logged(
            **values, rows=tuple(change for *_, packed in pieces if packed for change in unpack(packed))
        )
