"""Versions and the log: history, forget, and operations by time, subject and id; light to import."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from priming.core.arguments.checks import (
    PAGE_LIMIT,
    check_count,
    check_name,
    check_source,
    check_time,
    check_uuid,
)
from priming.errors import Conflict
from priming.namespace import Namespace
from priming.storage.questions import operation_of
from priming.storage.rows import MemoryRow, RowChange, VersionRow, record_among
from priming.types import Operation, Version


def history(memory: Namespace, key: str) -> list[Version]:
    """Show the versions of a memory, oldest first.

    Each has when it was true, and when it was stored and superseded.
    """
    with memory.lock:
        memory_id = memory.find(key).id
        (row,) = memory.store.rows(memory.namespace, MemoryRow, ids=[memory_id])
        versions = memory.store.rows(memory.namespace, VersionRow, ids=[memory_id])
        latest = {version.version: version for version in versions}
        return [record_among(memory.namespace, row, latest[number], versions) for number in sorted(latest)]


def forget(memory: Namespace, key: str, *, reason: str | None = None) -> Operation:
    """Remove a memory from recall. Undo restores it."""
    why = check_name("reason", reason)
    with memory.changing() as now:
        target = memory.find(key, now)
        (row,) = memory.store.rows(memory.namespace, MemoryRow, ids=[target.id])
        if row.status == "forgotten":
            raise Conflict(f"{target.key!r} is forgotten already: undo that operation to restore it")
        change = RowChange(row, replace(row, status="forgotten"))
        return memory.to_operation(memory.write("forget", now, [change], reason=why))


def log(
    memory: Namespace,
    *,
    key: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    source: str | None = None,
    limit: int = 100,
) -> list[Operation]:
    """Return operations with their changes, newest first: from ``since`` on and before ``until``.

    ``source`` selects a tier of learning: "conscious", "automatic" or "manual".
    """
    with memory.lock:
        operations = memory.store.operations(
            memory.namespace,
            memory_id=memory.find(key).id if key is not None else None,
            since=None if since is None else check_time("since", since),
            until=None if until is None else check_time("until", until),
            source=check_source(source),
            limit=check_count("limit", limit, 1, PAGE_LIMIT),
        )
        return memory.listed(memory.to_operation(logged) for logged in operations)


def operation(memory: Namespace, operation_id: str) -> Operation | None:
    """Return the operation of an id with its changes, or None: this shows whether a call was carried out."""
    with memory.lock:
        logged = operation_of(memory.store, memory.namespace, check_uuid("operation_id", operation_id))
        return None if logged is None else memory.to_operation(logged)
