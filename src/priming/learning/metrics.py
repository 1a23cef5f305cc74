"""How good a ranking is, and how sure one can be of it: recall, reciprocal rank, AUC, intervals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.bench import METRICS, MetricParams
from priming.core.arguments.arrays import Floats
from priming.errors import ParamError


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """What one ranking has over another on the same questions: ``mean``, its standard error, an interval."""

    mean: float
    error: float
    low: float
    high: float


def recall_at(gold: Collection[str], ranked: Sequence[str], k: int) -> float:
    """Measure which share of the gold stands among the first k: |gold ∩ ranked[:k]| / |gold|.

    Parameters
    ----------
    gold : what should be found; not empty. Repeats count once.
    ranked : what was found, best first. One that stands twice counts once and takes two places.
    k : how many places are looked at, ≥ 1; a shorter ranking is not filled up.

    Returns
    -------
    A number in [0, 1].

    Raises
    ------
    ParamError : no gold, or k below 1.

    Examples
    --------
    >>> recall_at({"a", "b"}, ["c", "a", "d", "b"], 2)
    0.5
    """
    relevant = _gold(gold)
    if k < 1:
        raise ParamError("k", k, "must be ≥ 1")
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def reciprocal_rank(gold: Collection[str], ranked: Sequence[str]) -> float:
    """Give 1 / the place of the first that is gold, places counted from 1; 0 when none is.

    Parameters
    ----------
    gold : what should be found; not empty.
    ranked : what was found, best first.

    Returns
    -------
    A number in [0, 1]. Its mean over questions is the MRR.

    Raises
    ------
    ParamError : no gold.

    Examples
    --------
    >>> reciprocal_rank({"b"}, ["c", "a", "d", "b"])
    0.25
    """
    relevant = _gold(gold)
    return next((1.0 / place for place, key in enumerate(ranked, 1) if key in relevant), 0.0)


def average_precision(gold: Collection[str], ranked: Sequence[str]) -> float:
    """Average precision over the gold: Σ (share of gold among the first i, i the place of a gold one) / |gold|.

    Parameters
    ----------
    gold : what should be found; not empty. All else counts as not relevant.
    ranked : what was found, best first, each once. Gold that is not in it adds nothing.

    Returns
    -------
    A number in [0, 1]: 1 when all gold stands first, 1/r when the only one stands at place r.

    Raises
    ------
    ParamError : no gold.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan, H. Schütze, Introduction to Information Retrieval, 2008, section 8.4.

    Examples
    --------
    >>> average_precision({"a", "b"}, ["a", "c", "b"])
    0.8333333333333333
    """
    relevant = _gold(gold)
    places = [place for place, key in enumerate(ranked, 1) if key in relevant]
    return sum(hits / place for hits, place in enumerate(places, 1)) / len(relevant)


def auc(positives: ArrayLike, negatives: ArrayLike) -> float:
    """Measure how well a score tells two kinds apart: P(positive > negative) + ½ P(they are equal).

    That is the area under the ROC curve, and U / (n·m) of Mann and Whitney.

    Parameters
    ----------
    positives : scores of what should score high, shape (n,), n ≥ 1.
    negatives : scores of what should score low, shape (m,), m ≥ 1. Infinities are scores like others.

    Returns
    -------
    1 when every positive is above every negative, ½ when the score says nothing, 0 when it is upside down.

    Raises
    ------
    ParamError : one of the two is empty or holds NaN.

    References
    ----------
    .. [1] H. B. Mann, D. R. Whitney, On a test of whether one of two random variables is stochastically
       larger than the other, 1947.

    Examples
    --------
    >>> auc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    high, low = _scores("positives", positives), np.sort(_scores("negatives", negatives))
    below = np.searchsorted(low, high, side="left")
    not_above = np.searchsorted(low, high, side="right")
    return float((below + not_above).sum() / (2.0 * len(high) * len(low)))


def paired_difference(
    ours: ArrayLike, theirs: ArrayLike, rng: np.random.Generator, *, params: MetricParams = METRICS
) -> PairedDifference:
    """Compare two rankings question by question: mean of d = ours − theirs, s(d)/√n, and an interval.

    The interval is the percentile bootstrap's: questions are drawn with replacement, and the mean of their
    differences taken, ``params.resamples`` times.

    Parameters
    ----------
    ours, theirs : a figure a question, in the same order, shape (n,), n ≥ 1.
    rng : where the draws come from.
    params : number of draws, and the interval's level.

    Returns
    -------
    The mean, its standard error (0 for one question), and the ends of the interval.

    Raises
    ------
    ParamError : no questions, different numbers of them, or a figure that is NaN.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> paired_difference([1.0, 1.0, 0.0], [0.5, 0.5, 0.0], np.random.default_rng(0)).mean
    0.3333333333333333
    """
    first, second = _scores("ours", ours), _scores("theirs", theirs)
    if len(first) != len(second):
        raise ParamError("theirs", len(second), f"must be as many as ours, {len(first)}")
    apart = first - second
    n = len(apart)
    error = float(apart.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    means = [float(apart[rng.integers(0, n, n)].mean()) for _ in range(params.resamples)]
    tail = (1.0 - params.level) / 2.0
    low, high = percentiles(means, (tail, 1.0 - tail))
    return PairedDifference(float(apart.mean()), error, low, high)


def percentiles(values: ArrayLike, shares: Sequence[float]) -> tuple[float, ...]:
    """Give the values below which these shares of all lie, with straight lines between neighbours.

    Parameters
    ----------
    values : numbers in any order, shape (n,), n ≥ 1.
    shares : in [0, 1]; .5 asks for the median.

    Returns
    -------
    One number a share.

    Raises
    ------
    ParamError : no values, NaN among them, or a share outside [0, 1].

    Examples
    --------
    >>> percentiles([4.0, 1.0, 2.0, 3.0], (0.0, 0.5, 1.0))
    (1.0, 2.5, 4.0)
    """
    ordered = np.sort(_scores("values", values))
    if any(not 0.0 <= share <= 1.0 for share in shares):
        raise ParamError("shares", list(shares), "must be in [0, 1]")
    at = np.asarray(shares, np.float64) * (len(ordered) - 1)
    return tuple(float(value) for value in np.interp(at, np.arange(len(ordered)), ordered))


def _gold(gold: Collection[str]) -> frozenset[str]:
    if not gold:
        raise ParamError("gold", list(gold), "must not be empty: such a question cannot be scored")
    return frozenset(gold)


def _scores(name: str, values: ArrayLike) -> Floats:
    scores = np.asarray(values, np.float64).reshape(-1)
    if not len(scores):
        raise ParamError(name, [], "must not be empty")
    if np.isnan(scores).any():
        raise ParamError(name, scores.tolist(), "must not hold NaN")
    return scores
