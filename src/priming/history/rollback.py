"""Taking back all that happened since a time, as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from priming.core.arguments.checks import check_source, check_time
from priming.errors import Conflict
from priming.history.change_set import ChangeSet
from priming.history.log_replay import newest_first
from priming.history.undo import inverse_rows, restored_vectors
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import RowChange
from priming.types import Operation

_PURGE = "purge"


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """What a rollback does: the operations that it takes back, newest first, those it cannot, and the rows."""

    undone: Sequence[Logged]
    purges: Sequence[Logged]
    rows: Sequence[RowChange]

    @property
    def message(self) -> str:
        """What was done, and what was left."""
        number = len(self.undone)
        said = f"rolled back {number:,} {'operation' if number == 1 else 'operations'}"
        if not self.purges:
            return said
        left = ", ".join(one.id for one in self.purges)
        return f"{said}; left what cannot be taken back: {_PURGE} {left}"


def rollback(memory: Namespace, *, since: datetime, source: str | None = None) -> Operation:
    """Undo every operation from ``since`` on, or those of one ``source``, as one operation that can be undone.

    Raises:
        ParamError: an argument outside its range.
        Conflict: there is nothing to roll back, or an operation of another source stands in the way.

    """
    since, source = check_time("since", since), check_source(source)
    with memory.writing() as now:
        plan = _plan(memory, since, source)
        logged = memory.write(
            "rollback",
            now,
            plan.rows,
            vectors=restored_vectors(memory, plan.rows),
            undoes=[one.id for one in plan.undone],
            message=plan.message,
        )
        return memory.to_operation(logged)


def would_undo(memory: Namespace, *, since: datetime, source: str | None = None) -> list[Operation]:
    """The operations that ``rollback`` would undo, newest first: it raises the same, and changes nothing."""
    since, source = check_time("since", since), check_source(source)
    with memory.reading():
        return [memory.to_operation(logged) for logged in _plan(memory, since, source).undone]


def _plan(memory: Namespace, since: datetime, source: str | None) -> RollbackPlan:
    memory.require_exists()
    found = list(newest_first(memory, since=since, source=source))
    ids = {one.id for one in found}
    purges = [one for one in found if one.kind == _PURGE]
    # What is undone from outside is undone already; what is undone from within is taken back with its undo.
    taken = [one for one in found if one.rows and (one.undone_by is None or one.undone_by in ids)]
    cancelled = _cancelled(taken)
    undone = [one for one in taken if one.id not in cancelled]
    view = ChangeSet(memory)
    for one in taken:
        inverse_rows(memory, view, one, beside=ids, lenient=False)
    rows = view.changes()
    if not undone or not rows:
        by = f" by the source {source!r}" if source else ""
        raise Conflict(f"nothing was done{by} since {since.isoformat()} that can be rolled back: see the log")
    return RollbackPlan(undone, purges, rows)


def _cancelled(taken: Sequence[Logged]) -> set[str]:
    """Undos whose operations are taken back as well, and these: they come to nothing, and stay as they are."""
    ids = {one.id for one in taken}
    found: set[str] = set()
    for one in taken:
        if one.undone_by is not None:
            is_over = one.undone_by in found
        else:
            is_over = bool(one.undoes) and ids.issuperset(one.undoes)
        if is_over:
            found.add(one.id)
    return found
