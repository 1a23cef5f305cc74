"""hebbmem: cosine seeds, activation spread over similarity links that Hebbian learning strengthens.

Its default configuration. After each recall comes one step of its clock, as its documentation shows.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

from hebbmem import HebbMem
from hebbmem.encoders import EncoderBackend


class Handed(EncoderBackend):
    """hebbmem's seam for encoders, over the harness's vectors."""

    def __init__(self, known):
        self.known = known

    @property
    def dimension(self):
        return self.known.dimension

    def encode(self, text):
        return self.known.one(text)

    def encode_batch(self, texts):
        return self.known.many(texts)


def load(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)
    store = HebbMem(encoder=Handed(known))
    store.store_batch(
        [memory.indexed for memory in memories], metadata=[{"key": memory.key} for memory in memories]
    )
    return store, known


def search(store, text, vector, limit):
    memory, known = store
    known.tell(text, vector)
    found = memory.recall(text, top_k=limit)
    memory.step()
    return [hit.metadata["key"] for hit in found]


protocol.serve(load, search, versions=["hebbmem"])
