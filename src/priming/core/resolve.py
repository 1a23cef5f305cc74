"""Which of several active behaviours stand, where some override or contradict others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from priming.errors import ParamError

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a behaviour brings to a conflict.

    ``specificity`` is its number of predicates, ``instructs`` whether it is trusted enough to be shown as a rule.
    """

    specificity: int
    priority: float
    confidence: float
    instructs: bool = True


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a behaviour does not stand, and the position of the one that stands against it."""

    by: int
    how: Literal["overridden", "conflict"]


def resolve(claims: Sequence[Claim], overrides: Iterable[Pair], conflicts: Iterable[Pair]) -> dict[int, Loss]:
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
    >>> wide, narrow = Claim(1, 0.0, 0.6), Claim(2, 0.0, 0.6)
    >>> resolve([wide, narrow], overrides=[(1, 0)], conflicts=[])
    {0: Loss(by=1, how='overridden')}
    """
    above, below = _links(claims, overrides)
    mutual = [_checked(pair, claims) for pair in conflicts]
    fallen: dict[int, Loss] = {}
    for i, overriders in above.items():
        under = _reached(below, i)
        mutual += [(by, i) for by in overriders & under]
        if over := overriders - under:
            fallen[i] = Loss(min(over, key=lambda by: _strength(by, claims)), "overridden")
    against: dict[int, set[int]] = defaultdict(set)
    for a, b in mutual:
        against[a].add(b)
        against[b].add(a)
    for i in sorted(against, key=lambda claim: _strength(claim, claims)):
        if i not in fallen:
            for other in against[i] - {i}:
                fallen.setdefault(other, Loss(i, "conflict"))
    return dict(sorted(fallen.items()))


def _links(
    claims: Sequence[Claim], overrides: Iterable[Pair]
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


def _strength(i: int, claims: Sequence[Claim]) -> tuple[bool, int, float, float, int]:
    """The strongest sorts first, of equals the older."""
    claim = claims[i]
    return not claim.instructs, -claim.specificity, -claim.priority, -claim.confidence, i


def _checked(pair: Pair, claims: Sequence[Claim]) -> Pair:
    if not all(0 <= position < len(claims) for position in pair):
        raise ParamError("pair", pair, f"must name two of {len(claims)} claims by position")
    return pair
