"""The stores of mem0: a folder of Qdrant's local mode with the memories, and ``history.db`` with their changes.

In the folder, ``collection/NAME/storage.sqlite`` has a pickled point a row, whose payload holds the text as ``data``,
the ids ``user_id``, ``agent_id`` and ``run_id``, who said it (``actor_id``, ``role``), times and the user's metadata.
``history`` has a row a change of a memory, with what it said before and after: it is read by itself, for memories in
another vector store, and has no ids of users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.transfer.importers import Skipped
from priming.transfer.reading import fields_of, files, label, skipping, time_of, title
from priming_formats.stores.pickled import model_fields
from priming_formats.stores.tables import Columns, StoredMemory, has_tables, rows, store_format, texts

_POINTS = "SELECT * FROM points ORDER BY rowid"
_LATEST = """
    SELECT * FROM history WHERE rowid IN (SELECT max(rowid) FROM history GROUP BY memory_id)
    AND event IS NOT 'DELETE' ORDER BY rowid
"""
_FILE = "storage.sqlite"
_NOT_MEMORIES = ("_entities", "mem0migrations")
"""The ends of names of collections that hold what mem0 notes for itself."""
_IDS = ("user_id", "agent_id", "run_id")
_OWN = ("data", "hash", "text_lemmatized", "created_at", "updated_at", "actor_id")
"""What has a place of its own in a memory, or is made anew."""


def _memories(path: Path, _only: str | None) -> Iterator[StoredMemory | Skipped]:
    """Read memories of users, agents and runs, each a fact with who said it, its run as session, and its metadata."""
    if not path.is_dir():
        yield from _read(path, rows(path, _LATEST, "history"), _change)
        return
    if not (collections := _collections(path)):
        raise ParamError("path", str(path), f"must be a folder of Qdrant: there is no {_FILE} below it")
    for file in collections:
        yield from skipping(_read(file, rows(file, _POINTS, "points"), _point))


def _read(
    file: Path, read_rows: Iterator[Columns], of: Callable[[Columns, str], dict[str, Any]]
) -> Iterator[StoredMemory | Skipped]:
    for row in read_rows:
        where = f"{file}, row {row.get('id')}"
        for payload in skipping(map(of, [row], [where])):
            if isinstance(payload, Skipped):
                yield payload
            else:
                yield texts(map(payload.get, _IDS)), where, partial(_arguments, payload)


def _arguments(payload: dict[str, Any], where: str) -> dict[str, Any]:
    role, run, text = str(payload.get("role") or ""), payload.get("run_id"), payload.get("data")
    if not isinstance(text, str) or not text.strip():
        raise ParamError(where, text, "must have a text as data")
    at = payload.get("updated_at") or payload.get("created_at")
    return {
        "content": text,
        "kind": "fact",
        "key": label(f"mem0:{payload.pop('id')}"),
        "speaker": title(str(payload.get("actor_id") or role)),
        "session": label(str(run)) if run else None,
        "occurred_at": time_of(at, f"{where}: updated_at"),
        "metadata": {
            name: value for name, value in payload.items() if name not in _OWN and value is not None
        },
        "trust": "user" if role == "user" else "agent",
    }


def _point(row: Columns, where: str) -> dict[str, Any]:
    point = model_fields(row["point"], where)
    return {**fields_of(point.get("payload")), "id": point.get("id")}


def _change(row: Columns, _: str) -> dict[str, Any]:
    """Return what the latest change of a memory leaves of it."""
    return {
        "id": row["memory_id"],
        "data": row["new_memory"],
        **{name: row.get(name) for name in (*_OWN[3:], "role")},
    }


def _collections(path: Path) -> list[Path]:
    return [file for file in files(path, (_FILE,)) if not file.parent.name.endswith(_NOT_MEMORIES)]


def _fits(path: Path) -> bool:
    if path.is_dir():
        return (path / "collection").is_dir() and any(
            has_tables(file, "points") for file in _collections(path)
        )
    return has_tables(path, "history", "messages")


FORMAT = store_format(
    "mem0",
    "the memories of mem0: a folder of Qdrant, or a history.db",
    _memories,
    _fits,
    files=lambda path: _collections(path) if path.is_dir() else [path],
)
