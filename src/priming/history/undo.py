"""Undo and rollback: operations are reversed by the inverse of each row change, as a further operation of the log.

Undoing a remember removes the memory with every link to it, also later ones. A name that it introduced stays
where other operations have linked to it since. A memory that was superseded since is a ``Conflict``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from priming.config.words import BY_VERDICT, EMBEDDER_CHOICE, FOLLOW, NIGHT, STAGES
from priming.core.arguments.checks import check_source, check_text, check_time
from priming.errors import Conflict, ParamError
from priming.history.inverse import ChangeSet, Superseded, refaded, taken_back
from priming.history.log import LAST, followed_since, last_operation, newest_first
from priming.history.weights_over_time import MANUAL
from priming.index.document import RULES, SESSION, TERM, packed_vectors, vectors_of
from priming.namespace import Namespace
from priming.storage.protocol import Logged, VersionKey
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    RelationRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    ends_of,
    identity,
)
from priming.text.name_forms.forms import FORMS
from priming.text.quotation import count_text
from priming.types import Operation

_VERDICTS = ("feedback", "done")
"""Operations by which what a run wrote can prove useful."""
_FORMS = (SESSION, TERM, *FORMS)
_NOUNS = {WeightsRow: "weights", RelationRow: "relation", PairRow: "pair", RunRow: "run"}
"""What a message calls a row; others are a memory's."""
_PURGE = "purge"
_INSTANT = timedelta(microseconds=1)


def undo(memory: Namespace, operation_id: str) -> Operation:
    """Undo an operation. The undo is an operation too, and can be undone.

    Undoing the last stage of a night of sleep undoes the whole night, and undoing the end of an import all of it.
    For ``operation_id``, ``last`` means the newest operation that is no undo, not undone, and no run's start or end;
    with a token, of those that it wrote.

    Raises:
        NotFound: no such operation.
        Conflict: the operation is undone already, is a purge, or a later operation set the same anew.

    """
    with memory.changing() as now:
        done = _undoable(memory, last_operation(memory).id if operation_id == LAST else operation_id)
        changes, together = ChangeSet(memory), [*_settled_by(memory, done), *_whole(memory, done)]
        ids = [logged.id for logged in together]
        for logged in together:
            add_inverse(memory, changes, logged, together=ids)
        rows = changes.changes()
        if not rows:
            raise Conflict(f"operation {done.id} changed nothing that still exists: undo another of the log")
        vectors = restored_vectors(memory, rows)
        logged = memory.write("undo", now, rows, vectors=vectors, undoes=ids, message=_message(together))
        return memory.to_operation(logged)


def _undoable(memory: Namespace, operation_id: str) -> Logged:
    """Return the operation of an id, unless it cannot be undone at all."""
    done = memory.operation_of(check_text("operation_id", operation_id))
    if done is None:
        raise memory.not_found(f"there is no operation {operation_id!r} in {memory.namespace!r}: see the log")
    if done.undone_by is not None:
        raise Conflict(
            f"operation {operation_id} is undone already, by {done.undone_by}: undo that to redo it"
        )
    if done.source == EMBEDDER_CHOICE:
        raise Conflict(
            f"operation {operation_id} chose an embedder: priming reembed --roll-back returns to the former one"
        )
    if done.kind == _PURGE:
        raise Conflict(f"operation {operation_id} is a purge: what it erased is gone")
    return done


def _whole(memory: Namespace, done: Logged) -> list[Logged]:
    """Return the operation; if it ends a night or an import, all operations of that not yet undone, newest first."""
    if done.kind == FOLLOW:
        between = memory.operations(after=followed_since(done), before=done.number)
        own = [logged for logged in between if logged.via == done.via and logged.undone_by is None]
        return [done, *reversed(own)]  # those after a number come oldest first
    if done.source is None or not done.source.startswith(NIGHT) or done.reason not in STAGES:
        return [done]
    night = memory.operations(source=done.source)
    return [logged for logged in night if logged.undone_by is None] if night[0].id == done.id else [done]


def _settled_by(memory: Namespace, done: Logged) -> list[Logged]:
    """Return the operations that settled runs by a verdict on what they wrote, newest first: they go back with it."""
    if done.kind not in _VERDICTS:
        return []
    later = memory.operations(since=done.at, until=done.at + _INSTANT)
    own = f"{BY_VERDICT}{done.id}"
    return [logged for logged in later if logged.undone_by is None and (logged.reason or "").endswith(own)]


def _message(together: Sequence[Logged]) -> str:
    if together[0].kind == FOLLOW:
        return f"undid an import: {count_text(len(together) - 1, 'operation')}"
    kind = together[-1].kind
    text = f"undid {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    if len(together) == 1:
        return text
    if kind in _VERDICTS:
        return f"{text}, and what it settled: {count_text(len(together) - 1, 'run')}"
    return f"{text}: all {len(together)} stages of the night"


def add_inverse(
    memory: Namespace,
    changes: ChangeSet,
    done: Logged,
    *,
    together: Collection[str] = (),
    lenient: bool = True,
) -> None:
    """Add the inverse of an operation to ``changes``; ``Conflict`` if a later operation prevents it.

    ``together`` are the ids of the operations that are undone with it. Steps of weights and counts are taken back
    whatever came after; what was set by hand is not taken back under what was set by hand later. A link that the
    operation created is removed even if its weight has moved since; unless ``lenient``, not if it was set by hand.
    """
    created = {c.row.id for c in done.rows if c.before is None and isinstance(c.row, MemoryRow)}
    shared = _shared_entities(changes, done, created)
    removed = created - shared
    # Rows that refer to a removed memory are removed with it, also those that are newer than the operation.
    for row in changes.rows_about(removed) if removed else ():
        changes.add(RowChange(row, None))
    for change in reversed(done.rows):
        row = change.row
        if isinstance(row, (LinkRow, VerdictRow, PairRow)) and removed.intersection(change.ends):
            continue
        if isinstance(row, (MemoryRow, VersionRow)) and change.before is None and row.id in shared:
            continue
        if isinstance(row, RelationRow) and not change.before and _is_used_elsewhere(changes, done, row):
            continue
        current = changes.current(row)
        by_hand = done.source == MANUAL if change.before else not lenient
        if isinstance(row, LinkRow) and by_hand and current not in (None, change.after):
            _require_no_hand(memory, done, row, together)
        try:
            restored = _restored(memory, done, change, current, together)
        except Superseded:
            if isinstance(row, RunRow) and not lenient:
                continue  # a run that went on after the span of a rollback is a record, and stays
            verb = f"changed the same {_NOUNS.get(type(row), 'memory')}"
            raise Conflict(_row_conflict(memory, done, row, verb, together)) from None
        _require_free_key(memory, changes, done, change, together)
        if current is not None or restored is not None:
            changes.add(RowChange(current, restored))
    _require_ends(memory, changes, done, together)


def _restored(
    memory: Namespace, done: Logged, change: RowChange, current: Row | None, together: Collection[str]
) -> Row | None:
    """Return a row without a change; a new memory may have another state since, but must exist."""
    if isinstance(change.row, MemoryRow) and change.before is None:
        if current is None:
            raise Superseded
        return None
    row = taken_back(change, current, memory.profile.plasticity)
    return refaded(memory, done, change, row, together) if isinstance(row, LinkRow) else row


def _require_no_hand(memory: Namespace, done: Logged, row: LinkRow, together: Collection[str]) -> None:
    """Raise ``Conflict`` if somebody has set the weight of a link by hand since an operation made or set it."""
    for logged in _later_on(memory, done, row, together):
        if logged.source == MANUAL:
            raise Conflict(_conflict(done, logged, f"changed the same {_NOUNS.get(type(row), 'memory')}"))


def _shared_entities(changes: ChangeSet, done: Logged, created: set[str]) -> set[str]:
    """Return entities that an operation created by rule and later operations linked: undo leaves them in place."""
    versions = [change.after for change in done.rows if isinstance(change.after, VersionRow)]
    entities = {
        version.id
        for version in versions
        if version.id in created and version.source == RULES and version.metadata.get("form") in _FORMS
    }
    own = {identity(change.row) for change in done.rows if isinstance(change.row, LinkRow)}
    return {
        end
        for link in (changes.links(entities) if entities else ())
        if identity(link) not in own and not created.issuperset(ends_of(link))
        for end in ends_of(link)
        if end in entities
    }


def _is_used_elsewhere(changes: ChangeSet, done: Logged, row: RelationRow) -> bool:
    """Tell whether later operations made links of a relation that an operation introduced: then its sign stays."""
    own = {identity(change.row) for change in done.rows if isinstance(change.row, LinkRow)}
    return row.introduced and any(identity(link) not in own for link in changes.links_of(row.relation))


def _require_free_key(
    memory: Namespace, changes: ChangeSet, done: Logged, change: RowChange, together: Collection[str]
) -> None:
    """Raise ``Conflict`` if the key of a memory to restore belongs to another memory now."""
    restored = change.before
    if change.after is not None or not isinstance(restored, MemoryRow):
        return
    holder = changes.memories_by_key([restored.key]).get(restored.key)
    if holder is not None and holder.id != restored.id:
        raise Conflict(_row_conflict(memory, done, holder, f"took the key {restored.key!r}", together))


def _require_ends(memory: Namespace, changes: ChangeSet, done: Logged, together: Collection[str]) -> None:
    """Raise ``Conflict`` if a restored link, pair or verdict refers to a memory that no longer exists."""
    removed = [change.before for change in done.rows if change.after is None]
    restored = [
        row for row in removed if isinstance(row, (LinkRow, PairRow, VerdictRow)) and changes.current(row)
    ]
    ends = {end for row in restored for end in ends_of(row)}
    missing = min(changes.missing(ends), default=None) if ends else None
    if missing is None:
        return
    removals = (
        logged
        for logged in _later(memory, done, missing, together)
        for c in logged.rows
        if isinstance(c.before, MemoryRow) and c.before.id == missing and c.after is None
    )
    latest = next(removals, None)
    raise Conflict(_conflict(done, latest, "removed a memory that it would link again"))


def _row_conflict(memory: Namespace, done: Logged, row: Row, verb: str, together: Collection[str]) -> str:
    """Return the message of a conflict over a row, naming the latest operation on it; an undo only if no other is."""
    later = _later_on(memory, done, row, together)
    latest = next((logged for logged in later if not logged.undoes), later[0] if later else None)
    return _conflict(done, latest, verb)


def _later_on(memory: Namespace, done: Logged, row: Row, together: Collection[str]) -> list[Logged]:
    """Return the operations on a row after ``done`` that are not undone, newest first."""
    subject = next(iter(ends_of(row)), None)  # a run that has shown nothing yet is about no memory
    return [
        logged
        for logged in _later(memory, done, subject, together)
        if any(identity(change.row) == identity(row) for change in logged.rows)
    ]


def _later(memory: Namespace, done: Logged, subject: str | None, together: Collection[str]) -> list[Logged]:
    """Return the operations on a memory after ``done`` that are not undone, newest first."""
    return [
        logged
        for logged in memory.operations(memory_id=subject)
        if logged.number > done.number and logged.undone_by is None and logged.id not in together
    ]


def _conflict(done: Logged, later: Logged | None, verb: str) -> str:
    operation = f"operation {later.id} ({later.kind})" if later else "a later operation"
    return f"operation {done.id} cannot be undone: {operation} {verb} since: undo that first"


def restored_vectors(memory: Namespace, rows: Sequence[RowChange]) -> dict[VersionKey, bytes]:
    """Embed the versions that ``rows`` restore, since the log has no vectors; many wait for theirs."""
    versions = [
        change.after
        for change in rows
        if change.before is None and isinstance(change.after, VersionRow) and change.after.source != RULES
    ]
    if not versions or memory.must_wait(versions):
        return {}
    keys = [(version.id, version.version) for version in versions]
    return packed_vectors(keys, vectors_of(memory.embedder, versions))


def rollback(
    memory: Namespace,
    *,
    since: datetime,
    until: datetime | None = None,
    source: str | None = None,
    dry_run: bool = False,
) -> Operation:
    """Undo every operation from ``since`` on and before ``until``, or those of one ``source``, as one operation.

    What verdicts and runs added to weights and counts is subtracted, whatever came after, within the bounds.
    The rollback can be undone. With ``dry_run`` nothing is written: the operation returned has no id, and the changes
    that would be made.

    Raises:
        ParamError: an argument outside its range.
        Conflict: there is nothing to roll back, or an operation outside it set the same anew. With ``dry_run``, a
            namespace in which nothing was ever done is answered with an operation without changes, which says so.

    """
    span = _span(since, until, source)
    with memory.reading() if dry_run else memory.changing() as now:
        if dry_run and not memory.store.head(memory.namespace):
            return memory.to_operation(Logged(0, "", "rollback", now, message=memory.empty_reason()))
        undone, purges, rows = _reversible(memory, *span)
        number = count_text(len(undone), "operation")
        message = f"{'would roll back' if dry_run else 'rolled back'} {number}"
        if purges:
            left = ", ".join(logged.id for logged in purges)
            message += f"; left what cannot be undone: {_PURGE} {left}"
        if dry_run:
            return memory.to_operation(Logged(0, "", "rollback", now, rows=tuple(rows), message=message))
        logged = memory.write(
            "rollback",
            now,
            rows,
            vectors=restored_vectors(memory, rows),
            undoes=[each.id for each in undone],
            message=message,
        )
        return memory.to_operation(logged)


def would_undo(
    memory: Namespace, *, since: datetime, until: datetime | None = None, source: str | None = None
) -> list[Operation]:
    """Return the operations that ``rollback`` would undo, newest first; same errors, no change."""
    span = _span(since, until, source)
    with memory.reading():
        if not memory.store.head(memory.namespace):
            return memory.listed([])
        return [memory.to_operation(logged) for logged in _reversible(memory, *span)[0]]


_Span = tuple[datetime, datetime | None, str | None]
"""From when on and before when an operation was done, and the source of it."""


def _span(since: datetime, until: datetime | None, source: str | None) -> _Span:
    """Return the arguments of ``rollback``, checked."""
    start, end = check_time("since", since), None if until is None else check_time("until", until)
    if end is not None and end <= start:
        raise ParamError("until", end.isoformat(), f"must be after since, {start.isoformat()}")
    return start, end, check_source(source)


def _reversible(
    memory: Namespace, since: datetime, until: datetime | None, source: str | None
) -> tuple[list[Logged], list[Logged], list[RowChange]]:
    """Return the operations that a rollback undoes, newest first, the purges that it cannot, and its row changes."""
    inside = list(newest_first(memory, since=since, until=until, source=source))
    ids = {logged.id for logged in inside}
    purges = [logged for logged in inside if logged.kind == _PURGE]
    # An operation undone from outside the span stays undone; one undone within it is reversed with its undo.
    reversible = [
        logged for logged in inside if logged.rows and (logged.undone_by is None or logged.undone_by in ids)
    ]
    cancelled = _cancelled(reversible)
    undone = [logged for logged in reversible if logged.id not in cancelled]
    changes = ChangeSet(memory)
    for logged in reversible:
        add_inverse(memory, changes, logged, together=ids, lenient=False)
    rows = changes.changes()
    if not undone or not rows:
        by = f" by the source {source!r}" if source else ""
        before = f" and before {until.isoformat()}" if until else ""
        raise Conflict(
            f"nothing was done{by} since {since.isoformat()}{before} that can be rolled back: see the log"
        )
    return undone, purges, rows


def _cancelled(operations: Sequence[Logged]) -> set[str]:
    """Return undos whose operations are all in the span, and these operations: together they change nothing."""
    ids = {logged.id for logged in operations}
    cancelled: set[str] = set()
    for logged in operations:
        if logged.undone_by is not None:
            is_cancelled = logged.undone_by in cancelled
        else:
            is_cancelled = bool(logged.undoes) and ids.issuperset(logged.undoes)
        if is_cancelled:
            cancelled.add(logged.id)
    return cancelled
