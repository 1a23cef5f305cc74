"""Runs: the use of a run's output is an automatic verdict on all memories that the run was shown.

When a run is settled, ``_settle`` moves the links among those memories by the automatic step: up if the output was
used, down if not. Only the links among memories that a profile with this law brought up move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from priming.config.ids import uuid7
from priming.config.params.laws import SUPPRESSING
from priming.config.params.store import STORE
from priming.config.profiles import Profile
from priming.core.arguments.checks import check_name, check_text
from priming.core.plasticity import nudge
from priming.errors import Conflict, ParamError
from priming.history.movements import links_text, moves_of
from priming.learning.coactivation import learn_coactivation, link_identity
from priming.learning.results import Run
from priming.namespace import Namespace
from priming.storage.protocol import Trace
from priming.storage.rows import LinkIdentity, LinkRow, RowChange, RunRow

_SOURCE = "automatic"


def run_start(memory: Namespace, session: str | None = None) -> Run:
    """Start a run: recalls under its session, by default a new one, belong to it.

    Raises:
        Conflict: a run of that session is under way.

    """
    name = check_name("session", session)
    with memory.writing() as now:
        _settle_overdue(memory, now)
        run_id = uuid7(now)
        row = RunRow(run_id, name or f"run:{run_id}", now)
        for other in memory.store.runs(memory.namespace, settled=False):
            if other.session == row.session and other.ended_at is None:
                raise Conflict(f"run {other.id} of session {row.session!r} is under way: end it first")
        logged = memory.write("run-start", now, [RowChange(None, row)], source=_SOURCE)
        return _run(memory, row, logged.id)


def run_end(memory: Namespace, run_id: str, *, used: bool | None = None) -> Run:
    """End a run and store which memories it was shown.

    With ``used`` the run is settled at once; otherwise it waits for ``run_used``, and counts as unused after
    ``PlasticityParams.run_days``.

    Raises:
        NotFound: no such run.
        Conflict: the run has ended already.

    """
    if used is not None and not isinstance(used, bool):
        raise ParamError("used", used, "must be True, False or None")
    with memory.changing() as now:
        _settle_overdue(memory, now, but=run_id)
        row = _find(memory, run_id)
        if row.ended_at is not None:
            raise Conflict(f"run {row.id} ended at {row.ended_at.isoformat()}")
        ended = replace(row, ended_at=now, shown=_shown_ids(memory, row))
        if used is not None:
            return _settle(memory, row, ended, now, used=used)
        logged = memory.write("run-end", now, [RowChange(row, ended)], source=_SOURCE)
        return _run(memory, ended, logged.id)


def run_list(memory: Namespace) -> list[Run]:
    """The runs of the namespace, oldest first."""
    with memory.lock:
        return memory.listed(_run(memory, row, None) for row in memory.store.runs(memory.namespace))


def run_used(memory: Namespace, run_id: str) -> Run:
    """Report that the output of a run was used: the links among the memories shown rise by the automatic step.

    Raises:
        NotFound: no such run.
        Conflict: the run is settled already.

    """
    with memory.changing() as now:
        row = _find(memory, run_id)
        if row.settled is not None:
            raise Conflict(
                f"run {row.id} is settled as {row.settled}: undo that operation to settle it again"
            )
        ended = row if row.ended_at else replace(row, ended_at=now, shown=_shown_ids(memory, row))
        run = _settle(memory, row, ended, now, used=True)
        _settle_overdue(memory, now)
        return run


def _find(memory: Namespace, run_id: str) -> RunRow:
    rows = memory.store.runs(memory.namespace, [check_text("run_id", run_id)])
    if not rows:
        raise memory.not_found(
            f"there is no run {run_id!r} in {memory.namespace!r}: start one with run_start"
        )
    return rows[0]


def _shown_ids(memory: Namespace, row: RunRow) -> tuple[str, ...]:
    """The ids of the memories that the run's recalls returned, in the order of their first return."""
    return tuple(dict.fromkeys(memory_id for trace in _recalled(memory, row) for memory_id, _ in trace.hits))


def _recalled(memory: Namespace, row: RunRow) -> list[Trace]:
    """The stored recalls of a run without their flows, oldest first."""
    recalls = memory.store.traces(
        memory.namespace, since=row.started_at, session=row.session, limit=STORE.trace_count
    )
    return [trace for trace in reversed(recalls) if row.ended_at is None or trace.at <= row.ended_at]


def _settle_overdue(memory: Namespace, now: datetime, but: str | None = None) -> None:
    """Settle runs as unused that ended more than ``run_days`` ago without a report, except the run ``but``."""
    oldest = now - timedelta(days=memory.profile.plasticity.run_days)
    for row in memory.store.runs(memory.namespace, settled=False):
        if row.id != but and row.ended_at is not None and row.ended_at < oldest:
            _settle(memory, row, row, now, used=False)


def _settle(memory: Namespace, before: RunRow, ended: RunRow, now: datetime, *, used: bool) -> Run:
    """Strengthen or weaken the links among the memories that a run was shown, as one operation."""
    row = replace(ended, settled="used" if used else "unused")
    moved: dict[LinkIdentity, RowChange] = {}
    for profile, shown in _shown_by_profile(memory, row).items():
        if profile.learning.runs:
            links = memory.store.links(memory.namespace, shown)
            changed = _moved_links(_links_among(links, shown), profile, now, used=used)
            moved = {**{link_identity(change.row): change for change in changed}, **moved}  # type: ignore[arg-type]
    changes = (
        learn_coactivation(memory, now, _recalls(memory, row), moved.values()) if used else [*moved.values()]
    )
    changes = [RowChange(before, row), *(change for change in changes if change.before != change.after)]
    logged = memory.write(
        "run",
        now,
        changes,
        source=_SOURCE,
        reason=f"the output of run {row.id} was {row.settled}",
        message=links_text(moves_of(changes, memory.profile.plasticity)) or "no link moved",
    )
    return _run(memory, row, logged.id)


def _shown_by_profile(memory: Namespace, row: RunRow) -> Mapping[Profile, list[str]]:
    """The memories that a run was shown, by the profile that recalled them; lost recalls count as the namespace's."""
    shown: dict[str, dict[str, None]] = {}
    for trace in _recalled(memory, row):
        name = trace.profile if trace.profile in memory.profiles else memory.profile.name
        shown.setdefault(name, {}).update(dict.fromkeys(memory_id for memory_id, _ in trace.hits))
    lost = set(row.shown).difference(*shown.values())
    if lost:
        shown.setdefault(memory.profile.name, {}).update(dict.fromkeys(lost))
    return {memory.profiles[name]: list(ids) for name, ids in shown.items()}


def _moved_links(links: Iterable[LinkRow], profile: Profile, now: datetime, *, used: bool) -> list[RowChange]:
    """The links moved by the automatic step of a profile."""
    p = profile.plasticity
    delta = p.automatic if used else -p.automatic
    return [
        RowChange(
            link, replace(link, weight=float(nudge(link.weight, delta, p.low, p.high)), last_activated=at)
        )
        for link in links
        for at in [now if used else link.last_activated]
    ]


def _links_among(links: Iterable[LinkRow], shown: Iterable[str]) -> list[LinkRow]:
    """The links with both ends among the memories, without those that suppress."""
    ids = set(shown)
    return [link for link in links if {link.source, link.target} <= ids and link.relation not in SUPPRESSING]


def _recalls(memory: Namespace, row: RunRow) -> Iterator[tuple[Trace, None]]:
    """The stored recalls of a run, oldest first; None stands for every pair of each."""
    recalls = memory.store.traces(
        memory.namespace, since=row.started_at, session=row.session, limit=STORE.flow_count
    )
    for recall in reversed(recalls):
        if row.ended_at is None or recall.at <= row.ended_at:
            trace = memory.store.trace(memory.namespace, recall.recall_id)
            if trace is not None:
                yield trace, None


def _run(memory: Namespace, row: RunRow, operation: str | None) -> Run:
    names = memory.store.names(memory.namespace, row.shown)
    shown = tuple(names[memory_id] for memory_id in row.shown if memory_id in names)
    return Run(row.id, row.session, row.started_at, row.ended_at, row.settled, shown, operation)
