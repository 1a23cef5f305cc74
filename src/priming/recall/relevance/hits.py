"""How sure a recall is, how relevant each hit is, and where the answer ends: ``docs/recall.md``, 10 to 12."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import CONFIDENCE, RELEVANCE, ConfidenceParams, RelevanceParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, distinct
from priming.core.arguments.checks import check_number
from priming.index.columns import NONE
from priming.recall.fusion import breadth, least_worth, recall_weight
from priming.recall.priors import Priors
from priming.recall.ranking import Ranked

_FEW = 5
"""The smallest namespace that was fitted: smaller ones count as one of this size."""
_SURE = 0.999
"""The largest confidence whose odds count; the smallest is what is missing to 1."""


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


def hits_above(ranked: Ranked, judged: Judged, floor: float | None, most: int) -> tuple[Ranked, Floats]:
    """The first ``most`` hits above the floor, or by default those of the answer, and their relevance."""
    above = np.flatnonzero(judged.above(floor))[:most]
    components = {name: values[above] for name, values in ranked.components.items()}
    first = Ranked(ranked.rows[above], ranked.scores[above], components, ranked.activation)
    return first, judged.relevance[above]


def confidence(
    score: float,
    covered: float,
    cosine: float,
    rivalry: float,
    asks: float = 0.0,
    params: ConfidenceParams = CONFIDENCE,
) -> float:
    """Compute the confidence that the best hit answers the cue: a logistic function of the evidence for it.

    confidence = 1 / (1 + e^−(w₀ + w₁·score + w₂·covered + w₃·cosine + w₄·rivalry + w₅·asks)).

    A ranking only says which memory is the best there is; these figures do not depend on the others being worse.

    Parameters
    ----------
    score : the best hit's score, as the default profile gives it, less what its neighbourhood adds to it: what has
        none would else seem less sure.
    covered : share of the cue's terms, by their idf, that the best hit holds, in [0, 1].
    cosine : of the cue and the best hit, in [0, 1].
    rivalry : how much better the cue is met by the speaker whom it names than by all others, in [−2, 2]; below 0
        where another speaker said it. 0 where the cue names no speaker.
    asks : 1 if the best hit is a turn that ends in a question, else 0.
    params : the weights.

    Returns
    -------
    A number in [0, 1]. It is a share of right answers only for stores and cues like those it was fitted on.

    Raises
    ------
    ParamError : an argument that is not a finite number.

    References
    ----------
    .. [1] A. Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, 2024: the questions
       about what was never said, beside others whose answers were taken out of the store.

    Examples
    --------
    >>> round(confidence(0.1, 1.0, 0.7, 0.2), 2), round(confidence(-0.3, 0.2, 0.2, -0.5), 2)
    (0.89, 0.04)
    """
    figures = {"score": score, "covered": covered, "cosine": cosine, "rivalry": rivalry, "asks": asks}
    total = params.constant + math.fsum(
        getattr(params, name) * check_number(name, value) for name, value in figures.items()
    )
    return 1.0 / (1.0 + math.exp(-total)) if total > -params.extreme else 0.0


Figures = tuple[float, float, float, float, float]
"""A hit's score less the lift, its share of the cue, its cosine, the rivalry, and whether it only asks."""


def answer_confidence(evidence: Priors, ranked: Ranked, params: ConfidenceParams) -> float | None:
    """The confidence that ``ranked`` answers the cue; None without a best memory that has a text.

    The best hit decides, or a hit of more confidence that contains the whole cue: it answers at any rank.
    """
    best = confidence_figures(evidence, ranked)
    if best is None:
        return None
    *_, rivalry, _ = best
    whole = [_figures(evidence, ranked, place, rivalry) for place in _whole_cue(evidence, ranked)]
    return max(confidence(*figures, params) for figures in (best, *whole))


def confidence_figures(evidence: Priors, ranked: Ranked) -> Figures | None:
    """The evidence for the best hit; None if no hit has a text there."""
    if _best(evidence, ranked) == NONE:
        return None
    return _figures(evidence, ranked, 0, _rivalry(evidence))


def _figures(evidence: Priors, ranked: Ranked, place: int, rivalry: float) -> Figures:
    document = int(evidence.working.document[ranked.rows[place]])
    score = float(ranked.scores[place]) - evidence.lift(document)
    asks = float(evidence.turns[document] and evidence.working.asks[document])
    return score, _share(evidence, document), float(evidence.cosine[document]), rivalry, asks


def _whole_cue(evidence: Priors, ranked: Ranked) -> list[int]:
    """The places of the hits that contain every term of the cue."""
    terms = len(evidence.terms.codes)
    if not terms or terms < len(evidence.rarities):
        return []
    documents = evidence.working.document[ranked.rows]
    matched = np.bincount(evidence.literal_occurrences.rows, minlength=evidence.working.documents)
    whole: list[int] = np.flatnonzero((documents >= 0) & (matched[documents] == terms)).tolist()
    return whole


def _share(evidence: Priors, best: int) -> float:
    """The share of the cue's terms that a memory contains, or that name its date, weighted by rarity."""
    own, total = evidence.literal_occurrences, evidence.whole_rarity
    rarity = evidence.working.lexicon.rarity(evidence.terms.codes)
    covered = float(rarity[own.term[own.rows == best]].sum() + evidence.date_rarity[best])
    return min(1.0, covered / total) if total else 0.0


def _rivalry(evidence: Priors) -> float:
    """How much better the speaker whom the cue names matches the rest of the cue than all other speakers do.

    A heading that is no speaker's has no rivals: a question of two hops finds the rest of the cue elsewhere.
    """
    working = evidence.working
    titles = working.title.values
    named = (evidence.naming > 0) & (titles != NONE)
    named[named] = evidence.speakers[titles[named]]
    own, others = named & evidence.texts, ~named & evidence.texts
    if not own.any() or not others.any():
        return 0.0
    names = {term for title in distinct(titles[named]).tolist() for term in working.title_terms[title]}
    match = _shares(evidence, names) + evidence.cosine
    return float(match[own].max() - match[others].max())


def _shares(evidence: Priors, without: Collection[str]) -> Floats:
    """The share of the cue's terms that each memory contains, weighted by rarity, ``without`` some of the terms."""
    lexicon = evidence.working.lexicon
    covered = np.zeros(evidence.working.documents)
    rarities = {term: rarity for term, rarity in evidence.rarities.items() if term not in without}
    for term, rarity in rarities.items():
        code = lexicon.code(term)
        if code is not None:
            covered[lexicon.postings(code).rows] += rarity
    total = sum(rarities.values())
    return covered / total if total else covered


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
    - ``match``: BM25, words near or useful before included, as a share of the idf of the cue's terms and of ln n: in
      a large store a match of the same rarity is less remarkable. Most of the match of a question is that of its
      answer as well.
    - ``memories``: ln n, n the memories of the namespace.
    - ``lead``: how far the score is above that of the tenth hit, 1 at most.
    - ``behind``: how far it is below that of the best, times the log-odds of the confidence, where those are above
      0: the surer the answer, the less remains for others.
    - ``activation``: the logarithm of the activation that arrived; 0 for a turn, as a conversation spreads it.
    - ``bridge``: how well the hit continues from the best one.
    - ``turn``: whether it is a turn of a conversation, and ``asks``: whether it is one that ends in a question.
    """
    documents = evidence.working.document[ranked.rows]
    at, count = np.maximum(documents, 0), len(documents)
    sure = min(max(confidence, 1.0 - _SURE), _SURE)
    odds = math.log(sure / (1.0 - sure))
    size = math.log(max(_FEW, evidence.working.memories))
    rarity = evidence.whole_rarity
    turns = (documents != NONE) & evidence.turns[at]
    asks = turns & evidence.working.asks[at]
    answered = np.where(asks, 0.0, params.answered * evidence.answered(evidence.bm25)[at])
    match = np.maximum((evidence.bm25 + evidence.useful_bm25)[at], answered) / max(rarity * size, 1e-9)
    rival = ranked.scores[min(params.rival, count) - 1]
    parts, none = ranked.components, np.zeros(count)
    arrived: Floats = np.log(np.asarray(parts.get("activation", none)) + evidence.params.log_floor)
    return {
        "confidence": np.full(count, odds),
        "match": np.where(documents == NONE, 0.0, match),
        "memories": np.full(count, size),
        "lead": np.clip(ranked.scores - rival, 0.0, 1.0),
        "behind": (ranked.scores[0] - ranked.scores) * max(0.0, odds),
        "activation": np.where(turns, 0.0, arrived),
        "bridge": parts.get("bridge", none),
        "turn": turns.astype(np.float64),
        "asks": asks.astype(np.float64),
    }


def judged(
    evidence: Priors, ranked: Ranked, confidence: float | None, params: RelevanceParams | None
) -> Judged:
    """The relevance of each hit and where the answer ends; NaN where the profile has none.

    Hits of which no figure tells that they belong to the answer have at least the relevance ``least_most``.
    """
    count = len(ranked.rows)
    if params is None or confidence is None:
        return Judged(np.full(count, np.nan), np.ones(count, np.bool_), 0.0)
    own = relevance(hit_figures(evidence, ranked, confidence, params), params)
    proved, refuted = (
        ranked.components.get(f"{sign}_feedback", np.zeros(count)) for sign in ("positive", "negative")
    )
    own = judged_relevance(own, proved, refuted)
    leads = led_to(own, led_shares(evidence, ranked), left_open(evidence, ranked, params), params)
    if evidence.asks_for_date:  # by a link from it, one comes to other days
        leads = np.zeros(count, np.bool_)
    stays = (leads | _of_the_date(evidence, ranked) | (proved > 0)) & (refuted == 0)
    memories = evidence.working.memories
    broad = breadth(evidence.bm25, memories if is_spoken(evidence, ranked) else 0, params)
    weight = recall_weight(broad, memories, params)
    least = least_worth(own[: params.width], weight, params.floor / broad)
    return Judged(np.where(stays, np.maximum(own, params.least_most), own), stays, least)


def judged_relevance(own: Floats, proved: Floats, refuted: Floats) -> Floats:
    """What verdicts on similar cues make of a relevance: so much of it is known, and the rest is as it was.

    relevance ← proved + (1 − proved) · (1 − refuted) · relevance.

    Parameters
    ----------
    own : the relevance of each hit by its figures.
    proved, refuted : what verdicts on similar cues say for each hit and against it, in [0, 1].

    Examples
    --------
    >>> judged_relevance(np.array([0.5, 0.5]), np.array([0.6, 0.0]), np.array([0.0, 0.6])).round(2).tolist()
    [0.8, 0.2]
    """
    return proved + (1.0 - proved) * (1.0 - refuted) * own


def left_open(evidence: Priors, ranked: Ranked, params: RelevanceParams = RELEVANCE) -> float:
    """The share of the cue's terms that the best hit lacks, weighted by rarity.

    In a namespace of less than ``params.few`` memories every cue counts as open: there is little that could be meant.
    """
    if evidence.working.memories < params.few:
        return 1.0
    best = _best(evidence, ranked)
    return 1.0 if best == NONE else 1.0 - _share(evidence, best)


def is_spoken(evidence: Priors, ranked: Ranked) -> bool:
    """Whether the best hit is a turn of a conversation."""
    best = _best(evidence, ranked)
    return best != NONE and bool(evidence.turns[best])


def _best(evidence: Priors, ranked: Ranked) -> int:
    return int(evidence.working.document[ranked.rows[0]]) if len(ranked.rows) else NONE


def _of_the_date(evidence: Priors, ranked: Ranked) -> NDArray[np.bool_]:
    """The hits of the day that the cue names, and of the week or month those that are no turns."""
    documents = evidence.working.document[ranked.rows]
    at, named = np.maximum(documents, 0), evidence.named_date
    right = (documents != NONE) & evidence.of_the_date[at]
    is_day = named is not None and named.day is not None and named.days == 1
    return np.asarray(right if is_day else right & ~evidence.turns[at], np.bool_)


def led_to(
    own: Floats, shares: Floats, left: float = 1.0, params: RelevanceParams = RELEVANCE
) -> NDArray[np.bool_]:
    """Tell which hits the best one leads to over links, and so belong to the answer whatever their words.

    A name in few memories leads from the best hit to all of them alike; one in many spreads its activation thin.

    Parameters
    ----------
    own : the relevance of each hit by its figures, the best first.
    shares : the activation that reached each hit over links, as a share of the best hit's.
    left : the share of the cue that the best hit leaves open: where it is small, larger shares are needed.

    Returns
    -------
    True for the hits that the largest share reached, those near it, and those that a large share reached by itself;
    for none if the best hit is not ``sure``.

    Examples
    --------
    >>> led_to(np.array([0.6, 0.02, 0.01]), np.array([0.0, 0.01, 0.001])).tolist()
    [False, True, False]
    >>> led_to(np.array([0.6, 0.02, 0.01]), np.array([0.0, 0.01, 0.001]), left=0.0).tolist()
    [False, False, False]
    """
    if not len(own) or own[0] < params.sure:
        return np.zeros(len(own), np.bool_)
    is_open = left > params.open
    smallest, surely = (params.led, params.led_well) if is_open else (params.led_well, params.led_surely)
    least = max(smallest, params.led_near * float(shares.max()))
    return np.asarray(shares >= min(least, surely), np.bool_)


def led_shares(evidence: Priors, ranked: Ranked) -> Floats:
    """The activation that reached each hit over links, as a share of that of the best hit; 0 for a turn."""
    documents, activation = evidence.working.document[ranked.rows], ranked.components.get("activation")
    if activation is None or not activation[0]:
        return np.zeros(len(ranked.rows))
    h = np.where(documents == NONE, 0.0, evidence.h[np.maximum(documents, 0)])
    matched = np.exp((h - h[0]) / evidence.params.temperature)
    arrived = np.maximum(0.0, activation / activation[0] - matched)
    return np.where((documents != NONE) & evidence.turns[np.maximum(documents, 0)], 0.0, arrived)
