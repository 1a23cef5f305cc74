"""The graph of a namespace: links that are added, changed, removed and compacted."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priming.index.topology import Topology, WeightCache

RELATIONS = ("next", "mentions", "similar-to", "requires")
ROWS = 8


def empty(rows=ROWS):
    topology = Topology()
    for _ in range(rows):
        topology.add_row()
    return topology


def links(topology, *, inward=False):
    """All living links by their ends and relation, with their weights, as they are gathered."""
    rows = np.arange(topology.rows)
    owner, numbers = topology.gather(rows, inward=inward)
    ends = (topology.target if inward else topology.source)[numbers]
    assert ends.tolist() == rows[owner].tolist()
    columns = (topology.source, topology.target, topology.relation, topology.weight)
    values = zip(*(column[numbers].tolist() for column in columns), strict=True)
    return {(source, target, topology.relations[code]): weight for source, target, code, weight in values}


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_links_that_come_and_go_are_those_of_a_plain_dictionary(seed):
    rng, topology, plain = random.Random(seed), empty(), {}
    for _ in range(60):
        a, b = rng.sample(range(ROWS), 2)
        relation = rng.choice(RELATIONS)
        change = rng.random()
        if change < 0.6:
            weight = round(rng.random(), 3)
            topology.put(a, b, relation, weight, explicit=True, activated=0.0)
            plain[a, b, relation] = weight
        elif change < 0.8:
            topology.drop(a, b, relation)
            plain.pop((a, b, relation), None)
        elif change < 0.85:
            topology.drop_row(a)
            plain = {link: weight for link, weight in plain.items() if a not in link[:2]}
        elif change < 0.95:
            topology.compact()
        elif (a, b, relation) not in plain:
            topology.extend([(a, b, relation, 0.5, True, 0.0)])
            plain[a, b, relation] = 0.5
    assert links(topology) == links(topology, inward=True) == plain
    mentioned = [sum(r == "mentions" and b == row for _, b, r in plain) for row in range(ROWS)]
    assert topology.mentioned.values.tolist() == mentioned
    pairs = {frozenset(ends) for *ends, relation in plain if relation == "requires"}
    joined = topology.between(np.arange(ROWS)[::-1], "requires")[::-1, ::-1]
    assert joined.tolist() == [[{a, b} in pairs for b in range(ROWS)] for a in range(ROWS)]
    for a, b, relation in plain:
        assert topology.find(a, b, relation) is not None
    assert topology.find(0, 0, "next") is None


def test_many_links_are_compacted_and_stay():
    topology = empty(3000)
    for row in range(2999):
        topology.extend([(row, row + 1, "next", 0.5, False, 0.0), (row + 1, row, "x", 0.25, False, 0.0)])
    assert len(topology.base[0][1]) > 0
    assert len(links(topology)) == 2 * 2999
    assert sum(links(topology).values()) == pytest.approx(2999 * 0.75)


def test_a_link_that_is_put_again_is_changed_and_not_doubled():
    topology = empty(2)
    topology.put(0, 1, "next", 0.5, explicit=True, activated=0.0)
    topology.put(0, 1, "next", 0.75, explicit=False, activated=60.0)
    assert links(topology) == {(0, 1, "next"): 0.75}
    link = topology.find(0, 1, "next")
    assert (topology.explicit[link], topology.activated[link]) == (False, 60.0)


def test_a_relation_is_known_once_a_link_has_it():
    topology = empty(2)
    assert not topology.has_relation("next")
    topology.put(0, 1, "next", 0.5, explicit=True, activated=0.0)
    assert topology.has_relation("next")


def test_weighed_links_are_cached_only_after_several_requests_without_a_change():
    cache, weighings = WeightCache(), []

    def weigh():
        weighings.append("all links")
        return "all links"

    assert [cache.get(("a",), weigh) for _ in range(6)] == [None] * 4 + ["all links"] * 2
    assert len(weighings) == 1
    cache.clear()
    assert cache.get(("a",), weigh) is None
