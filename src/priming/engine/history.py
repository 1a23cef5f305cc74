"""What changed and when: supersede, forget, the log, undo, purge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.core.bitemporal import split
from priming.engine.document import RULES, SESSION, TERM, embedded_text
from priming.engine.draft import MOST, Draft, count, draft, text_
from priming.engine.ids import gist_of, uuid7
from priming.engine.opened import Opened
from priming.errors import Conflict, NotFound, ParamError
from priming.store.protocol import Changes, Logged, VersionKey
from priming.store.rows import LinkRow, MemoryRow, Row, RowChange, VersionRow, record
from priming.types import MemoryRecord, Operation, Receipt, Version, aware

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
    boundary = None if valid_from is None else aware("valid_from", valid_from)
    with opened.writing() as now:
        there = opened.find(key, now)
        if there.status != "active":
            raise Conflict(f"{there.key!r} is {there.status}: undo that first")
        old = _open_version(opened, there)
        wanted = draft({**_arguments(old, there.kind), **changes, "content": content})
        now = max(now, old.recorded_at)  # a clock that was set back does not reorder versions
        start = boundary or now
        if old.valid_from is not None and start < old.valid_from:
            rule = f"must be ≥ {old.valid_from.isoformat()}, the start of the version that it ends"
            raise ParamError("valid_from", start.isoformat(), rule)
        parts = split(old, boundary=start, at=now)
        last = max(one.revision for one in opened.store.versions(opened.namespace, there.id))
        ended = replace(parts.ended, revision=last + 1)
        fresh = replace(_version(there.id, old.version + 1, wanted, now, start), revision=last + 2)
        vector = opened.embedder.embed([embedded_text(wanted.title, wanted.content)])[0]
        vectors = {(there.id, fresh.version): vector.astype("<f4").tobytes()} if vector.any() else {}
        rows = [RowChange(old, parts.retired), RowChange(None, ended), RowChange(None, fresh)]
        opened.write("supersede", now, rows, vectors=vectors)
        (memory,) = opened.store.memories(opened.namespace, [there.id])
        return record(opened.namespace, memory, fresh)


def _open_version(opened: Opened, there: MemoryRecord) -> VersionRow:
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


def _version(memory_id: str, number: int, one: Draft, now: datetime, start: datetime) -> VersionRow:
    return VersionRow(
        id=memory_id,
        version=number,
        recorded_at=now,
        valid_from=start,
        content=one.content,
        gist=gist_of(one.content),
        digest=one.digest,
        heading=one.heading,
        session=one.session,
        speaker=one.speaker,
        when=one.when,
        tags=one.tags,
        metadata=one.metadata,
        source=one.source,
        trust=one.trust,
        importance=one.importance,
        outcome=one.outcome,
        occurred_at=one.occurred_at,
    )


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
    """Erase a memory, and the names that nothing else mentions; not undoable."""
    with opened.lock:
        with opened.writing() as now:
            memory_id, named = _known(opened, key, now)
            ids = {memory_id, *_orphans(opened, memory_id), *_orphans_of_the_log(opened, memory_id)}
            changes = Changes(opened.namespace, uuid7(now), "purge", now, actor="user")
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
    """Entities made by rule that only this memory is linked to."""
    touching = opened.store.links(opened.namespace, [memory_id])
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


def log(opened: Opened, *, key: str | None, since: datetime | None, limit: int) -> list[Operation]:
    """Operations, newest first."""
    opened.readable()
    memory_id = opened.find(key).id if key is not None else None
    at = None if since is None else aware("since", since)
    limit = count("limit", limit, 1, MOST)
    found = opened.store.operations(opened.namespace, memory_id=memory_id, since=at, limit=limit)
    return [opened.operation(one) for one in found]


def undo(opened: Opened, operation_id: str) -> Operation:
    """Apply the inverse of an operation, as an operation of its own."""
    with opened.writing() as now:
        opened.readable()
        done = opened.store.operation(opened.namespace, text_("operation_id", operation_id))
        if done is None:
            raise NotFound(f"there is no operation {operation_id!r} in {opened.namespace!r}: see the log")
        if done.undone_by is not None:
            raise Conflict(
                f"operation {operation_id} is undone already, by {done.undone_by}: undo that to redo it"
            )
        if done.kind == "purge":
            raise Conflict(f"operation {operation_id} is a purge: what it erased is gone")
        rows = list(_inverse(opened, done))
        if not rows:
            raise Conflict(f"operation {operation_id} changed nothing that is still there to take back")
        _refuse_taken_keys(opened, done, rows)
        vectors = _vectors_again(opened, rows)
        logged = opened.write(
            "undo", now, rows, vectors=vectors, undoes=done.id, message=f"undid {_a(done.kind)}"
        )
        return opened.operation(logged)


def _inverse(opened: Opened, done: Logged) -> Iterable[RowChange]:
    """The changes back, each from the row as it is now; ``Conflict`` where a later operation stands in the way."""
    namespace = opened.namespace
    made = {c.row.id for c in done.rows if c.before is None and isinstance(c.row, MemoryRow)}
    shared = _shared(opened, done, made)
    gone = made - shared
    for change in done.rows:
        back = change.inverse()
        row = change.row
        if isinstance(row, LinkRow) and {row.source, row.target} & gone:
            continue
        if not isinstance(row, LinkRow) and change.before is None and row.id in shared:
            continue
        there = opened.store.present(namespace, row)
        if back.after is None and isinstance(row, LinkRow):
            if there is not None:
                yield RowChange(there, None)
        elif _blocked(change, there):
            raise Conflict(_standing_in_the_way(opened, done, row, "changed the same memory"))
        else:
            yield RowChange(there, back.after)
    # Removals are applied last to first: the links of what goes must go before it.
    for link in opened.store.links(namespace, gone) if gone else ():
        yield RowChange(link, None)


def _blocked(change: RowChange, there: Row | None) -> bool:
    if isinstance(change.row, MemoryRow) and change.before is None:
        return there is None
    return there != change.after


def _shared(opened: Opened, done: Logged, made: set[str]) -> set[str]:
    """Entities that an operation made by rule, and that others have linked since: they stay."""
    versions = [change.after for change in done.rows if isinstance(change.after, VersionRow)]
    names = {
        one.id
        for one in versions
        if one.id in made and one.source == RULES and one.metadata.get("form") in _FORMS
    }
    own = {_identity(change.row) for change in done.rows if isinstance(change.row, LinkRow)}
    return {
        end
        for link in opened.store.links(opened.namespace, names)
        if _identity(link) not in own and not made.issuperset(_ends(link))
        for end in _ends(link)
        if end in names
    }


_FORMS = (SESSION, TERM, "name", "file", "identifier", "quoted", "handle")


def _refuse_taken_keys(opened: Opened, done: Logged, rows: Iterable[RowChange]) -> None:
    """``Conflict`` where the key of a memory that would come back now belongs to another."""
    back = {c.row.key: c.row.id for c in rows if c.before is None and isinstance(c.row, MemoryRow)}
    for key, holder in opened.store.keys(opened.namespace, back).items():
        if holder != back[key]:
            (there,) = opened.store.memories(opened.namespace, [holder])
            raise Conflict(_standing_in_the_way(opened, done, there, f"took the key {key!r}"))


def _standing_in_the_way(opened: Opened, done: Logged, row: Row, what: str) -> str:
    subject = row.source if isinstance(row, LinkRow) else row.id
    later = [
        one
        for one in opened.store.operations(opened.namespace, memory_id=subject, limit=None)
        if one.number > done.number
        and one.undone_by is None
        and any(_identity(change.row) == _identity(row) for change in one.rows)
    ]
    chosen = next((one for one in later if one.kind != "undo"), later[0] if later else None)
    which = f"operation {chosen.id} ({chosen.kind})" if chosen else "a later operation"
    return f"operation {done.id} cannot be undone: {which} {what} since: undo that first"


def _identity(row: Row) -> tuple[str, ...]:
    if isinstance(row, LinkRow):
        return row.source, row.target, row.relation
    return (row.id, str(row.revision)) if isinstance(row, VersionRow) else (row.id,)


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _vectors_again(opened: Opened, rows: Iterable[RowChange]) -> dict[VersionKey, bytes]:
    """Vectors are not in the log: a version that comes back is embedded again."""
    back = [
        c.after
        for c in rows
        if c.before is None and isinstance(c.after, VersionRow) and c.after.source != RULES
    ]
    texts = [embedded_text(one.heading or one.speaker, one.content) for one in back]
    if not back:
        return {}
    vectors = opened.embedder.embed(texts)
    return {
        (one.id, one.version): vector.astype("<f4").tobytes()
        for one, vector in zip(back, vectors, strict=True)
        if vector.any()
    }
