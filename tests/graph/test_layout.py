"""Where nodes are placed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from priming.graph.plot import positions


def place(n, pairs, weights=None):
    source, target = (np.array([item[i] for item in pairs], np.int64) for i in (0, 1))
    weight = np.ones(len(pairs)) if weights is None else np.array(weights, float)
    return positions(n, source, target, weight)


def apart(at):
    return np.linalg.norm(at[:, None, :] - at[None, :, :], axis=2)


def test_no_nodes_have_no_places():
    assert place(0, []).shape == (0, 2)


@given(st.integers(1, 30), st.data())
def test_places_are_finite_centred_and_apart(n, data):
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
    at = place(n, pairs)
    assert np.isfinite(at).all()
    np.testing.assert_allclose(at.mean(axis=0), 0, atol=1e-9)
    assert (apart(at)[~np.eye(n, dtype=bool)] > 1e-3).all()


def test_the_same_links_give_the_same_places():
    pairs = [(0, 1), (1, 2), (2, 3), (0, 4)]
    np.testing.assert_array_equal(place(6, pairs), place(6, pairs))


def test_two_circles_of_friends_are_placed_apart():
    inside = [(a, b) for group in (range(5), range(5, 10)) for a in group for b in group if a < b]
    distance = apart(place(10, [*inside, (0, 5)]))
    within = [distance[a, b] for a, b in inside]
    between = distance[1:5, 6:10]
    assert np.mean(within) < 0.6 * np.mean(between)


def test_a_heavier_link_is_a_shorter_one():
    distance = apart(place(3, [(0, 1), (1, 2)], [1.0, 0.1]))
    assert distance[0, 1] < distance[1, 2]
