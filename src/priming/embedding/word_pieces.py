"""The tokens of a BERT model of lower-case letters: words by Unicode, and the longest pieces of each word.

Departures from the categories of today's Unicode are those of the Rust library ``tokenizers``, whose tables are of
Unicode 8: it is the oracle of ``tests/embedding/test_word_pieces.py``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_NORMALIZER = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
_NEWER = (
    "61D 7FD 890-8E2 9FD-9FE A76 AFA-AFF B55 C04-C3C C77 C84 D00 D3B-D3C D81 EBA ECE 180F-1886 1ABF-1ACE 1B7D-1B7E"
    " 1DF6-1DFB 2E43-2E5D A82C A8C5 A8FF A9BD 10D24-10F89 11070-11074 110C2-110CD 111CF 1123E-11241 1133B 11438-1145E"
    " 11660-1166C 116B9 1182F-11FFF 12FF1-13455 16E97-16F4F 16FE2-16FE4 1CF00-1CF46 1E000-1E4EF 1E944-1E95F"
)
"""Where marks, punctuation and format characters came after Unicode 8: they count as letters."""
_ONCE = {"\u166d": "Po", "\U000111c9": "Po", "\u1734": "Mn"}
"""Characters whose category changed since."""
_IDEOGRAPHS = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B740),
    range(0x2B740, 0x2B820),
    range(0x2B920, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)
"""Each of these characters is a word."""
_REPLACEMENT = "\ufffd"
_MOST_WORDS = 1 << 16
"""Words whose pieces are remembered."""


class WordPieces:
    """The vocabulary of a model, and the tokens of texts by it: a start, the pieces, an end.

    Args:
        vocabulary: the number of each piece; pieces within a word begin with ``prefix``.
        unknown: the number for a word that no pieces make up.
        ends: the numbers of the start and the end.
        special: numbers of texts that are a token as they stand, such as ``[MASK]``.
        prefix: what pieces within a word begin with.
        longest: letters of a word beyond which it is unknown.

    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        unknown: int,
        ends: tuple[int, int],
        special: Mapping[str, int],
        prefix: str = "##",
        longest: int = 100,
    ) -> None:
        self._vocabulary, self._unknown, self._ends = vocabulary, unknown, ends
        self._special, self._prefix, self._longest = special, prefix, longest
        self._split = re.compile(f"({'|'.join(map(re.escape, special))})").split if special else None
        self._of_word = lru_cache(_MOST_WORDS)(self._pieces)
        self._characters = _Characters()

    @classmethod
    def of(cls, file: bytes) -> WordPieces | None:
        """Return the tokenizer of a ``tokenizer.json``; None for one of another kind.

        Raises:
            ValueError: the file is not JSON.

        """
        about = json.loads(file)
        try:
            model, added = about["model"], about["added_tokens"]
            first, text, last = about["post_processor"]["single"]
            is_ours = (
                model["type"] == "WordPiece"
                and about["normalizer"] == _NORMALIZER
                and about["pre_tokenizer"] == {"type": "BertPreTokenizer"}
                and "Sequence" in text
                and all(_is_plain(token) for token in added)
            )
            numbers = about["post_processor"]["special_tokens"]
            ends = [numbers[end["SpecialToken"]["id"]]["ids"] for end in (first, last)]
            if not is_ours or any(len(ids) != 1 for ids in ends):
                return None
            return cls(
                model["vocab"],
                model["vocab"][model["unk_token"]],
                (ends[0][0], ends[1][0]),
                {token["content"]: token["id"] for token in added},
                model["continuing_subword_prefix"],
                model["max_input_chars_per_word"],
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def tokens(self, text: str, most: int) -> list[int]:
        """Return numbers of at most ``most`` tokens of a text, both ends among them; none of a text without words.

        >>> pieces = WordPieces({"[UNK]": 0, "[": 1, "]": 2, "word": 3, "##s": 4}, 0, (8, 9), {})
        >>> pieces.tokens("Words [x]", 512), pieces.tokens("words words", 4), pieces.tokens(" ", 512)
        ([8, 3, 4, 1, 0, 2, 9], [8, 3, 4, 9], [])
        """
        readable = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no character
        numbers, room = list[int](), max(most - 2, 0)
        for place, part in enumerate([readable] if self._split is None else self._split(readable)):
            if len(numbers) >= room:
                break
            if place % 2:
                numbers.append(self._special[part])
                continue
            for word in part.translate(self._characters).split():
                numbers += self._of_word(word)
                if len(numbers) >= room:
                    break
        return [self._ends[0], *numbers[:room], self._ends[1]] if numbers else []

    def reads(self, numbers: Sequence[int]) -> bool:
        """Tell whether any of the tokens is of a word that it knows: texts of none would all be alike."""
        return not {*numbers} <= {self._unknown, *self._ends}

    def _pieces(self, word: str) -> Sequence[int]:
        """Return the longest piece at the start, then at its end, and so on; unknown where there is none."""
        if len(word) > self._longest:
            return (self._unknown,)
        numbers, start = list[int](), 0
        while start < len(word):
            prefix = self._prefix if start else ""
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            numbers.append(number)
            start = end
        return numbers


class _Characters(dict[int, str]):
    """What each character is in words, for ``str.translate``: lower case, without accents; blanks split words."""

    def __init__(self) -> None:
        super().__init__()
        ends = (part.partition("-") for part in _NEWER.split())
        self._newer = [range(int(first, 16), int(last or first, 16) + 1) for first, _, last in ends]

    def __missing__(self, code: int) -> str:
        self[code] = text = self._of(chr(code))
        return text

    def _of(self, character: str) -> str:
        category = self._category(character)
        if character in "\t\n\r" or (character.isspace() and category != "Cc"):
            return " "
        if character == _REPLACEMENT or category in ("Cc", "Cf", "Co"):
            return ""
        parts = unicodedata.normalize("NFD", character)
        text = "".join(self._spaced(part.lower()) for part in parts if self._category(part) != "Mn")
        return f" {text} " if any(ord(character) in ideographs for ideographs in _IDEOGRAPHS) else text

    def _spaced(self, text: str) -> str:
        """Return a character of a word, or a word of its own if it is punctuation, as all ASCII signs are."""
        is_sign = text.isascii() and text.isprintable() and not text.isalnum()
        return f" {text} " if is_sign or self._category(text[0])[0] == "P" else text

    def _category(self, character: str) -> str:
        """Return the category, by Unicode 8."""
        category = unicodedata.category(character)
        if character in _ONCE:
            return _ONCE[character]
        is_split = category in ("Mn", "Cf") or category[0] == "P"
        return "Lo" if is_split and any(ord(character) in newer for newer in self._newer) else category


def _is_plain(token: Mapping[str, Any]) -> bool:
    """Tell whether an added token is taken as it stands in the text."""
    return token["special"] and not any(
        token[name] for name in ("single_word", "lstrip", "rstrip", "normalized")
    )
