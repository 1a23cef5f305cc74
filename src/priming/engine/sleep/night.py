"""A night: stage after stage, each read, planned, checked, and written as one operation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.engine.draft import MOST, count, one_of
from priming.engine.opened import Opened
from priming.engine.sleep.checks import sound
from priming.engine.sleep.lock import asleep
from priming.engine.sleep.planned import Planned
from priming.engine.sleep.reading import Reading
from priming.engine.sleep.still import rows_of, still
from priming.engine.undo import vectors_again
from priming.errors import Conflict, NotFound, ParamError
from priming.ids import uuid7
from priming.llm.agents import check_agent
from priming.llm.protocol import Agent
from priming.params import SLEEP
from priming.sleeping import Check, Item, Proposal
from priming.store.protocol import Logged
from priming.store.rows import ROOMS, LinkRow, MemoryRow, RowChange, VersionRow
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
    agent: Agent | None = None,
) -> Proposal:
    """Go through the stages; what is done with each is written before the next is read."""
    agent = check_agent(agent)
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
            items, checks = _propose(opened, stage, at, params, taken if dry_run else set(), progress, agent)
            night = replace(night, items=(*night.items, *items), checks=(*night.checks, *checks))
            if items and not dry_run:
                night = _done(opened, night, stage, items)
    if dry_run:
        opened.proposed(night)
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
    agent: Agent | None,
) -> tuple[list[Item], tuple[Check, ...]]:
    """The items of a stage, against the store as it is now, and what was checked of them."""
    tell: Progress = progress or (lambda _done, _total: None)
    tell(0, None)
    with opened.lock, opened.store.transaction(write=False):
        reading = Reading(opened, max(at, opened.now()), params, agent)
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
        fresh, stale = still(opened, items, night.head)
        check = Check(stage, "unchanged-since", len(fresh), tuple(stale.values()))
        kept = tuple(one for one in night.items if one.id not in stale)
        night = replace(night, items=kept, checks=(*night.checks, check) if stale else night.checks)
        if not fresh:
            return night
        logged = _write(opened, night, fresh, now, stage)
    return replace(night, operation=logged.id, operations=(*night.operations, logged.id))


def apply(opened: Opened, given: Proposal | str, only: Collection[str] | None) -> Operation:
    """Write the items of a proposal, or some of them, as one operation, if all is still as it was."""
    proposal = _remembered(opened, given) if isinstance(given, str) else given
    items = _chosen(opened, proposal, only)
    with opened.lock, opened.writing() as now:
        opened.readable()
        _, stale = still(opened, items, proposal.head)
        if stale:
            raise Conflict(f"{next(iter(stale.values()))}: sleep again")
        return opened.operation(_write(opened, proposal, items, now, "proposal"))


def _remembered(opened: Opened, proposal_id: str) -> Proposal:
    """The proposal of that id, if it is one of the latest that were made here."""
    found = opened.proposals.get(proposal_id)
    if found is None:
        raise NotFound(f"there is no proposal {proposal_id!r} here any more: sleep with dry_run again")
    return found


def _chosen(opened: Opened, proposal: Proposal, only: Collection[str] | None) -> list[Item]:
    if not isinstance(proposal, Proposal):
        raise ParamError("proposal", proposal, "must be what sleep(dry_run=True) answered, or its id")
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
        if not isinstance(one, str) or one not in there:
            raise ParamError("only", one, "must be the id of an item of the proposal")
    return set(only)


def _write(opened: Opened, night: Proposal, items: Sequence[Item], now: datetime, what: str) -> Logged:
    rows = [_recorded(change, night.at, now) for item in items for change in rows_of(item)]
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
