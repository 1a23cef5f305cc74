"""The tokens of WordLlama's tokenizer by its vocabulary alone: its file's merges take longer to read than a cue does.

In that tokenizer a merge's rank is the number of the token that it makes, and runs of blanks come last. The Rust
library ``tokenizers`` is the oracle of ``tests/embedding/test_byte_pairs.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import pairwise

VERIFIED = "4f766c4b96aabd2a"
"""The digest of the tokenizer for which this is true."""
_SHORT = 24
"""Characters up to which a search through all pairs is the fastest."""
_BLANK = "\u2581"
_PIECE = re.compile(f"{_BLANK}+[^{_BLANK}]*")
_SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}
"""Texts that are a token as they stand; what is between them is read by itself."""
_SPLIT = re.compile(f"({'|'.join(_SPECIAL)})").split
_MOST_PIECES = 1 << 16
"""Pieces whose tokens are remembered."""


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

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens."""
        readable = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no character
        numbers = list[int]()
        for place, part in enumerate(_SPLIT(readable)):
            if place % 2:
                numbers.append(_SPECIAL[part])
            elif part:
                for piece in _PIECE.findall((_BLANK + part).replace(" ", _BLANK)):
                    numbers += self._tokens_of(piece)
        return numbers

    def _tokens_of(self, piece: str) -> list[int]:
        numbers = self._pieces.get(piece)
        if numbers is None:
            parts = self._merged if len(piece) <= _SHORT else self._merged_long
            numbers = [self._numbers[part] for part in parts(piece)]
            if len(self._pieces) >= _MOST_PIECES:
                self._pieces.clear()
            if len(piece) <= _SHORT:
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

    def _merged_long(self, piece: str) -> Iterator[str]:
        """The parts of a long piece: it is cut where no token goes across, and each stretch merged by a queue."""
        start = 0
        for end in range(1, len(piece) + 1):
            if end == len(piece) or piece[end - 1 : end + 1] not in self._neighbours:
                stretch = piece[start:end]
                yield from self._merged(stretch) if end - start <= _SHORT else self._queued(stretch)
                start = end

    def _queued(self, piece: str) -> Iterator[str]:
        """What ``_merged`` returns, in time that grows with the length of a piece and little more."""
        parts = [part for character in piece for part in self._symbols(character)]
        before, after = list(range(-1, len(parts) - 1)), list(range(1, len(parts) + 1))
        queue = [
            (rank, place, left + right)
            for place, (left, right) in enumerate(pairwise(parts))
            if (rank := self._rank(left, right)) < self._unmerged
        ]
        heapify(queue)
        while queue:
            _, place, whole = heappop(queue)
            right = after[place]
            if right >= len(parts) or not parts[place] or parts[place] + parts[right] != whole:
                continue  # one of the two was merged with another meanwhile
            parts[place], parts[right] = whole, ""
            after[place] = after[right]
            if after[place] < len(parts):
                before[after[place]] = place
            for left in (before[place], place):
                if left >= 0 and after[left] < len(parts):
                    pair = parts[left], parts[after[left]]
                    if (rank := self._rank(*pair)) < self._unmerged:
                        heappush(queue, (rank, left, "".join(pair)))
        return filter(None, parts)

    @cached_property
    def _neighbours(self) -> set[str]:
        """Each two characters that follow one another in a token."""
        return {token[place : place + 2] for token in self._numbers for place in range(len(token) - 1)}

    def _symbols(self, character: str) -> Sequence[str]:
        """A character of the vocabulary; of any other its bytes."""
        if character in self._numbers:
            return (character,)
        return [f"<0x{byte:02X}>" for byte in character.encode()]

    def _rank(self, left: str, right: str) -> int:
        number = self._numbers.get(left + right, self._unmerged)
        return number + len(self._numbers) if left[-1] == right[-1] == _BLANK else number
