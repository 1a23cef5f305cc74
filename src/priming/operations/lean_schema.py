"""JSON schemas with less in them: every tool that is listed costs a model room before its work begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BY_NAME = ("properties", "$defs")


def shallow(part: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a schema by its type alone, and that of its members."""
    if "$ref" in part:
        part = schema["$defs"][str(part["$ref"]).rsplit("/", 1)[-1]]
    if "anyOf" in part:
        return {"anyOf": [shallow(option, schema) for option in part["anyOf"]]}
    shape = {name: part[name] for name in ("type", "format") if name in part}
    return {**shape, "items": shallow(part["items"], schema)} if "items" in part else shape


def lean(schema: Any) -> Any:
    """A request's schema without parts that no model needs: titles that repeat names, nulls, other forms of lists."""
    if isinstance(schema, list):
        return [lean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema:
        first = next(option for option in schema["anyOf"] if option.get("type") != "null")
        return lean({**{name: part for name, part in schema.items() if name != "anyOf"}, **first})
    return {
        name: {key: lean(field) for key, field in part.items()} if name in _BY_NAME else lean(part)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str)) and not (name == "default" and part is None)
    }
