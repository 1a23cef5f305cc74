"""How far vectors are trusted: as far as they tell what words tell, and as expected where few words tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.embedding.wordllama import StaticEmbedder
from priming.index.nearest import evenly, trust

COUNT, TERMS = 60, 40


def texts(seed):
    """The terms of some texts, several of which share some."""
    rng = np.random.default_rng(seed)
    return [np.unique(rng.integers(0, TERMS, 6)) for _ in range(COUNT)]


def by_words(terms):
    """Unit vectors whose cosines are large where texts share words."""
    vectors = np.zeros((len(terms), TERMS))
    for vector, own in zip(vectors, terms, strict=True):
        vector[own] = 1.0 / np.sqrt(len(own))
    return vectors.astype(np.float32)


def by_chance(seed):
    vectors = np.random.default_rng(seed).normal(size=(COUNT, TERMS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@each_row("seed", range(3))
def test_vectors_that_tell_what_words_tell_are_trusted_and_others_are_not(seed):
    terms, rarity = texts(seed), np.ones(TERMS)
    for english in (True, False):
        assert trust(by_words(terms), terms, rarity, english=english) == 1.0
        assert trust(by_chance(seed), terms, rarity, english=english) < 0.35


def test_what_all_texts_of_one_pattern_share_is_no_reason_to_distrust(open_memory):
    """Vectors see what they share, as words do: or a store of receipts would be left without meaning."""
    memory = open_memory(embedder=StaticEmbedder())
    memory.remember_many({"content": f"Receipt {n}: a lamp is too dark."} for n in range(52))
    memory.remember_many(
        {"content": text}
        for text in (
            "The ferry to the island leaves at nine.",
            "Our harbour office moves to Linz in May.",
            "The island has no harbour for large ships.",
            "Large ships wait for the pilot in the strait.",
        )
    )
    assert memory.working(memory.now()).trust == 1.0


def test_where_all_texts_are_of_one_pattern_trust_is_as_expected(memory):
    memory.remember_many({"content": f"Build {n} is signed by host {n}."} for n in range(60))
    assert memory.working(memory.now()).trust == 1.0


@pytest.mark.parametrize(
    ("texts", "expected"),
    [(("A red car.", "Some old boat."), 1.0), (("Красный автомобиль.", "Старая лодка."), 0.4)],
)
def test_a_language_of_other_letters_is_expected_to_be_known_less(open_memory, texts, expected):
    memory = open_memory(embedder=StaticEmbedder())
    memory.remember_many({"content": text} for text in texts)
    assert memory.working(memory.now()).trust == pytest.approx(expected)


@pytest.mark.parametrize(("english", "expected"), [(True, 1.0), (False, 0.4)])
def test_where_no_two_texts_share_a_word_trust_is_as_expected_of_the_language(english, expected):
    # (.4 − .1)/.25 is over 1, and (.2 − .1)/.25 is .4.
    terms = [np.array([at]) for at in range(3)]
    vectors = np.eye(3, dtype=np.float32)
    assert trust(vectors, terms, np.ones(3), english=english) == pytest.approx(expected)


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_a_single_text_are_as_expected(count):
    terms = [np.array([0])] * count
    assert trust(np.ones((count, 1), np.float32), terms, np.ones(1), english=True) == 1.0


def test_few_pairs_count_as_much_less_than_400_expected_ones():
    # Two pairs share a word, half of their words and a third; the nearer pair shares less: their correlation is −1.
    terms = [np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([4, 5]), np.array([4, 6])]
    angles = np.radians([0.0, 60.0, 180.0, 190.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    result = trust(vectors, terms, np.ones(7), english=False)
    shrunk = (2 * -1.0 + 400 * 0.2) / 402
    assert result == pytest.approx((shrunk - 0.1) / 0.25, abs=2e-3)


def test_a_text_without_terms_and_a_vector_of_zeros_are_no_evidence():
    terms = [np.array([0]), np.zeros(0, np.int64), np.array([0])]
    assert trust(np.zeros((3, 2), np.float32), terms, np.ones(1), english=True) == 1.0


@given(st.integers(0, 400), st.integers(1, 200))
def test_a_sample_is_even_and_of_the_first_on(size, count):
    rows = np.arange(size) * 3
    chosen = evenly(rows, count)
    assert len(chosen) == min(size, count)
    assert set(chosen.tolist()) <= set(rows.tolist())
    assert (np.diff(chosen) > 0).all()
    if size:
        assert chosen[0] == rows[0]
        assert np.ptp(np.diff(chosen)) <= 3 if len(chosen) > 1 else True
