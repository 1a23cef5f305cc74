"""Which of several active behaviours stand: twins of two stores, what overrides what, and what contradicts what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from priming.core.similarity import tokens
from priming.core.trust import instructs
from priming.core.when import scope
from priming.errors import ParamError
from priming.results import Hit
from priming.text.rule_kinds import contradicts, forbids
from priming.types import MemoryRecord

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RuleCandidate:
    """A behaviour that is active, with the store that it is from (its position)."""

    store: int
    hit: Hit


def rule_claim(memory: MemoryRecord) -> RuleClaim:
    """What a behaviour brings to a conflict."""
    return RuleClaim(
        len(scope("when", memory.when)), memory.priority, memory.confidence, instructs(memory.trust)
    )


def near_duplicates_of(candidates: Sequence[RuleCandidate]) -> dict[int, int]:
    """Behaviours that say the same as one of another store, which stands for both: the earlier store's.

    What may not instruct never stands for what may.
    """
    by_text: dict[str, list[int]] = {}
    for i, one in enumerate(candidates):
        by_text.setdefault(" ".join(one.hit.memory.content.casefold().split()), []).append(i)
    found: dict[int, int] = {}
    for same in by_text.values():
        leader = min(
            same, key=lambda i: (not instructs(candidates[i].hit.memory.trust), candidates[i].store, i)
        )
        found |= {i: leader for i in same if candidates[i].store != candidates[leader].store}
    return found


def resolve_candidates(
    overriding: Sequence[Pairs],
    contradicting: Sequence[Pairs],
    candidates: Sequence[RuleCandidate],
    twins: Mapping[int, int],
) -> dict[int, RuleLoss]:
    """Who falls to whom; of twins the one that stands for both has the links of both.

    ``overriding`` and ``contradicting`` are pairs of ids, store by store.
    """
    place = {(one.store, one.hit.memory.id): twins.get(i, i) for i, one in enumerate(candidates)}

    def pairs(by_store: Sequence[Pairs]) -> list[tuple[int, int]]:
        linked = [(i, pair) for i, some in enumerate(by_store) for pair in some]
        ends = [(place.get((i, a)), place.get((i, b))) for i, (a, b) in linked]
        return [(a, b) for a, b in ends if a is not None and b is not None and a != b]

    # What a rule overrides it overrides where it applies: not where one of its conditions is open.
    sure = [_applies(one) for one in candidates]
    overrides = [(by, of) for by, of in pairs(overriding) if sure[by]]
    conflicts = pairs(contradicting) + _across(candidates)
    rivals = sorted({i for pair in (*overrides, *conflicts) for i in pair})
    at = {i: n for n, i in enumerate(rivals)}
    fallen = resolve_conflicts(
        [rule_claim(candidates[i].hit.memory) for i in rivals],
        [(at[a], at[b]) for a, b in overrides],
        [(at[a], at[b]) for a, b in conflicts],
    )
    return {rivals[n]: RuleLoss(rivals[loss.by], loss.how) for n, loss in fallen.items()}


def _applies(one: RuleCandidate) -> bool:
    """Whether the context confirms every condition of a behaviour; one without any applies everywhere."""
    return not one.hit.memory.when or one.hit.components["context"] == 1.0


def _across(candidates: Sequence[RuleCandidate]) -> list[tuple[int, int]]:
    """Pairs of behaviours of two stores that contradict each other: no link tells of them."""
    if len({one.store for one in candidates}) < 2:
        return []
    said = [(forbids(one.hit.memory.content), tokens(one.hit.memory.content)) for one in candidates]
    found = []
    for i, j in combinations(range(len(candidates)), 2):
        one, other = candidates[i], candidates[j]
        apart = one.store != other.store and said[i][0] != said[j][0]
        if apart and 2 * len(said[i][1] & said[j][1]) > min(len(said[i][1]), len(said[j][1])):
            a, b = one.hit.memory, other.hit.memory
            if contradicts(a.content, b.content, a.when, b.when):
                found.append((i, j))
    return found


Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """What a behaviour brings to a conflict.

    ``specificity`` is its number of predicates, ``instructs`` whether it is trusted enough to be shown as a rule.
    """

    specificity: int
    priority: float
    confidence: float
    instructs: bool = True


@dataclass(frozen=True, slots=True)
class RuleLoss:
    """Why a behaviour does not stand, and the position of the one that stands against it."""

    by: int
    how: Literal["overridden", "conflict"]


def resolve_conflicts(
    claims: Sequence[RuleClaim], overrides: Iterable[Pair], conflicts: Iterable[Pair]
) -> dict[int, RuleLoss]:
    """Decide which behaviours do not stand beside the others.

    Whatever another one overrides falls, also where that one is itself overridden by a third. Of those left,
    the strongest stays and whatever conflicts with it falls, then the next strongest that is left, and so on.
    Stronger is who is more specific, then of higher priority, then more confident, then older.

    Parameters
    ----------
    claims : the active behaviours, the oldest first; below they are named by their positions.
    overrides : (by, of): ``by`` overrides ``of``.
    conflicts : pairs that contradict each other, in either order.

    Returns
    -------
    For each position that falls, by whom and how.

    Raises
    ------
    ParamError : a pair that names no position.

    Notes
    -----
    Behaviours that override each other in a circle are taken as conflicts, so that one of them stays. What is
    not trusted to instruct never silences what is: it loses every conflict, and overrides only its like.

    Examples
    --------
    >>> wide, narrow = RuleClaim(1, 0.0, 0.6), RuleClaim(2, 0.0, 0.6)
    >>> resolve_conflicts([wide, narrow], overrides=[(1, 0)], conflicts=[])
    {0: RuleLoss(by=1, how='overridden')}
    """
    above, below = _links(claims, overrides)
    mutual = [_checked(pair, claims) for pair in conflicts]
    fallen: dict[int, RuleLoss] = {}
    for i, overriders in above.items():
        under = _reached(below, i)
        mutual += [(by, i) for by in overriders & under]
        if over := overriders - under:
            fallen[i] = RuleLoss(min(over, key=lambda by: _strength(by, claims)), "overridden")
    against: dict[int, set[int]] = defaultdict(set)
    for a, b in mutual:
        against[a].add(b)
        against[b].add(a)
    for i in sorted(against, key=lambda claim: _strength(claim, claims)):
        if i not in fallen:
            for other in against[i] - {i}:
                fallen.setdefault(other, RuleLoss(i, "conflict"))
    return dict(sorted(fallen.items()))


def _links(
    claims: Sequence[RuleClaim], overrides: Iterable[Pair]
) -> tuple[Mapping[int, set[int]], Mapping[int, set[int]]]:
    """For each behaviour that is overridden those that may override it, and the other way round."""
    above: dict[int, set[int]] = defaultdict(set)
    below: dict[int, set[int]] = defaultdict(set)
    for pair in overrides:
        by, of = _checked(pair, claims)
        if by != of and (claims[by].instructs or not claims[of].instructs):
            above[of].add(by)
            below[by].add(of)
    return above, below


def _reached(below: Mapping[int, set[int]], start: int) -> set[int]:
    """Those that ``start`` overrides, over any number of links."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        next_claims = below.get(waiting.pop(), set()) - reached
        reached |= next_claims
        waiting += next_claims
    return reached


def _strength(i: int, claims: Sequence[RuleClaim]) -> tuple[bool, int, float, float, int]:
    """The strongest sorts first, of equals the older."""
    claim = claims[i]
    return not claim.instructs, -claim.specificity, -claim.priority, -claim.confidence, i


def _checked(pair: Pair, claims: Sequence[RuleClaim]) -> Pair:
    if not all(0 <= position < len(claims) for position in pair):
        raise ParamError("pair", pair, f"must name two of {len(claims)} claims by position")
    return pair
