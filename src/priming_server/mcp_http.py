"""MCP over streamable HTTP, below ``/v1/{namespace}/mcp`` of the server and behind its middleware.

A client may name the groups of tools that it wants in the query, as ``?tools=core,time``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from anyio import CapacityLimiter
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from priming.config.params.server import ServerParams
from priming.config.values import dataclass
from priming.errors import ParamError
from priming.mcp.limits import check_message
from priming.mcp.protocol import Context, server
from priming.operations.op import Op
from priming.operations.service import LocalService
from priming.operations.table import tools
from priming_server.auth import context_of
from priming_server.http import Mount
from priming_server.limits import check_waiting
from priming_server.responses import Refused, refusal

PATH = "/v1/{namespace}/mcp"
_ONLY_POST = "there is no stream to wait at: each answer comes in the response to its POST"


def mounted(service: LocalService, params: ServerParams, groups: str = "core") -> Mount:
    """The protocol over the memories of a service, each request for the namespace in its path.

    ``groups`` are those of the tools for clients that name none.

    There are no sessions: the token is checked at every request, and any process may answer it.
    """
    manager = StreamableHTTPSessionManager(
        app=server(
            lambda: service, _namespace, groups, _chosen, everywhere=_everywhere, threads=_threads, may=_may
        ),
        stateless=True,
        max_request_body_size=params.body_bytes,
    )

    def lifespan() -> AbstractAsyncContextManager[Any]:
        return manager.run()

    return Mount(PATH, _NamespacedApp(manager, params), lifespan)


@dataclass(slots=True)
class _Lane:
    """The threads of one namespace, and the number of its requests."""

    threads: CapacityLimiter
    requests: int = 0


class _NamespacedApp:
    """The protocol's application, behind the check of the namespace."""

    def __init__(self, manager: StreamableHTTPSessionManager, params: ServerParams) -> None:
        self._manager, self._params = manager, params
        self._lanes: dict[str, _Lane] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if its token may use the namespace in its path."""
        request = Request(scope, receive)
        context = context_of(request)
        namespace = scope["path_params"]["namespace"]
        context.enter(namespace, "mcp")
        if request.method != "POST":
            raise Refused(405, "method_not_allowed", _ONLY_POST, {"Allow": "POST"})
        groups = request.query_params.get("tools")
        if groups is not None:
            try:
                tools(groups)
            except ParamError as error:
                raise refusal(error, everywhere=context.everywhere) from None
        body = await request.body()
        try:
            check_message(body, context.limits)
        except ParamError as error:
            raise refusal(error, everywhere=context.everywhere) from None
        with self._lane(namespace) as threads:
            scope["state"]["threads"] = threads
            await self._manager.handle_request(scope, _again(body, receive), send)

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


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, once more, and then what follows it."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_part() -> Message:
        return parts.pop() if parts else await receive()

    return next_part


def _namespace(context: Context) -> str:
    """The namespace in the path of the request."""
    assert isinstance(context.request, Request)
    return str(context.request.scope["path_params"]["namespace"])


def _chosen(context: Context) -> str | None:
    """The groups of tools in the query of the request."""
    assert isinstance(context.request, Request)
    return context.request.query_params.get("tools")


def _threads(context: Context) -> CapacityLimiter:
    """The threads of the namespace of the request: its calls wait for one another, and for no other's."""
    assert isinstance(context.request, Request)
    threads: CapacityLimiter = context.request.scope["state"]["threads"]
    return threads


def _may(context: Context, op: Op) -> bool:
    """Whether the token of the request may call an operation."""
    assert isinstance(context.request, Request)
    return context_of(context.request).may(op.needs)


def _everywhere(context: Context) -> bool:
    """Whether the client of the request may use all namespaces."""
    assert isinstance(context.request, Request)
    return context_of(context.request).everywhere
