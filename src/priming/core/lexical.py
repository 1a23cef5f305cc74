"""Lexical weights: BM25 and its parts, and the scaling of scores."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.core.arguments.arrays import Floats, floats, like
from priming.errors import ParamError

K1 = 1.2
"""The saturation of term frequency (Robertson 1994)."""
B = 0.75
"""The length normalisation (Robertson 1994)."""


def idf(df: ArrayLike, n: ArrayLike) -> Any:
    """Weigh a term by its rarity: ln(1 + (n − df + ½)/(df + ½)).

    Parameters
    ----------
    df : documents that hold the term, 0 ≤ df ≤ n.
    n : documents in all.

    Returns
    -------
    A positive number, largest for the rarest; arrays broadcast.

    Raises
    ------
    ParamError : a negative count, or df > n.

    References
    ----------
    .. [1] S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009. The 1
       under the logarithm keeps terms of more than half of the documents positive.

    Examples
    --------
    >>> round(idf(1, 10), 4)
    1.9924
    """
    return like(_idf(df, n))


def evidence_idf(df: ArrayLike, n: ArrayLike) -> Any:
    """Weigh a term by what it tells, in nats: ln(1 + (n + 1)/(df + ½)).

    Unlike ``idf`` it never falls to nothing: what all memories share tells ln 2 of a question about it.

    Parameters
    ----------
    df : documents that hold the term, 0 ≤ df ≤ n; what counts as the term in part may add parts of documents.
    n : documents in all.

    Returns
    -------
    A number ≥ ln 2, largest for a term that no document holds; arrays broadcast.

    Raises
    ------
    ParamError : a negative count, or df > n.

    Examples
    --------
    >>> round(evidence_idf(10, 10), 3), round(evidence_idf(0, 10), 3)
    (0.717, 3.135)
    """
    frequency, documents = _frequencies(df, n)
    return like(np.log1p((documents + 1.0) / (frequency + 0.5)))


def beyond_chance(words: Floats, incidental: float) -> Floats:
    """Take from evidence of words what one word in common tells that may be there by chance: w − h·(1 − e^(−w/h)).

    Parameters
    ----------
    words : evidence w ≥ 0, in nats / ln N.
    incidental : h > 0, the most that chance takes, in the same unit.

    Returns
    -------
    Evidence in [0, w], close to w²/2h where w is small and to w − h where it is large.

    Examples
    --------
    >>> beyond_chance(np.array([0.0, 0.4, 4.0]), 0.4).round(3).tolist()
    [0.0, 0.147, 3.6]
    """
    return np.asarray(words + incidental * np.expm1(-words / incidental), np.float64)


def bm25(
    tf: ArrayLike,
    df: ArrayLike,
    n: ArrayLike,
    length: ArrayLike,
    mean_length: ArrayLike,
    k1: float = K1,
    b: float = B,
) -> Any:
    """Weigh a term in a document by Okapi BM25.

    ln(1 + (n − df + ½)/(df + ½)) · tf·(k1 + 1) / (tf + k1·(1 − b + b·length/mean_length)).

    Parameters
    ----------
    tf : occurrences of the term in the document.
    df : documents that hold the term, 0 ≤ df ≤ n.
    n : documents in all.
    length : terms in the document.
    mean_length : mean terms in a document.
    k1 : saturation, ≥ 0.
    b : length normalisation, in [0, 1].

    Returns
    -------
    One weight for each broadcast element; a document's score is the sum over the cue's terms.

    Raises
    ------
    ParamError : a negative or non-finite argument, df > n, or b above 1.

    References
    ----------
    .. [1] S. Robertson et al., Okapi at TREC-3, 1994.

    Examples
    --------
    >>> round(bm25(2, 1, 10, 8, 8.0), 4)
    2.7396
    """
    part = _tf_part(tf, length, mean_length, k1, b)
    return like(np.asarray(_idf(df, n) * (k1 + 1.0) * part))


def length_norm(length: ArrayLike, mean_length: ArrayLike) -> Any:
    """Give the saturation of a term's occurrences in a document: k1·(1 − b + b·length/mean_length).

    Parameters
    ----------
    length, mean_length : as in ``bm25``.

    Returns
    -------
    A number ≥ 0 for each length; bm25 takes tf / (tf + this). No cue plays a part in it.

    Raises
    ------
    ParamError : as ``bm25``.

    Examples
    --------
    >>> length_norm(20, 20.0) == K1
    True
    """
    return like(_length_norm(length, mean_length, K1, B))


def okapi(tf: Floats, norm: Floats, rarity: Floats | float) -> Floats:
    """Weigh occurrences by BM25 where its parts are known already: rarity · (k1 + 1) · tf/(tf + norm).

    Parameters
    ----------
    tf : occurrences, ≥ 0.
    norm : ``length_norm`` of their documents.
    rarity : ``idf`` of their terms.

    Returns
    -------
    What ``bm25`` returns. Nothing is checked: the caller has counted the statistics.

    Examples
    --------
    >>> norm = np.array([length_norm(8, 8.0)])
    >>> float(okapi(np.array([2.0]), norm, np.array([idf(1, 10)]))[0]) == bm25(2, 1, 10, 8, 8.0)
    True
    """
    weighed: Floats = rarity * (K1 + 1.0) * (tf / (tf + norm))
    return weighed


def minmax(x: ArrayLike) -> Floats:
    """Move scores to [0, 1]: (x − min)/(max − min); where all are equal, 1 if they are positive, else 0.

    Parameters
    ----------
    x : scores, shape (n,).

    Returns
    -------
    float64, shape (n,).

    Raises
    ------
    ParamError : a score that is NaN or infinite.

    Examples
    --------
    >>> minmax([2.0, 4.0, 3.0]).tolist(), minmax([5.0, 5.0]).tolist(), minmax([0.0]).tolist()
    ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0])
    """
    values = floats("x", x)
    if values.size == 0:
        return values.copy()
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.full_like(values, 1.0 if high > 0 else 0.0)
    if not np.isfinite(high - low):
        values, low, high = values / 2, low / 2, high / 2
    return (values - low) / (high - low)


def scaled(x: ArrayLike) -> Floats:
    """Take scores as shares of the best: s(x) = max(x, 0)/max x; zeros when none is positive.

    Parameters
    ----------
    x : scores, shape (n,).

    Returns
    -------
    float64 in [0, 1], shape (n,).

    Raises
    ------
    ParamError : a score that is NaN or infinite.

    Examples
    --------
    >>> scaled([-1.0, 1.0, 2.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    values = np.maximum(floats("x", x), 0.0)
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else values


def _frequencies(df: ArrayLike, n: ArrayLike) -> tuple[Any, Any]:
    frequency, documents = _checked("df", df), _checked("n", n)
    if np.any(frequency > documents):
        raise ParamError("df", float(np.max(frequency)), "must be ≤ n")
    return frequency, documents


def _idf(df: ArrayLike, n: ArrayLike) -> Floats:
    frequency, documents = _frequencies(df, n)
    return np.asarray(np.log1p((documents - frequency + 0.5) / (frequency + 0.5)))


def _tf_part(tf: ArrayLike, length: ArrayLike, mean_length: ArrayLike, k1: float, b: float) -> Floats:
    count = _checked("tf", tf)
    total: Floats = np.asarray(count + _length_norm(length, mean_length, k1, b))
    part: Floats = np.divide(count, total, out=np.zeros_like(total), where=total > 0)
    return part


def _length_norm(length: ArrayLike, mean_length: ArrayLike, k1: float, b: float) -> Floats:
    terms_here, mean = _checked("length", length), _checked("mean_length", mean_length)
    k1, b = _checked("k1", k1), _checked("b", b, high=1.0)
    ratio = terms_here / np.where(mean > 0, mean, np.inf)
    return np.asarray(k1 * (1.0 - b + b * ratio))


def _checked(name: str, value: Any, *, high: float = math.inf) -> Any:
    """Check a number or array to lie in [0, high]; plain numbers, the usual case in a loop, the short way."""
    if type(value) in (int, float) and 0.0 <= value <= min(high, sys.float_info.max):
        return float(value)
    return floats(name, value, low=0.0, high=high)
