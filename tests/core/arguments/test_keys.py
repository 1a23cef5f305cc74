"""Keys made from texts, in any script."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming import Memory
from priming.core.arguments.keys import slug


@pytest.mark.parametrize(
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
