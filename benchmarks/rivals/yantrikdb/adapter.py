"""YantrikDB, embedded: vector, word and entity lanes, scored with recency and decay by its own formula.

It asks for 40 and keeps the best of them, since its documentation calls 40 load-bearing, and recalls without
reinforcing, so that every question meets the same store.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

from datetime import datetime

from yantrikdb import YantrikDB

POOL = 40


def load(memories, vectors):
    store = YantrikDB(str(protocol.folder() / "memory.db"), embedding_dim=vectors.shape[1])
    keys = {}
    for memory, vector in zip(memories, vectors, strict=True):
        when = datetime.fromisoformat(memory.occurred_at).timestamp() if memory.occurred_at else None
        rid = store.record(memory.indexed, embedding=vector.tolist(), created_at=when)
        keys[rid] = memory.key
    return store, keys


def search(store, text, vector, limit):
    memory, keys = store
    found = memory.recall(
        query=text,
        query_embedding=vector.tolist(),
        top_k=max(POOL, limit),
        expand_entities=True,
        skip_reinforce=True,
    )
    return list(dict.fromkeys(keys[hit["rid"]] for hit in found if hit["rid"] in keys))


protocol.serve(load, search, versions=["yantrikdb"])
