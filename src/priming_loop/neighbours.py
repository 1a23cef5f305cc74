"""The memories that links which somebody made, or which were learned, connect with others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from priming.config.values import dataclass
from priming.config.words import REPLACED
from priming.namespace import Namespace
from priming.storage.rows import LinkRow
from priming.types import MemoryRecord

_EXCLUDED_RELATIONS = frozenset((*REPLACED, "part-of"))
"""A replaced or suppressed memory does not count as a neighbour, and a session would reach all its memories."""


@dataclass(frozen=True, slots=True)
class ReachedMemory:
    """A memory, the number of links to it, the relation of the last link, and the weakest weight on the path."""

    memory: MemoryRecord
    hop: int
    via: str
    weight: float


_LEARNED_RELATIONS = frozenset(("co-activated", "learned-from"))
"""Links that were learned from use; other links not made by hand are automatic."""


def neighbors(memory: Namespace, keys: Collection[str], *, hops: int, least: float) -> list[ReachedMemory]:
    """Return active memories within ``hops`` links of weight ``least`` or more, in either direction, nearest first.

    Only links count that somebody made, or that were learned. Among equally near memories, those with the stronger
    weakest link come first. Paths lead through names, which are not returned.
    """
    with memory.lock:
        now = memory.now()
        frontier = {memory.find(key, now).id: (1.0, "") for key in keys}
        visited = dict(frontier)
        reached: list[ReachedMemory] = []
        for hop in range(1, hops + 1):
            paths = _next_hop(memory, frontier, visited, least)
            records = memory.records(now, ids=paths)
            frontier = {i: paths[i] for i, record in records.items() if record.status == "active"}
            visited |= frontier
            new = [ReachedMemory(records[i], hop, via, weight) for i, (weight, via) in frontier.items()]
            reached += sorted(new, key=lambda neighbour: (-neighbour.weight, neighbour.memory.key))
        return [neighbour for neighbour in reached if neighbour.memory.kind != "entity"]


def _next_hop(
    memory: Namespace, frontier: dict[str, tuple[float, str]], visited: Collection[str], least: float
) -> dict[str, tuple[float, str]]:
    """Return the memories one link further: by id the best weakest weight on a path, and the last relation."""
    paths: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    signs = memory.signs()
    for link in memory.rows(LinkRow, ids=frontier):
        excluded = link.relation in _EXCLUDED_RELATIONS or signs.suppresses(link.relation)
        if link.weight < least or excluded or not (link.given or link.relation in _LEARNED_RELATIONS):
            continue
        for node, neighbour in ((link.source, link.target), (link.target, link.source)):
            if node in frontier and neighbour not in visited:
                weakest = min(frontier[node][0], link.weight)
                paths[neighbour] = max(paths[neighbour], (weakest, link.relation))
    return dict(paths)
