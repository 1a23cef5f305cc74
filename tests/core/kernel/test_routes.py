import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.config.params.laws import SpreadParams
from priming.core.credit import credit, strongest_paths
from priming.core.graph import Graph
from priming.core.kernel.routes import routes, trimmed
from priming.core.spread import spread
from priming.errors import ParamError

SUM = SpreadParams(
    steps=3, gain=0.8, retention=0.5, restart=0.2, normalise="none", direction="both", epsilon=0.0
)
RELATIONS = ("similar-to", "next", "conflicts", "overrides")


@st.composite
def flows(draw):
    """A spread over a small graph of any shape, in any of the ways that a profile may spread."""
    n = draw(st.integers(2, 7))
    rows = st.integers(0, n - 1)
    weights = st.sampled_from([0.1, 0.25, 0.5, 0.9])
    links = draw(st.lists(st.tuples(rows, rows, weights, st.sampled_from(RELATIONS)), max_size=14))
    anchors = draw(st.dictionaries(rows, st.sampled_from([0.05, 0.3, 1.0]), min_size=1, max_size=3))
    params = dataclasses.replace(
        SUM,
        combine=draw(st.sampled_from(["sum", "max"])),
        direction=draw(st.sampled_from(["out", "both"])),
        normalise=draw(st.sampled_from(["none", "fan", "share"])),
        steps=draw(st.integers(1, 4)),
        epsilon=draw(st.sampled_from([0.0, 0.01, 0.1])),
        max_nodes=draw(st.sampled_from([None, 3])),
        max_neighbours=draw(st.sampled_from([None, 2])),
    )
    source, target, weight, relation = zip(*links, strict=True) if links else ((),) * 4
    graph = Graph.from_links(n, list(source), list(target), list(weight), relation=list(relation))
    gate = draw(st.none() | st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=n, max_size=n))
    return spread(graph, anchors, params, gate=gate).flow


def credited(rest, row, **floor):
    """Credit by the rows of the graph."""
    own = rest.locals().get(row)
    result = {} if own is None else credit(rest, own, **floor)
    return {(int(rest.rows[u]), int(rest.rows[v]), name): share for (u, v, name), share in result.items()}


@given(flows())
def test_routes_credit_the_same_links_as_the_flow_that_they_were_kept_of(flow):
    everything = range(flow.n)
    rest = routes(flow, everything)
    for row in everything:
        assert credited(rest, row, floor=0.0) == pytest.approx(credit(flow, row, floor=0.0), abs=1e-9)


@given(flows())
def test_routes_tell_the_same_paths_as_the_flow(flow):
    everything = list(range(flow.n))
    rest = routes(flow, everything)
    present = {row: own for row in everything if (own := rest.locals().get(row)) is not None}
    seen = strongest_paths(rest, present.values())
    answer = strongest_paths(flow, everything)
    for row, own in present.items():
        path = [(int(rest.rows[hop.source]), int(rest.rows[hop.target]), hop.relation) for hop in seen[own]]
        assert path == [(hop.source, hop.target, hop.relation) for hop in answer[row]]


@given(flows(), st.data())
def test_trimming_keeps_every_link_that_would_be_credited(flow, data):
    targets = data.draw(st.sets(st.integers(0, flow.n - 1), min_size=1, max_size=3))
    whole = routes(flow, targets)
    own = [result for row in targets if (result := whole.locals().get(row)) is not None]
    rest = trimmed(whole, own, least=0.001)
    for row in targets:
        expected, got = credited(whole, row), credited(rest, row)
        # A link at the very floor may fall to either side of it.
        assert {link for link, share in expected.items() if share > 0.06} <= set(got)
        assert got == pytest.approx({link: credited(whole, row, floor=0.0)[link] for link in got}, abs=0.02)


def star(leaves):
    """A row that each of many others brings the same."""
    graph = Graph.from_links(leaves + 1, list(range(1, leaves + 1)), [0] * leaves, [1.0] * leaves)
    anchors = dict.fromkeys(range(1, leaves + 1), 1.0)
    params = dataclasses.replace(SUM, steps=1, direction="out", retention=0.0, restart=0.0)
    return spread(graph, anchors, params).flow


def test_links_that_hardly_brought_anything_are_not_kept_unless_they_are_asked_for():
    whole = routes(star(400), [0])
    own = whole.locals().get(0)
    assert trimmed(whole, [own], least=0.005).rate.size == 0
    assert trimmed(whole, [own], least=0.001).rate.size == 400
    item = trimmed(whole, [own], least=0.005, also=[(whole.locals().get(7), own)])
    assert item.rows[item.source].tolist() == [7]


def test_what_neither_emitted_nor_is_asked_for_is_not_kept():
    graph = Graph.from_links(4, [0, 0, 1], [1, 2, 3], [1.0, 1.0, 1.0])
    params = dataclasses.replace(SUM, steps=1, direction="out")
    rest = routes(spread(graph, {0: 1.0}, params).flow, [2, 3])
    assert rest.rows.tolist() == [0, 2]
    assert rest.locals().get(3) is None
    assert rest.rows.dtype == np.int64


def test_a_target_outside_the_graph_is_refused():
    with pytest.raises(ParamError, match="targets"):
        routes(star(2), [9])
