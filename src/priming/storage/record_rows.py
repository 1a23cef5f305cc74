"""What is stored outside the log, the same in every database: traces of recalls, sessions of the loop, and tokens."""

from __future__ import annotations

import json
from dataclasses import astuple
from datetime import datetime
from typing import Any

from priming.errors import Conflict
from priming.serialization import column_text, stamp
from priming.storage.protocol import Trace
from priming.storage.rows import LoopSessionRow
from priming.types import Token

TRACE_PATIENCE, TOKEN_PATIENCE = 0.25, 0.05
"""Seconds that a write which can be omitted waits for another writer."""
TRACE_COLUMNS = "recall_id, at, session, profile, cue, hits"
LOOP_SESSION_COLUMNS = "id, parent, state, objective, created_at, updated_at, body"
TOKEN_COLUMNS = "id, namespace, name, kind, created_at, revoked_at, used_at, expires_at"
SESSION_TABLES = (
    ("traces", "session", "at"),
    ("versions", "session", "recorded_at"),
    ("runs", "session", "started_at"),
    ("loop_sessions", "id", "created_at"),
    ("operations", "session", "at"),
)
"""The tables that name a session, with the column that does and that of its time."""


def day_of(at: datetime) -> str:
    """The day of a time, in UTC, as its stamp begins."""
    return stamp(at)[:10]


def trace_values(trace: Trace) -> tuple[Any, ...]:
    """The columns of a trace; nodes are stored only with a flow."""
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


def stored_trace(
    recall_id: str,
    at: str,
    session: str | None,
    profile: str,
    cue: str,
    hits: str,
    nodes: str | None = None,
    flow: bytes | None = None,
    counted: int = 0,
) -> Trace:
    """A recall from its columns."""
    pairs = tuple((memory_id, score) for memory_id, score in json.loads(hits))
    node_ids = tuple(json.loads(nodes)) if nodes else ()
    when = datetime.fromisoformat(at)
    return Trace(recall_id, when, session, profile, json.loads(cue), pairs, node_ids, flow, bool(counted))


def loop_session_values(row: LoopSessionRow) -> tuple[Any, ...]:
    """The columns of a session of the loop."""
    return tuple(stamp(value) if isinstance(value, datetime) else value for value in astuple(row))


def stored_loop_session(
    session_id: str, parent: str | None, state: str, objective: str, created: str, updated: str, body: str
) -> LoopSessionRow:
    """A session of the loop from its columns."""
    times = datetime.fromisoformat(created), datetime.fromisoformat(updated)
    return LoopSessionRow(session_id, parent, state, objective, *times, body)


def stored_token(token_id: str, namespace: str, name: str | None, kind: str, *times: Any) -> Token:
    """A token from its columns."""
    created, revoked, used, expires = (
        None if time is None else datetime.fromisoformat(time) for time in times
    )
    assert created is not None
    return Token(token_id, namespace, name, created, revoked, used, kind, expires)


def read_only_refusal(namespace: str) -> Conflict:
    """Why a namespace cannot be written to."""
    return Conflict(
        f"the namespace {namespace!r} is read-only:"
        " 'priming token read-only NAMESPACE --off' accepts writes again"
    )
