"""The records of a PostgreSQL store outside the log: traces of recalls, sessions of the loop, and tokens."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import astuple
from datetime import datetime

from priming.serialization import stamp
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.postgres.schema import NO_NAMESPACE, TRACES
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
from priming.types import Token

_HITS = "json_array_elements(t.hits::json) AS h(value)"
_LATEST = (
    "(SELECT {0} FROM activations a WHERE a.namespace = %(namespace)s AND a.profile = %(profile)s"
    " AND a.memory = i.key ORDER BY a.day DESC LIMIT 1)"
)


class PostgresTraces:
    """Traces of recalls: the latest ones, and the flow of fewer still."""

    _db: PostgresConnection

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
        where = ["namespace = %(namespace)s", "at >= %(since)s"]
        if session is not None:
            where.append("session = %(session)s")
        if memory_id is not None:
            where.append("strpos(hits, %(memory)s) > 0")
        sql = (
            f"SELECT {TRACE_COLUMNS} FROM traces WHERE {' AND '.join(where)}"
            " ORDER BY at DESC, number DESC LIMIT %(limit)s"
        )
        values = {
            "since": stamp(since) if since else "",
            "session": session,
            "memory": json.dumps(memory_id),  # as the JSON of the hits has it, in quotes
            "limit": limit,
        }
        return [stored_trace(*row) for row in self._db.run(namespace, sql, values)]

    def sessions(self, namespace: str, *, name: str | None = None, limit: int = 100) -> list[str]:
        """Sessions of recalls, memories, runs, operations or the loop, the latest first; with ``name``, only that."""
        parts = [
            f"SELECT {column} AS session, {at} AS at FROM {table} WHERE namespace = %(namespace)s"
            f" AND {column} {'IS NOT NULL' if name is None else '= %(name)s'}"
            for table, column, at in SESSION_TABLES
        ]
        sql = (
            f"SELECT session FROM ({' UNION ALL '.join(parts)}) s"
            " GROUP BY session ORDER BY max(at) DESC, session LIMIT %(limit)s"
        )
        return [session for (session,) in self._db.run(namespace, sql, {"name": name, "limit": limit})]

    def shown(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """Id → how many of the stored recalls returned it, for those of ``ids`` that any did."""
        sql = (
            f"SELECT h.value ->> 0, count(*) FROM traces t, {_HITS}"
            " WHERE t.namespace = %(namespace)s AND (h.value ->> 0) = ANY(%(ids)s::text[]) GROUP BY 1"
        )
        return dict(self._db.run(namespace, sql, {"ids": list(ids)}))

    def trace(self, namespace: str, recall_id: str) -> Trace | None:
        """One recall with its flow."""
        sql = (
            f"SELECT {TRACE_COLUMNS}, nodes, flow FROM traces"
            " WHERE namespace = %(namespace)s AND recall_id = %(recall)s"
        )
        rows = self._db.run(namespace, sql, {"recall": recall_id})
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
        """Record a recall, beside whoever writes; delete those before ``not_before`` or beyond ``keep``."""
        with self._db.transaction(patience=TRACE_PATIENCE, lock=TRACES):
            number = self._append_trace(namespace, trace, counted=counted)
            if counted:
                self.add_activations(namespace, trace.profile, dict.fromkeys(dict(trace.hits), 1), trace.at)
            values = {"before": stamp(not_before), "last": number - keep, "last_flow": number - keep_flows}
            self._db.change(
                namespace,
                "DELETE FROM traces WHERE namespace = %(namespace)s AND (at < %(before)s OR number <= %(last)s)",
                values,
            )
            if number > keep_flows:
                self._db.change(
                    namespace,
                    "UPDATE traces SET nodes = NULL, flow = NULL"
                    " WHERE namespace = %(namespace)s AND number <= %(last_flow)s AND flow IS NOT NULL",
                    values,
                )

    def _append_trace(self, namespace: str, trace: Trace, *, counted: bool) -> int:
        """Store a recall after all others; returns its number."""
        self._db.lock(namespace, TRACES)
        sql = "SELECT coalesce(max(number), 0) + 1 FROM traces WHERE namespace = %(namespace)s"
        ((number,),) = self._db.run(namespace, sql)
        self._db.many(
            namespace,
            f"INSERT INTO traces (namespace, number, counted, {TRACE_COLUMNS}, nodes, flow)"
            f" VALUES ({', '.join(['%s'] * 11)})",
            [(namespace, number, counted, *trace_values(trace))],
        )
        return int(number)

    def activations(
        self, namespace: str, profile: str, ids: Collection[str], until: datetime
    ) -> dict[str, int]:
        """How often each of these memories was activated by ``until``; exact to the day where recalls are gone."""
        values = {
            "profile": profile,
            "ids": list(ids),
            "until": stamp(until),
            "day": day_of(until),
            "end": f"{day_of(until)}U",  # after every stamp of the day, which goes on with a T
        }
        with self._db.transaction(write=False):
            totals = self._db.run(
                namespace,
                "SELECT DISTINCT ON (memory) memory, total FROM activations WHERE namespace = %(namespace)s"
                " AND profile = %(profile)s AND memory = ANY(%(ids)s::text[]) AND day <= %(day)s"
                " ORDER BY memory, day DESC",
                values,
            )
            later = self._db.run(
                namespace,
                f"SELECT h.value ->> 0, count(*) FROM traces t, {_HITS}"
                " WHERE t.namespace = %(namespace)s AND t.at > %(until)s AND t.at < %(end)s AND t.counted"
                " AND t.profile = %(profile)s GROUP BY 1",
                values,
            )
        after = dict(later)
        return {memory_id: total - after.get(memory_id, 0) for memory_id, total in totals if total}

    def add_activations(self, namespace: str, profile: str, counts: Mapping[str, int], at: datetime) -> None:
        """Add to how often memories were activated."""
        with self._db.transaction(lock=TRACES):
            self._db.lock(namespace, TRACES)
            self._db.change(
                namespace,
                "INSERT INTO activations (namespace, profile, memory, day, total)"
                " SELECT %(namespace)s, %(profile)s, i.key,"
                f" greatest(%(day)s::text COLLATE \"C\", coalesce({_LATEST.format('a.day')}, '')),"
                f" i.value::bigint + coalesce({_LATEST.format('a.total')}, 0)"
                " FROM json_each_text(%(counts)s::json) AS i(key, value)"
                " ON CONFLICT (namespace, profile, memory, day) DO UPDATE SET total = excluded.total",
                {"profile": profile, "day": day_of(at), "counts": json.dumps(dict(counts))},
            )

    def all_activations(self, namespace: str) -> list[ActivationCount]:
        """Every count of activations, by profile, memory and day."""
        sql = (
            "SELECT profile, memory, day, total FROM activations WHERE namespace = %(namespace)s"
            " ORDER BY profile, memory, day"
        )
        return [ActivationCount(*row) for row in self._db.run(namespace, sql)]

    def restore_activations(self, namespace: str, counts: Collection[ActivationCount]) -> None:
        """Store counts of an export; those of the same profile, memory and day are replaced."""
        with self._db.transaction(lock=TRACES):
            self._db.lock(namespace, TRACES)
            self._db.many(
                namespace,
                "INSERT INTO activations VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT (namespace, profile, memory, day) DO UPDATE SET total = excluded.total",
                [(namespace, *astuple(count)) for count in counts],
            )

    def _erase_traces(self, namespace: str, ids: Collection[str]) -> int:
        """Erase the recalls that returned any of these memories, and flows through them; the number of recalls."""
        values = {"ids": list(ids)}
        self._db.lock(namespace, TRACES)
        self._db.change(
            namespace,
            "DELETE FROM activations WHERE namespace = %(namespace)s AND memory = ANY(%(ids)s::text[])",
            values,
        )
        deleted = self._db.change(
            namespace,
            "DELETE FROM traces t WHERE t.namespace = %(namespace)s AND EXISTS"
            f" (SELECT 1 FROM {_HITS} WHERE (h.value ->> 0) = ANY(%(ids)s::text[]))",
            values,
        )
        self._db.change(
            namespace,
            "UPDATE traces t SET nodes = NULL, flow = NULL WHERE t.namespace = %(namespace)s AND t.flow IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM json_array_elements_text(coalesce(t.nodes, '[]')::json) AS n(value)"
            " WHERE n.value = ANY(%(ids)s::text[]))",
            values,
        )
        return deleted


class PostgresLoopSessions:
    """Sessions of the loop, each with its whole state as JSON."""

    _db: PostgresConnection

    def _check_writable(self, namespace: str) -> None:
        """``Conflict`` if the namespace is read-only."""
        if self._db.run(namespace, "SELECT 1 FROM read_only WHERE namespace = %(namespace)s"):
            raise read_only_refusal(namespace)

    def add_loop(self, namespace: str, row: LoopSessionRow) -> None:
        """Store a new session; ``Conflict`` for an id that is taken."""
        with self._db.transaction():
            self._check_writable(namespace)
            self._append_loop(namespace, row)

    def _append_loop(self, namespace: str, row: LoopSessionRow) -> None:
        self._db.many(
            namespace,
            f"INSERT INTO loop_sessions (namespace, {LOOP_SESSION_COLUMNS}) VALUES ({', '.join(['%s'] * 8)})",
            [(namespace, *loop_session_values(row))],
        )

    def keep_loop(self, namespace: str, row: LoopSessionRow) -> bool:
        """Update a session; returns whether it exists."""
        with self._db.transaction():
            self._check_writable(namespace)
            changed = self._db.change(
                namespace,
                "UPDATE loop_sessions SET state = %(state)s, updated_at = %(at)s, body = %(body)s"
                " WHERE namespace = %(namespace)s AND id = %(id)s",
                {"state": row.state, "at": stamp(row.updated_at), "body": row.body, "id": row.id},
            )
        return bool(changed)

    def loop(self, namespace: str, session_id: str) -> LoopSessionRow | None:
        """One session of the loop."""
        sql = f"SELECT {LOOP_SESSION_COLUMNS} FROM loop_sessions WHERE namespace = %(namespace)s AND id = %(id)s"
        rows = self._db.run(namespace, sql, {"id": session_id})
        return stored_loop_session(*rows[0]) if rows else None

    def loops(
        self, namespace: str, *, limit: int = 100, objective: str | None = None
    ) -> list[LoopSessionRow]:
        """Sessions of the loop, newest first; with ``objective``, only those with it, in upper or lower case."""
        # Only the letters A to Z, as in SQLite.
        same = 'lower(objective COLLATE "C") = lower(%(objective)s::text COLLATE "C")'
        sql = (
            f"SELECT {LOOP_SESSION_COLUMNS} FROM loop_sessions WHERE namespace = %(namespace)s"
            f"{'' if objective is None else f' AND {same}'} ORDER BY created_at DESC, id DESC LIMIT %(limit)s"
        )
        rows = self._db.run(namespace, sql, {"limit": limit, "objective": objective})
        return [stored_loop_session(*row) for row in rows]

    def _erase_loop_sessions(self, namespace: str, keys: Collection[str]) -> int:
        """Erase the sessions that name any of these keys; returns their number."""
        return self._db.change(
            namespace,
            "DELETE FROM loop_sessions WHERE namespace = %(namespace)s AND EXISTS"
            " (SELECT 1 FROM unnest(%(keys)s::text[]) AS k(value) WHERE strpos(body, to_json(k.value)::text) > 0)",
            {"keys": list(keys)},
        )


class PostgresTokens:
    """Tokens of all namespaces; only the digests of their secrets are stored."""

    _db: PostgresConnection

    def add_token(self, token: Token, digest: bytes) -> None:
        """Store a new token by the digest of its secret."""
        expires = None if token.expires_at is None else stamp(token.expires_at)
        self._db.many(
            NO_NAMESPACE,
            "INSERT INTO tokens (id, namespace, name, kind, created_at, expires_at, digest)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(token.id, token.namespace, token.name, token.kind, stamp(token.created_at), expires, digest)],
        )

    def tokens(self) -> list[Token]:
        """All tokens, revoked ones included, oldest first."""
        sql = f"SELECT {TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id"
        return [stored_token(*row) for row in self._db.run(NO_NAMESPACE, sql)]

    def _readable_tokens(self) -> list[Token]:
        """The tokens, or none if the role may not change them."""
        sql = "SELECT has_table_privilege('tokens', 'SELECT') AND has_table_privilege('tokens', 'UPDATE')"
        return self.tokens() if self._db.run(NO_NAMESPACE, sql)[0][0] else []

    def any_token(self) -> bool:
        """Whether a token was ever created."""
        return bool(self._db.run(NO_NAMESPACE, "SELECT 1 FROM tokens LIMIT 1"))

    def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """A token and the digest of its secret."""
        sql = f"SELECT {TOKEN_COLUMNS}, digest FROM tokens WHERE id = %(id)s"
        rows = self._db.run(NO_NAMESPACE, sql, {"id": token_id})
        return (stored_token(*rows[0][:-1]), bytes(rows[0][-1])) if rows else None

    def revoke_token(self, token_id: str, at: datetime) -> bool:
        """Revoke a token; returns whether one with that id existed and was not revoked."""
        sql = "UPDATE tokens SET revoked_at = %(at)s WHERE id = %(id)s AND revoked_at IS NULL"
        return bool(self._db.change(NO_NAMESPACE, sql, {"at": stamp(at), "id": token_id}))

    def use_token(self, token_id: str, at: datetime) -> None:
        """Record when a token was last used; raises ``Busy`` after a short wait rather than the timeout."""
        with self._db.transaction(patience=TOKEN_PATIENCE):
            sql = "UPDATE tokens SET used_at = %(at)s WHERE id = %(id)s"
            self._db.change(NO_NAMESPACE, sql, {"at": stamp(at), "id": token_id})

    def set_read_only(self, namespace: str, *, on: bool) -> None:
        """Refuse writes to a namespace from now on, or accept them again."""
        if on:
            sql = "INSERT INTO read_only VALUES (%(namespace)s) ON CONFLICT DO NOTHING"
        else:
            sql = "DELETE FROM read_only WHERE namespace = %(namespace)s"
        self._db.change(namespace, sql)

    def all_read_only(self, namespace: str | None = None) -> list[str]:
        """The namespaces to which writes are refused (of one: it or none)."""
        if namespace is not None:
            sql = "SELECT namespace FROM read_only WHERE namespace = %(namespace)s"
            return [name for (name,) in self._db.run(namespace, sql)]
        sql = "SELECT namespace FROM read_only ORDER BY namespace"
        return [name for (name,) in self._db.of_every(sql)]
