"""What is told of an answer's certainty: the figures that `core.confidence` weighs, from the evidence of a recall."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from priming.config.params.recall import ConfidenceParams
from priming.core.arguments.arrays import Floats
from priming.index.columns import NONE
from priming.recall.fusion import confidence
from priming.recall.priors import Priors
from priming.recall.ranking import Ranked


def answer_confidence(evidence: Priors, ranked: Ranked, params: ConfidenceParams) -> float | None:
    """How sure the best of ``ranked`` is; None where it is no memory with a text, or nothing came up."""
    found = confidence_figures(evidence, ranked)
    return None if found is None else confidence(*found, params)


def confidence_figures(evidence: Priors, ranked: Ranked) -> tuple[float, float, float, float] | None:
    """What speaks for the best hit: its score less the lift, its share of the cue, its cosine, and the rivalry."""
    if not len(ranked.rows):
        return None
    best = int(evidence.working.document[ranked.rows[0]])
    if best < 0:
        return None
    share, cosine = _share(evidence, best), float(evidence.cosine[best])
    return float(ranked.scores[0]) - evidence.lift(best), share, cosine, _rivalry(evidence)


def _share(evidence: Priors, best: int) -> float:
    """The share of the cue's terms that a memory holds, by their worth."""
    found, total = evidence.found, sum(evidence.worth.values())
    rarity = evidence.working.lexicon.rarity(evidence.terms.codes)
    return float(rarity[found.term[found.rows == best]].sum()) / total if total else 0.0


def _rivalry(evidence: Priors) -> float:
    """How much better what the cue asks for is met by the speaker whom it names than by all others.

    A heading that the cue names is not asked to hold the rest of it: a question of two hops has that elsewhere.
    """
    working = evidence.working
    titles = working.title.values
    named = (evidence.naming > 0) & (titles != NONE)
    named[named] = evidence.speakers[titles[named]]
    own, others = named & evidence.texts, ~named & evidence.texts
    if not own.any() or not others.any():
        return 0.0
    names = {term for title in np.unique(titles[named]).tolist() for term in working.title_terms[title]}
    met = _shares(evidence, names) + evidence.cosine
    return float(met[own].max() - met[others].max())


def _shares(evidence: Priors, without: Collection[str]) -> Floats:
    """The share of the cue's terms that each memory holds, by their worth, ``without`` some."""
    lexicon = evidence.working.lexicon
    held = np.zeros(evidence.working.documents)
    asked = {term: value for term, value in evidence.worth.items() if term not in without}
    for term, value in asked.items():
        code = lexicon.code(term)
        if code is not None:
            held[lexicon.postings(code).rows] += value
    total = sum(asked.values())
    return held / total if total else held
