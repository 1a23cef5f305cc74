"""How many links Ethos reads: ``WHERE from_id = ANY(…) OR to_id = ANY(…) ORDER BY weight DESC LIMIT 500``.

It reads so in each iteration. The same query over a table of its own, in SQLite, says what the activations must be.
"""

import random
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from tests.rows import each_row

from priming.config import profiles
from priming.config.params.laws import SpreadParams
from priming.core.credit import credit
from priming.core.graph import Graph
from priming.core.kernel.routes import routes
from priming.core.spread import spread

ETHOS = profiles.get("ethos")
READ = """
    SELECT from_id, to_id, weight FROM memory_graph_links
    WHERE from_id IN (SELECT id FROM active) OR to_id IN (SELECT id FROM active)
    ORDER BY weight DESC LIMIT ?
"""


def by_sql(links, anchors, limit, iterations=3, strength=0.85):
    """Activations after three iterations, each with the links that one query reads."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE memory_graph_links (from_id, to_id, weight)")
    database.execute("CREATE TABLE active (id)")
    database.executemany("INSERT INTO memory_graph_links VALUES (?, ?, ?)", links)
    activation = dict(anchors)
    for _ in range(iterations):
        database.execute("DELETE FROM active")
        database.executemany("INSERT INTO active VALUES (?)", [(node,) for node in activation])
        before = dict(activation)
        for source, target, weight in database.execute(READ, (limit,)):
            if source in before:
                arrived = before[source] * weight * strength
                activation[target] = activation.get(target, 0.0) + arrived
    database.close()
    return activation


def by_kernel(n, links, anchors, limit):
    source, target, weight = zip(*links, strict=True)
    graph = Graph.from_links(n, source, target, weight)
    ended = spread(graph, anchors, replace(ETHOS.spread, max_links=limit))
    return dict(zip(ended.rows.tolist(), ended.values.tolist(), strict=True))


def drawn(rng, n, count):
    """Links with a weight each of its own, no two between the same memories."""
    pairs = rng.sample([(a, b) for a in range(n) for b in range(n) if a != b], count)
    weights = rng.sample(range(50, 950), count)
    return [(a, b, weight / 1000) for (a, b), weight in zip(pairs, weights, strict=True)]


@each_row("seed", range(12))
@each_row("limit", [1, 4, 15, 40, 1000])
def test_the_kernel_reads_what_the_query_reads(seed, limit):
    rng = random.Random(seed)
    links = drawn(rng, 20, 60)
    anchors = {node: rng.uniform(0.2, 1.0) for node in rng.sample(range(20), 4)}
    assert by_kernel(20, links, anchors, limit) == pytest.approx(by_sql(links, anchors, limit))


def test_links_that_only_enter_what_is_active_are_read_too():
    links = [(1, 0, 0.9), (2, 0, 0.8), (0, 3, 0.5)]
    assert by_kernel(4, links, {0: 1.0}, 2) == by_sql(links, {0: 1.0}, 2) == {0: 1.0}
    assert set(by_kernel(4, links, {0: 1.0}, 3)) == {0, 3}


def test_credit_goes_to_links_that_were_read_alone():
    links = [(0, 1, 0.9), (0, 2, 0.8), (1, 2, 0.2), (0, 3, 0.1)]
    source, target, weight = zip(*links, strict=True)
    activation = spread(
        Graph.from_links(4, source, target, weight),
        {0: 1.0},
        replace(ETHOS.spread, max_links=2),
    )
    assert activation.flow is not None
    rest = routes(activation.flow, [1, 2, 3])
    assert {(int(rest.rows[u]), int(rest.rows[v])) for u, v, _ in credit(rest, rest.locals().get(2))} == {
        (0, 2)
    }
    assert [(x.source, x.target) for x in activation.flow.into(2)] == [(0, 2)] * 3
    assert activation.flow.into(3) == ()


class Places:
    """An embedder: a text that begins with "hub" is like the cue, others are like nothing."""

    dimension = 8
    generation = "places"

    def embed(self, texts):
        """One row a text."""
        rows = np.zeros((len(texts), 8), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text.startswith(("cue", "hub")):
                row[0] = 1.0 if text == "cue" else 0.5
                row[1 + int(text[-1]) if text != "cue" else 0] = 1.0 if text == "cue" else 0.75**0.5
        return rows


def test_of_two_hubs_together_the_500_strongest_links_are_read(open_memory, clock):
    memory = open_memory(profile="ethos", embedder=Places())
    memory.remember_many({"content": f"hub {i}", "key": f"hub-{i}"} for i in range(2))
    memory.remember_many(
        {"content": f"leaf {i}", "key": f"leaf-{i}", "occurred_at": clock.at} for i in range(700)
    )
    order = list(range(700))
    random.Random(5).shuffle(order)
    weights = {leaf: 0.1 + rank / 1000 for rank, leaf in enumerate(order)}
    memory.link_many(
        {"source": f"hub-{leaf % 2}", "target": f"leaf-{leaf}", "relation": "requires", "weight": weight}
        for leaf, weight in weights.items()
    )
    hits = {hit.memory.key: hit for hit in memory.recall("cue", limit=2000).hits}
    strongest = sorted(weights, key=weights.__getitem__, reverse=True)[:500]
    assert {key for key in hits if key.startswith("leaf")} == {f"leaf-{leaf}" for leaf in strongest}
    links = [(f"hub-{leaf % 2}", f"leaf-{leaf}", weight) for leaf, weight in weights.items()]
    expected = by_sql(links, {"hub-0": 0.5, "hub-1": 0.5}, 500)
    assert {key: hit.components["spread"] for key, hit in hits.items()} == pytest.approx(expected)


def test_a_link_that_is_walked_both_ways_is_one(open_memory):
    memory = open_memory(profile="ethos", embedder=Places())
    for key in ("hub-0", "hub-1", "leaf-0", "leaf-1"):
        memory.remember(key, key=key)
    memory.link("hub-0", "hub-1", "similar-to", 0.9)
    memory.link("hub-0", "leaf-0", "requires", 0.5)
    memory.link("hub-1", "leaf-1", "requires", 0.4)
    for limit, reached in ((1, set()), (2, {"leaf-0"}), (3, {"leaf-0", "leaf-1"})):
        memory.profile = replace(ETHOS, spread=replace(ETHOS.spread, max_links=limit))
        hits = {hit.memory.key: hit.components["spread"] for hit in memory.recall("cue", limit=9).hits}
        assert set(hits) - {"hub-0", "hub-1"} == reached
        assert hits["hub-0"] == hits["hub-1"] == pytest.approx(0.5 * (1 + 0.85 * 0.9) ** 3)


def test_without_a_bound_every_link_is_read():
    links = [(0, i, 0.5) for i in range(1, 700)]
    assert SpreadParams().max_links is None
    assert len(by_kernel(700, links, {0: 1.0}, None)) == 700
