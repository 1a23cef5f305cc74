"""The reference memory server of MCP, ``server-memory``, over a memory: ``priming mcp --compat server-memory``.

An entity or a relation of its graph is a memory, whose source is named by the file of the graph. The graph is read
again when something else changed the namespace. With a file, each call first follows what the file has, and a call
that changes the graph writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from priming import Memory, ParamError, PrimingError
from priming.config import private_files
from priming.config.caller import calling
from priming.config.environment import memory_file
from priming.config.values import dataclass
from priming.llm.json_schema import violation_of
from priming.mcp.messages import INVALID_PARAMS, RequestError
from priming.mcp.protocol import McpClient, McpConversation, named_caller
from priming.transfer.reading import label
from priming.types import Progress
from priming_adapters.common import every, key_of

Value = dict[str, Any]
Graph = dict[str, list[Value]]
_NAME, _RESOURCE, _JSON = "server-memory", "memory://knowledge-graph", "application/json"
_TEXT: Value = {"type": "string"}
_TEXTS: Value = {"type": "array", "items": _TEXT}


def _object(**properties: Any) -> Value:
    named = {name.rstrip("_"): schema for name, schema in properties.items()}
    return {"type": "object", "properties": named, "required": [*named]}


def _list(items: Value) -> Value:
    return {"type": "array", "items": items}


_LEAST = 0.1
"""The probability from which a search by meaning counts an entity as meant."""
_ENTITY = _object(name=_TEXT, entityType=_TEXT, observations=_list(_TEXT))
_RELATION = _object(from_=_TEXT, to=_TEXT, relationType=_TEXT)
SHAPES = {"entity": _ENTITY, "relation": _RELATION}
PLURALS = {"entity": "entities", "relation": "relations"}
_GROWING = {"entity": _object(entities=_list(_ENTITY)), "relation": _object(relations=_list(_RELATION))}
_GRAPH = _object(entities=_list(_ENTITY), relations=_list(_RELATION))
_DONE = _object(success={"type": "boolean"}, message=_TEXT)


def create_entities(graph: Graph, entities: list[Value]) -> Value:
    """Add entities to the graph, except those whose name it has."""
    names = {each["name"] for each in graph["entities"]}
    new = [each for each in plain("entity", entities) if each["name"] not in names]
    graph["entities"] += new
    return {"entities": new}


def create_relations(graph: Graph, relations: list[Value]) -> Value:
    """Add relations between entities to the graph, in the active voice, except those that it has."""
    new = [each for each in plain("relation", relations) if each not in graph["relations"]]
    graph["relations"] += new
    return {"relations": new}


def add_observations(graph: Graph, observations: list[Value]) -> Value:
    """Add observations to entities of the graph, except those that an entity has."""
    results = []
    for each in observations:
        name, place = each["entityName"], _place(graph, each["entityName"])
        if place is None:
            raise ParamError("entityName", name, "must be in the graph: create the entity first")
        old = graph["entities"][place]["observations"]
        new = [text for text in each["contents"] if text not in old]
        graph["entities"][place] = {**graph["entities"][place], "observations": old + new}
        results.append({"entityName": name, "addedObservations": new})
    return {"results": results}


def delete_entities(graph: Graph, names: list[str]) -> Value:
    """Delete entities from the graph, and their relations."""
    graph["entities"] = [each for each in graph["entities"] if each["name"] not in names]
    graph["relations"] = [each for each in graph["relations"] if not {each["from"], each["to"]} & {*names}]
    return {"success": True, "message": "Entities deleted successfully"}


def delete_observations(graph: Graph, deletions: list[Value]) -> Value:
    """Delete observations from entities of the graph."""
    for each in deletions:
        if (place := _place(graph, each["entityName"])) is not None:
            entity, gone = graph["entities"][place], each["observations"]
            left = [text for text in entity["observations"] if text not in gone]
            graph["entities"][place] = {**entity, "observations": left}
    return {"success": True, "message": "Observations deleted successfully"}


def delete_relations(graph: Graph, relations: list[Value]) -> Value:
    """Delete relations from the graph."""
    gone = plain("relation", relations)
    graph["relations"] = [each for each in graph["relations"] if each not in gone]
    return {"success": True, "message": "Relations deleted successfully"}


def read_graph(graph: Graph) -> Value:
    """Read the whole graph."""
    return {**graph}


def search_nodes(graph: Graph, query: str) -> Value:
    """Find entities by a text in their name, type or observations, else by what it recalls; with their relations."""
    names = [
        each["name"]
        for each in graph["entities"]
        if any(
            query.lower() in text.lower()
            for text in (each["name"], each["entityType"], *each["observations"])
        )
    ]
    return open_nodes(graph, names)


def open_nodes(graph: Graph, names: list[str]) -> Value:
    """Read the entities of these names, with their relations."""
    entities = [each for each in graph["entities"] if each["name"] in names]
    present = {each["name"] for each in entities}
    relations = [each for each in graph["relations"] if present & {each["from"], each["to"]}]
    return {"entities": entities, "relations": relations}


_READING = (read_graph, search_nodes, open_nodes)
_ADDED = _object(entityName=_TEXT, addedObservations=_TEXTS)
_TOOLS: Mapping[Callable[..., Value], tuple[Value, Value]] = {
    create_entities: (_GROWING["entity"], _GROWING["entity"]),
    create_relations: (_GROWING["relation"], _GROWING["relation"]),
    add_observations: (
        _object(observations=_list(_object(entityName=_TEXT, contents=_TEXTS))),
        _object(results=_list(_ADDED)),
    ),
    delete_entities: (_object(entityNames=_TEXTS), _DONE),
    delete_observations: (
        _object(deletions=_list(_object(entityName=_TEXT, observations=_TEXTS))),
        _DONE,
    ),
    delete_relations: (_GROWING["relation"], _DONE),
    read_graph: ({"type": "object", "properties": {}}, _GRAPH),
    search_nodes: (_object(query=_TEXT), _GRAPH),
    open_nodes: (_object(names=_TEXTS), _GRAPH),
}
"""What each tool takes and answers."""


def _listed(function: Callable[..., Value]) -> Value:
    """Return a tool as the list of tools has it."""
    name, (takes, answers), reads = function.__name__, _TOOLS[function], function in _READING
    deletes = name.startswith("delete")
    hints = {"readOnlyHint": reads, "destructiveHint": deletes, "idempotentHint": reads or deletes}
    about = {"name": name, "title": name.replace("_", " ").title(), "description": function.__doc__}
    schemas = {"inputSchema": takes, "outputSchema": {**answers, "additionalProperties": False}}
    return {**about, **schemas, "annotations": {**hints, "openWorldHint": False}}


@dataclass(slots=True)
class StoredNode:
    """An entity or a relation, and the id of its memory, empty until there is one."""

    value: Value
    id: str = ""

    @property
    def identity(self) -> Any:
        """What remains while it changes."""
        return self.value.get("name", (*self.value.values(),))

    @property
    def text(self) -> str:
        """Its memory's text."""
        value = self.value
        if "name" not in value:
            return " ".join((value["from"], value["relationType"], value["to"])).strip() or json.dumps(value)
        title = f"{value['name']} ({value['entityType']})" if value["entityType"] else value["name"]
        return "\n".join((title, *value["observations"])).strip() or json.dumps(value)

    @property
    def metadata(self) -> Value:
        """Its memory's metadata: it, under its kind."""
        return {"entity" if "name" in self.value else "relation": self.value}


Stored = dict[str, list[StoredNode]]


class ServerMemory(McpConversation):
    """The answers to one client."""

    def __init__(self, client: McpClient) -> None:
        super().__init__(client)
        self._path, self._turn = memory_file(), Lock()
        self._source = _NAME if self._path is None else label(f"{_NAME}:{self._path}")
        self._last: tuple[str | None, str | None, Stored] = None, None, {}
        """What the file held, the latest operation, and the graph, when the last call ended."""

    def offer(self) -> Value:
        """Return what the server can do."""
        return {"capabilities": {"tools": {}, "resources": {}}}

    def handlers(
        self, params: Value, name: str | None, _: Progress | None
    ) -> Mapping[str, Callable[[], Value]]:
        """Return what answers a request of each method."""
        resource = {"uri": _RESOURCE, "name": "knowledge-graph", "mimeType": _JSON}
        return {
            "tools/list": lambda: {"tools": [*map(_listed, _TOOLS)]},
            "tools/call": partial(self._called, params, name),
            "resources/list": lambda: {"resources": [resource]},
            "resources/templates/list": lambda: {"resourceTemplates": []},
            "resources/read": partial(self._resource, params, name),
        }

    def _resource(self, params: Value, name: str | None) -> Value:
        if params.get("uri") != _RESOURCE:
            raise RequestError(INVALID_PARAMS, f"there is {_RESOURCE} alone")
        text = _shown(self._carried_out(read_graph, {}, name))
        return {"contents": [{"uri": _RESOURCE, "mimeType": _JSON, "text": text}]}

    def _called(self, params: Value, name: str | None) -> Value:
        """Return the result of a tool; its error is for the model to read."""
        try:
            tools = {each.__name__: each for each in _TOOLS}
            function = tools.get(str(params.get("name")))
            if function is None:
                raise ParamError("name", params.get("name"), f"must be one of {', '.join(tools)}")
            arguments = params.get("arguments") or {}
            if wrong := violation_of(arguments, _TOOLS[function][0]):
                raise ParamError("arguments", arguments, str(wrong))
            result = self._carried_out(function, arguments, name)
        except PrimingError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        shown = result.get("message") or _shown(
            result if function in _READING else next(iter(result.values()))
        )
        return {"content": [{"type": "text", "text": shown}], "structuredContent": result}

    def _carried_out(self, function: Callable[..., Value], arguments: Value, name: str | None) -> Value:
        values = [arguments[each] for each in _TOOLS[function][0]["properties"]]
        caller, namespace = named_caller(name, function.__name__), self._client.namespace
        with self._turn, calling(caller), self._client.service().memory(namespace) as memory:
            changes = self._path is not None or function not in _READING
            with memory.writing() if changes else nullcontext():  # also while the file is read and written
                text, latest, stored = self._present(memory)
                graph = {plural: [node.value for node in nodes] for plural, nodes in stored.items()}
                result = function(graph, *values)
                if function is search_nodes and not result["entities"]:
                    result = open_nodes(graph, self._recalled(memory, *values))
                if function not in _READING:
                    stored, text = self._saved(memory, stored, graph), _written(self._path, graph)
                    latest = _latest(memory)
            self._last = text, latest, stored
            return result

    def _present(self, memory: Memory) -> tuple[str | None, str | None, Stored]:
        """Return the state of file, log and graph, once the graph follows the file, if it is another than before."""
        (before, earlier, stored), latest = self._last, _latest(memory)
        if latest is None or latest != earlier:
            records = [*every(memory, {"source": self._source})]
            stored = {
                plural: [
                    StoredNode(value, record.id) for record in records if (value := record.metadata.get(kind))
                ]
                for kind, plural in PLURALS.items()
            }
        text = _text_in(self._path)
        if text is None or text == before:
            return before, latest, stored
        graph: Graph = {plural: [] for plural in PLURALS.values()}
        for kind, value in parsed(text, str(self._path)):
            graph[PLURALS[kind]].append(value)
        stored = self._saved(memory, stored, graph)
        return text, _latest(memory), stored

    def _saved(self, memory: Memory, old: Stored, graph: Graph) -> Stored:
        """Return the stored graph once it is another: what both have, in the same order, keeps its memory."""
        new: Stored = {plural: [] for plural in old}
        for plural, nodes in old.items():
            present, rest = {node.identity for node in nodes}, iter(nodes)
            for node in map(StoredNode, graph[plural]):
                again = (each for each in rest if each.identity == node.identity)
                if node.identity in present and (before := next(again, None)) is not None:
                    node.id = before.id
                    if before.value != node.value:
                        memory.supersede(node.id, node.text, metadata=node.metadata)
                new[plural].append(node)
        left = {node.id for node in chain(*new.values())}
        for node in chain(*old.values()):
            if node.id not in left:
                memory.forget(node.id)
        self._remember(memory, new)
        return new

    def _remember(self, memory: Memory, graph: Stored) -> None:
        """Remember what has no memory yet, each relation linked to its entities."""
        fresh = [node for node in chain(*graph.values()) if not node.id]
        keys = [key_of(f"{_NAME}:{node.value.get('name', node.text)}") for node in fresh]
        taken = {*memory.names(keys=keys).values()}
        shared: Any = {"kind": "fact", "trust": "agent", "source": self._source}
        items = []
        for node, name in zip(fresh, keys, strict=True):
            key = key_of(f"{name}~{uuid4()}") if name in taken else name
            taken.add(key)
            items.append({**shared, "content": node.text, "key": key, "metadata": node.metadata})
        for node, done in zip(fresh, memory.remember_many(items), strict=True):
            node.id = done.id
        ids = {node.value["name"]: node.id for node in reversed(graph["entities"])}
        ends = [(node.id, ids.get(node.value.get(end))) for node in fresh for end in ("from", "to")]
        link = {"relation": "part-of"}
        memory.link_many([{**link, "source": own, "target": end} for own, end in ends if end is not None])

    def _recalled(self, memory: Memory, query: str) -> list[str]:
        """Return the names of the entities that a query recalls, or whose relations it does."""
        hits = memory.recall(query, filters={"source": self._source}, floor=_LEAST) if query.strip() else ()
        values = [value for hit in hits for value in hit.memory.metadata.values() if isinstance(value, dict)]
        return [value[name] for value in values for name in ("name", "from", "to") if name in value]


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


def plain(kind: str, values: Sequence[Value]) -> list[Value]:
    """Return entities or relations with their own fields, in order."""
    return [{name: value[name] for name in SHAPES[kind]["properties"]} for value in values]


def _text_in(path: Path | None) -> str | None:
    """Return a file's text, None if it is missing: a pipe would not end, nor a device be one once it is replaced."""
    if path is None:
        return None
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is no file")
        return path.read_text("utf-8") if path.exists() else None
    except (OSError, ValueError) as error:
        raise ParamError("MEMORY_FILE_PATH", str(path), f"cannot be read: {error}") from None


def _written(path: Path | None, graph: Graph) -> str | None:
    """Return the text of the file, after a graph was written to it, if there is to be one."""
    if path is None:
        return None
    lines = [{"type": kind, **value} for kind, plural in PLURALS.items() for value in graph[plural]]
    text = "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    try:
        private_files.write_text(path.resolve(), text)  # what a link leads to
    except OSError as error:
        raise ParamError("MEMORY_FILE_PATH", str(path), f"cannot be written: {error}") from None
    return text


def _latest(memory: Memory) -> str | None:
    """Return the id of the latest operation."""
    return next((logged.id for logged in memory.operations(limit=1, rows=False)), None)


def _place(graph: Graph, name: str) -> int | None:
    return next((place for place, each in enumerate(graph["entities"]) if each["name"] == name), None)


def _shown(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
