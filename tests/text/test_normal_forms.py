"""Normal forms: Unicode's own where letters have few marks, and bounded work where they have many."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.text.normal_forms import normalized

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
ACUTE, ABOVE_RIGHT = "\u0301", "\u0315"


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text(max_size=30))
def test_a_text_with_few_marks_has_unicodes_own_form(form, text):
    assert normalized(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_after_thirty_marks_on_a_letter_the_sorting_ends(form):
    marks = (ABOVE_RIGHT + ACUTE) * 100
    plain = normalized(form, f"a{marks}")
    assert plain.count("\u034f") == 6
    assert max(map(len, plain.split("\u034f"))) <= 31
    assert sorted(plain.replace("\u034f", "")) == sorted(unicodedata.normalize(form, f"a{marks}"))


def test_what_looks_like_marks_and_is_none_stays():
    signs = "→—…" * 50 + "👍🏽" * 50
    assert normalized("NFC", signs) == signs
