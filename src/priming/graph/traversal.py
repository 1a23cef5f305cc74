"""Walks over links: cycles in directed links, and the memories within a number of links."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from priming.config.values import dataclass
from priming.config.words import REPLACED
from priming.namespace import Namespace
from priming.storage.rows import LinkRow
from priming.types import MemoryRecord

Successors = Mapping[str, Sequence[str]]


def cycles(links: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The shortest cycle through the first node of each strongly connected component (Kosaraju's algorithm).

    A cycle does not repeat its first node. The cost is linear in the links. A link from a node to itself is no cycle.

    >>> cycles([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])
    [('b', 'c')]
    """
    successors: dict[str, list[str]] = {}
    predecessors: dict[str, list[str]] = {}
    for source, target in sorted(set(links)):
        if source != target:
            successors.setdefault(source, []).append(target)
            predecessors.setdefault(target, []).append(source)
    components = _components(successors, predecessors)
    return [_shortest_cycle(min(nodes), nodes, successors) for nodes in components if len(nodes) > 1]


def _components(successors: Successors, predecessors: Successors) -> list[set[str]]:
    """The strongly connected components: searches along predecessors, from the nodes in reverse postorder."""
    visited: set[str] = set()
    order = [node for start in successors for node in _postorder(start, successors, visited)]
    visited = set()
    components = [set(_postorder(start, predecessors, visited)) for start in reversed(order)]
    return [nodes for nodes in components if nodes]


def _postorder(start: str, successors: Successors, visited: set[str]) -> list[str]:
    """The nodes that a depth-first search from ``start`` visits newly, each after all its successors."""
    if start in visited:
        return []
    visited.add(start)
    order, stack = [], [(start, iter(successors.get(start, ())))]
    while stack:
        node, remaining = stack[-1]
        successor = next((candidate for candidate in remaining if candidate not in visited), None)
        if successor is None:
            order.append(node)
            stack.pop()
        else:
            visited.add(successor)
            stack.append((successor, iter(successors.get(successor, ()))))
    return order


def _shortest_cycle(start: str, nodes: set[str], successors: Successors) -> tuple[str, ...]:
    """The shortest path from ``start`` back to itself among ``nodes``, by a breadth-first search."""
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while start not in came_from:
        node = waiting.popleft()
        for successor in successors[node]:
            if successor in nodes and successor not in came_from:
                came_from[successor] = node
                waiting.append(successor)
    path = [came_from[start]]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))


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


def neighbors(
    memory: Namespace, keys: Collection[str], *, hops: int, least: float, automatic: bool = True
) -> list[ReachedMemory]:
    """Active memories within ``hops`` links of weight ``least`` or more, in either direction, the nearest first.

    Among equally near memories, those with the stronger weakest link come first. Paths lead through names, which are
    not returned. Without ``automatic``, only links count that somebody made, or that were learned.
    """
    with memory.lock:
        now = memory.now()
        start = [memory.find(key, now).id for key in keys]
        visited = dict.fromkeys(start, 1.0)
        reached: list[ReachedMemory] = []
        frontier = visited
        for hop in range(1, hops + 1):
            paths = _next_hop(memory, frontier, visited.keys(), least, automatic)
            records = memory.store.records(memory.namespace, now, ids=paths)
            active = [record for record in records.values() if record.status == "active"]
            frontier = {record.id: paths[record.id][0] for record in active}
            visited |= frontier
            new = [
                ReachedMemory(record, hop, relation, weight)
                for record in active
                for weight, relation in (paths[record.id],)
            ]
            reached += sorted(new, key=lambda neighbour: (-neighbour.weight, neighbour.memory.key))
        return [neighbour for neighbour in reached if neighbour.memory.kind != "entity"]


def _next_hop(
    memory: Namespace, frontier: dict[str, float], visited: Collection[str], least: float, automatic: bool
) -> dict[str, tuple[float, str]]:
    """The memories that are one link further: by id the best weakest weight on a path, and the last relation."""
    paths: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    signs = memory.signs()
    for link in memory.store.rows(memory.namespace, LinkRow, ids=frontier) if frontier else ():
        excluded = link.relation in _EXCLUDED_RELATIONS or signs.suppresses(link.relation)
        if link.weight < least or excluded:
            continue
        if not (automatic or link.given or link.relation in _LEARNED_RELATIONS):
            continue
        for node, neighbour in ((link.source, link.target), (link.target, link.source)):
            if node in frontier and neighbour not in visited:
                weakest = min(frontier[node], link.weight)
                paths[neighbour] = max(paths[neighbour], (weakest, link.relation))
    return dict(paths)
