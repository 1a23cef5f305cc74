"""The confidence that a recall answers its cue at all, from what speaks for its best hit (``docs/recall.md``, 10)."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from priming.config.params.recall import CONFIDENCE, ConfidenceParams
from priming.core.arguments.arrays import Floats, distinct
from priming.core.arguments.checks import check_number
from priming.index.columns import NONE
from priming.recall.priors import Priors
from priming.recall.ranking import Ranked


def confidence(
    score: float, covered: float, cosine: float, rivalry: float, params: ConfidenceParams = CONFIDENCE
) -> float:
    """Compute the confidence that the best hit answers the cue: a logistic function of the evidence for it.

    confidence = 1 / (1 + e^−(w₀ + w₁·score + w₂·covered + w₃·cosine + w₄·rivalry)).

    A ranking only says which memory is the best there is; these figures do not depend on the others being worse.

    Parameters
    ----------
    score : the best hit's score, as the default profile gives it, less what its neighbourhood adds to it: what has
        none would else seem less sure.
    covered : share of the cue's terms, by their idf, that the best hit holds, in [0, 1].
    cosine : of the cue and the best hit, in [0, 1].
    rivalry : how much better the cue is met by the speaker whom it names than by all others, in [−2, 2]; below 0
        where another speaker said it. 0 where the cue names no speaker.
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
    figures = {"score": score, "covered": covered, "cosine": cosine, "rivalry": rivalry}
    total = params.constant + math.fsum(
        getattr(params, name) * check_number(name, value) for name, value in figures.items()
    )
    return 1.0 / (1.0 + math.exp(-total)) if total > -params.extreme else 0.0


Figures = tuple[float, float, float, float]
"""A hit's score less the lift, its share of the cue, its cosine, and the rivalry."""


def answer_confidence(evidence: Priors, ranked: Ranked, params: ConfidenceParams) -> float | None:
    """The confidence that ``ranked`` answers the cue; None without a best memory that has a text.

    The best hit decides, or a hit of more confidence that contains the whole cue: it answers at any rank.
    """
    best = confidence_figures(evidence, ranked)
    if best is None:
        return None
    *_, rivalry = best
    whole = [_figures(evidence, ranked, place, rivalry) for place in _whole_cue(evidence, ranked)]
    return max(confidence(*figures, params) for figures in (best, *whole))


def confidence_figures(evidence: Priors, ranked: Ranked) -> Figures | None:
    """The evidence for the best hit; None if no hit has a text there."""
    if not len(ranked.rows) or evidence.working.document[ranked.rows[0]] < 0:
        return None
    return _figures(evidence, ranked, 0, _rivalry(evidence))


def _figures(evidence: Priors, ranked: Ranked, place: int, rivalry: float) -> Figures:
    document = int(evidence.working.document[ranked.rows[place]])
    score = float(ranked.scores[place]) - evidence.lift(document)
    return score, _share(evidence, document), float(evidence.cosine[document]), rivalry


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
    """The share of the cue's terms that a memory contains, weighted by rarity."""
    own, total = evidence.literal_occurrences, sum(evidence.rarities.values())
    rarity = evidence.working.lexicon.rarity(evidence.terms.codes)
    return float(rarity[own.term[own.rows == best]].sum()) / total if total else 0.0


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
