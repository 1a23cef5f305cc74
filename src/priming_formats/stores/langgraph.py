"""The store of LangGraph in SQLite: the table ``store``, a row for each item.

``prefix`` is the namespace, its parts joined by dots, ``value`` an object in JSON, ``expires_at`` when the store may
drop the item. What is read of a namespace alone has the keys and the metadata that ``PrimingStore`` gives its items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.reading import label
from priming_formats.stores.tables import (
    Columns,
    StoredMemory,
    has_tables,
    in_utc,
    json_fields,
    rows,
    store_format,
    texts,
)

_TABLES = ("store", "store_migrations")
_TEXTS = ("text", "content", "memory", "data", "value")
"""The fields that hold the text of an item, the first there is."""
_ITEMS = "SELECT * FROM store WHERE expires_at IS NULL OR expires_at > CURRENT_TIMESTAMP ORDER BY prefix, key"


def _memories(path: Path, only: str | None) -> Iterator[StoredMemory]:
    """Read the items that have not expired, each a fact: its text, or else its value as JSON.

    An item has the names of its namespace and of those above, their parts joined by dots.
    """
    for row in rows(path, _ITEMS, *_TABLES):
        names = accumulate(str(row["prefix"]).split("."), "{}.{}".format)
        yield [*names], f"{path}, {row['prefix']}/{row['key']}", partial(_arguments, only, row)


def _arguments(only: str | None, row: Columns, where: str) -> dict[str, Any]:
    value = json_fields(row["value"], where)
    if not value:
        raise ParamError(where, row["value"], "must be an object with something in it")
    name = next((name for name in _TEXTS if texts([value.get(name)])), None)
    content = value[name] if name else json.dumps(value, ensure_ascii=False)
    rest = {other: item for other, item in value.items() if name and other != name}
    times = {each: in_utc(row[each], f"{where}: {each}") for each in ("created_at", "updated_at")}
    item = {"key": row["key"], "value": value, **{each: at.isoformat() for each, at in times.items() if at}}
    if row.get("ttl_minutes") is not None and row["expires_at"] is not None:
        until = in_utc(row["expires_at"], f"{where}: expires_at").timestamp()
        item |= {"ttl": row["ttl_minutes"], "expires_at": until}
    return {
        "content": content,
        "kind": "fact",
        "key": label(row["key"] if only == row["prefix"] else f"langgraph:{row['prefix']}/{row['key']}"),
        "occurred_at": times["updated_at"],
        "metadata": {**rest, "namespace": row["prefix"], **item},
        "trust": "agent",
    }


FORMAT = store_format(
    "langgraph", "the SQLite store of LangGraph", _memories, lambda path: has_tables(path, *_TABLES)
)
