"""Plasticity: how the weights of links and nodes move.

Weights are float64: the automatic tier moves them by .00001, which float32 would round away.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import FORGETTING, PLASTICITY, PlasticityParams
from priming.core.arguments.arrays import Floats, floats, like, numbers
from priming.core.arguments.checks import check_number, check_whole
from priming.core.bitemporal import aware
from priming.core.forgetting import edge_decay
from priming.errors import ParamError

AUTOMATIC = PLASTICITY.automatic
CONSCIOUS = PLASTICITY.conscious
TIERS: Mapping[str, float | None] = {"automatic": AUTOMATIC, "conscious": CONSCIOUS, "manual": None}

SECONDS_PER_DAY = 86_400.0
_JACCARD_FACTOR, _JACCARD_LOW = 3.0, 0.1
"""The weight of a link for each unit of the Jaccard index, and the least such weight (poc-memory)."""

Node = TypeVar("Node", bound=Hashable)


def oja(
    w: ArrayLike,
    a_i: ArrayLike,
    a_j: ArrayLike,
    eta: ArrayLike = PLASTICITY.oja_eta,
    lo: ArrayLike = PLASTICITY.oja_low,
    hi: ArrayLike = PLASTICITY.oja_high,
) -> Any:
    """Learn from a co-activation by Oja's rule: Hebb's product with a forgetting term that bounds it.

        w' = clamp(w + η · (a_i · a_j − a_j² · w), lo, hi)

    Parameters
    ----------
    w : weight, ≥ 0.
    a_i, a_j : activations of the two nodes, ≥ 0.
    eta : learning rate η, in [0, 1].
    lo, hi : bounds of the result, in [0, 1], lo ≤ hi.

    Returns
    -------
    Weight in [lo, hi], of the broadcast shape; ``lo`` where ``w``, ``a_i``, ``a_j`` or the result is NaN
    or infinite.

    Raises
    ------
    ParamError : an argument outside its range. Alone among the laws this one takes NaN and infinities:
        a link that a damaged activation reached starts again from the floor.

    References
    ----------
    .. [1] Oja, E. (1982). Simplified neuron model as a principal component analyzer. Journal of
       Mathematical Biology 15, 267–273.

    Examples
    --------
    >>> round(oja(0.9, 0.1, 0.5), 5)
    0.89125
    >>> oja(float("nan"), 0.1, 0.5)
    0.01
    """
    eta, lo, hi = floats("eta", eta, low=0.0, high=1.0), *_bounds(lo, hi)
    w, a_i, a_j = _lenient("w", w), _lenient("a_i", a_i), _lenient("a_j", a_j)
    with np.errstate(over="ignore", invalid="ignore"):
        learned = w + eta * (a_i * a_j - a_j**2 * w)
    return like(np.where(np.isfinite(learned), np.clip(learned, lo, hi), lo))


def hebb(w: ArrayLike, eta: ArrayLike = PLASTICITY.hebb_eta) -> Any:
    """Strengthen a link whose ends were recalled together, as World Weaver does.

        w' = w + η · (1 − w)

    Parameters
    ----------
    w : weight, in [0, 1].
    eta : learning rate η, in [0, 1].

    Returns
    -------
    Weight in [w, 1], of the broadcast shape. After n updates 1 − (1 − w) · (1 − η)^n.

    Raises
    ------
    ParamError : an argument outside its range.

    References
    ----------
    .. [1] Hebb, D. O. (1949). The Organization of Behavior. Wiley.

    Examples
    --------
    >>> round(hebb(0.5), 4)
    0.55
    """
    w, eta = floats("w", w, low=0.0, high=1.0), floats("eta", eta, low=0.0, high=1.0)
    return like(w + eta * (1.0 - w))


def increment(w: ArrayLike, delta: ArrayLike = PLASTICITY.increment, hi: ArrayLike = 1.0) -> Any:
    """Strengthen a link that was observed again, as Ethos's linker does: min(hi, w + delta).

    Parameters
    ----------
    w : weight, ≥ 0. A new link starts at its cosine.
    delta : step, ≥ 0.
    hi : cap, ≥ 0.

    Returns
    -------
    Weight, at most ``hi``, of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> increment(0.95)
    1.0
    """
    w, delta = floats("w", w, low=0.0), floats("delta", delta, low=0.0)
    return like(np.minimum(floats("hi", hi, low=0.0), w + delta))


def nudge(
    w: ArrayLike, delta: ArrayLike, lo: ArrayLike = PLASTICITY.low, hi: ArrayLike = PLASTICITY.high
) -> Any:
    """Move a weight a little, within bounds, but never against the sign of the nudge.

        w' = clamp(w + δ, lo, hi), then max(w, ·) for δ > 0, min(w, ·) for δ < 0, w for δ = 0

    Parameters
    ----------
    w : weight of a link or node, ≥ 0.
    delta : δ, ``AUTOMATIC`` or ``CONSCIOUS`` with a sign, or a share of it.
    lo, hi : bounds, in [0, 1], lo ≤ hi.

    Returns
    -------
    Weight, of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Notes
    -----
    The seed clamps only: a link at 1, which Ethos can make, would fall to .95 on praise.

    Examples
    --------
    >>> nudge(0.5, CONSCIOUS), nudge(1.0, CONSCIOUS), nudge(0.05, -CONSCIOUS)
    (0.51, 1.0, 0.05)
    """
    w, delta = floats("w", w, low=0.0), floats("delta", delta)
    lo, hi = _bounds(lo, hi)
    moved = np.clip(w + delta, lo, hi)
    signed = np.where(delta > 0, np.maximum(w, moved), np.minimum(w, moved))
    return like(np.where(delta == 0, w, signed))


def manual(weight: float, lo: float = PLASTICITY.low, hi: float = PLASTICITY.high) -> tuple[float, bool]:
    """Return the weight that the manual tier sets, and whether it was clamped.

    Parameters
    ----------
    weight : the requested weight, in [0, 1].
    lo, hi : bounds, in [0, 1], lo ≤ hi.

    Returns
    -------
    ``(clamp(weight, lo, hi), clamped)``; the caller reports a clamped weight.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> manual(0.7), manual(1.0)
    ((0.7, False), (0.95, True))
    """
    weight = check_number("weight", weight, low=0.0, high=1.0)
    low, high = _bounds(check_number("lo", lo), check_number("hi", hi))
    clamped = min(max(weight, float(low)), float(high))
    return clamped, clamped != weight


def normalize_strength(jaccard: ArrayLike) -> Any:
    """Set a link's weight from how much its ends' neighbourhoods overlap, as poc-memory does.

        clamp(3 · J, .1, 1)

    Parameters
    ----------
    jaccard : J, Jaccard index of the two neighbourhoods, in [0, 1].

    Returns
    -------
    Weight in [.1, 1], of the shape of ``jaccard``.

    Raises
    ------
    ParamError : ``jaccard`` outside its range.

    Examples
    --------
    >>> round(normalize_strength(0.2), 3), normalize_strength(0.0), normalize_strength(0.9)
    (0.6, 0.1, 1.0)
    """
    jaccard = floats("jaccard", jaccard, low=0.0, high=1.0)
    return like(np.clip(_JACCARD_FACTOR * jaccard, _JACCARD_LOW, 1.0))


def co_activation_pairs(
    activations: Mapping[Node, float],
    seeds: Collection[Node] | Mapping[Node, Collection[str]],
    threshold: float = PLASTICITY.threshold,
) -> list[tuple[Node, Node]]:
    """List the pairs of nodes that were active together and may come to be linked.

    Parameters
    ----------
    activations : node → activation ≥ 0. Nodes are of one sortable type, such as rows or ids.
    seeds : the nodes that the cue matched. Two of them together show what the cue was, no affinity. A mapping says
        which predicates matched each: two seeds pair where each was matched by a predicate that the other was not.
    threshold : activation from which a node counts, ≥ 0.

    Returns
    -------
    Pairs (a, b) with a < b, both at or above the threshold, not both seeds by the same predicates; sorted.

    Raises
    ------
    ParamError : ``activations`` no mapping, or an activation or ``threshold`` outside its range.

    Notes
    -----
    The seed's .3 can never be reached behind a hub of three under floop's own gains; .15 can.

    Examples
    --------
    >>> co_activation_pairs({"a": 1.0, "b": 0.9, "c": 0.2, "d": 0.1}, seeds={"a", "b"})
    [('a', 'c'), ('b', 'c')]
    >>> co_activation_pairs({"a": 0.9, "b": 0.9, "c": 0.9}, {"a": ["file"], "b": ["task"], "c": ["file", "task"]})
    [('a', 'b')]
    """
    if not isinstance(activations, Mapping):
        raise ParamError("activations", activations, "must be a mapping of node to activation")
    if isinstance(seeds, str):
        raise ParamError("seeds", seeds, "must be a collection of nodes")
    strong = floats("activations", list(activations.values()), low=0.0) >= check_number(
        "threshold", threshold, low=0.0
    )
    active = [node for node, is_strong in zip(activations, strong, strict=True) if is_strong]
    reasons: dict[Node, frozenset[str]] = (
        {node: frozenset(names) for node, names in seeds.items()}
        if isinstance(seeds, Mapping)
        else dict.fromkeys(seeds, frozenset())
    )
    pairs = combinations(sorted(active), 2)  # type: ignore[type-var]
    return [(a, b) for a, b in pairs if not _matched_alike(reasons.get(a), reasons.get(b))]


def _matched_alike(a: frozenset[str] | None, b: frozenset[str] | None) -> bool:
    """Tell whether two nodes are seeds, and what matched either matched the other too."""
    return a is not None and b is not None and (a <= b or b <= a)


def edge_is_due(
    times: Iterable[datetime],
    now: datetime,
    *,
    window_days: float = PLASTICITY.window_days,
    needed: int = PLASTICITY.needed,
) -> bool:
    """Tell whether a pair was active together often enough recently to be linked.

    Parameters
    ----------
    times : when the pair was co-active, the present time among them; aware datetimes, in any order.
    now : the present time.
    window_days : how far back a time counts, ≥ 0; exactly so long ago still does.
    needed : how many times are enough, ≥ 1.

    Returns
    -------
    Whether at least ``needed`` times lie within the window. Times after ``now`` do not count.

    Raises
    ------
    ParamError : a time without a time zone, or an argument outside its range.

    Examples
    --------
    >>> from datetime import timedelta
    >>> now = datetime(2026, 1, 8, tzinfo=UTC)
    >>> edge_is_due([now - timedelta(days=7), now - timedelta(days=2), now], now)
    True
    """
    window = check_number("window_days", window_days, low=0.0)
    needed = check_whole("needed", needed, low=1)
    # Subtraction within one time zone is by the wall clock, an hour off where the clocks change; UTC is not.
    present = aware("now", now).astimezone(UTC)
    ages = ((present - aware("times", time).astimezone(UTC)).total_seconds() for time in times)
    return sum(0.0 <= age / SECONDS_PER_DAY <= window for age in ages) >= needed


def birth_weight(a_i: ArrayLike, a_j: ArrayLike, params: PlasticityParams = PLASTICITY) -> Any:
    """Return the weight of a link newly made by co-activation: oja(.1, a_i, a_j).

    Parameters
    ----------
    a_i, a_j : activations of the two nodes at the co-occurrence that was enough, ≥ 0.
    params : the weight that a link learns from (.1 above), and the constants of Oja's rule.

    Returns
    -------
    Weight in [.01, .95], of the broadcast shape.

    Raises
    ------
    ParamError : a negative activation.

    Examples
    --------
    >>> round(birth_weight(0.8, 0.5), 5)
    0.11875
    """
    return oja(params.born, a_i, a_j, params.oja_eta, params.oja_low, params.oja_high)


def edge_is_spent(
    w: ArrayLike,
    hours: ArrayLike,
    rho: ArrayLike = FORGETTING.rho,
    below: float = PLASTICITY.prune_below,
) -> Any:
    """Tell whether a learned link has faded enough to be pruned: w · e^(−rho · hours) < below.

    Parameters
    ----------
    w : weight, ≥ 0.
    hours : since the link was last active, ≥ 0.
    rho : per hour, ≥ 0.
    below : weight under which a link is pruned, in [0, 1].

    Returns
    -------
    Boolean, of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> edge_is_spent(0.5, 24.0), edge_is_spent(0.5, 400.0)
    (False, True)
    """
    spent = np.asarray(edge_decay(w, hours, rho)) < check_number("below", below, low=0.0, high=1.0)
    return bool(spent) if np.ndim(spent) == 0 else spent


def _bounds(lo: ArrayLike, hi: ArrayLike) -> tuple[Floats, Floats]:
    low, high = floats("lo", lo, low=0.0, high=1.0), floats("hi", hi, low=0.0, high=1.0)
    if np.any(low > high):
        raise ParamError("lo", low.tolist(), f"must be ≤ hi = {high.tolist()}")
    return low, high


def _lenient(name: str, value: ArrayLike) -> Floats:
    """Check ``value`` like ``floats``, but turn infinities into NaN instead of refusing either."""
    array = numbers(name, value)
    finite = np.isfinite(array)
    floats(name, np.where(finite, array, 0.0), low=0.0)
    return np.where(finite, array, np.nan)
