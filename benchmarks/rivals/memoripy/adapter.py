"""Memoripy: cosine with decay and reinforcement, and clusters of memories.

Its concepts come from a chat model, so there are none here, and nothing for its activation to spread over. Its
threshold is lifted, so that there are enough hits to rank.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

from memoripy import MemoryManager
from memoripy.model import ChatModel, EmbeddingModel

NONE = float("-inf")  # its scores drift with every recall: no number is below them all


class Silent(ChatModel):
    """Memoripy's seam for chat models: no concepts and no answers."""

    def invoke(self, messages):
        raise NotImplementedError("no language model")

    def extract_concepts(self, text):
        return []


class Handed(EmbeddingModel):
    """Memoripy's seam for embedders, over the harness's vectors."""

    def __init__(self, known):
        self.known = known

    def initialize_embedding_dimension(self):
        return self.known.dimension

    def get_embedding(self, text):
        return self.known.one(text)


def load(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)
    manager = MemoryManager(Silent(), Handed(known))
    for memory, vector in zip(memories, vectors, strict=True):
        manager.memory_store.add_interaction(
            {
                "id": memory.key,
                "prompt": memory.indexed,
                "output": "",
                "embedding": vector,
            }
        )
    manager.memory_store.cluster_interactions()
    return manager, known


def search(store, text, vector, limit):
    manager, known = store
    known.tell(text, vector)
    found = manager.retrieve_relevant_interactions(text, similarity_threshold=NONE)
    return list(dict.fromkeys(hit["id"] for hit in found))


protocol.serve(load, search, versions=["memoripy"])
