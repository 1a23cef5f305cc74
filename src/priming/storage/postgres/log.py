"""The PostgreSQL store's log of operations: written, read and erased."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

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
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.protocol import Changes, Logged
from priming.storage.rows import pack, unpack

_OPERATION = (
    "o.number, o.id, o.kind, o.at, o.actor, o.source, o.reason, o.undone_by, o.message, o.erased, o.undoes, o.via,"
    " o.session"
)
_LOG = (
    f"SELECT {_OPERATION}, c.rows FROM operations o LEFT JOIN changes c"
    " ON c.namespace = o.namespace AND c.operation = o.number WHERE o.namespace = %(namespace)s"
)


class PostgresLog:
    """The log of operations, with the rows that each changed."""

    _db: PostgresConnection

    def head(self, namespace: str) -> int:
        """The number of the namespace's latest operation; 0 if there is none."""
        sql = "SELECT coalesce(max(number), 0) FROM operations WHERE namespace = %(namespace)s"
        return int(self._db.run(namespace, sql)[0][0])

    def operation_id(self, namespace: str, number: int) -> str | None:
        """The id of an operation by its number."""
        sql = "SELECT id FROM operations WHERE namespace = %(namespace)s AND number = %(number)s"
        rows = self._db.run(namespace, sql, {"number": number})
        return str(rows[0][0]) if rows else None

    def since(self, namespace: str, number: int) -> list[Logged]:
        """The operations after ``number``, oldest first, with their rows."""
        sql = f"{_LOG} AND o.number > %(number)s ORDER BY o.number, c.piece"
        return list(logged_operations(self._db.each(namespace, sql, {"number": number})))

    def operation(self, namespace: str, operation_id: str) -> Logged | None:
        """One operation with its rows."""
        sql = f"{_LOG} AND o.id = %(id)s ORDER BY c.piece"
        return next(logged_operations(self._db.run(namespace, sql, {"id": operation_id})), None)

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
        where = ["namespace = %(namespace)s"]
        if memory_id is not None:
            where.append(
                "number IN (SELECT operation FROM touched WHERE namespace = %(namespace)s AND memory = %(memory)s)"
            )
        if kind is not None:
            where.append("kind = %(kind)s")
        if since is not None:
            where.append("at >= %(since)s")
        if until is not None:
            where.append("at < %(until)s")
        if source is not None:
            where.append("source = %(source)s")
        if before is not None:
            where.append("number < %(before)s")
        numbers = (
            f"SELECT number FROM operations WHERE {' AND '.join(where)} ORDER BY number DESC LIMIT %(limit)s"
        )
        sql = f"{_LOG} AND o.number IN ({numbers}) ORDER BY o.number DESC, c.piece"
        values = {
            "memory": memory_id,
            "kind": kind,
            "since": None if since is None else stamp(since),
            "until": None if until is None else stamp(until),
            "source": source,
            "before": before,
            "limit": limit,
        }
        return list(logged_operations(self._db.each(namespace, sql, values)))

    def _log(self, changes: Changes, erased: Collection[str] = (), *, above: int = 0) -> int:
        """Append one operation to the log and return its number, greater than ``above``; creates the namespace."""
        namespace = changes.namespace
        self._add_namespace(namespace)
        number = max(above, self.head(namespace)) + 1
        self._insert_operations(namespace, [logged_changes(changes, number, erased)])
        if changes.undoes:
            self._refuse_unknown(namespace, changes.undoes)
            self._mark_undone(namespace)
        self._db.notify(namespace)
        return number

    def _add_namespace(self, namespace: str) -> None:
        self._db.change(namespace, "INSERT INTO namespaces VALUES (%(namespace)s) ON CONFLICT DO NOTHING")

    def _refuse_unknown(self, namespace: str, undone: Collection[str]) -> None:
        sql = (
            "SELECT i.value FROM unnest(%(undone)s::text[]) AS i(value) WHERE NOT EXISTS"
            " (SELECT 1 FROM operations o WHERE o.namespace = %(namespace)s AND o.id = i.value)"
        )
        for (unknown,) in self._db.run(namespace, sql, {"undone": list(undone)}):
            raise NotFound(f"there is no operation {unknown!r} in {namespace!r} to undo")

    def _mark_undone(self, namespace: str) -> None:
        """Set ``undone_by`` of each operation to the latest of its undos that is not undone itself."""
        sql = (
            "SELECT id, undoes FROM operations WHERE namespace = %(namespace)s AND undoes IS NOT NULL"
            " ORDER BY number DESC"
        )
        undone_by = undos_in_effect(self._db.run(namespace, sql))
        self._db.many(
            namespace,
            "UPDATE operations SET undone_by = %s WHERE namespace = %s AND id = %s AND undone_by IS DISTINCT FROM %s",
            [(by, namespace, operation_id, by) for operation_id, by in undone_by.items()],
        )

    def _insert_operations(self, namespace: str, operations: Iterable[Logged]) -> None:
        listed = list(operations)
        self._db.many(
            namespace,
            f"INSERT INTO operations VALUES ({', '.join(['%s'] * 14)})",
            [operation_values(namespace, operation) for operation in listed],
        )
        self._db.many(
            namespace,
            "INSERT INTO changes VALUES (%s, %s, %s, %s)",
            [piece for operation in listed for piece in pieces(namespace, operation)],
        )
        self._db.many(
            namespace,
            "INSERT INTO touched VALUES (%s, %s, %s)",
            [
                (namespace, end, operation.number)
                for operation in listed
                for end in sorted(touched(operation.rows).union(operation.erased))
            ],
        )

    def _erase_from_log(self, namespace: str, ids: Collection[str]) -> int:
        """Erase the rows about these memories from the log; returns their number."""
        listed = self._db.run(
            namespace,
            "SELECT DISTINCT c.operation, c.piece, c.rows FROM touched t JOIN changes c"
            " ON c.namespace = t.namespace AND c.operation = t.operation"
            " AND strpos(c.rows, to_json(t.memory)::text) > 0"
            " WHERE t.namespace = %(namespace)s AND t.memory = ANY(%(ids)s::text[])",
            {"ids": list(ids)},
        )
        erased = 0
        for operation, piece, packed in listed:
            rows = unpack(packed)
            remaining = without(rows, set(ids))
            erased += len(rows) - len(remaining)
            self._db.change(
                namespace,
                "UPDATE changes SET rows = %(rows)s WHERE namespace = %(namespace)s AND operation = %(operation)s"
                " AND piece = %(piece)s",
                {"rows": pack(remaining), "operation": operation, "piece": piece},
            )
            self._erase_touched(namespace, operation, touched(rows) - touched(remaining))
        return erased

    def _erase_remarks(self, namespace: str, keys: Collection[str]) -> None:
        """Erase the messages and reasons of operations that name one of the keys."""
        rows: list[tuple[Any, ...]] = self._db.run(
            namespace,
            "SELECT DISTINCT o.number, o.message, o.reason FROM unnest(%(keys)s::text[]) AS k(value)"
            " JOIN operations o ON o.namespace = %(namespace)s"
            " AND (strpos(o.message, k.value) > 0 OR strpos(o.reason, k.value) > 0)",
            {"keys": list(keys)},
        )
        pattern = naming(keys)
        for number, *remarks in rows:
            message, reason = (None if text and pattern.search(text) else text for text in remarks)
            self._db.change(
                namespace,
                "UPDATE operations SET message = %(message)s, reason = %(reason)s"
                " WHERE namespace = %(namespace)s AND number = %(number)s",
                {"message": message, "reason": reason, "number": number},
            )

    def _erase_touched(self, namespace: str, operation: int, ends: Iterable[str]) -> None:
        """Unlist memories of an operation, except those in other pieces of its changes."""
        self._db.change(
            namespace,
            "DELETE FROM touched t WHERE t.namespace = %(namespace)s AND t.memory = ANY(%(ends)s::text[])"
            " AND t.operation = %(operation)s AND NOT EXISTS (SELECT 1 FROM changes c"
            " WHERE c.namespace = t.namespace AND c.operation = t.operation"
            " AND strpos(c.rows, to_json(t.memory)::text) > 0)",
            {"ends": list(ends), "operation": operation},
        )
