"""Pairs of rules that ask, or may ask, for different things in the same place, and which of them is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import CONFLICTS, DEPRECATED, KEPT_BESIDE, LEARNED_FROM
from priming.core.when import is_more_specific, scope
from priming.namespace import Namespace
from priming.remember import similar
from priming.remember.drafts import Draft, deprecated_rows
from priming.remember.planner import RememberPlan
from priming.rules.conflicts import resolve_conflicts, rule_claim, taught_at
from priming.rules.placement import (
    BehaviorPlacement,
    RuleLink,
    compare_behaviors,
    is_apart,
    is_unclear,
    stated,
)
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.quotation import label
from priming.text.statements.judge import Judgement, judge, subjects
from priming.types import MemoryRecord

_REVIEWED = 50_000
"""The most pairs of rules that ``review`` compares, those with the rarest words first."""

Pair = frozenset[str]

OVERTAKEN = "overtaken"
"""The placement of a rule that another, taught after it, had replaced before it was learned."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two rules: what the later changes about the earlier, and the key of the one that is shown; None: both are.

    ``links`` are those by which they are known to conflict.
    """

    older: MemoryRecord
    newer: MemoryRecord
    change: Judgement
    applies: str | None
    links: tuple[LinkRow, ...]

    @property
    def at(self) -> datetime:
        """When the disagreement arose."""
        times = [link.created_at for link in self.links]
        return max([*times, taught_at(self.older), taught_at(self.newer)])

    @property
    def reason(self) -> str:
        """Why they are listed, and which is shown."""
        if self.applies is None:
            unclear = "it is unclear, " if is_unclear(self.change) else ""
            return f"both are shown: {unclear}{self.change.reason}"
        narrow = len(scope("when", self.older.when)) != len(scope("when", self.newer.when))
        how = "it applies more narrowly" if narrow else "it takes precedence"
        if not narrow and self.applies == self.newer.key:
            how = "it is the later"
        return f"{self.applies} is shown where both apply, because {how}: {self.change.reason}"


def disagreements(memory: Namespace, now: datetime) -> list[Disagreement]:
    """Return the pairs of active rules whose texts or links say that they disagree, unless both were kept."""
    rules = sorted(memory.page_of(now, kinds=["behavior"]), key=taught_at)
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
    change = judge(*(stated(rule.content, *scopes) for rule in (older, newer)))
    if change.kind == "same" or not (links or change.kind in ("changes", "unclear")):
        return None
    if not links:
        return Disagreement(older, newer, change, None, links)
    over = [(0, 1)] if is_more_specific(older.when, newer.when) else []
    losses = resolve_conflicts([rule_claim(older), rule_claim(newer)], over, [(0, 1)])
    return Disagreement(older, newer, change, (newer if 0 in losses else older).key, links)


def _linked(memory: Namespace, relation: str, by_id: Mapping[str, MemoryRecord]) -> dict[Pair, list[LinkRow]]:
    links: dict[Pair, list[LinkRow]] = defaultdict(list)
    for link in memory.rows(LinkRow, ids=by_id, relation=relation, both=True):
        links[frozenset((link.source, link.target))].append(link)
    return links


def _alike(rules: Sequence[MemoryRecord]) -> Iterator[Pair]:
    """Yield pairs with a word in common, or with words of which one may replace the other; the rarest first."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for rule in rules:
        for key in subjects(rule.content):
            sharing[key].append(rule.id)
    pairs: dict[Pair, None] = {}
    for ids in sorted(sharing.values(), key=len):
        pairs |= dict.fromkeys(map(frozenset, combinations(ids, 2)))
        if len(pairs) > _REVIEWED:
            break
    yield from pairs


def in_order_of_time(
    memory: Namespace, new: Draft, placed: BehaviorPlacement, at: datetime, *, wrong: str | None
) -> BehaviorPlacement:
    """Return the placement of a rule that was taught at a time: it takes the place of none that was taught after it.

    A later rule for the same conditions that reverses it has taken its place already; any other stays beside it.
    """
    near = placed.nearest
    superseded = near if near and placed.placement == "supersede" and near.change.kind != "same" else None
    replaced = [*([superseded.existing] if superseded else []), *placed.reversed]
    later = [rule for rule in replaced if _taught_last(memory, rule) > at]
    if not later:
        return placed
    latest_first = sorted(later, key=lambda rule: _taught_last(memory, rule), reverse=True)
    comparisons = [compare_behaviors(new, [rule], wrong=wrong)[0] for rule in latest_first]
    for each in comparisons:
        if each.scopes == "equal" and each.change.kind == "changes":
            reason = (
                f"not in force: {label(each.existing.key)}, learned after this was said, has taken its place"
            )
            link = RuleLink(DEPRECATED, PLASTICITY.start, each.existing)
            return BehaviorPlacement(OVERTAKEN, each, new.when, (link,), (reason,))
    links, reasons = [*placed.links], [*placed.reasons]
    for each in comparisons:
        if each.scopes == "wider":
            links.append(RuleLink("overrides", PLASTICITY.start, each.existing, inward=True))
        if each.contradicts:
            links.append(RuleLink("conflicts", PLASTICITY.start, each.existing))
    remarks = [
        f"{label(each.existing.key)}, learned after this was said, stays in force" for each in comparisons
    ]
    others = tuple(rule for rule in placed.reversed if rule not in later)
    if superseded is not None and superseded.existing in later:
        placed = replace(placed, placement="create", when=new.when)
        reasons = [f"created beside {label(superseded.existing.key)}", *reasons[1:]]
    withdrawn = tuple(f"takes the place of {label(rule.key)} too" for rule in later)
    reasons = [reason for reason in reasons if not reason.startswith(withdrawn)]
    return replace(placed, links=tuple(links), reasons=(*reasons, *remarks), reversed=others)


def _taught_last(memory: Namespace, rule: MemoryRecord) -> datetime:
    """Return when a rule was last taught: its present text, or a correction that says the same."""
    links = memory.rows(LinkRow, ids=[rule.id], relation=LEARNED_FROM)
    sources = memory.records(memory.now(), ids=[link.target for link in links])
    return max([taught_at(rule), *map(taught_at, sources.values())])


def replaced_rows(
    plan: RememberPlan, placed: BehaviorPlacement, rule: str, planned: Sequence[RowChange]
) -> list[RowChange]:
    """Return the changes by which a rule replaces those its correction reverses, and their corrections with them."""
    near = placed.nearest
    replaced = [(record.id, rule) for record in placed.reversed]
    links = [change.after for change in planned if isinstance(change.after, LinkRow)]
    correction = next((link.target for link in links if link.relation == LEARNED_FROM), None)
    outdated = [record.id for record in placed.reversed]
    if (
        near is not None
        and placed.placement == "supersede"
        and near.change.kind not in ("same", "wider", "narrower")
    ):
        outdated.append(near.existing.id)
    if correction is not None and outdated:
        sources = plan.memory.rows(LinkRow, ids=outdated, relation=LEARNED_FROM)
        replaced += [(link.target, correction) for link in sources if link.source in outdated]
    successors = dict(replaced)
    changes = list[RowChange]()
    for row in plan.memory.rows(MemoryRow, ids=list(successors)):
        if row.status == "active":
            changes += deprecated_rows(plan.memory, row, successors[row.id], plan.now)
    return changes


def to_settle(placed: BehaviorPlacement, key: str) -> Iterator[str]:
    """Yield the two commands that settle whether a rule takes the place of the nearest, if its words do not."""
    near = placed.nearest
    if near is not None and is_unclear(near.change) and not near.apart and placed.placement == "create":
        yield similar.to_settle(near.existing.key, near.existing.content, key)
