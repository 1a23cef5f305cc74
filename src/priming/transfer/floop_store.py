"""The files of a floop store: its folder, its lines, and the fields of its objects, checked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.values import dataclass
from priming.errors import ParamError
from priming.transfer.reading import is_within, iso_time, lines, parse_json

NODES, EDGES, CORRECTIONS = "nodes.jsonl", "edges.jsonl", "corrections.jsonl"
EdgeKey = tuple[str, str, str]
"""Source, target and relation of an edge."""


@dataclass(slots=True)
class FloopStore:
    """A folder of floop, the ids in it, and the edges that only its nodes state."""

    folder: Path
    source: str
    lines: dict[str, int] = field(default_factory=dict)
    corrections: set[str] = field(default_factory=set)
    pending: dict[EdgeKey, float] = field(default_factory=dict)


def find_folder(path: Path) -> Path:
    """The folder with the files of a store: ``path``, or the ``.floop`` in it."""
    for folder in (path / ".floop", path):
        if any((folder / name).is_file() for name in (NODES, CORRECTIONS)):
            for name in (NODES, EDGES, CORRECTIONS):
                _check_place(folder / name, path)
            return folder
    rule = f"must be the folder of a floop store: there is no {NODES} in it or in its .floop"
    if any((folder / "floop.db").is_file() for folder in (path / ".floop", path)):
        rule += "; floop writes it beside its floop.db when it syncs"
    raise ParamError.of([f"path = {str(path)!r}: {rule}"])


def _check_place(file: Path, root: Path) -> None:
    """Refuse a file that a symbolic link fetches from outside the folder that was named."""
    if not is_within(os.path.realpath(file), os.path.realpath(root)):
        rule = "is a symbolic link out of the folder, which is not followed: import the folder that it names"
        raise ParamError("path", str(file), rule)


def store_lines(store: FloopStore, name: str) -> Iterator[tuple[int, str]]:
    """The lines of a file of the store; a missing file has none, as in floop."""
    if (store.folder / name).is_file():
        yield from lines(store.folder / name)


def scan(store: FloopStore) -> None:
    """Record the last line of each node, and the ids of the corrections among the nodes."""
    for number, line in store_lines(store, NODES):
        where = f"{store.folder / NODES}, line {number}"
        node = parse_object(line, where)
        store.lines[id_of(node, where)] = number
        if node.get("kind") == "correction":
            store.corrections.add(node["id"])


def parse_object(line: str, where: str) -> dict[str, Any]:
    """A line as a JSON object."""
    value = parse_json(line, where)
    if not isinstance(value, dict):
        raise ParamError(where, line, "must be a JSON object on one line")
    return value


def id_of(value: Mapping[str, Any], where: str, name: str = "id") -> str:
    """The id of a node in a field."""
    own = value.get(name)
    if not isinstance(own, str) or not own.strip():
        raise ParamError(f"{where}: {name}", own, "must be the id of a node")
    return own


def part_of(value: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    """An object within an object; one that is missing or null is empty."""
    part = value.get(name)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise ParamError(f"{where}: {name}", part, "must be an object")
    return part


def list_of(value: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """A list within an object; one that is missing or null is empty."""
    items = value.get(name) or []
    if not isinstance(items, list):
        raise ParamError(f"{where}: {name}", items, "must be a list")
    return items


def time_of(value: Any, where: str) -> datetime | None:
    """A time; None for a missing one, which Go writes as the first day of year 1."""
    return None if not value or str(value).startswith("0001-01-01") else iso_time(value, where)
