"""Measures of a ranking and their confidence: recall, nDCG, average precision, AUC, intervals.

The reciprocal rank, by which embedders are compared, is in ``priming.learning.replay``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.limits import METRICS, MetricParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.errors import ParamError
from priming.learning.replay import check_gold


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference of two rankings on the same questions: its mean, standard error and interval."""

    mean: float
    error: float
    low: float
    high: float


def recall_at(gold: Collection[str], ranked: Sequence[str], k: int) -> float:
    """Compute the share of the gold items among the first k: |gold ∩ ranked[:k]| / |gold|.

    Parameters
    ----------
    gold : the relevant items; not empty. Repeats count once.
    ranked : the items returned, best first. An item that occurs twice counts once and takes two places.
    k : the number of places, ≥ 1; a shorter ranking is not filled up.

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
    relevant = check_gold(gold)
    if k < 1:
        raise ParamError("k", k, "must be ≥ 1")
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def average_precision(gold: Collection[str], ranked: Sequence[str]) -> float:
    """Compute the average precision: Σ precision at i over the ranks i of gold items, divided by |gold|.

    Parameters
    ----------
    gold : the relevant items; not empty. All others count as not relevant.
    ranked : the items returned, best first, each once. Gold items that are missing add nothing.

    Returns
    -------
    A number in [0, 1]: 1 if all gold items come first, 1/r if the only gold item has rank r.

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
    relevant = check_gold(gold)
    places = [place for place, key in enumerate(ranked, 1) if key in relevant]
    return sum(hits / place for hits, place in enumerate(places, 1)) / len(relevant)


def ndcg_at(gold: Collection[str], ranked: Sequence[str], k: int) -> float:
    """Compute the normalised discounted cumulative gain: Σ 1/log₂(1 + rank) over gold in ranked[:k], by its maximum.

    Parameters
    ----------
    gold : the relevant items, all equally so; not empty.
    ranked : the items returned, best first. An item that occurs twice counts once and takes two places.
    k : the number of places, ≥ 1.

    Returns
    -------
    A number in [0, 1]: 1 if the first places hold gold, as many as there are of both.

    Raises
    ------
    ParamError : no gold, or k below 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.

    Examples
    --------
    >>> ndcg_at({"a"}, ["c", "x", "a"], 10)
    0.5
    """
    relevant = check_gold(gold)
    if k < 1:
        raise ParamError("k", k, "must be ≥ 1")
    first = {key: place for place, key in reversed(list(enumerate(ranked[:k], 1)))}
    gain = math.fsum(1.0 / math.log2(1.0 + first[key]) for key in relevant & first.keys())
    return gain / math.fsum(1.0 / math.log2(1.0 + place) for place in range(1, min(k, len(relevant)) + 1))


def auc(positives: ArrayLike, negatives: ArrayLike) -> float:
    """Compute how well a score separates two classes: P(positive > negative) + ½ P(positive = negative).

    This is the area under the ROC curve, and U / (n·m) of Mann and Whitney.

    Parameters
    ----------
    positives : scores of the positive class, shape (n,), n ≥ 1.
    negatives : scores of the negative class, shape (m,), m ≥ 1. Infinities are allowed.

    Returns
    -------
    1 if every positive is above every negative, ½ for an uninformative score, 0 for a reversed one.

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

    The interval is that of the percentile bootstrap: ``params.resamples`` times, questions are drawn with
    replacement and the mean of their differences is taken.

    Parameters
    ----------
    ours, theirs : one value a question, in the same order, shape (n,), n ≥ 1.
    rng : the generator of the draws.
    params : the number of draws, and the level of the interval.

    Returns
    -------
    The mean, its standard error (0 for one question), and the ends of the interval.

    Raises
    ------
    ParamError : no questions, different numbers of questions, or NaN among the values.

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
    """Compute the values below which these shares of all values lie, by linear interpolation.

    Parameters
    ----------
    values : numbers in any order, shape (n,), n ≥ 1.
    shares : in [0, 1]; .5 is the median.

    Returns
    -------
    One number for each share.

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


def _scores(name: str, values: ArrayLike) -> Floats:
    scores = np.asarray(values, np.float64).reshape(-1)
    if not len(scores):
        raise ParamError(name, [], "must not be empty")
    if np.isnan(scores).any():
        raise ParamError(name, scores.tolist(), "must not hold NaN")
    return scores
