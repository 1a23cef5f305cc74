"""MCP over streamable HTTP, below ``/v1/{namespace}/mcp`` of the server and behind its middleware.

A client may name the groups of tools that it wants in the query, as ``?tools=core,time``.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from priming.config.params.server import ServerParams
from priming.core.arguments.measured import check_json
from priming.errors import ParamError
from priming.operations.service import LocalService
from priming.operations.table import tools
from priming.server.auth import context_of
from priming.server.http import Mount
from priming.server.mcp.protocol import Context, server
from priming.server.responses import refusal

PATH = "/v1/{namespace}/mcp"


def mounted(service: LocalService, params: ServerParams, groups: str = "core") -> Mount:
    """The protocol over the memories of a service, each request for the namespace in its path.

    ``groups`` are those of the tools for clients that name none.

    There are no sessions: the token is checked at every request, and any process may answer it.
    """
    manager = StreamableHTTPSessionManager(
        app=server(lambda: service, _namespace, groups, _chosen, everywhere=_everywhere),
        stateless=True,
        max_request_body_size=params.body_bytes,
    )

    def lifespan() -> AbstractAsyncContextManager[Any]:
        return manager.run()

    return Mount(PATH, _NamespacedApp(manager), lifespan)


class _NamespacedApp:
    """The protocol's application, behind the check of the namespace."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if its token may use the namespace in its path."""
        request = Request(scope, receive)
        context = context_of(request)
        context.enter(scope["path_params"]["namespace"], "mcp")
        groups = request.query_params.get("tools")
        if groups is not None:
            try:
                tools(groups)
            except ParamError as error:
                raise refusal(error, everywhere=context.everywhere) from None
        body = await request.body()
        try:
            check_json("body", body, context.limits.values)
        except ParamError as error:
            raise refusal(error, everywhere=context.everywhere) from None
        await self._manager.handle_request(scope, _again(body, receive), send)


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


def _everywhere(context: Context) -> bool:
    """Whether the client of the request may use all namespaces."""
    assert isinstance(context.request, Request)
    return context_of(context.request).everywhere
