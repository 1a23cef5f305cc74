"""MCP over streamable HTTP, below ``/v1/{namespace}/mcp`` of the server and behind its middleware.

A client may name the groups of tools that it wants in the query, as ``?tools=core,time``. There are no sessions: the
token is checked at every request, and any process may answer it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from priming.config.caller import Caller
from priming.config.params.services import ServerParams
from priming.config.values import dataclass
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
from priming.operations.service import LocalService
from priming.serialization import error_payload, outward_message
from priming.verbs.rows import find, tools
from priming_server.access.auth import RequestContext, context_of
from priming_server.http import Mount
from priming_server.limits import check_waiting
from priming_server.responses import Refused, refusal

PATH = "/v1/{namespace}/mcp"
STREAM = "text/event-stream"
_ONLY_POST = "there is no stream to wait at: each answer comes in the response to its POST"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that a request of a later version repeats in the header ``Mcp-Name``, by method."""
_LOOK = 0.05
"""Seconds between two looks for the progress of a call."""


def mounted(service: LocalService, params: ServerParams, groups: str = "core") -> Mount:
    """The protocol over the memories of a service, each request for the namespace in its path.

    ``groups`` are those of the tools for clients that name none.
    """
    tools(groups)
    return Mount(PATH, _NamespacedApp(service, params, groups))


class _Gone(Exception):
    """The client went away: there is nobody to answer."""


@dataclass(slots=True)
class _Lane:
    """The threads of one namespace, and the number of its requests."""

    threads: CapacityLimiter
    requests: int = 0


class _NamespacedApp:
    """The protocol, behind the check of the namespace."""

    def __init__(self, service: LocalService, params: ServerParams, groups: str) -> None:
        self._service, self._params, self._groups = service, params, groups
        self._lanes: dict[str, _Lane] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if its token may use the namespace in its path."""
        request = Request(scope, receive)
        context = context_of(request)
        namespace = scope["path_params"]["namespace"]
        context.enter(namespace, "mcp")
        if request.method != "POST":
            raise Refused(405, "method_not_allowed", _ONLY_POST, {"Allow": "POST"})
        try:
            groups = request.query_params.get("tools", self._groups)
            tools(groups)
            message = read_message(await request.body(), context.limits.depth, context.limits.values)
        except ParamError as error:
            raise refusal(error, everywhere=context.everywhere) from None
        problem = _header_problem(request.headers, message)
        if problem is not None:
            number = number_of(message)
            await _response(error_message("" if number is None else number, problem), 400)(
                scope, receive, send
            )
            return
        if number_of(message) is None:
            await Response(status_code=202)(scope, receive, send)
            return
        conversation = McpConversation(self._client(context, namespace, groups))
        with self._lane(namespace) as threads:
            await self._answered(request, conversation, message, threads, receive, send)

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
        self,
        request: Request,
        conversation: McpConversation,
        message: Mapping[str, Any],
        threads: CapacityLimiter,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer in a thread, with the progress of a long call as a stream; end it when the client goes away."""
        gone, steps = Event(), SimpleQueue[bytes]()
        token = progress_token(message)

        def step(done: int, total: int | None) -> None:
            if gone.is_set():
                raise _Gone
            if token is not None:
                steps.put(as_bytes(progress_message(token, done, total)))

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()

        answer = partial(conversation.answer, message, step)
        is_stream = token is not None and _is_long(message) and STREAM in request.headers.get("accept", "")
        async with anyio.create_task_group() as tasks:
            if is_stream:
                lines = _events(partial(to_thread.run_sync, answer, limiter=threads), steps, gone)
                await StreamingResponse(lines, media_type=STREAM)(request.scope, receive, send)
            else:
                tasks.start_soon(watch)
                try:
                    result = await to_thread.run_sync(answer, limiter=threads)
                except _Gone:
                    result = None
                if result is not None:
                    await _response(result, _status(message, result))(request.scope, receive, send)
            tasks.cancel_scope.cancel()

    @contextmanager
    def _lane(self, namespace: str) -> Iterator[CapacityLimiter]:
        """The threads of a namespace for a request; ``Refused`` if it has as many requests as it may have."""
        lane = self._lanes.setdefault(namespace, _Lane(CapacityLimiter(self._params.threads_each)))
        check_waiting(lane.requests, self._params)
        lane.requests += 1
        try:
            yield lane.threads
        finally:
            lane.requests -= 1
            if not lane.requests:
                del self._lanes[namespace]


async def _events(answer: Any, steps: SimpleQueue[bytes], gone: Event) -> AsyncIterator[bytes]:
    """The progress of a call as it is made, and its answer, as events."""
    results: list[Any] = []

    async def run() -> None:
        try:
            results.append(await answer())
        except _Gone:
            results.append(None)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            while not results:
                await anyio.sleep(_LOOK)
                for line in _waiting(steps):
                    yield _event(line)
        if results[0] is not None:
            yield _event(as_bytes(results[0]))
    finally:
        gone.set()


def _waiting(steps: SimpleQueue[bytes]) -> Iterator[bytes]:
    while True:
        try:
            yield steps.get_nowait()
        except Empty:
            return


def _event(line: bytes) -> bytes:
    return b"event: message\ndata: " + line + b"\n\n"


def _is_long(message: Mapping[str, Any]) -> bool:
    """Whether a request calls an operation that reports its progress."""
    params = message.get("params")
    op = find(str(params.get("name"))) if isinstance(params, dict) else None
    return message.get("method") == "tools/call" and op is not None and op.long


def _header_problem(headers: Mapping[str, str], message: Any) -> RequestError | None:
    """What is wrong with the headers of a message, or with its form."""
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
    """A header that may be encoded: ``=?base64?…?=``."""
    from base64 import b64decode

    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[9:-2], validate=True).decode("utf-8")
    except ValueError:
        return None


def _status(message: Mapping[str, Any], result: Mapping[str, Any]) -> int:
    """The status of an answer: in later versions an error has its own."""
    if "error" not in result or stated_version(message) is None:
        return 200
    code = result["error"]["code"]
    return 404 if code == METHOD_NOT_FOUND else 200 if code == INTERNAL_ERROR else 400


def _response(message: Mapping[str, Any], status: int) -> Response:
    return Response(json.dumps(message, ensure_ascii=False, separators=(",", ":")), status, media_type=JSON)
