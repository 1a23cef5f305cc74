import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.core.arguments.arrays import TextVectors
from priming.index.columns import Column, Ragged, VectorColumn
from priming.index.nearest import PassageColumn

numbers = st.lists(st.integers(-(2**40), 2**40), max_size=200)


@given(numbers, numbers)
def test_a_column_grows_as_a_list_does(first, more):
    column = Column(np.int64, first)
    for value in more:
        column.append(value)
    column.extend(first)
    assert column.values.tolist() == [*first, *more, *first]
    assert column.size == len(column.values)


def test_a_column_reaches_a_size_with_its_default():
    column = Column(np.int64, [1], default=-1)
    column.reach(100)
    assert column.values.tolist() == [1] + [-1] * 99
    column.reach(5)
    assert column.size == 100
    column[0] = 7
    assert column[[0, 1]].tolist() == [7, -1]


def test_a_column_keeps_what_is_chosen_in_that_order():
    column = Column(np.int64, [10, 11, 12, 13])
    column.keep(np.array([3, 1]))
    column.append(9)
    assert column.values.tolist() == [13, 11, 9]


def test_a_column_does_not_write_into_what_it_was_made_of():
    source = np.arange(3)
    source.flags.writeable = False
    column = Column(np.int64, source)
    column[0] = 9
    column.append(3)
    assert source.tolist() == [0, 1, 2]
    assert column.values.tolist() == [9, 1, 2, 3]


@given(st.lists(st.lists(st.integers(0, 1000), max_size=5), max_size=20), st.integers(0, 20))
def test_ragged_rows_come_back_whether_packed_or_not(rows, packed):
    ragged = Ragged()
    for i, row in enumerate(rows):
        if i == packed:
            ragged = Ragged(*ragged.packed())
        ragged.append(row)
    assert len(ragged) == len(rows)
    assert [ragged[i].tolist() for i in range(len(rows))] == rows
    again = Ragged(*ragged.packed())
    assert [again[i].tolist() for i in range(len(rows))] == rows


def test_like_vectors_have_one_product_wherever_they_stand():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(700, 16)).astype(np.float32)
    twins = rng.integers(0, 20, 700)
    vectors = VectorColumn(16, rows[twins[:333]])
    for twin in twins[333:].tolist():
        vectors.append(rows[twin])
    query = rng.normal(size=16).astype(np.float32)
    products = vectors.exact(query)
    assert products == pytest.approx(rows[twins].astype(np.float64) @ query, abs=1e-5)
    alike = [set(np.round(products[twins == twin], 12).tolist()) for twin in range(20)]
    assert [len(values) for values in alike] == [1] * 20


def test_products_are_in_double_precision_however_many_rows_stand_beside_them():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(1000, 64)).astype(np.float32)
    query = rng.normal(size=64).astype(np.float32)
    expected = rows.astype(np.float64) @ query
    for first in (0, 1, 700):
        few = VectorColumn(64, rows[first : first + 3])
        few.extend(rows[first + 3 :])
        assert few.exact(query) == pytest.approx(expected[first:], rel=1e-12)


def test_vectors_of_a_read_only_base_and_of_the_tail_answer_alike():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 8)).astype(np.float32)
    base = rows[:60].copy()
    base.flags.writeable = False
    vectors = VectorColumn(8, base)
    for row in rows[60:]:
        vectors.append(row)
    vectors.append(None)
    expected = np.vstack([rows, np.zeros((1, 8), np.float32)])
    query = rng.normal(size=8).astype(np.float32)
    assert len(vectors) == 151
    assert vectors.dot(query) == pytest.approx(expected @ query, abs=1e-5)
    assert vectors.exact(query) == pytest.approx(expected.astype(np.float64) @ query, abs=1e-12)
    assert vectors.dot(rows[:3].T).shape == (151, 3)
    assert vectors[10].tolist() == rows[10].tolist()
    assert vectors[100].tolist() == rows[100].tolist()
    assert vectors.packed().tolist() == expected.tolist()


def text_vectors(rng, count):
    vectors = rng.normal(size=(count + 1, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return TextVectors(vectors[0], vectors[1:], tuple(range(10, 10 * count + 1, 10)))


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 30), st.randoms())
def test_the_best_passage_of_each_document_is_that_of_a_search_one_by_one(counts, cut, shuffled):
    rng = np.random.default_rng(7)
    texts = [text_vectors(rng, 0 if count == 1 else count) for count in counts]  # a text has none, or several
    column = PassageColumn(4)
    documents = list(range(len(texts)))
    shuffled.shuffle(documents)
    for number in documents[:cut]:
        column.put(number, texts[number])
    column = PassageColumn(4, *column.packed())
    for number in documents[cut:]:
        column.put(number, texts[number])
    query = text_vectors(rng, 0).whole
    shuffled.shuffle(documents)
    for chosen in (None, np.array(documents[: len(documents) // 2], np.int64)):
        cosines = dict(zip(*(values.tolist() for values in column.best(query, chosen)), strict=True))
        for place, number in enumerate(range(len(texts)) if chosen is None else chosen.tolist()):
            text = texts[number]
            assert (place in cosines) == bool(text.ends)
            assert column.of(number)[0].tolist() == text.passages.tolist()
            assert column.of(number)[1] == text.ends
            if text.ends:
                assert cosines[place] == pytest.approx((text.passages @ query).max(), abs=1e-6)
    best = {number: (text.passages @ query).max() for number, text in enumerate(texts) if text.ends}
    near = column.nearest(query, len(texts), np.ones(len(texts), np.bool_)).tolist()
    assert near == sorted(best, key=lambda number: (-best[number], near.index(number)))
