"""txtai with its graph: hybrid search answers with a part of its semantic graph, ordered by centrality.

The order is the one that its documentation reads a graph search in.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

from txtai import Embeddings


def load(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)

    def transform(texts):
        return known.many(texts)

    store = Embeddings(
        method="external", transform=transform, hybrid=True, content=True, graph={"approximate": False}
    )
    store.index([(memory.key, memory.indexed, None) for memory in memories])
    return store, known


def search(store, text, vector, limit):
    embeddings, known = store
    known.tell(text, vector)
    graph = embeddings.search(text, limit, graph=True)
    return [graph.attribute(node, "id") for node in graph.centrality()]


protocol.serve(load, search, versions=["txtai", "networkx", "faiss-cpu"])
