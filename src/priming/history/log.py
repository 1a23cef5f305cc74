"""What changed and when: supersede, forget, the log, purge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_source, check_time, check_uuid
from priming.core.bitemporal import split
from priming.errors import Conflict, ParamError
from priming.history.undo import restored_vectors
from priming.index.document import RULES, embedded_text
from priming.namespace import Namespace
from priming.remember.drafts import Draft, draft
from priming.remember.relink import relink_mentions
from priming.results import Receipt
from priming.sleep.quotations import gists_quoting, requote
from priming.storage.protocol import Changes
from priming.storage.rows import LinkRow, RowChange, VersionRow, record
from priming.types import MemoryRecord, Operation, Version

_NOT_SUPERSEDED = ("kind", "key")


def supersede(
    memory: Namespace, /, key: str, content: str, *, valid_from: datetime | None = None, **changes: Any
) -> MemoryRecord:
    """Give a memory a new version that holds from ``valid_from`` (now) on; the old one stays in its history.

    ``changes`` are arguments of ``remember``, except kind and key; what is not named stays as it was.

    Raises:
        NotFound: no such memory.
        ParamError: ``valid_from`` lies before the old version's own start.
        Conflict: the memory is forgotten.

    """
    for name in _NOT_SUPERSEDED:
        if name in changes:
            raise ParamError(
                name, changes[name], "stays the same over versions: remember a new memory instead"
            )
    boundary = None if valid_from is None else check_time("valid_from", valid_from)
    with memory.writing() as now:
        there = memory.find(key, now)
        if there.status != "active":
            raise Conflict(f"{there.key!r} is {there.status}: restore it first")
        old = current_version(memory, there)
        wanted = draft({**_arguments(old, there.kind), **changes, "content": content})
        at = max(now, old.recorded_at)  # a clock that was set back does not reorder versions
        rows, fresh = succeeding_rows(memory, old, wanted, at, boundary or _from_now(old, now, at))
        now, at_once = at, boundary is None or boundary <= at
        vector = memory.embedder.embed([embedded_text(wanted.title, wanted.content)])[0]
        rows += relink_mentions(memory, old, wanted, vector, now, at_once=at_once)
        told = requote(memory, old, wanted, vector, now) if at_once else []
        rows += told
        vectors = restored_vectors(memory, told)
        if vector.any():
            vectors[there.id, fresh.version] = vector.astype("<f4").tobytes()
        memory.write("supersede", now, rows, vectors=vectors)
        (row,) = memory.store.memories(memory.namespace, [there.id])
        return record(memory.namespace, row, fresh)


def _from_now(old: VersionRow, now: datetime, at: datetime) -> datetime:
    """From when a version holds that is told now: where the clock was set back, not before the one that it ends."""
    begun = old.valid_from or now
    return max(now, begun) if begun <= at else now


def succeeding_rows(
    memory: Namespace, old: VersionRow, wanted: Draft, now: datetime, start: datetime
) -> tuple[list[RowChange], VersionRow]:
    """What it takes to let ``wanted`` follow a version from ``start`` on: the changes, and the new version."""
    if old.valid_from is not None and start < old.valid_from:
        rule = (
            f"must be ≥ {old.valid_from.isoformat()}, the start of the version that it ends:"
            " give a time from then on, or undo what made that version"
        )
        raise ParamError("valid_from", start.isoformat(), rule)
    parts = split(old, boundary=start, at=now)
    last = max(one.revision for one in memory.store.versions(memory.namespace, old.id))
    ended = replace(parts.ended, revision=last + 1)
    fresh = replace(wanted.version(old.id, old.version + 1, now, start), revision=last + 2)
    return [RowChange(old, parts.retired), RowChange(None, ended), RowChange(None, fresh)], fresh


def current_version(memory: Namespace, there: MemoryRecord) -> VersionRow:
    """The version to supersede: the latest that is known now."""
    known = [one for one in memory.store.versions(memory.namespace, there.id) if one.retired_at is None]
    latest = max(known, key=lambda one: one.version)
    if latest.valid_to is not None:
        raise Conflict(
            f"{there.key!r} has no open version to supersede: it ended at {latest.valid_to.isoformat()}"
        )
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
    """The versions of a memory, oldest first, each in its latest row."""
    with memory.lock:
        there = memory.find(key)
        (row,) = memory.store.memories(memory.namespace, [there.id])
        latest = {version.version: version for version in memory.store.versions(memory.namespace, there.id)}
        return [record(memory.namespace, row, latest[number]) for number in sorted(latest)]


def forget(memory: Namespace, key: str) -> Operation:
    """Take a memory out of recall; ``undo`` brings it back."""
    with memory.writing() as now:
        there = memory.find(key, now)
        (row,) = memory.store.memories(memory.namespace, [there.id])
        if row.status == "forgotten":
            raise Conflict(f"{there.key!r} is forgotten already: undo that operation to bring it back")
        change = RowChange(row, replace(row, status="forgotten"))
        return memory.to_operation(memory.write("forget", now, [change]))


def purge(memory: Namespace, key: str) -> Receipt:
    """Erase a memory: its versions, vectors, links, index entries, log rows and recalls. Not undoable.

    Names that only this memory mentioned go with it. Backups and exports made before are not reached.
    """
    with memory.lock:
        with memory.writing() as now:
            memory_id, named = _known(memory, key, now)
            ids = {memory_id, *_orphans(memory, memory_id), *_orphans_of_the_log(memory, memory_id)}
            ids |= gists_quoting(memory, memory_id)
            changes = Changes(memory.namespace, memory.next_operation_id(now), "purge", now, actor="user")
            erased = memory.store.purge(changes, ids)
        memory.drop_snapshot()
        memory.store.flush()
        return Receipt(named, erased, changes.id)


def _known(memory: Namespace, key: str, now: datetime) -> tuple[str, str]:
    """Id and key of a memory, or of one that only the log still knows: an undo removed it."""
    if isinstance(key, str) and memory.store.operations(memory.namespace, memory_id=key, limit=1):
        return key, memory.store.names(memory.namespace, [key]).get(key, key)
    there = memory.find(key, now)
    return there.id, there.key


def _orphans_of_the_log(memory: Namespace, memory_id: str) -> set[str]:
    """Names that are gone from the store but not from the log, where only this memory was linked to them."""
    told = memory.store.operations(memory.namespace, memory_id=memory_id, limit=None)
    links = [c.row for one in told for c in one.rows if isinstance(c.row, LinkRow)]
    by_rule = {
        c.row.id for one in told for c in one.rows if isinstance(c.row, VersionRow) and c.row.source == RULES
    }
    mine = {link.target for link in links if link.source == memory_id} & by_rule
    held = {end for link in links if memory_id not in (link.source, link.target) for end in _ends(link)}
    return mine - held - memory.store.names(memory.namespace, mine).keys()


def _ends(link: LinkRow) -> tuple[str, str]:
    return link.source, link.target


def _orphans(memory: Namespace, memory_id: str) -> list[str]:
    """Entities made by rule that only this memory is linked to, or was before its text was superseded."""
    touching = memory.store.links(memory.namespace, [memory_id])
    told = memory.store.operations(memory.namespace, memory_id=memory_id, limit=None)
    touching += [change.row for one in told for change in one.rows if isinstance(change.row, LinkRow)]
    others = {link.target for link in touching if link.source == memory_id}
    found = memory.store.records(memory.namespace, list(others), memory.now())
    by_rule = [one for one in found.values() if one.kind == "entity" and one.source == RULES]
    held = {
        end
        for link in memory.store.links(memory.namespace, [one.id for one in by_rule])
        if memory_id not in (link.source, link.target)
        for end in (link.source, link.target)
    }
    return [one.id for one in by_rule if one.id not in held]


def log(
    memory: Namespace,
    *,
    key: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    source: str | None = None,
    limit: int = 100,
) -> list[Operation]:
    """Operations with what they changed, newest first; those from ``since`` on and before ``until``.

    ``source`` keeps what one tier of learning did: "conscious", "automatic" or "manual".
    """
    with memory.lock:
        memory.require_exists()
        operations = memory.store.operations(
            memory.namespace,
            memory_id=memory.find(key).id if key is not None else None,
            since=None if since is None else check_time("since", since),
            until=None if until is None else check_time("until", until),
            source=check_source(source),
            limit=check_count("limit", limit, 1, PAGE_LIMIT),
        )
        return [memory.to_operation(logged) for logged in operations]


def operation(memory: Namespace, operation_id: str) -> Operation | None:
    """The operation of an id with what it changed, or None: whether a call was carried out."""
    with memory.lock:
        logged = memory.store.operation(memory.namespace, check_uuid("operation_id", operation_id))
        return None if logged is None else memory.to_operation(logged)


@contextmanager
def identified(memory: Namespace, operation_id: str) -> Iterator[None]:
    """Let the first operation inside the block have an id of the caller's own, so that it can look for it later.

    Who lost the answer to a call finds out by ``log`` whether it was carried out, and need not do it twice.

    Raises:
        ParamError: it is no UUID.
        Conflict: raised inside the block by the verb, if there is an operation of that id already.

    """
    requested = check_uuid("operation_id", operation_id)
    with memory.lock:
        memory.requested_id = requested
        try:
            yield
        finally:
            memory.requested_id = None
