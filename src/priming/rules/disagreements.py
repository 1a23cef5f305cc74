"""Pairs of rules that ask, or may ask, for different things in the same place, and which of them is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations

from priming.config.params.laws import SIMILARITY
from priming.core.when import scope
from priming.index.document import CONFLICTS, KEPT_BESIDE
from priming.namespace import Namespace
from priming.rules.conflicts import resolve_conflicts, rule_claim
from priming.rules.placement import is_apart, is_unclear, stated
from priming.storage.rows import LinkRow
from priming.text.corrections.change import compare
from priming.text.corrections.polarity import comparison_keys
from priming.text.corrections.text_change import REVERSALS, TextChange
from priming.types import MemoryRecord

Pair = frozenset[str]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two rules: what the later changes about the earlier, and the key of the one that is shown; None: both are.

    ``links`` are those by which they are known to conflict.
    """

    older: MemoryRecord
    newer: MemoryRecord
    change: TextChange
    applies: str | None
    links: tuple[LinkRow, ...]

    @property
    def at(self) -> datetime:
        """When the disagreement arose."""
        times = [link.created_at for link in self.links]
        return max([*times, _recorded(self.older), _recorded(self.newer)])

    @property
    def reason(self) -> str:
        """Why they are listed, and which is shown."""
        if self.applies is None:
            unclear = "" if self.change.clear or self.change.coexists else "it is unclear whether "
            return f"both are shown: {unclear}{self.change.reason}"
        narrow = len(scope("when", self.older.when)) != len(scope("when", self.newer.when))
        how = "it applies more narrowly" if narrow else "it takes precedence"
        if not narrow and self.applies == self.newer.key:
            how = "it is the later"
        return f"{self.applies} is shown where both apply, because {how}: {self.change.reason}"


def disagreements(memory: Namespace, now: datetime) -> list[Disagreement]:
    """The pairs of active rules whose texts or links say that they disagree, unless both were kept."""
    rules = memory.store.page(memory.namespace, now, kinds=["behavior"], limit=None)
    rules = sorted((rule for rule in rules if rule.status == "active"), key=_recorded)
    by_id = {rule.id: rule for rule in rules}
    linked = _linked(memory, CONFLICTS, by_id)
    settled = _linked(memory, KEPT_BESIDE, by_id)
    order = {rule.id: i for i, rule in enumerate(rules)}
    pairs = dict.fromkeys([*linked, *_alike(rules)])
    listed = []
    for pair in pairs:
        first, second = (by_id[end] for end in sorted(pair, key=order.__getitem__))
        if pair not in settled and not is_apart(scope("when", first.when), scope("when", second.when)):
            listed.append(_disagreement(first, second, tuple(linked.get(pair, ()))))
    return [each for each in listed if each is not None]


def _disagreement(
    older: MemoryRecord, newer: MemoryRecord, links: tuple[LinkRow, ...]
) -> Disagreement | None:
    scopes = [scope("when", rule.when) for rule in (older, newer)]
    change = compare(*(stated(rule.content, *scopes) for rule in (older, newer)))
    if change.kind == "same" or not (links or change.kind in REVERSALS or is_unclear(change)):
        return None
    if not links:
        return Disagreement(older, newer, change, None, links)
    losses = resolve_conflicts([rule_claim(older), rule_claim(newer)], [], [(0, 1)])
    return Disagreement(older, newer, change, (newer if 0 in losses else older).key, links)


def _linked(memory: Namespace, relation: str, by_id: Mapping[str, MemoryRecord]) -> dict[Pair, list[LinkRow]]:
    links: dict[Pair, list[LinkRow]] = defaultdict(list)
    for link in memory.store.links(memory.namespace, relation=relation):
        if link.source in by_id and link.target in by_id:
            links[frozenset((link.source, link.target))].append(link)
    return links


def _alike(rules: Sequence[MemoryRecord]) -> Iterator[Pair]:
    """Pairs with a word in common, or with words of which one may take the place of the other; the rarest first."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for rule in rules:
        for key in comparison_keys(rule.content):
            sharing[key].append(rule.id)
    pairs: dict[Pair, None] = {}
    for ids in sorted(sharing.values(), key=len):
        pairs |= dict.fromkeys(map(frozenset, combinations(ids, 2)))
        if len(pairs) > SIMILARITY.reviewed:
            break
    yield from pairs


def _recorded(rule: MemoryRecord) -> datetime:
    return rule.recorded_at or datetime.min.replace(tzinfo=UTC)
