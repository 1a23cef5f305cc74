"""Circles in directed links: where following them comes back to the start."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from priming.config.params.laws import SUPPRESSING
from priming.maintenance.merge import REPLACED
from priming.namespace import Namespace
from priming.types import MemoryRecord

Successors = Mapping[str, Sequence[str]]


def cycles(links: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Of each set of nodes that lead to one another the shortest way round its first node, without its return.

    The cost is linear in the links. A link from a node to itself is no circle.

    >>> cycles([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])
    [('b', 'c')]
    """
    ahead: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for source, target in sorted(set(links)):
        if source != target:
            ahead.setdefault(source, []).append(target)
            behind.setdefault(target, []).append(source)
    return [_way_round(min(nodes), nodes, ahead) for nodes in _components(ahead, behind) if len(nodes) > 1]


def _components(ahead: Successors, behind: Successors) -> list[set[str]]:
    """Sets of nodes that lead to one another: what is reached backwards, latest finished first."""
    met: set[str] = set()
    finished = [node for start in ahead for node in _reached(start, ahead, met)]
    met = set()
    found = [set(_reached(start, behind, met)) for start in reversed(finished)]
    return [nodes for nodes in found if nodes]


def _reached(start: str, ahead: Successors, met: set[str]) -> list[str]:
    """Nodes that links lead to from ``start`` and that were not met, each after all that it leads to."""
    if start in met:
        return []
    met.add(start)
    finished, way = [], [(start, iter(ahead.get(start, ())))]
    while way:
        node, onward = way[-1]
        following = next((one for one in onward if one not in met), None)
        if following is None:
            finished.append(node)
            way.pop()
        else:
            met.add(following)
            way.append((following, iter(ahead.get(following, ()))))
    return finished


def _way_round(start: str, nodes: set[str], ahead: Successors) -> tuple[str, ...]:
    """The shortest way from ``start`` back to it among ``nodes``."""
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while start not in came_from:
        node = waiting.popleft()
        for following in ahead[node]:
            if following in nodes and following not in came_from:
                came_from[following] = node
                waiting.append(following)
    way = [came_from[start]]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


_NOT_WALKED = frozenset((*SUPPRESSING, *REPLACED, "part-of"))
"""What is replaced or suppressed says nothing of the other end, and a session leads to all that was said in it."""


@dataclass(frozen=True, slots=True)
class ReachedMemory:
    """A memory, over how many links it was reached, by which relation at last, and the weakest link on the way."""

    memory: MemoryRecord
    hop: int
    via: str
    weight: float


def neighbors(memory: Namespace, keys: Collection[str], *, hops: int, least: float) -> list[ReachedMemory]:
    """Active memories within ``hops`` links of weight ``least`` or more, in either direction; the nearest first.

    Among those as near, the one with the stronger weakest link comes first. Names lead on, but are not returned.
    """
    with memory.lock:
        memory.require_exists()
        now = memory.now()
        start = [memory.find(key, now).id for key in keys]
        met = dict.fromkeys(start, 1.0)
        found: list[ReachedMemory] = []
        front = met
        for hop in range(1, hops + 1):
            ahead = _ahead(memory, front, met.keys(), least)
            records = memory.store.records(memory.namespace, ahead, now)
            active = {
                one: records[one] for one in ahead if one in records and records[one].status == "active"
            }
            front = {one: ahead[one][0] for one in active}
            met |= front
            fresh = [ReachedMemory(there, hop, ahead[one][1], ahead[one][0]) for one, there in active.items()]
            found += sorted(fresh, key=lambda one: (-one.weight, one.memory.key))
        return [one for one in found if one.memory.kind != "entity"]


def _ahead(
    memory: Namespace, front: dict[str, float], met: Collection[str], least: float
) -> dict[str, tuple[float, str]]:
    """What one more link leads to: by id the strongest of the weakest links on the way, and its relation."""
    ahead: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    for link in memory.store.links(memory.namespace, front) if front else ():
        if link.weight < least or link.relation in _NOT_WALKED:
            continue
        for here, there in ((link.source, link.target), (link.target, link.source)):
            if here in front and there not in met:
                weakest = min(front[here], link.weight)
                ahead[there] = max(ahead[there], (weakest, link.relation))
    return dict(ahead)
