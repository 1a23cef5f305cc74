"""Taking back all that happened since a time, as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from priming.checks import check_source, check_time
from priming.engine.backwards import newest_first
from priming.engine.opened import Opened
from priming.engine.pending import Pending
from priming.engine.undo import take_back, vectors_again
from priming.errors import Conflict
from priming.store.protocol import Logged
from priming.store.rows import RowChange
from priming.types import Operation

_PURGE = "purge"


@dataclass(frozen=True, slots=True)
class Plan:
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


def rollback(opened: Opened, *, since: datetime, source: str | None) -> Operation:
    """Undo the operations from ``since`` on, newest first, as an operation of its own."""
    since, source = check_time("since", since), check_source(source)
    with opened.writing() as now:
        plan = _plan(opened, since, source)
        logged = opened.write(
            "rollback",
            now,
            plan.rows,
            vectors=vectors_again(opened, plan.rows),
            undoes=[one.id for one in plan.undone],
            message=plan.message,
        )
        return opened.operation(logged)


def would_undo(opened: Opened, *, since: datetime, source: str | None) -> list[Operation]:
    """The operations that a rollback would take back, newest first."""
    since, source = check_time("since", since), check_source(source)
    with opened.store.transaction(write=False):
        return [opened.operation(one) for one in _plan(opened, since, source).undone]


def _plan(opened: Opened, since: datetime, source: str | None) -> Plan:
    opened.readable()
    found = list(newest_first(opened, since=since, source=source))
    ids = {one.id for one in found}
    purges = [one for one in found if one.kind == _PURGE]
    # What is undone from outside is undone already; what is undone from within is taken back with its undo.
    taken = [one for one in found if one.rows and (one.undone_by is None or one.undone_by in ids)]
    cancelled = _cancelled(taken)
    undone = [one for one in taken if one.id not in cancelled]
    view = Pending(opened)
    for one in taken:
        take_back(opened, view, one, beside=ids, lenient=False)
    rows = view.changes()
    if not undone or not rows:
        by = f" by the source {source!r}" if source else ""
        raise Conflict(f"nothing was done{by} since {since.isoformat()} that can be rolled back: see the log")
    return Plan(undone, purges, rows)


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
