"""The input of every ranking design, the ranked rows that it returns, and the recipe of the default profile.

The recipe has one score, which is the probability that is shown (``docs/recall.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import SpreadParams
from priming.config.params.recall import RelevanceParams
from priming.config.profiles import Profile
from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Floats, Ints, best_rows
from priming.core.graph import among
from priming.core.lexical import beyond_chance
from priming.core.spread import Activation, spread
from priming.index.columns import NONE
from priming.index.topology import FOLLOWING, NAMING
from priming.index.weighted_graph import WeightedGraph, signed
from priming.index.working_set import WorkingSet
from priming.recall.evidence import Evidence
from priming.types import EMPTY, MemoryRecord

EXACT = 12
"""Decimals of a score that do not depend on the order in which links are summed."""


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """One query to a working set: the candidates, the evidence for each, and how to rank them.

    ``eligible`` marks the rows that may be hits, ``pool`` the documents that may be anchors; ``named`` returns the
    rows of the names in the cue.
    """

    evidence: Evidence
    profile: Profile
    eligible: NDArray[np.bool_]
    pool: NDArray[np.bool_]
    limit: int
    now: datetime
    records: Callable[[Ints], Mapping[int, MemoryRecord]]
    named: Callable[[], Sequence[int]]
    spreading: bool = True
    context: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """The context in which the design evaluates conditions."""
    activations: Callable[[Sequence[MemoryRecord]], Mapping[str, int]] = lambda _: {}
    """How often memories were active so far, by id."""

    @property
    def working(self) -> WorkingSet:
        """The working set of the evidence."""
        return self.evidence.working

    @property
    def ablate(self) -> Collection[str]:
        """The names of terms to leave out."""
        return self.evidence.ablate

    def spread_params(self) -> SpreadParams:
        """Return the profile's spreading parameters, with this namespace's relations that take activation away."""
        return signed(self.profile.spread, self.working)

    def graph(self) -> WeightedGraph:
        """Return the links as the profile weighs them, without the ablated ones."""
        off = {"next": FOLLOWING, "names": NAMING}
        silent = tuple((relation, 0.0) for name in off if name in self.ablate for relation in off[name])
        return WeightedGraph(self.working, self.profile, self.now, silent)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows from best to worst, with the components of each score."""

    rows: Ints
    scores: Floats
    components: Mapping[str, Floats] = field(default_factory=dict)
    activation: Activation | None = None

    def only(self, places: Ints) -> Ranked:
        """Return the rows at some places, in that order."""
        components = {name: values[places] for name, values in self.components.items()}
        return replace(self, rows=self.rows[places], scores=self.scores[places], components=components)


def best_hits(
    query: RankingQuery,
    rows: Ints,
    scores: Floats,
    components: Mapping[str, Floats],
    activation: Activation | None = None,
    ties: Sequence[Floats] = (),
) -> Ranked:
    """Return eligible rows, best first; of equal scores that of higher ``ties`` first, then the older memory."""
    keep = query.eligible[rows]
    rows, scores = rows[keep], np.round(scores[keep], EXACT)
    lesser = [-np.round(values[keep], EXACT) for values in reversed(ties)]
    order = np.lexsort((rows, *lesser, -scores))[: query.limit]
    chosen = {name: np.asarray(values)[keep][order] for name, values in components.items()}
    return Ranked(rows[order], scores[order], chosen, activation)


ANCHORS, APART = 20, 5
"""The memories from which activation spreads, and how many of them are told apart where it arrives."""
REACHED = 30
"""How many memories are candidates because activation arrives at them."""
_NOTHING = 1e-6
"""Added to what arrives before the logarithm: what nothing reaches is about e^−14 of what everything does."""
_LEAST, _MOST = -700.0, 50.0
"""Log-odds below which a difference cannot be told, and above which none counts."""


def rank_by_probability(query: RankingQuery) -> Ranked:
    """Rank candidates by the probability that each is what the cue needs; its log-odds are the components."""
    p, working, law = query.profile.recall, query.working, query.profile.relevance or RelevanceParams()
    scored = Scored.of(query.evidence, query.evidence.candidates(query.pool))
    rows, activation = working.row[scored.documents], None
    arrived, leader = np.full(len(rows), -np.inf), np.full(len(rows), NONE)
    if query.spreading and "spread" not in query.ablate and len(rows):
        activation, reached, arriving, anchors = arrivals(query, scored)
        more = reached[~among(reached, np.sort(rows))]
        scored = scored.with_others(query.evidence, working.document[more])
        rows = np.concatenate([rows, more])
        arrival, leader = by_row(rows, reached, arriving, anchors)
        arrived = p.arrived + p.arrival * np.log(arrival + _NOTHING)
        arrived += p.led * np.maximum(0.0, scored.figures["meaning"])
    outdated = scored.outdated(query.evidence)
    # What speaks against a memory speaks against it however it was reached.
    arrived = arrived + outdated + np.minimum(0.0, scored.terms.get("feedback", 0.0))
    odds, eligible = scored.odds + outdated, query.eligible[rows]
    whole = either(odds, arrived)
    best = np.lexsort((rows, -np.where(eligible, whole, -np.inf)))[:APART]
    # A turn may answer in other words what another asks.
    most = np.where(working.is_turn(rows) | ("rest" in query.ablate), 0.0, np.maximum(0.0, odds))
    words = beyond(scored.has, scored.has[best], query.evidence.idf / query.evidence.size)
    room = np.minimum(p.words * beyond_chance(words, p.incidental), most[:, None])
    chances = np.round(among_rivals(odds, arrived, leader, eligible, law.rivals, best, room), EXACT)
    order = np.lexsort((rows, -odds, -chances))
    order = order[eligible[order]][: query.limit]
    gained = np.where(np.isfinite(odds), whole - np.maximum(odds, _LEAST), whole)
    with np.errstate(divide="ignore"):
        lost = np.maximum(np.log(chances) - np.log1p(-chances), _LEAST) - whole
    parts = {**scored.terms, "outdated": outdated, "arrival": gained, "rivals": lost}
    shown = {name: values[order] for name, values in parts.items() if values[order].any()}
    return Ranked(rows[order], chances[order], shown, activation)


def either(odds: Floats, arrived: Floats) -> Floats:
    """Tell what speaks for each, for its own sake or as a continuation; the best precedes what follows from it."""
    return np.asarray(np.minimum(np.logaddexp(odds, arrived), odds.max(initial=-np.inf)), np.float64)


def among_rivals(
    odds: Floats,
    arrived: Floats,
    leader: Ints,
    eligible: Bools,
    weight: float,
    best: Ints,
    room: Floats,
) -> Floats:
    """Return the probability that each is needed for its own sake or as another's continuation, beside its rivals.

    Rivals of a memory for its own sake are all others, the ``best`` less what it has of the cue beyond each of them
    (``room``, log-odds, shape (memories, best)), those of a continuation are other continuations. ``leader`` is the
    place of the memory that leads to each most, −1 where none does: what follows from it is no surer than it is,
    unless it fits better by itself.
    """
    speaks = np.where(eligible, np.exp(np.minimum(either(odds, arrived), _MOST)), 0.0)
    rivals = np.log(1.0 + np.delete(speaks, best).sum() + np.exp(-room) @ speaks[best])
    led = leader != NONE
    follows = np.where(led, np.minimum(arrived, odds.max(initial=-np.inf)), -np.inf)
    own = probability(odds - weight * rivals)
    chances = 1.0 - (1.0 - own) * (1.0 - probability(follows - weight * rivalry(follows[eligible])))
    return np.where(led & (odds < odds[leader]), np.minimum(chances, chances[leader]), chances)


def beyond(has: Floats, others: Floats, worth: Floats) -> Floats:
    """Return what each memory has of the terms of a cue that each of others lacks, shape (memories, others).

    >>> beyond(np.array([[1.0, 0.5]]), np.array([[0.0, 1.0]]), np.array([2.0, 3.0])).tolist()
    [[2.0]]
    """
    return np.asarray(np.maximum(0.0, has[:, None, :] - others[None, :, :]) @ worth, np.float64)


def by_row(rows: Ints, reached: Ints, arriving: Floats, anchors: Ints) -> tuple[Floats, Ints]:
    """Return what arrives at each of some rows, and the place of the anchor from which most of it comes."""
    arrival, leader = np.zeros(len(rows)), np.full(len(rows), NONE)
    if len(reached):
        place = np.minimum(np.searchsorted(reached, rows), len(reached) - 1)
        here = np.flatnonzero(reached[place] == rows)
        parts = arriving[place[here]]
        arrival[here] = parts.sum(axis=1)
        leader[here] = np.where(arrival[here] > 0.0, anchors[parts.argmax(axis=1)], NONE)
    return arrival, leader


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
    """Their sum, d, before later versions count: what an earlier version leads to follows from it as well."""

    @classmethod
    def of(cls, evidence: Evidence, documents: Ints) -> Scored:
        """Score documents, −1 where there is none."""
        return cls._compared(evidence, documents, *_alone(evidence, documents))

    def with_others(self, evidence: Evidence, documents: Ints) -> Scored:
        """Return the same with more documents."""
        has, more = _alone(evidence, documents)
        figures = {
            name: np.concatenate([own.get(name, np.zeros(len(own["size"]))) for own in (self.figures, more)])
            for name in {**self.figures, **more}
        }
        every = np.concatenate([self.documents, documents])
        return self._compared(evidence, every, np.concatenate([self.has, has]), figures)

    @classmethod
    def _compared(
        cls, evidence: Evidence, documents: Ints, has: Floats, figures: dict[str, Floats]
    ) -> Scored:
        """Add what each has of the cue beside the best, and sum up."""
        p, texts = evidence.params, documents != NONE
        if texts.any():
            # The best of a conversation may be so for what stands around it, and have no word of the cue itself.
            fit = np.where(texts, p.words * figures["words"] + p.meaning * figures["meaning"], -np.inf)
            rest = beyond(has, has[[int(np.argmax(fit))]], evidence.shares)[:, 0]
            figures["rest"] = np.where(texts, rest, 0.0)
        weighed = {
            name: getattr(p, name) * own for name, own in figures.items() if name not in evidence.ablate
        }
        terms = {"constant": np.where(texts, p.constant, 0.0), **weighed}
        odds = np.asarray(sum(terms.values(), np.zeros(len(documents))), np.float64)
        return cls(documents, has, figures, terms, np.where(texts, odds, -np.inf))

    def outdated(self, evidence: Evidence) -> Floats:
        """Return the log-odds that each loses to its later version."""
        texts = self.documents != NONE
        if "outdated" in evidence.ablate:
            return np.zeros(len(texts))
        return evidence.params.outdated * _spaced(
            evidence.outdated(self.documents[texts], self.odds[texts]), texts
        )


def _alone(evidence: Evidence, documents: Ints) -> tuple[Floats, dict[str, Floats]]:
    """Return what each document has of the terms of the cue, and its figures by themselves."""
    texts = documents != NONE
    has = np.zeros((len(documents), len(evidence.terms)))
    has[texts] = evidence.covered(documents[texts])
    return has, {name: _spaced(values, texts) for name, values in evidence.figures(documents[texts]).items()}


def arrivals(query: RankingQuery, scored: Scored) -> tuple[Activation, Ints, Floats, Ints]:
    """Spread from the best of what was scored: the rows best reached, and what arrives at each from which place."""
    evidence, p, working = query.evidence, query.profile.recall, query.working
    able = np.flatnonzero(query.pool[scored.documents])
    best = able[np.lexsort((able, -scored.odds[able]))[:ANCHORS]]
    rows = working.row[scored.documents[best]]
    amounts, apart = shares(scored.odds[best], p.temperature), rows[:APART]
    activation = spread(query.graph(), (rows, amounts), query.spread_params(), apart=apart)
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
    rest = beyond(evidence.covered(documents[texts]), scored.has[best[:APART]], evidence.shares)
    arriving[texts] *= np.exp(p.continues * rest)
    order = np.argsort(reached)
    direct = among(reached, np.sort(working.row[scored.documents]))
    more = best_rows(np.where(direct, 0.0, arriving.sum(axis=1)), REACHED)
    candidate = direct.copy()
    candidate[more] = True
    order = order[candidate[order]]
    return activation, reached[order], arriving[order], best[:APART]


def _spaced(values: Floats, where: Bools) -> Floats:
    """Place the values of the rows with a text among all rows; 0 for the others."""
    every = np.zeros(len(where))
    every[where] = values
    return every


def shares(odds: Floats, temperature: float) -> Floats:
    """Return the activation of anchors: e^(d/τ) / (1 + Σ e^(d/τ)), the 1 for that none of them is what the cue needs.

    >>> shares(np.array([0.0, 0.0]), 0.4).round(3).tolist()
    [0.333, 0.333]
    """
    return np.asarray(np.exp(odds / temperature - rivalry(odds / temperature)), np.float64)


def rivalry(odds: Floats) -> float:
    """ln(1 + Σ e^s), without overflow: how much speaks for any of some memories, and for none."""
    return float(np.logaddexp.reduce(np.append(odds, 0.0)))


def probability(odds: Floats) -> Floats:
    """Return the probability of log-odds.

    >>> probability(np.array([0.0, 2.0])).round(3).tolist()
    [0.5, 0.881]
    """
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)), np.float64)


_SURER = 1.5
"""How many times as probable as a memory of which nothing is known the best has to be that has no word of the cue."""


def bar(evidence: Evidence, ranked: Ranked, law: RelevanceParams) -> float:
    """Return the probability from which hits are worth returning, at least half that of one nothing is known of."""
    p, best = evidence.params, float(ranked.scores[:1].max(initial=0.0))
    nothing = float(probability(np.array([p.constant + p.size * evidence.size]))[0])
    if best < _SURER * nothing and not evidence.literal[evidence.working.document[ranked.rows[:1]]].any():
        return _SURER * nothing
    return max(nothing / 2.0, least_probability(ranked.scores[: law.width], law))


def least_probability(chances: Floats, law: RelevanceParams) -> float:
    """Return the probability from which a hit is worth returning: it raises the expected F-measure of the answer.

    F_β = (1 + β²)·right / (β²·relevant + returned) weighs precision and recall, recall β² times as much. With
    probabilities p₁ ≥ p₂ ≥ … in place of what is right and what is relevant, a hit raises it if its probability is
    above max over k of (p₁ + … + p_k) / (β²·Σp + k). So a sure answer among improbable hits stands alone, and where
    all are alike all are returned; none is where even the best is below the floor.

    >>> least_probability(np.array([0.9, 0.05, 0.05]), RelevanceParams(recall_weight=9.0, floor=0.03))
    0.09
    """
    ordered = np.sort(chances)[::-1]
    if not len(ordered) or ordered[0] < law.floor:
        return law.floor
    returned = np.arange(1, len(ordered) + 1)
    measure = np.cumsum(ordered) / (law.recall_weight * ordered.sum() + returned)
    return float(measure.max())
