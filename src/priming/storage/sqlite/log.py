"""The SQLite store's log of operations: written, read and erased."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime

from priming.errors import NotFound
from priming.serialization import stamp
from priming.storage.log_rows import (
    logged_changes,
    logged_operations,
    naming,
    operation_values,
    pieces,
    touched,
    undos_in_effect,
    without,
)
from priming.storage.protocol import Changes, Logged
from priming.storage.rows import pack, unpack
from priming.storage.sqlite.connection import Connection

_OPERATION = (
    "o.number, o.id, o.kind, o.at, o.actor, o.source, o.reason, o.undone_by, o.message, o.erased, o.undoes, o.via,"
    " o.session"
)
_LOG = (
    f"SELECT {_OPERATION}, c.rows FROM operations o LEFT JOIN changes c"
    " ON c.namespace = o.namespace AND c.operation = o.number"
)


class SqliteLog:
    """The log of operations, with the rows that each changed."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def head(self, namespace: str) -> int:
        """The number of the namespace's latest operation; 0 if there is none."""
        sql = "SELECT coalesce(max(number), 0) FROM operations WHERE namespace = ?"
        return int(self._db.run(sql, (namespace,))[0][0])

    def operation_id(self, namespace: str, number: int) -> str | None:
        """The id of an operation by its number."""
        sql = "SELECT id FROM operations WHERE namespace = ? AND number = ?"
        rows = self._db.run(sql, (namespace, number))
        return str(rows[0][0]) if rows else None

    def since(self, namespace: str, number: int) -> list[Logged]:
        """The operations after ``number``, oldest first, with their rows."""
        sql = f"{_LOG} WHERE o.namespace = ? AND o.number > ? ORDER BY o.number, c.piece"
        return list(logged_operations(self._db.run(sql, (namespace, number))))

    def operation(self, namespace: str, operation_id: str) -> Logged | None:
        """One operation with its rows."""
        sql = f"{_LOG} WHERE o.namespace = ? AND o.id = ? ORDER BY c.piece"
        rows = self._db.run(sql, (namespace, operation_id))
        return next(logged_operations(rows), None)

    def operations(
        self,
        namespace: str,
        *,
        memory_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        source: str | None = None,
        before: int | None = None,
        limit: int | None = 100,
    ) -> list[Logged]:
        """Operations with their rows, newest first; ``until`` and ``before``, a number, are exclusive."""
        where = ["namespace = :namespace"]
        if memory_id is not None:
            where.append(
                "number IN (SELECT operation FROM touched WHERE namespace = :namespace AND memory = :memory)"
            )
        if kind is not None:
            where.append("kind = :kind")
        if since is not None:
            where.append("at >= :since")
        if until is not None:
            where.append("at < :until")
        if source is not None:
            where.append("source = :source")
        if before is not None:
            where.append("number < :before")
        # The plus makes SQLite use the index of times instead of scanning the log in order. With ``before``, the log
        # is read page by page, and the index of times would be scanned again for each page.
        order = "number" if since is None or before is not None else "+number"
        numbers = (
            f"SELECT number FROM operations WHERE {' AND '.join(where)} ORDER BY {order} DESC LIMIT :limit"
        )
        sql = (
            f"{_LOG} WHERE o.namespace = :namespace AND o.number IN ({numbers})"
            " ORDER BY o.number DESC, c.piece"
        )
        values = {
            "namespace": namespace,
            "memory": memory_id,
            "kind": kind,
            "since": None if since is None else stamp(since),
            "until": None if until is None else stamp(until),
            "source": source,
            "before": before,
            "limit": -1 if limit is None else limit,
        }
        return list(logged_operations(self._db.run(sql, values)))

    def _log(self, changes: Changes, erased: Collection[str] = (), *, above: int = 0) -> int:
        """Append one operation to the log and return its number, greater than ``above``; creates the namespace."""
        self._add_namespace(changes.namespace)
        number = max(above, self.head(changes.namespace)) + 1
        self._insert_operations(changes.namespace, [logged_changes(changes, number, erased)])
        if changes.undoes:
            self._refuse_unknown(changes.namespace, changes.undoes)
            self._mark_undone(changes.namespace)
        return number

    def _add_namespace(self, namespace: str) -> None:
        self._db.change("INSERT OR IGNORE INTO namespaces VALUES (?)", (namespace,))

    def _refuse_unknown(self, namespace: str, undone: Collection[str]) -> None:
        sql = (
            "SELECT i.value FROM json_each(?) i WHERE NOT EXISTS"
            " (SELECT 1 FROM operations o WHERE o.namespace = ? AND o.id = i.value)"
        )
        for (unknown,) in self._db.run(sql, (json.dumps(list(undone)), namespace)):
            raise NotFound(f"there is no operation {unknown!r} in {namespace!r} to undo")

    def _mark_undone(self, namespace: str) -> None:
        """Set ``undone_by`` of each operation to the latest of its undos that is not undone itself."""
        sql = "SELECT id, undoes FROM operations WHERE namespace = ? AND undoes IS NOT NULL ORDER BY number DESC"
        undone_by = undos_in_effect(self._db.run(sql, (namespace,)))
        self._db.many(
            "UPDATE operations SET undone_by = :by"
            " WHERE namespace = :namespace AND id = :id AND undone_by IS NOT :by",
            [
                {"by": by, "namespace": namespace, "id": operation_id}
                for operation_id, by in undone_by.items()
            ],
        )

    def _insert_operations(self, namespace: str, operations: Iterable[Logged]) -> None:
        for operation in operations:
            self._db.change(
                "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                operation_values(namespace, operation),
            )
            self._db.many(
                "INSERT INTO changes VALUES (?, ?, ?, ?)",
                pieces(namespace, operation),
            )
            ends = sorted(touched(operation.rows).union(operation.erased))
            self._db.many(
                "INSERT INTO touched VALUES (?, ?, ?)",
                ((namespace, end, operation.number) for end in ends),
            )

    def _erase_from_log(self, namespace: str, ids: Collection[str]) -> int:
        """Erase the rows about these memories from the log; returns their number."""
        pieces = self._db.run(
            "SELECT DISTINCT c.operation, c.piece, c.rows FROM json_each(:ids) i CROSS JOIN touched t"
            " ON t.namespace = :namespace AND t.memory = i.value CROSS JOIN changes c"
            " ON c.namespace = t.namespace AND c.operation = t.operation AND instr(c.rows, json_quote(i.value))",
            {"namespace": namespace, "ids": json.dumps(list(ids))},
        )
        erased = 0
        for operation, piece, packed in pieces:
            rows = unpack(packed)
            remaining = without(rows, set(ids))
            erased += len(rows) - len(remaining)
            self._db.change(
                "UPDATE changes SET rows = ? WHERE namespace = ? AND operation = ? AND piece = ?",
                (pack(remaining), namespace, operation, piece),
            )
            self._erase_touched(namespace, operation, touched(rows) - touched(remaining))
        return erased

    def _erase_remarks(self, namespace: str, keys: Collection[str]) -> None:
        """Erase the messages and reasons of operations that name one of the keys."""
        rows = self._db.run(
            "SELECT DISTINCT o.number, o.message, o.reason FROM json_each(:keys) k CROSS JOIN operations o"
            " ON o.namespace = :namespace AND (instr(o.message, k.value) OR instr(o.reason, k.value))",
            {"namespace": namespace, "keys": json.dumps(list(keys))},
        )
        pattern = naming(keys)
        for number, *remarks in list(rows):
            message, reason = (None if text and pattern.search(text) else text for text in remarks)
            self._db.change(
                "UPDATE operations SET message = ?, reason = ? WHERE namespace = ? AND number = ?",
                (message, reason, namespace, number),
            )

    def _erase_touched(self, namespace: str, operation: int, ends: Iterable[str]) -> None:
        """Unlist memories of an operation, except those in other pieces of its changes."""
        self._db.many(
            "DELETE FROM touched WHERE namespace = :namespace AND memory = :memory AND operation = :operation"
            " AND NOT EXISTS (SELECT 1 FROM changes WHERE namespace = :namespace AND operation = :operation"
            " AND instr(rows, json_quote(:memory)))",
            [{"namespace": namespace, "memory": end, "operation": operation} for end in ends],
        )
