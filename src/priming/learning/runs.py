"""Runs: the automatic tier. What a piece of work was shown is judged by what became of its output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from priming.config.params.laws import PLASTICITY, SUPPRESSING
from priming.config.params.store import STORE
from priming.core.arguments.checks import check_name, check_text
from priming.core.plasticity import AUTOMATIC, nudge
from priming.errors import Conflict, NotFound, ParamError
from priming.learning.coactivation import learn_coactivation
from priming.learning.results import Run
from priming.namespace import Namespace
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow, RowChange, RunRow
from priming.types import uuid7

_SOURCE = "automatic"


def run_start(memory: Namespace, session: str | None = None) -> Run:
    """Begin a piece of work: recalls under its session, by default one of its own, belong to it.

    Raises:
        Conflict: a run of that session is under way.

    """
    name = check_name("session", session)
    with memory.writing() as now:
        _settle_stale(memory, now)
        run_id = uuid7(now)
        row = RunRow(run_id, name or f"run:{run_id}", now)
        for other in memory.store.runs(memory.namespace, settled=False):
            if other.session == row.session and other.ended_at is None:
                raise Conflict(f"run {other.id} of session {row.session!r} is under way: end it first")
        logged = memory.write("run-start", now, [RowChange(None, row)], source=_SOURCE)
        return _run(memory, row, logged.id)


def run_end(memory: Namespace, run_id: str, *, used: bool | None = None) -> Run:
    """End a run, and keep which memories it was shown.

    With ``used`` it is settled at once; else it waits for ``run_used``, and counts as unused after
    ``PlasticityParams.run_days``.

    Raises:
        NotFound: no such run.
        Conflict: it has ended.

    """
    if used is not None and not isinstance(used, bool):
        raise ParamError("used", used, "must be True, False or None")
    with memory.writing() as now:
        _settle_stale(memory, now, but=run_id)
        row = _find(memory, run_id)
        if row.ended_at is not None:
            raise Conflict(f"run {row.id} ended at {row.ended_at.isoformat()}")
        ended = replace(row, ended_at=now, shown=_shown(memory, row))
        if used is not None:
            return _settle(memory, row, ended, now, used=used)
        logged = memory.write("run-end", now, [RowChange(row, ended)], source=_SOURCE)
        return _run(memory, ended, logged.id)


def run_list(memory: Namespace) -> list[Run]:
    """The runs of the namespace, oldest first."""
    with memory.lock:
        memory.require_exists()
        return [_run(memory, row, None) for row in memory.store.runs(memory.namespace)]


def run_used(memory: Namespace, run_id: str) -> Run:
    """Say that the output of a run was used: the links among what it was shown rise by the automatic step.

    Raises:
        NotFound: no such run.
        Conflict: it is settled.

    """
    with memory.writing() as now:
        row = _find(memory, run_id)
        if row.settled is not None:
            raise Conflict(f"run {row.id} is settled as {row.settled}: undo that to settle it anew")
        ended = row if row.ended_at else replace(row, ended_at=now, shown=_shown(memory, row))
        run = _settle(memory, row, ended, now, used=True)
        _settle_stale(memory, now)
        return run


def _find(memory: Namespace, run_id: str) -> RunRow:
    memory.require_exists()
    found = memory.store.runs(memory.namespace, [check_text("run_id", run_id)])
    if not found:
        raise NotFound(f"there is no run {run_id!r} in {memory.namespace!r}: start one with run_start")
    return found[0]


def _shown(memory: Namespace, row: RunRow) -> tuple[str, ...]:
    """The memories that the run's recalls brought up, in the order in which they first came."""
    recalls = memory.store.traces(
        memory.namespace, since=row.started_at, session=row.session, limit=STORE.trace_count
    )
    return tuple(dict.fromkeys(memory_id for trace in reversed(recalls) for memory_id, _ in trace.hits))


def _settle_stale(memory: Namespace, now: datetime, but: str | None = None) -> None:
    """A run whose output nobody used for long counts as unused."""
    oldest = now - timedelta(days=PLASTICITY.run_days)
    for row in memory.store.runs(memory.namespace, settled=False):
        if row.id != but and row.ended_at is not None and row.ended_at < oldest:
            _settle(memory, row, row, now, used=False)


def _settle(memory: Namespace, before: RunRow, ended: RunRow, now: datetime, *, used: bool) -> Run:
    """Strengthen or weaken the links among what a run was shown, all in one operation."""
    row = replace(ended, settled="used" if used else "unused")
    delta = AUTOMATIC if used else -AUTOMATIC
    among = _among(memory.store.links(memory.namespace, row.shown) if row.shown else (), row.shown)
    moved = [
        RowChange(link, replace(link, weight=float(nudge(link.weight, delta)), last_activated=at))
        for link in among
        for at in [now if used else link.last_activated]
    ]
    changes = learn_coactivation(memory, now, _recalls(memory, row), moved) if used else moved
    changes = [RowChange(before, row), *(one for one in changes if one.before != one.after)]
    logged = memory.write(
        "run", now, changes, source=_SOURCE, reason=f"the output of run {row.id} was {row.settled}"
    )
    return _run(memory, row, logged.id)


def _among(links: Iterable[LinkRow], shown: Iterable[str]) -> list[LinkRow]:
    """The links with both ends among some memories, but for those that suppress."""
    ids = set(shown)
    return [one for one in links if {one.source, one.target} <= ids and one.relation not in SUPPRESSING]


def _recalls(memory: Namespace, row: RunRow) -> Iterator[tuple[Trace, None]]:
    """The recalls of a run that are still kept, oldest first; every pair of theirs counts."""
    found = memory.store.traces(
        memory.namespace, since=row.started_at, session=row.session, limit=STORE.flow_count
    )
    for one in reversed(found):
        if row.ended_at is None or one.at <= row.ended_at:
            trace = memory.store.trace(memory.namespace, one.recall_id)
            if trace is not None:
                yield trace, None


def _run(memory: Namespace, row: RunRow, operation: str | None) -> Run:
    names = memory.store.names(memory.namespace, row.shown)
    shown = tuple(names[one] for one in row.shown if one in names)
    return Run(row.id, row.session, row.started_at, row.ended_at, row.settled, shown, operation)
