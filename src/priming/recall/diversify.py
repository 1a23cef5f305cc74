"""What hits hold in common, so that those which only repeat better ones can give way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priming.core.arguments.arrays import Floats, Ints
from priming.core.graph import among
from priming.core.lexical import idf
from priming.index.columns import NONE
from priming.recall.fusion import give_way
from priming.recall.priors import Priors


def diversify(
    evidence: Priors, documents: Ints, scores: Floats, limit: int
) -> tuple[Ints, Floats, dict[str, Floats]]:
    """``give_way`` among hits, best first: their new order, their scores, and what was taken for.

    Of the order, the first ``limit`` are wanted.
    """
    p, off = evidence.params, evidence.ablate
    alone = ~evidence.neighboured[np.maximum(documents, 0)] | (documents == NONE)
    if not alone.any():
        none = np.zeros(len(scores))
        return np.arange(len(scores)), scores, {"covered": none, "repeated": none}
    held, worth = held_terms(evidence, documents)
    covered = 0.0 if "covered" in off else p.covered
    repeated = 0.0 if "repeated" in off else p.repeated
    groups, count = same_heading(evidence, documents), min(p.anchors, limit)
    return give_way(scores, held, worth, groups, alone, covered, repeated, count)


def held_terms(evidence: Priors, documents: Ints) -> tuple[NDArray[np.bool_], Floats]:
    """Which of the cue's terms stand in each document, and the idf of each term."""
    lexicon, codes = evidence.working.lexicon, np.array(evidence.terms.codes, np.int64)
    held = np.zeros((len(documents), len(codes)), np.bool_)
    for at, code in enumerate(codes.tolist()):
        held[:, at] = among(documents, lexicon.postings(code).rows)
    return held, np.asarray(idf(lexicon.df[codes], lexicon.documents), np.float64)


def same_heading(evidence: Priors, documents: Ints) -> Ints:
    """The heading of each document that stands alone, by number; −1 where it is a speaker's, or there is none."""
    working = evidence.working
    titles = np.where(documents == NONE, NONE, working.title[np.maximum(documents, 0)])
    if not working.title_count.size:
        return np.full(len(documents), NONE, np.int64)
    silent = evidence.speakers[np.maximum(titles, 0)] | evidence.neighboured[np.maximum(documents, 0)]
    return np.asarray(np.where(silent, NONE, titles), np.int64)
