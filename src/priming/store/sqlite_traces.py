"""The SQLite store's traces of recalls: kept for a while, the latest with their flow."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from priming.serialization import column_text, stamp
from priming.store.connection import Connection
from priming.store.protocol import Trace

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
