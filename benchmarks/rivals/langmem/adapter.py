"""LangMem without a model: its memory tools over LangGraph's in-memory store with a vector index.

A model would draw memories from conversations; here each text is one that the agent asked to remember.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate(LANGSMITH_TRACING="false")

import json

from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_search_memory_tool

PLACE = ("memories",)


def load(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)
    index = {
        "dims": known.dimension,
        "embed": lambda texts: known.many(texts).tolist(),
        "fields": ["content"],
    }
    store = InMemoryStore(index=index)
    remember = create_manage_memory_tool(PLACE, store=store)
    keys = {}
    for memory in memories:
        remember.invoke({"content": memory.indexed, "action": "create"})
        keys.setdefault(memory.indexed.strip(), memory.key)
    return create_search_memory_tool(PLACE, store=store), known, keys


def search(store, text, vector, limit):
    tool, known, keys = store
    known.tell(text, vector)
    found = tool.invoke({"query": text, "limit": limit})
    rows = json.loads(found) if isinstance(found, str) else found
    return list(dict.fromkeys(keys[row["value"]["content"].strip()] for row in rows))


protocol.serve(load, search, versions=["langmem", "langgraph-checkpoint"])
