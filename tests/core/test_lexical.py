"""Terms, BM25 and the two ways of scaling scores."""

from __future__ import annotations

import math
import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.lexical import bm25, evidence_idf, idf, length_norm, minmax, scaled
from priming.errors import ParamError
from priming.text import tokens
from priming.text.tokens import STOP_WORDS, bigrams, is_stop, terms

ANY_TEXT = st.text(st.characters())
SCORES = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8)
COUNTS = st.integers(0, 50)


@each_row(
    ("text", "expected"),
    [
        ("", []),
        ("?!… -- __", []),
        ("Running runner RUNS", ["run", "runner", "run"]),
        ("Caroline's and Caroline’s", ["carolin", "carolin"]),
        ("O'Brien's rock'n roll", ["obrien", "rockn", "roll"]),
        ("Caroline'll see what they've won", ["carolin", "see", "won"]),
        ("snake_case 3.14 C3PO", ["snake", "case", "3", "3.14", "c3po"]),
        ("don't doesn’t wouldn't I'm it's you'd who's", []),
        ("When did he go? What is it? How long? Where? Why? Which?", ["go", "long"]),
    ],
)
def test_words_become_stems_without_stop_words_and_endings(text, expected):
    assert terms(text) == expected


@each_row(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都"]),
        ("春", ["春"]),
        ("ひらがな", ["ひら", "らが", "がな"]),
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("한국어", ["한국", "국어"]),
        ("Tokyo東京tower went", ["tokyo", "東京", "tower", "went"]),
        ("春、夏", ["春", "夏"]),
        ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ"]),
    ],
)
def test_cjk_runs_become_pairs_of_characters_in_mixed_text_too(text, expected):
    assert terms(text) == expected


def test_full_width_and_decomposed_letters_meet_their_plain_twins():
    assert terms("ＡＢＣ") == terms("abc")
    assert terms("cafe\u0301") == terms("caf\u00e9")


def test_accents_of_latin_letters_make_no_difference_and_marks_of_other_scripts_do():
    assert terms("Tekez\u00e9, Aschenbr\u00f6del") == terms("Tekeze, Aschenbrodel")
    assert terms("\u0439") != terms("\u0438")
    assert terms("\u304c\u3055") != terms("\u304b\u3055")


@given(ANY_TEXT)
def test_any_text_has_terms_without_stop_words_or_spaces(text):
    result = terms(text)
    assert result == terms(text)
    assert all(term and not re.search(r"\s", term) for term in result)


@given(ANY_TEXT)
def test_the_full_text_column_holds_just_the_cjk_terms(text):
    column = bigrams(text)
    assert column.isascii() == (column == "")
    assert set(column.split()) <= set(terms(text))


def test_text_without_cjk_has_no_full_text_column():
    assert bigrams("plain English, naïve or not") == ""
    assert bigrams("A 東京都 b 春") == "東京 京都 春"


def test_the_stop_words_are_function_words_only():
    assert {"the", "when", "did", "who", "how", "i", "not", "is"} <= STOP_WORDS
    assert not {"go", "time", "work", "may", "us", "good", "first", "name"} & STOP_WORDS
    assert 130 <= len(STOP_WORDS) <= 200
    assert all(is_stop(word) for word in STOP_WORDS)


def test_a_blob_of_letters_is_one_short_term():
    assert [len(term) for term in terms("x" * 1_000_000 + " end")] == [64, 3]


def test_threads_share_the_stemmer_safely():
    words = [
        f"{stem}{ending}" for stem in ("walk", "rest", "hik", "paint") for ending in ("ing", "ed", "s", "er")
    ]
    words = [f"{a}{word}" for a in "bcdfghjklmn" for word in words]
    want = [terms(word) for word in words]
    tokens._term.cache_clear()
    got: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: got.append([terms(w) for w in words])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [want] * 8


def naive_bm25(tf, df, n, length, mean_length, k1, b):
    weight = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return weight * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))


@given(
    st.lists(st.tuples(st.integers(1, 50), COUNTS, st.integers(1, 400)), min_size=1, max_size=6),
    st.floats(0.5, 200),
    st.floats(0.01, 3),
    st.floats(0, 1),
)
def test_bm25_equals_its_formula_term_by_term(rows, mean_length, k1, b):
    tf, df, length = map(np.array, zip(*rows, strict=True))
    got = bm25(tf, df, 50, length, mean_length, k1, b)
    want = [naive_bm25(t, d, 50, le, mean_length, k1, b) for t, d, le in rows]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_bm25_is_the_product_of_its_published_parts():
    tf, df, length = np.array([1, 2, 9]), np.array([1, 5, 10]), np.array([4, 30, 12])
    parts = idf(df, 10) * 2.2 * tf / (tf + length_norm(length, 12.0))
    np.testing.assert_allclose(bm25(tf, df, 10, length, 12.0), parts, rtol=1e-12)


def test_one_occurrence_in_a_document_of_mean_length_weighs_its_idf():
    assert bm25(1, 3, 20, 12, 12.0) == pytest.approx(idf(3, 20))


@given(st.integers(1, 100), st.integers(1, 50), st.integers(1, 300), st.floats(1, 100))
def test_bm25_grows_with_occurrences_and_falls_with_frequency_and_length(tf, df, length, mean_length):
    here = bm25(tf, df, 60, length, mean_length)
    assert bm25(tf + 1, df, 60, length, mean_length) > here
    assert bm25(tf, df + 1, 60, length, mean_length) < here
    assert bm25(tf, df, 60, length + 1, mean_length) < here
    assert here > 0


def test_bm25_broadcasts_terms_over_documents():
    tf = np.array([[1, 0, 3], [2, 2, 0]])
    got = bm25(tf, np.array([[2], [1]]), 3, np.array([5, 9, 1]), 5.0)
    assert got.shape == (2, 3)
    assert (got[tf == 0] == 0).all()


def test_each_document_may_have_a_mean_length_of_its_own():
    means = np.array([5.0, 0.0, 20.0])
    got = bm25(2, 1, 9, 10, means)
    assert got.tolist() == pytest.approx([bm25(2, 1, 9, 10, mean) for mean in means])


def test_scalars_give_a_plain_float():
    assert type(bm25(1, 1, 2, 3, 3.0)) is float
    assert type(idf(1, 2)) is float
    assert type(length_norm(3, 3.0)) is float


def test_a_store_without_terms_scores_zero_and_not_nan():
    assert bm25(0, 0, 0, 0, 0.0) == 0.0
    assert bm25(0, 0, 0, 5, 5.0, k1=0.0) == 0.0


@each_row(
    ("arguments", "name"),
    [
        ((-1, 1, 2, 3, 3.0), "tf"),
        ((1, -1, 2, 3, 3.0), "df"),
        ((1, 3, 2, 3, 3.0), "df"),
        ((1, 1, -2, 3, 3.0), "n"),
        ((1, 1, 2, -3, 3.0), "length"),
        ((1, 1, 2, 3, -3.0), "mean_length"),
        ((1, 1, 2, 3, 3.0, -0.1), "k1"),
        ((1, 1, 2, 3, 3.0, 1.2, 1.1), "b"),
        ((math.nan, 1, 2, 3, 3.0), "tf"),
        ((1, 1, 2, [3, math.inf], 3.0), "length"),
    ],
)
def test_bm25_refuses_what_is_out_of_range_by_name(arguments, name):
    with pytest.raises(ParamError, match=rf"^{name} = "):
        bm25(*arguments)


@given(SCORES)
def test_minmax_lies_between_zero_and_one_and_keeps_order(scores):
    got = minmax(scores)
    assert ((got >= 0) & (got <= 1)).all()
    assert all((a <= b) for a, b in zip(got[np.argsort(scores)], got[np.argsort(scores)][1:], strict=False))
    if len(set(scores)) > 1:
        assert got.min() == 0.0
        assert got.max() == 1.0


def test_minmax_of_equal_scores_is_one_if_they_are_positive():
    assert minmax([3.0, 3.0]).tolist() == [1.0, 1.0]
    assert minmax([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert minmax([-2.0]).tolist() == [0.0]
    assert minmax([]).tolist() == []


@given(SCORES)
def test_scaled_scores_are_shares_of_the_best(scores):
    got = scaled(scores)
    assert ((got >= 0) & (got <= 1)).all()
    assert all(share == 0 for share, score in zip(got, scores, strict=True) if score <= 0)
    if scores and max(scores) > 0:
        assert got.max() == 1.0


@pytest.mark.parametrize("scale", [minmax, scaled])
def test_scaling_refuses_nan_and_leaves_its_argument_alone(scale):
    with pytest.raises(ParamError, match="x = nan"):
        scale([1.0, math.nan])
    x = np.array([-1.0, 2.0])
    scale(x)
    assert x.tolist() == [-1.0, 2.0]


@each_row(
    ("df", "n", "nats"),
    [(0, 10, 3.135494), (3, 10, 1.421386), (10, 10, 0.716678), (1, 1, 0.847298), (2.5, 10, 1.540445)],
)
def test_the_evidence_of_a_term_in_nats(df, n, nats):
    # ln 23, ln(14.5/3.5), ln(21.5/10.5), ln(3.5/1.5), ln(14/3)
    assert evidence_idf(df, n) == pytest.approx(nats, abs=1e-6)


@given(COUNTS, COUNTS)
def test_what_all_share_still_tells_ln_2_and_what_is_rarer_tells_more(df, more):
    n = df + more
    assert evidence_idf(df, n) >= math.log(2)
    if more:
        assert evidence_idf(df, n) > evidence_idf(df + 1, n)
        assert evidence_idf(df, n) > evidence_idf(df, n - 1)


def test_a_term_cannot_be_in_more_documents_than_there_are():
    with pytest.raises(ParamError, match=r"^df = 11.0: must be ≤ n$"):
        evidence_idf([3, 11], 10)
