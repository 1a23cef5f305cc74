"""Short texts have the tokens that the library makes of them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from priming.embedding import weights
from priming.embedding.byte_pairs import BytePairs
from priming.embedding.wordllama import QUICK_CHARACTERS, StaticEmbedder

FILE = (weights.folder() / weights.TOKENIZER).read_bytes()
LIBRARY = StaticEmbedder()._tokenizer
QUICK = BytePairs.of(FILE)

LETTERS = st.text(max_size=60)
WORDS = "The quick brown_fox jumps over 12,345 lazy dogs; naïve café don't HTTPServer 東京都 привет f(x)**2"
MARKS = ["", "    ", "\n\n", "\t", "▁", "▁▁", "🎉", "é", "\u0301", "ﬁ", "<", "<0x0A>"]
PROSE = st.lists(st.sampled_from(WORDS.split() + MARKS), max_size=25).map(" ".join)


def of_library(text: str) -> list[int]:
    ids: list[int] = LIBRARY.encode_batch_fast([text], add_special_tokens=False)[0].ids
    return ids


@given(LETTERS | PROSE)
@example("")
@example(" ")
@example("     five blanks before, three   between, two after  ")
@example("aaaaaaaaaaaaaaaa======================--------------")
def test_the_tokens_are_those_of_the_library(text: str) -> None:
    assert QUICK is not None
    tokens = QUICK.tokens(text)
    assert tokens is None or tokens == of_library(text)


@pytest.mark.parametrize("text", ["a <s> b", "</s>", "x<unk>", "no-blanks" * 10, "東京都" * 30])
def test_special_tokens_and_long_pieces_are_left_to_the_library(text: str) -> None:
    assert QUICK is not None
    assert QUICK.tokens(text) is None
    assert list(StaticEmbedder().tokens([text])[0]) == of_library(text)


def test_half_a_surrogate_pair_reads_as_a_question_mark() -> None:
    assert QUICK is not None
    assert QUICK.tokens("a \ud800 b") == QUICK.tokens("a ? b")


def test_another_tokenizer_is_left_to_the_library() -> None:
    assert BytePairs.of(FILE.replace(b'"\xe2\x96\x81 t"', b'"\xe2\x96\x81 u"', 1)) is None
    assert BytePairs.of(b"") is None


def test_the_library_is_loaded_when_much_is_read() -> None:
    embedder = StaticEmbedder()
    first = embedder.embed(["one short text"])
    assert "_tokenizer" not in vars(embedder)
    embedder.embed(["word " * (QUICK_CHARACTERS // 5)])
    assert "_tokenizer" in vars(embedder)
    assert (embedder.embed(["one short text"]) == first).all()
