"""How a profile weighs the links that one recall spreads over."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config import profiles
from priming.config.params.recall import LinkFactors
from priming.index.topology import WEIGHED_AFTER, Topology
from priming.index.weighted_graph import WeightedGraph

RELATIONS = ("next", "mentions", "similar-to", "requires")
ROWS = 8


def nobody(rows):
    return np.full(len(rows), -1)


def none(rows):
    return np.zeros(len(rows), np.bool_)


def no_pair(rows, _):
    return none(rows)


def weighed(
    topology,
    factors=None,
    headings=nobody,
    documents=8,
    now=0.0,
    titled=none,
    spoken=no_pair,
):
    working = SimpleNamespace(
        topology=topology,
        memories=documents,
        title_entity_of=headings,
        is_own_speaker=spoken,
        titled=titled,
        is_common_compound=lambda rows, _: none(rows),
        is_turn=none,
    )
    profile = replace(profiles.PRIMING, links=factors or LinkFactors())
    return WeightedGraph(working, profile, datetime.fromtimestamp(now, UTC))


def of_rows(count=ROWS):
    topology = Topology()
    for _ in range(count):
        topology.add_row()
    return topology


def walked(edges, rows):
    columns = (edges.owner, edges.neighbour, edges.weight, edges.relation, edges.forward)
    return sorted(
        (int(rows[o]), int(n), round(float(w), 9), int(r), bool(f))
        for o, n, w, r, f in zip(*columns, strict=True)
    )


@given(st.integers(0, 10**6))
def test_links_that_come_and_go_are_those_of_a_plain_dictionary(seed):
    rng, topology, plain = random.Random(seed), of_rows(), {}
    for _ in range(60):
        a, b = rng.sample(range(ROWS), 2)
        relation = rng.choice(RELATIONS)
        deed = rng.random()
        if deed < 0.6:
            weight = round(rng.random(), 3)
            topology.put(a, b, relation, weight, explicit=True, activated=0.0)
            plain[a, b, relation] = weight
        elif deed < 0.8:
            topology.drop(a, b, relation)
            plain.pop((a, b, relation), None)
        elif deed < 0.85:
            topology.drop_row(a)
            plain = {link: weight for link, weight in plain.items() if a not in link[:2]}
        elif deed < 0.95:
            topology.compact()
        elif (a, b, relation) not in plain:
            topology.extend([(a, b, relation, 0.5, True, 0.0)])
            plain[a, b, relation] = 0.5
    rows = np.arange(ROWS)
    codes = {relation: topology.code(relation) for relation in RELATIONS}
    out = [(a, b, w, codes[r], True) for (a, b, r), w in plain.items()]
    back = [(b, a, w, codes[r], False) for (a, b, r), w in plain.items()]
    graph = weighed(topology)
    assert walked(graph.edges(rows, both=False), rows) == sorted(out)
    assert walked(graph.edges(rows, both=True), rows) == sorted(out + back)
    mentioned = [sum(r == "mentions" and b == row for _, b, r in plain) for row in rows]
    assert topology.mentioned.values.tolist() == mentioned
    for a, b, relation in plain:
        assert topology.find(a, b, relation) is not None
    assert topology.find(0, 0, "next") is None


def test_edges_stand_in_the_order_of_the_rows_asked_for():
    topology = of_rows(4)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
        topology.put(a, b, "next", 0.5, explicit=False, activated=0.0)
    edges = weighed(topology).edges(np.array([2, 0]), both=False)
    assert edges.owner.tolist() == [0, 1]
    assert edges.neighbour.tolist() == [3, 1]


def test_a_profile_weighs_links_by_relation_and_by_who_made_them():
    topology = of_rows(6)
    for target, relation, explicit in (
        (1, "next", False),
        (2, "similar-to", False),
        (3, "similar-to", True),
        (4, "x", True),
    ):
        topology.put(0, target, relation, 0.8, explicit=explicit, activated=0.0)
    factors = LinkFactors(by_relation=(("next", 0.5),), others=2.0, similar=0.25)
    edges = weighed(topology, factors).edges(np.array([0]), both=False)
    assert dict(zip(edges.neighbour.tolist(), edges.weight.tolist(), strict=True)) == {
        1: pytest.approx(0.4),
        2: pytest.approx(0.4),
        3: pytest.approx(1.6),
        4: pytest.approx(1.6),
    }


@each_row(
    ("holders", "documents", "carries"),
    [(1, 100, False), (2, 100, True), (10, 100, True), (11, 100, False), (11, 1000, True), (21, 1000, False)],
)
def test_a_name_carries_less_the_more_share_it_and_nothing_outside_its_bounds(holders, documents, carries):
    topology = of_rows(30)
    for row in range(1, holders + 1):
        topology.put(row, 0, "mentions", 0.5, explicit=False, activated=0.0)
    graph = weighed(topology, LinkFactors(fan_out_names=True), documents=documents)
    weight = float(graph.edges(np.array([1]), both=False).weight[0])
    assert weight == pytest.approx(0.5 / np.log(1 + holders) if carries else 0.0)


def test_the_name_that_is_a_memorys_own_heading_carries_eight_times():
    topology = of_rows(4)
    for row in (1, 2):
        topology.put(row, 0, "mentions", 0.5, explicit=False, activated=0.0)

    def headings(rows):
        return np.where(rows == 1, 0, -1)

    graph = weighed(topology, LinkFactors(fan_out_names=True), headings)
    own, other = (float(graph.edges(np.array([row]), both=False).weight[0]) for row in (1, 2))
    assert own == pytest.approx(8 * other)


def test_the_name_that_is_a_memorys_speaker_carries_nothing_from_it():
    topology = of_rows(4)
    for row in (1, 2):
        topology.put(row, 0, "mentions", 0.5, explicit=False, activated=0.0)

    def speakers(rows):
        return np.where(rows == 1, 0, -1)

    graph = weighed(topology, LinkFactors(fan_out_names=True), speakers, spoken=lambda rows, _: rows == 1)
    by_speaker, other = (float(graph.edges(np.array([row]), both=False).weight[0]) for row in (1, 2))
    assert by_speaker == 0.0 < other


def test_a_name_that_is_any_memorys_heading_carries_eight_times():
    topology = of_rows(6)
    for row in (2, 3):
        topology.put(row, 0, "mentions", 0.5, explicit=False, activated=0.0)
        topology.put(row, 1, "mentions", 0.5, explicit=False, activated=0.0)
    graph = weighed(topology, LinkFactors(fan_out_names=True), titled=lambda rows: rows == 0)
    titled, other = graph.edges(np.array([2]), both=False).weight.tolist()
    assert titled == pytest.approx(8 * other)


def test_a_mention_that_was_explicitcounts_whole_and_a_rare_word_as_the_profile_says():
    topology = of_rows(4)
    topology.words[3] = True
    topology.put(1, 0, "mentions", 0.5, explicit=True, activated=0.0)
    topology.put(1, 3, "mentions", 0.5, explicit=True, activated=0.0)
    graph = weighed(topology, LinkFactors(fan_out_names=True, terms=0.0))
    assert graph.edges(np.array([1]), both=False).weight.tolist() == [0.5, 0.0]


def test_similarity_is_mirrored_where_the_profile_says_so_whatever_else_is_walked():
    topology = of_rows(4)
    topology.put(1, 0, "similar-to", 0.5, explicit=False, activated=0.0)
    topology.put(2, 0, "requires", 0.5, explicit=False, activated=0.0)
    rows = np.array([0])
    graph = weighed(topology, LinkFactors(mirror=True))
    assert [x[1::3] for x in walked(graph.edges(rows, both=False), rows)] == [(1, True)]
    assert [x[1::3] for x in walked(graph.edges(rows, both=True), rows)] == [(1, True), (2, False)]
    assert len(weighed(topology).edges(rows, both=False).owner) == 0


def test_hours_are_counted_from_the_last_activation_and_never_negative():
    topology = of_rows(3)
    topology.put(0, 1, "next", 0.5, explicit=False, activated=3600.0)
    topology.put(0, 2, "next", 0.5, explicit=False, activated=99999.0)
    edges = weighed(topology, now=3 * 3600.0).edges(np.array([0]), both=False)
    assert edges.hours.tolist() == [2.0, 0.0]


def test_links_weighed_once_for_many_recalls_are_those_met_one_by_one():
    topology = of_rows()
    for source, target, relation in (
        (0, 1, "next"),
        (2, 1, "mentions"),
        (1, 3, "similar-to"),
        (4, 0, "next"),
    ):
        topology.put(source, target, relation, 0.5, explicit=False, activated=0.0)
    rows = np.array([0, 1, 3, 7])
    for both in (True, False):
        results = [weighed(topology, now=7200.0).edges(rows, both=both) for _ in range(2 * WEIGHED_AFTER)]
        assert {tuple(walked(edges, rows)) for edges in results} == {tuple(walked(results[0], rows))}
        assert [edges.hours.tolist() for edges in results] == [results[0].hours.tolist()] * len(results)
        assert results[0].owner.tolist() == sorted(results[0].owner.tolist())


def test_what_was_weighed_once_is_weighed_anew_when_a_link_changes():
    topology, rows = of_rows(), np.array([0])
    topology.put(0, 1, "next", 0.5, explicit=True, activated=0.0)
    for _ in range(2 * WEIGHED_AFTER):
        before = weighed(topology).edges(rows, both=True)
    topology.put(0, 1, "next", 1.0, explicit=True, activated=0.0)
    topology.put(0, 2, "next", 0.5, explicit=True, activated=0.0)
    after = weighed(topology).edges(rows, both=True)
    assert after.neighbour.tolist() == [1, 2]
    assert after.weight[0] == 2 * before.weight[0]
    topology.drop(0, 1, "next")
    assert weighed(topology).edges(rows, both=True).neighbour.tolist() == [2]
