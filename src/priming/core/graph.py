"""The graph that activation spreads over: weighted, typed links between rows 0 … n−1.

``Adjacency`` is the interface that the kernel needs of a graph: the links that touch given rows. ``Graph`` answers
from compressed sparse rows that are built once; a store may answer from something that grows.

Each row's stretch of a ``Graph`` lists the links that leave the row, then those that enter it, so that
walking both ways reads one stretch of memory and not two. Within each part the links are in one canonical
order (other end, relation, weight, age), so that sums do not depend on the order in which the links were
given, to the last bit. ``cycles`` finds the circles of links that must not form any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Codes, Floats, Ints, floats, numbers
from priming.core.arguments.checks import check_whole
from priming.errors import ParamError

DEFAULT_RELATION = "similar-to"
LARGEST_INT32 = 2**31 - 1

RADIX = 2000
"""From this number of keys on, sorting digit by digit is faster."""
ROW_DIGITS = 2
"""Digits of 16 bits that hold any row."""


class Edges(NamedTuple):
    """The links of some rows: equal-length arrays, with one element for each row and link."""

    owner: Ints
    """Position, in the rows that were asked for, of the row that owns the element; ascending."""
    neighbour: Ints
    """Row at the other end."""
    weight: Floats
    """Strength, ≥ 0."""
    relation: Codes | Ints
    """Code of the relation: a position in ``Adjacency.relations``."""
    hours: Floats
    """Hours since the link was last activated; nan or negative = it does not decay with time."""
    forward: Bools
    """True where the link is stored as leaving the owner."""

    def only(self, keep: Bools) -> Edges:
        """Return the links that ``keep`` marks, in the same order."""
        return Edges._make(column[keep] for column in self)


class Adjacency(Protocol):
    """The interface of a graph for the kernel. It has no self-loops, and must not change during a spread."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def relations(self) -> tuple[str, ...]:
        """Name of each relation code."""
        ...

    def edges(self, rows: Ints, *, both: bool) -> Edges:
        """Return the links that leave ``rows`` and, if ``both``, those that enter them, grouped by row.

        Results equal to the last bit need a fixed order of the links within each row.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A frozen graph in compressed sparse rows, walked both ways.

    Make one with :meth:`from_links`.

    Examples
    --------
    >>> graph = Graph.from_links(3, [0, 1], [1, 2], [0.5, 0.8], relation=["requires", "next"])
    >>> graph.links, graph.relations
    (2, ('next', 'requires'))
    >>> edges = graph.edges(np.array([1]), both=True)
    >>> edges.neighbour.tolist(), edges.forward.tolist()
    ([2, 0], [True, False])
    """

    n: int
    """Number of rows."""
    relations: tuple[str, ...]
    """Name of each relation code, sorted."""
    start: Ints
    """Row u's stretch is ``start[u]`` … ``start[u + 1]``; shape (n + 1,)."""
    split: Ints
    """Where, in row u's stretch, the links that enter u begin; shape (n,)."""
    neighbour: NDArray[np.int32] | Ints
    """Row at the other end; shape (2 × links,), as the three below."""
    weight: Floats
    relation: Codes
    hours: Floats | None
    """None if no link decays with time."""

    @classmethod
    def from_links(
        cls,
        n: int,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike,
        *,
        relation: Sequence[str] | None = None,
        hours: ArrayLike | None = None,
    ) -> Graph:
        """Make the graph of these links; self-loops are left out, since they carry nothing.

        Parameters
        ----------
        n : number of rows.
        source, target : rows in [0, n) at the ends of each link, shape (m,).
        weight : strength of each link, finite and ≥ 0, shape (m,).
        relation : name of each link's relation, shape (m,); None = all are ``similar-to``.
        hours : hours since each link was last activated, shape (m,); nan or negative = no temporal decay.

        Raises
        ------
        ParamError
            A row outside [0, n), a weight that is negative or not finite, or unequal lengths.

        """
        n = check_whole("n", n)
        links = _Links(
            rows_of("source", source, n),
            rows_of("target", target, n),
            _weights(weight),
            *_codes(relation, np.size(source)),
            None if hours is None else _ages(hours),
        )
        links.check()
        return links.taken(np.flatnonzero(links.source != links.target)).graph(n)

    @property
    def links(self) -> int:
        """Number of links, without self-loops."""
        return self.weight.size // 2

    def edges(self, rows: Ints, *, both: bool) -> Edges:
        """Return the links that leave ``rows`` and, if ``both``, those that enter them."""
        first, middle = self.start[rows], self.split[rows]
        count = (self.start[rows + 1] if both else middle) - first
        owner = np.repeat(np.arange(rows.size), count)
        at = np.repeat(first - (np.cumsum(count) - count), count)
        at += np.arange(at.size)
        return Edges(
            owner,
            self.neighbour.take(at).astype(np.int64, copy=False),
            self.weight.take(at),
            self.relation.take(at) if len(self.relations) > 1 else np.zeros(at.size, np.int32),
            np.full(at.size, np.nan) if self.hours is None else self.hours.take(at),
            at < np.repeat(middle, count) if both else np.ones(at.size, np.bool_),
        )


def rows_of(name: str, value: ArrayLike, n: int) -> Ints:
    """Return ``value`` as a column of rows in [0, n), or ``ParamError``."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise ParamError(name, value, "must be a sequence of rows")
    if array.size and array.dtype.kind not in "iu":
        raise ParamError(name, value, "must hold whole numbers")
    if array.size and (array.min() < 0 or array.max() >= n):
        wrong = array[(array < 0) | (array >= n)][0]
        raise ParamError(name, int(wrong), f"must be a row in [0, {n})")
    return array.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """Checked columns, one element a link, on their way into a ``Graph``."""

    source: Ints
    target: Ints
    weight: Floats
    names: tuple[str, ...]
    relation: Codes
    hours: Floats | None

    def check(self) -> None:
        """Raise unless all columns are equally long."""
        sizes = {"target": self.target.size, "weight": self.weight.size, "relation": self.relation.size}
        if self.hours is not None:
            sizes["hours"] = self.hours.size
        for name, size in sizes.items():
            if size != self.source.size:
                raise ParamError(name, size, f"must be as many as source, {self.source.size}")

    def taken(self, at: Ints) -> _Links:
        """Return the links at the positions ``at``, in that order."""
        hours = None if self.hours is None else self.hours[at]
        return _Links(self.source[at], self.target[at], self.weight[at], self.names, self.relation[at], hours)

    def order(self) -> Ints:
        """Return the canonical order: source, target, relation, weight, age."""
        ages = () if self.hours is None else (self.hours,)
        return np.lexsort((*ages, self.weight, self.relation, self.target, self.source))

    def graph(self, n: int) -> Graph:
        """Lay the links out, each twice: in the stretch of its source and in that of its target."""
        out = self.order()
        into = out[np.argsort(self.target[out], kind="stable")]
        leaving = np.bincount(self.source, minlength=n)
        entering = np.bincount(self.target, minlength=n)
        start = np.concatenate((np.zeros(1, np.int64), np.cumsum(leaving + entering)))
        split = start[:-1] + leaving
        index = np.empty(2 * out.size, np.int64)
        leaves = np.arange(out.size) + (split - np.cumsum(leaving))[self.source[out]]
        enters = np.arange(out.size) + (start[1:] - np.cumsum(entering))[self.target[into]]
        index[leaves], index[enters] = out, into
        neighbour = np.empty(index.size, np.int32) if n <= LARGEST_INT32 else np.empty_like(index)
        neighbour[leaves], neighbour[enters] = self.target[out], self.source[into]
        hours = None if self.hours is None else self.hours[index]
        return Graph(n, self.names, start, split, neighbour, self.weight[index], self.relation[index], hours)


def _weights(weight: ArrayLike) -> Floats:
    array = floats("weight", weight, low=0.0)
    if array.ndim != 1:
        raise ParamError("weight", weight, "must be a sequence of numbers")
    return array


def _ages(hours: ArrayLike) -> Floats:
    """Return ages with nan for every link that does not decay; an infinite age is refused."""
    array = numbers("hours", hours, "a sequence of numbers")
    if array.ndim != 1 or np.isinf(array).any():
        raise ParamError("hours", hours, "must be a sequence of numbers, finite or nan")
    return np.where(array < 0, np.nan, array)


def _codes(relation: Sequence[str] | None, count: int) -> tuple[tuple[str, ...], Codes]:
    """Return names in order and each link's code: canonical, since the order of arrival plays no part."""
    if relation is None:
        return (DEFAULT_RELATION,), np.zeros(count, np.int32)
    wrong = next((name for name in relation if not isinstance(name, str)), None)
    if wrong is not None or isinstance(relation, str):
        raise ParamError("relation", relation if wrong is None else wrong, "must hold one name a link")
    names = tuple(sorted(set(relation)))
    code = {name: i for i, name in enumerate(names)}
    return names, np.fromiter((code[name] for name in relation), np.int32, len(relation))


def among(values: Ints, members: Ints) -> Bools:
    """Mark those of ``values`` that are in ``members``, which ascends."""
    if not members.size:
        return np.zeros(values.size, np.bool_)
    at = np.minimum(np.searchsorted(members, values), members.size - 1)
    matching: Bools = members[at] == values
    return matching


def in_order(keys: Ints, *, digits: int = ROW_DIGITS) -> Ints:
    """Return the stable ascending order of keys of one sign: digits of 16 bits, which numpy sorts by radix."""
    if keys.size < RADIX:
        return np.argsort(keys, kind="stable")
    order = np.arange(keys.size)
    for digit in range(digits):
        part = (keys >> (16 * digit)).astype(np.uint16)
        order = order[np.argsort(part[order], kind="stable")]
    return order


Successors = Mapping[str, Sequence[str]]


def cycles(links: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the shortest cycle through the first node of each strongly connected component (Kosaraju's algorithm).

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
    """Return the strongly connected components: searches along predecessors, from the nodes in reverse postorder."""
    visited: set[str] = set()
    order = [node for start in successors for node in _postorder(start, successors, visited)]
    visited = set()
    components = [set(_postorder(start, predecessors, visited)) for start in reversed(order)]
    return [nodes for nodes in components if nodes]


def _postorder(start: str, successors: Successors, visited: set[str]) -> list[str]:
    """Return the nodes that a depth-first search from ``start`` visits newly, each after all its successors."""
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
    """Return the shortest path from ``start`` back to itself among ``nodes``, by a breadth-first search."""
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
