"""The nearest vectors: what a search of all of them returns, to the last digit or to a hundredth of the hits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming import HashedEmbedder
from priming.index.columns import VectorColumn
from priming.index.nearest import EXACT_BELOW, NearestIndex
from priming.index.snapshot import load, save
from priming.index.vocabulary import EXACT
from priming.index.working_set import WorkingSet

DIMENSION = 100
MANY = EXACT_BELOW + 4_000


def of_topics(count, *, seed=1, shared=0.0):
    """Unit vectors around some hundred topics; ``shared`` is what all have in common, as those of many models."""
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(0).normal(size=(300, DIMENSION))
    vectors = topics[rng.integers(0, 300, count)] + rng.normal(size=(count, DIMENSION))
    vectors[:, ::2] += 3.0 * shared
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def column(vectors, base):
    """A column of which the first rows are a read-only base, as of a mapped file."""
    mapped = vectors[:base].copy()
    mapped.flags.writeable = False
    new = VectorColumn(vectors.shape[1], mapped)
    new.extend(vectors[base:])
    return new


def by_search_of_all(vectors, query, count, pool=None):
    cosines = np.round(np.asarray(vectors, np.float64) @ query.astype(np.float64), EXACT)
    rows = np.arange(len(vectors)) if pool is None else np.flatnonzero(pool)
    order = np.lexsort((rows, -cosines[rows]))[:count]
    return rows[order], cosines[rows[order]]


def overlap(index, vectors, queries, pool=None, count=10):
    shares, exact = [], vectors.astype(np.float64)
    for query in queries:
        rows, _ = index.nearest(query, count, pool)
        shares.append(len(set(rows) & set(by_search_of_all(exact, query, count, pool)[0])) / count)
    return float(np.mean(shares))


@pytest.fixture(scope="module")
def many():
    return of_topics(MANY)


@given(st.integers(0, 60), st.integers(0, 40), st.integers(0, 12), st.integers(0, 2**32 - 1), st.booleans())
def test_of_few_vectors_the_nearest_are_those_of_a_search_of_all(base, tail, count, seed, filtered):
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(7, 16)).astype(np.float32)  # so that several are alike
    vectors = distinct[rng.integers(0, 7, base + tail)]
    pool = rng.random(base + tail) < rng.random() if filtered else None
    query = rng.normal(size=16).astype(np.float32)
    rows, cosines = NearestIndex(column(vectors, base)).nearest(query, count, pool)
    expected, exact = by_search_of_all(vectors, query, count, pool)
    assert rows.tolist() == expected.tolist()
    assert cosines.tolist() == exact.tolist()


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_of_many_vectors_the_ten_nearest_are_nearly_always_those_of_a_search_of_all(shared):
    vectors = of_topics(MANY, shared=shared)
    index = NearestIndex(column(vectors, MANY - 500))
    assert overlap(index, vectors, of_topics(40, seed=2, shared=shared)) >= 0.99


def test_the_cosines_of_many_vectors_are_exact_and_fall(many):
    index = NearestIndex(column(many, MANY))
    query = of_topics(1, seed=3)[0]
    rows, cosines = index.nearest(query, 20)
    assert len(set(rows.tolist())) == 20
    assert cosines.tolist() == np.round(many[rows].astype(np.float64) @ query, EXACT).tolist()
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.2, 0.95])
def test_a_pool_of_any_size_is_searched_as_well_as_all_and_nothing_else_is_returned(many, share):
    index = NearestIndex(column(many, MANY))
    pool = np.random.default_rng(4).random(MANY) < share
    count = min(10, int(pool.sum()))
    assert overlap(index, many, of_topics(20, seed=5), pool, max(1, count)) >= (0.99 if count else 0.0)
    rows, _ = index.nearest(of_topics(1, seed=6)[0], 10, pool)
    assert len(rows) == count
    assert pool[rows].all()


def test_a_row_that_is_appended_is_found_at_once(many):
    vectors = column(many, MANY)
    index = NearestIndex(vectors)
    (new,) = of_topics(1, seed=7)
    index.nearest(new, 10)
    vectors.append(None)
    vectors.append(new)
    rows, cosines = index.nearest(new, 1)
    assert (rows.tolist(), cosines.tolist()) == ([MANY + 1], [1.0])


def test_of_many_that_are_alike_the_earliest_come_first(many):
    alike = many.copy()
    alike[1_000:15_000] = alike[1_000]
    rows, _ = NearestIndex(column(alike, MANY)).nearest(alike[1_000], 5)
    assert rows.tolist() == [1_000, 1_001, 1_002, 1_003, 1_004]


def test_a_query_of_zeros_has_none_near_in_a_small_column_and_a_large(many):
    for vectors in (many[:50], many):
        rows, cosines = NearestIndex(column(vectors, 10)).nearest(np.zeros(DIMENSION, np.float32), 5)
        assert (len(rows), len(cosines)) == (0, 0)


def test_the_signs_are_packed_with_their_mean_and_answer_alike_when_they_are_read_again(many):
    index = NearestIndex(column(many, MANY))
    again = NearestIndex(column(many, MANY), *index.packed())
    for query in of_topics(20, seed=8):
        assert [part.tolist() for part in again.nearest(query, 10)] == [
            part.tolist() for part in index.nearest(query, 10)
        ]


def test_a_column_that_is_searched_whole_or_has_no_vector_packs_nothing(many):
    assert NearestIndex(column(many[:EXACT_BELOW], 10)).packed() == ()
    assert NearestIndex(column(np.zeros_like(many), 10)).packed() == ()


def test_a_snapshot_of_many_has_their_signs_and_new_rows_are_added_to_them(memory, tmp_path, many):
    embedder = HashedEmbedder(DIMENSION)
    before, after = (WorkingSet(memory.store, memory.namespace, embedder) for _ in range(2))
    before.vectors.extend(many)
    save(before, tmp_path / "signs", {"head": 1})
    assert load(after, tmp_path / "signs", lambda _: True)
    new, *queries = of_topics(20, seed=9)
    after.vectors.append(new)
    assert after.neighbours.nearest(new, 1)[0].tolist() == [MANY]
    earlier = np.arange(MANY + 1) < MANY
    for query in queries:
        rows, _ = after.neighbours.nearest(query, 10, earlier)
        assert rows.tolist() == before.neighbours.nearest(query, 10)[0].tolist()
