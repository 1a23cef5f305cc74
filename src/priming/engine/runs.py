"""Runs: the automatic tier. What a piece of work was shown is judged by what became of its output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from priming.checks import check_name, check_text
from priming.config.params.laws import PLASTICITY, SUPPRESSING
from priming.config.params.store import STORE
from priming.core.plasticity import AUTOMATIC, nudge
from priming.engine.coactivation import learn
from priming.engine.opened import Opened
from priming.errors import Conflict, NotFound, ParamError
from priming.ids import uuid7
from priming.store.protocol import Trace
from priming.store.rows import LinkRow, RowChange, RunRow
from priming.verdicts import Run

_SOURCE = "automatic"


def start(opened: Opened, session: str | None) -> Run:
    """Begin a run under a session."""
    wanted = check_name("session", session)
    with opened.writing() as now:
        _settle_stale(opened, now)
        run_id = uuid7(now)
        row = RunRow(run_id, wanted or f"run:{run_id}", now)
        for other in opened.store.runs(opened.namespace, settled=False):
            if other.session == row.session and other.ended_at is None:
                raise Conflict(f"run {other.id} of session {row.session!r} is under way: end it first")
        logged = opened.write("run-start", now, [RowChange(None, row)], source=_SOURCE)
        return _run(opened, row, logged.id)


def end(opened: Opened, run_id: str, used: bool | None) -> Run:
    """End a run: what its session was shown since its start is kept with it."""
    if used is not None and not isinstance(used, bool):
        raise ParamError("used", used, "must be True, False or None")
    with opened.writing() as now:
        _settle_stale(opened, now, but=run_id)
        row = _find(opened, run_id)
        if row.ended_at is not None:
            raise Conflict(f"run {row.id} ended at {row.ended_at.isoformat()}")
        ended = replace(row, ended_at=now, shown=_shown(opened, row))
        if used is not None:
            return _settle(opened, row, ended, now, used=used)
        logged = opened.write("run-end", now, [RowChange(row, ended)], source=_SOURCE)
        return _run(opened, ended, logged.id)


def used(opened: Opened, run_id: str) -> Run:
    """Settle a run whose output was used; one that is under way ends by it."""
    with opened.writing() as now:
        row = _find(opened, run_id)
        if row.settled is not None:
            raise Conflict(f"run {row.id} is settled as {row.settled}: undo that to settle it anew")
        ended = row if row.ended_at else replace(row, ended_at=now, shown=_shown(opened, row))
        run = _settle(opened, row, ended, now, used=True)
        _settle_stale(opened, now)
        return run


def _find(opened: Opened, run_id: str) -> RunRow:
    opened.readable()
    found = opened.store.runs(opened.namespace, [check_text("run_id", run_id)])
    if not found:
        raise NotFound(f"there is no run {run_id!r} in {opened.namespace!r}: start one with run_start")
    return found[0]


def _shown(opened: Opened, row: RunRow) -> tuple[str, ...]:
    """The memories that the run's recalls brought up, in the order in which they first came."""
    recalls = opened.store.traces(
        opened.namespace, since=row.started_at, session=row.session, limit=STORE.trace_count
    )
    return tuple(dict.fromkeys(memory for trace in reversed(recalls) for memory, _ in trace.hits))


def _settle_stale(opened: Opened, now: datetime, but: str | None = None) -> None:
    """A run whose output nobody used for long counts as unused."""
    oldest = now - timedelta(days=PLASTICITY.run_days)
    for row in opened.store.runs(opened.namespace, settled=False):
        if row.id != but and row.ended_at is not None and row.ended_at < oldest:
            _settle(opened, row, row, now, used=False)


def _settle(opened: Opened, before: RunRow, ended: RunRow, now: datetime, *, used: bool) -> Run:
    """Strengthen or weaken the links among what a run was shown, all in one operation."""
    row = replace(ended, settled="used" if used else "unused")
    delta = AUTOMATIC if used else -AUTOMATIC
    among = _among(opened.store.links(opened.namespace, row.shown) if row.shown else (), row.shown)
    moved = [
        RowChange(link, replace(link, weight=float(nudge(link.weight, delta)), last_activated=at))
        for link in among
        for at in [now if used else link.last_activated]
    ]
    changes = learn(opened, now, _recalls(opened, row), moved) if used else moved
    changes = [RowChange(before, row), *(one for one in changes if one.before != one.after)]
    logged = opened.write(
        "run", now, changes, source=_SOURCE, reason=f"the output of run {row.id} was {row.settled}"
    )
    return _run(opened, row, logged.id)


def _among(links: Iterable[LinkRow], shown: Iterable[str]) -> list[LinkRow]:
    """The links with both ends among some memories, but for those that suppress."""
    ids = set(shown)
    return [one for one in links if {one.source, one.target} <= ids and one.relation not in SUPPRESSING]


def _recalls(opened: Opened, row: RunRow) -> Iterator[tuple[Trace, None]]:
    """The recalls of a run that are still kept, oldest first; every pair of theirs counts."""
    found = opened.store.traces(
        opened.namespace, since=row.started_at, session=row.session, limit=STORE.flow_count
    )
    for one in reversed(found):
        if row.ended_at is None or one.at <= row.ended_at:
            trace = opened.store.trace(opened.namespace, one.recall_id)
            if trace is not None:
                yield trace, None


def list_(opened: Opened) -> list[Run]:
    """All runs, oldest first."""
    opened.readable()
    return [_run(opened, row, None) for row in opened.store.runs(opened.namespace)]


def _run(opened: Opened, row: RunRow, operation: str | None) -> Run:
    names = opened.store.names(opened.namespace, row.shown)
    shown = tuple(names[one] for one in row.shown if one in names)
    return Run(row.id, row.session, row.started_at, row.ended_at, row.settled, shown, operation)
