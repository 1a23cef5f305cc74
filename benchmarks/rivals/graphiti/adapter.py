"""Graphiti: each text as an episode of its temporal graph, in an embedded Kuzu, found by its hybrid search.

A language model draws entities and edges from every episode, so without one it cannot take the first text.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate(GRAPHITI_TELEMETRY_ENABLED="false")

import asyncio
from datetime import UTC, datetime

from graphiti_core import Graphiti
from graphiti_core.driver.kuzu_driver import KuzuDriver

LOOP = asyncio.new_event_loop()


def load(memories, vectors):
    graph = Graphiti(graph_driver=KuzuDriver(db=str(protocol.folder() / "graph.kuzu")))
    LOOP.run_until_complete(told(graph, memories))
    return graph


async def told(graph, memories):
    await graph.build_indices_and_constraints()
    for memory in memories:
        when = datetime.fromisoformat(memory.occurred_at) if memory.occurred_at else datetime.now(UTC)
        await graph.add_episode(
            name=memory.key, episode_body=memory.indexed, source_description="memory", reference_time=when
        )


def search(store, text, vector, limit):
    found = LOOP.run_until_complete(store.search_(text))
    return [episode.name for episode in found.episodes][:limit]


protocol.serve(load, search, versions=["graphiti-core"])
