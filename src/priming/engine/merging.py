"""What merging memories does to their rows: counts come together, links move to the one that is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import BASE_LEVEL, PLASTICITY
from priming.engine.retention import with_retention
from priming.store.rows import LinkRow, MemoryRow, RowChange, retention_of

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


class Merging:
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
        both = together(kept, gone)
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


def together(kept: MemoryRow, merged: MemoryRow) -> MemoryRow:
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
