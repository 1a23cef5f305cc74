"""Base-level activation: how recency and frequency of use raise a memory.

Ages are in hours and floored at .001: a memory used this instant has a finite activation, and a clock
that ran backwards does no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import BASE_LEVEL, SCORE
from priming.core.arguments.arrays import Floats, floats, like
from priming.core.arguments.checks import check_number
from priming.core.spread import squash
from priming.errors import ParamError

_SILENT = -10.0
"""The activation of a memory that was never used."""
_CENTRE = -1.0
"""The base level that scores one half (floop)."""


def optimized(n: ArrayLike, age: ArrayLike, d: ArrayLike = BASE_LEVEL.d) -> Any:
    """Approximate the base level of a memory from its number of uses and its age.

        B = ln(n · L^(−d) / (1 − d))

    Parameters
    ----------
    n : number of uses. None (n ≤ 0) gives −10.
    age : L, hours since the first use. Not above 0 gives −10.
    d : decay of a trace, in [0, 1).

    Returns
    -------
    Activation, of the broadcast shape.

    Raises
    ------
    ParamError : an argument that is not finite, or ``d`` outside [0, 1).

    Notes
    -----
    ACT-R's optimised learning [1]_: exact where the uses are spread evenly over the memory's life. The
    value −10 stands for minus infinity, which the equation gives for a memory that was never used.

    References
    ----------
    .. [1] Anderson, J. R. & Lebiere, C. (1998). The Atomic Components of Thought. Erlbaum, ch. 4.

    Examples
    --------
    >>> round(optimized(10, 1), 3)
    2.996
    >>> optimized(0, 24)
    -10.0
    """
    n, age, d = floats("n", n), floats("age", age), _decay(d)
    used = (n > 0) & (age > 0)
    value = np.log(np.where(used, n, 1.0)) - d * np.log(_floored(age)) - np.log1p(-d)
    return like(np.where(used, value, _SILENT))


def recency_frequency(n: ArrayLike, age: ArrayLike, d: ArrayLike = BASE_LEVEL.d) -> Any:
    """Combine the number of uses with the time since the last one, as World Weaver does.

        B = ln(max(n, 1)) − d · ln(L)

    Parameters
    ----------
    n : number of uses; below 1 counts as 1.
    age : L, hours since the last use.
    d : decay of a trace, in [0, 1).

    Returns
    -------
    Activation, of the broadcast shape.

    Raises
    ------
    ParamError : an argument that is not finite, or ``d`` outside [0, 1).

    Notes
    -----
    Unlike ``optimized`` it takes the age of the last use, not of the first, and leaves out −ln(1 − d).

    Examples
    --------
    >>> round(recency_frequency(10, 24), 4)
    0.7136
    """
    n, age, d = floats("n", n), floats("age", age), _decay(d)
    return like(np.log(np.maximum(n, 1.0)) - d * np.log(_floored(age)))


def exact(ages: ArrayLike, d: ArrayLike = BASE_LEVEL.d) -> Any:
    """Sum the traces of all uses of a memory: the base level that the other laws approximate.

        B = ln Σ_i t_i^(−d)

    Parameters
    ----------
    ages : hours since each use, shape (..., k). The sum runs over the last axis.
    d : decay of a trace, in [0, 1), of the shape of the result.

    Returns
    -------
    Activation, shape (...); −10 where there are no ages.

    Raises
    ------
    ParamError : an age that is not finite, or ``d`` outside [0, 1).

    References
    ----------
    .. [1] Anderson, J. R. et al. (2004). An integrated theory of the mind. Psychological Review
       111(4), 1036–1060.

    Examples
    --------
    >>> round(exact([1.0, 4.0]), 4)
    0.4055
    >>> exact([])
    -10.0
    """
    ages, d = np.atleast_1d(floats("ages", ages)), _decay(d)
    if ages.shape[-1] == 0:
        return like(np.full(ages.shape[:-1], _SILENT))
    return like(np.log(_traces(ages, d)))


def hybrid(recent: ArrayLike, n: ArrayLike, age: ArrayLike, d: ArrayLike = BASE_LEVEL.d) -> Any:
    """Sum the k most recent traces exactly and approximate the older ones.

        B = ln( Σ_i t_i^(−d) + (n − k) · (T^(1−d) − t_k^(1−d)) / ((1 − d) · (T − t_k)) )

    Parameters
    ----------
    recent : ages t_1 ≤ … ≤ t_k of the latest uses in hours, shape (..., k).
    n : number of all uses. Where n ≤ k nothing is approximated and the result is ``exact(recent)``.
    age : T, hours since the first use, ≥ t_k.
    d : decay of a trace, in [0, 1).

    Returns
    -------
    Activation, of the broadcast shape.

    Raises
    ------
    ParamError : an argument that is not finite; ages that descend; ``d`` outside [0, 1); and, where
        n > k, an empty ``recent`` or an ``age`` below t_k.

    Notes
    -----
    Where T = t_k the fraction is 0/0; its limit t_k^(−d) is used, and the computation is arranged so that
    nothing is lost to cancellation near it.

    References
    ----------
    .. [1] Petrov, A. A. (2006). Computationally efficient approximation of the base-level learning
       equation in ACT-R. Proceedings of the 7th International Conference on Cognitive Modeling, 391–392.

    Examples
    --------
    >>> round(hybrid([3, 5], 3, 6), 5)
    0.37253
    """
    recent, d = np.atleast_1d(floats("recent", recent)), _decay(d)
    n, age = floats("n", n), floats("age", age)
    if np.any(np.diff(recent, axis=-1) < 0):
        raise ParamError("recent", recent.tolist(), "must be in ascending order")
    older = np.maximum(n - recent.shape[-1], 0.0)
    if recent.shape[-1] == 0:
        if np.any(older > 0):
            raise ParamError("recent", recent.tolist(), "must hold at least one age where n > 0")
        return like(np.full(np.broadcast_shapes(recent.shape[:-1], n.shape, age.shape), _SILENT))
    oldest, age = _floored(recent[..., -1]), _floored(age)
    if np.any((older > 0) & (age < oldest)):
        raise ParamError("age", age.tolist(), f"must be ≥ {oldest.tolist()}, the oldest recent age")
    tail = older * _mean_trace(oldest, np.maximum(age, oldest), d)
    return like(np.log(_traces(recent, d) + tail))


def base_level_score(B: ArrayLike, n: ArrayLike | None = None) -> Any:  # noqa: N803 (the paper's name)
    """Map a base level to (0, 1).

        1 / (1 + e^(−(B + 1)))

    Parameters
    ----------
    B : base level, usually in −4 … 2.
    n : number of uses, ≥ 0, if known. A memory that was never used is neutral: .5.

    Returns
    -------
    Scores in [0, 1], of the broadcast shape.

    Raises
    ------
    ParamError : an argument that is not finite, or a negative ``n``.

    Examples
    --------
    >>> base_level_score(-1.0)
    0.5
    >>> base_level_score(-10.0, n=0)
    0.5
    """
    score = squash(floats("B", B), gain=1.0, centre=_CENTRE)
    if n is None:
        return score
    return like(np.where(floats("n", n, low=0.0) == 0, SCORE.neutral, score))


def associative_strength(strength: ArrayLike, fan: ArrayLike, s_base: ArrayLike = BASE_LEVEL.s_base) -> Any:
    """Weigh an association by how many others its source has: the fan effect.

        S = strength · (S_base − ln(max(fan, 1)))

    Parameters
    ----------
    strength : weight of the link between source and memory, looked up in either direction, ≥ 0.
    fan : number of the source's stored outgoing positive links, ≥ 0.
    s_base : base strength of associations.

    Returns
    -------
    Strength of association, of the broadcast shape; negative from a fan of 5, as in the seed.

    Raises
    ------
    ParamError : an argument that is not finite, or a negative ``strength`` or ``fan``.

    References
    ----------
    .. [1] Anderson, J. R. et al. (2004). An integrated theory of the mind. Psychological Review
       111(4), 1036–1060.

    Examples
    --------
    >>> associative_strength(0.5, 1)
    0.8
    >>> associative_strength(0.5, 5) < 0
    True
    """
    strength = floats("strength", strength, low=0.0)
    fan = floats("fan", fan, low=0.0)
    return like(strength * (floats("s_base", s_base) - np.log(np.maximum(fan, 1.0))))


def total_activation(
    B: ArrayLike,  # noqa: N803 (the paper's names)
    W: ArrayLike,  # noqa: N803
    S: ArrayLike,  # noqa: N803
    *,
    sigma: float = BASE_LEVEL.noise,
    rng: np.random.Generator | None = None,
) -> Any:
    """Add what the context contributes, and noise, to a base level.

        A = B + Σ_j W_j · S_j + N(0, sigma)

    Parameters
    ----------
    B : base level, shape (...).
    W : attention to each source j, ≥ 0, shape (..., c) or a scalar: 1 / number of context entities,
        applied here and nowhere else.
    S : strength of association from each source, shape (..., c). 0 where the source is the memory itself.
    sigma : standard deviation of the noise, ≥ 0.
    rng : where the noise comes from; needed where ``sigma`` > 0.

    Returns
    -------
    Activation, of the shape of B + Σ.

    Raises
    ------
    ParamError : an argument that is not finite, a negative ``W`` or ``sigma``, or noise without ``rng``.

    Notes
    -----
    ACT-R draws logistic noise; the seed, and so we, Gaussian.

    Examples
    --------
    >>> total_activation(1.0, 0.5, [0.8, 0.4])
    1.6
    """
    B, W, S = floats("B", B), floats("W", W, low=0.0), floats("S", S)  # noqa: N806
    sigma = check_number("sigma", sigma, low=0.0)
    total = B + np.sum(np.atleast_1d(W * S), axis=-1)
    if sigma > 0:
        if not isinstance(rng, np.random.Generator):
            raise ParamError("rng", rng, "must be a numpy Generator where sigma > 0")
        total = total + rng.normal(0.0, sigma, size=np.shape(total))
    return like(total)


def _decay(d: ArrayLike) -> Floats:
    return floats("d", d, low=0.0, below=1.0)


def _floored(age: Floats) -> Floats:
    floored: Floats = np.maximum(age, BASE_LEVEL.min_age)
    return floored


def _traces(ages: Floats, d: Floats) -> Floats:
    total: Floats = np.sum(_floored(ages) ** -d[..., np.newaxis], axis=-1)
    return total


def _mean_trace(start: Floats, end: Floats, d: Floats) -> Floats:
    """Return the mean of t^(−d) over [start, end], exact also where the two are (nearly) equal."""
    stretch = (end - start) / start
    wide = stretch > 0
    safe = np.where(wide, stretch, 1.0)
    ratio = np.expm1((1.0 - d) * np.log1p(safe)) / ((1.0 - d) * safe)
    mean: Floats = start**-d * np.where(wide, ratio, 1.0)
    return mean
