"""Spreading activation against a dict engine, igraph and networkx.

Pruned: 10 anchors, 3 hops, epsilon .001, the 1,000 strongest nodes kept after each step; a random graph of
15 links a node, walked both ways. The dict engine does the same work (values, distance and origin, sorted) in
plain Python over lists of (neighbour, weight); results are compared before anything is timed. Its lists are
made only for the rows that some spread emits from, which is to its advantage: less memory to reach into.

Full: the same without epsilon and limit, so that 3 hops reach nearly every node.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import igraph
import networkx as nx
import numpy as np
from networkx.algorithms.link_analysis import pagerank_alg

from common import Row, arguments, medians, show, write
from priming.config.params.laws import SpreadParams
from priming.core.credit import strongest_paths
from priming.core.graph import Graph
from priming.core.spread import spread

LINKS_A_NODE = 15
ANCHORS = 10
PRUNED = SpreadParams(steps=3, max_nodes=1000)
FULL = SpreadParams(steps=3, epsilon=0.0)
SEED = 7

Anchors = dict[int, float]
Lists = dict[int, list[tuple[int, float]]]
Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def main() -> None:
    options = arguments(__doc__.partition("\n")[0]).parse_args()
    sizes = (10_000, 30_000, 100_000) if options.quick else (10_000, 100_000, 1_000_000)
    runs = 40 if options.quick else 200
    rows: list[Row] = []
    by_size = {}
    for n in sizes:
        graph = Graph.from_links(n, *random_links(n))
        inputs = random_anchors(n, runs)
        by_size[n] = pruned(graph, inputs, dicts=n == sizes[-1])
    largest = by_size[sizes[-1]]
    title = f"pruned, {sizes[-1]:,} nodes / {sizes[-1] * LINKS_A_NODE:,} links"
    rows += [
        Row(f"{title}, numpy", largest["numpy"], largest["dict"], 4, "dict engine"),
        Row(
            "the same, numpy",
            largest["numpy"],
            largest["dict, values alone"],
            None,
            "dict engine, values alone",
        ),
    ]
    what, before = f"growth of a pruned spread, {sizes[0]:,} → {sizes[-1]:,}", by_size[sizes[0]]["numpy"]
    rows.append(Row(what, largest["numpy"], before, 2, f"{sizes[0]:,} nodes", growth=True))
    what = "… and walking ten of them back, numpy"
    rows.append(Row(what, largest["numpy, ten paths"], largest["numpy"], None, "without", growth=True))
    rows += full(20_000 if options.quick else 100_000, 10 if options.quick else 30)
    show("Spreading activation", rows)
    print(
        write(
            "spread",
            rows,
            packages=("igraph", "networkx"),
            quick=options.quick,
            milliseconds=by_size,
        )
    )


def random_links(n: int) -> Columns:
    rng = np.random.default_rng(SEED)
    count = n * LINKS_A_NODE
    return rng.integers(0, n, count), rng.integers(0, n, count), rng.uniform(0.1, 1.0, count)


def random_anchors(n: int, runs: int) -> list[Anchors]:
    rng = np.random.default_rng(SEED + 1)
    return [
        dict(
            zip(
                rng.choice(n, ANCHORS, replace=False).tolist(),
                rng.dirichlet([3.0] * ANCHORS).tolist(),
                strict=True,
            )
        )
        for _ in range(runs)
    ]


# ── pruned ──────────────────────────────────────────────────────────────────────────────────────────────────


def pruned(graph: Graph, inputs: Sequence[Anchors], *, dicts: bool) -> dict[str, float]:
    """Median milliseconds of each engine."""
    cases: dict[str, Callable[[Anchors], Any]] = {
        "numpy": lambda anchors: spread(graph, anchors, PRUNED),
        "numpy, ten paths": partial(ten_paths, graph),
    }
    if dicts:
        lists = lists_of(graph, inputs)
        check(graph, lists, inputs[:5])
        cases["dict"] = lambda anchors: dict_spread(lists, anchors, PRUNED)
        cases["dict, values alone"] = lambda anchors: dict_values(lists, anchors, PRUNED)
    return medians(cases, inputs)


def ten_paths(graph: Graph, anchors: Anchors) -> None:
    found = spread(graph, anchors, PRUNED)
    strongest_paths(found.flow, found.rows[ANCHORS : 2 * ANCHORS].tolist())


def lists_of(graph: Graph, inputs: Sequence[Anchors]) -> Lists:
    """The lists of all rows that the spreads from ``inputs`` emit from."""
    emit: set[int] = set()
    for anchors in inputs:
        flow = spread(graph, anchors, PRUNED).flow
        for step in range(flow.steps):
            emit.update(row for row, value in flow.values(step).items() if value >= PRUNED.epsilon)
    lists: Lists = {}
    for row in emit:
        edges = graph.edges(np.array([row]), both=True)
        lists[row] = list(zip(edges.neighbour.tolist(), edges.weight.tolist(), strict=True))
    return lists


def dict_spread(lists: Lists, anchors: Anchors, params: SpreadParams) -> list[tuple[int, float, int, int]]:
    """The ``priming`` form of the equation in plain Python: (row, value, distance, origin), sorted."""
    a = anchors
    whence = {row: (0, row) for row in anchors}
    for _ in range(params.steps):
        after = {row: params.restart * value for row, value in anchors.items()}
        fullest: dict[int, tuple[float, int, int]] = {}
        for u, value in a.items():
            if value < params.epsilon:
                continue
            links = lists[u]
            scale = value * params.gain / sum([w for _, w in links])
            hops, origin = whence[u]
            for v, w in links:
                amount = scale * w
                after[v] = after.get(v, 0.0) + amount
                if v not in whence and (v not in fullest or (amount, -origin) > fullest[v][:2]):
                    fullest[v] = (amount, -origin, hops + 1)
        for v, (_, origin, hops) in fullest.items():
            whence[v] = (hops, -origin)
        a = strongest(after, params.max_nodes)
    return [(row, value, *whence[row]) for row, value in sorted(a.items(), key=by_value)]


def dict_values(lists: Lists, anchors: Anchors, params: SpreadParams) -> list[tuple[int, float]]:
    """The same without distance and origin, which the kernels cannot leave out."""
    a = anchors
    for _ in range(params.steps):
        after = {row: params.restart * value for row, value in anchors.items()}
        for u, value in a.items():
            if value < params.epsilon:
                continue
            links = lists[u]
            scale = value * params.gain / sum([w for _, w in links])
            for v, w in links:
                after[v] = after.get(v, 0.0) + scale * w
        a = strongest(after, params.max_nodes)
    return sorted(a.items(), key=by_value)


def by_value(entry: tuple[int, float]) -> tuple[float, int]:
    return -entry[1], entry[0]


def strongest(a: dict[int, float], limit: int | None) -> dict[int, float]:
    """The ``limit`` strongest, ties by row; by a threshold, which beats sorting the entries."""
    if limit is None or len(a) <= limit:
        return a
    least = sorted(a.values())[-limit]
    kept = {row: value for row, value in a.items() if value > least}
    equal = heapq.nsmallest(limit - len(kept), (row for row, value in a.items() if value == least))
    return kept | dict.fromkeys(equal, least)


def check(graph: Graph, lists: Lists, inputs: Sequence[Anchors]) -> None:
    """All engines answer alike."""
    for anchors in inputs:
        expected = dict_spread(lists, anchors, PRUNED)
        found = spread(graph, anchors, PRUNED)
        assert found.rows.tolist() == [entry[0] for entry in expected]
        assert np.allclose(found.values, [entry[1] for entry in expected], rtol=1e-9)
        assert found.distance.tolist() == [entry[2] for entry in expected]
        assert found.origin.tolist() == [entry[3] for entry in expected]


# ── full ────────────────────────────────────────────────────────────────────────────────────────────────────


def full(n: int, runs: int) -> list[Row]:
    """A spread without pruning against personalised PageRank, walking both ways and out alone."""
    source, target, weight = random_links(n)
    graph = Graph.from_links(n, source, target, weight)
    rows = []
    for direction in ("both", "out"):
        params = dataclasses.replace(FULL, direction=direction)
        network = igraph.Graph(n, np.column_stack((source, target)), directed=direction == "out")
        network.es["weight"] = weight
        taken = medians(
            {
                "ours": lambda anchors, params=params: spread(graph, anchors, params),
                "igraph": lambda anchors, network=network: network.personalized_pagerank(
                    reset=reset(n, anchors), damping=FULL.gain, weights="weight"
                ),
            },
            random_anchors(n, runs),
            warm_up=1,
        )
        slow = networkx_seconds(
            n, (source, target, weight), random_anchors(n, 1)[0], directed=direction == "out"
        )
        what = f"full, {direction}, {n:,} nodes / {n * LINKS_A_NODE:,} links"
        rows.append(Row(what, taken["ours"], taken["igraph"], 100, "igraph, personalised PageRank"))
        rows.append(Row(what, taken["ours"], slow * 1000, 3000, "networkx (Python form), one run"))
    return rows


def reset(n: int, anchors: Anchors) -> list[float]:
    weights = [0.0] * n
    for row, value in anchors.items():
        weights[row] = value
    return weights


def networkx_seconds(n: int, columns: Columns, anchors: Anchors, *, directed: bool) -> float:
    """One run of networkx's own PageRank, which needs no scipy; parallel links are summed first."""
    network = nx.DiGraph() if directed else nx.Graph()
    network.add_nodes_from(range(n))
    for u, v, w in zip(*(column.tolist() for column in columns), strict=True):
        before = network.get_edge_data(u, v, {"weight": 0.0})["weight"]
        network.add_edge(u, v, weight=before + w)
    began = time.perf_counter()
    ranks = pagerank_alg._pagerank_python(network, alpha=FULL.gain, personalization=anchors)
    taken = time.perf_counter() - began
    assert math.isclose(sum(ranks.values()), 1.0, rel_tol=1e-3)
    return taken


if __name__ == "__main__":
    main()
