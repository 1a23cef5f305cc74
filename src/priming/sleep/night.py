"""A night of sleep: for each stage, read, plan, check, and write one operation.

``CONTRIBUTING.md`` lists what a new stage takes. A stage plans from its arguments, and neither reads nor writes the
store.

A night writes only rows that it has shown: an item whose rows have changed since waits for another night.
Nothing is purged, and undoing the last stage of a night reverts the whole of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.config.ids import derived, uuid7
from priming.config.params.limits import SLEEP, VECTORS
from priming.config.words import NIGHT, STAGES
from priming.core.arguments.checks import PAGE_LIMIT, absent_if_empty, check_choices, check_count
from priming.errors import Conflict, MissingExtra, NotFound, ParamError
from priming.history.inverse import in_room_order
from priming.history.undo import restored_vectors
from priming.index.working_set import IMPORT, RESTORE
from priming.llm.agents import check_agent
from priming.llm.protocol import Agent
from priming.namespace import Namespace
from priming.remember.vectors import alone, follow
from priming.sleep.deep import check_library
from priming.sleep.plan import PlannedItem, broken_rule, sound_items
from priming.sleep.reading import StageReader
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow, change_of
from priming.text.quotation import label
from priming.types import LeftAlone, Operation, Progress, Proposal, ProposedItem, StageCheck

KIND = "sleep"
_PROPOSALS = 8
"""Number of proposals that stay available to clients that can only name a proposal."""


def sleep(
    memory: Namespace,
    stages: Collection[str] | None = None,
    *,
    dry_run: bool = False,
    window: int | None = None,
    progress: Progress | None = None,
    agent: Agent | None = None,
) -> Proposal:
    """Run the stages in their order; the changes of each are written before the next is read.

    Without the extra ``sleep`` the stage ``deep`` is left, with the reason in ``left_alone``, unless it is in
    ``stages``: then ``MissingExtra`` is raised before anything is changed.

    A night whose id the caller chose (``identified``) is carried out once: where it was interrupted, the same call
    goes on with the stages after the last that was written.
    """
    agent = check_agent(agent)
    chosen = _stages(stages)
    if stages and "deep" in chosen:
        check_library()
    window = SLEEP.window if window is None else check_count("window", window, 1, PAGE_LIMIT)
    with memory.lock:
        at, head = memory.now(), memory.store.head(memory.namespace)
        requested, memory.requested_id = memory.requested_id, None
        night_id = requested or uuid7(at)
        written = _written_before(memory, night_id) if requested else {}
    chosen = _after(chosen, [*written.values()])
    night = Proposal(night_id, at, memory.namespace, chosen, operations=tuple(written), head=head)
    if written:
        night = replace(night, operation=night.operations[-1])
    doing = "is running sleep on this namespace"
    turn = alone(memory.store, memory.namespace, "sleep", at, doing)
    with turn if memory.store.place.exists and not dry_run else nullcontext():
        if not dry_run:
            follow(memory, VECTORS.night, progress=progress)
        taken: set[tuple[str, ...]] = set()
        for stage in chosen:
            if not dry_run:
                with memory.lock:
                    night = replace(night, head=memory.store.head(memory.namespace))
            items, checks, left = _propose(
                memory, stage, at, window, taken if dry_run else set(), progress, agent
            )
            night = replace(
                night,
                items=(*night.items, *items),
                checks=(*night.checks, *checks),
                left_alone=(*night.left_alone, *left),
            )
            if items and not dry_run:
                # The first operation has the id of the night, so that a second attempt cannot write it again.
                chosen_id = derived(night.id, stage) if night.operations else night.id
                night = _write_stage(memory, night, stage, items, chosen_id if requested else None)
    if dry_run:
        memory.proposals = {**dict([*memory.proposals.items()][1 - _PROPOSALS :]), night.id: night}
    return night


def _stages(stages: Collection[str] | None) -> tuple[str, ...]:
    """Return the checked stages, in the order of a night."""
    if absent_if_empty(stages) is None:
        return STAGES
    requested = check_choices("stages", stages, STAGES)
    return tuple(stage for stage in STAGES if stage in requested)


def _written_before(memory: Namespace, night_id: str) -> dict[str, str]:
    """Return the operations of an interrupted night, oldest first: id → stage."""
    logged = memory.operations(source=f"{NIGHT}{night_id}")
    return {operation.id: operation.reason or "" for operation in reversed(logged)}


def _after(chosen: Sequence[str], written: Sequence[str]) -> tuple[str, ...]:
    """Return the stages after the last written: those before it without an operation had nothing to change."""
    last = max((STAGES.index(stage) for stage in written), default=-1)
    return tuple(stage for stage in chosen if STAGES.index(stage) > last)


def _propose(
    memory: Namespace,
    stage: str,
    at: datetime,
    window: int,
    taken: set[tuple[str, ...]],
    progress: Progress | None,
    agent: Agent | None,
) -> tuple[list[ProposedItem], tuple[StageCheck, ...], list[LeftAlone]]:
    """Return the sound items of a stage over the present store, the checks' results, and what it leaves alone."""
    report: Progress = progress or (lambda _done, _total: None)
    report(0, None)
    with memory.lock, memory.store.transaction(write=False):
        reading = StageReader(memory, max(at, memory.now()), agent, window)
        plan = reading.stage(stage)
    try:
        planned = plan(report)
        changing = [item for item in planned if isinstance(item, PlannedItem)]
        leaving = [item for item in planned if isinstance(item, LeftAlone)][: SLEEP.listed]
    except MissingExtra as error:
        changing, leaving = [], [LeftAlone((), str(error))]
    with memory.lock, memory.store.transaction(write=False):
        valid, checks = sound_items(stage, changing, reading.check_context(changing), taken)
        items = [_item(memory, stage, number, item) for number, item in enumerate(valid, start=1)]
        names = memory.names(ids={end for entry in leaving for end in entry.keys})
    left = [
        replace(entry, stage=stage, keys=tuple(names.get(end, end) for end in entry.keys))
        for entry in leaving
    ]
    report(1, 1)
    return items, checks, left


def _item(memory: Namespace, stage: str, number: int, planned: PlannedItem) -> ProposedItem:
    """Return a planned item with an id of its own, and keys in place of the memories' ids."""
    created = {c.after.id: c.after.key for c in planned.rows if isinstance(c.after, MemoryRow)}
    ends = {end for change in planned.rows for end in change.ends}
    ids = {*planned.ids, *([] if planned.into is None else [planned.into]), *ends}
    names = {**memory.names(ids=ids), **created}
    return ProposedItem(
        id=f"{stage}-{number}",
        stage=stage,
        action=planned.action,
        keys=tuple(names.get(end, end) for end in planned.ids),
        into=None if planned.into is None else names.get(planned.into, planned.into),
        reason=planned.reason,
        evidence={name: _named(value, names) for name, value in planned.evidence.items()},
        changes=memory.to_changes(planned.rows, names),
    )


def _named(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(name, name): item for name, item in value.items()}
    return value


def _write_stage(
    memory: Namespace, night: Proposal, stage: str, items: Sequence[ProposedItem], operation_id: str | None
) -> Proposal:
    """Write the items of a stage; those whose rows changed during planning wait for the next night."""
    with memory.lock, memory.writing() as now:
        fresh, stale = unchanged_items(memory, items, night.head)
        check = StageCheck(stage, "unchanged-since", len(fresh), tuple(stale.values()))
        remaining = tuple(item for item in night.items if item.id not in stale)
        night = replace(night, items=remaining, checks=(*night.checks, check) if stale else night.checks)
        if not fresh:
            return night
        logged = _write(memory, night, fresh, now, stage, operation_id)
    return replace(night, operation=logged.id, operations=(*night.operations, logged.id))


def apply(memory: Namespace, proposal: Proposal | str, *, only: Collection[str] | None = None) -> Operation:
    """Apply a proposal, or ``only`` the items with these ids, as one operation, without planning again.

    ``proposal`` may be the id of one of the latest proposals of this object.

    Raises:
        ParamError: an id that is not of an item of the proposal, or a proposal of another namespace.
        NotFound: no proposal with that id is remembered.
        Conflict: a memory has changed since, the proposal is applied already, or it is empty.

    """
    if isinstance(proposal, str):
        if proposal not in memory.proposals:
            raise NotFound(f"there is no proposal {proposal!r} any more: run sleep with dry_run again")
        proposal = memory.proposals[proposal]
    items = _chosen(memory, proposal, only)
    with memory.lock, memory.writing() as now:
        _, stale = unchanged_items(memory, items, proposal.head)
        if stale:
            raise Conflict(f"{next(iter(stale.values()))}: run sleep again")
        return memory.to_operation(_write(memory, proposal, items, now, "proposal"))


def _chosen(memory: Namespace, proposal: Proposal, only: Collection[str] | None) -> list[ProposedItem]:
    if not isinstance(proposal, Proposal):
        raise ParamError("proposal", proposal, "must be the answer of sleep(dry_run=True), or its id")
    if proposal.namespace != memory.namespace:
        raise ParamError("proposal", proposal.namespace, f"must be of the namespace {memory.namespace!r}")
    if proposal.operations:
        raise Conflict(
            f"proposal {proposal.id} is applied already: undo {proposal.operation} to take it back"
        )
    if only is None:
        chosen = list(proposal.items)
    else:
        ids = _ids(only, {item.id for item in proposal.items})
        chosen = [item for item in proposal.items if item.id in ids]
    if not chosen:
        raise Conflict("there is nothing to apply: the proposal has no such items")
    return chosen


def _ids(only: Collection[str], known_ids: Collection[str]) -> set[str]:
    if isinstance(only, (str, bytes)) or not isinstance(only, Collection):
        raise ParamError("only", only, "must be a list of ids of items")
    for item_id in only:
        if not isinstance(item_id, str) or item_id not in known_ids:
            raise ParamError("only", item_id, "must be the id of an item of the proposal")
    return set(only)


def _write(
    memory: Namespace,
    night: Proposal,
    items: Sequence[ProposedItem],
    now: datetime,
    what: str,
    operation_id: str | None = None,
) -> Logged:
    rows = in_room_order(_recorded(change, night.at, now) for item in items for change in item_rows(item))
    existing = {(c.before.id, c.before.version) for c in rows if isinstance(c.before, VersionRow)}
    new = [
        c for c in rows if isinstance(c.after, VersionRow) and (c.after.id, c.after.version) not in existing
    ]
    return memory.write(
        KIND,
        now,
        rows,
        vectors=restored_vectors(memory, new),
        source=f"{NIGHT}{night.id}",
        reason=what,
        message=f"{what}: {_counted(items)}",
        operation_id=operation_id,
    )


def _recorded(change: RowChange, planned: datetime, now: datetime) -> RowChange:
    """Return a change with the time of writing in place of the time of planning."""
    before, after = change.before, change.after
    if isinstance(after, VersionRow):
        is_new = before is None
        after = replace(
            after,
            recorded_at=_later(after.recorded_at, planned, now) if is_new else after.recorded_at,
            retired_at=None if after.retired_at is None else _later(after.retired_at, planned, now),
        )
    elif isinstance(after, LinkRow) and before is None:
        after = replace(after, created_at=_later(after.created_at, planned, now))
    return RowChange(before, after)


def _later(at: datetime, planned: datetime, now: datetime) -> datetime:
    """Return the time of writing for a time that the plan set; an earlier time stays."""
    return max(at, now) if at >= planned else at


def _counted(items: Sequence[ProposedItem]) -> str:
    """Return the number of items by action, in words: ``2 mark, 1 archive``."""
    numbers = Counter(item.action for item in items)
    return ", ".join(f"{number:,} {action}" for action, number in numbers.items())


def unchanged_items(
    memory: Namespace, items: Iterable[ProposedItem], head: int
) -> tuple[list[ProposedItem], dict[str, str]]:
    """Return the items that still hold, and for each of the others, by id, what has changed since."""
    fresh, stale, moved = [], {}, _moved(memory, head)
    for item in items:
        why = _changed(memory, item, moved)
        if why is None:
            fresh.append(item)
        else:
            stale[item.id] = f"{item.id}: {why}"
    if fresh and memory.store.head(memory.namespace) != head:
        why_not = _broken(memory, fresh)
        stale |= {name: f"{name}: {why}" for name, why in why_not.items()}
        fresh = [item for item in fresh if item.id not in why_not]
    return fresh, stale


def _broken(memory: Namespace, items: Sequence[ProposedItem]) -> dict[str, str]:
    """Return the items that later operations made invalid, and why: by a new contradiction, for instance."""
    planned = {item.id: _planned(memory, item) for item in items}
    context = StageReader(memory, memory.now()).check_context(list(planned.values()))
    return {name: why for name, item in planned.items() if (why := broken_rule(item, context)) is not None}


def _planned(memory: Namespace, item: ProposedItem) -> PlannedItem:
    """Return an item as it was planned, with ids in place of keys."""
    rows = tuple(item_rows(item))
    into = () if item.into is None else (item.into,)
    ids = {**memory.ids_of({*item.keys, *into}), **_created(rows)}
    return PlannedItem(
        item.action,
        tuple(ids[key] for key in item.keys),
        None if item.into is None else ids[item.into],
        item.reason,
        item.evidence,
        rows,
    )


def _moved(memory: Namespace, head: int) -> set[str]:
    """Return the ids of memories whose text or status changed after an operation; all after an import or restore."""
    moved_ids: set[str] = set()
    for logged in memory.operations(after=head):
        if logged.kind in (IMPORT, RESTORE):
            return {row.id for row in memory.rows(MemoryRow)}
        moved_ids |= {change.ends[0] for change in logged.rows if _changes_text_or_status(change)}
    return moved_ids


def _changes_text_or_status(change: RowChange) -> bool:
    before, after = change.before, change.after
    if isinstance(before, MemoryRow) and isinstance(after, MemoryRow):
        return before.status != after.status
    return isinstance(change.row, (MemoryRow, VersionRow))


def _changed(memory: Namespace, item: ProposedItem, moved: set[str]) -> str | None:
    """Return what has changed since an item was planned, among its memories and rows; None if nothing has."""
    rows = item_rows(item)
    created = _created(rows)
    ids_by_key = memory.ids_of({*item.keys, *created, *([] if item.into is None else [item.into])})
    for key in created:
        if key in ids_by_key:
            return f"the key {key!r} has been taken since"
    for name in (*item.keys, *([] if item.into is None else [item.into])):
        if name not in created and (name not in ids_by_key or ids_by_key[name] in moved):
            return f"{name} changed since"
    ends = {end for row in rows if row.before is None for end in row.ends}.difference(created.values())
    if lost := ends - memory.names(ids=ends).keys():
        return f"{min(lost)} is not in this store, and the item would link it"
    for row, change in zip(rows, item.changes, strict=True):
        if memory.stored(row.row) != row.before:
            return f"{label(change.key)} changed since"
    return None


def _created(rows: Iterable[RowChange]) -> dict[str, str]:
    """Return the ids of the memories that an item makes, by key."""
    return {c.after.key: c.after.id for c in rows if c.before is None and isinstance(c.after, MemoryRow)}


def item_rows(item: ProposedItem) -> list[RowChange]:
    """Return the row changes of an item, decoded from its changes."""
    return [change_of(change.table, change.before, change.after) for change in item.changes]
