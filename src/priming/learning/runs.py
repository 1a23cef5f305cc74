"""Runs: the use of a run's output is an automatic verdict on what the run was shown.

When a run is settled, ``_settle`` moves links by the automatic step: up if the output was used, down if not. If the
agent wrote memories or links in the run, those rise that led between the memories that it followed; of a run that
wrote nothing, and of one that came to nothing, all links among what was shown. Only links among memories that a
profile with this law brought up move. A memory that was written in a run and proves useful settles it as used, also
if it has been merged since, and also after the run counted as unused because no report had come by then.

After seven days without a report a run counts as unused: a later report undoes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from priming.config.ids import uuid7
from priming.config.params.limits import STORE
from priming.config.profiles import Profile
from priming.config.words import BY_VERDICT, STAND_FOR
from priming.core.arguments.checks import check_name, check_text
from priming.core.plasticity import nudge
from priming.errors import Conflict, ParamError
from priming.history.log import newest_first
from priming.history.movements import link_identity, links_text, moves_of
from priming.history.undo import undo
from priming.learning.coactivation import POSITIVE, learn_coactivation
from priming.learning.run_actions import Run, followed, followed_links, run_actions
from priming.namespace import Namespace
from priming.recall import traces
from priming.storage.protocol import Trace
from priming.storage.rows import (
    LinkIdentity,
    LinkRow,
    MemoryPair,
    MemoryRow,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
)

DONE = "done"
"""The kind of the operation that reports the execution of a procedure."""
_SOURCE = "automatic"
_LISTED = 5
"""How many runs an error lists."""


def run_start(memory: Namespace, session: str | None = None) -> Run:
    """Start a run. Recalls with its session belong to it.

    By default the session is a new one.

    Raises:
        Conflict: a run of that session is under way.

    """
    name = check_name("session", session)
    with memory.writing() as now:
        _settle_overdue(memory, now)
        run_id = uuid7(now)
        row = RunRow(run_id, name or f"run:{run_id}", now)
        for other in memory.rows(RunRow, settled=False):
            if other.session == row.session and other.ended_at is None:
                raise Conflict(f"run {other.id} of session {row.session!r} is under way: end it first")
        logged = memory.write("run-start", now, [RowChange(None, row)], source=_SOURCE)
        return _run(memory, row, logged.id)


def run_end(memory: Namespace, run_id: str, *, used: bool | None = None) -> Run:
    """End a run and store which memories it was shown.

    With ``used`` the run is settled at once; otherwise it waits for ``run_used``, or until a memory that it wrote
    proves useful, and counts as unused after ``PlasticityParams.run_days``.

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
        if used is not None or _output_proved_useful(memory, row):
            return _settle(memory, row, ended, now, used=used is not False)
        logged = memory.write("run-end", now, [RowChange(row, ended)], source=_SOURCE)
        return _run(memory, ended, logged.id)


def run_list(memory: Namespace) -> list[Run]:
    """List runs, oldest first."""
    with memory.lock:
        return memory.listed(_run(memory, row, None) for row in memory.rows(RunRow))


def run_used(memory: Namespace, run_id: str) -> Run:
    """Report that the output of a run was used: the links among the memories shown rise by the automatic step.

    Of a run that counts as unused only because no report came in time, that step is taken back first.

    Raises:
        NotFound: no such run.
        Conflict: the run is settled already.

    """
    with memory.changing() as now:
        row = _reopened(memory, _find(memory, run_id))
        if row.settled is not None:
            raise Conflict(
                f"run {row.id} is settled as {row.settled}: undo that operation to settle it again"
            )
        ended = row if row.ended_at else replace(row, ended_at=now, shown=_shown_ids(memory, row))
        run = _settle(memory, row, ended, now, used=True)
        _settle_overdue(memory, now)
        return run


def _find(memory: Namespace, run_id: str) -> RunRow:
    rows = memory.rows(RunRow, ids=[check_text("run_id", run_id)])
    if not rows:
        latest = [row.id for row in memory.rows(RunRow)[: -_LISTED - 1 : -1]]
        runs = f"the latest are {', '.join(latest)}" if latest else "start one with run_start"
        raise memory.not_found(f"there is no run {run_id!r} in {memory.namespace!r}: {runs}")
    return rows[0]


def _shown_ids(memory: Namespace, row: RunRow) -> tuple[str, ...]:
    """Return the ids of the memories that the run's recalls returned, in the order of their first return."""
    return tuple(dict.fromkeys(memory_id for trace in _recalled(memory, row) for memory_id, _ in trace.hits))


def _recalled(memory: Namespace, row: RunRow, most: int = STORE.trace_count) -> list[Trace]:
    """Return the stored recalls of a run without their flows, oldest first."""
    recalls = memory.rows(Trace, since=row.started_at, session=row.session, limit=most)
    return [trace for trace in reversed(recalls) if row.ended_at is None or trace.at <= row.ended_at]


def _settle_overdue(memory: Namespace, now: datetime, but: str | None = None) -> None:
    """Settle runs as unused that ended more than ``run_days`` ago without a report, except the run ``but``."""
    oldest = now - timedelta(days=memory.profile.plasticity.run_days)
    for row in memory.rows(RunRow, settled=False):
        if row.id != but and row.ended_at is not None and row.ended_at < oldest:
            _settle(memory, row, row, now, used=_output_proved_useful(memory, row))


def settle_by_output(
    memory: Namespace, useful: Collection[str], links: Collection[LinkIdentity], now: datetime, verdict: str
) -> list[Run]:
    """Settle as used the ended runs that wrote one of the memories ``useful``, or made one of ``links``.

    A run that wrote a memory for which one of ``useful`` stands since counts, and so does one that counted as unused
    only because no report came in time. ``verdict`` is the operation by which they proved useful.
    """
    settled = []
    memories = _absorbed(memory, useful)
    times = {version.recorded_at for version in memory.rows(VersionRow, ids=memories)}
    ends = {end for source, target, _ in links for end in (source, target)}
    times |= {link.created_at for link in memory.rows(LinkRow, ids=ends) if link_identity(link) in links}
    runs = {row.id: row for at in sorted(times) for row in memory.rows(RunRow, during=at)}
    for stored in runs.values():
        if stored.settled != "used" and _wrote(memory, stored, memories, links):
            row = _reopened(memory, stored)
            if row.settled is None:
                settled.append(_settle(memory, row, row, now, used=True, verdict=verdict))
    return settled


def settled_text(runs: Iterable[Run]) -> str:
    """Return the runs that a verdict settled, each on a further line of its message."""
    return "".join(
        f"\nthe run {run.id} is settled as used, by what it wrote: operation {run.operation}" for run in runs
    )


def _wrote(
    memory: Namespace, row: RunRow, memories: Collection[str], links: Collection[LinkIdentity]
) -> bool:
    """Tell whether a run wrote one of the memories or made one of the links, whose ends may be merged since."""
    for action in run_actions(memory, row):
        if action.written & set(memories):
            return True
        ends = _successors(memory, {end for link in action.links for end in link[:2]})
        moved = {
            (_last(ends, source), _last(ends, target), relation) for source, target, relation in action.links
        }
        if (action.links | moved) & set(links):
            return True
    return False


def _absorbed(memory: Namespace, ids: Iterable[str]) -> set[str]:
    """Return the memories, and those for which they stand since."""
    absorbed, waiting = set(ids), set(ids)
    while waiting:
        links = memory.rows(LinkRow, ids=waiting)
        sources = {link.source for link in links if link.relation in STAND_FOR and link.target in waiting}
        waiting = sources - absorbed
        absorbed |= waiting
    return absorbed


def _successors(memory: Namespace, ids: Iterable[str]) -> dict[str, LinkRow]:
    """Map each memory to the link to the one that stands for it since, and so on for those that it leads to."""
    successors, waiting = dict[str, LinkRow](), set(ids)
    while waiting:
        links = memory.rows(LinkRow, ids=waiting)
        new = {link.source: link for link in links if link.relation in STAND_FOR and link.source in waiting}
        successors |= new
        waiting = {link.target for link in new.values()} - successors.keys()
    return successors


def _last(successors: Mapping[str, LinkRow], memory_id: str) -> str:
    """Return the memory that stands for another in the end."""
    passed = {memory_id}
    while (link := successors.get(memory_id)) is not None and link.target not in passed:
        memory_id = link.target
        passed.add(memory_id)
    return memory_id


def _reopened(memory: Namespace, row: RunRow) -> RunRow:
    """Return the run, with its settlement undone if it counted as unused only because no report came in time."""
    if row.settled != "unused":
        return row
    subject = row.shown[0] if row.shown else None
    for logged in newest_first(memory, memory_id=subject, since=row.ended_at):
        for change in logged.rows:
            before, after = change.before, change.after
            if (
                isinstance(before, RunRow)
                and before.id == row.id
                and after == row
                and logged.undone_by is None
            ):
                if before.ended_at is None or before.settled is not None:
                    return row  # it was reported as unused
                undo(memory, logged.id)
                return _find(memory, row.id)
    return row


def _output_proved_useful(memory: Namespace, row: RunRow) -> bool:
    """Tell whether a memory that a run wrote, or one that stands for it since, has proved useful."""
    written = {memory_id for action in run_actions(memory, row) for memory_id in action.written}
    times = dict.fromkeys(written, row.started_at)
    for link in _successors(memory, written).values():
        times[link.target] = min(times.get(link.target, link.created_at), link.created_at)
    verdicts = memory.rows(VerdictRow, ids=times)
    return any(
        verdict.verdict in POSITIVE and verdict.at >= times[verdict.id] for verdict in verdicts
    ) or any(_succeeded(memory, memory_id, since) for memory_id, since in times.items())


def _succeeded(memory: Namespace, memory_id: str, since: datetime) -> bool:
    """Tell whether an execution of a procedure was reported as successful since a time."""
    return any(
        isinstance(change.before, MemoryRow)
        and isinstance(change.after, MemoryRow)
        and change.after.helped > change.before.helped
        for logged in newest_first(memory, memory_id=memory_id, since=since)
        if logged.kind == DONE and logged.undone_by is None
        for change in logged.rows
    )


def _settle(
    memory: Namespace,
    before: RunRow,
    ended: RunRow,
    now: datetime,
    *,
    used: bool,
    verdict: str | None = None,
) -> Run:
    """Strengthen or weaken the links that a run followed, as one operation."""
    row = replace(ended, settled="used" if used else "unused")
    actions = run_actions(memory, row)
    own = {identity for action in actions for identity in action.links}
    moved, useful = dict[LinkIdentity, RowChange](), set[str]()
    recalls = [*_recalls(memory, row)] if used else []
    ways = _ways(recalls) if actions else {}
    for profile, shown in _shown_by_profile(memory, row).items():
        follows = [followed(memory, action, shown) for action in actions]
        useful |= set[str]().union(*follows)
        if profile.learning.runs:
            signs = memory.signs()
            links = [
                link
                for link in memory.rows(LinkRow, ids=shown, both=True)
                if not signs.suppresses(link.relation) and link_identity(link) not in own
            ]
            if actions and used:
                rows = (followed_links(links, memories, ways) for memories in follows)
                links = [*{identity: link for each in rows for identity, link in each.items()}.values()]
            changed = _moved_links(links, profile, now, used=used)
            moved = {**{link_identity(change.row): change for change in changed}, **moved}  # type: ignore[arg-type]
    taught = [(recall, useful if actions else None) for recall in recalls]
    changes = learn_coactivation(memory, now, taught, moved.values())
    changes = [RowChange(before, row), *(change for change in changes if change.before != change.after)]
    logged = memory.write(
        "run",
        now,
        changes,
        source=_SOURCE,
        reason=f"the output of run {row.id} was {row.settled}"
        + (f"{BY_VERDICT}{verdict}" if verdict else ""),
        message=links_text(moves_of(changes, memory.profile.plasticity)) or "no link moved",
    )
    return _run(memory, row, logged.id)


def _ways(recalls: Iterable[Trace]) -> dict[str, list[MemoryPair]]:
    """Return the ends of the links by which each hit of some recalls was reached; of the first recall that has it."""
    ways: dict[str, list[MemoryPair]] = {}
    for recall in recalls:
        flow = traces.flow_of(recall)
        rows = {} if flow is None else {memory_id: flow.row(memory_id) for memory_id, _ in recall.hits}
        if flow is not None:
            paths = flow.paths([row for row in rows.values() if row is not None])
            for memory_id, row in rows.items():
                hops = paths[row] if row is not None else ()
                ways.setdefault(memory_id, [(flow.nodes[hop.source], flow.nodes[hop.target]) for hop in hops])
    return ways


def _shown_by_profile(memory: Namespace, row: RunRow) -> Mapping[Profile, list[str]]:
    """Return a run's shown memories, by the profile that recalled them; lost recalls count as the namespace's."""
    shown: dict[str, dict[str, None]] = {}
    for trace in _recalled(memory, row):
        name = trace.profile if trace.profile in memory.profiles else memory.profile.name
        shown.setdefault(name, {}).update(dict.fromkeys(memory_id for memory_id, _ in trace.hits))
    lost = set(row.shown).difference(*shown.values())
    if lost:
        shown.setdefault(memory.profile.name, {}).update(dict.fromkeys(lost))
    return {memory.profiles[name]: list(ids) for name, ids in shown.items()}


def _moved_links(links: Iterable[LinkRow], profile: Profile, now: datetime, *, used: bool) -> list[RowChange]:
    """Return the links moved by the automatic step of a profile."""
    p = profile.plasticity
    delta = p.automatic if used else -p.automatic
    return [
        RowChange(
            link, replace(link, weight=float(nudge(link.weight, delta, p.low, p.high)), last_activated=at)
        )
        for link in links
        for at in [now if used else link.last_activated]
    ]


def _recalls(memory: Namespace, row: RunRow) -> Iterator[Trace]:
    """Yield the stored recalls of a run with their flows, oldest first."""
    for recall in _recalled(memory, row, STORE.flow_count):
        trace = memory.recall_of(recall.recall_id)
        if trace is not None:
            yield trace


def _run(memory: Namespace, row: RunRow, operation: str | None) -> Run:
    names = memory.names(ids=row.shown)
    shown = tuple(names[memory_id] for memory_id in row.shown if memory_id in names)
    return Run(row.id, row.session, row.started_at, row.ended_at, row.settled, shown, operation)
