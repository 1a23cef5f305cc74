"""Memori on a database of one's own: texts kept as facts, found by its search over vectors and words.

Facts are otherwise drawn from conversations by a service of its makers; here each text is a fact, written through its
storage driver, and its search is called as its own recall does, with the harness's vectors.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate(MEMORI_TELEMETRY="0")

import sqlite3

from memori import Memori
from memori.search import search_facts

POOL = 1000  # recall_embeddings_limit, by its own default


def load(memories, vectors):
    path = protocol.folder() / "memori.db"
    connection = sqlite3.connect(path)
    memori = Memori(conn=lambda: connection, use_rust_core=False)
    memori.config.storage.build()
    driver = memori.config.storage.driver
    entity = driver.entity.create("harness")
    driver.entity_fact.create(entity, [memory.indexed for memory in memories], vectors.tolist())
    keys = {}
    for memory in memories:
        keys.setdefault(memory.indexed, memory.key)
    return driver.entity_fact, entity, keys, max(POOL, len(memories))


def search(store, text, vector, limit):
    facts, entity, keys, pool = store
    found = search_facts(facts, entity, vector.tolist(), limit, pool, query_text=text)
    return [keys[fact.content] for fact in found]


protocol.serve(load, search, versions=["memori"])
