"""The recipe of the default profile: one score, which is the probability that is shown (``docs/recall.md``)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from priming.config.params.recall import RelevanceParams
from priming.config.values import dataclass
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
_COMPARED = "rest", "outdated"
"""The figures of a document beside others."""
_LEAST = -700.0
"""Log-odds below which a difference cannot be told."""


def rank_by_probability(query: RankingQuery) -> Ranked:
    """Order candidates by the probability that each is what the cue needs; its log-odds are the components."""
    p, working, law = query.profile.recall, query.working, query.profile.relevance or RelevanceParams()
    scored = Scored.of(query.evidence, query.evidence.candidates(query.pool))
    rows, activation, arrived = working.row[scored.documents], None, np.full(len(scored.documents), -np.inf)
    if query.spreading and "spread" not in query.ablate and len(rows):
        activation, reached, arrival = arrivals(query, scored)
        more = reached[~np.isin(reached, rows)]
        scored = scored.with_others(query.evidence, working.document[more])
        rows = np.concatenate([rows, more])
        arriving = np.zeros(len(rows))
        place = np.searchsorted(reached, rows)
        place[place == len(reached)] = 0
        here = reached[place] == rows if len(reached) else np.zeros(len(rows), np.bool_)
        arriving[here] = arrival[place[here]]
        meaning = np.maximum(0.0, scored.figures["meaning"])
        arrived = p.arrived + p.arrival * np.log(arriving + _NOTHING) + p.led * meaning
    # What follows from the best does not stand before it.
    whole = np.minimum(np.logaddexp(scored.odds, arrived), scored.odds.max(initial=-np.inf))
    eligible = query.eligible[rows]
    rivals = -law.rivals * rivalry(whole[eligible])
    chances = np.round(probability(whole + rivals), EXACT)
    order = np.lexsort((rows, -scored.odds, -chances))
    order = order[eligible[order]][: query.limit]
    gained = np.where(np.isfinite(scored.odds), whole - np.maximum(scored.odds, _LEAST), whole)
    parts = {**scored.terms, "arrival": gained, "rivals": np.full(len(rows), rivals)}
    shown = {name: values[order] for name, values in parts.items() if values[order].any()}
    return Ranked(rows[order], chances[order], shown, activation)


@dataclass(frozen=True, slots=True)
class Scored:
    """Documents with what speaks for each by itself; a row without a text has the document −1, and nothing."""

    documents: Ints
    has: Floats
    """What each has of the terms of the cue (``Evidence.covered``)."""
    figures: Mapping[str, Floats]
    """What weights apply to, by their names."""
    terms: Mapping[str, Floats]
    """Log-odds by name: weight times figure, and the constant."""
    odds: Floats
    """Their sum, d."""

    @classmethod
    def of(cls, evidence: Evidence, documents: Ints) -> Scored:
        """Score documents, −1 where there is none."""
        texts = documents != NONE
        has = np.zeros((len(documents), len(evidence.distinct)))
        has[texts] = evidence.covered(documents[texts])
        alone = {name: _spaced(values, texts) for name, values in evidence.figures(documents[texts]).items()}
        return cls._compared(evidence, documents, has, alone)

    def with_others(self, evidence: Evidence, documents: Ints) -> Scored:
        """The same with more documents."""
        more = Scored.of(evidence, documents)
        figures = {
            name: np.concatenate(
                [own.get(name, np.zeros(len(own["size"]))) for own in (self.figures, more.figures)]
            )
            for name in {**self.figures, **more.figures}
        }
        every, has = np.concatenate([self.documents, documents]), np.concatenate([self.has, more.has])
        return self._compared(evidence, every, has, figures)

    @classmethod
    def _compared(
        cls, evidence: Evidence, documents: Ints, has: Floats, figures: Mapping[str, Floats]
    ) -> Scored:
        """Add the two figures for which documents are compared with each other, and sum up."""
        p, texts = evidence.params, documents != NONE
        alone = {name: values for name, values in figures.items() if name not in _COMPARED}
        odds = np.where(texts, _sum(_weighed(evidence, alone), len(documents)), -np.inf)
        if texts.any():
            # The best of a conversation may be so for what stands around it, and have no word of the cue itself.
            fit = np.where(texts, p.words * alone["words"] + p.meaning * alone["meaning"], -np.inf)
            alone["rest"] = np.where(texts, evidence.rest(has, has[[int(np.argmax(fit))]])[:, 0], 0.0)
            alone["outdated"] = _spaced(evidence.outdated(documents[texts], odds[texts]), texts)
        terms = {"constant": np.where(texts, p.constant, 0.0), **_weighed(evidence, alone)}
        return cls(documents, has, alone, terms, np.where(texts, _sum(terms, len(documents)), -np.inf))


def _weighed(evidence: Evidence, figures: Mapping[str, Floats]) -> dict[str, Floats]:
    """Figures times their weights, without the ablated ones."""
    p, off = evidence.params, evidence.ablate
    return {name: getattr(p, name) * values for name, values in figures.items() if name not in off}


def _sum(terms: Mapping[str, Floats], count: int) -> Floats:
    return np.asarray(sum(terms.values(), np.zeros(count)), np.float64)


def arrivals(query: RankingQuery, scored: Scored) -> tuple[Activation, Ints, Floats]:
    """Spread from the best of what was scored; the rows best reached, ascending, and what arrives at each."""
    evidence, p, working = query.evidence, query.profile.recall, query.working
    able = np.flatnonzero(query.pool[scored.documents])
    best = able[np.lexsort((scored.documents[able], -scored.odds[able]))[:ANCHORS]]
    rows = working.row[scored.documents[best]]
    amounts, apart = shares(scored.odds[best], p.temperature), rows[:APART]
    activation = spread(query.graph(), (rows, amounts), query.spread_params(), record_flow=True, apart=apart)
    assert activation.apart is not None, "it was asked for"
    reached, documents = activation.rows, working.document[activation.rows]
    texts = documents != NONE
    allowed = query.eligible[reached] & (~texts | evidence.texts[documents]) & ~working.is_turn(reached)
    reached, documents, texts = reached[allowed], documents[allowed], texts[allowed]
    order = np.argsort(scored.documents)
    place = order[np.minimum(np.searchsorted(scored.documents[order], documents), len(order) - 1)]
    own = np.where(scored.documents[place] == documents, scored.odds[place], -np.inf)
    # What leads to a memory fits better than it does.
    arriving = np.where(own[:, None] < scored.odds[best[:APART]], activation.apart[allowed], 0.0)
    rest = np.zeros_like(arriving)
    rest[texts] = evidence.rest(evidence.covered(documents[texts]), scored.has[best[:APART]])
    arrival = (arriving * np.exp(p.continues * rest)).sum(axis=1)
    order = np.argsort(reached)
    direct = np.isin(reached, working.row[scored.documents])
    more = best_rows(np.where(direct, 0.0, arrival), REACHED)
    candidate = direct.copy()
    candidate[more] = True
    order = order[candidate[order]]
    return activation, reached[order], arrival[order]


def _spaced(values: Floats, where: Bools) -> Floats:
    """Values of the rows with a text among all rows; 0 for the others."""
    every = np.zeros(len(where))
    every[where] = values
    return every


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


def bars(evidence: Evidence, ranked: Ranked, law: RelevanceParams) -> Floats:
    """The probability from which each hit is worth returning.

    It is half that of a memory of which nothing is known at the least. For what another hit leads to it is lower, as
    far as it is there for that: its anchor is its rival, though both may be needed.
    """
    p = evidence.params
    nothing = float(probability(np.array([p.constant + p.size * evidence.size]))[0])
    least = max(nothing / 2.0, least_probability(ranked.scores[: law.width], law))
    led = 1.0 - np.exp(-ranked.components.get("arrival", np.zeros(len(ranked.rows))))
    return np.asarray(least * (1.0 - (1.0 - law.led) * led), np.float64)


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
