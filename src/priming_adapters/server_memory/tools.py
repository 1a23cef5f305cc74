"""The nine tools of ``server-memory``: each reads or changes a graph, and answers as the original does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from priming import ParamError

Value = dict[str, Any]
Graph = dict[str, list[Value]]
_TEXT: Value = {"type": "string"}


def _object(**properties: Any) -> Value:
    named = {name.rstrip("_"): schema for name, schema in properties.items()}
    return {"type": "object", "properties": named, "required": [*named]}


def _list(items: Value) -> Value:
    return {"type": "array", "items": items}


_ENTITY = _object(name=_TEXT, entityType=_TEXT, observations=_list(_TEXT))
_RELATION = _object(from_=_TEXT, to=_TEXT, relationType=_TEXT)
PLURALS = {"entity": "entities", "relation": "relations"}
SHAPES = {"entity": _ENTITY, "relation": _RELATION}
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
        entity = _first(graph, each["entityName"])
        if entity is None:
            raise ParamError(
                "entityName", each["entityName"], "must be in the graph: create the entity first"
            )
        new = [text for text in each["contents"] if text not in entity["observations"]]
        entity["observations"] += new
        results.append({"entityName": each["entityName"], "addedObservations": new})
    return {"results": results}


def delete_entities(graph: Graph, names: list[str]) -> Value:
    """Delete entities from the graph, and their relations."""
    graph["entities"] = [each for each in graph["entities"] if each["name"] not in names]
    graph["relations"] = [each for each in graph["relations"] if not {each["from"], each["to"]} & {*names}]
    return {"success": True, "message": "Entities deleted successfully"}


def delete_observations(graph: Graph, deletions: list[Value]) -> Value:
    """Delete observations from entities of the graph."""
    for each in deletions:
        if entity := _first(graph, each["entityName"]):
            gone = each["observations"]
            entity["observations"] = [text for text in entity["observations"] if text not in gone]
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
    parts = (
        (each["name"], (each["name"], each["entityType"], *each["observations"]))
        for each in graph["entities"]
    )
    return open_nodes(
        graph, [name for name, texts in parts if any(query.lower() in text.lower() for text in texts)]
    )


def open_nodes(graph: Graph, names: list[str]) -> Value:
    """Read the entities of these names, with their relations."""
    entities = [each for each in graph["entities"] if each["name"] in names]
    names = [each["name"] for each in entities]
    relations = [each for each in graph["relations"] if each["from"] in names or each["to"] in names]
    return {"entities": entities, "relations": relations}


def plain(kind: str, values: Sequence[Value]) -> list[Value]:
    """Entities or relations with their own fields, in order."""
    return [{name: value[name] for name in SHAPES[kind]["properties"]} for value in values]


def _first(graph: Graph, name: str) -> Value | None:
    return next((each for each in graph["entities"] if each["name"] == name), None)


TOOLS: Mapping[Callable[..., Value], tuple[Value, Value]] = {
    create_entities: (_object(entities=_list(_ENTITY)), _object(entities=_list(_ENTITY))),
    create_relations: (_object(relations=_list(_RELATION)), _object(relations=_list(_RELATION))),
    add_observations: (
        _object(observations=_list(_object(entityName=_TEXT, contents=_list(_TEXT)))),
        _object(results=_list(_object(entityName=_TEXT, addedObservations=_list(_TEXT)))),
    ),
    delete_entities: (_object(entityNames=_list(_TEXT)), _DONE),
    delete_observations: (
        _object(deletions=_list(_object(entityName=_TEXT, observations=_list(_TEXT)))),
        _DONE,
    ),
    delete_relations: (_object(relations=_list(_RELATION)), _DONE),
    read_graph: ({"type": "object", "properties": {}}, _GRAPH),
    search_nodes: (_object(query=_TEXT), _GRAPH),
    open_nodes: (_object(names=_list(_TEXT)), _GRAPH),
}
READING = (read_graph, search_nodes, open_nodes)


def listed() -> list[Value]:
    """Return the tools as the list of tools has them."""
    return [
        {
            "name": function.__name__,
            "title": function.__name__.replace("_", " ").title(),
            "description": function.__doc__,
            "inputSchema": takes,
            "outputSchema": {**answers, "additionalProperties": False},
            "annotations": {
                "readOnlyHint": function in READING,
                "destructiveHint": function.__name__.startswith("delete"),
                "idempotentHint": function in READING or function.__name__.startswith("delete"),
                "openWorldHint": False,
            },
        }
        for function, (takes, answers) in TOOLS.items()
    ]
