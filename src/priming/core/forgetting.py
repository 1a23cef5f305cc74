"""Forgetting: how retrievability, recency and links fade, and how stability is earned.

Times are in days, fractional, unless an argument says hours.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import FORGETTING
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, floats, like
from priming.core.arguments.checks import check_number, check_whole, interval
from priming.errors import ParamError

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4

_FACTOR = next(f.metadata for f in fields(FORGETTING) if f.name == "factor")


@dataclass(frozen=True, slots=True)
class FsrsState:
    """The FSRS state of one memory: ``stability`` in days, ``difficulty`` in [1, 10]."""

    stability: float
    difficulty: float

    def __post_init__(self) -> None:
        if check_number("stability", self.stability, low=0.0) == 0.0:
            raise ParamError("stability", self.stability, "must be > 0")
        check_number("difficulty", self.difficulty, low=_EASIEST, high=_HARDEST)


class FsrsWeights(NamedTuple):
    """The 21 weights of FSRS-6 in their published order, by what each one does (fsrs4anki wiki)."""

    again: float = 0.212
    hard: float = 1.2931
    good: float = 2.3065
    easy: float = 8.2956
    initial_difficulty: float = 6.4133
    difficulty_slope: float = 0.8334
    difficulty_step: float = 3.0194
    mean_reversion: float = 0.001
    recall_gain: float = 1.8722
    recall_stability: float = 0.1666
    recall_surprise: float = 0.796
    forget_scale: float = 1.4835
    forget_difficulty: float = 0.0614
    forget_stability: float = 0.2629
    forget_surprise: float = 1.6483
    hard_penalty: float = 0.6014
    easy_bonus: float = 1.8729
    same_day_gain: float = 0.5425
    same_day_shift: float = 0.0912
    same_day_stability: float = 0.0658
    decay: float = 0.1542


WEIGHTS = FsrsWeights()
_LEAST_STABILITY, _EASIEST, _HARDEST = 0.001, 1.0, 10.0
"""The floor of stability, in days, and the bounds of difficulty (FSRS-6)."""
_RETENTION, _LEAST_DECAY = 0.9, 0.001
"""The probability of recall after one stability (FSRS-6), and the least exponent, below which the curve overflows."""


def power_retrievability(
    t: ArrayLike,
    S: ArrayLike,  # noqa: N803 (the paper's name)
    factor: ArrayLike = FORGETTING.factor,
    exponent: ArrayLike = FORGETTING.exponent,
) -> Any:
    """Give the probability of recall after ``t`` days, as World Weaver has it.

        R(t, S) = (1 + factor · t / S)^(−exponent)

    Parameters
    ----------
    t : days since the last access, ≥ 0.
    S : stability in days, ≥ 0. 0 gives 0.
    factor : scale of t / S, in [.1, 1].
    exponent : steepness, ≥ 0.

    Returns
    -------
    Retrievability in [0, 1], of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Notes
    -----
    The seed calls it FSRS, but R(S, S) = .725 here and .9 there: see ``fsrs_retrievability``.

    Examples
    --------
    >>> round(power_retrievability(1.0, 1.0), 3)
    0.725
    """
    t, S = floats("t", t, low=0.0), floats("S", S, low=0.0)  # noqa: N806
    factor = floats("factor", factor, low=_FACTOR["low"], high=_FACTOR["high"])
    exponent = floats("exponent", exponent, low=0.0)
    return like(_power_curve(t, S, factor, exponent))


def fsrs_retrievability(
    t: ArrayLike,
    S: ArrayLike,  # noqa: N803 (the paper's name)
    decay: ArrayLike = FORGETTING.fsrs_decay,
) -> Any:
    """Give the probability of recall after ``t`` days, as FSRS-6 has it.

        R(t, S) = (1 + (.9^(−1/decay) − 1) · t / S)^(−decay)

    Parameters
    ----------
    t : days since the last review, ≥ 0, fractional.
    S : stability in days, ≥ 0: the time after which R is .9. 0 gives 0.
    decay : exponent (w20 of FSRS-6), ≥ .001.

    Returns
    -------
    Retrievability in [0, 1], of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Notes
    -----
    Continuous in t, where the reference implementation counts whole days only.

    References
    ----------
    .. [1] Open Spaced Repetition. The Algorithm (FSRS-6), fsrs4anki wiki.

    Examples
    --------
    >>> round(fsrs_retrievability(10.0, 10.0), 12)
    0.9
    """
    t, S = floats("t", t, low=0.0), floats("S", S, low=0.0)  # noqa: N806
    decay = floats("decay", decay, low=_LEAST_DECAY)
    return like(_power_curve(t, S, np.expm1(-math.log(_RETENTION) / decay), decay))


def fsrs_update(state: FsrsState | None, rating: int, t: float) -> FsrsState:
    """Update the stability and the difficulty of one memory after a review, by FSRS-6.

        first review:  S = w[rating],  D = w4 − e^(w5 · (rating − 1)) + 1
        same day:      S' = S · e^(w17 · (rating − 3 + w18)) · S^(−w19), no less than S unless "again"
        recalled:      S' = S · (1 + e^w8 · (11 − D) · S^(−w9) · (e^(w10 · (1 − R)) − 1) · penalty · bonus)
        failed:        S' = min(w11 · D^(−w12) · ((S + 1)^w13 − 1) · e^(w14 · (1 − R)), S / e^(w17 · w18))
        difficulty:    D' = w7 · D0(easy) + (1 − w7) · (D − w6 · (rating − 3) · (10 − D) / 9)

    Parameters
    ----------
    state : the state after the last review; None for the first one.
    rating : 1 again, 2 hard, 3 good, 4 easy.
    t : days since the last review, ≥ 0; whole days count, and less than one is the same day. Without a
        meaning at the first review.

    Returns
    -------
    The new state; the old one is left alone.

    Raises
    ------
    ParamError : a ``state`` that is not one, a ``rating`` that is none of the four, a negative ``t``.

    Notes
    -----
    Equal to ``fsrs.Scheduler`` without learning steps, relearning steps and fuzz; intervals are not its
    business. One memory at a time.

    References
    ----------
    .. [1] Open Spaced Repetition. The Algorithm (FSRS-6), fsrs4anki wiki.
    .. [2] Ye, J., Su, J. & Cao, Y. (2022). A stochastic shortest path algorithm for optimizing spaced
       repetition scheduling. Proceedings of KDD '22, 4381–4390.

    Examples
    --------
    >>> state = fsrs_update(None, 3, 0)
    >>> state.stability
    2.3065
    >>> fsrs_update(state, 3, 2.5).stability > state.stability
    True
    """
    if state is not None and not isinstance(state, FsrsState):
        raise ParamError("state", state, "must be an FsrsState or None")
    if check_whole("rating", rating, low=AGAIN) > EASY:
        raise ParamError("rating", rating, f"must be {interval(AGAIN, EASY)}")
    days = math.floor(check_number("t", t, low=0.0))
    if state is None:
        stability, difficulty = WEIGHTS[rating - 1], _initial_difficulty(rating)
    else:
        stability = _next_stability(state, rating, days)
        difficulty = _next_difficulty(state.difficulty, rating)
    return FsrsState(max(stability, _LEAST_STABILITY), min(max(difficulty, _EASIEST), _HARDEST))


def stability_after(
    S: ArrayLike,  # noqa: N803 (the paper's name)
    R: ArrayLike,  # noqa: N803
    recalled: ArrayLike,
    growth: float = FORGETTING.growth,
    shrink: float = FORGETTING.shrink,
) -> Any:
    """Update a stability after a recall that succeeded or failed, as World Weaver does.

        recalled:  S · (1 + .1 · (1 − R))
        failed:    S · .8

    Parameters
    ----------
    S : stability in days, ≥ 0.
    R : retrievability at the time of the recall, in [0, 1].
    recalled : whether it succeeded, boolean.
    growth : .1 above, ≥ 0.
    shrink : .8 above, in [0, 1].

    Returns
    -------
    Stability in days, of the broadcast shape; never clamped.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> stability_after(2.0, 0.5, True)
    2.1
    >>> stability_after(2.0, 0.5, False)
    1.6
    """
    S, R = floats("S", S, low=0.0), floats("R", R, low=0.0, high=1.0)  # noqa: N806
    flags = floats("recalled", recalled)
    if np.any((flags != 0) & (flags != 1)):
        raise ParamError("recalled", recalled, "must be true or false")
    growth = check_number("growth", growth, low=0.0)
    shrink = check_number("shrink", shrink, low=0.0, high=1.0)
    return like(np.where(flags == 1, S * (1.0 + growth * (1.0 - R)), S * shrink))


def recency_exponential(days: ArrayLike, rate: ArrayLike = FORGETTING.recency_rate) -> Any:
    """Reduce recency exponentially: e^(−rate · days).

    Parameters
    ----------
    days : time since the last use, ≥ 0.
    rate : per day, ≥ 0.

    Returns
    -------
    Recency in [0, 1], of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> round(recency_exponential(10.0), 4)
    0.3679
    """
    return like(_fading(floats("rate", rate, low=0.0), floats("days", days, low=0.0)))


def recency_half_life(days: ArrayLike, half_life: ArrayLike = FORGETTING.half_life) -> Any:
    """Reduce recency by half in every ``half_life``: 2^(−days / half_life).

    Parameters
    ----------
    days : time since the last use, ≥ 0, fractional.
    half_life : in days, > 0.

    Returns
    -------
    Recency in [0, 1], of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> recency_half_life(14.0)
    0.25
    """
    days, half_life = floats("days", days, low=0.0), floats("half_life", half_life)
    if np.any(half_life <= 0):
        raise ParamError("half_life", float(half_life.min()), "must be finite and > 0")
    with np.errstate(over="ignore"):
        return like(np.exp2(-days / half_life))


def edge_decay(w: ArrayLike, hours: ArrayLike, rho: ArrayLike = FORGETTING.rho) -> Any:
    """Reduce a link's weight exponentially since it was last active: w · e^(−rho · hours).

    Parameters
    ----------
    w : weight, ≥ 0.
    hours : since the link was last active, ≥ 0.
    rho : per hour, ≥ 0.

    Returns
    -------
    Weight, of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Examples
    --------
    >>> round(edge_decay(0.5, 100.0), 4)
    0.1839
    """
    w, hours = floats("w", w, low=0.0), floats("hours", hours, low=0.0)
    return like(w * _fading(floats("rho", rho, low=0.0), hours))


def edge_decay_linear(w: ArrayLike, days: ArrayLike, rate: ArrayLike = FORGETTING.linear_rate) -> Any:
    """Reduce a link's weight linearly since it was last active: max(0, w · (1 − rate · days)).

    Parameters
    ----------
    w : weight, ≥ 0.
    days : since the link was last active, ≥ 0.
    rate : per day, ≥ 0.

    Returns
    -------
    Weight, of the broadcast shape.

    Raises
    ------
    ParamError : an argument outside its range.

    Notes
    -----
    World Weaver names this law without using it; the floor at 0 is ours.

    Examples
    --------
    >>> edge_decay_linear(0.5, 50.0)
    0.25
    """
    w, days = floats("w", w, low=0.0), floats("days", days, low=0.0)
    with np.errstate(over="ignore"):
        return like(w * np.maximum(0.0, 1.0 - floats("rate", rate, low=0.0) * days))


def _fading(rate: Floats, time: Floats) -> Floats:
    with np.errstate(over="ignore"):
        faded: Floats = np.exp(-rate * time)
    return faded


def _power_curve(t: Floats, S: Floats, factor: Floats, exponent: Floats) -> Floats:  # noqa: N803
    alive = S > 0
    with np.errstate(over="ignore"):
        curve = (1.0 + factor * (t / np.where(alive, S, 1.0))) ** -exponent
    return np.where(alive, curve, 0.0)


def _next_stability(state: FsrsState, rating: int, days: int) -> float:
    w, S, D = WEIGHTS, state.stability, state.difficulty  # noqa: N806
    if days < 1:
        boost = math.exp(w.same_day_gain * (rating - GOOD + w.same_day_shift))
        change = boost * math.pow(S, -w.same_day_stability)
        return S * (change if rating == AGAIN else max(change, 1.0))
    R = fsrs_retrievability(days, S, w.decay)  # noqa: N806
    if rating == AGAIN:
        surprise = math.exp((1.0 - R) * w.forget_surprise)
        growth = math.pow(S + 1.0, w.forget_stability) - 1.0
        lapsed = w.forget_scale * math.pow(D, -w.forget_difficulty) * growth * surprise
        return min(lapsed, S / math.exp(w.same_day_gain * w.same_day_shift))
    modifier = {HARD: w.hard_penalty, EASY: w.easy_bonus}.get(rating, 1.0)
    surprise = math.expm1((1.0 - R) * w.recall_surprise)
    gain = math.exp(w.recall_gain) * (11.0 - D) * math.pow(S, -w.recall_stability)
    return S * (1.0 + gain * surprise * modifier)


def _initial_difficulty(rating: int) -> float:
    return WEIGHTS.initial_difficulty - math.exp(WEIGHTS.difficulty_slope * (rating - 1)) + 1.0


def _next_difficulty(difficulty: float, rating: int) -> float:
    moved = difficulty - WEIGHTS.difficulty_step * (rating - GOOD) * (10.0 - difficulty) / 9.0
    share = WEIGHTS.mean_reversion
    return share * _initial_difficulty(EASY) + (1.0 - share) * moved
