"""Texts have the tokens that the library ``tokenizers`` makes of them by WordLlama's own file."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from priming.embedding import weights
from priming.embedding.wordllama import BytePairs

FILE = (weights.folder() / weights.TOKENIZER).read_bytes()
LIBRARY = Tokenizer.from_str(FILE.decode())
OWN = BytePairs.of(FILE)
VOCABULARY = LIBRARY.get_vocab().items()

WORDS = "The quick brown_fox jumps over 12,345 lazy dogs; naïve café don't HTTPServer 東京都 привет f(x)**2"
MARKS = [
    "",
    "    ",
    "\n\n",
    "\t",
    "▁",
    "▁▁",
    "🎉",
    "é",
    "\u0301",
    "ﬁ",
    "<",
    "<0x0A>",
    "<s>",
    "</s>",
    "<unk>",
    "\x00",
]
LETTERS = st.text(max_size=90)
PROSE = st.lists(st.sampled_from(WORDS.split() + MARKS), max_size=25).map(" ".join)
RUNS = st.lists(
    st.tuples(st.sampled_from([*MARKS, "a", "ab", "=", "-", "東", " \n"]), st.integers(1, 200)), max_size=4
)
LONG = RUNS.map(lambda runs: "".join(text * times for text, times in runs))


def of_library(text: str) -> list[int]:
    ids: list[int] = LIBRARY.encode_batch_fast([text], add_special_tokens=False)[0].ids
    return ids


@given(LETTERS | PROSE | LONG)
@example("")
@example(" ")
@example("     five blanks before, three   between, two after  ")
@example("aaaaaaaaaaaaaaaa======================--------------")
@example("a <s> b</s><unk> c")
@example("no-blanks" * 10 + "東京都" * 30)
def test_the_tokens_are_those_of_the_library(text: str) -> None:
    assert OWN is not None
    assert OWN.tokens(text) == of_library(text)


@pytest.mark.parametrize("step", [31, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_every_character_has_the_tokens_of_the_library(step: int) -> None:
    assert OWN is not None
    codes = (*range(0, 0x20000, 3 * step), *range(0x20000, 0x110000, 97 * step))
    texts = [f"a{chr(code)}{chr(code)} {chr(code)}b" for code in codes if not 0xD800 <= code < 0xE000]
    ids = [encoding.ids for encoding in LIBRARY.encode_batch_fast(texts, add_special_tokens=False)]
    assert [OWN.tokens(text) for text in texts] == ids


def test_tokens_in_any_order_are_merged_as_the_library_merges_them() -> None:
    assert OWN is not None
    rng = random.Random(7)
    vocabulary = list(OWN._numbers)
    texts = ["".join(rng.choices(vocabulary, k=rng.randrange(1, 60))) for _ in range(200)]
    ids = [encoding.ids for encoding in LIBRARY.encode_batch_fast(texts, add_special_tokens=False)]
    assert [OWN.tokens(text) for text in texts] == ids


def test_every_token_that_begins_a_word_is_read_as_itself() -> None:
    words = {token[1:].replace("▁", " "): number for token, number in VOCABULARY if token[0] == "▁"}
    library = LIBRARY.encode_batch_fast(list(words), add_special_tokens=False)
    assert [encoding.ids for encoding in library if len(encoding.ids) != 1] == [[]]  # the blank alone
    assert OWN is not None
    assert all(OWN.tokens(word) == [number] for word, number in words.items() if word)


def test_half_a_surrogate_pair_reads_as_a_question_mark() -> None:
    assert OWN is not None
    assert OWN.tokens("a \ud800 b") == OWN.tokens("a ? b")


def test_another_tokenizer_is_not_read() -> None:
    assert BytePairs.of(FILE.replace(b'"\xe2\x96\x81 t"', b'"\xe2\x96\x81 u"', 1)) is None
    assert BytePairs.of(b"") is None
