"""Conflicts among active behaviours: duplicates in two stores, overrides, and contradictions.

An overridden rule still overrides others; a circle of overrides counts as conflicts, so that one of them stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Literal

from priming.config.values import dataclass
from priming.config.words import TRUST, instructs
from priming.core.when import scope
from priming.errors import ParamError
from priming.results import Hit
from priming.rules.placement import is_apart
from priming.storage.rows import MemoryPair
from priming.text.statements.judge import judge, subjects
from priming.types import MemoryRecord


@dataclass(frozen=True, slots=True)
class RuleCandidate:
    """An active behaviour, the position of its store, and the number of its conditions that hold.

    ``is_protected``: a constraint that applies, which gives way to nothing. ``is_general``: less active than the best
    of a crowd, so that its gist suffices. ``is_quiet``: mostly overridden of late, so that its name suffices.
    """

    store: int
    hit: Hit
    holding: int = 0
    is_protected: bool = False
    is_general: bool = False
    is_quiet: bool = False

    def rank(self) -> tuple[float, ...]:
        """Return what sorts the best first: by score, activation, and the conditions that hold; of equals the later.

        The general rules of a crowd come after the specific ones, however often they were confirmed elsewhere.
        """
        hit, taught = self.hit, taught_at(self.hit.memory).timestamp()
        return self.is_general, -hit.score, -hit.components["activation"], -self.holding, -taught


def duplicates_across_stores(candidates: Sequence[RuleCandidate]) -> dict[int, int]:
    """Return behaviours with the text of one of another store: by position, the position of the one to return.

    A behaviour that may instruct takes precedence, then the earlier store.
    """
    by_text: dict[str, list[int]] = {}
    for i, candidate in enumerate(candidates):
        text = " ".join(candidate.hit.memory.content.casefold().split())
        by_text.setdefault(text, []).append(i)
    duplicates: dict[int, int] = {}
    for same in by_text.values():
        first = min(
            same, key=lambda i: (not instructs(candidates[i].hit.memory.trust), candidates[i].store, i)
        )
        duplicates |= {i: first for i in same if candidates[i].store != candidates[first].store}
    return duplicates


def resolve_candidates(
    overrides_by_store: Sequence[Sequence[MemoryPair]],
    conflicts_by_store: Sequence[Sequence[MemoryPair]],
    candidates: Sequence[RuleCandidate],
    duplicates: Mapping[int, int],
) -> dict[int, RuleLoss]:
    """Return the candidates that lose against another, by position; a duplicate's links count for the one returned.

    The links of each store are pairs of memory ids.
    """
    places = {(each.store, each.hit.memory.id): duplicates.get(i, i) for i, each in enumerate(candidates)}

    def positions(by_store: Sequence[Sequence[MemoryPair]]) -> list[PositionPair]:
        linked = [(i, pair) for i, pairs in enumerate(by_store) for pair in pairs]
        ends = [(places.get((i, a)), places.get((i, b))) for i, (a, b) in linked]
        return [(a, b) for a, b in ends if a is not None and b is not None and a != b]

    # A rule overrides another only where all its conditions are confirmed.
    applies = [_applies(candidate) for candidate in candidates]
    overrides = [(by, of) for by, of in positions(overrides_by_store) if applies[by]]
    conflicts = positions(conflicts_by_store) + _contradictions_across_stores(candidates, duplicates)
    involved = sorted({i for pair in (*overrides, *conflicts) for i in pair})
    index = {i: n for n, i in enumerate(involved)}
    losses = resolve_conflicts(
        [rule_claim(candidates[i].hit.memory, candidates[i].store, applies=applies[i]) for i in involved],
        [(index[a], index[b]) for a, b in overrides],
        [(index[a], index[b]) for a, b in conflicts],
    )
    return {involved[n]: RuleLoss(involved[loss.by], loss.how) for n, loss in losses.items()}


def taught_at(rule: MemoryRecord) -> datetime:
    """Return when the present text of a rule was taught: when that was said, or recorded."""
    recorded = rule.recorded_at or datetime.min.replace(tzinfo=UTC)
    return min(rule.occurred_at or recorded, recorded)


def rule_claim(memory: MemoryRecord, store: int = 0, *, applies: bool = True) -> RuleClaim:
    """Return a behaviour's claim; ``store`` is the position of its store, ``applies``: its conditions all hold."""
    return RuleClaim(
        len(scope("when", memory.when)),
        memory.priority,
        memory.confidence,
        instructs(memory.trust),
        TRUST.index(memory.trust),
        store,
        taught_at(memory).timestamp() if memory.recorded_at else 0.0,
        applies,
    )


def _applies(candidate: RuleCandidate) -> bool:
    """Tell whether the context confirms every condition of a behaviour; true without conditions."""
    return not candidate.hit.memory.when or candidate.hit.components["context"] == 1.0


def _contradictions_across_stores(
    candidates: Sequence[RuleCandidate], duplicates: Mapping[int, int]
) -> list[PositionPair]:
    """Return pairs of behaviours of two stores that contradict each other, which no link can record."""
    if len({candidate.store for candidate in candidates}) < 2:
        return []
    memories = [candidate.hit.memory for candidate in candidates]
    keys = [subjects(memory.content) for memory in memories]
    scopes = [scope("when", memory.when) for memory in memories]
    pairs = []
    for i, j in combinations([i for i in range(len(candidates)) if i not in duplicates], 2):
        apart = candidates[i].store == candidates[j].store or is_apart(scopes[i], scopes[j])
        if not apart and not keys[i].isdisjoint(keys[j]):
            change = judge(memories[i].content, memories[j].content)
            pairs += [(i, j)] if change.kind == "changes" else []
    return pairs


PositionPair = tuple[int, int]
"""Two behaviours, by their positions."""


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """What decides a conflict of behaviours, as ``resolve_conflicts`` says.

    ``applies``: the context confirms all conditions, so that an exception counts where it holds and nowhere else;
    ``specificity`` is the number of predicates; ``instructs``: whether the trust suffices to be shown as a rule;
    ``trust``: its rank; ``recorded_at``: when the present text was learned, in seconds.
    """

    specificity: int
    priority: float
    confidence: float
    instructs: bool = True
    trust: int = 0
    store: int = 0
    recorded_at: float = 0.0
    applies: bool = True


@dataclass(frozen=True, slots=True)
class RuleLoss:
    """Why a behaviour is left out, and the position of the behaviour that it lost against."""

    by: int
    how: Literal["overridden", "conflict"]


def resolve_conflicts(
    claims: Sequence[RuleClaim], overrides: Iterable[PositionPair], conflicts: Iterable[PositionPair]
) -> dict[int, RuleLoss]:
    """Decide which of several active behaviours are left out.

    A behaviour that another overrides is left out, even if a third overrides that other. Of the rest, the strongest
    stays and those in conflict with it are left out, then the next strongest that is left, and so on. The stronger
    is the one whose conditions all hold, then the more specific, then the one of higher priority, of more trust, of
    the earlier store, then the later, then the one of higher confidence.

    Parameters
    ----------
    claims : the active behaviours, the oldest first; the pairs refer to their positions.
    overrides : (by, of): ``by`` overrides ``of``.
    conflicts : pairs that contradict each other, in either order.

    Returns
    -------
    For each position that is left out, the position that it lost against, and how.

    Raises
    ------
    ParamError : a pair with a position outside ``claims``.

    Notes
    -----
    Behaviours that override each other in a cycle count as conflicting, so that one of them stays. A behaviour that
    may not instruct loses every conflict against one that may, and overrides only others that may not.

    Examples
    --------
    >>> wide, narrow = RuleClaim(1, 0.0, 0.6), RuleClaim(2, 0.0, 0.6)
    >>> resolve_conflicts([wide, narrow], overrides=[(1, 0)], conflicts=[])
    {0: RuleLoss(by=1, how='overridden')}
    """
    above, below = _override_graph(claims, overrides)
    mutual = [_check_pair(pair, claims) for pair in conflicts]
    losses: dict[int, RuleLoss] = {}
    for i, overriders in above.items():
        cyclic = overriders & _reachable(below, i)
        mutual += [(by, i) for by in cyclic]
        if strict := overriders - cyclic:
            losses[i] = RuleLoss(min(strict, key=lambda by: _by_strength(by, claims)), "overridden")
    against: dict[int, set[int]] = defaultdict(set)
    for a, b in mutual:
        against[a].add(b)
        against[b].add(a)
    for i in sorted(against, key=lambda position: _by_strength(position, claims)):
        if i not in losses:
            for other in against[i] - {i}:
                losses.setdefault(other, RuleLoss(i, "conflict"))
    return dict(sorted(losses.items()))


def _override_graph(
    claims: Sequence[RuleClaim], overrides: Iterable[PositionPair]
) -> tuple[Mapping[int, set[int]], Mapping[int, set[int]]]:
    """Map each position to the behaviours that override it, and to those that it overrides."""
    above: dict[int, set[int]] = defaultdict(set)
    below: dict[int, set[int]] = defaultdict(set)
    for pair in overrides:
        by, of = _check_pair(pair, claims)
        if by != of and (claims[by].instructs or not claims[of].instructs):
            above[of].add(by)
            below[by].add(of)
    return above, below


def _reachable(below: Mapping[int, set[int]], start: int) -> set[int]:
    """Return the behaviours that ``start`` overrides, directly or through others."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        next_claims = below.get(waiting.pop(), set()) - reached
        reached |= next_claims
        waiting += next_claims
    return reached


def _by_strength(i: int, claims: Sequence[RuleClaim]) -> tuple[float, ...]:
    """Return the sort key of a position: the strongest first, the later of equals."""
    claim = claims[i]
    order = (
        claim.specificity,
        claim.priority,
        claim.trust,
        -claim.store,
        claim.recorded_at,
        claim.confidence,
        i,
    )
    return (not claim.instructs, not claim.applies, *(-value for value in order))


def _check_pair(pair: PositionPair, claims: Sequence[RuleClaim]) -> PositionPair:
    if not all(0 <= position < len(claims) for position in pair):
        raise ParamError("pair", pair, f"must name two of {len(claims)} claims by position")
    return pair
