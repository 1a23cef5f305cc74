"""Undo: an operation is reversed by the inverse of each row change, as a further operation of the log.

Undoing a remember removes the memory with every link to it, also later ones. A name that it introduced stays
where other operations have linked to it since. A memory that was superseded since is a ``Conflict``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from priming.config.words import BY_VERDICT, EMBEDDER_CHOICE, NIGHT, STAGES
from priming.core.arguments.checks import check_text
from priming.errors import Conflict
from priming.history.inverse import Superseded, refaded, taken_back
from priming.history.log import LAST, last_operation
from priming.history.movements import count_text
from priming.history.weights_over_time import MANUAL
from priming.index.document import RULES, SESSION, TERM, packed_vectors, vectors_of
from priming.namespace import Namespace
from priming.storage.protocol import Logged, VersionKey
from priming.storage.questions import ids_of, operation_of, present
from priming.storage.rows import (
    ROOMS,
    LinkRow,
    MemoryRow,
    PairRow,
    RelationRow,
    Row,
    RowChange,
    RowIdentity,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    ends_of,
    identity,
)
from priming.text.name_forms.kinds import FORMS
from priming.types import Operation

_VERDICTS = ("feedback", "done")
"""Operations by which what a run wrote can prove useful."""
_FORMS = (SESSION, TERM, *FORMS)
_INSTANT = timedelta(microseconds=1)
_ORDER = {room: place for place, room in enumerate(ROOMS)}
R = TypeVar("R", bound=Row)


class ChangeSet:
    """Row changes planned before they are written as one operation; each row changes at most once.

    Its queries return the rows as they will be after the write.
    """

    def __init__(self, memory: Namespace) -> None:
        self._store = memory.store
        self._namespace = memory.namespace
        self._changes: dict[RowIdentity, RowChange] = {}
        self._by_end: defaultdict[str, set[RowIdentity]] = defaultdict(set)

    def add(self, change: RowChange) -> None:
        """Add a change of a row as this set leaves it."""
        name = identity(change.row)
        earlier = self._changes.pop(name, None)
        before = change.before if earlier is None else earlier.before
        if before != change.after:
            self._changes[name] = RowChange(before, change.after)
            for end in change.ends:
                self._by_end[end].add(name)

    def changes(self) -> list[RowChange]:
        """The changes to write: memories before their versions, versions before the rows that refer to them."""
        parts = [part for change in self._changes.values() for part in _split_text(change)]
        return sorted(parts, key=lambda change: _ORDER[change.room])

    def current(self, row: Row) -> Row | None:
        """The row with the identity of ``row``, None if it will not exist."""
        change = self._changes.get(identity(row))
        return present(self._store, self._namespace, row) if change is None else change.after

    def links(self, ids: Collection[str]) -> list[LinkRow]:
        """The links with an end in ``ids``."""
        return self._updated(LinkRow, self._store.rows(self._namespace, LinkRow, ids=ids), ids)

    def links_of(self, relation: str) -> list[LinkRow]:
        """The links of a relation."""
        rows = {identity(row): row for row in self._store.rows(self._namespace, LinkRow, relation=relation)}
        for name, change in self._changes.items():
            rows.pop(name, None)
            if isinstance(change.after, LinkRow) and change.after.relation == relation:
                rows[name] = change.after
        return list(rows.values())

    def rows_about(self, ids: Collection[str]) -> list[Row]:
        """The links, verdicts and pairs of the memories ``ids``."""
        verdicts = self._store.rows(self._namespace, VerdictRow, ids=ids)
        pairs = self._store.rows(self._namespace, PairRow, ids=ids)
        return [
            *self.links(ids),
            *self._updated(VerdictRow, verdicts, ids),
            *self._updated(PairRow, pairs, ids),
        ]

    def memories_by_key(self, keys: Collection[str]) -> Mapping[str, MemoryRow]:
        """The memories that have one of ``keys``, by key."""
        ids = ids_of(self._store, self._namespace, keys)
        stored = self._store.rows(self._namespace, MemoryRow, ids=set(ids.values())) if ids else []
        changed = [change.after for change in self._changes.values()]
        rows = [*map(self.current, stored), *changed]
        return {row.key: row for row in rows if isinstance(row, MemoryRow) and row.key in keys}

    def missing(self, ids: Collection[str]) -> set[str]:
        """Those of ``ids`` that belong to no memory."""
        present = set(self._store.names(self._namespace, ids=ids))
        for change in self._changes_about(ids).values():
            if isinstance(change.row, MemoryRow):
                (present.discard if change.after is None else present.add)(change.row.id)
        return set(ids) - present

    def _changes_about(self, ids: Iterable[str]) -> dict[RowIdentity, RowChange]:
        names = {name for memory_id in ids for name in self._by_end.get(memory_id, ())}
        return {name: self._changes[name] for name in names if name in self._changes}

    def _updated(self, kind: type[R], stored: Iterable[R], ids: Collection[str]) -> list[R]:
        """Stored rows of one table about ``ids``, with the changes of this set."""
        rows = {identity(row): row for row in stored}
        for name, change in self._changes_about(ids).items():
            if isinstance(change.row, kind):
                rows.pop(name, None)
                if isinstance(change.after, kind):
                    rows[name] = change.after
        return list(rows.values())


def _split_text(change: RowChange) -> tuple[RowChange, ...]:
    """The change; as a removal and an insertion where a version gets another text, which no update may do."""
    before, after = change.before, change.after
    if isinstance(before, VersionRow) and isinstance(after, VersionRow):
        times = {name: getattr(after, name) for name in ("retired_at", "valid_from", "valid_to")}
        if replace(before, **times) != after:
            return RowChange(before, None), RowChange(None, after)
    return (change,)


def undo(memory: Namespace, operation_id: str) -> Operation:
    """Undo an operation. The undo is an operation too, and can be undone.

    Undoing the last stage of a night of sleep undoes the whole night. For ``operation_id``, ``last`` means the newest
    operation that is neither an undo nor undone, and not the start or end of a run.

    Raises:
        NotFound: no such operation.
        Conflict: the operation is undone already, is a purge, or a later operation set the same anew.

    """
    with memory.changing() as now:
        done = last_operation(memory) if operation_id == LAST else _undoable(memory, operation_id)
        changes, together = ChangeSet(memory), [*_settled_by(memory, done), *_night(memory, done)]
        ids = [logged.id for logged in together]
        for logged in together:
            add_inverse(memory, changes, logged, together=ids)
        rows = changes.changes()
        if not rows:
            raise Conflict(f"operation {operation_id} changed nothing that still exists to be undone")
        vectors = restored_vectors(memory, rows)
        logged = memory.write("undo", now, rows, vectors=vectors, undoes=ids, message=_message(together))
        return memory.to_operation(logged)


def _undoable(memory: Namespace, operation_id: str) -> Logged:
    """The operation of an id, unless it cannot be undone at all."""
    done = operation_of(memory.store, memory.namespace, check_text("operation_id", operation_id))
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
    if done.kind == "purge":
        raise Conflict(f"operation {operation_id} is a purge: what it erased is gone")
    return done


def _night(memory: Namespace, done: Logged) -> list[Logged]:
    """The operation; if it ends a night of sleep, all operations of that night not yet undone, newest first.

    An applied proposal has no stage as its reason, so it is undone on its own.
    """
    if done.source is None or not done.source.startswith(NIGHT) or done.reason not in STAGES:
        return [done]
    night = memory.store.operations(memory.namespace, source=done.source)
    return [logged for logged in night if logged.undone_by is None] if night[0].id == done.id else [done]


def _settled_by(memory: Namespace, done: Logged) -> list[Logged]:
    """The operations that settled runs by a verdict on what they wrote, newest first: they go back with it."""
    if done.kind not in _VERDICTS:
        return []
    later = memory.store.operations(memory.namespace, since=done.at, until=done.at + _INSTANT)
    own = f"{BY_VERDICT}{done.id}"
    return [logged for logged in later if logged.undone_by is None and (logged.reason or "").endswith(own)]


def _message(together: Sequence[Logged]) -> str:
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
            verb = f"changed the same {_noun(row)}"
            raise Conflict(_row_conflict(memory, done, row, verb, together)) from None
        _require_free_key(memory, changes, done, change, together)
        if current is not None or restored is not None:
            changes.add(RowChange(current, restored))
    _require_ends(memory, changes, done, together)


def _restored(
    memory: Namespace, done: Logged, change: RowChange, current: Row | None, together: Collection[str]
) -> Row | None:
    """A row without a change; a new memory may have another state since, but must exist."""
    if isinstance(change.row, MemoryRow) and change.before is None:
        if current is None:
            raise Superseded
        return None
    row = taken_back(change, current, memory.profile.plasticity)
    return refaded(memory, done, change, row, together) if isinstance(row, LinkRow) else row


def _require_no_hand(memory: Namespace, done: Logged, row: LinkRow, together: Collection[str]) -> None:
    """``Conflict`` if somebody has set the weight of a link by hand since an operation made or set it."""
    for logged in _later(memory, done, row.source, together):
        if logged.source == MANUAL and any(identity(change.row) == identity(row) for change in logged.rows):
            raise Conflict(_conflict(done, logged, f"changed the same {_noun(row)}"))


def _shared_entities(changes: ChangeSet, done: Logged, created: set[str]) -> set[str]:
    """Entities that an operation created by rule and that later operations linked: undo leaves them in place."""
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
    """Whether later operations made links of a relation that an operation introduced: then its sign stays."""
    own = {identity(change.row) for change in done.rows if isinstance(change.row, LinkRow)}
    return row.introduced and any(identity(link) not in own for link in changes.links_of(row.relation))


def _require_free_key(
    memory: Namespace, changes: ChangeSet, done: Logged, change: RowChange, together: Collection[str]
) -> None:
    """``Conflict`` if the key of a memory to restore belongs to another memory now."""
    restored = change.before
    if change.after is not None or not isinstance(restored, MemoryRow):
        return
    holder = changes.memories_by_key([restored.key]).get(restored.key)
    if holder is not None and holder.id != restored.id:
        raise Conflict(_row_conflict(memory, done, holder, f"took the key {restored.key!r}", together))


def _require_ends(memory: Namespace, changes: ChangeSet, done: Logged, together: Collection[str]) -> None:
    """``Conflict`` if a restored link, pair or verdict refers to a memory that no longer exists."""
    removed = [change.before for change in done.rows if change.after is None]
    restored = [
        row for row in removed if isinstance(row, (LinkRow, PairRow, VerdictRow)) and changes.current(row)
    ]
    ends = {end for row in restored for end in ends_of(row)}
    missing = min(changes.missing(ends), default=None) if ends else None
    if missing is None:
        return
    removals = [
        logged
        for logged in _later(memory, done, missing, together)
        if any(
            isinstance(c.before, MemoryRow) and c.before.id == missing and c.after is None
            for c in logged.rows
        )
    ]
    latest = next(iter(removals), None)
    raise Conflict(_conflict(done, latest, "removed a memory that it would link again"))


def _row_conflict(memory: Namespace, done: Logged, row: Row, verb: str, together: Collection[str]) -> str:
    """The message of a conflict over one row, naming the latest operation on it; an undo only if no other is."""
    subject = next(iter(ends_of(row)), None)  # a run that has shown nothing yet is about no memory
    later = [
        logged
        for logged in _later(memory, done, subject, together)
        if any(identity(change.row) == identity(row) for change in logged.rows)
    ]
    latest = next((logged for logged in later if not logged.undoes), later[0] if later else None)
    return _conflict(done, latest, verb)


def _later(memory: Namespace, done: Logged, subject: str | None, together: Collection[str]) -> list[Logged]:
    """The operations on a memory after ``done`` that are not undone, newest first."""
    return [
        logged
        for logged in memory.store.operations(memory.namespace, memory_id=subject)
        if logged.number > done.number and logged.undone_by is None and logged.id not in together
    ]


def _conflict(done: Logged, later: Logged | None, verb: str) -> str:
    operation = f"operation {later.id} ({later.kind})" if later else "a later operation"
    return f"operation {done.id} cannot be undone: {operation} {verb} since: undo that first"


def _noun(row: Row) -> str:
    if isinstance(row, WeightsRow):
        return "weights"
    if isinstance(row, RelationRow):
        return "relation"
    if isinstance(row, (PairRow, RunRow)):
        return "pair" if isinstance(row, PairRow) else "run"
    return "memory"


def restored_vectors(memory: Namespace, rows: Sequence[RowChange]) -> dict[VersionKey, bytes]:
    """Embed the versions that ``rows`` restore, since the log has no vectors; many wait for theirs."""
    versions = [
        change.after
        for change in rows
        if change.before is None and isinstance(change.after, VersionRow) and change.after.source != RULES
    ]
    if not versions or memory.must_wait(len(versions)):
        return {}
    keys = [(version.id, version.version) for version in versions]
    return packed_vectors(keys, vectors_of(memory.embedder, versions))
