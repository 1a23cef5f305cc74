"""Cognee: texts added and made into its knowledge graph, found by its chunk search.

Making the graph asks a language model about every text, so without one there is nothing to search.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate(TELEMETRY_DISABLED="1", ENV="local")

import asyncio

import cognee

LOOP = asyncio.new_event_loop()


def load(memories, vectors):
    LOOP.run_until_complete(made([memory.indexed for memory in memories]))
    keys = {}
    for memory in memories:
        keys.setdefault(memory.indexed, memory.key)
    return keys


async def made(texts):
    here = protocol.folder()
    cognee.config.system_root_directory(str(here / "system"))
    cognee.config.data_root_directory(str(here / "data"))
    await cognee.add(texts)
    await cognee.cognify()


def search(store, text, vector, limit):
    asked = cognee.search(query_text=text, query_type=cognee.SearchType.CHUNKS, top_k=limit)
    found = LOOP.run_until_complete(asked)
    return list(dict.fromkeys(store[hit["text"]] for hit in found if hit.get("text") in store))


protocol.serve(load, search, versions=["cognee"])
