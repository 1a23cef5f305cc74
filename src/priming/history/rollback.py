"""Rollback: everything since a time is undone as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from priming.core.arguments.checks import check_source, check_time
from priming.errors import Conflict
from priming.history.log_replay import newest_first
from priming.history.undo import ChangeSet, add_inverse, restored_vectors
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import RowChange
from priming.types import Operation

_PURGE = "purge"


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The operations that a rollback undoes, newest first, the purges that it cannot undo, and its row changes."""

    undone: Sequence[Logged]
    purges: Sequence[Logged]
    rows: Sequence[RowChange]

    @property
    def message(self) -> str:
        """The number of operations undone, and the purges left."""
        number = len(self.undone)
        text = f"rolled back {number:,} {'operation' if number == 1 else 'operations'}"
        if not self.purges:
            return text
        left = ", ".join(logged.id for logged in self.purges)
        return f"{text}; left what cannot be taken back: {_PURGE} {left}"


def rollback(memory: Namespace, *, since: datetime, source: str | None = None) -> Operation:
    """Undo every operation from ``since`` on, or those of one ``source``, as one operation that can be undone.

    Raises:
        ParamError: an argument outside its range.
        Conflict: there is nothing to roll back, or an operation of another source changed the same rows.

    """
    since, source = check_time("since", since), check_source(source)
    with memory.changing() as now:
        plan = _plan(memory, since, source)
        logged = memory.write(
            "rollback",
            now,
            plan.rows,
            vectors=restored_vectors(memory, plan.rows),
            undoes=[undone.id for undone in plan.undone],
            message=plan.message,
        )
        return memory.to_operation(logged)


def would_undo(memory: Namespace, *, since: datetime, source: str | None = None) -> list[Operation]:
    """Return the operations that ``rollback`` would undo, newest first; same errors, no change."""
    since, source = check_time("since", since), check_source(source)
    with memory.reading():
        if not memory.store.head(memory.namespace):
            return memory.listed([])
        return [memory.to_operation(logged) for logged in _plan(memory, since, source).undone]


def _plan(memory: Namespace, since: datetime, source: str | None) -> RollbackPlan:
    span = list(newest_first(memory, since=since, source=source))
    ids = {logged.id for logged in span}
    purges = [logged for logged in span if logged.kind == _PURGE]
    # An operation undone from outside the span stays undone; one undone within it is reversed with its undo.
    reversible = [
        logged for logged in span if logged.rows and (logged.undone_by is None or logged.undone_by in ids)
    ]
    cancelled = _cancelled(reversible)
    undone = [logged for logged in reversible if logged.id not in cancelled]
    changes = ChangeSet(memory)
    for logged in reversible:
        add_inverse(memory, changes, logged, together=ids, lenient=False)
    rows = changes.changes()
    if not undone or not rows:
        by = f" by the source {source!r}" if source else ""
        raise Conflict(f"nothing was done{by} since {since.isoformat()} that can be rolled back: see the log")
    return RollbackPlan(undone, purges, rows)


def _cancelled(operations: Sequence[Logged]) -> set[str]:
    """Undos whose operations are all in the span, and these operations: together they change nothing."""
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
