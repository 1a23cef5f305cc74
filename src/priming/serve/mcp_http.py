"""MCP over streamable HTTP, below ``/v1/{namespace}/mcp`` of the server and within its gate."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from priming.api.host import Host
from priming.config.params.server import ServerParams
from priming.serve.gate import visit_of
from priming.serve.http import Mounted
from priming.serve.mcp import Context, server

PATH = "/v1/{namespace}/mcp"


def mounted(host: Host, params: ServerParams, *, full: bool = False) -> Mounted:
    """The protocol over the memories of a host, each request for the namespace in its path.

    No session is kept: who may use which namespace is asked at every request, and any process may answer it.
    """
    manager = StreamableHTTPSessionManager(
        app=server(lambda: host, _namespace, full=full),
        stateless=True,
        max_request_body_size=params.body_bytes,
    )

    def during() -> AbstractAsyncContextManager[Any]:
        return manager.run()

    return Mounted(PATH, _Entering(manager), during)


class _Entering:
    """The protocol's application behind the door of the namespace."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, if its token may use the namespace in its path."""
        visit_of(Request(scope)).enter(scope["path_params"]["namespace"], "mcp")
        await self._manager.handle_request(scope, receive, send)


def _namespace(context: Context) -> str:
    """The namespace in the path of the request."""
    assert isinstance(context.request, Request)
    return str(context.request.scope["path_params"]["namespace"])
