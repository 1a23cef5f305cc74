"""Two memories that become one: counts are added up, and links move to the memory that survives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import BASE_LEVEL, PLASTICITY
from priming.config.words import LEARNED_FROM, MERGED, OPPOSING, RANKED, REPLACED, UNDIRECTED
from priming.history.movements import link_identity
from priming.namespace import Namespace
from priming.storage.rows import LinkIdentity, LinkRow, MemoryRow, RowChange


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
        self.unvouched: set[LinkIdentity] = set()
        self._links = {link_identity(link): link for link in links}
        self._memories_before, self._links_before = dict(self.memories), dict(self._links)
        self._touching: dict[str, set[LinkIdentity]] = defaultdict(set)
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
            self.unvouched |= {link_identity(link) for link in moving if link.relation in OPPOSING}
            moving = [link for link in moving if link.relation not in OPPOSING]
        for link in moving:
            if link.source != merged or link.relation not in (LEARNED_FROM, *REPLACED):
                self._drop(link)
        for link in moving:
            if link.source != merged or link.relation not in REPLACED:
                self._add(_moved(link, merged, into))
        self._put(LinkRow(merged, into, MERGED, PLASTICITY.start, now))

    def changes(self) -> Iterator[RowChange]:
        """Yield the rows that the merges change."""
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
                    last_activated=max(
                        filter(None, (existing.last_activated, link.last_activated)), default=None
                    ),
                )
            )
        elif link.relation in RANKED and self._has_path(link.relation, link.target, link.source):
            self.left_out += 1
        else:
            self._put(link)

    def _existing(self, link: LinkRow) -> LinkRow | None:
        """Return the link with the same ends and relation; an undirected one may be stored in either direction."""
        existing = self._links.get(link_identity(link))
        if existing is None and link.relation in UNDIRECTED:
            return self._links.get((link.target, link.source, link.relation))
        return existing

    def _put(self, link: LinkRow) -> None:
        key = link_identity(link)
        self._links[key] = link
        for end in key[:2]:
            self._touching[end].add(key)
        self._targets[link.relation, link.source].add(link.target)

    def _drop(self, link: LinkRow) -> None:
        key = link_identity(link)
        del self._links[key]
        for end in key[:2]:
            self._touching[end].discard(key)
        self._targets[link.relation, link.source].discard(link.target)

    def _has_path(self, relation: str, start: str, goal: str) -> bool:
        """Tell whether links of a relation lead from one memory to another."""
        visited, waiting = {start}, [start]
        while waiting:
            targets = self._targets[relation, waiting.pop()] - visited
            if goal in targets:
                return True
            visited |= targets
            waiting += targets
        return False


def plan_merge(memory: Namespace, ids: Collection[str]) -> MergePlan:
    """Return a plan with the memories of these ids and all links that a merge of them may touch."""
    ranked = [link for relation in RANKED for link in memory.rows(LinkRow, relation=relation)]
    return MergePlan(memory.rows(MemoryRow, ids=ids), memory.rows(LinkRow, ids=ids), ranked)


def merged_counts(survivor: MemoryRow, merged: MemoryRow) -> MemoryRow:
    """Return the state of a memory that another was merged into: counts are added, and the higher priority counts."""
    best = max(survivor, merged, key=lambda row: (row.stability or 0.0, row.endurance))
    return replace(
        survivor,
        stability=best.stability,
        difficulty=best.difficulty,
        endurance=best.endurance,
        reviewed_at=best.reviewed_at,
        priority=max(survivor.priority, merged.priority),
        confidence=max(survivor.confidence, merged.confidence),
        uses=survivor.uses + merged.uses,
        last_used_at=max(filter(None, (survivor.last_used_at, merged.last_used_at)), default=None),
        helped=survivor.helped + merged.helped,
        failed=survivor.failed + merged.failed,
        confirmed=survivor.confirmed + merged.confirmed,
        followed=survivor.followed + merged.followed,
        overridden=survivor.overridden + merged.overridden,
        first_used_at=min(filter(None, (survivor.first_used_at, merged.first_used_at)), default=None),
        recent=tuple(sorted((*survivor.recent, *merged.recent), reverse=True)[: BASE_LEVEL.recent]),
    )


def _moved(link: LinkRow, merged: str, into: str) -> LinkRow:
    source, target = (into if end == merged else end for end in (link.source, link.target))
    return replace(link, source=source, target=target)
