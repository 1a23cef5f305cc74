"""A night: stage after stage, each read, planned, checked, and written as one operation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.engine.draft import MOST, count, one_of
from priming.engine.ids import uuid7
from priming.engine.opened import Opened
from priming.engine.sleep.checks import sound
from priming.engine.sleep.lock import asleep
from priming.engine.sleep.planned import Planned
from priming.engine.sleep.reading import Reading
from priming.engine.undo import vectors_again
from priming.engine.working import IMPORT, RESTORE
from priming.errors import Conflict, ParamError
from priming.params import SLEEP
from priming.sleeping import Check, Item, Proposal
from priming.store.protocol import Logged
from priming.store.rows import ROOMS, LinkRow, MemoryRow, Row, RowChange, VersionRow, decode
from priming.types import Operation
from priming.words import NIGHT, STAGES

Progress = Callable[[int, int | None], None]

KIND = "sleep"


def sleep(
    opened: Opened,
    stages: Collection[str] | None,
    *,
    dry_run: bool,
    window: int | None,
    progress: Progress | None,
) -> Proposal:
    """Go through the stages; what is done with each is written before the next is read."""
    chosen = _stages(stages)
    params = SLEEP if window is None else replace(SLEEP, window=count("window", window, 1, MOST))
    with opened.lock:
        opened.readable()
        at, head = opened.now(), opened.store.head(opened.namespace)
    night = Proposal(uuid7(at), at, opened.namespace, chosen, head=head)
    with nullcontext() if dry_run else asleep(_lock(opened), at):
        taken: set[tuple[str, ...]] = set()
        for stage in chosen:
            night = night if dry_run else replace(night, head=_head(opened))
            items, checks = _propose(opened, stage, at, params, taken if dry_run else set(), progress)
            night = replace(night, items=(*night.items, *items), checks=(*night.checks, *checks))
            if items and not dry_run:
                night = _done(opened, night, stage, items)
    return night


def _stages(stages: Collection[str] | None) -> tuple[str, ...]:
    """The stages asked for, in the order of a night."""
    if stages is None:
        return STAGES
    if isinstance(stages, (str, bytes)) or not isinstance(stages, Collection) or not stages:
        raise ParamError("stages", stages, f"must be a list of stages: {', '.join(STAGES)}")
    asked = {one_of("stages", one, STAGES) for one in stages}
    return tuple(one for one in STAGES if one in asked)


def _head(opened: Opened) -> int:
    with opened.lock:
        return opened.store.head(opened.namespace)


def _lock(opened: Opened) -> Path | None:
    folder = opened.store.scratch
    name = hashlib.blake2b(opened.namespace.encode(), digest_size=8).hexdigest()
    return None if folder is None else folder / f"{name}.sleep"


def _propose(
    opened: Opened,
    stage: str,
    at: datetime,
    params: Any,
    taken: set[tuple[str, ...]],
    progress: Progress | None,
) -> tuple[list[Item], tuple[Check, ...]]:
    """The items of a stage, against the store as it is now, and what was checked of them."""
    tell: Progress = progress or (lambda _done, _total: None)
    tell(0, None)
    with opened.lock, opened.store.transaction(write=False):
        reading = Reading(opened, max(at, opened.now()), params)
        plan = reading.stage(stage)
    planned = plan(tell)
    with opened.lock, opened.store.transaction(write=False):
        kept, checks = sound(stage, planned, reading.surroundings(planned), taken)
        items = [_item(opened, stage, number, one) for number, one in enumerate(kept, start=1)]
    tell(1, 1)
    return items, checks


def _item(opened: Opened, stage: str, number: int, one: Planned) -> Item:
    """A planned item with a number, and keys for ids."""
    made = {c.after.id: c.after.key for c in one.rows if isinstance(c.after, MemoryRow)}
    ends = {end for change in one.rows for end in change.ends}
    ids = {*one.ids, *([] if one.into is None else [one.into]), *ends}
    names = {**opened.store.names(opened.namespace, ids), **made}
    return Item(
        id=f"{stage}-{number}",
        stage=stage,
        action=one.action,
        keys=tuple(names.get(end, end) for end in one.ids),
        into=None if one.into is None else names.get(one.into, one.into),
        reason=one.reason,
        evidence={name: _named(value, names) for name, value in one.evidence.items()},
        changes=opened.changes(one.rows, names),
    )


def _named(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(name, name): one for name, one in value.items()}
    return value


def _done(opened: Opened, night: Proposal, stage: str, items: Sequence[Item]) -> Proposal:
    """The night with one more stage written; what changed while it was planned is left for the next."""
    with opened.lock, opened.writing() as now:
        fresh, stale = _still(opened, items, night.head)
        check = Check(stage, "unchanged-since", len(fresh), tuple(stale.values()))
        kept = tuple(one for one in night.items if one.id not in stale)
        night = replace(night, items=kept, checks=(*night.checks, check) if stale else night.checks)
        if not fresh:
            return night
        logged = _write(opened, night, fresh, now, stage)
    return replace(night, operation=logged.id, operations=(*night.operations, logged.id))


def apply(opened: Opened, proposal: Proposal, only: Collection[str] | None) -> Operation:
    """Write the items of a proposal, or some of them, as one operation, if all is still as it was."""
    items = _chosen(opened, proposal, only)
    with opened.lock, opened.writing() as now:
        opened.readable()
        _, stale = _still(opened, items, proposal.head)
        if stale:
            raise Conflict(f"{next(iter(stale.values()))}: sleep again")
        return opened.operation(_write(opened, proposal, items, now, "proposal"))


def _chosen(opened: Opened, proposal: Proposal, only: Collection[str] | None) -> list[Item]:
    if not isinstance(proposal, Proposal):
        raise ParamError("proposal", proposal, "must be what sleep(dry_run=True) answered")
    if proposal.namespace != opened.namespace:
        raise ParamError("proposal", proposal.namespace, f"must be of the namespace {opened.namespace!r}")
    if proposal.operations:
        raise Conflict(
            f"proposal {proposal.id} is applied already: undo {proposal.operation} to take it back"
        )
    if only is None:
        chosen = list(proposal.items)
    else:
        wanted = _ids(only, {one.id for one in proposal.items})
        chosen = [one for one in proposal.items if one.id in wanted]
    if not chosen:
        raise Conflict("there is nothing to apply: the proposal has no such items")
    return chosen


def _ids(only: Collection[str], there: Collection[str]) -> set[str]:
    if isinstance(only, (str, bytes)) or not isinstance(only, Collection):
        raise ParamError("only", only, "must be a list of ids of items")
    for one in only:
        if one not in there:
            raise ParamError("only", one, "must be the id of an item of the proposal")
    return set(only)


def _still(opened: Opened, items: Iterable[Item], head: int) -> tuple[list[Item], dict[str, str]]:
    """The items that rest on what is still so, and for each of the others what changed since."""
    fresh, stale, moved = [], {}, _moved(opened, head)
    for one in items:
        why = _changed(opened, one, moved)
        if why is None:
            fresh.append(one)
        else:
            stale[one.id] = f"{one.id}: {why}"
    return fresh, stale


def _moved(opened: Opened, head: int) -> set[str]:
    """The ids of the memories whose text or status changed after an operation; of all, where all was read anew."""
    found: set[str] = set()
    for logged in opened.store.since(opened.namespace, head):
        if logged.kind in (IMPORT, RESTORE):
            return {one.id for one in opened.store.memories(opened.namespace)}
        found |= {change.ends[0] for change in logged.rows if _says_something_else(change)}
    return found


def _says_something_else(change: RowChange) -> bool:
    before, after = change.before, change.after
    if isinstance(before, MemoryRow) and isinstance(after, MemoryRow):
        return before.status != after.status
    return isinstance(change.row, (MemoryRow, VersionRow))


def _changed(opened: Opened, item: Item, moved: set[str]) -> str | None:
    """What an item rests on that is no longer so: a memory that it is about, or a row that it changes."""
    store, namespace, rows = opened.store, opened.namespace, _rows(item)
    made = [c.after.key for c in rows if c.before is None and isinstance(c.after, MemoryRow)]
    there = store.keys(namespace, {*item.keys, *made, *([] if item.into is None else [item.into])})
    for key in made:
        if key in there:
            return f"the key {key!r} was taken since"
    for name in (*item.keys, *([] if item.into is None else [item.into])):
        if name not in made and (name not in there or there[name] in moved):
            return f"{name} changed since"
    for row, told in zip(rows, item.changes, strict=True):
        if store.present(namespace, row.row) != row.before:
            return f"{told.key} changed since"
    return None


def _rows(item: Item) -> list[RowChange]:
    """The row changes of an item, read from how it shows them."""
    return [RowChange(_row(one.table, one.before), _row(one.table, one.after)) for one in item.changes]


def _row(table: str, side: Mapping[str, Any] | None) -> Row | None:
    return None if side is None else decode(ROOMS[table], side)


def _write(opened: Opened, night: Proposal, items: Sequence[Item], now: datetime, what: str) -> Logged:
    rows = [_recorded(change, night.at, now) for item in items for change in _rows(item)]
    order = {room: place for place, room in enumerate(ROOMS)}
    rows.sort(key=lambda change: order[change.room])
    there = {(c.before.id, c.before.version) for c in rows if isinstance(c.before, VersionRow)}
    new = [c for c in rows if isinstance(c.after, VersionRow) and (c.after.id, c.after.version) not in there]
    return opened.write(
        KIND,
        now,
        rows,
        vectors=vectors_again(opened, new),
        source=f"{NIGHT}{night.id}",
        reason=what,
        message=f"{what}: {_counted(items)}",
    )


def _recorded(change: RowChange, planned: datetime, now: datetime) -> RowChange:
    """A change with the time of its writing for that of its planning: what is known is known from then on."""
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
    """A time that was set by the plan, brought to its writing; one that was there before stays."""
    return max(at, now) if at >= planned else at


def _counted(items: Sequence[Item]) -> str:
    """What items do, in words: ``2 mark, 1 archive``."""
    numbers: dict[str, int] = {}
    for one in items:
        numbers[one.action] = numbers.get(one.action, 0) + 1
    return ", ".join(f"{number:,} {action}" for action, number in numbers.items())
