"""MCP over streamable HTTP, below ``/v1/{namespace}/mcp`` of the server and behind its middleware.

A client may name the groups of tools that it wants in the query, as ``?tools=core,time``. There are no sessions: the
token is checked at every request, and any process may answer it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from threading import Event
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from priming.config.caller import Caller
from priming.config.params.limits import SOCKET
from priming.errors import ParamError, PrimingError
from priming.mcp.messages import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LATER_VERSIONS,
    METHOD_NOT_FOUND,
    VERSIONS,
    RequestError,
    as_bytes,
    error_message,
    method_of,
    number_of,
    progress_message,
    read_message,
)
from priming.mcp.protocol import (
    McpClient,
    McpConversation,
    progress_token,
    stated_version,
)
from priming.operations.connection import JSON
from priming.operations.local_server import Cancelled
from priming.operations.service import LocalService
from priming.serialization import error_payload, outward_message
from priming.verbs.rows import find, tools
from priming_server.access.auth import RequestContext, context_of
from priming_server.jobs import ProgressStream
from priming_server.limits import STOPPING
from priming_server.responses import Refused, refusal

PATH = "/v1/{namespace}/mcp"
STREAM = "text/event-stream"
_ONLY_POST = "there is no stream to wait at: each answer comes in the response to its POST"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that a request of a later version repeats in the header ``Mcp-Name``, by method."""


def mounted(service: LocalService, groups: str = "core") -> Route:
    """Return the protocol over the memories of a service, each request for the namespace in its path.

    ``groups`` are those of the tools for clients that name none.
    """
    tools(groups)
    return Route(PATH, _NamespacedApp(service, groups))


class _NamespacedApp:
    """The protocol, behind the check of the namespace."""

    def __init__(self, service: LocalService, groups: str) -> None:
        self._service, self._groups = service, groups

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if its token may use the namespace in its path."""
        answer = await self._answer(Request(scope, receive))
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        context, namespace = context_of(request), request.path_params["namespace"]
        context.enter(namespace, "mcp")
        if request.method != "POST":
            raise Refused(405, "method_not_allowed", _ONLY_POST, {"Allow": "POST"})
        try:
            groups = request.query_params.get("tools", self._groups)
            tools(groups)
            message = read_message(await request.body(), context.limits.depth, context.limits.values)
        except ParamError as error:
            raise refusal(error, everywhere=context.everywhere) from None
        number, problem = number_of(message), _header_problem(request.headers, message)
        if problem is not None:
            return _response(error_message("" if number is None else number, problem), 400)
        if number is None:
            return Response(status_code=202)
        conversation = McpConversation(self._client(context, namespace, groups))
        return await self._answered(request, conversation, message)

    def _client(self, context: RequestContext, namespace: str, groups: str) -> McpClient:
        def caller(operation: str) -> Caller:
            return context.caller(f"mcp {operation}")

        def payload(error: PrimingError) -> Mapping[str, str]:
            message = error_payload(error)
            return message if context.everywhere else {**message, "message": outward_message(error)}

        return McpClient(
            lambda: self._service,
            namespace,
            groups,
            may=lambda op: context.may(op.needs),
            caller=None if context.token is None else caller,
            payload=payload,
        )

    async def _answered(
        self, request: Request, conversation: McpConversation, message: Mapping[str, Any]
    ) -> Response:
        """Answer in a thread of the namespace, a long call by a stream of its progress."""
        server, context = request.app.state.server, context_of(request)
        namespace, token = request.path_params["namespace"], progress_token(message)
        answer = partial(conversation.answer, message)
        if token is not None and _is_long(message) and STREAM in request.headers.get("accept", ""):
            server.workers.check(namespace)
            event = partial(_event, number_of(message), token)
            stream = ProgressStream(context, server.ending, SOCKET.between, event)
            return StreamingResponse(stream.lines(server.workers, namespace, answer), media_type=STREAM)
        gone = Event()

        def step(_done: int, _total: int | None) -> None:
            if gone.is_set() or server.ending.is_set():
                raise Cancelled

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            gone.set()

        watching = asyncio.create_task(watch())
        try:
            work = partial(answer, step)
            result = await server.workers.run_patiently(work, namespace, long=_is_long(message))
        except Cancelled:
            raise Refused(503, "stopping", STOPPING) from None
        finally:
            watching.cancel()
        return _response(result, _status(message, result))


def _event(number: Any, token: str | int, part: Mapping[str, Any]) -> bytes:
    """Return a part of a call's stream as an event: its progress, and at last its answer or its error."""
    if "progress" in part:
        message: Any = progress_message(token, *part["progress"])
    elif "error" in part:
        message = error_message(number, RequestError(INTERNAL_ERROR, part["error"]["message"]))
    else:
        message = part["answer"]
    return b"event: message\ndata: " + as_bytes(message) + b"\n\n"


def _is_long(message: Mapping[str, Any]) -> bool:
    """Tell whether a request calls an operation that reports its progress."""
    params = message.get("params")
    op = find(str(params.get("name"))) if isinstance(params, dict) else None
    return message.get("method") == "tools/call" and op is not None and op.long


def _header_problem(headers: Mapping[str, str], message: Any) -> RequestError | None:
    """Return what is wrong with the headers of a message, or with its form."""
    method = method_of(message)
    if method is None:
        return RequestError(INVALID_REQUEST, "Invalid Request: a message is one object with a method")
    version, own = headers.get("mcp-protocol-version"), stated_version(message)
    if own is None:
        if version in (None, *VERSIONS, *LATER_VERSIONS):
            return None
        return RequestError(INVALID_REQUEST, f"Unsupported protocol version: {str(version)[:40]}")
    pairs = [("mcp-protocol-version", version, own), ("mcp-method", headers.get("mcp-method"), method)]
    if method in _NAMED and message["params"].get(_NAMED[method]) is not None:
        pairs.append(("mcp-name", _decoded(headers.get("mcp-name")), message["params"][_NAMED[method]]))
    for name, header, value in pairs:
        if header != value:
            return RequestError(HEADER_MISMATCH, f"{name} header does not match the request")
    return None


def _decoded(value: str | None) -> str | None:
    """Return a header that may be encoded: ``=?base64?…?=``."""
    from base64 import b64decode

    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[9:-2], validate=True).decode("utf-8")
    except ValueError:
        return None


def _status(message: Mapping[str, Any], result: Mapping[str, Any]) -> int:
    """Return the status of an answer: in later versions an error has its own."""
    if "error" not in result or stated_version(message) is None:
        return 200
    code = result["error"]["code"]
    return 404 if code == METHOD_NOT_FOUND else 200 if code == INTERNAL_ERROR else 400


def _response(message: Mapping[str, Any], status: int) -> Response:
    return Response(json.dumps(message, ensure_ascii=False, separators=(",", ":")), status, media_type=JSON)
