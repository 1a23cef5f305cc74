r"""Unicode, in one room: normal forms, case, accents, the marks that are part of a word, and glob patterns.

Texts, keys, tags, files and subjects are compared by these functions, so that letters that look alike meet however
they were typed. Each takes time proportional to the text; a glob is an automaton, which reads a path in linear time
whatever the patterns are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Container, Iterator
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal

from priming.config.params.limits import STORE

_ASCII = 0x7F
_ASCII_WORD = re.compile(r"\w+")
_JOINER = "\u034f"
_MOST_MARKS = 30
_LONG_RUN = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS + 1},}}")
_ACCENTS = re.compile(
    "(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+|(?<=[\u0415\u0435])\u0308"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
"""Accents of Latin and Greek letters, the dots of the Russian yo, the points of Hebrew, the vowels of Arabic."""
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
    """Bring a text to NFKC without regard to case, letters without what is written on them at pleasure.

    Cues are often typed without accents, strokes, dots and vowel points, or with those of another keyboard.

    >>> folded("Łódź"), folded("Işık"), folded("STRASSE") == folded("Straße"), folded("हिन्दी")
    ('lodz', 'isik', True, 'हिन्दी')
    >>> folded("Γιώργος"), folded("Фёдор"), folded("דָּוִד")
    ('γιωργοσ', 'федор', 'דוד')
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
    """Return a letter with its marks, and a word."""
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
    """Return a readable key: the first words of a text, lower-cased and joined by hyphens."""
    return _slug(text[:400])


@lru_cache(maxsize=1024)
def _slug(text: str) -> str:
    parts = plain_words(caseless(text.replace(_DOTTED_CAPITAL, "i")))[:_WORDS_OF_KEY]
    return "".join(letters("-".join(parts))[:_LETTERS_OF_KEY]).strip("-") or "memory"


def free_key(preferred: str, memory_id: str, taken: Container[str] | Callable[[str], bool]) -> str:
    """Return the preferred key if it is free, else the key with the end of the memory's id."""
    is_taken = taken if callable(taken) else taken.__contains__
    return next((key for key in _keys(preferred, memory_id) if not is_taken(key)), memory_id)


def is_made_from(key: str, text: str, memory_id: str) -> bool:
    """Tell whether a key is one that a memory gets from a text.

    >>> is_made_from("use-tabs", "Use tabs.", "0-abcdef"), is_made_from("tabs", "Use tabs.", "0-abcdef")
    (True, False)
    """
    return key in _keys(slug(text), memory_id)


def _keys(preferred: str, memory_id: str) -> list[str]:
    tail = memory_id.replace("-", "")
    return [f"{preferred}-{tail[-length:]}" if length else preferred for length in _ENDS]


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ALTERNATIVES = 64
"""The most patterns that braces expand to."""
_LETTERS = 65_536
"""The letters of the longest patterns of a condition together."""

_PATH_LETTERS = 4_096
"""Letters of the longest path that a system has."""
_BRACES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
_SET = re.compile(r"\[(!?+\]?+[^\]]*+)(\]?)")
_MEMBER = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_TREES, _STARS = re.compile(r"TT+"), re.compile(r"\*+")
_ANY, _STAR, _TREE, _IN_SET, _END = "QRTSE"
"""The symbols ``?``, ``*``, ``**``, ``[…]`` and the end: capitals, since patterns and paths are in lower case."""


@lru_cache(maxsize=256)
class Globs:
    """Patterns of which any may match, as an automaton whose places are the bits of an integer [1]_.

    ``*``, ``?`` and ``[…]`` stay within one part of the path, ``**`` crosses any number of them, ``{a,b}`` is
    either. A pattern may match at any depth, unless it begins with "/"; one that ends with "/" matches all below, one
    beyond ``STORE.condition_letters`` nothing. Letters match in either case.

    It reads a path from its end, where most patterns differ. A letter of the path takes a few operations on integers
    with a bit for each letter of the patterns, whatever these repeat.

    References
    ----------
    .. [1] R. Baeza-Yates and G. H. Gonnet, A new approach to text searching, 1992.

    """

    def __init__(self, patterns: frozenset[str]) -> None:
        sets = list[str]()
        self._symbols = "".join(_symbols(pattern, sets) for pattern in _without_braces(patterns))
        self._sets = sets
        self._stars, self._trees, self._ends = map(self._places, (_STAR, _TREE, _END))
        self._rest = self._trees & self._ends >> 1
        self._begin = self._beyond(self._ends << 1 | 1, "/")
        self._accept = lru_cache(maxsize=64)(self._accepting)

    def match(self, path: str) -> bool:
        """Tell whether any pattern matches a path that ``backwards`` wrote."""
        reached = self._begin
        for letter in path:
            if not reached or reached & self._rest:
                break
            stay = reached & (self._trees if letter == "/" else self._trees | self._stars)
            reached = self._beyond((reached & self._accept(letter)) << 1 | stay, letter)
        return bool(reached & (self._rest | self._ends))

    def _beyond(self, reached: int, letter: str) -> int:
        """Return the places reached, and those behind what may be empty: ``**`` between two parts, and ``*``."""
        if letter == "/":
            reached |= (reached & self._trees) << 1
        return reached | (reached & self._stars) << 1

    def _accepting(self, letter: str) -> int:
        """Return the places that a letter leads from."""
        if letter == "/":
            return self._places(letter)
        return self._places(letter) | self._places(_ANY) | (self._in_sets(letter) if self._sets else 0)

    def _places(self, symbol: str) -> int:
        places, at = bytearray(len(self._symbols) // 8 + 1), self._symbols.find(symbol)
        while at >= 0:
            places[at >> 3] |= 1 << (at & 7)
            at = self._symbols.find(symbol, at + 1)
        return int.from_bytes(places, "little")

    def _in_sets(self, letter: str) -> int:
        """Return the places of sets that have a letter."""
        import numpy as np  # hooks load this module and, with a server, no arrays

        owner, low, high = self._members
        inside = np.zeros(len(self._sets), np.bool_)
        inside[owner[(low <= ord(letter)) & (ord(letter) <= high)]] = True
        places = np.frombuffer(self._symbols.encode("utf-32-le", "surrogatepass"), np.uint32) == ord(_IN_SET)
        places[places] = inside != [members.startswith("!") for members in self._sets]
        return int.from_bytes(np.packbits(places, bitorder="little").tobytes(), "little")

    @cached_property
    def _members(self) -> NDArray[np.int64]:
        """The ranges of letters of the sets: which set, from where, to where."""
        import numpy as np

        ranges = [
            (i, ord(low or single), ord(high or single))
            for i, members in enumerate(self._sets)
            for low, high, single in _MEMBER.findall(members.removeprefix("!"))
        ]
        return np.array(ranges, np.int64).T


def _without_braces(patterns: Collection[str]) -> Iterator[str]:
    """Yield what patterns with alternatives in braces expand to, as far as ``WHEN`` allows; those with none first."""
    left = _LETTERS
    for pattern in sorted(patterns, key=lambda each: ("{" in each, each)):
        if len(pattern) <= STORE.condition_letters:
            for plain in islice(_expanded(pattern), _ALTERNATIVES):
                if (left := left - len(plain) - 1) < 0:
                    return
                yield plain


def _expanded(pattern: str) -> Iterator[str]:
    left = [pattern]
    while left:
        pattern = left.pop()
        match = _BRACES.search(pattern)
        if match is None:
            yield pattern
        else:
            head, tail = pattern[: match.start()], pattern[match.end() :]
            left += [f"{head}{choice}{tail}" for choice in match[1].split(",")[::-1]]


def _symbols(pattern: str, sets: list[str]) -> str:
    """Return the symbols of a pattern from its end, with a slash after each part; appends its sets of letters."""
    own = list[str]()

    def symbol(match: re.Match[str]) -> str:
        if not match[2]:
            return match[0]  # a bracket that is never closed is a letter
        own.append(match[1])
        return _IN_SET

    parts = ["**"] * (not pattern.startswith(("/", "\\"))) + _parts(pattern)
    parts += ["**"] * pattern.endswith(("/", "\\"))
    text = "".join(_TREE if part == "**" else f"/{_SET.sub(symbol, part)}" for part in parts)
    sets += own[::-1]
    return _STARS.sub(_STAR, _TREES.sub(_TREE, text)).replace("?", _ANY)[::-1] + _END


def backwards(path: str) -> str | None:
    """Return a path from its last letter to its first, a slash after each part; None for one that no system has."""
    return "".join(f"/{part}" for part in _parts(path))[::-1] if len(path) <= _PATH_LETTERS else None


def _parts(path: str) -> list[str]:
    return [part for part in caseless(path).replace("\\", "/").split("/") if part not in ("", ".")]
