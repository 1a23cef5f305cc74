"""MCP over streamable HTTP, below ``/v1/{namespace}/mcp`` of the server and behind its middleware."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from priming.config.params.server import ServerParams
from priming.operations.service import LocalService
from priming.server.auth import context_of
from priming.server.http import Mount
from priming.server.mcp import Context, server

PATH = "/v1/{namespace}/mcp"


def mounted(service: LocalService, params: ServerParams, *, full: bool = False) -> Mount:
    """The protocol over the memories of a service, each request for the namespace in its path.

    There are no sessions: the token is checked at every request, and any process may answer it.
    """
    manager = StreamableHTTPSessionManager(
        app=server(lambda: service, _namespace, full=full),
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
        context_of(Request(scope)).enter(scope["path_params"]["namespace"], "mcp")
        await self._manager.handle_request(scope, receive, send)


def _namespace(context: Context) -> str:
    """The namespace in the path of the request."""
    assert isinstance(context.request, Request)
    return str(context.request.scope["path_params"]["namespace"])
