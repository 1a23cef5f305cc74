"""Reranking after the spread: memories that continue from the best hit gain, those that repeat better hits lose."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.core.graph import among
from priming.core.lexical import idf
from priming.index.columns import NONE
from priming.index.lexicon import Lexicon, summed
from priming.index.topology import NAMING
from priming.recall.fusion import bridge, give_way
from priming.recall.priors import Priors
from priming.recall.ranking import EXACT, RankingQuery, WeightedGraph
from priming.text.tokens import TERM_CACHE, terms

NAMES = 64
"""The rarest names of the best hit that may lead on: a bound on what a long text costs."""
MARGIN = 1e-9
"""The minimum difference between the best hit and a memory that continues from it."""


def multi_hop(query: RankingQuery, graph: WeightedGraph, rows: Ints, scores: Floats) -> Floats:
    """The bridge component of each of ``rows`` (``docs/recall.md``, 8): how well it continues from the best of them.

    A memory leads on from the best hit if it shares a name with it and matches the terms of the cue that the best
    hit lacks. The best hit stays the best.
    """
    eligible = np.flatnonzero(query.eligible[rows])
    if not len(eligible):
        return np.zeros(len(rows))
    rounded = np.round(scores[eligible], EXACT)
    best = int(rows[eligible][rounded == rounded.max()].min())
    room = (rounded.max() - MARGIN - scores) / query.profile.recall.bridge
    return np.clip(_bridges(query, graph, best, rows), 0.0, np.maximum(room, 0.0))


def _bridges(query: RankingQuery, graph: WeightedGraph, best: int, rows: Ints) -> Floats:
    """How well each of ``rows`` continues from ``best``, b."""
    working, document = query.working, int(query.working.document[best])
    shared = _shared_names(query, graph, best)
    if document == NONE or not shared.codes:
        return np.zeros(len(rows))
    rest, whole = _rest(query, document)
    if not whole:
        return np.zeros(len(rows))
    names = _name_scores(query, shared)
    names[document] = 0.0
    return working.at(bridge(names, shared.rarest, rest, whole), rows)


@dataclass(frozen=True, slots=True)
class SharedNames:
    """Names of the best hit, each by its rarest word, and the memories that share them."""

    codes: list[int]
    rarity: Floats
    """The idf of each name."""
    rarest: float
    """The idf of a name that a single memory has."""
    memories: Ints
    """Pairs of a name and a document that mentions it (see ``_pairs``)."""
    headings: Ints
    """Pairs of a name and a heading that contains its rarest word."""


def _shared_names(query: RankingQuery, graph: WeightedGraph, best: int) -> SharedNames:
    """The rarest names of ``best`` with links of positive weight, whose rarest word is not in the cue."""
    working, mentioned = query.working, query.working.topology.mentioned
    names = _mentions(graph, np.array([best], np.int64))[1]
    names = names[np.argsort(mentioned[names], kind="stable")[:NAMES]]
    words = [_rarest(working.lexicon, working.slots.get(name, "")) for name in names.tolist()]
    cue_terms = {"", *query.evidence.terms.ordered}
    leads = [at for at, word in enumerate(words) if word not in cue_terms]
    names, words = names[leads], [words[at] for at in leads]
    titles = [working.titles_with(word) for word in words]
    at = np.repeat(np.arange(len(titles)), [len(group) for group in titles])
    headings = _pairs(at, np.array([title for group in titles for title in group], np.int64))
    owner, sources = _mentions(graph, names)
    memories = _pairs(owner, working.document[sources])
    rarity = np.asarray(
        idf(np.append(np.minimum(mentioned[names], working.memories), 1), working.memories), np.float64
    )
    codes = [working.lexicon.terms[word] for word in words]
    return SharedNames(codes, rarity[:-1], float(rarity[-1]), np.sort(memories), np.sort(headings))


def _mentions(graph: WeightedGraph, rows: Ints) -> tuple[Ints, Ints]:
    """The neighbours of ``rows`` over mentions of positive weight, each with the position of its row."""
    naming = np.array([relation in NAMING for relation in graph.relations], np.bool_)
    if not naming.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    edges = graph.edges(rows, both=True)
    carries = naming[edges.relation] & (edges.weight > 0)
    return edges.owner[carries], edges.neighbour[carries]


def _rarest(lexicon: Lexicon, name: str) -> str:
    """The rarest word of a name, as a term; empty if no memory ever contained one."""
    words = [word for word in _words(name) if word in lexicon.terms]
    if len(words) < 2:
        return words[0] if words else ""
    return words[int(np.argmin(lexicon.df.values[[lexicon.terms[word] for word in words]]))]


@lru_cache(maxsize=TERM_CACHE)
def _words(name: str) -> tuple[str, ...]:
    return tuple(terms(name))


def _pairs(names: Ints, others: Ints) -> Ints:
    """Each name and another number ≥ −1 as one number; such numbers sort as the pairs do."""
    return (names << 32) + others + 1


def _rest(query: RankingQuery, document: int) -> tuple[Floats, float]:
    """BM25 of every document for the terms of the cue that ``document`` lacks, and the idf of all its terms."""
    occurrences, scores, rarity = query.evidence.occurrences
    own = occurrences.rows == document
    left = np.ones(occurrences.count)
    left[occurrences.term[own]] -= np.minimum(1.0, occurrences.tf[own])
    rest = summed(occurrences.rows, scores * left[occurrences.term], query.working.documents)
    return rest, float(rarity.sum())


def _name_scores(query: RankingQuery, shared: SharedNames) -> Floats:
    """The highest BM25 of a shared name in each document; less where only the text contains it, not the heading."""
    working = query.working
    occurrences = working.lexicon.occurrences(shared.codes)
    occurrences = occurrences.only(among(_pairs(occurrences.term, occurrences.rows), shared.memories))
    in_heading = among(_pairs(occurrences.term, working.title[occurrences.rows]), shared.headings)
    scores = working.lexicon.worth(occurrences, shared.rarity)
    highest = np.zeros(working.documents)
    weighted = scores * np.where(in_heading, 1.0, query.profile.recall.bridge_text)
    np.maximum.at(highest, occurrences.rows, weighted)
    return highest


def diversify(
    evidence: Priors, documents: Ints, scores: Floats, limit: int, *, several: bool
) -> tuple[Ints, Floats, dict[str, Floats]]:
    """``give_way`` among hits, best first: their new order, their scores, and the component that lowered them.

    The first ``limit`` of the order are the hits to return. ``several`` says that the answer may take several
    memories; where it takes one, memories with the same words are rivals, and none of them gives way for its words.
    """
    p = evidence.params
    if "repeated" in evidence.ablate:
        return np.arange(len(scores)), scores, {}
    alone = ~evidence.turns[np.maximum(documents, 0)] | (documents == NONE)
    if not alone.any():
        return np.arange(len(scores)), scores, {"repeated": np.zeros(len(scores))}
    contains, rarity = _contained_terms(evidence, documents)
    words = _share_of_words(evidence, documents) if several else 0.0
    groups, count = _headings(evidence, documents), min(p.anchors, limit)
    order, lowered, repeated = give_way(scores, contains, rarity, groups, alone, words, p.repeated, count)
    return order, lowered, {"repeated": repeated}


def _share_of_words(evidence: Priors, documents: Ints) -> float | Floats:
    """How much of each match is due to words: what is found by the meaning of a sentence repeats nobody's words."""
    if not evidence.reads_sentences or "cosine" not in evidence.matches:
        return 1.0
    weighed = evidence.match_weights["cosine"] * evidence.matches["cosine"]
    share = np.divide(weighed, evidence.match, out=np.zeros(len(weighed)), where=evidence.match > 0)
    return np.where(documents == NONE, 1.0, 1.0 - share[np.maximum(documents, 0)])


def _contained_terms(evidence: Priors, documents: Ints) -> tuple[NDArray[np.bool_], Floats]:
    """Which of the cue's terms each document contains, and the idf of each term."""
    lexicon, codes = evidence.working.lexicon, np.array(evidence.terms.codes, np.int64)
    contains = np.zeros((len(documents), len(codes)), np.bool_)
    for at, code in enumerate(codes.tolist()):
        contains[:, at] = among(documents, lexicon.postings(code).rows)
    return contains, np.asarray(idf(lexicon.df[codes], lexicon.documents), np.float64)


def _headings(evidence: Priors, documents: Ints) -> Ints:
    """The heading of each document without neighbours, by number; −1 where it is a speaker's or missing."""
    working = evidence.working
    titles = np.where(documents == NONE, NONE, working.title[np.maximum(documents, 0)])
    if not working.title_count.size:
        return np.full(len(documents), NONE, np.int64)
    silent = evidence.speakers[np.maximum(titles, 0)] | evidence.turns[np.maximum(documents, 0)]
    return np.asarray(np.where(silent, NONE, titles), np.int64)
