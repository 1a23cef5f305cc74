"""The recipe of the default profile: one score, which is the probability that is shown (``docs/recall.md``)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from priming.config.params.recall import RelevanceParams
from priming.core.arguments.arrays import Bools, Floats, Ints, best_rows
from priming.core.spread import Activation, spread
from priming.index.columns import NONE
from priming.recall.evidence import Evidence
from priming.recall.ranking import EXACT, Ranked, RankingQuery

ANCHORS, APART = 20, 5
"""The memories from which activation spreads, and how many of them are told apart where it arrives."""
REACHED = 30
"""How many memories are candidates because activation arrives at them."""
_NOTHING = 1e-6
"""Added to what arrives before the logarithm: what nothing reaches is about e^−14 of what everything does."""


def rank_by_probability(query: RankingQuery) -> Ranked:
    """Order candidates by the probability that each is what the cue needs; its log-odds are the components."""
    evidence, p, law = query.evidence, query.profile.recall, query.profile.relevance or RelevanceParams()
    documents = evidence.candidates(query.pool)
    terms = direct(evidence, documents)
    odds = total(terms, len(documents))
    rows, activation, arrived = query.working.row[documents], None, np.full(len(documents), -np.inf)
    if query.spreading and "spread" not in query.ablate and len(documents):
        activation, rows, arrival = _spread(query, documents, odds)
        more = query.working.document[rows]
        texts = more != NONE
        documents = more[texts]
        terms = {name: _at(values, texts) for name, values in direct(evidence, documents).items()}
        odds = np.where(texts, total(terms, len(rows)), -np.inf)
        meaning = _at(evidence.meaning(documents), texts)
        arrived = p.arrived + p.arrival * np.log(arrival + _NOTHING) + p.led * meaning
    eligible = query.eligible[rows]
    whole = np.logaddexp(odds, arrived)
    rivals = -law.rivals * rivalry(whole[eligible])
    chances = np.round(probability(whole + rivals), EXACT)
    order = np.lexsort((rows, -chances))
    order = order[eligible[order]][: query.limit]
    with np.errstate(invalid="ignore"):
        gained = np.where(np.isfinite(odds), whole - odds, whole)
    parts = {**terms, "arrival": gained, "rivals": np.full(len(rows), rivals)}
    shown = {name: values[order] for name, values in parts.items() if values[order].any()}
    return Ranked(rows[order], chances[order], shown, activation)


def _spread(query: RankingQuery, documents: Ints, odds: Floats) -> tuple[Activation, Ints, Floats]:
    """Spread from the best of some documents; the rows of all and of those best reached, and what arrives at each."""
    evidence, p, working = query.evidence, query.profile.recall, query.working
    able = np.flatnonzero(query.pool[documents])
    best = able[np.lexsort((documents[able], -odds[able]))[:ANCHORS]]
    amounts = shares(odds[best], p.temperature)
    anchors = documents[best]
    rows, apart = working.row[anchors], working.row[anchors[:APART]]
    activation = spread(query.graph(), (rows, amounts), query.spread_params(), record_flow=True, apart=apart)
    assert activation.apart is not None, "it was asked for"
    reached, came = activation.rows, np.where(activation.rows[:, None] == apart, 0.0, activation.apart)
    texts = working.document[reached]
    rest = np.zeros_like(came)
    rest[texts != NONE] = evidence.rest(texts[texts != NONE], anchors[:APART])
    arrival = (came * np.exp(p.continues * rest)).sum(axis=1)
    arrival[working.is_turn(reached)] = 0.0
    allowed = query.eligible[reached] & ((texts == NONE) | query.pool[np.maximum(texts, 0)])
    more = best_rows(np.where(allowed, arrival, 0.0), REACHED)
    every = np.union1d(working.row[documents], reached[more])
    order = np.argsort(reached)
    place = np.minimum(np.searchsorted(reached[order], every), max(0, len(reached) - 1))
    found = order[place] if len(reached) else place
    arrived = np.where(reached[found] == every, arrival[found], 0.0) if len(reached) else np.zeros(len(every))
    return activation, every, arrived


def shares(odds: Floats, temperature: float) -> Floats:
    """The activation of anchors: e^(d/τ) / (1 + Σ e^(d/τ)), the 1 for that none of them is what the cue needs.

    >>> shares(np.array([0.0, 0.0]), 0.4).round(3).tolist()
    [0.333, 0.333]
    """
    return np.asarray(np.exp(odds / temperature - rivalry(odds / temperature)), np.float64)


def rivalry(odds: Floats) -> float:
    """ln(1 + Σ e^s), without overflow: how much speaks for any of some memories, and for none."""
    return float(np.logaddexp.reduce(np.append(odds, 0.0)))


def probability(odds: Floats) -> Floats:
    """The probability of log-odds.

    >>> probability(np.array([0.0, 2.0])).round(3).tolist()
    [0.5, 0.881]
    """
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)), np.float64)


def least_probability(chances: Floats, law: RelevanceParams) -> float:
    """The probability from which a hit is worth returning: it raises the expected F-measure of the answer.

    F_β = (1 + β²)·right / (β²·relevant + returned) weighs precision and recall, recall β² times as much. With
    probabilities p₁ ≥ p₂ ≥ … in place of what is right and what is relevant, a hit raises it if its probability is
    above max over k of (p₁ + … + p_k) / (β²·Σp + k). So a sure answer among improbable hits stands alone, and where
    all are alike all are returned.

    >>> least_probability(np.array([0.9, 0.05, 0.05]), RelevanceParams(recall_weight=9.0, floor=0.03))
    0.09
    """
    ordered = np.sort(chances)[::-1]
    returned = np.arange(1, len(ordered) + 1)
    measure = np.cumsum(ordered) / (law.recall_weight * ordered.sum() + returned)
    return max(law.floor, float(measure.max(initial=0.0)))


def direct(evidence: Evidence, documents: Ints) -> dict[str, Floats]:
    """What speaks for each of some documents by itself, in log-odds by name: their sum is d."""
    p, figures = evidence.params, evidence.figures(documents)
    terms = {"constant": np.full(len(documents), p.constant)}
    terms |= {
        name: getattr(p, name) * values for name, values in figures.items() if name not in evidence.ablate
    }
    if not len(documents):
        return terms
    odds = total(terms, len(documents))
    if "rest" not in evidence.ablate:
        terms["rest"] = p.rest * evidence.rest(documents, documents[[int(np.argmax(odds))]])[:, 0]
    if "outdated" not in evidence.ablate:
        terms["outdated"] = p.outdated * evidence.outdated(documents, odds)
    return terms


def total(terms: Mapping[str, Floats], count: int) -> Floats:
    """The sum of log-odds, shape (count,)."""
    return np.asarray(sum(terms.values()), np.float64) if terms else np.zeros(count)


def _at(values: Floats, where: Bools) -> Floats:
    """Values of the rows with a text among all rows; 0 for the others."""
    every = np.zeros(len(where))
    every[where] = values
    return every
