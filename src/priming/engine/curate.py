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
from priming.engine.twins import alike
from priming.errors import Conflict, ParamError
from priming.namespace import Namespace
from priming.store.rows import LinkRow, MemoryRow, RowChange
from priming.types import MemoryRecord, Operation
from priming.words import KINDS

SAID = tuple(kind for kind in KINDS if kind != "entity")
"""Kinds that can hold the same twice: names are one memory each from the start."""


def deprecate(memory: Namespace, key: str, *, by: str | None = None, reason: str | None = None) -> Operation:
    """Take a memory out of recall because it no longer holds; ``by`` names what holds instead.

    Raises:
        NotFound: no such memory.
        Conflict: one of the two is not active.
        ParamError: ``by`` is the memory itself, or ``reason`` more than one line.

    """
    why = check_name("reason", reason)
    with memory.writing() as now:
        row = _active(memory, key, now)
        rows = [RowChange(row, replace(row, status="deprecated"))]
        message = None
        if by is not None:
            successor = _active(memory, by, now)
            if successor.id == row.id:
                raise ParamError("by", by, "must be another memory than the one that is deprecated")
            link = LinkRow(row.id, successor.id, DEPRECATED, PLASTICITY.start, now)
            if memory.store.present(memory.namespace, link) is None:
                rows.append(RowChange(None, link))
            message = f"{successor.key!r} stands for it"
        return memory.to_operation(memory.write("deprecate", now, rows, reason=why, message=message))


def restore(memory: Namespace, key: str) -> Operation:
    """Bring back a memory that was deprecated, merged, archived or forgotten; what took its place no longer does.

    Raises:
        NotFound: no such memory.
        Conflict: it is active.

    """
    with memory.writing() as now:
        row = _row(memory, key, now)
        if row.status == "active":
            raise Conflict(f"{row.key!r} is active already: deprecate or forget it to take it out of recall")
        replaced = [
            one
            for one in memory.store.links(memory.namespace, [row.id])
            if one.source == row.id and one.relation in REPLACED
        ]
        rows = [RowChange(row, replace(row, status="active"))]
        rows += [RowChange(one, None) for one in replaced]
        message = "; ".join([f"it was {row.status}", *_unlinked(memory, row, replaced)])
        return memory.to_operation(memory.write("restore", now, rows, message=message))


def _unlinked(memory: Namespace, row: MemoryRow, replaced: Sequence[LinkRow]) -> list[str]:
    """What restoring a memory did to its links to others, in words."""
    names = memory.store.names(memory.namespace, [one.target for one in replaced])
    said = [f"its {one.relation} link to {names[one.target]!r} is removed" for one in replaced]
    if row.status == "merged" and replaced:
        said.append("what was merged stays there")
    return said


def merge(memory: Namespace, key: str, into: str) -> Operation:
    """Merge a memory into another of its kind: that one keeps its text, and takes over uses and links.

    Raises:
        NotFound: no such memory.
        Conflict: one of the two is not active, or they are of two kinds.
        ParamError: ``into`` is the memory itself.

    """
    with memory.writing() as now:
        gone, kept = _active(memory, key, now), _active(memory, into, now)
        if gone.id == kept.id:
            raise ParamError("into", into, "must be another memory than the one that is merged")
        if gone.kind != kept.kind:
            raise Conflict(
                f"{gone.key!r} is of kind {gone.kind} and {kept.key!r} of kind {kept.kind}:"
                " merge memories of one kind, or link them"
            )
        said, stands = memory.find(gone.id, now).trust, memory.find(kept.id, now).trust
        if gone.kind == "behavior" and instructs(said) and not instructs(stands):
            raise Conflict(
                f"{gone.key!r} is a rule from {said}, and {kept.key!r} from {stands} may not instruct: merge"
                f" {kept.key!r} into {gone.key!r}, or deprecate {gone.key!r}"
            )
        merging = _merging(memory, [gone.id, kept.id])
        merging.merge(gone.id, kept.id, now, vouched=is_trusted_as(said, stands))
        message = f"{gone.key!r} is merged into {kept.key!r}{_left_out(merging)}"
        return memory.to_operation(memory.write("merge", now, merging.changes(), message=message))


def _merging(memory: Namespace, ids: Collection[str]) -> Merging:
    store, namespace = memory.store, memory.namespace
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


def deduplicate(
    memory: Namespace, *, kind: str = "behavior", threshold: float | None = None, dry_run: bool = False
) -> list[Twins]:
    """Merge memories that say the same, all in one operation; what has proved itself most is kept.

    Args:
        kind: the kind to look at, any but entity.
        threshold: merge above this similarity, in [0, 1]; None: above .9.
        dry_run: only say what would be merged.

    Raises:
        ParamError: an argument outside its range.

    """
    kind = check_choice("kind", kind, SAID)
    bar = SIMILARITY.merge if threshold is None else check_fraction("threshold", threshold)
    opening = memory.store.transaction(write=False) if dry_run else nullcontext()
    with memory.lock, opening:
        if dry_run:
            return [twins for _, _, twins in _twins(memory, kind, bar, memory.now())]
        with memory.writing() as now:
            found = _twins(memory, kind, bar, now)
            if not found:
                return []
            merging = _merging(memory, {one.id for gone, kept, _ in found for one in (gone, kept)})
            for gone, kept, _ in found:
                merging.merge(gone.id, kept.id, now, vouched=is_trusted_as(gone.trust, kept.trust))
            number = f"{len(found)} {'memory is' if len(found) == 1 else 'memories are'} merged"
            message = number + _left_out(merging)
            logged = memory.write("deduplicate", now, merging.changes(), message=message)
    return [replace(twins, operation=logged.id) for _, _, twins in found]


def _twins(
    memory: Namespace, kind: str, bar: float, now: datetime
) -> list[tuple[MemoryRecord, MemoryRecord, Twins]]:
    """Which memory is to be merged into which, the most alike first."""
    memory.require_exists()
    there = sorted(memory.store.page(memory.namespace, now, kinds=[kind], limit=None), key=_standing)
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


def _row(memory: Namespace, key: str, now: datetime) -> MemoryRow:
    there = memory.find(key, now)
    (row,) = memory.store.memories(memory.namespace, [there.id])
    return row


def _active(memory: Namespace, key: str, now: datetime) -> MemoryRow:
    """The state of an active memory; ``Conflict`` for one that is not."""
    row = _row(memory, key, now)
    if row.status != "active":
        raise Conflict(f"{row.key!r} is {row.status} already: restore brings it back")
    return row
