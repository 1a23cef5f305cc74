"""mem0's REST below ``/mem0`` of the server, behind its tokens: the paths of the open server and of ``MemoryClient``.

A token for one namespace is for the user of that name; one for all is for every user. ``MemoryClient`` takes the
address of the server with ``/mem0`` as its ``host`` and the token as its ``api_key``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

import priming
from priming import ParamError
from priming.config.caller import calling
from priming.core.arguments.checks import parse_json
from priming.operations.connection import JSON
from priming.operations.local_http import json_bytes
from priming.operations.service import LocalService
from priming_adapters.mem0.filters import Scopes
from priming_adapters.mem0.memory import Mem0Memory
from priming_adapters.mem0.shapes import IDS

_ADD = (*IDS, "metadata", "infer", "timestamp", "expiration_date", "memory_type", "prompt")
_SEARCH = (
    *IDS,
    "filters",
    "top_k",
    "limit",
    "threshold",
    "rerank",
    "explain",
    "reference_date",
    "show_expired",
)
_LIST = (*IDS, "filters", "show_expired")
_PAGE = 100


class _Served(Scopes):
    """The memories of a service, as far as the client of a request may use them."""

    def __init__(self, service: LocalService, context: Any, needs: str, stack: ExitStack) -> None:
        self._service, self._context, self._needs, self._stack = service, context, needs, stack
        self._memories: dict[str, priming.Memory] = {}

    def of(self, name: str) -> priming.Memory:
        self._context.enter(name, "mem0", self._needs)
        if name not in self._memories:
            self._memories[name] = self._stack.enter_context(self._service.memory(name))
        return self._memories[name]

    def names(self) -> list[str]:
        if not self._context.everywhere and self._context.token is not None:
            return [self._context.token.namespace]
        with self._service.memory("default") as memory, memory.lock:
            return memory.store.namespaces()


def _fields(body: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    fields = {name: body[name] for name in names if body.get(name) is not None}
    if isinstance(shows := fields.get("show_expired"), str):  # in a query it is a text
        fields["show_expired"] = shows.lower() == "true"
    return fields


def _add(memory: Mem0Memory, body: Mapping[str, Any]) -> Any:
    ids = body.get("filters") or {}  # where the client has them
    if not isinstance(ids, dict):
        raise ParamError("filters", ids, "must be an object")
    return memory.add(body.get("messages"), **{**_fields(ids, IDS), **_fields(body, _ADD)})


def _search(memory: Mem0Memory, body: Mapping[str, Any]) -> Any:
    return memory.search(body.get("query", ""), **_fields(body, _SEARCH))


def _list(memory: Mem0Memory, body: Mapping[str, Any]) -> Any:
    most = body.get("page_size") or body.get("top_k") or _PAGE
    most = int(most) if isinstance(most, str) and most.isdecimal() else most  # in a query it is a text
    answer = memory.get_all(**{**_fields(body, _LIST), "top_k": most})
    return {"count": len(answer["results"]), "next": None, "previous": None, **answer}


def _delete_all(memory: Mem0Memory, body: Mapping[str, Any]) -> Any:
    return memory.delete_all(**_fields(body, IDS))


def _reset(memory: Mem0Memory, _: Mapping[str, Any]) -> Any:
    memory.reset()
    return {"message": "All memories reset"}


def _update(memory: Mem0Memory, body: Mapping[str, Any], own: str) -> Any:
    text = next((body[name] for name in ("text", "data", "memory") if body.get(name) is not None), None)
    end = {"expiration_date": body["expiration_date"]} if "expiration_date" in body else {}
    return memory.update(own, text, body.get("metadata"), **end)


def _ping(_: Mem0Memory, __: Mapping[str, Any]) -> Any:
    return {"status": "ok", "org_id": "priming", "project_id": "priming"}  # the client needs them


Call = Callable[..., Any]
_CALLS: dict[tuple[str, str], tuple[Call, str]] = {
    ("GET", "ping"): (_ping, "read"),
    ("POST", "memories"): (_add, "write"),
    ("POST", "memories/add"): (_add, "write"),
    ("POST", "v3/memories"): (_list, "read"),
    ("GET", "memories"): (_list, "read"),
    ("DELETE", "memories"): (_delete_all, "write"),
    ("POST", "search"): (_search, "read"),
    ("POST", "memories/search"): (_search, "read"),
    ("POST", "reset"): (_reset, "write"),
}
_OF_ONE: dict[tuple[str, str], tuple[Call, str]] = {
    ("GET", ""): (lambda memory, _, own: memory.get(own), "read"),
    ("PUT", ""): (_update, "write"),
    ("DELETE", ""): (lambda memory, _, own: memory.delete(own), "write"),
    ("GET", "history"): (lambda memory, _, own: memory.history(own), "read"),
}


def _call_of(method: str, path: str) -> tuple[Call, str] | None:
    """Return what a request asks for, and which kind of token that needs."""
    version, _, rest = path.partition("/")
    plain = rest if version in ("v1", "v2", "v3") else path
    if whole := _CALLS.get((method, path)) or _CALLS.get((method, plain)):
        return whole
    folder, _, own = plain.partition("/")
    own, _, part = own.partition("/")
    if folder != "memories" or not own or (method, part) not in _OF_ONE:
        return None
    call, needs = _OF_ONE[method, part]
    return partial(call, own=own), needs


class Mem0Application:
    """Answers the requests; an error has its message under ``detail``, as in mem0."""

    path = "/mem0/{path:path}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, of the client in the ``context`` of the scope."""
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        context, server = request.scope["state"]["context"], request.app.state.server
        if (match := _call_of(request.method, request.path_params["path"].strip("/"))) is None:
            return _response({"detail": "mem0's server has no such path"}, 404)
        call, needs = match
        context.operation = "mem0"
        is_bodiless = request.method in ("GET", "DELETE")
        query = {name: value for name, value in request.query_params.items() if value} if is_bodiless else {}
        try:
            body = _body(request, await request.body(), context.limits)
            run = partial(_run, call, server.service, context, needs, {**query, **body})
            answer = await server.workers.run(run, str(body.get("user_id") or ""))
        except ParamError as error:
            return _response({"detail": str(error)}, 404 if " not found" in str(error) else 400)
        return _response({"detail": "Memory not found"}, 404) if answer is None else _response(answer)


def _body(request: Request, body: bytes, limits: Any) -> Mapping[str, Any]:
    """Return the fields of a request, which are declared as JSON: a page of another site cannot send that unasked."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (body or "origin" in request.headers) and kind != JSON and request.method != "GET":
        raise ParamError("Content-Type", kind, f"must be {JSON}")
    value = parse_json("body", body, limits.depth, limits.values) if body.strip() else {}
    if not isinstance(value, dict):
        raise ParamError("body", value, "must be an object")
    return value


def _response(answer: Any, status: int = 200) -> Response:
    return Response(json_bytes(answer), status, media_type=JSON)


def _run(call: Call, service: LocalService, context: Any, needs: str, body: Mapping[str, Any]) -> Any:
    with calling(context.caller("mem0")), ExitStack() as stack:
        return call(Mem0Memory(_Served(service, context, needs, stack)), body)


APPLICATION = Mem0Application()
