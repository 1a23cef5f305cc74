"""Versions and the log: supersede, history, forget, and queries of operations."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.core.arguments.checks import (
    PAGE_LIMIT,
    check_count,
    check_name,
    check_source,
    check_time,
    check_uuid,
)
from priming.core.bitemporal import split
from priming.errors import Conflict, ParamError
from priming.history.undo import restored_vectors
from priming.index.document import packed_vectors, vectors_of
from priming.namespace import Namespace
from priming.remember.drafts import Draft, draft
from priming.remember.relink import relink_mentions
from priming.sleep.quotations import requote
from priming.storage.rows import RowChange, VersionRow, record, record_among
from priming.types import MemoryRecord, Operation, Version

_NOT_SUPERSEDED = ("kind", "key")


def supersede(
    memory: Namespace, /, key: str, content: str, *, valid_from: datetime | None = None, **changes: Any
) -> MemoryRecord:
    """Give a memory a new version, valid from ``valid_from`` (now) on; the old version stays in its history.

    ``changes`` are arguments of ``remember`` except kind and key; the other arguments keep their values.

    Raises:
        NotFound: no such memory.
        ParamError: ``valid_from`` is before the start of the old version.
        Conflict: the memory is not active.

    """
    for name in _NOT_SUPERSEDED:
        if name in changes:
            raise ParamError(
                name, changes[name], "stays the same over versions: remember a new memory instead"
            )
    boundary = None if valid_from is None else check_time("valid_from", valid_from)
    with memory.changing() as now:
        current = memory.find(key, now)
        if current.status != "active":
            raise Conflict(f"{current.key!r} is {current.status}: restore it first")
        old = current_version(memory, current)
        new = draft({**_arguments(old, current.kind), **changes, "content": content})
        at = max(now, old.recorded_at)  # a clock that was set back does not reorder versions
        rows, version = succeeding_rows(memory, old, new, at, boundary or _default_start(old, now, at))
        at_once = boundary is None or boundary <= at
        (vectors,) = vectors_of(memory.embedder, [new])
        rows += relink_mentions(memory, old, new, vectors.whole, at, at_once=at_once)
        gists = requote(memory, old, new, vectors.whole, at) if at_once else []
        rows += gists
        stored = restored_vectors(memory, gists)
        stored |= packed_vectors([(current.id, version.version)], [vectors])
        memory.write("supersede", at, rows, vectors=stored)
        (row,) = memory.store.memories(memory.namespace, [current.id])
        return record(memory.namespace, row, version)


def _default_start(old: VersionRow, now: datetime, at: datetime) -> datetime:
    """The start of a version without ``valid_from``: now, or the old version's start if the clock was set back."""
    start = old.valid_from or now
    return max(now, start) if start <= at else now


def succeeding_rows(
    memory: Namespace, old: VersionRow, new: Draft, now: datetime, start: datetime
) -> tuple[list[RowChange], VersionRow]:
    """The changes that let ``new`` follow the version ``old`` from ``start`` on, and the new version."""
    if old.valid_from is not None and start < old.valid_from:
        rule = (
            f"must be ≥ {old.valid_from.isoformat()}, the start of the version that it ends:"
            " give a time from then on, or undo what made that version"
        )
        raise ParamError("valid_from", start.isoformat(), rule)
    parts = split(old, boundary=start, at=now)
    last = max(version.revision for version in memory.store.versions(memory.namespace, old.id))
    ended = replace(parts.ended, revision=last + 1)
    version = replace(new.version(old.id, old.version + 1, now, start), revision=last + 2)
    changes = [RowChange(old, parts.retired), RowChange(None, ended), RowChange(None, version)]
    return changes, version


def current_version(memory: Namespace, memory_record: MemoryRecord) -> VersionRow:
    """The version of a memory that a new version supersedes: the latest one, if it is open."""
    versions = memory.store.versions(memory.namespace, memory_record.id)
    latest = max(
        (version for version in versions if version.retired_at is None), key=lambda version: version.version
    )
    if latest.valid_to is not None:
        end = latest.valid_to.isoformat()
        raise Conflict(f"{memory_record.key!r} has no open version to supersede: it ended at {end}")
    return latest


def _arguments(old: VersionRow, kind: str) -> dict[str, Any]:
    names = [
        "heading",
        "session",
        "speaker",
        "occurred_at",
        "tags",
        "metadata",
        "when",
        "importance",
        "outcome",
        "source",
        "trust",
    ]
    return {"kind": kind, **{name: getattr(old, name) for name in names}}


def history(memory: Namespace, key: str) -> list[Version]:
    """Return the versions of a memory, oldest first: when each was true, and when it was stored and superseded."""
    with memory.lock:
        memory_id = memory.find(key).id
        (row,) = memory.store.memories(memory.namespace, [memory_id])
        versions = memory.store.versions(memory.namespace, memory_id)
        latest = {version.version: version for version in versions}
        return [record_among(memory.namespace, row, latest[number], versions) for number in sorted(latest)]


def forget(memory: Namespace, key: str, *, reason: str | None = None) -> Operation:
    """Take a memory out of recall; ``undo`` restores it. ``reason`` is for the log."""
    why = check_name("reason", reason)
    with memory.changing() as now:
        target = memory.find(key, now)
        (row,) = memory.store.memories(memory.namespace, [target.id])
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
        logged = memory.store.operation(memory.namespace, check_uuid("operation_id", operation_id))
        return None if logged is None else memory.to_operation(logged)
