"""Where an answer ends: which hits are worth what they cost a reader (``docs/recall.md``, 12)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import RELEVANCE, RelevanceParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.recall.ranking import Ranked


@dataclass(frozen=True, slots=True)
class Judged:
    """The relevance of each hit, and where the answer ends by default."""

    relevance: Floats
    """NaN where the profile computes none."""
    stays: NDArray[np.bool_]
    """Which hits belong to the answer whatever their own relevance: the best leads to them, for instance."""
    least: float
    """The relevance below which other hits are left out."""

    def above(self, floor: float | None) -> NDArray[np.bool_]:
        """Which hits to return, with a floor or by default; a hit without relevance is one of them."""
        if floor is not None:
            return ~(self.relevance < floor)
        return ~(self.relevance < self.least) | self.stays


def breadth(rarities: Mapping[str, float], memories: int, params: RelevanceParams = RELEVANCE) -> float:
    """How broad a cue is: the number of memories that a word of it is in, as a multiple of ``params.broad``.

    breadth = max(1, n·e^−r / broad), r the mean idf of the cue's words. Where each word of a cue is in many memories,
    many answer a part of it, and none is likely.

    Parameters
    ----------
    rarities : the idf of each word of the cue.
    memories : n, the number of memories of the namespace.
    params : ``broad``.

    Returns
    -------
    A number from 1.

    Examples
    --------
    >>> round(breadth({"flow": 2.0, "heat": 3.0}, 1400, RelevanceParams(broad=20.0)), 3)
    5.746
    """
    if not rarities:
        return 1.0
    shared = memories * math.exp(-math.fsum(rarities.values()) / len(rarities))
    return max(1.0, shared / params.broad)


def recall_weight(broad: float, memories: int, params: RelevanceParams = RELEVANCE) -> float:
    """How many times as much recall counts as precision, β²; more for a broad cue, and in a small store.

    β² = params.recall_weight · broad · √max(1, params.few / n). Where there is little to read,
    a poor hit costs little.

    Parameters
    ----------
    broad : the breadth of the cue (``breadth``).
    memories : n, the number of memories of the namespace.
    params : ``recall_weight`` and ``few``.

    Examples
    --------
    >>> law = RelevanceParams(recall_weight=8.0, few=200)
    >>> recall_weight(1.0, 5000, law), recall_weight(2.0, 50, law)
    (8.0, 32.0)
    """
    return params.recall_weight * broad * math.sqrt(max(1.0, params.few / max(1, memories)))


def least_worth(relevance: Floats, weight: float, floor: float) -> float:
    """The relevance from which a hit is worth returning: it raises the expected F-measure of the answer.

    F_β = (1 + β²)·right / (β²·relevant + returned) weighs precision and recall, recall β² times as much. With
    probabilities p₁ ≥ p₂ ≥ … in place of what is right and what is relevant, a hit raises it if its probability is
    above max over k of (p₁ + … + p_k) / (β²·Σp + k). So a sure answer among improbable hits stands alone, and where
    all are alike all are returned.

    Parameters
    ----------
    relevance : the probability of each hit, in any order.
    weight : β² (``recall_weight``).
    floor : the relevance below which no hit is returned.

    Returns
    -------
    A number in [0, 1].

    Examples
    --------
    >>> least_worth(np.array([0.9, 0.05, 0.05]), 9.0, 0.03)
    0.09
    >>> least_worth(np.array([0.2, 0.2, 0.2]), 9.0, 0.03) < 0.2
    True
    """
    ordered = np.sort(relevance)[::-1]
    returned = np.arange(1, len(ordered) + 1)
    measure = np.cumsum(ordered) / (weight * ordered.sum() + returned)
    return max(floor, float(measure.max(initial=0.0)))


def hits_above(ranked: Ranked, judged: Judged, floor: float | None, most: int) -> tuple[Ranked, Floats]:
    """The first ``most`` hits above the floor, or by default those of the answer, and their relevance."""
    above = np.flatnonzero(judged.above(floor))[:most]
    if len(above) == len(ranked.rows):
        return ranked, judged.relevance
    components = {name: values[above] for name, values in ranked.components.items()}
    first = Ranked(ranked.rows[above], ranked.scores[above], components, ranked.activation)
    return first, judged.relevance[above]
