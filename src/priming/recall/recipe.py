"""The recipe of the default profile: one score, which is the probability that is shown (``docs/recall.md``)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from priming.config.params.recall import RecallParams
from priming.core.arguments.arrays import Bools, Floats, Ints
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
    evidence, p = query.evidence, query.profile.recall
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
    rivals = -query.profile.rivals * rivalry(whole[eligible])
    chances = np.round(probability(whole + rivals), EXACT)
    order = np.lexsort((rows, -chances))
    order = order[eligible[order]][: query.limit]
    with np.errstate(invalid="ignore"):
        gained = np.where(np.isfinite(odds), whole - odds, whole)
    parts = {**terms, "arrival": gained, "rivals": np.full(len(rows), rivals)}
    shown = {name: values[order] for name, values in parts.items() if values[order].any()}
    return Ranked(rows[order], chances[order], shown, activation)


def direct(evidence: Evidence, documents: Ints) -> dict[str, Floats]:
    """What speaks for each of some documents by itself, in log-odds by name: their sum is d."""
    p, figures = evidence.params, evidence.figures(documents)
    terms = {"constant": np.full(len(documents), p.constant)}
    terms |= {
        name: getattr(p, name) * values for name, values in figures.items() if name not in evidence.ablate
    }
    if len(documents) and "rest" not in evidence.ablate:
        best = evidence.first(documents, total(terms, len(documents)))
        terms["rest"] = p.rest * evidence.rest(documents, np.array([best]))[:, 0]
    return terms


def total(terms: Mapping[str, Floats], count: int) -> Floats:
    """The sum of log-odds, shape (count,)."""
    return np.asarray(sum(terms.values()), np.float64) if terms else np.zeros(count)


def _at(values: Floats, where: Bools) -> Floats:
    """Values of the rows with a text among all rows; 0 for the others."""
    every = np.zeros(len(where))
    every[where] = values
    return every
