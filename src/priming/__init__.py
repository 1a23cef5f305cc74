"""Associative memory for AI agents: recall by spreading activation, with the path that led to each memory.

>>> from priming import Memory
>>> with Memory.open("sqlite://") as memory:
...     _ = memory.remember("The deploy failed because the disk was full.", session="monday")
...     _ = memory.remember("Then we cleaned the build cache.", session="monday")
...     hits = memory.recall("what did we clean after the deploy failed").hits
...     [(hit.memory.key, hit.distance) for hit in hits]
[('the-deploy-failed-because-the-disk', 0), ('then-we-cleaned-the-build-cache', 1)]
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    __version__: str

__all__ = [
    "AgentError",
    "BenchError",
    "Busy",
    "CommandAgent",
    "Conflict",
    "Corrupt",
    "Cue",
    "EmbedderError",
    "EndpointAgent",
    "FixedClock",
    "HashedEmbedder",
    "Hit",
    "Link",
    "Memory",
    "MemoryRecord",
    "MissingExtra",
    "NotFound",
    "Operation",
    "ParamError",
    "PrimingError",
    "Recall",
    "Remembered",
    "SchemaTooNew",
    "ScriptedAgent",
    "StoreError",
]

_HOMES = {
    "Memory": "priming.memory",
    "HashedEmbedder": "priming.embedding.protocol",
    "CommandAgent": "priming.llm.agents",
    "EndpointAgent": "priming.llm.agents",
    "ScriptedAgent": "priming.llm.protocol",
    "Cue": "priming.types",
    "Hit": "priming.results",
    "Link": "priming.types",
    "MemoryRecord": "priming.types",
    "Operation": "priming.types",
    "Recall": "priming.results",
    "Remembered": "priming.results",
    "FixedClock": "priming.types",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import priming`` stays instant."""
    if name == "__version__":
        from priming.config.variables import VERSION

        return VERSION
    if name == "params":
        return import_module("priming.config.params")
    if name not in __all__:
        raise AttributeError(f"module 'priming' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "priming.errors")), name)
