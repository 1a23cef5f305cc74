"""Rollback: everything in a span of time, or what one source did in it, is undone as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from priming.config.values import dataclass
from priming.core.arguments.checks import check_source, check_time
from priming.errors import Conflict, ParamError
from priming.history.log import newest_first
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

    def message(self, *, dry_run: bool = False) -> str:
        """The number of operations undone, and the purges left."""
        number = len(self.undone)
        did = "would roll back" if dry_run else "rolled back"
        text = f"{did} {number:,} {'operation' if number == 1 else 'operations'}"
        if not self.purges:
            return text
        left = ", ".join(logged.id for logged in self.purges)
        return f"{text}; left what cannot be undone: {_PURGE} {left}"


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
    if not isinstance(dry_run, bool):
        raise ParamError("dry_run", dry_run, "must be true or false")
    span = _Span.checked(since, until, source)
    if dry_run:
        with memory.reading() as now:
            if not memory.store.head(memory.namespace):
                return memory.to_operation(Logged(0, "", "rollback", now, message=memory.empty_reason()))
            plan = _plan(memory, span)
            planned = Logged(
                0, "", "rollback", now, rows=tuple(plan.rows), message=plan.message(dry_run=True)
            )
            return memory.to_operation(planned)
    with memory.changing() as now:
        plan = _plan(memory, span)
        logged = memory.write(
            "rollback",
            now,
            plan.rows,
            vectors=restored_vectors(memory, plan.rows),
            undoes=[undone.id for undone in plan.undone],
            message=plan.message(),
        )
        return memory.to_operation(logged)


def would_undo(
    memory: Namespace, *, since: datetime, until: datetime | None = None, source: str | None = None
) -> list[Operation]:
    """Return the operations that ``rollback`` would undo, newest first; same errors, no change."""
    span = _Span.checked(since, until, source)
    with memory.reading():
        if not memory.store.head(memory.namespace):
            return memory.listed([])
        return [memory.to_operation(logged) for logged in _plan(memory, span).undone]


@dataclass(frozen=True, slots=True)
class _Span:
    """The checked arguments of ``rollback``."""

    since: datetime
    until: datetime | None
    source: str | None

    @classmethod
    def checked(cls, since: datetime, until: datetime | None, source: str | None) -> _Span:
        start, end = check_time("since", since), None if until is None else check_time("until", until)
        if end is not None and end <= start:
            raise ParamError("until", end.isoformat(), f"must be after since, {start.isoformat()}")
        return cls(start, end, check_source(source))

    def __str__(self) -> str:
        by = f" by the source {self.source!r}" if self.source else ""
        before = f" and before {self.until.isoformat()}" if self.until else ""
        return f"{by} since {self.since.isoformat()}{before}"


def _plan(memory: Namespace, span: _Span) -> RollbackPlan:
    inside = list(newest_first(memory, since=span.since, until=span.until, source=span.source))
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
        raise Conflict(f"nothing was done{span} that can be rolled back: see the log")
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
