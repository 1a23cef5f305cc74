"""Texts have the tokens that the library ``tokenizers`` makes of them by the file of the packaged model."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.rows import each_row
from tokenizers import Tokenizer

from priming.embedding.weights import packaged
from priming.embedding.word_pieces import WordPieces

FILE = packaged().tokenizer.read_bytes()
LIBRARY = Tokenizer.from_str(FILE.decode())
LIBRARY.no_truncation()
LIBRARY.no_padding()
OWN = WordPieces.of(FILE)
NO_END = 1 << 40

WORDS = "The Quick brown_fox jumps over 12,345 lazy dogs; NAÏVE café don't HTTPServer 東京都 привет ΣΑΣ İstanbul ǅ"
MARKS = [
    "",
    "  ",
    "\n\n",
    "\t",
    "🎉",
    "👩‍👩‍👧",
    "🇩🇪",
    "é",
    "\u0301",
    "ﬁ",
    "[CLS]",
    "[MASK]",
    "[mask]",
    "\x00",
    "\ufffd",
    "\u200b",
]
PROSE = st.lists(st.sampled_from(WORDS.split() + MARKS), max_size=25)


def of_library(text: str) -> list[int]:
    return without_ends(LIBRARY.encode(text))


def without_ends(encoding) -> list[int]:
    """No numbers for a text of which the ends are all there is."""
    return [] if all(encoding.special_tokens_mask) else encoding.ids


@given(st.text(max_size=90) | PROSE.map(" ".join) | PROSE.map("".join))
@example("x" * 100 + " " + "y" * 101)
@example("a[CLS]b [SEP] [PAD][UNK]")
def test_the_tokens_are_those_of_the_library(text: str) -> None:
    assert OWN is not None
    assert OWN.tokens(text, NO_END) == of_library(text)


@pytest.mark.parametrize("step", [31, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_every_character_has_the_tokens_of_the_library(step: int) -> None:
    assert OWN is not None
    codes = (*range(0, 0x20000, step), *range(0x20000, 0x110000, 97 * step))
    texts = [
        form.format(chr(code)) for code in codes if not 0xD800 <= code < 0xE000 for form in ("a{}b", "{}")
    ]
    assert [OWN.tokens(text, NO_END) for text in texts] == [*map(without_ends, LIBRARY.encode_batch(texts))]


def test_characters_in_any_order_have_the_tokens_of_the_library() -> None:
    assert OWN is not None
    rng = random.Random(7)
    texts = ["".join(chr(rng.randrange(0x3400)) for _ in range(rng.randrange(1, 40))) for _ in range(200)]
    assert [OWN.tokens(text, NO_END) for text in texts] == [*map(without_ends, LIBRARY.encode_batch(texts))]


@each_row("most", [3, 20, 256])
def test_a_long_text_is_cut_as_the_library_cuts_it(most: int) -> None:
    assert OWN is not None
    library = Tokenizer.from_str(FILE.decode())
    library.no_padding()
    library.enable_truncation(most)
    text = "hello wonderful [MASK] world of unbelievabilities " * 99
    assert OWN.tokens(text, most) == library.encode(text).ids


def test_half_a_surrogate_pair_reads_as_a_question_mark() -> None:
    assert OWN is not None
    assert OWN.tokens("a \ud800 b", NO_END) == OWN.tokens("a ? b", NO_END)


@each_row(
    ("part", "value"),
    [("normalizer", None), ("pre_tokenizer", {"type": "Whitespace"}), ("post_processor", None)],
)
def test_a_tokenizer_of_another_kind_is_none_of_ours(part: str, value: object) -> None:
    assert WordPieces.of(json.dumps({**json.loads(FILE), part: value}).encode()) is None
    assert WordPieces.of(b"{}") is None
    with pytest.raises(ValueError, match="Expecting"):
        WordPieces.of(b"nothing of the kind")
