"""Circles in directed links: where following them comes back to the start."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

Ahead = Mapping[str, Sequence[str]]


def rings(links: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Of each set of nodes that lead to one another the shortest way round its first node, without its return.

    The cost is linear in the links. A link from a node to itself is no circle.

    >>> rings([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])
    [('b', 'c')]
    """
    ahead: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for source, target in sorted(set(links)):
        if source != target:
            ahead.setdefault(source, []).append(target)
            behind.setdefault(target, []).append(source)
    return [_way_round(min(nodes), nodes, ahead) for nodes in _components(ahead, behind) if len(nodes) > 1]


def _components(ahead: Ahead, behind: Ahead) -> list[set[str]]:
    """Sets of nodes that lead to one another: what is reached backwards, latest finished first."""
    met: set[str] = set()
    finished = [node for start in ahead for node in _reached(start, ahead, met)]
    met = set()
    found = [set(_reached(start, behind, met)) for start in reversed(finished)]
    return [nodes for nodes in found if nodes]


def _reached(start: str, ahead: Ahead, met: set[str]) -> list[str]:
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


def _way_round(start: str, nodes: set[str], ahead: Ahead) -> tuple[str, ...]:
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
