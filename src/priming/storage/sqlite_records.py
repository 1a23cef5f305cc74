"""The SQLite store's traces of recalls: kept for a while, the latest with their flow."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import astuple
from datetime import datetime
from typing import Any

from priming.serialization import column_text, stamp
from priming.storage.protocol import Trace
from priming.storage.rows import LoopSessionRow
from priming.storage.sqlite_connection import Connection
from priming.types import Token

_PATIENCE = 0.25
_TRACE = "recall_id, at, session, profile, cue, hits"


class SqliteTraces:
    """Traces over one connection."""

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
        """Recalls, newest first, without their flows; of one session, or with a memory among their hits."""
        where = ["namespace = :namespace", "at >= :since"]
        if session is not None:
            where.append("session = :session")
        if memory_id is not None:
            where.append("instr(hits, :memory)")
        sql = f"SELECT {_TRACE} FROM traces WHERE {' AND '.join(where)} ORDER BY at DESC, number DESC LIMIT :limit"
        values = {
            "namespace": namespace,
            "since": stamp(since) if since else "",
            "session": session,
            "memory": json.dumps(memory_id),  # as it stands among the hits, quotes and all
            "limit": limit,
        }
        return [_trace(*row) for row in self._db.run(sql, values)]

    def trace(self, namespace: str, recall_id: str) -> Trace | None:
        """One recall with its flow."""
        sql = f"SELECT {_TRACE}, nodes, flow FROM traces WHERE namespace = ? AND recall_id = ?"
        rows = self._db.run(sql, (namespace, recall_id))
        return _trace(*rows[0]) if rows else None

    def add_trace(
        self, namespace: str, trace: Trace, *, keep: int, keep_flows: int, not_before: datetime
    ) -> None:
        """Keep one recall; drop those before ``not_before`` and beyond the latest ``keep``, and older flows."""
        with self._db.transaction(patience=_PATIENCE):
            sql = "SELECT coalesce(max(number), 0) + 1 FROM traces WHERE namespace = ?"
            ((number,),) = self._db.run(sql, (namespace,))
            self._db.change(
                f"INSERT INTO traces (namespace, number, {_TRACE}, nodes, flow)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (namespace, number, *_values(trace)),
            )
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

    def _untrace(self, namespace: str, ids: Collection[str]) -> int:
        """Drop the recalls that brought up any of some memories, how many there were; and flows through them."""
        values = {"namespace": namespace, "some": json.dumps(list(ids))}
        erased = "(SELECT value FROM json_each(:some))"
        gone = self._db.change(
            "DELETE FROM traces WHERE namespace = :namespace AND EXISTS"
            f" (SELECT 1 FROM json_each(hits) h WHERE json_extract(h.value, '$[0]') IN {erased})",
            values,
        )
        self._db.change(
            "UPDATE traces SET nodes = NULL, flow = NULL WHERE namespace = :namespace AND flow IS NOT NULL"
            f" AND EXISTS (SELECT 1 FROM json_each(nodes) n WHERE n.value IN {erased})",
            values,
        )
        return gone


def _values(trace: Trace) -> tuple[Any, ...]:
    """A trace in the order of its columns; nodes are of no use without the flow that speaks of them."""
    cue = json.dumps(dict(trace.cue), ensure_ascii=False)
    nodes = None if trace.flow is None else column_text(trace.nodes)
    return (
        trace.recall_id,
        stamp(trace.at),
        trace.session,
        trace.profile,
        cue,
        json.dumps(trace.hits),
        nodes,
        trace.flow,
    )


def _trace(
    recall_id: str,
    at: str,
    session: str | None,
    profile: str,
    cue: str,
    hits: str,
    nodes: str | None = None,
    flow: bytes | None = None,
) -> Trace:
    pairs = tuple((memory_id, score) for memory_id, score in json.loads(hits))
    named = tuple(json.loads(nodes)) if nodes else ()
    return Trace(recall_id, datetime.fromisoformat(at), session, profile, json.loads(cue), pairs, named, flow)


_COLUMNS = "id, parent, state, objective, created_at, updated_at, body"


class SqliteLoop:
    """Sessions of the loop over one connection."""

    _db: Connection

    def add_loop(self, namespace: str, row: LoopSessionRow) -> None:
        """Keep a new session; ``Conflict`` for an id that is taken."""
        with self._db.transaction():
            self._db.change(
                f"INSERT INTO loop_sessions (namespace, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (namespace, *_session_values(row)),
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


def _session_values(row: LoopSessionRow) -> tuple[Any, ...]:
    return tuple(stamp(value) if isinstance(value, datetime) else value for value in astuple(row))


def _row(
    session_id: str, parent: str | None, state: str, objective: str, created: str, updated: str, body: str
) -> LoopSessionRow:
    times = datetime.fromisoformat(created), datetime.fromisoformat(updated)
    return LoopSessionRow(session_id, parent, state, objective, *times, body)


_TOKEN_PATIENCE = 0.05
_TOKEN = "id, namespace, name, created_at, revoked_at, used_at"


class SqliteTokens:
    """Tokens over one connection."""

    _db: Connection

    def add_token(self, token: Token, digest: bytes) -> None:
        """Keep a new token, by the digest of its secret."""
        with self._db.transaction():
            self._db.change(
                "INSERT INTO tokens (id, namespace, name, created_at, digest) VALUES (?, ?, ?, ?, ?)",
                (token.id, token.namespace, token.name, stamp(token.created_at), digest),
            )

    def tokens(self) -> list[Token]:
        """All that were ever made, oldest first."""
        return [_token(*row) for row in self._db.run(f"SELECT {_TOKEN} FROM tokens ORDER BY created_at, id")]

    def any_token(self) -> bool:
        """Whether one was ever made."""
        return bool(self._db.run("SELECT 1 FROM tokens LIMIT 1"))

    def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """A token and the digest of its secret."""
        rows = self._db.run(f"SELECT {_TOKEN}, digest FROM tokens WHERE id = ?", (token_id,))
        return (_token(*rows[0][:-1]), rows[0][-1]) if rows else None

    def revoke_token(self, token_id: str, at: datetime) -> bool:
        """Revoke a token; whether there is one of that id that was not revoked yet."""
        with self._db.transaction():
            sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            return bool(self._db.change(sql, (stamp(at), token_id)))

    def use_token(self, token_id: str, at: datetime) -> None:
        """Note when a token was last used; ``Busy`` soon, rather than after the timeout."""
        with self._db.transaction(patience=_TOKEN_PATIENCE):
            self._db.change("UPDATE tokens SET used_at = ? WHERE id = ?", (stamp(at), token_id))


def _token(token_id: str, namespace: str, name: str | None, *times: Any) -> Token:
    created, revoked, used = (None if time is None else datetime.fromisoformat(time) for time in times)
    assert created is not None
    return Token(token_id, namespace, name, created, revoked, used)
