"""Merging memories: counts are added up, and links move to the surviving memory; deprecation and restoring too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import BASE_LEVEL, PLASTICITY, SIMILARITY
from priming.config.words import CONSOLIDATED, MERGED, TEXT_KINDS
from priming.core.arguments.checks import check_choice, check_fraction, check_name
from priming.errors import Conflict, ParamError
from priming.learning.retention import with_retention
from priming.maintenance.near_duplicates import near_duplicates
from priming.namespace import Namespace
from priming.rules.results import NearDuplicates
from priming.rules.trust import instructs, is_trusted_as
from priming.storage.rows import LinkRow, MemoryRow, RowChange, retention_of
from priming.text.quotation import quote_text
from priming.text.rule_kinds import forbids
from priming.types import MemoryRecord, Operation

DEPRECATED = "deprecated-to"
REPLACED = (MERGED, DEPRECATED, CONSOLIDATED)
"""Relations from a memory to its replacement."""

RANKED = ("overrides", "requires")
"""Relations that must not form a cycle, which a merge could close."""

OPPOSING = ("overrides", "conflicts")
"""Relations by which one behaviour removes another from an answer."""

LEARNED = "learned-from"

UNDIRECTED = ("similar-to", "co-activated")
"""Relations that are stored once and mean both directions."""

LinkKey = tuple[str, str, str]
"""Source, target and relation of a link."""


class MergePlan:
    """Memories and their links after merges; ``changes`` returns the difference to what is stored.

    ``ranked`` are all links of the relations in ``RANKED``: a link that would close a circle of them is left out, and
    ``left_out`` counts it. ``unvouched`` are the links that stay with a merged memory that is trusted less.
    """

    def __init__(
        self, memories: Iterable[MemoryRow], links: Iterable[LinkRow], ranked: Iterable[LinkRow]
    ) -> None:
        self.memories = {row.id: row for row in memories}
        self.left_out = 0
        self.unvouched: set[LinkKey] = set()
        self._links = {_link_key(link): link for link in links}
        self._memories_before, self._links_before = dict(self.memories), dict(self._links)
        self._touching: dict[str, set[LinkKey]] = defaultdict(set)
        self._targets: dict[tuple[str, str], set[str]] = defaultdict(set)
        for link in ranked:
            self._targets[link.relation, link.source].add(link.target)
        for key in self._links:
            for end in key[:2]:
                self._touching[end].add(key)

    def merge(self, merged: str, into: str, now: datetime, *, vouched: bool = True) -> None:
        """Merge one memory of the plan into another, both by id.

        ``vouched`` means that the merged memory is trusted as much as the other. If it is not, it raises neither
        priority nor confidence, and its links that oppose other memories stay with it.
        """
        source, survivor = self.memories[merged], self.memories[into]
        self.memories[merged] = replace(source, status="merged")
        result = merged_counts(survivor, source)
        if not vouched:
            result = replace(result, priority=survivor.priority, confidence=survivor.confidence)
        self.memories[into] = result
        moving = [self._links[key] for key in sorted(self._touching[merged])]
        if not vouched:
            self.unvouched |= {_link_key(link) for link in moving if link.relation in OPPOSING}
            moving = [link for link in moving if link.relation not in OPPOSING]
        for link in moving:
            if link.source != merged or link.relation not in (LEARNED, *REPLACED):
                self._drop(link)
        for link in moving:
            if link.source != merged or link.relation not in REPLACED:
                self._add(_moved(link, merged, into))
        self._put(LinkRow(merged, into, MERGED, PLASTICITY.start, now))

    def changes(self) -> Iterator[RowChange]:
        """The rows that the merges change."""
        for memory_id, before in self._memories_before.items():
            if self.memories[memory_id] != before:
                yield RowChange(before, self.memories[memory_id])
        for key in self._links_before | self._links:
            link_before, link_after = self._links_before.get(key), self._links.get(key)
            if link_before != link_after:
                yield RowChange(link_before, link_after)

    def _add(self, link: LinkRow) -> None:
        """Add a moved link, or combine it with an existing link of the same ends; a link to itself is dropped."""
        if link.source == link.target:
            return
        existing = self._existing(link)
        if existing is not None:
            self._put(
                replace(
                    existing,
                    weight=max(existing.weight, link.weight),
                    given=existing.given or link.given,
                    last_activated=_later(existing.last_activated, link.last_activated),
                )
            )
        elif link.relation in RANKED and self._has_path(link.relation, link.target, link.source):
            self.left_out += 1
        else:
            self._put(link)

    def _existing(self, link: LinkRow) -> LinkRow | None:
        """The link with the same ends and relation; an undirected one may be stored in either direction."""
        existing = self._links.get(_link_key(link))
        if existing is None and link.relation in UNDIRECTED:
            return self._links.get((link.target, link.source, link.relation))
        return existing

    def _put(self, link: LinkRow) -> None:
        key = _link_key(link)
        self._links[key] = link
        for end in key[:2]:
            self._touching[end].add(key)
        self._targets[link.relation, link.source].add(link.target)

    def _drop(self, link: LinkRow) -> None:
        key = _link_key(link)
        del self._links[key]
        for end in key[:2]:
            self._touching[end].discard(key)
        self._targets[link.relation, link.source].discard(link.target)

    def _has_path(self, relation: str, start: str, goal: str) -> bool:
        """Whether links of a relation lead from one memory to another."""
        visited, waiting = {start}, [start]
        while waiting:
            targets = self._targets[relation, waiting.pop()] - visited
            if goal in targets:
                return True
            visited |= targets
            waiting += targets
        return False


def merged_counts(survivor: MemoryRow, merged: MemoryRow) -> MemoryRow:
    """The state of a memory that another was merged into: counts are added, and the higher priority counts."""
    return replace(
        with_retention(survivor, retention_of(max(survivor, merged, key=_stability))),
        priority=max(survivor.priority, merged.priority),
        confidence=max(survivor.confidence, merged.confidence),
        uses=survivor.uses + merged.uses,
        last_used_at=_later(survivor.last_used_at, merged.last_used_at),
        helped=survivor.helped + merged.helped,
        failed=survivor.failed + merged.failed,
        confirmed=survivor.confirmed + merged.confirmed,
        followed=survivor.followed + merged.followed,
        overridden=survivor.overridden + merged.overridden,
        first_used_at=_earlier(survivor.first_used_at, merged.first_used_at),
        recent=tuple(sorted((*survivor.recent, *merged.recent), reverse=True)[: BASE_LEVEL.recent]),
    )


def _stability(row: MemoryRow) -> tuple[float, float]:
    """The order of retention: the memory of the larger stability is retained better."""
    return row.stability or 0.0, row.endurance


def _link_key(link: LinkRow) -> LinkKey:
    return link.source, link.target, link.relation


def _moved(link: LinkRow, merged: str, into: str) -> LinkRow:
    source, target = (into if end == merged else end for end in (link.source, link.target))
    return replace(link, source=source, target=target)


def _earlier(a: datetime | None, b: datetime | None) -> datetime | None:
    return min((at for at in (a, b) if at is not None), default=None)


def _later(a: datetime | None, b: datetime | None) -> datetime | None:
    return max((at for at in (a, b) if at is not None), default=None)


"""The kinds whose memories can repeat each other: of a name there is only ever one entity."""


def deprecate(memory: Namespace, key: str, *, by: str | None = None, reason: str | None = None) -> Operation:
    """Take a memory out of recall because it is no longer valid; ``by`` names the memory that replaces it.

    Raises:
        NotFound: the memory does not exist.
        Conflict: one of the two is not active.
        ParamError: ``by`` is the memory itself, or ``reason`` has more than one line.

    """
    why = check_name("reason", reason)
    with memory.changing() as now:
        row = _active(memory, key, now)
        rows = [RowChange(row, replace(row, status="deprecated"))]
        message = None
        if by is not None:
            successor = _active(memory, by, now)
            if successor.id == row.id:
                raise ParamError("by", by, "must differ from the memory that is deprecated")
            link = LinkRow(row.id, successor.id, DEPRECATED, PLASTICITY.start, now)
            if memory.store.present(memory.namespace, link) is None:
                rows.append(RowChange(None, link))
            message = f"{quote_text(successor.key)} replaces it"
        return memory.to_operation(memory.write("deprecate", now, rows, reason=why, message=message))


def restore(memory: Namespace, key: str) -> Operation:
    """Make a deprecated, merged, archived or forgotten memory active again; links to its replacement are removed.

    Raises:
        NotFound: the memory does not exist.
        Conflict: the memory is active.

    """
    with memory.changing() as now:
        row = _row(memory, key, now)
        if row.status == "active":
            raise Conflict(f"{row.key!r} is active already: deprecate or forget it to take it out of recall")
        replacements = [
            link
            for link in memory.store.links(memory.namespace, [row.id])
            if link.source == row.id and link.relation in REPLACED
        ]
        rows = [RowChange(row, replace(row, status="active"))]
        rows += [RowChange(link, None) for link in replacements]
        message = "; ".join([f"it was {row.status}", *_removed_links(memory, row, replacements)])
        return memory.to_operation(memory.write("restore", now, rows, message=message))


def _removed_links(memory: Namespace, row: MemoryRow, links: Sequence[LinkRow]) -> list[str]:
    """The links that restoring a memory removes, in words."""
    names = memory.store.names(memory.namespace, [link.target for link in links])
    sentences = [f"its {link.relation} link to {quote_text(names[link.target])} is removed" for link in links]
    if row.status == "merged" and links:
        sentences.append("what was merged stays there")
    return sentences


def merge(memory: Namespace, key: str, into: str) -> Operation:
    """Merge a memory into another of its kind, which keeps its own text and takes over uses and links.

    Raises:
        NotFound: a memory does not exist.
        Conflict: one of the two is not active, or their kinds differ.
        ParamError: ``into`` is the memory itself.

    """
    with memory.changing() as now:
        source, survivor = _active(memory, key, now), _active(memory, into, now)
        if source.id == survivor.id:
            raise ParamError("into", into, "must differ from the memory that is merged")
        if source.kind != survivor.kind:
            raise Conflict(
                f"{source.key!r} is of kind {source.kind} and {survivor.key!r} of kind {survivor.kind}:"
                " merge memories of one kind, or link them"
            )
        source_trust = memory.find(source.id, now).trust
        survivor_trust = memory.find(survivor.id, now).trust
        if source.kind == "behavior" and instructs(source_trust) and not instructs(survivor_trust):
            raise Conflict(
                f"{source.key!r} is a rule from {source_trust}, and {survivor.key!r} from {survivor_trust} may not"
                f" instruct: merge {survivor.key!r} into {source.key!r}, or deprecate {source.key!r}"
            )
        plan = plan_merge(memory, [source.id, survivor.id])
        plan.merge(source.id, survivor.id, now, vouched=is_trusted_as(source_trust, survivor_trust))
        merged = f"{quote_text(source.key)} is merged into {quote_text(survivor.key)}"
        message = f"{merged}{_omitted_links(plan)}"
        return memory.to_operation(memory.write("merge", now, plan.changes(), message=message))


def plan_merge(memory: Namespace, ids: Collection[str]) -> MergePlan:
    """A plan with the memories of these ids and all links that a merge of them may touch."""
    store, namespace = memory.store, memory.namespace
    ranked = [link for relation in RANKED for link in store.links(namespace, relation=relation)]
    return MergePlan(store.memories(namespace, ids), store.links(namespace, ids), ranked)


def _omitted_links(plan: MergePlan) -> str:
    """The links that a merge does not move, in words."""
    text = ""
    if number := plan.left_out:
        links = "1 link is left out: it" if number == 1 else f"{number} links are left out: they"
        text += f"; {links} would close a cycle"
    if number := len(plan.unvouched):
        links = "1 link stays" if number == 1 else f"{number} links stay"
        text += f"; {links} with the memory of lower trust"
    return text


def deduplicate(
    memory: Namespace, *, kind: str = "behavior", threshold: float | None = None, dry_run: bool = False
) -> list[NearDuplicates]:
    """Merge memories that say the same, in one operation; the memory with the most evidence survives.

    Args:
        kind: the kind of memories to compare, any but entity.
        threshold: merge above this similarity, in [0, 1]; None: above .9.
        dry_run: only list what would be merged.

    Raises:
        ParamError: an argument is outside its range.

    """
    kind = check_choice("kind", kind, TEXT_KINDS)
    bar = SIMILARITY.merge if threshold is None else check_fraction("threshold", threshold)
    opening = memory.store.transaction(write=False) if dry_run else nullcontext()
    with memory.lock, opening:
        if dry_run:
            return memory.listed(result for *_, result in _find_duplicates(memory, kind, bar, memory.now()))
        with memory.changing() as now:
            duplicates = _find_duplicates(memory, kind, bar, now)
            if not duplicates:
                return memory.listed([])
            plan = plan_merge(memory, {record.id for *pair, _ in duplicates for record in pair})
            for source, survivor, _ in duplicates:
                plan.merge(source.id, survivor.id, now, vouched=is_trusted_as(source.trust, survivor.trust))
            number = f"{len(duplicates)} {'memory is' if len(duplicates) == 1 else 'memories are'} merged"
            logged = memory.write("deduplicate", now, plan.changes(), message=number + _omitted_links(plan))
    return [replace(result, operation=logged.id) for _, _, result in duplicates]


def _find_duplicates(
    memory: Namespace, kind: str, bar: float, now: datetime
) -> list[tuple[MemoryRecord, MemoryRecord, NearDuplicates]]:
    """The memories to merge, each with its survivor, the most similar first."""
    records = sorted(memory.store.page(memory.namespace, now, kinds=[kind], limit=None), key=_precedence)
    duplicates = [
        (source, survivor, NearDuplicates(survivor.key, source.key, similarity))
        for source, survivor, similarity in _similar_pairs(records, bar)
    ]
    return sorted(duplicates, key=lambda entry: (-entry[2].similarity, entry[2].kept, entry[2].merged))


def _similar_pairs(
    records: Sequence[MemoryRecord], bar: float
) -> Iterator[tuple[MemoryRecord, MemoryRecord, float]]:
    """The records that nearly repeat an earlier one, each with the earlier record and the similarity.

    A behaviour that forbids something is never merged with another that asks for it.
    """
    for forbidding in (False, True):
        group = [
            record
            for record in records
            if (record.kind == "behavior" and forbids(record.content)) is forbidding
        ]
        texts = [(record.content, record.when) for record in group]
        for source, survivor, similarity in near_duplicates(texts, bar):
            yield group[source], group[survivor], similarity


def _precedence(record: MemoryRecord) -> tuple[float, ...]:
    """The sort key by which the survivor comes first; among equals the oldest comes first already.

    A memory that is not trusted to instruct never replaces one that is, whatever evidence it has.
    """
    return -instructs(record.trust), -(record.use.confirmed + record.use.followed), -record.priority


def _row(memory: Namespace, key: str, now: datetime) -> MemoryRow:
    (row,) = memory.store.memories(memory.namespace, [memory.find(key, now).id])
    return row


def _active(memory: Namespace, key: str, now: datetime) -> MemoryRow:
    """The row of an active memory; any other raises ``Conflict``."""
    row = _row(memory, key, now)
    if row.status != "active":
        raise Conflict(f"{row.key!r} is {row.status} already: restore makes it active again")
    return row
