r"""Unicode, in one room: normal forms, case, accents, and the marks that are part of a word.

Texts, keys, tags, files and subjects are compared by these functions, so that letters that look alike meet however
they were typed. Each takes time proportional to the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container
from functools import cache
from typing import Literal

_ASCII = 0x7F
_ASCII_WORD = re.compile(r"\w+")
_JOINER = "\u034f"
_MOST_MARKS = 30
_LONG_RUN = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS + 1},}}")
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_ONE_LETTER = re.compile("LATIN (?:CAPITAL|SMALL) LETTER (?:DOTLESS )?([A-Z])(?: WITH .*)?")
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u2032\uff07"), "'")
_DOTTED_CAPITAL, _DOTLESS = "\u0130", "\u0131"


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    r"""Bring a text to a normal form.

    Normalising sorts the marks on a letter, in time that grows with the square of their number. Where there are more
    than 30, a combining grapheme joiner after each 30 ends the sorting: the stream-safe text format of UAX #15.

    >>> normalized("NFC", "cafe\u0301") == "caf\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize(form, _LONG_RUN.sub(_broken, text))


def caseless(text: str) -> str:
    r"""Bring a name to the form by which names are compared: composed, without regard to case; an accent counts.

    >>> caseless("CAFE\u0301") == caseless("caf\u00e9"), caseless("Straße")
    (True, 'strasse')
    """
    return text.lower() if text.isascii() else normalized("NFC", normalized("NFC", text).casefold())


def lowered(text: str, language: str | None = None) -> str:
    """Bring a text to NFKC and lower case, with its accents and plain apostrophes.

    The capital of the dotless i is that of i as well: what it stands for depends on the language of the text.

    >>> lowered("ISPARTA", "turkish"), lowered("İzmir’de")
    ('ısparta', "izmir'de")
    """
    if text.isascii() and language != "turkish":
        return text.lower()
    plain = normalized("NFKC", text.translate(_APOSTROPHES)).replace(_DOTTED_CAPITAL, "i")
    return (plain.replace("I", _DOTLESS) if language == "turkish" else plain).lower()


def folded(text: str) -> str:
    """Bring a text to NFKC without regard to case, Latin letters without what is added to them.

    Cues are often typed without accents, strokes and dots, or with those of another keyboard.

    >>> folded("Łódź"), folded("Işık"), folded("STRASSE") == folded("Straße"), folded("हिन्दी")
    ('lodz', 'isik', True, 'हिन्दी')
    """
    if text.isascii():
        return text.lower()
    apart = normalized("NFKD", text).translate(_BARE)
    return normalized("NFKC", normalized("NFKC", _ACCENTS.sub("", apart)).casefold())


class _Bare(dict[int, str]):
    """By code, the plain letter of a Latin one that Unicode's forms leave whole, and of a digit the European one."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        match = _ONE_LETTER.fullmatch(unicodedata.name(character, ""))
        plain = unicodedata.decimal(character, None)
        self[code] = character if plain is None else str(plain)
        if match and code > _ASCII:
            self[code] = match[1].lower()
        return self[code]


_BARE = _Bare(_APOSTROPHES)


@cache
def mark_class() -> str:
    """List the marks that are written on, before or after a letter, for a class of a regular expression.

    Vowel signs of Thai and of the scripts of India are marks: a word without them is another word.
    """
    spans: list[list[int]] = []
    for code in range(0x300, 0x1F000):
        if unicodedata.category(chr(code)).startswith("M"):
            if spans and spans[-1][1] == code - 1:
                spans[-1][1] = code
            else:
                spans.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)


def letters(text: str) -> list[str]:
    """Split a text into its characters, each with the marks on it."""
    return list(text) if text.isascii() else _letter_forms()[0].findall(text)


def plain_words(text: str) -> list[str]:
    """List the words of a text: letters, their marks, and digits."""
    return (_ASCII_WORD if text.isascii() else _letter_forms()[1]).findall(text.replace("_", " "))


@cache
def _letter_forms() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A letter with its marks, and a word."""
    return re.compile(f".[{mark_class()}]*", re.DOTALL), re.compile(rf"\w[\w{mark_class()}]*")


def _broken(run: re.Match[str]) -> str:
    """Put a joiner after each 30 marks of a run of characters; no mark is a letter, a digit or a space."""
    pieces: list[str] = []
    marks = 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > _MOST_MARKS:
            pieces.append(_JOINER)
            marks = 1
        pieces.append(character)
    return "".join(pieces)


_WORDS_OF_KEY, _LETTERS_OF_KEY = 6, 48
_ENDS = (0, 6, 12, 20)


def slug(text: str) -> str:
    """A readable key: the first words of a text, lower-cased and joined by hyphens."""
    parts = plain_words(caseless(text[:400]))[:_WORDS_OF_KEY]
    return "".join(letters("-".join(parts))[:_LETTERS_OF_KEY]).strip("-") or "memory"


def free_key(preferred: str, memory_id: str, taken: Container[str] | Callable[[str], bool]) -> str:
    """The preferred key if it is free, else the key with the end of the memory's id."""
    is_taken = taken if callable(taken) else taken.__contains__
    return next((key for key in _keys(preferred, memory_id) if not is_taken(key)), memory_id)


def is_made_from(key: str, text: str, memory_id: str) -> bool:
    """Whether a key is one that a memory gets from a text.

    >>> is_made_from("use-tabs", "Use tabs.", "0-abcdef"), is_made_from("tabs", "Use tabs.", "0-abcdef")
    (True, False)
    """
    return key in _keys(slug(text), memory_id)


def _keys(preferred: str, memory_id: str) -> list[str]:
    tail = memory_id.replace("-", "")
    return [f"{preferred}-{tail[-length:]}" if length else preferred for length in _ENDS]
