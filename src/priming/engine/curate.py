"""Keeping memories in order: deprecate, restore, merge, deduplicate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime

from priming.behaviors import Twins
from priming.checks import check_choice, check_fraction, check_name
from priming.config.params.laws import PLASTICITY, SIMILARITY
from priming.core.rules import forbids
from priming.core.trust import instructs, is_trusted_as
from priming.engine.merging import DEPRECATED, RANKED, REPLACED, Merging
from priming.engine.opened import Opened
from priming.engine.twins import alike
from priming.errors import Conflict, ParamError
from priming.store.rows import LinkRow, MemoryRow, RowChange
from priming.types import MemoryRecord, Operation
from priming.words import KINDS

SAID = tuple(kind for kind in KINDS if kind != "entity")
"""Kinds that can hold the same twice: names are one memory each from the start."""


def deprecate(opened: Opened, key: str, by: str | None, reason: str | None) -> Operation:
    """Take a memory out of recall because it no longer holds, and name what holds instead."""
    why = check_name("reason", reason)
    with opened.writing() as now:
        memory = _active(opened, key, now)
        rows = [RowChange(memory, replace(memory, status="deprecated"))]
        message = None
        if by is not None:
            successor = _active(opened, by, now)
            if successor.id == memory.id:
                raise ParamError("by", by, "must be another memory than the one that is deprecated")
            link = LinkRow(memory.id, successor.id, DEPRECATED, PLASTICITY.start, now)
            if opened.store.present(opened.namespace, link) is None:
                rows.append(RowChange(None, link))
            message = f"{successor.key!r} stands for it"
        return opened.operation(opened.write("deprecate", now, rows, reason=why, message=message))


def restore(opened: Opened, key: str) -> Operation:
    """Bring a deprecated, merged, archived or forgotten memory back; nothing takes its place any longer."""
    with opened.writing() as now:
        memory = _row(opened, key, now)
        if memory.status == "active":
            raise Conflict(
                f"{memory.key!r} is active already: deprecate or forget it to take it out of recall"
            )
        replaced = [
            one
            for one in opened.store.links(opened.namespace, [memory.id])
            if one.source == memory.id and one.relation in REPLACED
        ]
        rows = [RowChange(memory, replace(memory, status="active"))]
        rows += [RowChange(one, None) for one in replaced]
        message = "; ".join([f"it was {memory.status}", *_unlinked(opened, memory, replaced)])
        return opened.operation(opened.write("restore", now, rows, message=message))


def _unlinked(opened: Opened, memory: MemoryRow, replaced: Sequence[LinkRow]) -> list[str]:
    """What restoring a memory did to its links to others, in words."""
    names = opened.store.names(opened.namespace, [one.target for one in replaced])
    said = [f"its {one.relation} link to {names[one.target]!r} is removed" for one in replaced]
    if memory.status == "merged" and replaced:
        said.append("what was merged stays there")
    return said


def merge(opened: Opened, key: str, into: str) -> Operation:
    """Let one memory stand for two of a kind: what happened to the other, and its links, come to it."""
    with opened.writing() as now:
        gone, kept = _active(opened, key, now), _active(opened, into, now)
        if gone.id == kept.id:
            raise ParamError("into", into, "must be another memory than the one that is merged")
        if gone.kind != kept.kind:
            raise Conflict(
                f"{gone.key!r} is of kind {gone.kind} and {kept.key!r} of kind {kept.kind}:"
                " merge memories of one kind, or link them"
            )
        said, stands = opened.find(gone.id, now).trust, opened.find(kept.id, now).trust
        if gone.kind == "behavior" and instructs(said) and not instructs(stands):
            raise Conflict(
                f"{gone.key!r} is a rule from {said}, and {kept.key!r} from {stands} may not instruct: merge"
                f" {kept.key!r} into {gone.key!r}, or deprecate {gone.key!r}"
            )
        merging = _merging(opened, [gone.id, kept.id])
        merging.merge(gone.id, kept.id, now, vouched=is_trusted_as(said, stands))
        message = f"{gone.key!r} is merged into {kept.key!r}{_left_out(merging)}"
        return opened.operation(opened.write("merge", now, merging.changes(), message=message))


def _merging(opened: Opened, ids: Collection[str]) -> Merging:
    store, namespace = opened.store, opened.namespace
    ranked = [link for relation in RANKED for link in store.links(namespace, relation=relation)]
    return Merging(store.memories(namespace, ids), store.links(namespace, ids), ranked)


def _left_out(merging: Merging) -> str:
    """The links that did not come over, in words."""
    told = ""
    if number := merging.left_out:
        links = "1 link is left out: it" if number == 1 else f"{number} links are left out: they"
        told += f"; {links} would close a circle"
    if number := len(merging.unvouched):
        links = "1 link stays" if number == 1 else f"{number} links stay"
        told += f"; {links} with what is trusted less"
    return told


def deduplicate(opened: Opened, *, kind: str, threshold: float | None, dry_run: bool) -> list[Twins]:
    """Merge what says the same: each into the one that is kept and most alike, with which it is compared itself."""
    kind = check_choice("kind", kind, SAID)
    bar = SIMILARITY.merge if threshold is None else check_fraction("threshold", threshold)
    opening = opened.store.transaction(write=False) if dry_run else nullcontext()
    with opened.lock, opening:
        if dry_run:
            return [twins for _, _, twins in _twins(opened, kind, bar, opened.now())]
        with opened.writing() as now:
            found = _twins(opened, kind, bar, now)
            if not found:
                return []
            merging = _merging(opened, {one.id for gone, kept, _ in found for one in (gone, kept)})
            for gone, kept, _ in found:
                merging.merge(gone.id, kept.id, now, vouched=is_trusted_as(gone.trust, kept.trust))
            number = f"{len(found)} {'memory is' if len(found) == 1 else 'memories are'} merged"
            message = number + _left_out(merging)
            logged = opened.write("deduplicate", now, merging.changes(), message=message)
    return [replace(twins, operation=logged.id) for _, _, twins in found]


def _twins(
    opened: Opened, kind: str, bar: float, now: datetime
) -> list[tuple[MemoryRecord, MemoryRecord, Twins]]:
    """Which memory is to be merged into which, the most alike first."""
    opened.readable()
    there = sorted(opened.store.page(opened.namespace, now, kinds=[kind], limit=None), key=_standing)
    found = [
        (one, kept, Twins(kept.key, one.key, similarity)) for one, kept, similarity in _alike(there, bar)
    ]
    return sorted(found, key=lambda entry: (-entry[2].similarity, entry[2].kept, entry[2].merged))


def _alike(there: Sequence[MemoryRecord], bar: float) -> Iterator[tuple[MemoryRecord, MemoryRecord, float]]:
    """What says the same as one before it, that one, and how alike they are.

    A behaviour that forbids something is never one with another that asks for it.
    """
    for forbidding in (False, True):
        some = [one for one in there if (one.kind == "behavior" and forbids(one.content)) is forbidding]
        for i, kept, similarity in alike([(one.content, one.when) for one in some], bar):
            yield some[i], some[kept], similarity


def _standing(one: MemoryRecord) -> tuple[float, ...]:
    """What decides which of several is kept, the least first; among equals the oldest is first already.

    What is not trusted to instruct never takes the place of what is, however it came by its evidence.
    """
    return -instructs(one.trust), -(one.use.confirmed + one.use.followed), -one.priority


def _row(opened: Opened, key: str, now: datetime) -> MemoryRow:
    there = opened.find(key, now)
    (memory,) = opened.store.memories(opened.namespace, [there.id])
    return memory


def _active(opened: Opened, key: str, now: datetime) -> MemoryRow:
    """The state of an active memory; ``Conflict`` for one that is not."""
    memory = _row(opened, key, now)
    if memory.status != "active":
        raise Conflict(f"{memory.key!r} is {memory.status} already: restore brings it back")
    return memory
