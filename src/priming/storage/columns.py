"""The columns of the tables that hold rows, the same in every database, and rows from their values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from priming.config.words import RECALLED, STATUSES, VERDICTS
from priming.serialization import column_names, column_text, encode_row, from_columns
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    R,
    Row,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    record,
)
from priming.types import MemoryRecord

TABLES = (
    "namespaces",
    "memories",
    "versions",
    "generations",
    "vectors",
    "links",
    "verdicts",
    "pairs",
    "runs",
    "weights",
    "relations",
    "operations",
    "changes",
    "touched",
    "traces",
    "activations",
    "loop_sessions",
)
"""All tables but tokens and what is derived, in an order in which they can be filled."""
MEMORY_COLUMNS = column_names(MemoryRow)
VERSION_COLUMNS = tuple("predicates" if name == "when" else name for name in column_names(VersionRow))[1:]
LINK_COLUMNS = column_names(LinkRow)[2:]
VERDICT_COLUMNS = column_names(VerdictRow)[1:]
AS_JSON: dict[type[Row], tuple[str, ...]] = {
    MemoryRow: ("recent",),
    VersionRow: ("when", "tags", "metadata"),
    VerdictRow: ("cue",),
    PairRow: ("times",),
    RunRow: ("shown",),
    WeightsRow: ("weights",),
}
"""The fields whose columns hold JSON; NULL means an empty value."""
_KIND, _STATUS = MEMORY_COLUMNS.index("kind"), MEMORY_COLUMNS.index("status")
_LISTS = ("tags", "times", "shown", "recent")
_JSON: dict[type[Any], tuple[tuple[int, bool], ...]] = {
    cls: tuple((i, name in _LISTS) for i, name in enumerate(column_names(cls)) if name in AS_JSON[cls])
    for cls in AS_JSON
}

_FIRST = "SELECT min(w.recorded_at) FROM versions w WHERE w.namespace = v.namespace AND w.memory = v.memory"
RECORDED_AT = f"CASE v.revision WHEN 1 THEN v.recorded_at ELSE ({_FIRST} AND w.version = v.version) END"
"""When a version was stored: in its first row."""
RETIRED_AT = f"CASE WHEN v.valid_to IS NOT NULL THEN ({_FIRST} AND w.version = v.version + 1) END"
"""When a version was superseded: in the first row of the next."""


def encoded(row: Row) -> dict[str, Any]:
    """The fields of a row as its columns store them."""
    values = encode_row(row)
    for name in AS_JSON.get(type(row), ()):
        values[name] = column_text(values[name])
    return values


def stored(cls: type[R], row: Sequence[Any]) -> R:
    """A row from its columns, of which some hold JSON; ``ValueError`` and the like for damaged ones."""
    values = list(row)
    for i, is_list in _JSON.get(cls, ()):
        text = values[i]
        if text is None or text == ("[]" if is_list else "{}"):
            values[i] = [] if is_list else {}
        else:
            values[i] = json.loads(text)
    if cls is MemoryRow and not (values[_KIND] in RECALLED and values[_STATUS] in STATUSES):
        raise ValueError(f"kind {values[_KIND]!r}, status {values[_STATUS]!r}")
    if cls is VerdictRow and values[1] not in VERDICTS:
        raise ValueError(f"verdict {values[1]!r}")
    return from_columns(cls, values)


def stored_record(namespace: str, row: Sequence[Any]) -> MemoryRecord:
    """A memory from its columns, followed by those of one of its versions."""
    cut = len(MEMORY_COLUMNS)
    return record(namespace, stored(MemoryRow, row[:cut]), stored(VersionRow, row[cut:]))
