"""Placement: a new behaviour is merged into an existing one, supersedes it, specialises it, or stays apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from priming.config.params.laws import PLASTICITY, SIMILARITY
from priming.core.similarity import ComparedBehaviour, is_similar, likeness, placement
from priming.core.when import is_more_specific, scope
from priming.remember.drafts import Draft
from priming.rules.trust import instructs, is_trusted_as
from priming.text.change import TextChange, compare, contrast
from priming.text.rule_kinds import contradicts
from priming.types import MemoryRecord

ScopeRelation = Literal["equal", "wider", "narrower", "values", "crossing", "apart"]
"""The conditions of a new behaviour beside those of an existing one.

``values``: the same predicates with other values. ``crossing``: other predicates, so that both may apply at once.
``apart``: no context meets both.
"""

_DECISIONS = ("merge", "widen", "supersede", "specialise")
_REVERSALS = ("opposite", "other_value")


@dataclass(frozen=True, slots=True)
class BehaviorComparison:
    """An existing behaviour, and how the new one relates to it."""

    existing: MemoryRecord
    similarity: float
    change: TextChange
    scopes: ScopeRelation
    scope: Mapping[str, frozenset[str]]
    """The conditions of the new behaviour."""
    placement: str
    contradicts: bool
    outranked: bool
    """Whether the new behaviour is not trusted enough to contradict the existing one."""


@dataclass(frozen=True, slots=True)
class BehaviorPlacement:
    """Where a new behaviour belongs: the comparison that decided it, and its links (relation, weight, target).

    ``when`` holds the conditions of the behaviour after the correction.
    """

    placement: str
    nearest: BehaviorComparison | None
    when: Mapping[str, Any]
    links: tuple[tuple[str, float, MemoryRecord], ...]
    reasons: tuple[str, ...]


def place_behavior(
    new: Draft, existing: Sequence[MemoryRecord], *, wrong: str | None = None
) -> BehaviorPlacement:
    """Decide where a new behaviour, instead of ``wrong``, belongs among the existing ones (docs/laws.md)."""
    parts = ComparedBehaviour.of(new.content, new.when)
    text = contrast(new.content, wrong)
    comparisons = sorted((_compare(new, text, parts, record) for record in existing), key=_by_nearness)
    for decision in _DECISIONS:
        nearest = next((near for near in comparisons if near.placement == decision), None)
        if nearest is not None:
            break
    else:
        nearest = comparisons[0] if comparisons else None
    decided = nearest.placement if nearest else "create"
    reason = _reason(decided, nearest)
    # A behaviour that takes the place of another keeps the links of that, and gets those to the rest.
    replaced = decided in ("merge", "widen", "supersede")
    others = [near for near in comparisons if near is not nearest] if replaced else comparisons
    when = new.when if nearest is None or not replaced else _conditions_after(new.when, nearest)
    if decided in ("merge", "widen"):
        others = [near for near in others if near.contradicts]
    links = tuple(link for near in others for link in _links(near))
    remarks = (remark for near in others for remark in _remarks(near, nearest))
    return BehaviorPlacement(decided, nearest, when, links, (reason, *remarks))


def _compare(new: Draft, text: str, parts: ComparedBehaviour, existing: MemoryRecord) -> BehaviorComparison:
    other = ComparedBehaviour.of(existing.content, existing.when)
    similarity, scopes = likeness(parts, other), _relate(parts.scope, other.scope)
    change = compare(existing.content, text)
    outranked = (instructs(existing.trust) and not instructs(new.trust)) or not is_trusted_as(
        new.trust, existing.trust
    )
    meets = scopes != "apart"
    contradiction = meets and (
        change.kind in _REVERSALS or contradicts(new.content, existing.content, new.when, existing.when)
    )
    decided = _decide(change, scopes, similarity, specific=is_more_specific(new.when, existing.when))
    if outranked and decided != "merge":
        decided = "create"
    if decided == "merge" and instructs(existing.trust) and not instructs(new.trust):
        decided = "create"
    if decided == "merge" and instructs(new.trust) and not instructs(existing.trust):
        decided = "create"
    return BehaviorComparison(
        existing, similarity, change, scopes, parts.scope, decided, contradiction, outranked
    )


def _decide(change: TextChange, scopes: ScopeRelation, similarity: float, *, specific: bool) -> str:
    """What the words, the conditions and the likeness of two behaviours come to."""
    if change.kind == "same":
        law = str(placement(similarity, more_specific=specific))
        return {"equal": "merge", "wider": "widen", "values": "widen", "narrower": _merged(law)}.get(
            scopes, "create"
        )
    if change.kind in _REVERSALS:
        if scopes == "equal" or (scopes == "wider" and change.kind == "opposite"):
            return "supersede"
        return "specialise" if specific else "create"
    if change.kind == "wider" and scopes in ("equal", "wider"):
        return "supersede"
    if (
        change.kind == "narrower"
        and scopes == "equal"
        and (similarity > SIMILARITY.merge or change.restricts)
    ):
        return "supersede"
    law = str(placement(similarity, more_specific=specific))
    return "create" if law == "merge" else law


def _merged(law: str) -> str:
    """A behaviour that holds more widely already holds here too, unless the law makes an exception of the new one."""
    return law if law == "specialise" else "merge"


def _relate(new: Mapping[str, frozenset[str]], old: Mapping[str, frozenset[str]]) -> ScopeRelation:
    """How the conditions of a new behaviour relate to those of an existing one."""
    if new == old:
        return "equal"
    if new.keys() == old.keys():
        return "values"
    if any(name in old and values.isdisjoint(old[name]) for name, values in new.items()):
        return "apart"
    if new.items() < old.items():
        return "wider"
    return "narrower" if old.items() < new.items() else "crossing"


def _conditions_after(new: Mapping[str, Any], near: BehaviorComparison) -> Mapping[str, Any]:
    """The conditions of an existing behaviour after the new correction: wider ones, or the values of both."""
    old = near.existing.when
    if near.placement == "merge" or near.scopes == "equal":
        return old
    if near.scopes != "values":
        return new
    return {name: _both(old[name], value) for name, value in new.items()}


def _both(old: Any, new: Any) -> Any:
    """The values of two conditions, each once."""
    values = [*(old if isinstance(old, (list, tuple)) else [old])]
    lowered = {str(value).strip().casefold() for value in values}
    added = new if isinstance(new, (list, tuple)) else [new]
    values += [value for value in added if str(value).strip().casefold() not in lowered]
    return values[0] if len(values) == 1 else values


def _by_nearness(near: BehaviorComparison) -> tuple[float, bool]:
    """The sort key: the most similar first, then the same scope, then the older in the order of the store."""
    return -near.similarity, near.scopes != "equal"


def _links(near: BehaviorComparison) -> list[tuple[str, float, MemoryRecord]]:
    """The links from the new behaviour to an existing one."""
    links = []
    if near.placement == "specialise":
        links.append(("overrides", PLASTICITY.start, near.existing))
    if near.contradicts and not near.outranked and not _apart(near):
        links.append(("conflicts", PLASTICITY.start, near.existing))
    if is_similar(near.similarity) and not near.contradicts:
        links.append(("similar-to", near.similarity, near.existing))
    return links


def _reason(decided: str, nearest: BehaviorComparison | None) -> str:
    if nearest is None:
        return "created: it is the first behaviour here"
    key, alike, change = nearest.existing.key, f"{nearest.similarity:.2f} alike", nearest.change
    if decided == "merge":
        return f"merged into {key}: {change.reason}"
    if decided == "widen":
        return f"widened {key}: {change.reason}, and this correction applies more widely"
    if decided == "supersede":
        return f"superseded the earlier text of {key}: {change.reason}"
    if decided == "specialise":
        return f"specialises {key}: {alike}, and it applies more narrowly"
    if nearest.outranked and (change.kind == "same" or nearest.similarity > SIMILARITY.merge):
        return f"created: {key} is {alike} but from {nearest.existing.trust}, which is trusted more"
    if change.kind == "same" and not instructs(nearest.existing.trust):
        return f"created: {key} is {alike} but from {nearest.existing.trust}, which may not instruct"
    if nearest.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike}, but {change.reason}"
    if is_similar(nearest.similarity):
        return f"created: the nearest, {key}, is {alike}"
    return f"created: nothing here is much like it (the nearest, {key}: {nearest.similarity:.2f})"


def _apart(near: BehaviorComparison) -> bool:
    """Whether the conditions name the same predicates with values of which none is shared."""
    old, new = scope("when", near.existing.when), near.scope
    return near.scopes == "values" and any(old[name].isdisjoint(new[name]) for name in new)


def _remarks(near: BehaviorComparison, nearest: BehaviorComparison | None) -> list[str]:
    """Contradictions and further similar behaviours; the reason already names the similarity of ``nearest``."""
    if near.contradicts and near.outranked and not _apart(near):
        return [f"contradicts {near.existing.key}, which is trusted more and takes precedence"]
    if near.contradicts and not _apart(near):
        return [f"conflicts with {near.existing.key} where both apply: {near.change.reason}"]
    if is_similar(near.similarity) and near is not nearest:
        return [f"similar to {near.existing.key} ({near.similarity:.2f})"]
    return []
