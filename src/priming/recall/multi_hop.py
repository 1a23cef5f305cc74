"""What leads on from the best hit: memories that share a name with it and meet what it leaves open of the cue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from priming.core.arguments.arrays import Floats, Ints
from priming.core.graph import among
from priming.core.lexical import idf
from priming.index.columns import NONE
from priming.index.lexicon import Lexicon, summed
from priming.index.topology import MENTIONS
from priming.recall.fusion import bridge
from priming.recall.ranking import EXACT, RankingQuery
from priming.recall.weighted_graph import WeightedGraph
from priming.text.tokens import TERM_CACHE, terms

BEHIND = 1e-9
"""What leads on from the best hit stays at least so far behind it."""


@dataclass(frozen=True, slots=True)
class SharedNames:
    """Names of the best hit, each by its rarest word, and the memories that share them."""

    codes: list[int]
    rarity: Floats
    """The idf of each name."""
    rarest: float
    """That of a name that only one memory holds."""
    memories: Ints
    """Pairs of a name and a document that mentions it (see ``_pairs``)."""
    headings: Ints
    """Pairs of a name and a heading that holds its rarest word."""


def multi_hop(query: RankingQuery, graph: WeightedGraph, rows: Ints, scores: Floats) -> Floats:
    """How far each of ``rows`` leads on from the best of them (RECALL.md, per cue 8), which stays the best."""
    may = np.flatnonzero(query.eligible[rows])
    if not len(may):
        return np.zeros(len(rows))
    rounded = np.round(scores[may], EXACT)
    best = int(rows[may][rounded == rounded.max()].min())
    room = (rounded.max() - BEHIND - scores) / query.profile.recall.bridge
    return np.clip(_led(query, graph, best, rows), 0.0, np.maximum(room, 0.0))


def _led(query: RankingQuery, graph: WeightedGraph, best: int, rows: Ints) -> Floats:
    """How far each of ``rows`` leads on from ``best``, b."""
    working, document = query.working, int(query.working.document[best])
    shared = _shared(query, graph, best)
    if document == NONE or not shared.codes:
        return np.zeros(len(rows))
    rest, whole = _rest(query, document)
    if not whole:
        return np.zeros(len(rows))
    named = _named(query, shared)
    named[document] = 0.0
    return working.at(bridge(named, shared.rarest, rest, whole), rows)


def _rest(query: RankingQuery, document: int) -> tuple[Floats, float]:
    """BM25 of every document for what ``document`` leaves open of the cue, and the idf of all its terms."""
    found, worth, rarity = query.evidence.occurrences
    own = found.rows == document
    left = np.ones(found.count)
    left[found.term[own]] -= np.minimum(1.0, found.tf[own])
    rest = summed(found.rows, worth * left[found.term], query.working.documents)
    return rest, float(rarity.sum())


def _shared(query: RankingQuery, graph: WeightedGraph, best: int) -> SharedNames:
    """The rarest names of ``best`` that carry and whose rarest word is not in the cue."""
    working, mentioned = query.working, query.working.topology.mentioned
    names = _mentioned(graph, np.array([best], np.int64))[1]
    names = names[np.argsort(mentioned[names], kind="stable")[: query.profile.recall.bridge_names]]
    words = [_rarest(working.lexicon, working.slots.get(name, "")) for name in names.tolist()]
    asked = {"", *query.evidence.terms.ordered}
    leads = [at for at, word in enumerate(words) if word not in asked]
    names, words = names[leads], [words[at] for at in leads]
    titles = [working.titles_with(word) for word in words]
    at = np.repeat(np.arange(len(titles)), [len(some) for some in titles])
    headings = _pairs(at, np.array([title for some in titles for title in some], np.int64))
    owner, sources = _mentioned(graph, names)
    memories = _pairs(owner, working.document[sources])
    rarity = np.asarray(
        idf(np.append(np.minimum(mentioned[names], working.memories), 1), working.memories), np.float64
    )
    codes = [working.lexicon.terms[word] for word in words]
    return SharedNames(codes, rarity[:-1], float(rarity[-1]), np.sort(memories), np.sort(headings))


def _pairs(names: Ints, others: Ints) -> Ints:
    """Each name with another number ≥ −1 as one number: they compare as the pairs do."""
    return (names << 32) + others + 1


def _rarest(lexicon: Lexicon, name: str) -> str:
    """The rarest word of a name, as a term; empty if no memory ever held one."""
    words = [word for word in _words(name) if word in lexicon.terms]
    if len(words) < 2:
        return words[0] if words else ""
    return words[int(np.argmin(lexicon.df.values[[lexicon.terms[word] for word in words]]))]


@lru_cache(maxsize=TERM_CACHE)
def _words(name: str) -> tuple[str, ...]:
    return tuple(terms(name))


def _mentioned(graph: WeightedGraph, rows: Ints) -> tuple[Ints, Ints]:
    """What ``rows`` mention, or are mentioned by, over links that carry: the position of the row, and the other."""
    if MENTIONS not in graph.relations:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    edges = graph.edges(rows, both=True)
    carries = (edges.relation == graph.relations.index(MENTIONS)) & (edges.weight > 0)
    return edges.owner[carries], edges.neighbour[carries]


def _named(query: RankingQuery, shared: SharedNames) -> Floats:
    """BM25 of the name that tells most in each document, of those that it shares; less where only its text has it."""
    working = query.working
    found = working.lexicon.occurrences(shared.codes)
    found = found.only(among(_pairs(found.term, found.rows), shared.memories))
    headed = among(_pairs(found.term, working.title[found.rows]), shared.headings)
    worth = working.lexicon.worth(found, shared.rarity)
    named = np.zeros(working.documents)
    np.maximum.at(named, found.rows, worth * np.where(headed, 1.0, query.profile.recall.bridge_text))
    return named
