"""What merging memories does to their rows: counts come together, links move to the one that is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import BASE_LEVEL, PLASTICITY, SIMILARITY
from priming.config.words import KINDS
from priming.core.arguments.checks import check_choice, check_fraction, check_name
from priming.errors import Conflict, ParamError
from priming.learning.retention import with_retention
from priming.maintenance.near_duplicates import near_duplicates
from priming.namespace import Namespace
from priming.rules.results import NearDuplicates
from priming.rules.trust import instructs, is_trusted_as
from priming.storage.rows import LinkRow, MemoryRow, RowChange, retention_of
from priming.text.rule_kinds import forbids
from priming.types import MemoryRecord, Operation

MERGED, DEPRECATED, CONSOLIDATED = "merged-into", "deprecated-to", "consolidated-into"
REPLACED = (MERGED, DEPRECATED, CONSOLIDATED)
"""Relations from a memory to the one that took its place."""

RANKED = ("overrides", "requires")
"""Relations that must not lead in a circle, and that a merge could close to one."""

OPPOSING = ("overrides", "conflicts")
"""Relations by which one behaviour removes another from an answer."""

LEARNED = "learned-from"

UNDIRECTED = ("similar-to", "co-activated")
"""Relations that are stored once and mean both directions."""

Identity = tuple[str, str, str]


class MergePlan:
    """Some memories and the links that touch them, as merges leave them; ``changes`` says what that takes.

    ``ranked`` are all links of the relations in ``RANKED``: a link that would close a circle of them is left out, and
    counted; ``unvouched`` are the links that stay with what is trusted less.
    """

    def __init__(
        self, memories: Iterable[MemoryRow], links: Iterable[LinkRow], ranked: Iterable[LinkRow]
    ) -> None:
        self.memories = {one.id: one for one in memories}
        self.left_out = 0
        self.unvouched: set[Identity] = set()
        self._links = {_identity(one): one for one in links}
        self._memories_before, self._links_before = dict(self.memories), dict(self._links)
        self._touching: dict[str, set[Identity]] = defaultdict(set)
        self._ahead: dict[tuple[str, str], set[str]] = defaultdict(set)
        for one in ranked:
            self._ahead[one.relation, one.source].add(one.target)
        for identity in self._links:
            for end in identity[:2]:
                self._touching[end].add(identity)

    def merge(self, merged: str, into: str, now: datetime, *, vouched: bool = True) -> None:
        """Merge one memory into another: both ids, of two memories that are here.

        ``vouched`` says that the merged one is trusted as much. If not, it neither raises the standing of the other
        nor speaks for it against others: such links stay with it.
        """
        gone, kept = self.memories[merged], self.memories[into]
        self.memories[merged] = replace(gone, status="merged")
        both = merged_counts(kept, gone)
        if not vouched:
            both = replace(both, priority=kept.priority, confidence=kept.confidence)
        self.memories[into] = both
        moving = [self._links[one] for one in sorted(self._touching[merged])]
        if not vouched:
            self.unvouched |= {_identity(one) for one in moving if one.relation in OPPOSING}
            moving = [one for one in moving if one.relation not in OPPOSING]
        for link in moving:
            if link.source != merged or link.relation not in (LEARNED, *REPLACED):
                self._drop(link)
        for link in moving:
            if link.source != merged or link.relation not in REPLACED:
                self._add(_moved(link, merged, into))
        self._put(LinkRow(merged, into, MERGED, PLASTICITY.start, now))

    def changes(self) -> Iterator[RowChange]:
        """The rows that are no longer as they were."""
        for memory_id, before in self._memories_before.items():
            if self.memories[memory_id] != before:
                yield RowChange(before, self.memories[memory_id])
        for identity in self._links_before | self._links:
            was, now = self._links_before.get(identity), self._links.get(identity)
            if was != now:
                yield RowChange(was, now)

    def _add(self, link: LinkRow) -> None:
        """Take in a link that moved, beside the one that may be there; none leads from a memory to itself."""
        if link.source == link.target:
            return
        there = self._there(link)
        if there is not None:
            self._put(
                replace(
                    there,
                    weight=max(there.weight, link.weight),
                    given=there.given or link.given,
                    last_activated=_later(there.last_activated, link.last_activated),
                )
            )
        elif link.relation in RANKED and self._leads(link.relation, link.target, link.source):
            self.left_out += 1
        else:
            self._put(link)

    def _there(self, link: LinkRow) -> LinkRow | None:
        """The same link: one that means both directions may be stored in either."""
        found = self._links.get(_identity(link))
        if found is None and link.relation in UNDIRECTED:
            return self._links.get((link.target, link.source, link.relation))
        return found

    def _put(self, link: LinkRow) -> None:
        identity = _identity(link)
        self._links[identity] = link
        for end in identity[:2]:
            self._touching[end].add(identity)
        self._ahead[link.relation, link.source].add(link.target)

    def _drop(self, link: LinkRow) -> None:
        identity = _identity(link)
        del self._links[identity]
        for end in identity[:2]:
            self._touching[end].discard(identity)
        self._ahead[link.relation, link.source].discard(link.target)

    def _leads(self, relation: str, start: str, goal: str) -> bool:
        """Whether links of a relation lead from one memory to another."""
        met, waiting = {start}, [start]
        while waiting:
            ahead = self._ahead[relation, waiting.pop()] - met
            if goal in ahead:
                return True
            met |= ahead
            waiting += ahead
        return False


def merged_counts(kept: MemoryRow, merged: MemoryRow) -> MemoryRow:
    """The state of a memory that another was merged into: what happened adds up, the higher standing counts."""
    return replace(
        with_retention(kept, retention_of(max(kept, merged, key=_settled))),
        priority=max(kept.priority, merged.priority),
        confidence=max(kept.confidence, merged.confidence),
        uses=kept.uses + merged.uses,
        last_used_at=_later(kept.last_used_at, merged.last_used_at),
        helped=kept.helped + merged.helped,
        failed=kept.failed + merged.failed,
        confirmed=kept.confirmed + merged.confirmed,
        followed=kept.followed + merged.followed,
        overridden=kept.overridden + merged.overridden,
        first_used_at=_earlier(kept.first_used_at, merged.first_used_at),
        recent=tuple(sorted((*kept.recent, *merged.recent), reverse=True)[: BASE_LEVEL.recent]),
    )


def _settled(one: MemoryRow) -> tuple[float, float]:
    """Which of two memories is retained better: that of the larger stability."""
    return one.stability or 0.0, one.endurance


def _identity(link: LinkRow) -> Identity:
    return link.source, link.target, link.relation


def _moved(link: LinkRow, merged: str, into: str) -> LinkRow:
    source, target = (into if end == merged else end for end in (link.source, link.target))
    return replace(link, source=source, target=target)


def _earlier(a: datetime | None, b: datetime | None) -> datetime | None:
    return min((one for one in (a, b) if one is not None), default=None)


def _later(a: datetime | None, b: datetime | None) -> datetime | None:
    return max((one for one in (a, b) if one is not None), default=None)


STATUS_IN_WORDS = tuple(kind for kind in KINDS if kind != "entity")
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


def _merging(memory: Namespace, ids: Collection[str]) -> MergePlan:
    store, namespace = memory.store, memory.namespace
    ranked = [link for relation in RANKED for link in store.links(namespace, relation=relation)]
    return MergePlan(store.memories(namespace, ids), store.links(namespace, ids), ranked)


def _left_out(merging: MergePlan) -> str:
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
) -> list[NearDuplicates]:
    """Merge memories that say the same, all in one operation; what has proved itself most is kept.

    Args:
        kind: the kind to look at, any but entity.
        threshold: merge above this similarity, in [0, 1]; None: above .9.
        dry_run: only say what would be merged.

    Raises:
        ParamError: an argument outside its range.

    """
    kind = check_choice("kind", kind, STATUS_IN_WORDS)
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
) -> list[tuple[MemoryRecord, MemoryRecord, NearDuplicates]]:
    """Which memory is to be merged into which, the most alike first."""
    memory.require_exists()
    there = sorted(memory.store.page(memory.namespace, now, kinds=[kind], limit=None), key=_standing)
    found = [
        (one, kept, NearDuplicates(kept.key, one.key, similarity))
        for one, kept, similarity in _alike(there, bar)
    ]
    return sorted(found, key=lambda entry: (-entry[2].similarity, entry[2].kept, entry[2].merged))


def _alike(there: Sequence[MemoryRecord], bar: float) -> Iterator[tuple[MemoryRecord, MemoryRecord, float]]:
    """What says the same as one before it, that one, and how alike they are.

    A behaviour that forbids something is never one with another that asks for it.
    """
    for forbidding in (False, True):
        some = [one for one in there if (one.kind == "behavior" and forbids(one.content)) is forbidding]
        for i, kept, similarity in near_duplicates([(one.content, one.when) for one in some], bar):
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
