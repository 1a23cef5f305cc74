"""Competition after a spread: lateral inhibition, then the logistic squash."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import INHIBIT, SQUASH
from priming.core.arguments.arrays import floats, like
from priming.core.arguments.checks import check_number, check_whole
from priming.errors import ParamError

POOLS = ("mean", "sum")


def inhibit(
    values: ArrayLike,
    *,
    beta: float = INHIBIT.beta,
    winners: int = INHIBIT.winners,
    pool: str = INHIBIT.pool,
) -> Any:
    """Suppress all but the strongest activations.

    The M = ``winners`` largest values stay as they are; every other value a becomes

        mean:  max(0, a − β · (mean(winners) − a))
        sum:   max(0, a − β · Σ_k max(0, a_k − a))        over the winners k

    Parameters
    ----------
    values : activations ≥ 0, shape (n,).
    beta : strength of the suppression, ≥ 0.
    winners : how many values win, ≥ 1. Ties are broken by position, the earlier one wins.
    pool : ``"mean"`` or ``"sum"``.

    Returns
    -------
    A new array of shape (n,); a copy of ``values`` where n ≤ ``winners``.

    Raises
    ------
    ParamError : a value, ``beta``, ``winners`` or ``pool`` outside its range.

    Notes
    -----
    ``sum`` is the paper's rule [1]_. ``mean`` divides it by M, so that β means the same whatever M is.
    Winners do not suppress each other, as they do in the paper. The seed's "inhibition threshold" is
    the M-th largest value: there is no other one.

    References
    ----------
    .. [1] SYNAPSE: episodic-semantic memory by spreading activation (2026), arXiv 2601.02744.

    Examples
    --------
    >>> inhibit([0.8, 0.6, 0.4, 0.2], winners=2).round(3).tolist()
    [0.8, 0.6, 0.355, 0.125]
    """
    values = floats("values", values, low=0.0)
    beta = check_number("beta", beta, low=0.0)
    winners = check_whole("winners", winners, low=1)
    if pool not in POOLS:
        raise ParamError("pool", pool, f"must be one of {', '.join(POOLS)}")
    if values.ndim > 1:
        raise ParamError("values", values.shape, "must have one dimension")
    result = values.copy()
    if values.size <= winners:
        return like(result)
    order = np.argsort(-values, kind="stable")
    top, losers = values[order[:winners]], order[winners:]
    # No winner is below a loser, so Σ_k max(0, a_k − a) = M · (mean − a); max() only catches rounding.
    gap = np.maximum(0.0, top.mean() - values[losers])
    pressure = gap if pool == "mean" else gap * winners
    result[losers] = np.maximum(0.0, values[losers] - beta * pressure)
    return result


def squash(x: ArrayLike, *, gain: ArrayLike = SQUASH.gain, centre: ArrayLike = SQUASH.centre) -> Any:
    """Map activations to (0, 1) by a logistic curve.

        σ(x) = 1 / (1 + e^(−gain · (x − centre)))

    Parameters
    ----------
    x : any finite numbers.
    gain : steepness, ≥ 0. floop 10, SYNAPSE 5, World Weaver 1.
    centre : the x that maps to one half. floop .3, SYNAPSE .5, World Weaver 0.

    Returns
    -------
    Values in [0, 1] of the broadcast shape; the ends are reached only by rounding.

    Raises
    ------
    ParamError : an argument that is not finite, or a negative ``gain``.

    Examples
    --------
    >>> squash(0.3)
    0.5
    >>> round(squash(0.0), 3)
    0.047
    """
    x = floats("x", x)
    gain = floats("gain", gain, low=0.0)
    centre = floats("centre", centre)
    with np.errstate(over="ignore"):
        return like(np.exp(-np.logaddexp(0.0, -gain * (x - centre))))
