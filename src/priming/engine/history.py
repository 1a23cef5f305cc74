"""What changed and when: supersede, forget, the log, purge."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.checks import PAGE_LIMIT, check_count, check_source, check_time
from priming.core.bitemporal import split
from priming.engine.document import RULES, embedded_text
from priming.engine.draft import Draft, draft
from priming.engine.opened import Opened
from priming.engine.restating import mentions_anew
from priming.engine.sleep.quoting import quoted_anew, quoting
from priming.engine.undo import vectors_again
from priming.errors import Conflict, ParamError
from priming.store.protocol import Changes
from priming.store.rows import LinkRow, RowChange, VersionRow, record
from priming.types import MemoryRecord, Operation, Receipt, Version

_NOT_SUPERSEDED = ("kind", "key")


def supersede(
    opened: Opened, key: str, content: str, *, valid_from: datetime | None, changes: dict[str, Any]
) -> MemoryRecord:
    """Retire the present version; record its copy ending at the boundary, and the new version from there."""
    for name in _NOT_SUPERSEDED:
        if name in changes:
            raise ParamError(
                name, changes[name], "stays the same over versions: remember a new memory instead"
            )
    boundary = None if valid_from is None else check_time("valid_from", valid_from)
    with opened.writing() as now:
        there = opened.find(key, now)
        if there.status != "active":
            raise Conflict(f"{there.key!r} is {there.status}: restore it first")
        old = open_version(opened, there)
        wanted = draft({**_arguments(old, there.kind), **changes, "content": content})
        at = max(now, old.recorded_at)  # a clock that was set back does not reorder versions
        rows, fresh = succession(opened, old, wanted, at, boundary or _from_now(old, now, at))
        now, at_once = at, boundary is None or boundary <= at
        vector = opened.embedder.embed([embedded_text(wanted.title, wanted.content)])[0]
        rows += mentions_anew(opened, old, wanted, vector, now, at_once=at_once)
        told = quoted_anew(opened, old, wanted, vector, now) if at_once else []
        rows += told
        vectors = vectors_again(opened, told)
        if vector.any():
            vectors[there.id, fresh.version] = vector.astype("<f4").tobytes()
        opened.write("supersede", now, rows, vectors=vectors)
        (memory,) = opened.store.memories(opened.namespace, [there.id])
        return record(opened.namespace, memory, fresh)


def _from_now(old: VersionRow, now: datetime, at: datetime) -> datetime:
    """From when a version holds that is told now: where the clock was set back, not before the one that it ends."""
    begun = old.valid_from or now
    return max(now, begun) if begun <= at else now


def succession(
    opened: Opened, old: VersionRow, wanted: Draft, now: datetime, start: datetime
) -> tuple[list[RowChange], VersionRow]:
    """What it takes to let ``wanted`` follow a version from ``start`` on: the changes, and the new version."""
    if old.valid_from is not None and start < old.valid_from:
        rule = (
            f"must be ≥ {old.valid_from.isoformat()}, the start of the version that it ends:"
            " give a time from then on, or undo what made that version"
        )
        raise ParamError("valid_from", start.isoformat(), rule)
    parts = split(old, boundary=start, at=now)
    last = max(one.revision for one in opened.store.versions(opened.namespace, old.id))
    ended = replace(parts.ended, revision=last + 1)
    fresh = replace(wanted.version(old.id, old.version + 1, now, start), revision=last + 2)
    return [RowChange(old, parts.retired), RowChange(None, ended), RowChange(None, fresh)], fresh


def open_version(opened: Opened, there: MemoryRecord) -> VersionRow:
    """The version to supersede: the latest that is known now."""
    known = [one for one in opened.store.versions(opened.namespace, there.id) if one.retired_at is None]
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


def history(opened: Opened, key: str) -> list[Version]:
    """Each version once, in its latest row, oldest version first."""
    there = opened.find(key)
    (memory,) = opened.store.memories(opened.namespace, [there.id])
    latest = {one.version: one for one in opened.store.versions(opened.namespace, there.id)}
    return [record(opened.namespace, memory, latest[number]) for number in sorted(latest)]


def forget(opened: Opened, key: str) -> Operation:
    """Take a memory out of recall; undoable."""
    with opened.writing() as now:
        there = opened.find(key, now)
        (memory,) = opened.store.memories(opened.namespace, [there.id])
        if memory.status == "forgotten":
            raise Conflict(f"{there.key!r} is forgotten already: undo that operation to bring it back")
        change = RowChange(memory, replace(memory, status="forgotten"))
        return opened.operation(opened.write("forget", now, [change]))


def purge(opened: Opened, key: str) -> Receipt:
    """Erase a memory, what nights quoted of it, and the names that nothing else mentions; not undoable."""
    with opened.lock:
        with opened.writing() as now:
            memory_id, named = _known(opened, key, now)
            ids = {memory_id, *_orphans(opened, memory_id), *_orphans_of_the_log(opened, memory_id)}
            ids |= quoting(opened, memory_id)
            changes = Changes(opened.namespace, opened.operation_id(now), "purge", now, actor="user")
            erased = opened.store.purge(changes, ids)
        opened.drop_snapshot()
        opened.store.flush()
        return Receipt(named, erased, changes.id)


def _known(opened: Opened, key: str, now: datetime) -> tuple[str, str]:
    """Id and key of a memory, or of one that only the log still knows: an undo removed it."""
    if isinstance(key, str) and opened.store.operations(opened.namespace, memory_id=key, limit=1):
        return key, opened.store.names(opened.namespace, [key]).get(key, key)
    there = opened.find(key, now)
    return there.id, there.key


def _orphans_of_the_log(opened: Opened, memory_id: str) -> set[str]:
    """Names that are gone from the store but not from the log, where only this memory was linked to them."""
    told = opened.store.operations(opened.namespace, memory_id=memory_id, limit=None)
    links = [c.row for one in told for c in one.rows if isinstance(c.row, LinkRow)]
    by_rule = {
        c.row.id for one in told for c in one.rows if isinstance(c.row, VersionRow) and c.row.source == RULES
    }
    mine = {link.target for link in links if link.source == memory_id} & by_rule
    held = {end for link in links if memory_id not in (link.source, link.target) for end in _ends(link)}
    return mine - held - opened.store.names(opened.namespace, mine).keys()


def _ends(link: LinkRow) -> tuple[str, str]:
    return link.source, link.target


def _orphans(opened: Opened, memory_id: str) -> list[str]:
    """Entities made by rule that only this memory is linked to, or was before its text was superseded."""
    touching = opened.store.links(opened.namespace, [memory_id])
    told = opened.store.operations(opened.namespace, memory_id=memory_id, limit=None)
    touching += [change.row for one in told for change in one.rows if isinstance(change.row, LinkRow)]
    others = {link.target for link in touching if link.source == memory_id}
    found = opened.store.records(opened.namespace, list(others), opened.now())
    by_rule = [one for one in found.values() if one.kind == "entity" and one.source == RULES]
    held = {
        end
        for link in opened.store.links(opened.namespace, [one.id for one in by_rule])
        if memory_id not in (link.source, link.target)
        for end in (link.source, link.target)
    }
    return [one.id for one in by_rule if one.id not in held]


def log(
    opened: Opened,
    *,
    key: str | None,
    since: datetime | None,
    until: datetime | None,
    source: str | None,
    limit: int,
) -> list[Operation]:
    """Operations, newest first."""
    opened.readable()
    found = opened.store.operations(
        opened.namespace,
        memory_id=opened.find(key).id if key is not None else None,
        since=None if since is None else check_time("since", since),
        until=None if until is None else check_time("until", until),
        source=check_source(source),
        limit=check_count("limit", limit, 1, PAGE_LIMIT),
    )
    return [opened.operation(one) for one in found]
