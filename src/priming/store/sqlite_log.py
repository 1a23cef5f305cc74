"""The SQLite store's log of operations, and its traces of recalls: written, read and erased."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import groupby
from typing import Any

from priming.errors import NotFound
from priming.store.connection import Connection
from priming.store.protocol import Changes, Logged, Trace
from priming.store.rows import RowChange, pack, stamp, unpack

_PIECE = 200
_TRACE_PATIENCE = 0.25
_OPERATION = "o.number, o.id, o.kind, o.at, o.actor, o.source, o.reason, o.undone_by, o.message, o.erased"
_LOG = (
    f"SELECT {_OPERATION}, c.rows FROM operations o LEFT JOIN changes c"
    " ON c.namespace = o.namespace AND c.operation = o.number"
)
_TRACE = "recall_id, at, session, profile, cue, hits"


class SqliteLog:
    """Operations and traces over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def head(self, namespace: str) -> int:
        """The number of the namespace's latest operation; 0 if there is none."""
        return self._last("operations", namespace)

    def operation_id(self, namespace: str, number: int) -> str | None:
        """The id of an operation by its number."""
        sql = "SELECT id FROM operations WHERE namespace = ? AND number = ?"
        rows = self._db.run(sql, (namespace, number))
        return str(rows[0][0]) if rows else None

    def since(self, namespace: str, number: int) -> list[Logged]:
        """The operations after ``number``, oldest first, with their rows."""
        sql = f"{_LOG} WHERE o.namespace = ? AND o.number > ? ORDER BY o.number, c.piece"
        return _logged(self._db.run(sql, (namespace, number)))

    def operation(self, namespace: str, operation_id: str) -> Logged | None:
        """One operation with its rows."""
        sql = f"{_LOG} WHERE o.namespace = ? AND o.id = ? ORDER BY c.piece"
        found = _logged(self._db.run(sql, (namespace, operation_id)))
        return found[0] if found else None

    def operations(
        self,
        namespace: str,
        *,
        memory_id: str | None = None,
        since: datetime | None = None,
        limit: int | None = 100,
    ) -> list[Logged]:
        """Operations with their rows, newest first."""
        where = ["namespace = :namespace"]
        if memory_id is not None:
            where.append(
                "number IN (SELECT operation FROM touched WHERE namespace = :namespace AND memory = :memory)"
            )
        if since is not None:
            where.append("at >= :since")
        # The plus keeps SQLite from walking the whole log in its order, rather than the times since.
        order = "number" if since is None else "+number"
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
            "since": None if since is None else stamp(since),
            "limit": -1 if limit is None else limit,
        }
        return _logged(self._db.run(sql, values))

    def traces(self, namespace: str, *, since: datetime | None = None, limit: int = 100) -> list[Trace]:
        """Recalls, newest first."""
        sql = f"SELECT {_TRACE} FROM traces WHERE namespace = ? AND at >= ? ORDER BY at DESC, number DESC LIMIT ?"
        rows = self._db.run(sql, (namespace, stamp(since) if since else "", limit))
        return [_trace(*row) for row in rows]

    def add_trace(self, namespace: str, trace: Trace, *, keep: int, not_before: datetime) -> None:
        """Keep one recall; drop those before ``not_before`` and beyond the latest ``keep``."""
        with self._db.transaction(patience=_TRACE_PATIENCE):
            number = self._last("traces", namespace) + 1
            self._db.change(
                "INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    namespace,
                    number,
                    trace.recall_id,
                    stamp(trace.at),
                    trace.session,
                    trace.profile,
                    json.dumps(dict(trace.cue), ensure_ascii=False),
                    json.dumps(trace.hits),
                ),
            )
            for condition, bound in (("number <= ?", number - keep), ("at < ?", stamp(not_before))):
                self._db.change(f"DELETE FROM traces WHERE namespace = ? AND {condition}", (namespace, bound))

    def _last(self, table: str, namespace: str) -> int:
        sql = f"SELECT coalesce(max(number), 0) FROM {table} WHERE namespace = ?"
        return int(self._db.run(sql, (namespace,))[0][0])

    def _log(self, changes: Changes, erased: Collection[str] = ()) -> int:
        """Enter one operation in the log; its number. Creates the namespace."""
        self._db.change("INSERT OR IGNORE INTO namespaces VALUES (?)", (changes.namespace,))
        number = self._last("operations", changes.namespace) + 1
        logged = Logged(
            number,
            changes.id,
            changes.kind,
            changes.at,
            changes.actor,
            changes.source,
            changes.reason,
            None,
            changes.message,
            changes.rows,
            tuple(erased),
        )
        self._enter(changes.namespace, [logged])
        if changes.undoes:
            self._mark_undone(changes.namespace, changes.undoes, changes.id)
        return number

    def _mark_undone(self, namespace: str, undone: str, by: str) -> None:
        sql = "UPDATE operations SET undone_by = ? WHERE namespace = ? AND id = ?"
        if not self._db.change(sql, (by, namespace, undone)):
            raise NotFound(f"there is no operation {undone!r} in {namespace!r} to undo")

    def _enter(self, namespace: str, operations: Iterable[Logged]) -> None:
        for one in operations:
            self._db.change(
                "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    namespace,
                    one.number,
                    one.id,
                    one.kind,
                    stamp(one.at),
                    one.actor,
                    one.source,
                    one.reason,
                    one.undone_by,
                    one.message,
                    json.dumps(one.erased) if one.erased else None,
                ),
            )
            self._db.many(
                "INSERT INTO changes VALUES (?, ?, ?, ?)",
                (
                    (namespace, one.number, first // _PIECE, pack(one.rows[first : first + _PIECE]))
                    for first in range(0, len(one.rows), _PIECE)
                ),
            )
            touched = sorted(_touched(one.rows).union(one.erased))
            self._db.many(
                "INSERT INTO touched VALUES (?, ?, ?)", ((namespace, end, one.number) for end in touched)
            )

    def _unlog(self, namespace: str, ids: Collection[str]) -> int:
        """Take every row about some memories out of the log; how many there were."""
        pieces = self._db.run(
            "SELECT DISTINCT c.operation, c.piece, c.rows FROM json_each(:some) i CROSS JOIN touched t"
            " ON t.namespace = :namespace AND t.memory = i.value CROSS JOIN changes c"
            " ON c.namespace = t.namespace AND c.operation = t.operation AND instr(c.rows, json_quote(i.value))",
            {"namespace": namespace, "some": json.dumps(list(ids))},
        )
        erased = 0
        for operation, piece, packed in pieces:
            rows = unpack(packed)
            kept = [one for one in rows if not set(ids) & set(one.ends)]
            erased += len(rows) - len(kept)
            self._db.change(
                "UPDATE changes SET rows = ? WHERE namespace = ? AND operation = ? AND piece = ?",
                (pack(kept), namespace, operation, piece),
            )
            self._untouch(namespace, operation, _touched(rows) - _touched(kept))
        return erased

    def _untouch(self, namespace: str, operation: int, ends: Iterable[str]) -> None:
        """Note that memories occur in an operation no more, but for those that other pieces of it are about."""
        self._db.many(
            "DELETE FROM touched WHERE namespace = :namespace AND memory = :memory AND operation = :operation"
            " AND NOT EXISTS (SELECT 1 FROM changes WHERE namespace = :namespace AND operation = :operation"
            " AND instr(rows, json_quote(:memory)))",
            [{"namespace": namespace, "memory": end, "operation": operation} for end in ends],
        )

    def _untrace(self, namespace: str, ids: Collection[str]) -> int:
        """Drop the recalls that brought up any of some memories; how many there were."""
        return self._db.change(
            "DELETE FROM traces WHERE namespace = :namespace AND EXISTS"
            " (SELECT 1 FROM json_each(hits) h WHERE json_extract(h.value, '$[0]') IN"
            " (SELECT value FROM json_each(:some)))",
            {"namespace": namespace, "some": json.dumps(list(ids))},
        )


def _touched(rows: Iterable[RowChange]) -> set[str]:
    return {end for one in rows for end in one.ends}


def _logged(rows: list[tuple[Any, ...]]) -> list[Logged]:
    """Operations from their rows, one for each piece of their changes."""
    made = []
    for _, run in groupby(rows, key=lambda row: int(row[0])):
        pieces = list(run)
        number, operation_id, kind, at, actor, source, reason, undone_by, message, erased, _ = pieces[0]
        made.append(
            Logged(
                number,
                operation_id,
                kind,
                datetime.fromisoformat(at),
                actor,
                source,
                reason,
                undone_by,
                message,
                tuple(one for *_, packed in pieces if packed for one in unpack(packed)),
                tuple(json.loads(erased)) if erased else (),
            )
        )
    return made


def _trace(recall_id: str, at: str, session: str | None, profile: str, cue: str, hits: str) -> Trace:
    pairs = tuple((memory_id, score) for memory_id, score in json.loads(hits))
    return Trace(recall_id, datetime.fromisoformat(at), session, profile, json.loads(cue), pairs)
