"""Normal forms: Unicode's own where letters have few marks, bounded work where they have many; and keys of texts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Memory
from priming.core.arguments.normal_forms import caseless, folded, letters, normalized, plain_words, slug

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
ACUTE, ABOVE_RIGHT = "\u0301", "\u0315"


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text(max_size=30))
def test_a_text_with_few_marks_has_unicodes_own_form(form, text):
    assert normalized(form, text) == unicodedata.normalize(form, text)


@each_row("form", FORMS)
def test_after_thirty_marks_on_a_letter_the_sorting_ends(form):
    marks = (ABOVE_RIGHT + ACUTE) * 100
    plain = normalized(form, f"a{marks}")
    assert plain.count("\u034f") == 6
    assert max(map(len, plain.split("\u034f"))) <= 31
    assert sorted(plain.replace("\u034f", "")) == sorted(unicodedata.normalize(form, f"a{marks}"))


def test_what_looks_like_marks_and_is_none_stays():
    signs = "→—…" * 50 + "👍🏽" * 50
    assert normalized("NFC", signs) == signs


@given(st.text())
def test_names_are_compared_without_regard_to_case_and_composition(text):
    assert caseless(unicodedata.normalize("NFD", text)) == caseless(unicodedata.normalize("NFC", text))
    assert caseless(caseless(text)) == caseless(text)


@given(st.text())
def test_folding_a_second_time_changes_nothing(text):
    assert folded(folded(text)) == folded(text)


def test_a_name_keeps_its_accents_and_a_searched_text_loses_them():
    assert caseless("Ren\u00c9") == "ren\u00e9"
    assert folded("Ren\u00c9 S\u00f8rby") == "rene sorby"


def test_words_and_letters_keep_their_marks():
    hindi = "\u0928\u0926\u0940 \u0915\u093f\u0928\u093e\u0930\u093e"
    assert plain_words(hindi) == hindi.split()
    assert letters("\u0e01\u0e34\u0e19") == ["\u0e01\u0e34", "\u0e19"]
    assert plain_words("one_two-three") == ["one", "two", "three"]


@each_row(
    ("text", "key"),
    [
        ("Use spaces, never tabs!", "use-spaces-never-tabs"),
        (
            "\u0928\u0926\u0940 \u0915\u093e \u092a\u0941\u0932",
            "\u0928\u0926\u0940-\u0915\u093e-\u092a\u0941\u0932",
        ),
        ("\u0e01\u0e34\u0e19\u0e02\u0e49\u0e32\u0e27", "\u0e01\u0e34\u0e19\u0e02\u0e49\u0e32\u0e27"),
        ("!?", "memory"),
    ],
)
def test_a_key_has_the_words_of_its_text_with_their_marks(text, key):
    assert slug(text) == key


@given(st.text())
def test_a_key_is_the_same_composed_and_decomposed(text):
    assert slug(unicodedata.normalize("NFD", text[:40])) == slug(unicodedata.normalize("NFC", text[:40]))


def test_a_memory_is_found_by_its_key_tag_and_session_however_their_letters_are_composed():
    apart, composed = "cafe\u0301", "caf\u00e9"
    with Memory.open("sqlite://") as memory:
        memory.remember("It opens at nine.", key=apart, tags=[apart], speaker=apart)
        assert memory.get(composed).key == memory.get(apart).key == composed
        for name in (apart, composed):
            assert memory.recall("opens", filters={"tags": {"contains": name}}).hits
            assert memory.recall("opens", filters={"speaker": name}).hits
