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
from priming.transfer.importers import Entry, Format, Item
from priming.transfer.reading import checked_entry, clean_text, label, skipping
from priming_formats.stores.tables import (
    Columns,
    StoreNames,
    has_tables,
    in_utc,
    rows,
    source_of,
    state_of,
    texts,
)

_TABLES = ("collections", "segments", "embeddings", "embedding_metadata")
_TEXT = "chroma:document"
_VALUES = "key, string_value, int_value, float_value, bool_value"
_DOCUMENTS = """
    SELECT embeddings.id AS row, embedding_id, embeddings.created_at, collections.name AS collection,
    {values} FROM embeddings JOIN segments ON segments.id = segment_id
    JOIN collections ON collections.id = segments.collection
    LEFT JOIN ({metadata}) AS metadata ON metadata.id = embeddings.id ORDER BY row, is_list
"""


def read(path: Path, *, only: str | None = None) -> Iterator[Item]:
    """Read the documents of the collections, each a fact with its metadata; vectors are left, and made anew.

    Args:
        path: the folder of a persistent client, or its database.
        only: the collection that is read; None: all.

    """
    file = _file(path)
    tables = ["embedding_metadata", "embedding_metadata_array"][
        : 1 + has_tables(file, "embedding_metadata_array")
    ]
    parts = [f"SELECT id, {number} AS is_list, {_VALUES} FROM {name}" for number, name in enumerate(tables)]
    query = _DOCUMENTS.format(values=f"is_list, {_VALUES}", metadata=" UNION ALL ".join(parts))
    names = StoreNames(only)
    for _, group in groupby(rows(file, query, *_TABLES), itemgetter("row")):
        document = [*group]
        if names.have(document[0]["collection"]):
            yield from skipping(map(partial(_entry, file, only), [document]))
    yield from names.missing()


def _entry(file: Path, only: str | None, document: list[Columns]) -> Entry:
    first = document[0]
    own, collection = str(first["embedding_id"]), str(first["collection"])
    where = f"{file}, {collection}/{own}"
    metadata = _metadata(document)
    text = metadata.pop(_TEXT, None)
    if not texts([text]):
        raise ParamError(where, text, "must have a document: what has only a vector is no memory")
    return checked_entry(
        {
            "content": clean_text(text),
            "kind": "fact",
            "key": label(f"chroma:{collection}/{own}"),
            "occurred_at": in_utc(first["created_at"], f"{where}: created_at"),
            "metadata": {**metadata, "collection": collection},
            "source": source_of("chroma", file.parent, only),
            "trust": "tool",
        },
        where,
    )


def _metadata(document: list[Columns]) -> dict[str, Any]:
    """The metadata of a document; rows with the same key and ``is_list`` are a list."""
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


FORMAT = Format(
    read,
    "the folder of a persistent Chroma, or its chroma.sqlite3",
    lambda path: has_tables(_file(path), *_TABLES),
    lambda path, only="": only + state_of(_file(path)),
    place=lambda path: _file(path).parent.absolute(),
)
