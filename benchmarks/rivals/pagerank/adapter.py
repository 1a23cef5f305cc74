"""Personalised PageRank over names, by igraph: how HippoRAG retrieves, with names found by rule instead of a model.

Nodes are the memories and the names in them: capitalised spans of the text, and the heading. A name counts when it
is in 2 memories or more and in at most 2 % of them (10 in a small store); its link weighs 1/ln(1 + that number). The
walk restarts with probability 1/2 at the three best memories of the min-max hybrid, and with a twentieth of its score
at every other, as HippoRAG 2 does, so that memories without names keep a place.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()
import math
import re
from collections import defaultdict

import igraph
import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS

from classic import Classic

ANCHORS = 3
DAMPING = 0.5
ELSEWHERE = 0.05
RARE, SHARE, SMALL = 2, 0.02, 10
SPAN = re.compile(r"[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|la|von|van|for|and)\s+)*[A-Z][\w'’-]*)*")


class Walk(Classic):
    def __init__(self, memories, vectors):
        super().__init__(memories, vectors)
        carriers = defaultdict(list)
        for row, memory in enumerate(memories):
            for name in names(memory):
                carriers[name].append(row)
        most = max(SMALL, SHARE * len(memories))
        kept = [rows for rows in carriers.values() if RARE <= len(rows) <= most]
        links = [(row, len(memories) + node) for node, rows in enumerate(kept) for row in rows]
        weights = [1 / math.log(1 + len(rows)) for rows in kept for _ in rows]
        self.graph = igraph.Graph(n=len(memories) + len(kept), edges=links, edge_attrs={"weight": weights})

    def rank(self, text, vector):
        """Memories by PageRank from the hybrid's best."""
        hybrid = self.hybrid(text, vector)
        reset = np.zeros(self.graph.vcount())
        reset[: len(hybrid)] = ELSEWHERE * hybrid
        anchors = protocol.best(hybrid, ANCHORS)
        reset[anchors] = hybrid[anchors]
        if not reset.any():
            return hybrid
        found = self.graph.personalized_pagerank(
            damping=DAMPING, directed=False, reset=reset, weights="weight"
        )
        return np.asarray(found[: len(self.memories)])


def names(memory):
    """The capitalised spans of a memory, and its heading with and without its parenthesis, in lower case."""
    found = {span.lower() for span in SPAN.findall(memory.text)} - set(STOPWORDS_EN_PLUS)
    if memory.heading:
        found |= {memory.heading.lower(), memory.heading.split(" (")[0].lower()}
    return found


def search(store, text, vector, limit):
    return store.keys(protocol.best(store.rank(text, vector), limit))


protocol.serve(Walk, search, versions=["igraph", "bm25s", "PyStemmer", "numpy"])
