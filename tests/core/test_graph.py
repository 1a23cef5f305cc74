from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.graph import Graph
from priming.errors import ParamError


def neighbours(graph: Graph, row: int, *, both: bool) -> list[tuple[int, float, str, bool]]:
    edges = graph.edges(np.array([row]), both=both)
    names = [graph.relations[code] for code in edges.relation.tolist()]
    return list(
        zip(edges.neighbour.tolist(), edges.weight.tolist(), names, edges.forward.tolist(), strict=True)
    )


def test_a_row_meets_the_links_that_leave_it_and_then_those_that_enter_it():
    graph = Graph.from_links(3, [0, 1, 1], [1, 2, 0], [0.1, 0.2, 0.3])
    assert neighbours(graph, 1, both=False) == [(0, 0.3, "similar-to", True), (2, 0.2, "similar-to", True)]
    assert neighbours(graph, 1, both=True) == [
        *neighbours(graph, 1, both=False),
        (0, 0.1, "similar-to", False),
    ]


def test_parallel_links_stay_apart():
    graph = Graph.from_links(2, [0, 0, 0], [1, 1, 1], [0.3, 0.3, 0.1], relation=["next", "requires", "next"])
    assert neighbours(graph, 0, both=False) == [
        (1, 0.1, "next", True),
        (1, 0.3, "next", True),
        (1, 0.3, "requires", True),
    ]


def test_self_loops_are_dropped():
    graph = Graph.from_links(2, [0, 0, 1], [0, 1, 1], [9.0, 0.5, 9.0])
    assert graph.links == 1
    assert neighbours(graph, 0, both=True) == [(1, 0.5, "similar-to", True)]
    assert neighbours(graph, 1, both=False) == []


def test_relations_are_known_by_name_and_similar_to_by_default():
    assert Graph.from_links(2, [0], [1], [1.0]).relations == ("similar-to",)
    graph = Graph.from_links(3, [0, 1, 2], [1, 2, 0], [1.0] * 3, relation=["requires", "my-own", "requires"])
    assert graph.relations == ("my-own", "requires")
    assert neighbours(graph, 1, both=False) == [(2, 1.0, "my-own", True)]


def test_negative_ages_mean_no_decay_as_nan_does():
    graph = Graph.from_links(4, [0, 0, 0], [1, 2, 3], [1.0] * 3, hours=[5.0, -1.0, float("nan")])
    hours = graph.edges(np.array([0]), both=False).hours
    assert hours[0] == 5.0
    assert np.isnan(hours[1:]).all()


def test_without_ages_no_link_decays():
    graph = Graph.from_links(2, [0], [1], [1.0])
    assert np.isnan(graph.edges(np.array([0]), both=True).hours).all()


def test_owners_are_positions_among_the_rows_asked_for():
    graph = Graph.from_links(4, [0, 0, 2], [1, 2, 3], [0.1, 0.2, 0.3])
    edges = graph.edges(np.array([3, 0, 1]), both=True)
    assert edges.owner.tolist() == [0, 1, 1, 2]
    assert edges.neighbour.tolist() == [2, 1, 2, 0]
    assert edges.forward.tolist() == [False, True, True, False]


def test_a_graph_may_have_no_links_or_no_rows():
    assert Graph.from_links(0, [], [], []).links == 0
    graph = Graph.from_links(3, [], [], [], relation=[], hours=[])
    assert graph.edges(np.array([0, 2]), both=True).neighbour.size == 0
    assert graph.edges(np.array([], dtype=np.int64), both=True).owner.size == 0


LINK = st.tuples(
    st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.25, 0.5]), st.sampled_from("abc")
)


@given(st.lists(LINK, max_size=25))
def test_every_link_is_met_once_from_each_end(links):
    graph = Graph.from_links(6, *columns(links), relation=[link[3] for link in links])
    edges = graph.edges(np.arange(6), both=True)
    leaving, entering = [], []
    for owner, other, weight, code, forward in zip(
        edges.owner.tolist(),
        edges.neighbour.tolist(),
        edges.weight.tolist(),
        edges.relation.tolist(),
        edges.forward.tolist(),
        strict=True,
    ):
        rest = (weight, graph.relations[code])
        (leaving if forward else entering).append((*((owner, other) if forward else (other, owner)), *rest))
    real = sorted(link for link in links if link[0] != link[1])
    assert sorted(leaving) == sorted(entering) == real
    assert graph.links == len(real)


@given(st.lists(LINK, max_size=25), st.randoms(use_true_random=False))
def test_the_order_in_which_links_are_given_leaves_no_trace(links, random):
    shuffled = random.sample(links, len(links))
    hours = {link: float(i % 3) for i, link in enumerate(sorted(set(links)))}
    item, other = (
        Graph.from_links(
            6,
            *columns(several),
            relation=[link[3] for link in several],
            hours=[hours[link] for link in several],
        )
        for several in (links, shuffled)
    )
    for field in ("start", "split", "neighbour", "weight", "relation", "hours"):
        assert np.array_equal(getattr(item, field), getattr(other, field))


def columns(links):
    return [np.array([link[i] for link in links], dtype=kind) for i, kind in enumerate((int, int, float))]


@each_row(
    ("arguments", "message"),
    [
        ((2, [0], [2], [1.0]), r"target = 2: must be a row in \[0, 2\)"),
        ((2, [-1], [1], [1.0]), r"source = -1: must be a row in \[0, 2\)"),
        ((2, [0], [1], [-0.1]), r"weight = -0.1: must be finite and ≥ 0"),
        ((2, [0], [1], [float("nan")]), "weight = nan: must be finite and ≥ 0"),
        ((2, [0], [1], [float("inf")]), "weight = inf: must be finite and ≥ 0"),
        ((2, [0], [1], [0.1, 0.2]), "weight = 2: must be as many as source, 1"),
        ((2, [0, 1], [1], [0.1, 0.2]), "target = 1: must be as many as source, 2"),
        ((2, [0.5], [1], [0.1]), r"source = \[0.5\]: must hold whole numbers"),
        ((2, 0, [1], [0.1]), "source = 0: must be a sequence of rows"),
        ((2, [0], [1], 0.1), "weight = 0.1: must be a sequence of numbers"),
        ((-1, [], [], []), "n = -1: must be a whole number ≥ 0"),
        ((2.0, [], [], []), "n = 2.0: must be a whole number ≥ 0"),
    ],
)
def test_bad_links_are_refused_with_the_value_and_the_rule(arguments, message):
    with pytest.raises(ParamError, match=f"^{message}$"):
        Graph.from_links(*arguments)


@each_row(
    ("extras", "message"),
    [
        ({"relation": ["a", "b"]}, "relation = 2: must be as many as source, 1"),
        ({"relation": "a"}, "relation = 'a': must hold one name a link"),
        ({"relation": [7]}, "relation = 7: must hold one name a link"),
        ({"hours": []}, "hours = 0: must be as many as source, 1"),
        ({"hours": [float("inf")]}, r"hours = \[inf\]: must be a sequence of numbers, finite or nan"),
        ({"hours": ["old"]}, r"hours = \['old'\]: must be a sequence of numbers"),
    ],
)
def test_bad_relations_and_ages_are_refused(extras, message):
    with pytest.raises(ParamError, match=f"^{message}$"):
        Graph.from_links(2, [0], [1], [1.0], **extras)
