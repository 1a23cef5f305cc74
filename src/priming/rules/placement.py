"""Placement: whether a new behaviour is merged into an existing one, specialises it, or stays on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from priming.config.params.laws import PLASTICITY, SIMILARITY
from priming.core.similarity import ComparedBehaviour, is_similar, likeness, placement
from priming.core.when import is_more_specific
from priming.remember.drafts import Draft
from priming.rules.trust import instructs
from priming.text.rule_kinds import contradicts, forbids
from priming.types import MemoryRecord


@dataclass(frozen=True, slots=True)
class BehaviorComparison:
    """An existing behaviour, and how the new one relates to it.

    ``opposed``: the two are alike, but only one of them forbids.
    """

    existing: MemoryRecord
    similarity: float
    same_scope: bool
    placement: str
    opposed: bool
    contradicts: bool
    outranked: bool
    """Whether the new behaviour is not trusted enough to contradict the existing one."""


@dataclass(frozen=True, slots=True)
class BehaviorPlacement:
    """Where a new behaviour belongs: the comparison that decided it, and its links (relation, weight, target)."""

    placement: str
    nearest: BehaviorComparison | None
    links: tuple[tuple[str, float, MemoryRecord], ...]
    reasons: tuple[str, ...]


def place_behavior(new: Draft, existing: Sequence[MemoryRecord]) -> BehaviorPlacement:
    """Decide where a new behaviour belongs among the existing ones (see docs/laws.md)."""
    parts = ComparedBehaviour.of(new.content, new.when)
    comparisons = sorted((_compare(new, parts, record) for record in existing), key=_by_nearness)
    for decision in ("merge", "specialise"):
        nearest = next((near for near in comparisons if near.placement == decision), None)
        if nearest is not None:
            break
    else:
        nearest = comparisons[0] if comparisons else None
    decided = nearest.placement if nearest else "create"
    reason = _reason(decided, nearest)
    if decided == "merge":
        return BehaviorPlacement(decided, nearest, (), (reason,))
    links = tuple(link for near in comparisons for link in _links(near))
    remarks = (remark for near in comparisons for remark in _remarks(near, nearest))
    return BehaviorPlacement(decided, nearest, links, (reason, *remarks))


def _compare(new: Draft, parts: ComparedBehaviour, existing: MemoryRecord) -> BehaviorComparison:
    other = ComparedBehaviour.of(existing.content, existing.when)
    similarity, same_scope = likeness(parts, other), parts.scope == other.scope
    outranked = instructs(existing.trust) and not instructs(new.trust)
    contradiction = (
        (parts.scope.items() <= other.scope.items() or other.scope.items() <= parts.scope.items())
        and not parts.words.isdisjoint(other.words)
        and contradicts(new.content, existing.content, new.when, existing.when)
    )
    if similarity <= SIMILARITY.specialise:
        return BehaviorComparison(
            existing, similarity, same_scope, "create", contradiction, contradiction, outranked
        )
    specific = is_more_specific(new.when, existing.when)
    opposed = forbids(new.content) != forbids(existing.content)
    # A rule that may instruct is not merged into one that may not, nor two rules that say the opposite.
    separate = opposed or (instructs(new.trust) and not instructs(existing.trust))
    decided = str(placement(similarity, more_specific=specific))
    if decided == "merge" and separate:
        decided = "specialise" if specific else "create"
    if decided == "specialise" and outranked:
        decided = "create"
    return BehaviorComparison(existing, similarity, same_scope, decided, opposed, contradiction, outranked)


def _by_nearness(near: BehaviorComparison) -> tuple[float, bool]:
    """The sort key: the most similar first, then the same scope, then the older in the order of the store."""
    return -near.similarity, not near.same_scope


def _links(near: BehaviorComparison) -> list[tuple[str, float, MemoryRecord]]:
    """The links from the new behaviour to an existing one."""
    links = []
    if near.placement == "specialise":
        links.append(("overrides", PLASTICITY.start, near.existing))
    if near.contradicts and not near.outranked:
        links.append(("conflicts", PLASTICITY.start, near.existing))
    if is_similar(near.similarity) and not near.contradicts:
        links.append(("similar-to", near.similarity, near.existing))
    return links


def _reason(decided: str, nearest: BehaviorComparison | None) -> str:
    if nearest is None:
        return "created: it is the first behaviour here"
    key, alike = nearest.existing.key, f"{nearest.similarity:.2f} alike"
    if decided == "merge":
        return f"merged into {key}: {alike}, more than {SIMILARITY.merge:g}"
    if decided == "specialise":
        return f"specialises {key}: {alike}, and it applies more narrowly"
    if nearest.opposed and nearest.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike} but says the opposite"
    if nearest.similarity > SIMILARITY.merge:
        return f"created: {key} is {alike} but from {nearest.existing.trust}, which may not instruct"
    if nearest.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike}, and this one does not narrow it"
    if is_similar(nearest.similarity):
        return f"created: the nearest, {key}, is {alike}"
    return f"created: nothing here is much like it (the nearest, {key}: {nearest.similarity:.2f})"


def _remarks(near: BehaviorComparison, nearest: BehaviorComparison | None) -> list[str]:
    """Contradictions and further similar behaviours; the reason already names the similarity of ``nearest``."""
    if near.contradicts and near.outranked:
        return [f"contradicts {near.existing.key}, which is trusted more and takes precedence"]
    if near.contradicts:
        return [f"conflicts with {near.existing.key}: it says the opposite where both apply"]
    if is_similar(near.similarity) and near is not nearest:
        return [f"similar to {near.existing.key} ({near.similarity:.2f})"]
    return []
