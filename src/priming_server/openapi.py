"""The OpenAPI document, with a working example of each request, and the page at ``/docs``.

The routes come from the table of operations, so their documentation does, too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from priming.config.variables import VERSION
from priming.operations import schema as schemas
from priming.operations.connection import JSON
from priming.verbs.op import Op
from priming.verbs.rows import SERVED
from priming_server.examples import EXAMPLES
from priming_server.jobs import STATES
from priming_server.responses import MEANINGS

_DEFS, _HERE = "#/$defs/", "#/components/schemas/"


def _parameter(name: str, place: str, about: str, **schema: Any) -> dict[str, Any]:
    """Return a parameter of a request, in its path or a header."""
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": about,
        "schema": {"type": "string", **schema},
    }


_NAMESPACE = {
    **_parameter(
        "namespace", "path", "the scope of the memories; nothing crosses it", minLength=1, maxLength=512
    ),
    "example": "default",
}
_JOB = _parameter("id", "path", "the id of a job", format="uuid")
_REQUEST_ID = _parameter(
    "X-Request-Id",
    "header",
    "repeated in the answer and in every line of the log; made by the server if it is missing",
    pattern="^[A-Za-z0-9._-]{1,64}$",
)
_IDEMPOTENCY = _parameter(
    "Idempotency-Key",
    "header",
    "a UUID that the operation is to have in the log: it is then carried out once, and a second"
    " call with it is a conflict (409)",
    format="uuid",
)
_RESUME = _parameter("Last-Event-ID", "header", "only what came after this event")
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


def document() -> dict[str, Any]:
    """Return the OpenAPI document of a server, with the schemas that its parts refer to."""
    jobs, shared = "/v1/{namespace}/jobs", {"Error": ERROR, "Job": _JOB_SCHEMA}
    for op in SERVED:
        shared |= _definitions(schemas.request_schema(op, own=False), _REQUEST)
        shared |= _definitions(schemas.answer_schema(op.name), "")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Priming", "description": _ABOUT, "version": VERSION},
        "paths": {
            **{f"/v1/{{namespace}}/{op.name}": {"post": _operation(op)} for op in SERVED},
            **{f"{jobs}/{op.name}": {"post": _job(op)} for op in SERVED if op.long},
            f"{jobs}/{{id}}": {
                "get": _of_job("job", "The current state of a job"),
                "delete": _of_job("job_drop", "Cancel a job after its current step; forget a finished one"),
            },
            f"{jobs}/{{id}}/events": {
                "get": _of_job("job_events", "The progress and the end of a job, as they happen", stream=True)
            },
            "/health": {"get": _of_server("health", "Whether the process is alive", JSON, _HEALTH)},
            "/ready": {"get": _of_server("ready", "Whether it can be used", JSON, _HEALTH)},
            "/metrics": {
                "get": _of_server("metrics", "Metrics for Prometheus", "text/plain", {"type": "string"})
            },
        },
        "components": {"schemas": shared, "securitySchemes": {"bearer": _BEARER}},
    }


def _operation(op: Op) -> dict[str, Any]:
    """Return the route of an operation."""
    return _route(
        op.name,
        op.declared.summary,
        "writes" if op.writes else "reads",
        _content("The answer", _relocated(schemas.answer_schema(op.name), "")),
        [_NAMESPACE, _REQUEST_ID, *([_IDEMPOTENCY] if op.writes and not op.long else [])],
        _effects(op),
        requestBody=_body(op),
    )


def _job(op: Op) -> dict[str, Any]:
    """Return the route that begins an operation as a job."""
    return _route(
        f"{op.name}_job",
        f"Begin as a job: {op.declared.summary}",
        "jobs",
        _content("The job, begun", {"$ref": f"{_HERE}Job"}),
        [_NAMESPACE, _REQUEST_ID],
        "Answers at once with the job, whose `id` asks for it later.",
        status=202,
        requestBody=_body(op),
    )


def _of_job(name: str, summary: str, *, stream: bool = False) -> dict[str, Any]:
    """Return a route about a job."""
    about = _content("The present state of the job", {"$ref": f"{_HERE}Job"})
    if stream:
        about = _content("The events, as they come", {"type": "string"}, "text/event-stream")
    parameters = [_NAMESPACE, _JOB, _REQUEST_ID, *([_RESUME] if stream else [])]
    return _route(name, summary, "jobs", about, parameters)


def _of_server(name: str, summary: str, media: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a route about the server itself."""
    return _route(name, summary, "server", _content("The answer", schema, media), [_REQUEST_ID])


def _route(
    name: str,
    summary: str,
    tag: str,
    answer: Mapping[str, Any],
    parameters: Sequence[Mapping[str, Any]],
    description: str = "",
    status: int = 200,
    **more: Any,
) -> dict[str, Any]:
    """Return a route: ``answer`` is that of its status, every error has its own."""
    errors = {str(code): _content(about, {"$ref": f"{_HERE}Error"}) for code, about in MEANINGS.items()}
    return {
        "operationId": name,
        "summary": summary,
        "tags": [tag],
        "responses": {str(status): answer, **errors},
        "parameters": parameters,
        "security": [{}, {"bearer": []}],
        **({"description": description} if description else {}),
        **more,
    }


_ABOUT = "An associative memory for AI agents: what it remembers, recalls and learns, by namespace."
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "a token of 'priming token new'; required once the store has had one",
}
_HEALTH: Mapping[str, Any] = {
    "type": "object",
    "required": ["status", "version"],
    "properties": {
        "status": {"type": "string"},
        "version": {"type": "string"},
        "writable": {"type": "boolean"},
    },
}
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
_REQUEST = "Request"
"""The suffix for definitions that requests refer to, because answers have definitions of the same names."""


def _effects(op: Op) -> str:
    """Return further properties of an operation, for callers."""
    facts = [
        "Something may be lost for good." if op.destructive else "",
        "The same again changes nothing more." if op.idempotent else "",
        f"It may take long: `jobs/{op.name}` begins it as a job." if op.long else "",
    ]
    return "\n\n".join(filter(None, (*op.declared.paragraphs[1:], " ".join(filter(None, facts)))))


def _body(op: Op) -> dict[str, Any]:
    schema = _relocated(schemas.request_schema(op, own=False), _REQUEST)
    example = {"summary": "one that works", "value": dict(EXAMPLES[op.name])}
    needed = bool(schema.get("required"))
    return {"required": needed, "content": {JSON: {"schema": schema, "examples": {op.name: example}}}}


def _relocated(schema: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    """Return a schema that refers to the document's own definitions, without defaults that say nothing."""
    own = {name: part for name, part in schema.items() if name != "$defs"}
    if properties := own.get("properties"):
        own["properties"] = {name: _without_null(each) for name, each in properties.items()}
    redirected: dict[str, Any] = _redirected(own, suffix)
    return redirected


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in schema.items() if part is not None}


def _definitions(schema: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    """Return the definitions of a schema, with the names of the document."""
    return {f"{name}{suffix}": _redirected(part, suffix) for name, part in schema.get("$defs", {}).items()}


def _redirected(schema: Any, suffix: str) -> Any:
    """Return a schema whose references lead to the document's own definitions."""
    if isinstance(schema, dict):
        return {
            name: f"{_HERE}{part.removeprefix(_DEFS)}{suffix}"
            if name == "$ref" and isinstance(part, str)
            else _redirected(part, suffix)
            for name, part in schema.items()
        }
    return [_redirected(part, suffix) for part in schema] if isinstance(schema, list) else schema


def _content(about: str, schema: Mapping[str, Any], media: str = JSON) -> dict[str, Any]:
    return {"description": about, "content": {media: {"schema": dict(schema)}}}


_TEMPLATE = resources.files("priming_server").joinpath("docs.html").read_text("utf-8")


def _digest(tag: str) -> str:
    element = re.search(rf"<{tag}>(.*?)</{tag}>", _TEMPLATE, re.DOTALL)
    text = element[1] if element else ""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


DOCS_POLICY = (
    f"default-src 'none'; connect-src 'self'; script-src 'sha256-{_digest('script')}';"
    f" style-src 'sha256-{_digest('style')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page: its own script, and requests to its own server."""


def docs_page(document: Mapping[str, Any]) -> str:
    """Return the page, from the OpenAPI document."""
    sections = [
        _section(method, path, about)
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    ]
    filled = {"version": escape(document["info"]["version"]), "operations": "\n".join(sections)}
    return re.sub(r"\{\{(\w+)\}\}", lambda field: filled[field[1]], _TEMPLATE)


def _section(method: str, path: str, about: Mapping[str, Any]) -> str:
    """Return the section of one operation: its purpose, its arguments, and a form to try it."""
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    examples = [example["value"] for example in content.get("examples", {}).values()]
    body = json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
    box = f'<textarea spellcheck="false" aria-label="body">{escape(body)}</textarea>' if examples else ""
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(field))}</td>"
        f"<td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in content.get("schema", {}).get("properties", {}).items()
    )
    table = f"<table>{rows}</table>" if rows else ""
    more = "".join(
        f"<p>{escape(part)}</p>"
        for part in about.get("description", "").replace("`", "").split("\n\n")
        if part
    )
    needed = "" if "{id}" not in path else '<label>job <input class="job"></label>'
    return (
        f'<details id="{escape(about["operationId"])}"><summary><b>{method.upper()}</b> <code>{escape(path)}</code>'
        f" {escape(about['summary'])}</summary>{more}{table}"
        f'<form data-method="{method.upper()}" data-path="{escape(path)}">{needed}{box}'
        '<button type="submit">Try it</button></form><pre></pre></details>'
    )


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of an argument, in a word or two."""
    several = schema.get("anyOf", [schema])
    names = [option.get("type") or str(option.get("$ref", "object")).rpartition("/")[2] for option in several]
    return " or ".join(dict.fromkeys(str(name) for name in names if name != "null"))
