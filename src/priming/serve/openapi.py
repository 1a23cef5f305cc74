"""The OpenAPI document: what the table says of each operation, in the form that FastAPI puts together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priming.api import wire
from priming.api.ops import SERVED, Op
from priming.serve.answers import JSON, MEANINGS
from priming.serve.examples import EXAMPLES
from priming.serve.jobs import STATES

_DEFS, _HERE = "#/$defs/", "#/components/schemas/"
_NAMESPACE = {
    "name": "namespace",
    "in": "path",
    "required": True,
    "description": "the scope of the memories; nothing crosses it",
    "schema": {"type": "string", "minLength": 1, "maxLength": 512},
    "example": "default",
}
_JOB = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "the id of a job",
    "schema": {"type": "string", "format": "uuid"},
}
_REQUEST_ID = {
    "name": "X-Request-Id",
    "in": "header",
    "required": False,
    "description": "answered, and in every line of the log; one is made where none is given",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
}
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "a UUID that the operation is to have in the log: it is then carried out once, and a second"
    " call with it is a conflict (409)",
    "schema": {"type": "string", "format": "uuid"},
}
_TIME = {"type": "string", "format": "date-time"}
_COUNT = {"type": "integer"}
ERROR: Mapping[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "stable: programs may match on it"},
                "message": {"type": "string", "description": "the value, the rule and the remedy"},
            },
        }
    },
}


def operation(op: Op) -> dict[str, Any]:
    """What FastAPI is told of the route of an operation."""
    headers = [_IDEMPOTENCY] if op.writes and not op.long else []
    return {
        "operation_id": op.name,
        "summary": wire.summary(op),
        "description": _effects(op),
        "tags": ["writes" if op.writes else "reads"],
        "responses": {200: _content("The answer", _based(wire.answer_schema(op.name), "")), **_errors()},
        "openapi_extra": {
            "parameters": [_NAMESPACE, _REQUEST_ID, *headers],
            "requestBody": _body(op),
            "security": _SECURITY,
        },
    }


def job(op: Op) -> dict[str, Any]:
    """What FastAPI is told of the route that begins an operation as a job."""
    return {
        "operation_id": f"{op.name}_job",
        "summary": f"Begin as a job: {wire.summary(op)}",
        "description": "Answers at once with the job, whose `id` asks for it later.",
        "tags": ["jobs"],
        "status_code": 202,
        "responses": {202: _content("The job, begun", {"$ref": f"{_HERE}Job"}), **_errors()},
        "openapi_extra": {
            "parameters": [_NAMESPACE, _REQUEST_ID],
            "requestBody": _body(op),
            "security": _SECURITY,
        },
    }


def of_job(name: str, summary: str, *, stream: bool = False) -> dict[str, Any]:
    """What FastAPI is told of a route that asks for a job."""
    about = (
        {
            "description": "The events, as they come",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
        if stream
        else _content("The job as it stands", {"$ref": f"{_HERE}Job"})
    )
    resume = {
        "name": "Last-Event-ID",
        "in": "header",
        "required": False,
        "description": "only what came after this event",
        "schema": {"type": "string"},
    }
    return {
        "operation_id": name,
        "summary": summary,
        "tags": ["jobs"],
        "responses": {200: about, **_errors()},
        "openapi_extra": {
            "parameters": [_NAMESPACE, _JOB, _REQUEST_ID, *([resume] if stream else [])],
            "security": _SECURITY,
        },
    }


def of_server(name: str, summary: str, media: str, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What FastAPI is told of a route about the server itself."""
    content = {media: {"schema": dict(schema or {"type": "string"})}}
    return {
        "operation_id": name,
        "summary": summary,
        "tags": ["server"],
        "responses": {200: {"description": "The answer", "content": content}, **_errors()},
        "openapi_extra": {"parameters": [_REQUEST_ID], "security": _SECURITY},
    }


def finished(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the schemas that its parts refer to."""
    parts = document.setdefault("components", {})
    shared = parts.setdefault("schemas", {})
    shared |= {"Error": ERROR, "Job": _JOB_SCHEMA}
    for op in SERVED:
        shared |= _definitions(wire.request_schema(op), _ASKED) | _definitions(
            wire.answer_schema(op.name), ""
        )
    parts["securitySchemes"] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "a token of 'priming token new'; needed as soon as the store has had one",
        }
    }
    return document


_SECURITY: list[dict[str, list[str]]] = [{}, {"bearer": []}]
_JOB_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["id", "operation", "status", "done", "total", "created_at", "ended_at", "result", "error"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "operation": {"type": "string"},
        "status": {"enum": list(STATES)},
        "done": _COUNT,
        "total": {"anyOf": [_COUNT, {"type": "null"}]},
        "created_at": _TIME,
        "ended_at": {"anyOf": [_TIME, {"type": "null"}]},
        "result": {"description": "the answer of the operation, once it is done"},
        "error": {"anyOf": [ERROR["properties"]["error"], {"type": "null"}]},
    },
}
_ASKED = "Request"
"""What is added to the names of definitions that requests refer to: answers have some of the same name."""


def _effects(op: Op) -> str:
    """What else there is to know of an operation before it is called."""
    facts = [
        "Something may be lost for good." if op.destructive else "",
        "The same again changes nothing more." if op.idempotent else "",
        f"It may take long: `jobs/{op.name}` begins it as a job." if op.long else "",
    ]
    return "\n\n".join(one for one in (wire.details(op), " ".join(filter(None, facts))) if one)


def _body(op: Op) -> dict[str, Any]:
    schema = _based(wire.request_schema(op), _ASKED)
    example = {"summary": "one that works", "value": dict(EXAMPLES[op.name])}
    needed = bool(schema.get("required"))
    return {"required": needed, "content": {JSON: {"schema": schema, "examples": {op.name: example}}}}


def _based(schema: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    """A schema that refers to the document's own definitions."""
    own: dict[str, Any] = _pointed({name: one for name, one in schema.items() if name != "$defs"}, suffix)
    return own


def _definitions(schema: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    """The definitions that a schema brings along, as the document has them."""
    return {f"{name}{suffix}": _pointed(one, suffix) for name, one in schema.get("$defs", {}).items()}


def _pointed(schema: Any, suffix: str) -> Any:
    """A schema whose references lead to the document's own definitions."""
    if isinstance(schema, dict):
        return {
            name: f"{_HERE}{one.removeprefix(_DEFS)}{suffix}"
            if name == "$ref" and isinstance(one, str)
            else _pointed(one, suffix)
            for name, one in schema.items()
        }
    return [_pointed(one, suffix) for one in schema] if isinstance(schema, list) else schema


def _content(about: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {JSON: {"schema": dict(schema)}}}


def _errors() -> dict[int, dict[str, Any]]:
    return {status: _content(about, {"$ref": f"{_HERE}Error"}) for status, about in MEANINGS.items()}
