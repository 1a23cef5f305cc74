"""What is told of an answer's certainty: the figures that `core.confidence` weighs, from the evidence of a recall."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from priming.core.check import Floats
from priming.core.confidence import confidence
from priming.engine.ask import Ranked
from priming.engine.evidence import Evidence
from priming.params import ConfidenceParams


def certainty(evidence: Evidence, ranked: Ranked, params: ConfidenceParams) -> float | None:
    """How sure the best of ``ranked`` is; None where it is no memory with a text, or nothing came up."""
    found = figures(evidence, ranked)
    return None if found is None else confidence(*found, params)


def figures(evidence: Evidence, ranked: Ranked) -> tuple[float, float, float, float] | None:
    """What speaks for the best hit: its score, the share of the cue it holds, its cosine, and the rivalry."""
    if not len(ranked.rows):
        return None
    best = int(evidence.working.document[ranked.rows[0]])
    if best < 0:
        return None
    share, cosine = _share(evidence, best), float(evidence.cosine[best])
    return float(ranked.scores[0]), share, cosine, _rivalry(evidence)


def _share(evidence: Evidence, best: int) -> float:
    """The share of the cue's terms that a memory holds, by their worth."""
    found, total = evidence.found, sum(evidence.worth.values())
    rarity = evidence.working.lexicon.rarity(evidence.terms.codes)
    return float(rarity[found.term[found.rows == best]].sum()) / total if total else 0.0


def _rivalry(evidence: Evidence) -> float:
    """How much better what the cue names holds what it asks for than everything else does."""
    working = evidence.working
    named = evidence.naming > 0
    own, others = named & evidence.texts, ~named & evidence.texts
    if not own.any() or not others.any():
        return 0.0
    titles = np.unique(working.title.values[named])
    names = {term for title in titles.tolist() if title >= 0 for term in working.title_terms[title]}
    met = _shares(evidence, names) + evidence.cosine
    return float(met[own].max() - met[others].max())


def _shares(evidence: Evidence, without: Collection[str]) -> Floats:
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
