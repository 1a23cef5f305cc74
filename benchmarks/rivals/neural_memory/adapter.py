"""neural-memory: spreading activation over neurons that it finds in each text by rule.

Its default configuration, with the BM25 candidates that its settings offer for exact words. A recall answers with
a text for an agent's prompt, memories in order: that order is the ranking.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

import asyncio
from datetime import datetime

from neural_memory import Brain, BrainConfig, MemoryEncoder, ReflexPipeline
from neural_memory.storage.memory_store import InMemoryStorage

LOOP = asyncio.new_event_loop()
TOKENS = 10_000


def load(memories, vectors):
    return LOOP.run_until_complete(encoded(memories))


async def encoded(memories):
    storage = InMemoryStorage()
    config = BrainConfig(embedding_enabled=False, bm25_enabled=True)
    brain = Brain.create(name="harness", config=config)
    await storage.save_brain(brain)
    storage.set_brain(brain.id)
    encoder = MemoryEncoder(storage, config)
    for memory in memories:
        when = datetime.fromisoformat(memory.occurred_at).replace(tzinfo=None) if memory.occurred_at else None
        await encoder.encode(memory.indexed, timestamp=when)
    return ReflexPipeline(storage, config), memories


def search(store, text, vector, limit):
    pipeline, memories = store
    context = LOOP.run_until_complete(recalled(pipeline, text))
    places = [(context.find(memory.indexed), memory.key) for memory in memories]
    return [key for place, key in sorted(found for found in places if found[0] >= 0)]


async def recalled(pipeline, text):
    result = await pipeline.query(text, max_tokens=TOKENS)
    await pipeline.flush_background_tasks()
    return result.context


protocol.serve(load, search, versions=["neural-memory"])
