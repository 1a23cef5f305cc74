import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.similarity import (
    ComparedBehaviour,
    is_similar,
    likeness,
    placement,
    tokens,
    when_overlap,
)
from priming.errors import ParamError

texts = st.text("abc ,.!", max_size=20)
scopes = st.dictionaries(st.sampled_from("klmn"), st.sampled_from(["x", "y", ["x", "y"]]), max_size=4)


def content_similarity(a, b):
    return behaviour_similarity(a, b, {}, {})


def behaviour_similarity(a, b, when, other):
    return likeness(ComparedBehaviour.of(a, when), ComparedBehaviour.of(b, other))


above_9, above_7 = math.nextafter(0.9, 1), math.nextafter(0.7, 1)


def test_content_is_compared_by_the_words_that_two_texts_share():
    assert content_similarity("never use print", "Use logging, never print!") == 0.75
    assert content_similarity("tabs", "spaces") == 0
    assert content_similarity("Always, ALWAYS test", "test always") == 1


def test_texts_without_words_are_alike_only_where_equal():
    assert content_similarity("!!!", "!!!") == 1
    assert content_similarity("!!!", "???") == 0
    assert content_similarity("!!!", "word") == 0


def test_words_are_runs_of_letters_and_digits_in_any_script():
    assert tokens("snake_case Straße 東京 v2") == {"snake", "case", "strasse", "東京", "v2"}


def test_overlap_counts_the_predicates_that_agree():
    go, rust = {"language": "go", "task": "test"}, {"language": "rust", "task": "test"}
    assert when_overlap(go, rust) == 0.5
    assert when_overlap(go, {"language": "go"}) == pytest.approx(2 / 3, abs=1e-12)
    assert when_overlap(go, go) == 1
    assert when_overlap({"language": ["go", "rust"]}, {"language": "Rust"}) == 1


def test_overlap_is_undefined_without_a_shared_predicate():
    assert when_overlap({}, {"language": "go"}) is None
    assert when_overlap({"task": "test"}, {"language": "go"}) is None


def test_similarity_is_two_fifths_scope_and_three_fifths_content():
    when, other = {"language": "go", "task": "fix"}, {"language": "go", "task": "add"}
    similarity = behaviour_similarity("never use print", "use logging never print", when, other)
    assert similarity == pytest.approx(0.4 * 0.5 + 0.6 * 0.75, abs=1e-12)


def test_where_scopes_cannot_be_compared_content_decides_alone():
    assert behaviour_similarity("never print", "never log", {}, {"language": "go"}) == pytest.approx(1 / 3)
    assert behaviour_similarity("never print", "never print", {"task": "fix"}, {"language": "go"}) == 1


@given(texts, texts, scopes, scopes)
def test_similarity_is_bounded_and_symmetric(a, b, when, other):
    similarity = behaviour_similarity(a, b, when, other)
    assert 0 <= similarity <= 1
    assert similarity == behaviour_similarity(b, a, other, when)


@given(texts, scopes)
def test_everything_is_like_itself(text, when):
    assert behaviour_similarity(text, text, when, when) == pytest.approx(1, abs=1e-12)


@each_row(
    ("similarity", "more_specific", "place"),
    [
        (1.0, True, "merge"),
        (above_9, False, "merge"),
        (0.9, True, "specialise"),
        (0.9, False, "create"),
        (above_7, True, "specialise"),
        (above_7, False, "create"),
        (0.7, True, "create"),
        (0.0, True, "create"),
    ],
)
def test_a_new_behaviour_is_placed_by_similarity_and_specificity(similarity, more_specific, place):
    assert placement(similarity, more_specific=more_specific) == place


@each_row(
    ("similarity", "linked"),
    [(0.49, False), (0.5, True), (0.7, True), (0.89, True), (0.9, False), (1.0, False)],
)
def test_behaviours_that_are_alike_but_not_the_same_are_linked(similarity, linked):
    assert is_similar(similarity) is linked


@each_row(
    ("call", "message"),
    [
        (lambda: placement(1.1, more_specific=True), "similarity = 1.1: must be in [0, 1]"),
        (lambda: is_similar(-0.1), "similarity = -0.1: must be in [0, 1]"),
        (lambda: is_similar(math.nan), "similarity = nan: must be in [0, 1]"),
        (lambda: content_similarity("a", None), "text = None: must be a text"),
        (lambda: when_overlap({}, "go"), "b = 'go': must be a mapping of predicate to value"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()
