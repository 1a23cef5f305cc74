"""LangGraph's store on SQLite with its vector index: one item a memory, its text embedded.

The store takes an embedding function only: it gets one that knows the harness's vectors by text.
The field to embed is named with each item, since this release does not read the `fields` of its index configuration.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()
protocol.sqlite_with_extensions()

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

PLACE = ("memories",)


def load(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)
    index = {"dims": known.dimension, "embed": lambda texts: known.many(texts).tolist()}
    opened = SqliteStore.from_conn_string(str(protocol.folder() / "store.db"), index=index)
    store = opened.__enter__()
    store.setup()
    store.batch([PutOp(PLACE, memory.key, {"text": memory.indexed}, index=["text"]) for memory in memories])
    return store, known, opened


def search(store, text, vector, limit):
    items, known, _ = store
    known.tell(text, vector)
    return [item.key for item in items.search(PLACE, query=text, limit=limit)]


protocol.serve(load, search, versions=["langgraph-checkpoint-sqlite", "langgraph-checkpoint", "sqlite-vec"])
