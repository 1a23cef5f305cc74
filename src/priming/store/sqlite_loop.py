"""The SQLite store's sessions of the loop: how far each piece of work got."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import astuple
from datetime import datetime
from typing import Any

from priming.serialization import stamp
from priming.store.connection import Connection
from priming.store.rows import LoopSessionRow

_COLUMNS = "id, parent, state, objective, created_at, updated_at, body"


class SqliteLoop:
    """Sessions of the loop over one connection."""

    _db: Connection

    def add_loop(self, namespace: str, row: LoopSessionRow) -> None:
        """Keep a new session; ``Conflict`` for an id that is taken."""
        with self._db.transaction():
            self._db.change(
                f"INSERT INTO loop_sessions (namespace, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (namespace, *_values(row)),
            )

    def keep_loop(self, namespace: str, row: LoopSessionRow) -> bool:
        """Keep a session as it is now; whether it is still there."""
        with self._db.transaction():
            changed = self._db.change(
                "UPDATE loop_sessions SET state = ?, updated_at = ?, body = ? WHERE namespace = ? AND id = ?",
                (row.state, stamp(row.updated_at), row.body, namespace, row.id),
            )
        return bool(changed)

    def loop(self, namespace: str, session_id: str) -> LoopSessionRow | None:
        """One session of the loop."""
        rows = self._db.run(
            f"SELECT {_COLUMNS} FROM loop_sessions WHERE namespace = ? AND id = ?", (namespace, session_id)
        )
        return _row(*rows[0]) if rows else None

    def loops(self, namespace: str, *, limit: int = 100) -> list[LoopSessionRow]:
        """Sessions of the loop, those first that began last."""
        sql = f"SELECT {_COLUMNS} FROM loop_sessions WHERE namespace = ? ORDER BY created_at DESC, id DESC LIMIT ?"
        return [_row(*row) for row in self._db.run(sql, (namespace, limit))]

    def _unloop(self, namespace: str, keys: Collection[str]) -> int:
        """Erase the sessions that name any of some memories; how many there were."""
        return self._db.change(
            "DELETE FROM loop_sessions WHERE namespace = :namespace"
            " AND EXISTS (SELECT 1 FROM json_each(:keys) k WHERE instr(body, json_quote(k.value)))",
            {"namespace": namespace, "keys": json.dumps(list(keys))},
        )


def _values(row: LoopSessionRow) -> tuple[Any, ...]:
    return tuple(stamp(value) if isinstance(value, datetime) else value for value in astuple(row))


def _row(
    session_id: str, parent: str | None, state: str, objective: str, created: str, updated: str, body: str
) -> LoopSessionRow:
    times = datetime.fromisoformat(created), datetime.fromisoformat(updated)
    return LoopSessionRow(session_id, parent, state, objective, *times, body)
