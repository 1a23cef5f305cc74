"""mem0 without a language model: `infer=False` keeps each text as it is, in a local Qdrant.

Its search adds keyword matches when Qdrant's BM25 encoder is there, which is fetched from a hub at first use, and
names that it found while a model extracted facts. Without either, cosine is what remains.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate(MEM0_TELEMETRY="false", MEM0_DIR="mem0")

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

USER = "harness"


class Handed(EmbeddingBase):
    """mem0's seam for embedders, over the harness's vectors."""

    def __init__(self, known):
        super().__init__()
        self.known = known

    def embed(self, text, memory_action=None):
        return self.known.one(text).tolist()


def load(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)
    here = protocol.folder()
    store = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(here / "qdrant"), "embedding_model_dims": known.dimension},
            },
            # Both are constructed and never called: infer=False needs no model, and the embedder is replaced.
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": str(here / "history.db"),
        }
    )
    store.embedding_model = Handed(known)
    for memory in memories:
        store.add(memory.indexed, user_id=USER, metadata={"key": memory.key}, infer=False)
    return store, known


def search(store, text, vector, limit):
    memory, known = store
    known.tell(text, vector)
    found = memory.search(text, filters={"user_id": USER}, top_k=limit, threshold=0.0)
    return [hit["metadata"]["key"] for hit in found["results"]]


protocol.serve(load, search, versions=["mem0ai", "qdrant-client"])
