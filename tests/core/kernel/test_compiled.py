from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.config.params.laws import SpreadParams
from priming.core.graph import Graph
from priming.core.kernel.compiled import spread_compiled, warm
from priming.core.spread import spread
from priming.errors import ParamError

pytestmark = pytest.mark.slow
"""Compiling takes a core some ten seconds; the NumPy kernel, its twin, is tested in process in ``test_spread.py``."""

ROWS = 40
FIELDS = ("rows", "distance", "origin")


@st.composite
def problems(draw):
    """A graph with all kinds of links, anchors, parameters and perhaps a gate."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 200))
    relation = rng.choice(["next", "requires", "conflicts", "overrides"], count)
    graph = Graph.from_links(
        ROWS,
        rng.integers(0, ROWS, count),
        rng.integers(0, ROWS, count),
        np.where(rng.random(count) < 0.2, 0.0, rng.random(count)),
        relation=draw(st.sampled_from([None, relation.tolist()])),
        hours=draw(
            st.sampled_from([None, np.where(rng.random(count) < 0.3, np.nan, 500 * rng.random(count))])
        ),
    )
    anchors = {
        int(row): float(rng.random()) for row in rng.choice(ROWS, draw(st.integers(0, 5)), replace=False)
    }
    gate = draw(st.sampled_from([None, np.where(rng.random(ROWS) < 0.2, 0.0, 2 * rng.random(ROWS))]))
    return graph, anchors, draw(PARAMS), gate


PARAMS = st.builds(
    SpreadParams,
    steps=st.integers(0, 5),
    gain=st.sampled_from([0.5, 1.0, 1.5]),
    hop_decay=st.sampled_from([0.5, 1.0]),
    retention=st.sampled_from([0.0, 0.5, 1.0]),
    restart=st.sampled_from([0.0, 0.2]),
    combine=st.sampled_from(["sum", "max"]),
    direction=st.sampled_from(["out", "both"]),
    normalise=st.sampled_from(["none", "fan", "share"]),
    rho=st.sampled_from([0.0, 0.01]),
    epsilon=st.sampled_from([0.0, 0.01, 0.2]),
    suppressing=st.sampled_from([SpreadParams().suppressing, (), ("requires",)]),
    max_nodes=st.sampled_from([None, 1, 8]),
    max_neighbours=st.sampled_from([None, 1, 3]),
)


@given(problems())
def test_it_is_the_same_function_as_the_numpy_kernel(problem):
    graph, anchors, params, gate = problem
    expected = spread(graph, anchors, params, gate=gate, record_flow=True)
    found = spread_compiled(graph, anchors, params, gate=gate, record_flow=True)
    assert found.values == pytest.approx(expected.values, rel=1e-6, abs=1e-12)
    for field in FIELDS:
        assert np.array_equal(getattr(found, field), getattr(expected, field))
    for step in range(params.steps + 1):
        assert found.flow.values(step) == pytest.approx(expected.flow.values(step), rel=1e-6, abs=1e-12)


def test_it_is_the_same_function_where_most_of_a_larger_graph_is_active():
    rng = np.random.default_rng(3)
    n, count = 20_000, 100_000
    graph = Graph.from_links(n, rng.integers(0, n, count), rng.integers(0, n, count), rng.random(count))
    params = SpreadParams(steps=6, epsilon=0.0, normalise="fan")
    anchors = {int(row): 1.0 for row in rng.choice(n, 10, replace=False)}
    expected, found = spread(graph, anchors, params), spread_compiled(graph, anchors, params)
    assert found.rows.size > n / 2
    assert found.values == pytest.approx(expected.values, rel=1e-6)
    for field in FIELDS:
        assert np.array_equal(getattr(found, field), getattr(expected, field))


def test_many_equal_values_come_in_order_of_row():
    n = 10_000
    star = Graph.from_links(n, np.zeros(n - 1, int), np.arange(n - 1, 0, -1), np.full(n - 1, 0.5))
    found = spread_compiled(star, {0: 1.0}, SpreadParams(steps=1, restart=0.0, normalise="none"))
    assert found.rows.tolist() == list(range(1, n))


def test_flow_answers_as_after_the_numpy_kernel():
    graph = Graph.from_links(3, [0, 1, 0], [1, 2, 2], [0.5, 0.5, 0.25])
    params = SpreadParams(steps=3)
    expected = spread(graph, {0: 1.0}, params, record_flow=True).flow
    found = spread_compiled(graph, {0: 1.0}, params, record_flow=True).flow
    assert [found.into(row) for row in range(3)] == [expected.into(row) for row in range(3)]
    assert spread_compiled(graph, {0: 1.0}, params).flow is None


def test_no_anchors_give_nothing():
    assert spread_compiled(Graph.from_links(2, [0], [1], [1.0]), {}, SpreadParams()).to_dict() == {}


@pytest.mark.parametrize("factor", [-1.0, math.nan, math.inf])
def test_bad_gates_are_refused_where_energy_meets_them(factor):
    n = 100_000
    gate = np.ones(n)
    gate[7] = factor
    graph = Graph.from_links(n, [5], [7], [1.0])
    with pytest.raises(ParamError, match=f"^gate = {factor}: must be finite and ≥ 0$"):
        spread_compiled(graph, {5: 1.0}, SpreadParams(normalise="none"), gate=gate)


def test_bad_arguments_are_refused_as_by_the_numpy_kernel():
    graph = Graph.from_links(2, [0, 1], [1, 0], [1e200, 1e200])
    with pytest.raises(ParamError, match=r"^anchors = -1.0: must be finite and ≥ 0$"):
        spread_compiled(graph, {0: -1.0}, SpreadParams())
    with pytest.raises(ParamError, match=r"^gate = \(3,\): must have one factor a row, shape \(2,\)$"):
        spread_compiled(graph, {0: 1.0}, SpreadParams(), gate=[1.0, 1.0, 1.0])
    with pytest.raises(ParamError, match=r"^gain = 1.0: must be smaller"):
        spread_compiled(graph, {0: 1.0}, SpreadParams(normalise="none", gain=1.0))
    with pytest.raises(ParamError, match=r"^graph = 'dict': must be a Graph"):
        spread_compiled({}, {0: 1.0}, SpreadParams())


def test_warming_compiles_ahead():
    warm()
    warm()


@pytest.mark.slow
def test_without_numba_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from priming.core.kernel.compiled import warm\n"
        "from priming.errors import MissingExtra\n"
        "try:\n    warm()\n"
        "except MissingExtra as error:\n    print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "the compiled kernel needs the extra 'fast': pip install 'priming[fast]'"


@pytest.mark.slow
def test_importing_the_module_does_not_import_numba():
    code = "import sys, priming.core.kernel.compiled; print('numba' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
