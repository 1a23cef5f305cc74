"""Word vectors of WordLlama, read from its files, which the build copies, and the tokens of its tokenizer.

The weights are one memory-mapped float16 table, so reading them is a matter of milliseconds. Results equal
WordLlama's ``embed(norm=True)``: byte-pair tokens without special tokens, mean of rows, unit length. The tokens
need the vocabulary alone: its file's merges take longer to read than a cue does.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.core.arguments.arrays import unit_rows
from priming.embedding import weights
from priming.embedding.protocol import Background, TokenIds, Vectors, check_texts, checked_pool, unit
from priming.embedding.weights import MODEL, NAME, REMEDY, TOKENIZER, WEIGHTS
from priming.errors import EmbedderError

VERIFIED = "4f766c4b96aabd2a"
"""The digest of the tokenizer for which this is true."""
_SHORT = 24
"""Characters up to which the tokens of a piece are remembered."""
_BLANK = "\u2581"
_PIECE = re.compile(f"{_BLANK}+[^{_BLANK}]*")
_SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}
"""Texts that are a token as they stand; what is between them is read by itself."""
_SPLIT = re.compile(f"({'|'.join(_SPECIAL)})").split
_MOST_PIECES = 1 << 16
"""So many pieces are."""
_MOST_TEXTS, _SHORT_TEXT = 1 << 10, 2_048
"""So many short texts are too: a load embeds its texts, and then indexes their tokens."""


class BytePairs:
    """A vocabulary, and the tokens of texts by it."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._numbers, self._unmerged = vocabulary, 2 * len(vocabulary)
        self._of_short = lru_cache(_MOST_PIECES)(self._tokens_of)
        self._of_text = lru_cache(_MOST_TEXTS)(self._read)

    @classmethod
    def of(cls, file: bytes) -> BytePairs | None:
        """Return the vocabulary of a tokenizer's file; None where its merges are not verified."""
        if blake2b(file, digest_size=8).hexdigest() != VERIFIED:
            return None
        start = file.index(b"{", file.index(b'"vocab"'))
        return cls(json.loads(file[start : file.index(b'"merges"')].rstrip().rstrip(b",")))

    def tokens(self, text: str) -> Sequence[int]:
        """Return the numbers of a text's tokens."""
        return (self._of_text if len(text) <= _SHORT_TEXT else self._read)(text)

    def _read(self, text: str) -> Sequence[int]:
        readable = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no character
        numbers = list[int]()
        for place, part in enumerate(_SPLIT(readable)):
            if place % 2:
                numbers.append(_SPECIAL[part])
            elif part:
                for piece in _PIECE.findall((_BLANK + part).replace(" ", _BLANK)):
                    numbers += (self._of_short if len(piece) <= _SHORT else self._tokens_of)(piece)
        return numbers

    def _tokens_of(self, piece: str) -> list[int]:
        if piece in self._numbers:  # merged, every token that begins with a blank is itself
            return [self._numbers[piece]]
        stretches = [piece] if len(piece) <= _SHORT else self._stretches(piece)
        return [self._numbers[part] for stretch in stretches for part in self._merged(stretch)]

    def _stretches(self, piece: str) -> Iterator[str]:
        """Cut a long piece where no token goes across."""
        start = 0
        for end in range(1, len(piece)):
            if piece[end - 1 : end + 1] not in self._neighbours:
                yield piece[start:end]
                start = end
        yield piece[start:]

    def _merged(self, piece: str) -> Iterator[str]:
        """Yield the parts of a piece after every merge, that of lowest rank first and from the left, by a queue."""
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
        """Return a character of the vocabulary; of any other its bytes."""
        if character in self._numbers:
            return (character,)
        return [f"<0x{byte:02X}>" for byte in character.encode()]

    def _rank(self, left: str, right: str) -> int:
        number = self._numbers.get(left + right, self._unmerged)
        return number + len(self._numbers) if left[-1] == right[-1] == _BLANK else number


TENSOR = "embedding.weight"
PREPROCESSING = "bpe, no special tokens, mean, unit length"

BATCH_CHARACTERS = 1 << 18
BATCH_TEXTS = 1024
CHUNK_TOKENS = 1 << 14
HEADER_LIMIT = 1 << 20
DIGEST_ROWS = 256


class StaticEmbedder:
    """WordLlama's 256 dimensions, a few microseconds a text. Files are opened at first use."""

    background = Background(mean=0.16, spread=0.12, strength=0.55)

    def __init__(self, folder: Path | str | None = None) -> None:
        self._chosen = None if folder is None else Path(folder)

    @cached_property
    def generation(self) -> str:
        """For example ``wordllama-l2_supercat/256/1f0c…``: the digest covers weights and tokenizer."""
        digest = hashlib.blake2b(PREPROCESSING.encode(), digest_size=6)
        digest.update(_read(self._folder / TOKENIZER))
        # A retrained table differs in every row: evenly spaced rows tell it apart without reading 16 MB.
        digest.update(str(self._table.shape).encode())
        digest.update(self._table[:: max(1, len(self._table) // DIGEST_ROWS)].tobytes())
        return f"{NAME}-{MODEL}/{self.dimension}/{digest.hexdigest()}"

    @property
    def stamp(self) -> str:
        """The identity of its files: equal stamps mean equal vectors."""
        return weights.stamp(self._folder)

    @property
    def dimension(self) -> int:
        """The number of columns of the table."""
        return int(self._table.shape[1])

    @property
    def vocabulary(self) -> int:
        """The number of rows of the table."""
        return int(self._table.shape[0])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; the row of a text does not depend on its neighbours in the batch."""
        rows = [self.pool_each(self._ids(batch)) for batch in _batches(texts)]
        return np.concatenate(rows) if rows else self.pool_each([])

    def pool_each(self, texts: Sequence[NDArray[np.integer[Any]]]) -> Vectors:
        """Make unit rows, each along Σ e(ids) of a text."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if texts:
            self._sum_into(out, texts)
        return unit_rows(out)

    def words(self, words: Sequence[str]) -> Vectors:
        """Make unit rows, one a word; words of like meaning are near one another."""
        return self.embed(words)

    def tokens(self, texts: Sequence[str]) -> list[TokenIds]:
        """List the byte-pair tokens of each text, without the model's start token."""
        return [ids for batch in _batches(texts) for ids in self._ids(batch)]

    def pool(self, ids: ArrayLike, weights: ArrayLike) -> Vectors:
        """Make the unit vector along Σ weights·e(ids)."""
        rows, factors = checked_pool(ids, weights, self.vocabulary)
        total = np.zeros(self.dimension, dtype=np.float64)
        for start in range(0, len(rows), CHUNK_TOKENS):
            part = slice(start, start + CHUNK_TOKENS)
            total += factors[part] @ self._table[rows[part]].astype(np.float64)
        return unit(total)

    @cached_property
    def _folder(self) -> Path:
        return weights.folder() if self._chosen is None else self._chosen

    @cached_property
    def _table(self) -> NDArray[np.float16]:
        return _map_table(self._folder / WEIGHTS)

    @cached_property
    def _tokenizer(self) -> BytePairs:
        path = self._folder / TOKENIZER
        tokenizer = BytePairs.of(_read(path))
        if tokenizer is None:
            raise EmbedderError(f"{path} is not the tokenizer that was examined; {REMEDY}")
        return tokenizer

    def _ids(self, texts: list[str]) -> list[TokenIds]:
        last = self.vocabulary - 1
        return [np.minimum(np.array(self._tokenizer.tokens(text), dtype=np.int64), last) for text in texts]

    def _sum_into(self, out: Vectors, texts: Sequence[NDArray[np.integer[Any]]]) -> None:
        """Write Σ e(t) of each text. Only the distinct tokens are widened: float16 arithmetic is slow."""
        ids = np.concatenate(texts)
        distinct, places = np.unique(ids, return_inverse=True)
        rows = self._table[distinct].astype(np.float32)
        start = 0
        for row, ids_of_text in zip(out, texts, strict=True):
            own = places[start : start + len(ids_of_text)]
            start += len(ids_of_text)
            if len(own) <= CHUNK_TOKENS:
                rows[own].sum(axis=0, out=row)
            else:
                row[:] = np.bincount(own, minlength=len(distinct)) @ rows.astype(np.float64)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Cut texts into runs whose tokens fit comfortably in memory; a longer text is a batch of its own."""
    check_texts(texts)
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (size + len(text) > BATCH_CHARACTERS or len(batch) == BATCH_TEXTS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read ({error.strerror}); {REMEDY}") from error


def _map_table(path: Path) -> NDArray[np.float16]:
    """Map the embedding table of a safetensors file: 8 bytes of header length, a JSON header, the tensors."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(HEADER_LIMIT, size - 8):
                raise ValueError(f"a header of {length} bytes")
            shape, start = _tensor(json.loads(file.read(length)), size - 8 - length)
        table = np.memmap(path, dtype="<f2", mode="r", offset=8 + length + start, shape=shape)
        return np.asarray(table)  # a plain array over the same pages: indexing a memmap is slower
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read ({error.strerror}); {REMEDY}") from error
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise EmbedderError(f"{path} is damaged ({error!r}); {REMEDY}") from error


def _tensor(header: dict[str, Any], room: int) -> tuple[tuple[int, int], int]:
    """Shape and start of the table, whose bytes must all be there."""
    about = header[TENSOR]
    rows, columns = about["shape"]
    start, end = about["data_offsets"]
    if about["dtype"] != "F16" or min(rows, columns) < 1 or end - start != 2 * math.prod((rows, columns)):
        raise ValueError(f"{TENSOR} is not a float16 table: {about}")
    if not 0 <= start <= end <= room:
        raise ValueError(f"{TENSOR} ends at byte {end} of {room}")
    return (rows, columns), start
