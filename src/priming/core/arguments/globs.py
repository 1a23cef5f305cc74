"""Glob patterns as an automaton, which reads a path in linear time whatever the patterns are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from priming.config.params.limits import STORE
from priming.core.arguments.normal_forms import caseless

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
        """Whether any pattern matches a path that ``backwards`` wrote."""
        reached = self._begin
        for letter in path:
            if not reached or reached & self._rest:
                break
            stay = reached & (self._trees if letter == "/" else self._trees | self._stars)
            reached = self._beyond((reached & self._accept(letter)) << 1 | stay, letter)
        return bool(reached & (self._rest | self._ends))

    def _beyond(self, reached: int, letter: str) -> int:
        """The places reached, and those behind what may be empty: ``**`` between two parts, and ``*``."""
        if letter == "/":
            reached |= (reached & self._trees) << 1
        return reached | (reached & self._stars) << 1

    def _accepting(self, letter: str) -> int:
        """The places that a letter leads from."""
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
        """The places of sets that have a letter."""
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
    """What patterns with alternatives in braces expand to, as far as ``WHEN`` allows; those without any first."""
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
    """The symbols of a pattern from its end, with a slash after each part; appends its sets of letters."""
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
    """A path from its last letter to its first, a slash after each part; None for one that no system has."""
    return "".join(f"/{part}" for part in _parts(path))[::-1] if len(path) <= _PATH_LETTERS else None


def _parts(path: str) -> list[str]:
    return [part for part in caseless(path).replace("\\", "/").split("/") if part not in ("", ".")]
