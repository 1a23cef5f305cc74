"""Placement: a new behaviour is merged into an existing one, supersedes it, specialises it, or stays apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import HOOK, instructs, is_trusted_as
from priming.core.similarity import LINK, MERGE, NARROW, ComparedBehaviour, is_similar, likeness, placement
from priming.core.when import is_more_specific, meet
from priming.recall.formatting import rule_kind
from priming.remember.drafts import Draft
from priming.text.languages import without_language, without_places
from priming.text.quotation import label
from priming.text.statements.judge import Judgement, judge
from priming.text.statements.reader import contrast, forbids
from priming.types import MemoryRecord

ScopeRelation = Literal["equal", "wider", "narrower", "values", "crossing", "apart"]
"""The conditions of a new behaviour beside those of an existing one.

``values``: the same predicates with other values. ``crossing``: other predicates, so that both may apply at once.
``apart``: no context meets both.
"""

_DECISIONS = ("supersede", "merge", "widen", "specialise")
"""The order of decision; but a rule for the same conditions that says the same always comes first."""


@dataclass(frozen=True, slots=True)
class BehaviorComparison:
    """An existing behaviour, and how the new one relates to it."""

    existing: MemoryRecord
    similarity: float
    change: Judgement
    scopes: ScopeRelation
    scope: Mapping[str, frozenset[str]]
    """The conditions of the new behaviour."""
    placement: str
    contradicts: bool
    outranked: bool
    """Whether the new behaviour is not trusted enough to contradict the existing one."""
    general: bool = False
    """Whether the existing behaviour is the exception: it overrides the new one."""
    apart: bool = False
    """Whether no context meets the conditions of both."""
    yields: Literal["the", "this"] | None = None
    """Which of the two, the existing or the new one, is a constraint that gives way where both apply."""


@dataclass(frozen=True, slots=True)
class RuleLink:
    """A link of a behaviour to another; ``inward``: from the other to the behaviour."""

    relation: str
    weight: float
    other: MemoryRecord
    inward: bool = False


@dataclass(frozen=True, slots=True)
class BehaviorPlacement:
    """Where a new behaviour belongs: the comparison that decided it, and its links to all others.

    ``when`` holds the conditions of the behaviour after the correction.
    """

    placement: str
    nearest: BehaviorComparison | None
    when: Mapping[str, Any]
    links: tuple[RuleLink, ...]
    reasons: tuple[str, ...]
    compared: frozenset[str] = frozenset()
    """The ids of the behaviours that ``links`` are complete for."""
    reversed: tuple[MemoryRecord, ...] = ()
    """Further behaviours that the correction reverses and replaces: for the same predicates, with their values."""


def place_behavior(
    new: Draft, existing: Sequence[MemoryRecord], *, wrong: str | None = None
) -> BehaviorPlacement:
    """Decide where a new behaviour, instead of ``wrong``, belongs among the existing ones (docs/laws.md)."""
    comparisons = compare_behaviors(new, existing, wrong=wrong)
    decisions = (near for near in comparisons if near.placement != "create")
    decisive = sorted((near for near in decisions if not _is_beside(near, comparisons)), key=_by_precedence)
    nearest = next(iter(decisive or comparisons), None)
    decided = nearest.placement if nearest else "create"
    reason = _reason(decided, nearest)
    # A behaviour that takes the place of another keeps its row, and gets links to the rest as it is afterwards.
    replaced = nearest is not None and decided in ("merge", "widen", "supersede")
    reversals = [near for near in comparisons if near is not nearest and _reverses(near, nearest)]
    comparisons = [near for near in comparisons if near not in reversals]
    if nearest is None or not replaced:
        others, when = comparisons, new.when
    else:
        when = _conditions_after(new, nearest)
        for near in reversals:
            when = {name: _both(value, near.existing.when[name]) for name, value in when.items()}
        content = new.content if decided == "supersede" else nearest.existing.content
        rest = [near.existing for near in comparisons if near is not nearest]
        after = replace(new, content=content, when=when)
        restated = decided == "supersede"
        others = compare_behaviors(after, rest, wrong=wrong if restated else None)
    links = tuple(link for near in others for link in _links(near))
    remarks = [remark for near in others for remark in _remarks(near, nearest)]
    remarks += [
        f"takes the place of {label(near.existing.key)} too: {near.change.reason}" for near in reversals
    ]
    compared = frozenset(near.existing.id for near in others)
    stands_for = tuple(near.existing for near in reversals)
    return BehaviorPlacement(decided, nearest, when, links, (reason, *remarks), compared, stands_for)


def _reverses(near: BehaviorComparison, nearest: BehaviorComparison | None) -> bool:
    """Tell whether a behaviour is reversed too, for conditions that the changed one can have beside its own."""
    keys = None if nearest is None else nearest.existing.when.keys()
    reversed_ = near.placement == "supersede" and near.change.kind == "changes"
    return reversed_ and near.existing.when.keys() == keys


def _is_beside(near: BehaviorComparison, comparisons: Sequence[BehaviorComparison]) -> bool:
    """Tell whether a behaviour is the exception to another, of which the new one may as well say more: both stand."""
    when = near.existing.when
    return (near.placement, near.scopes == "equal") == ("supersede", False) and any(
        other.change.kind in ("narrower", "wider")
        and when
        and (not other.existing.when or is_more_specific(when, other.existing.when))
        for other in comparisons
    )


def compare_behaviors(
    new: Draft, existing: Sequence[MemoryRecord], *, wrong: str | None = None
) -> list[BehaviorComparison]:
    """Return how a new behaviour relates to each of the existing ones, the nearest first."""
    parts = ComparedBehaviour.of(new.content, new.when)
    text = contrast(new.content, wrong)
    comparisons = (_compare(new, text, parts, record) for record in existing)
    # Among equals the older comes first, by the order of the store.
    return sorted(comparisons, key=lambda near: (-near.similarity, near.scopes != "equal"))


def _compare(new: Draft, text: str, parts: ComparedBehaviour, existing: MemoryRecord) -> BehaviorComparison:
    other = ComparedBehaviour.of(existing.content, existing.when)
    similarity, scopes = likeness(parts, other), _relate(parts.scope, other.scope)
    before, after, content = (
        stated(words, parts.scope, other.scope) for words in (existing.content, text, new.content)
    )
    change = _change(before, after, content)
    forbids_more = forbids(new.content) and not forbids(existing.content)
    plain = change.kind in ("same", "changes") or (change.kind == "narrower" and forbids_more)
    stands = not plain and _kinds_differ(existing, new)
    outranked = (instructs(existing.trust) and not instructs(new.trust)) or not is_trusted_as(
        new.trust, existing.trust
    )
    meets = not is_apart(parts.scope, other.scope)
    reverses = change.kind == "changes"
    contradiction = meets and reverses
    specific = is_more_specific(new.when, existing.when)
    inferred = new.source == HOOK or (existing.source == HOOK and scopes == "wider")
    decided = _decide(
        change, scopes, similarity, specific=specific, inferred=inferred, forbids_more=forbids_more
    )
    if decided != "merge" and (outranked or (stands and decided != "widen")):
        decided = "create"
    if decided == "merge" and instructs(existing.trust) != instructs(new.trust):
        decided = "create"
    alike = reverses or similarity > NARROW
    if new.metadata["rule"] == "constraint" != rule_kind(existing):
        alike = reverses
    general = alike and decided == "create" and not outranked and is_more_specific(existing.when, new.when)
    return BehaviorComparison(
        existing,
        similarity,
        change,
        scopes,
        parts.scope,
        decided,
        contradiction,
        outranked,
        general,
        not meets,
        _yielding(existing, new, other.scope, parts.scope) if contradiction else None,
    )


def _kinds_differ(existing: MemoryRecord, new: Draft) -> bool:
    """Tell whether one of two rules is a constraint and the other none: only a plain reversal replaces either."""
    return (rule_kind(existing) == "constraint") is not bool(new.metadata["rule"] == "constraint")


def _yielding(
    existing: MemoryRecord, new: Draft, old_scope: Mapping[str, Any], new_scope: Mapping[str, Any]
) -> Literal["the", "this"] | None:
    """Name the one constraint of two conflicting rules, if it loses: the more specific wins, else the later."""
    was, is_now = rule_kind(existing) == "constraint", new.metadata["rule"] == "constraint"
    if was == is_now:
        return None
    wins = len(new_scope) >= len(old_scope)
    return "the" if was and wins else "this" if is_now and not wins else None


def stated(text: str, *scopes: Mapping[str, frozenset[str]]) -> str:
    """Tell what a rule says beside conditions, its own or another's, which need not be compared: "in production"."""
    languages = [name for scope in scopes for name in scope.get("language", ())]
    values = {value for scope in scopes for values in scope.values() for value in values}
    return without_places(without_language(text, languages), values)


def _change(old: str, text: str, content: str) -> Judgement:
    """Return the change by a new behaviour; what was done wrong may show that it reverses an earlier one."""
    change = judge(old, content)
    if text == content or change.kind in ("same", "changes"):
        return change
    contrasted = judge(old, text)
    return contrasted if contrasted.kind == "changes" else change


def _decide(
    change: Judgement,
    scopes: ScopeRelation,
    similarity: float,
    *,
    specific: bool,
    inferred: bool,
    forbids_more: bool,
) -> str:
    """Return the placement that follows from the words, the conditions and the similarity of two behaviours.

    ``forbids_more``: only the new one forbids something, so that a merge would lose what it forbids.
    ``inferred``: the conditions that differ were read from the moment, so that they make no exception.
    """
    law = str(placement(similarity, more_specific=specific))
    if change.kind in ("same", "narrower") and forbids_more:
        return "supersede" if scopes in ("equal", "wider") else "create"
    if change.kind == "same":
        return {"equal": "merge", "wider": "widen", "values": "widen", "narrower": _merged(law)}.get(
            scopes, "create"
        )
    if change.kind == "changes":
        if scopes == "equal" or (scopes in ("wider", "narrower", "crossing") and inferred):
            return "supersede"
        return "specialise" if specific else "create"
    if scopes == "equal" and _replaces(change, similarity):
        return "supersede"
    return "specialise" if specific and similarity > NARROW else "create"


def _replaces(change: Judgement, similarity: float) -> bool:
    """Tell whether a rule for the same conditions, which says more or less, takes the place of the earlier."""
    if change.kind == "narrower":
        return similarity > MERGE or change.restricts
    return change.kind == "wider"


def _merged(law: str) -> str:
    """Return a wider behaviour already covers this case, unless the law treats the new one as an exception."""
    return law if law == "specialise" else "merge"


def _relate(new: Mapping[str, frozenset[str]], old: Mapping[str, frozenset[str]]) -> ScopeRelation:
    """Return how the conditions of a new behaviour relate to those of an existing one."""
    if new == old:
        return "equal"
    if new.keys() == old.keys():
        return "values"
    if is_apart(new, old):
        return "apart"
    if new.items() < old.items():
        return "wider"
    return "narrower" if old.items() < new.items() else "crossing"


def _conditions_after(new: Draft, near: BehaviorComparison) -> Mapping[str, Any]:
    """Return the conditions of an existing behaviour after the new correction: wider ones, or the values of both.

    What a hook heard keeps those of the rule that it changes, whatever file was open.
    """
    old = near.existing.when
    if near.placement == "merge" or near.scopes == "equal":
        return old
    if near.placement == "supersede" and new.source == HOOK:
        return old
    if near.scopes != "values":
        return new.when
    return {name: _both(old[name], value) for name, value in new.when.items()}


def _both(old: Any, new: Any) -> Any:
    """Return the values of two conditions, each once."""
    values = [*(old if isinstance(old, (list, tuple)) else [old])]
    lowered = {str(value).strip().casefold() for value in values}
    added = new if isinstance(new, (list, tuple)) else [new]
    values += [value for value in added if str(value).strip().casefold() not in lowered]
    return values[0] if len(values) == 1 else values


def _by_precedence(near: BehaviorComparison) -> tuple[bool, int, int]:
    repeats = near.placement == "merge" and near.scopes == "equal"
    is_own = 0 if near.scopes == "equal" else 1 if near.scopes == "narrower" else 2
    return not repeats, _DECISIONS.index(near.placement), is_own


def _links(near: BehaviorComparison) -> list[RuleLink]:
    """Return the links between the new behaviour and an existing one; which was learned first makes no difference."""
    links = []
    if near.placement == "specialise" or near.general:
        links.append(RuleLink("overrides", PLASTICITY.start, near.existing, inward=near.general))
    if near.contradicts and not near.outranked:
        links.append(RuleLink("conflicts", PLASTICITY.start, near.existing))
    if is_unclear(near.change) and not near.apart:
        weight = min(max(near.similarity, LINK), MERGE)
        links.append(RuleLink("similar-to", weight, near.existing))
    elif is_similar(near.similarity) and not near.contradicts:
        links.append(RuleLink("similar-to", near.similarity, near.existing))
    return links


def is_unclear(change: Judgement) -> bool:
    """Tell whether the words of two rules do not decide: both are kept, and ``review`` lists them."""
    return change.kind == "unclear"


def _reason(decided: str, nearest: BehaviorComparison | None) -> str:
    if nearest is None:
        return "created: it is the first behaviour here"
    key, alike, change = label(nearest.existing.key), f"similar ({nearest.similarity:.2f})", nearest.change
    if decided == "merge":
        return f"merged into {key}: {change.reason}"
    if decided == "widen":
        return f"widened {key}: {change.reason}, and this correction applies more widely"
    if decided == "supersede":
        also = f"the correction also forbids something ({change.reason})"
        return f"superseded the earlier text of {key}: {also if change.kind == 'same' else change.reason}"
    if decided == "specialise":
        why = change.reason if change.kind == "changes" else f"it is {alike}"
        return f"specialises {key}, which it overrides where both apply: {why}, and it applies more narrowly"
    return _creation(nearest)


def _creation(nearest: BehaviorComparison) -> str:
    """Return why a behaviour stays separate."""
    key = label(nearest.existing.key)
    change, alike = nearest.change, f"similar ({nearest.similarity:.2f})"
    if is_unclear(change) and not nearest.apart:
        return f"created beside {key}, which review lists: it is unclear, {change.reason}"
    if nearest.outranked and (change.kind == "same" or nearest.similarity > MERGE):
        return f"created: {key} is {alike}, but from {nearest.existing.trust}, which is trusted more"
    if change.kind == "same" and not instructs(nearest.existing.trust):
        return f"created: {key} is {alike}, but from {nearest.existing.trust}, which may not instruct"
    if change.kind == "same":
        return f"created beside {key}, which says the same where other conditions hold"
    if nearest.similarity > NARROW:
        return f"created: {key} is {alike}, but {change.reason}"
    if is_similar(nearest.similarity):
        return f"created: the nearest, {key}, is {alike}"
    return f"created: no existing rule is similar (the nearest, {key}: {nearest.similarity:.2f})"


def is_apart(new: Mapping[str, frozenset[str]], old: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether conditions name a predicate with values that cannot hold at once.

    >>> is_apart({"language": frozenset({"go"})}, {"language": frozenset({"rust"}), "task": frozenset({"test"})})
    True
    """
    return any(name in old and not meet(name, values, old[name]) for name, values in new.items())


def _remarks(near: BehaviorComparison, nearest: BehaviorComparison | None) -> list[str]:
    """Tell contradictions and further similar behaviours; the reason already names the similarity of ``nearest``."""
    if near.contradicts and near.outranked:
        return [f"contradicts {label(near.existing.key)}, which is trusted more and takes precedence"]
    if near.contradicts:
        yields = "" if near.yields is None else f"; {near.yields} constraint is not told there"
        return [
            f"conflicts with {label(near.existing.key)} where both apply, and review lists both:"
            f" {near.change.reason}{yields}"
        ]
    if near.general:
        return [f"{label(near.existing.key)} applies more narrowly, and overrides it there"]
    if is_unclear(near.change) and near is not nearest and not near.apart:
        return [f"review lists {label(near.existing.key)} beside it: it is unclear, {near.change.reason}"]
    if is_similar(near.similarity) and near is not nearest:
        return [f"similar to {label(near.existing.key)} ({near.similarity:.2f})"]
    return []
