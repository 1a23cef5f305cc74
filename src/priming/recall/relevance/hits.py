"""How relevant each hit is: a probability, from what speaks for the hit in comparison (``docs/recall.md``, 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import RELEVANCE, RelevanceParams
from priming.core.arguments.arrays import Floats
from priming.index.columns import NONE
from priming.recall.priors import Priors
from priming.recall.ranking import Ranked

_FEW = 5
"""The smallest namespace that was fitted: smaller ones count as one of this size."""
_SURE = 0.999
"""The largest confidence whose odds count; the smallest is what is missing to 1."""


def relevance(figures: Mapping[str, Floats], params: RelevanceParams = RELEVANCE) -> Floats:
    """Compute the probability that each hit is relevant: a logistic function of its figures.

    relevance = 1 / (1 + e^−(w₀ + Σ wᵢ·figureᵢ)).

    Parameters
    ----------
    figures : by the name of its weight, one value a hit each: see ``hit_figures``.
    params : the weights.

    Returns
    -------
    Numbers in [0, 1], one a hit.

    Examples
    --------
    >>> relevance({"lead": np.array([0.0, 1.0])}, RelevanceParams(constant=-2.0, lead=2.0)).round(2).tolist()
    [0.12, 0.5]
    """
    total = params.constant + sum(getattr(params, name) * values for name, values in figures.items())
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(total, -params.extreme, params.extreme))), np.float64)


def hit_figures(
    evidence: Priors, ranked: Ranked, confidence: float, params: RelevanceParams
) -> dict[str, Floats]:
    """What tells a relevant hit from another, one value a hit for each weight of ``params``.

    - ``confidence``: the log-odds of the confidence that the recall has an answer at all.
    - ``match``: BM25, near words included, as a share of the idf of the cue's terms and of ln n: in a large store
      a match of the same rarity is less remarkable.
    - ``memories``: ln n, n the memories of the namespace.
    - ``lead``: how far the score is above that of the tenth hit, 1 at most.
    - ``behind``: how far it is below that of the best, times the log-odds of the confidence: the surer the
      answer, the less remains for others.
    - ``activation``: the logarithm of the activation that arrived; 0 for a turn, as a conversation spreads it.
    - ``bridge``: how well the hit continues from the best one.
    """
    documents = evidence.working.document[ranked.rows]
    at, count = np.maximum(documents, 0), len(documents)
    sure = min(max(confidence, 1.0 - _SURE), _SURE)
    odds = math.log(sure / (1.0 - sure))
    size = math.log(max(_FEW, evidence.working.memories))
    rarity = sum(evidence.rarities.values())
    match = evidence.bm25[at] / max(rarity * size, 1e-9)
    rival = ranked.scores[min(params.rival, count) - 1]
    parts, none = ranked.components, np.zeros(count)
    arrived: Floats = np.log(np.asarray(parts.get("activation", none)) + evidence.params.log_floor)
    return {
        "confidence": np.full(count, odds),
        "match": np.where(documents == NONE, 0.0, match),
        "memories": np.full(count, size),
        "lead": np.clip(ranked.scores - rival, 0.0, 1.0),
        "behind": (ranked.scores[0] - ranked.scores) * odds,
        "activation": np.where((documents != NONE) & evidence.turns[at], 0.0, arrived),
        "bridge": parts.get("bridge", none),
    }


def hit_relevance(
    evidence: Priors, ranked: Ranked, confidence: float | None, params: RelevanceParams | None
) -> Floats:
    """The relevance of each hit; NaN where the profile has none, or where the best hit has no text."""
    if params is None or confidence is None:
        return np.full(len(ranked.rows), np.nan)
    own = relevance(hit_figures(evidence, ranked, confidence, params), params)
    sure = float(own[0]) if own[0] >= params.sure else 0.0
    least = np.minimum(params.least_most, params.led * sure * led_to(evidence, ranked))
    meant = _of_the_date(evidence, ranked) | (ranked.components.get("positive_feedback", least * 0.0) > 0)
    least = np.where(meant, params.least_most, least)
    return np.asarray(np.maximum(own, least), np.float64)


def _of_the_date(evidence: Priors, ranked: Ranked) -> NDArray[np.bool_]:
    """The hits of the day that the cue names, and of the month those that are no turns."""
    documents = evidence.working.document[ranked.rows]
    at, dates = np.maximum(documents, 0), evidence.priors.get("date")
    if dates is None:
        return np.zeros(len(documents), np.bool_)
    month, day = evidence.params.date_month, evidence.params.date_day
    needed = np.where(evidence.turns[at], day, month)
    return np.asarray((documents != NONE) & (dates[at] >= needed) & (dates[at] > 0), np.bool_)


def led_to(evidence: Priors, ranked: Ranked) -> Floats:
    """The activation that reached each hit over links, as a share of that of the best hit; 0 for a turn."""
    documents, activation = evidence.working.document[ranked.rows], ranked.components.get("activation")
    if activation is None or not activation[0]:
        return np.zeros(len(ranked.rows))
    h = np.where(documents == NONE, 0.0, evidence.h[np.maximum(documents, 0)])
    matched = np.exp((h - h[0]) / evidence.params.temperature)
    arrived = np.maximum(0.0, activation / activation[0] - matched)
    return np.where((documents != NONE) & evidence.turns[np.maximum(documents, 0)], 0.0, arrived)


def hits_above(ranked: Ranked, relevance: Floats, floor: float, most: int) -> tuple[Ranked, Floats]:
    """The first ``most`` hits that are not below the floor, and their relevance; a hit without one is kept."""
    above = np.flatnonzero(~(relevance < floor))[:most]
    if len(above) == len(ranked.rows):
        return ranked, relevance
    components = {name: values[above] for name, values in ranked.components.items()}
    return Ranked(ranked.rows[above], ranked.scores[above], components, ranked.activation), relevance[above]
