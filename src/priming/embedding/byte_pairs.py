"""The tokens of short texts, by the vocabulary alone: the library reads the merges for longer than a cue takes.

In the bundled tokenizer a merge's rank is the number of the token that it makes, and runs of blanks come last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

VERIFIED = "4f766c4b96aabd2a"
"""The digest of the tokenizer for which this is true; ``tests/embedding/test_byte_pairs.py`` compares them."""
_LONGEST_PIECE = 64
"""Characters without a blank beyond which the library is faster."""
_BLANK = "\u2581"
_PIECE = re.compile(f"{_BLANK}+[^{_BLANK}]*")
_SPECIAL = ("<unk>", "<s>", "</s>")


class BytePairs:
    """A vocabulary, and the tokens of texts by it."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._numbers, self._pieces = vocabulary, dict[str, list[int]]()
        self._unmerged = 2 * len(vocabulary)

    @classmethod
    def of(cls, file: bytes) -> BytePairs | None:
        """The vocabulary of a tokenizer's file; None where its merges are not verified."""
        if blake2b(file, digest_size=8).hexdigest() != VERIFIED:
            return None
        start = file.index(b"{", file.index(b'"vocab"'))
        return cls(json.loads(file[start : file.index(b'"merges"')].rstrip().rstrip(b",")))

    def tokens(self, text: str) -> list[int] | None:
        """The numbers of a text's tokens; None for a text that the library has to read."""
        if any(special in text for special in _SPECIAL):
            return None
        readable = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no character
        pieces = _PIECE.findall((_BLANK + readable).replace(" ", _BLANK)) if readable else []
        if any(len(piece) > _LONGEST_PIECE for piece in pieces):
            return None
        return [number for piece in pieces for number in self._tokens_of(piece)]

    def _tokens_of(self, piece: str) -> list[int]:
        numbers = self._pieces.get(piece)
        if numbers is None:
            numbers = [self._numbers[part] for part in self._merged(piece)]
            self._pieces[piece] = numbers
        return numbers

    def _merged(self, piece: str) -> Sequence[str]:
        """The parts of a piece after every merge, that of the lowest rank first and from the left."""
        parts = [part for character in piece for part in self._symbols(character)]
        ranks = [self._rank(*pair) for pair in pairwise(parts)]
        while ranks and (rank := min(ranks)) < self._unmerged:
            place = ranks.index(rank)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
            del ranks[place]
            for near in (place - 1, place):
                if 0 <= near < len(ranks):
                    ranks[near] = self._rank(parts[near], parts[near + 1])
        return parts

    def _symbols(self, character: str) -> Sequence[str]:
        """A character of the vocabulary; of any other its bytes."""
        if character in self._numbers:
            return (character,)
        return [f"<0x{byte:02X}>" for byte in character.encode()]

    def _rank(self, left: str, right: str) -> int:
        number = self._numbers.get(left + right, self._unmerged)
        return number + len(self._numbers) if left[-1] == right[-1] == _BLANK else number
