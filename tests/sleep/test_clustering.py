from dataclasses import replace

import numpy as np
import pytest
from tests.rows import each_row

from priming.config.params.laws import ClusterParams
from priming.config.params.limits import SLEEP
from priming.sleep import deep

from .making import around

pytestmark = pytest.mark.extra  # HDBSCAN's


def result(vectors, step=None, clusters=None, **params):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deep, "SLEEP", replace(SLEEP, **params))
        rows = deep.cluster_rows(np.asarray(vectors), step, clusters or ClusterParams())
        return [cluster_row.tolist() for cluster_row in rows]


def noise(number, seed=1, dimension=256):
    return np.random.default_rng(seed).normal(size=(number, dimension))


def test_two_themes_are_two_clusters():
    both = np.concatenate([around(0, 5), around(1, 4, seed=1)])
    assert sorted(result(both)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8]]


def test_a_window_with_one_theme_is_one_cluster():
    assert result(around(0, 12, spread=0.02)) == [list(range(12))]


def test_a_single_theme_that_is_not_tight_is_none():
    # At right angles to each other all are 1/√n from their centroid: .35 for eight, far from .8.
    assert result(np.eye(8)) == []


@each_row("number", [3, 4, 10])
def test_identical_vectors_are_one_cluster(number):
    assert result(np.repeat(around(0, 1), number, axis=0)) == [list(range(number))]


@each_row("number", [0, 1, 2])
def test_fewer_than_a_cluster_are_none(number):
    assert result(np.repeat(around(0, 1), number, axis=0)) == []


def test_noise_makes_no_cluster():
    for seed in range(5):
        assert result(noise(60, seed)) == []


def test_what_has_no_vector_is_in_no_cluster():
    vectors = np.concatenate([np.zeros((2, 16)), around(0, 4), np.zeros((1, 16)), around(3, 4, seed=1)])
    assert sorted(result(vectors)) == [[2, 3, 4, 5], [7, 8, 9, 10]]
    assert result(np.zeros((5, 16))) == []


def test_the_length_of_a_vector_does_not_matter():
    vectors = around(0, 6) * np.arange(1, 7)[:, None]
    assert result(vectors) == [[0, 1, 2, 3, 4, 5]]


def test_clusters_of_several_batches_are_one_where_their_centroids_are_near():
    first = np.concatenate([around(0, 5), around(1, 5, seed=1)])
    second = np.concatenate([around(0, 5, seed=2), around(2, 5, seed=3)])
    assert sorted(result(np.concatenate([first, second]), batch=10)) == [
        [0, 1, 2, 3, 4, 10, 11, 12, 13, 14],
        [5, 6, 7, 8, 9],
        [15, 16, 17, 18, 19],
    ]


def test_two_are_enough_for_procedures():
    assert result(
        np.concatenate([around(0, 2, spread=0.01), around(1, 2, seed=1, spread=0.01)]),
        clusters=ClusterParams(min_cluster_size=2),
    ) == [
        [0, 1],
        [2, 3],
    ]


def test_what_was_given_is_left_as_it_was():
    vectors = np.concatenate([around(0, 5), around(1, 5, seed=1)])
    before = vectors.copy()
    result(vectors)
    assert np.array_equal(vectors, before)


def test_progress_is_told_batch_by_batch():
    answer = []
    both = np.concatenate([around(0, 10), around(1, 10)])
    result(both, lambda *at: answer.append(at), batch=10)
    assert answer == [(1, 2), (2, 2)]
