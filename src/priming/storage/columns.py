"""The columns of the tables, the same in every database, and what is stored as their values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from priming.config.words import RECALLED, STATUSES, VERDICTS
from priming.serialization import column_names, column_text, encode_row, from_columns, stamp
from priming.storage.protocol import TokenRow, Trace
from priming.storage.rows import (
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    R,
    Row,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    record,
)
from priming.types import MemoryRecord, Token

TABLES = (
    "namespaces",
    "memories",
    "versions",
    "generations",
    "vectors",
    "links",
    "verdicts",
    "pairs",
    "runs",
    "weights",
    "relations",
    "operations",
    "changes",
    "touched",
    "traces",
    "activations",
    "loop_sessions",
)
"""All tables but tokens and what is derived, in an order in which they can be filled."""
MEMORY_COLUMNS = column_names(MemoryRow)
VERSION_COLUMNS = tuple("predicates" if name == "when" else name for name in column_names(VersionRow))[1:]
LINK_COLUMNS = column_names(LinkRow)[2:]
VERDICT_COLUMNS = column_names(VerdictRow)[1:]
TRACE_COLUMNS = ("recall_id", "at", "session", "profile", "cue", "hits")
LOOP_SESSION_COLUMNS = ("id", "parent", "state", "objective", "created_at", "updated_at", "body")
TOKEN_COLUMNS = ("id", "namespace", "name", "kind", "created_at", "revoked_at", "used_at", "expires_at")
AS_JSON: dict[type[Row], tuple[str, ...]] = {
    MemoryRow: ("recent",),
    VersionRow: ("when", "tags", "metadata"),
    VerdictRow: ("cue",),
    PairRow: ("times",),
    RunRow: ("shown",),
    WeightsRow: ("weights",),
}
"""The fields whose columns hold JSON; NULL means an empty value."""
_KIND, _STATUS = MEMORY_COLUMNS.index("kind"), MEMORY_COLUMNS.index("status")
_LISTS = ("tags", "times", "shown", "recent")
_JSON: dict[type[Any], tuple[tuple[int, bool], ...]] = {
    cls: tuple((i, name in _LISTS) for i, name in enumerate(column_names(cls)) if name in AS_JSON[cls])
    for cls in AS_JSON
}

_FIRST = "SELECT min(w.recorded_at) FROM versions w WHERE w.namespace = v.namespace AND w.memory = v.memory"
RECORDED_AT = f"CASE v.revision WHEN 1 THEN v.recorded_at ELSE ({_FIRST} AND w.version = v.version) END"
"""When a version was stored: in its first row."""
RETIRED_AT = f"CASE WHEN v.valid_to IS NOT NULL THEN ({_FIRST} AND w.version = v.version + 1) END"
"""When a version was superseded: in the first row of the next."""


def encoded(row: Row) -> dict[str, Any]:
    """The fields of a row as its columns store them."""
    values = encode_row(row)
    for name in AS_JSON.get(type(row), ()):
        values[name] = column_text(values[name])
    return values


def stored(cls: type[R], row: Sequence[Any]) -> R:
    """A row from its columns, of which some hold JSON; ``ValueError`` and the like for damaged ones."""
    values = list(row)
    for i, is_list in _JSON.get(cls, ()):
        text = values[i]
        if text is None or text == ("[]" if is_list else "{}"):
            values[i] = [] if is_list else {}
        else:
            values[i] = json.loads(text)
    if cls is MemoryRow and not (values[_KIND] in RECALLED and values[_STATUS] in STATUSES):
        raise ValueError(f"kind {values[_KIND]!r}, status {values[_STATUS]!r}")
    if cls is VerdictRow and values[1] not in VERDICTS:
        raise ValueError(f"verdict {values[1]!r}")
    return from_columns(cls, values)


def stored_record(namespace: str, row: Sequence[Any]) -> MemoryRecord:
    """A memory from its columns, followed by those of one of its versions."""
    cut = len(MEMORY_COLUMNS)
    return record(namespace, stored(MemoryRow, row[:cut]), stored(VersionRow, row[cut:]))


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


def token_values(row: TokenRow) -> dict[str, Any]:
    """The columns of a token, by name."""
    token = row.token
    times = (token.created_at, token.revoked_at, token.used_at, token.expires_at)
    stamps = (None if time is None else stamp(time) for time in times)
    values = (token.id, token.namespace, token.name, token.kind, *stamps)
    return dict(zip(TOKEN_COLUMNS, values, strict=True)) | {"digest": row.digest}


def stored_token(
    token_id: str, namespace: str, name: str | None, kind: str, *columns: Any, digest: bytes = b""
) -> TokenRow:
    """A token from its columns."""
    created, revoked, used, expires = (
        None if time is None else datetime.fromisoformat(time) for time in columns
    )
    assert created is not None
    token = Token(token_id, namespace, name, created, revoked, used, kind, expires)
    return TokenRow(token, bytes(digest))
