"""Taking operations back: the inverse of what each did, as rows that it may still claim."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from priming.config.words import NIGHT, STAGES
from priming.core.arguments.checks import check_text
from priming.errors import Conflict, NotFound
from priming.history.change_set import ChangeSet
from priming.index.document import RULES, SESSION, TERM, embedded_text
from priming.namespace import Namespace
from priming.storage.protocol import Logged, VersionKey
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    ends_of,
    identity,
)
from priming.text.names import KINDS
from priming.types import Operation

_FORMS = (SESSION, TERM, *KINDS)


def undo(memory: Namespace, operation_id: str) -> Operation:
    """Take an operation back; the undo is an operation too, and can be undone.

    Raises:
        NotFound: no such operation.
        Conflict: it is undone already, was a purge, or a later operation changed the same rows.

    """
    with memory.writing() as now:
        memory.require_exists()
        done = memory.store.operation(memory.namespace, check_text("operation_id", operation_id))
        if done is None:
            raise NotFound(f"there is no operation {operation_id!r} in {memory.namespace!r}: see the log")
        if done.undone_by is not None:
            raise Conflict(
                f"operation {operation_id} is undone already, by {done.undone_by}: undo that to redo it"
            )
        if done.kind == "purge":
            raise Conflict(f"operation {operation_id} is a purge: what it erased is gone")
        view, together = ChangeSet(memory), _night(memory, done)
        for one in together:
            inverse_rows(memory, view, one, beside=[other.id for other in together])
        rows = view.changes()
        if not rows:
            raise Conflict(f"operation {operation_id} changed nothing that is still there to take back")
        vectors = restored_vectors(memory, rows)
        logged = memory.write(
            "undo", now, rows, vectors=vectors, undoes=[one.id for one in together], message=_told(together)
        )
        return memory.to_operation(logged)


def _night(memory: Namespace, done: Logged) -> list[Logged]:
    """The operation alone; for the last one of a night of sleep all of that night that still count, newest first.

    What was applied of a proposal is no stage of a night: each time stands for itself.
    """
    if done.source is None or not done.source.startswith(NIGHT) or done.reason not in STAGES:
        return [done]
    night = memory.store.operations(memory.namespace, source=done.source, limit=None)
    return [one for one in night if one.undone_by is None] if night[0].id == done.id else [done]


def _told(together: Sequence[Logged]) -> str:
    """What was undone, in words."""
    said = f"undid {_a(together[0].kind)}"
    return said if len(together) == 1 else f"{said}: all {len(together)} stages of the night"


def inverse_rows(
    memory: Namespace, view: ChangeSet, done: Logged, *, beside: Collection[str] = (), lenient: bool = True
) -> None:
    """Add the inverse of an operation to ``view``; ``Conflict`` where a later operation stands in the way.

    Where ``lenient``, a link that it made goes whatever became of it. ``beside`` are the ids of the operations that
    are taken back together with it.
    """
    made = {c.row.id for c in done.rows if c.before is None and isinstance(c.row, MemoryRow)}
    shared = _shared(view, done, made)
    gone = made - shared
    # The rows that point to what goes are taken along, also those that came later.
    for row in view.about(gone) if gone else ():
        view.take(RowChange(row, None))
    for change in reversed(done.rows):
        row = change.row
        if isinstance(row, (LinkRow, VerdictRow, PairRow)) and gone.intersection(change.ends):
            continue
        if isinstance(row, (MemoryRow, VersionRow)) and change.before is None and row.id in shared:
            continue
        there = view.present(row)
        if lenient and change.before is None and isinstance(row, LinkRow):
            if there is not None:
                view.take(RowChange(there, None))
        elif _blocked(change, there):
            what = f"changed the same {_what(row)}"
            raise Conflict(_standing_in_the_way(memory, done, row, what, beside))
        else:
            _refuse_a_taken_key(memory, view, done, change, beside)
            view.take(RowChange(there, change.before))
    _refuse_a_lost_end(memory, view, done, beside)


def _blocked(change: RowChange, there: Row | None) -> bool:
    if isinstance(change.row, MemoryRow) and change.before is None:
        return there is None
    return there != change.after


def _shared(view: ChangeSet, done: Logged, made: set[str]) -> set[str]:
    """Entities that an operation made by rule, and that others have linked since: they stay."""
    versions = [change.after for change in done.rows if isinstance(change.after, VersionRow)]
    names = {
        one.id
        for one in versions
        if one.id in made and one.source == RULES and one.metadata.get("form") in _FORMS
    }
    own = {identity(change.row) for change in done.rows if isinstance(change.row, LinkRow)}
    return {
        end
        for link in (view.links(names) if names else ())
        if identity(link) not in own and not made.issuperset(ends_of(link))
        for end in ends_of(link)
        if end in names
    }


def _refuse_a_taken_key(
    memory: Namespace, view: ChangeSet, done: Logged, change: RowChange, beside: Collection[str]
) -> None:
    """``Conflict`` where the key of a memory that would come back now belongs to another."""
    back = change.before
    if change.after is not None or not isinstance(back, MemoryRow):
        return
    holder = view.holders([back.key]).get(back.key)
    if holder is not None and holder.id != back.id:
        what = f"took the key {back.key!r}"
        raise Conflict(_standing_in_the_way(memory, done, holder, what, beside))


def _refuse_a_lost_end(memory: Namespace, view: ChangeSet, done: Logged, beside: Collection[str]) -> None:
    """``Conflict`` where a link, pair or verdict would come back to a memory that went since."""
    gone = [c.before for c in done.rows if c.after is None]
    back = [row for row in gone if isinstance(row, (LinkRow, PairRow, VerdictRow)) and view.present(row)]
    ends = {end for row in back for end in ends_of(row)}
    lost = min(view.missing(ends), default=None) if ends else None
    if lost is None:
        return
    later = [
        one
        for one in _later(memory, done, lost, beside)
        if any(isinstance(c.before, MemoryRow) and c.before.id == lost and c.after is None for c in one.rows)
    ]
    chosen = next(iter(later), None)
    raise Conflict(_because(done, chosen, "removed a memory that it would link again"))


def _standing_in_the_way(
    memory: Namespace, done: Logged, row: Row, what: str, beside: Collection[str]
) -> str:
    subject = next(iter(ends_of(row)), None)  # a run that has shown nothing yet is about no memory
    later = [
        one
        for one in _later(memory, done, subject, beside)
        if any(identity(change.row) == identity(row) for change in one.rows)
    ]
    chosen = next((one for one in later if not one.undoes), later[0] if later else None)
    return _because(done, chosen, what)


def _later(memory: Namespace, done: Logged, subject: str | None, beside: Collection[str]) -> list[Logged]:
    """The operations on a memory after one that still count, newest first."""
    told = memory.store.operations(memory.namespace, memory_id=subject, limit=None)
    return [
        one for one in told if one.number > done.number and one.undone_by is None and one.id not in beside
    ]


def _because(done: Logged, chosen: Logged | None, what: str) -> str:
    which = f"operation {chosen.id} ({chosen.kind})" if chosen else "a later operation"
    return f"operation {done.id} cannot be undone: {which} {what} since: undo that first"


def _what(row: Row) -> str:
    if isinstance(row, WeightsRow):
        return "weights"
    if isinstance(row, (PairRow, RunRow)):
        return "pair" if isinstance(row, PairRow) else "run"
    return "memory"


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def restored_vectors(memory: Namespace, rows: Sequence[RowChange]) -> dict[VersionKey, bytes]:
    """Vectors are not in the log: a version that comes back is embedded again."""
    back = [
        c.after
        for c in rows
        if c.before is None and isinstance(c.after, VersionRow) and c.after.source != RULES
    ]
    if not back:
        return {}
    vectors = memory.embedder.embed([embedded_text(one.heading or one.speaker, one.content) for one in back])
    return {
        (one.id, one.version): vector.astype("<f4").tobytes()
        for one, vector in zip(back, vectors, strict=True)
        if vector.any()
    }
