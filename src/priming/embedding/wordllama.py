"""Word vectors of WordLlama, read from its files, which the build copies.

The weights are one memory-mapped float16 table, so reading them is a matter of milliseconds. Results equal
WordLlama's ``embed(norm=True)``: byte-pair tokens without special tokens, mean of rows, unit length.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.embedding import weights
from priming.embedding.byte_pairs import BytePairs
from priming.embedding.protocol import Background, TokenIds, Vectors, checked_pool, unit
from priming.embedding.weights import MODEL, NAME, REMEDY, TOKENIZER, WEIGHTS
from priming.errors import EmbedderError, ParamError

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
        lengths = np.linalg.norm(out, axis=1, keepdims=True)
        np.divide(out, lengths, out=out, where=lengths > 0)
        return out

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
    if isinstance(texts, str):
        raise ParamError("texts", texts, "must be a sequence of texts, not one text")
    batch: list[str] = []
    size = 0
    for text in texts:
        if not isinstance(text, str):
            raise ParamError("texts", text, "must hold texts only")
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
