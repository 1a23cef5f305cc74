"""txtai's hybrid search: its own BM25 beside dense vectors, by its external-vectors method."""

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

    store = Embeddings(method="external", transform=transform, hybrid=True, content=True)
    store.index([(memory.key, memory.indexed, None) for memory in memories])
    return store, known


def search(store, text, vector, limit):
    embeddings, known = store
    known.tell(text, vector)
    return [hit["id"] for hit in embeddings.search(text, limit)]


protocol.serve(load, search, versions=["txtai", "faiss-cpu"])
