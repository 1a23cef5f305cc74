"""The folder of Chroma, or the ``chroma.sqlite3`` in it: the documents of its collections.

A row of ``embeddings`` is a document, of a segment, of a collection; its text and metadata are rows of
``embedding_metadata``, by ``key``, the text under ``chroma:document``, and lists in ``embedding_metadata_array``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.reading import label
from priming_formats.stores.tables import Columns, StoredMemory, has_tables, in_utc, rows, store_format, texts

_TABLES = ("collections", "segments", "embeddings", "embedding_metadata")
_TEXT = "chroma:document"
_VALUES = "key, string_value, int_value, float_value, bool_value"
_DOCUMENTS = """
    SELECT embeddings.id AS row, embedding_id, embeddings.created_at, collections.name AS collection,
    {values} FROM embeddings JOIN segments ON segments.id = segment_id
    JOIN collections ON collections.id = segments.collection
    LEFT JOIN ({metadata}) AS metadata ON metadata.id = embeddings.id ORDER BY row, is_list
"""


def _memories(path: Path, _only: str | None) -> Iterator[StoredMemory]:
    """Read the documents of the collections, each a fact with its metadata; vectors are left, and made anew."""
    file = _file(path)
    tables = ["embedding_metadata", "embedding_metadata_array"][
        : 1 + has_tables(file, "embedding_metadata_array")
    ]
    parts = [f"SELECT id, {number} AS is_list, {_VALUES} FROM {name}" for number, name in enumerate(tables)]
    query = _DOCUMENTS.format(values=f"is_list, {_VALUES}", metadata=" UNION ALL ".join(parts))
    for _, group in groupby(rows(file, query, *_TABLES), itemgetter("row")):
        document = [*group]
        own, collection = str(document[0]["embedding_id"]), str(document[0]["collection"])
        arguments = partial(_arguments, f"{collection}/{own}", collection, document)
        yield [collection], f"{file}, {collection}/{own}", arguments


def _arguments(own: str, collection: str, document: list[Columns], where: str) -> dict[str, Any]:
    metadata = _metadata(document)
    text = metadata.pop(_TEXT, None)
    if not texts([text]):
        raise ParamError(where, text, "must have a document: what has only a vector is no memory")
    return {
        "content": text,
        "kind": "fact",
        "key": label(f"chroma:{own}"),
        "occurred_at": in_utc(document[0]["created_at"], f"{where}: created_at"),
        "metadata": {**metadata, "collection": collection},
        "trust": "tool",
    }


def _metadata(document: list[Columns]) -> dict[str, Any]:
    """Return the metadata of a document; rows with the same key and ``is_list`` are a list."""
    metadata: dict[str, Any] = {}
    for row in document:
        if row["key"] is None:
            continue
        values = (row[name] for name in ("string_value", "int_value", "float_value"))
        value = next((value for value in values if value is not None), None)
        if row["bool_value"] is not None:
            value = bool(row["bool_value"])
        if row["is_list"]:
            metadata.setdefault(row["key"], []).append(value)
        else:
            metadata[row["key"]] = value
    return metadata


def _file(path: Path) -> Path:
    return path / "chroma.sqlite3" if path.is_dir() else path


FORMAT = store_format(
    "chroma",
    "the folder of a persistent Chroma, or its chroma.sqlite3",
    _memories,
    lambda path: has_tables(_file(path), *_TABLES),
    files=lambda path: [_file(path)],
    place=lambda path: _file(path).parent.absolute(),
)
