"""The graph in a memory, an entity or a relation a memory, and in the file that the original reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from uuid import uuid4

from priming import Memory, ParamError
from priming.config import private_files
from priming.llm.json_schema import violation_of
from priming.transfer.reading import label
from priming_adapters.common import at_key, every, key_of
from priming_adapters.server_memory.tools import PLURALS, SHAPES, Graph, Value, plain

_NAME = "server-memory"


class StoredGraph:
    """The graph of a file, or of none, in a memory: what the file is called is the source of its memories."""

    def __init__(self, memory: Memory, path: Path | None) -> None:
        self._memory, self._path = memory, path
        self._source = _NAME if path is None else label(f"{_NAME}:{path}")
        self._stored: dict[int, tuple[str, Value]] = {}
        """By the identity of each object of the graph: the id of its memory, and the object as it is stored."""

    def graph(self) -> Graph:
        """Return the graph, in the order in which it grew."""
        graph: Graph = {plural: [] for plural in PLURALS.values()}
        self._stored = {}
        for record in every(self._memory, {"source": self._source}):
            for kind, plural in PLURALS.items():
                if kind in record.metadata:
                    value = record.metadata[kind]
                    graph[plural].append(value)
                    self._stored[id(value)] = record.id, deepcopy(value)
        return graph

    def save(self, graph: Graph) -> None:
        """Store what changed in a graph, which ``graph`` returned."""
        ids: dict[str, str] = {}
        left = {id(value) for values in graph.values() for value in values}
        for number, (memory_id, _) in self._stored.items():
            if number not in left:
                self._memory.forget(memory_id)
        for kind, plural in PLURALS.items():
            for value in graph[plural]:
                memory_id = self._save(kind, value, ids)
                if kind == "entity":
                    ids.setdefault(value["name"], memory_id)

    def _save(self, kind: str, value: Value, entities: dict[str, str]) -> str:
        memory_id, before = self._stored.get(id(value), (None, None))
        if memory_id is None:
            key = key_of(f"{_NAME}:{value['name'] if kind == 'entity' else _text(value)}")
            if at_key(self._memory, key) is not None:
                key = key_of(f"{key}~{uuid4()}")
            fields: Any = {"kind": "fact", "trust": "agent", "source": self._source, "echo_guard": False}
            memory_id = self._memory.remember(_text(value), key=key, metadata={kind: value}, **fields).id
            for end in {value[name] for name in ("from", "to") if value.get(name) in entities}:
                self._memory.link(memory_id, entities[end], "part-of")
        elif before != value:
            self._memory.supersede(memory_id, _text(value), metadata={kind: value})
        return memory_id

    def recalled(self, query: str) -> list[str]:
        """Return the names of the entities that a query recalls, or whose relations it does."""
        hits = self._memory.recall(query, filters={"source": self._source}) if query.strip() else ()
        values = [value for hit in hits for value in hit.memory.metadata.values()]
        return [value[name] for value in values for name in ("name", "from", "to") if name in value]

    def follow_file(self, last: str | None) -> str | None:
        """Make the graph that of the file, unless the file is as it was last, or missing; return the file's text."""
        try:
            text = None if self._path is None else _text_in(self._path)
        except (OSError, ValueError) as error:
            raise ParamError("MEMORY_FILE_PATH", str(self._path), f"cannot be read: {error}") from None
        if text is None or text == last:
            return last
        graph, read = self.graph(), [*parsed(text, str(self._path))]
        for kind, plural in PLURALS.items():
            values = [value for own, value in read if own == kind]
            graph[plural] = _carried_over(graph[plural], values)
        self.save(graph)
        return text

    def write_file(self, graph: Graph) -> str | None:
        """Write a graph to the file, if there is to be one; return its text."""
        if self._path is None:
            return None
        lines = [{"type": kind, **value} for kind, plural in PLURALS.items() for value in graph[plural]]
        text = "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
        place = self._path.resolve()  # what a link leads to
        draft = place.with_name(f"{place.name}.{uuid4().hex}.tmp")
        try:
            private_files.write_text(draft, text)
            os.replace(draft, place)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise ParamError("MEMORY_FILE_PATH", str(self._path), f"cannot be written: {error}") from None
        return text


def _text_in(path: Path) -> str | None:
    """The text of a file, None if it is missing: a pipe would not end, nor a device be one once it is replaced."""
    if path.exists() and not path.is_file():
        raise OSError("it is no file")
    return path.read_text("utf-8") if path.exists() else None


def _text(value: Value) -> str:
    """An entity or a relation as a memory's text."""
    if "name" not in value:
        return " ".join((value["from"], value["relationType"], value["to"])).strip() or json.dumps(value)
    title = f"{value['name']} ({value['entityType']})" if value["entityType"] else value["name"]
    return "\n".join((title, *value["observations"])).strip() or json.dumps(value)


def parsed(text: str, place: str) -> Iterator[tuple[str, Value]]:
    """Yield the entities and relations of a file, as the original reads it: other lines of JSON do not count."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ParamError(f"{place}, line {number}", line, f"must be JSON: {error}") from None
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind in SHAPES:
            if wrong := violation_of(value, SHAPES[kind]):
                raise ParamError(f"{place}, line {number}", line, str(wrong))
            yield kind, plain(kind, [value])[0]


def _carried_over(old: list[Value], new: list[Value]) -> list[Value]:
    """New values, those that have the identity of an old one after those before it as that object, changed."""
    present, rest = {*map(_identity, old)}, iter(old)
    merged = []
    for value in new:
        own = _identity(value)
        same = next((each for each in rest if _identity(each) == own), None) if own in present else None
        if same is not None:
            same.update(value)
        merged.append(value if same is None else same)
    return merged


def _identity(value: Value) -> str:
    return str(value["name"]) if "name" in value else json.dumps(value, sort_keys=True)
