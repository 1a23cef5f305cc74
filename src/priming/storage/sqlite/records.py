"""The records of a SQLite store outside the log: traces of recalls, sessions of the loop, and tokens."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import astuple
from datetime import datetime

from priming.serialization import stamp
from priming.storage.protocol import Trace
from priming.storage.record_rows import (
    LOOP_SESSION_COLUMNS,
    SESSION_TABLES,
    TOKEN_COLUMNS,
    TOKEN_PATIENCE,
    TRACE_COLUMNS,
    TRACE_PATIENCE,
    day_of,
    loop_session_values,
    read_only_refusal,
    stored_loop_session,
    stored_token,
    stored_trace,
    trace_values,
)
from priming.storage.rows import ActivationCount, LoopSessionRow
from priming.storage.sqlite.connection import Connection
from priming.types import Token

_FEW = 3
"""Number of memories up to which each is looked for in the text of all hits."""


class SqliteTraces:
    """Traces of recalls: the latest ones, and the flow of fewer still."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def traces(
        self,
        namespace: str,
        *,
        since: datetime | None = None,
        session: str | None = None,
        memory_id: str | None = None,
        limit: int = 100,
    ) -> list[Trace]:
        """Recalls without flows, newest first, filtered by session or by a memory among their hits."""
        where = ["namespace = :namespace", "at >= :since"]
        if session is not None:
            where.append("session = :session")
        if memory_id is not None:
            where.append("instr(hits, :memory)")
        sql = (
            f"SELECT {TRACE_COLUMNS} FROM traces WHERE {' AND '.join(where)}"
            " ORDER BY at DESC, number DESC LIMIT :limit"
        )
        values = {
            "namespace": namespace,
            "since": stamp(since) if since else "",
            "session": session,
            "memory": json.dumps(memory_id),  # as the JSON of the hits has it, in quotes
            "limit": limit,
        }
        return [stored_trace(*row) for row in self._db.run(sql, values)]

    def sessions(self, namespace: str, *, name: str | None = None, limit: int = 100) -> list[str]:
        """Sessions of recalls, memories, runs, operations or the loop, the latest first; with ``name``, only that."""
        which = "IS NOT NULL" if name is None else "= :name"
        parts = [
            f"SELECT {column} AS session, {at} AS at FROM {table} WHERE namespace = :namespace AND {column} {which}"
            for table, column, at in SESSION_TABLES
        ]
        sql = (
            f"SELECT session FROM ({' UNION ALL '.join(parts)})"
            " GROUP BY session ORDER BY max(at) DESC, session LIMIT :limit"
        )
        values = {"namespace": namespace, "name": name, "limit": limit}
        return [session for (session,) in self._db.run(sql, values)]

    def shown(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """Id → how many of the stored recalls returned it, for those of ``ids`` that any did."""
        if len(ids) <= _FEW:
            sql = "SELECT count(*) FROM traces WHERE namespace = ? AND instr(hits, ?)"
            counts = {name: self._db.run(sql, (namespace, json.dumps(name)))[0][0] for name in ids}
            return {name: number for name, number in counts.items() if number}
        rows = self._db.run(
            "SELECT json_extract(h.value, '$[0]') AS hit, count(*) FROM traces t, json_each(t.hits) h"
            " WHERE t.namespace = :namespace AND hit IN (SELECT value FROM json_each(:ids)) GROUP BY hit",
            {"namespace": namespace, "ids": json.dumps(list(ids))},
        )
        return dict(rows)

    def trace(self, namespace: str, recall_id: str) -> Trace | None:
        """One recall with its flow."""
        sql = f"SELECT {TRACE_COLUMNS}, nodes, flow FROM traces WHERE namespace = ? AND recall_id = ?"
        rows = self._db.run(sql, (namespace, recall_id))
        return stored_trace(*rows[0]) if rows else None

    def add_trace(
        self,
        namespace: str,
        trace: Trace,
        *,
        keep: int,
        keep_flows: int,
        not_before: datetime,
        counted: bool = False,
    ) -> None:
        """Record a recall; delete those before ``not_before`` or beyond the latest ``keep``, and older flows."""
        with self._db.transaction(patience=TRACE_PATIENCE):
            number = self._append_trace(namespace, trace, counted=counted)
            if counted:
                self.add_activations(namespace, trace.profile, dict.fromkeys(dict(trace.hits), 1), trace.at)
            drop = "DELETE FROM traces WHERE namespace = ? AND"
            self._db.change(f"{drop} at < ?", (namespace, stamp(not_before)))
            if number > keep:
                self._db.change(f"{drop} number <= ?", (namespace, number - keep))
            if number > keep_flows:
                self._db.change(
                    "UPDATE traces SET nodes = NULL, flow = NULL"
                    " WHERE namespace = ? AND number <= ? AND flow IS NOT NULL",
                    (namespace, number - keep_flows),
                )

    def _append_trace(self, namespace: str, trace: Trace, *, counted: bool) -> int:
        """Store a recall after all others, and return its number."""
        sql = "SELECT coalesce(max(number), 0) + 1 FROM traces WHERE namespace = ?"
        ((number,),) = self._db.run(sql, (namespace,))
        self._db.change(
            f"INSERT INTO traces (namespace, number, counted, {TRACE_COLUMNS}, nodes, flow)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (namespace, number, counted, *trace_values(trace)),
        )
        return int(number)

    def activations(
        self, namespace: str, profile: str, ids: Collection[str], until: datetime
    ) -> dict[str, int]:
        """How often each of these memories was activated by ``until``; exact to the day where recalls are gone."""
        values = {
            "namespace": namespace,
            "profile": profile,
            "ids": json.dumps(list(ids)),
            "until": stamp(until),
            "day": day_of(until),
            "end": f"{day_of(until)}U",  # after every stamp of the day, which goes on with a T
        }
        totals = self._db.run(
            "SELECT i.value, (SELECT total FROM activations a WHERE a.namespace = :namespace"
            " AND a.profile = :profile AND a.memory = i.value AND a.day <= :day ORDER BY a.day DESC LIMIT 1)"
            " FROM json_each(:ids) i",
            values,
        )
        later = self._db.run(
            "SELECT json_extract(h.value, '$[0]'), count(*) FROM traces t CROSS JOIN json_each(t.hits) h"
            " WHERE t.namespace = :namespace AND t.at > :until AND t.at < :end AND t.counted AND t.profile = :profile"
            " GROUP BY 1",
            values,
        )
        after = dict(later)
        return {memory_id: total - after.get(memory_id, 0) for memory_id, total in totals if total}

    def add_activations(self, namespace: str, profile: str, counts: Mapping[str, int], at: datetime) -> None:
        """Add to how often memories were activated."""
        latest = (
            "FROM activations a WHERE a.namespace = :namespace AND a.profile = :profile AND a.memory = i.key"
            " ORDER BY a.day DESC LIMIT 1"
        )
        with self._db.transaction():
            self._db.change(
                "INSERT INTO activations (namespace, profile, memory, day, total)"
                f" SELECT :namespace, :profile, i.key, max(:day, coalesce((SELECT day {latest}), '')),"
                f" i.value + coalesce((SELECT total {latest}), 0) FROM json_each(:counts) i WHERE true"
                " ON CONFLICT DO UPDATE SET total = excluded.total",
                {
                    "namespace": namespace,
                    "profile": profile,
                    "day": day_of(at),
                    "counts": json.dumps(dict(counts)),
                },
            )

    def all_activations(self, namespace: str) -> list[ActivationCount]:
        """Every count of activations, by profile, memory and day."""
        sql = "SELECT profile, memory, day, total FROM activations WHERE namespace = ? ORDER BY profile, memory, day"
        return [ActivationCount(*row) for row in self._db.run(sql, (namespace,))]

    def restore_activations(self, namespace: str, counts: Collection[ActivationCount]) -> None:
        """Store counts of an export; those of the same profile, memory and day are replaced."""
        with self._db.transaction():
            self._db.many(
                "INSERT OR REPLACE INTO activations VALUES (?, ?, ?, ?, ?)",
                [(namespace, *astuple(count)) for count in counts],
            )

    def _erase_traces(self, namespace: str, ids: Collection[str]) -> int:
        """Erase the recalls that returned any of these memories, and flows through them; the number of recalls."""
        values = {"namespace": namespace, "ids": json.dumps(list(ids))}
        erased = "(SELECT value FROM json_each(:ids))"
        self._db.change(
            f"DELETE FROM activations WHERE namespace = :namespace AND memory IN {erased}", values
        )
        deleted = self._db.change(
            "DELETE FROM traces WHERE namespace = :namespace AND EXISTS"
            f" (SELECT 1 FROM json_each(hits) h WHERE json_extract(h.value, '$[0]') IN {erased})",
            values,
        )
        self._db.change(
            "UPDATE traces SET nodes = NULL, flow = NULL WHERE namespace = :namespace AND flow IS NOT NULL"
            f" AND EXISTS (SELECT 1 FROM json_each(nodes) n WHERE n.value IN {erased})",
            values,
        )
        return deleted


class SqliteLoopSessions:
    """Sessions of the loop, each with its whole state as JSON."""

    _db: Connection

    def _check_writable(self, namespace: str) -> None:
        """``Conflict`` if the namespace is read-only."""
        if self._db.run("SELECT 1 FROM read_only WHERE namespace = ?", (namespace,)):
            raise read_only_refusal(namespace)

    def add_loop(self, namespace: str, row: LoopSessionRow) -> None:
        """Store a new session; ``Conflict`` for an id that is taken."""
        with self._db.transaction():
            self._check_writable(namespace)
            self._append_loop(namespace, row)

    def _append_loop(self, namespace: str, row: LoopSessionRow) -> None:
        self._db.change(
            f"INSERT INTO loop_sessions (namespace, {LOOP_SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (namespace, *loop_session_values(row)),
        )

    def keep_loop(self, namespace: str, row: LoopSessionRow) -> bool:
        """Update a session; returns whether it exists."""
        with self._db.transaction():
            self._check_writable(namespace)
            changed = self._db.change(
                "UPDATE loop_sessions SET state = ?, updated_at = ?, body = ? WHERE namespace = ? AND id = ?",
                (row.state, stamp(row.updated_at), row.body, namespace, row.id),
            )
        return bool(changed)

    def loop(self, namespace: str, session_id: str) -> LoopSessionRow | None:
        """One session of the loop."""
        rows = self._db.run(
            f"SELECT {LOOP_SESSION_COLUMNS} FROM loop_sessions WHERE namespace = ? AND id = ?",
            (namespace, session_id),
        )
        return stored_loop_session(*rows[0]) if rows else None

    def loops(
        self, namespace: str, *, limit: int = 100, objective: str | None = None
    ) -> list[LoopSessionRow]:
        """Sessions of the loop, newest first; with ``objective``, only those with it, in upper or lower case."""
        sql = (
            f"SELECT {LOOP_SESSION_COLUMNS} FROM loop_sessions WHERE namespace = :namespace"
            " AND (:objective IS NULL OR objective = :objective COLLATE NOCASE)"
            " ORDER BY created_at DESC, id DESC LIMIT :limit"
        )
        values = {"namespace": namespace, "objective": objective, "limit": limit}
        return [stored_loop_session(*row) for row in self._db.run(sql, values)]

    def _erase_loop_sessions(self, namespace: str, keys: Collection[str]) -> int:
        """Erase the sessions that name any of these keys; returns their number."""
        return self._db.change(
            "DELETE FROM loop_sessions WHERE namespace = :namespace"
            " AND EXISTS (SELECT 1 FROM json_each(:keys) k WHERE instr(body, json_quote(k.value)))",
            {"namespace": namespace, "keys": json.dumps(list(keys))},
        )


class SqliteTokens:
    """Tokens of all namespaces; only the digests of their secrets are stored."""

    _db: Connection

    def add_token(self, token: Token, digest: bytes) -> None:
        """Store a new token by the digest of its secret."""
        with self._db.transaction():
            self._db.change(
                "INSERT INTO tokens (id, namespace, name, kind, created_at, expires_at, digest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(token.id, token.namespace, token.name, token.kind, stamp(token.created_at)),
                    None if token.expires_at is None else stamp(token.expires_at),
                    digest,
                ),
            )

    def tokens(self) -> list[Token]:
        """All tokens, revoked ones included, oldest first."""
        return [
            stored_token(*row)
            for row in self._db.run(f"SELECT {TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id")
        ]

    def any_token(self) -> bool:
        """Whether a token was ever created."""
        return bool(self._db.run("SELECT 1 FROM tokens LIMIT 1"))

    def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """A token and the digest of its secret."""
        rows = self._db.run(f"SELECT {TOKEN_COLUMNS}, digest FROM tokens WHERE id = ?", (token_id,))
        return (stored_token(*rows[0][:-1]), rows[0][-1]) if rows else None

    def revoke_token(self, token_id: str, at: datetime) -> bool:
        """Revoke a token; returns whether one with that id existed and was not revoked."""
        with self._db.transaction():
            sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            return bool(self._db.change(sql, (stamp(at), token_id)))

    def set_read_only(self, namespace: str, *, on: bool) -> None:
        """Refuse writes to a namespace from now on, or accept them again."""
        with self._db.transaction():
            if on:
                self._db.change("INSERT OR IGNORE INTO read_only VALUES (?)", (namespace,))
            else:
                self._db.change("DELETE FROM read_only WHERE namespace = ?", (namespace,))

    def all_read_only(self, namespace: str | None = None) -> list[str]:
        """The namespaces to which writes are refused (of one: it or none)."""
        sql = "SELECT namespace FROM read_only WHERE coalesce(?, namespace) = namespace ORDER BY namespace"
        return [name for (name,) in self._db.run(sql, (namespace,))]

    def use_token(self, token_id: str, at: datetime) -> None:
        """Record when a token was last used; raises ``Busy`` after a short wait rather than the timeout."""
        with self._db.transaction(patience=TOKEN_PATIENCE):
            self._db.change("UPDATE tokens SET used_at = ? WHERE id = ?", (stamp(at), token_id))
