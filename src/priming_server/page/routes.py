"""The routes of the page: its files, its session, and its drawing of the graph."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from priming.config import profiles
from priming.config.caller import calling
from priming.config.environment import VERSION
from priming.errors import NotFound, ParamError, StoreError
from priming.operations import schema
from priming.operations.connection import JSON
from priming.operations.local_http import json_bytes
from priming.operations.service import LocalService
from priming.recall.terms import TERMS
from priming.types import EVERYWHERE, Token
from priming_server.access.auth import Authenticator, RequestContext, context_of
from priming_server.access.sessions import BrowserSessions, check_own_page, cookie
from priming_server.access.tokens import Tokens
from priming_server.health import MadeOnce
from priming_server.limits import WorkerPool, json_body
from priming_server.page import site
from priming_server.page.drawing import DRAWING, drawing
from priming_server.responses import Refused, parse_body, respond


class WebPage:
    """The page over the memories of a service; a method for each of its routes."""

    def __init__(
        self,
        service: LocalService,
        tokens: Tokens,
        workers: WorkerPool,
        authenticator: Authenticator,
        sessions: BrowserSessions,
    ) -> None:
        self._service, self._tokens, self._workers = service, tokens, workers
        self._authenticator, self._sessions = authenticator, sessions
        self._files = MadeOnce(partial(workers.run, lambda: site.read(site.folder())))

    def add_to(self, app: FastAPI) -> None:
        """Add its routes to an application."""
        add = partial(app.add_api_route, include_in_schema=False)
        add("/", self.show)
        add(f"/page/{site.ASSETS}{{name}}", self.show)
        add("/page/drawing/{namespace}", self.draw, methods=["POST"])
        add("/session", self.about_session)
        add("/session", self.begin_session, methods=["POST"])
        add("/session", self.end_session, methods=["DELETE"])

    async def show(self, request: Request) -> Response:
        """Answer with a file of the page."""
        context_of(request).operation = "page"
        name = request.path_params.get("name")
        path = site.INDEX if name is None else f"{site.ASSETS}{name}"
        response = site.answer(request, await self._files.get(), path)
        if response is None:
            raise NotFound("the page has no such file: load the page again")
        return response

    async def draw(self, request: Request) -> Response:
        """Answer with the nodes and links of a namespace."""
        context, namespace = context_of(request), request.path_params["namespace"]
        context.enter(namespace, DRAWING.name)
        answer = partial(self._drawing, namespace, await json_body(request), context)
        return Response(await self._workers.run(answer, namespace), media_type=JSON)

    def _drawing(self, namespace: str, body: bytes, context: RequestContext) -> bytes:
        values = schema.arguments(DRAWING, parse_body(body, context.limits.depth, context.limits.values))
        with calling(context.caller("page")), self._service.memory(namespace) as memory:
            return json_bytes(drawing(memory, **values))

    async def about_session(self, request: Request) -> Response:
        """Say who uses the page."""
        context_of(request).operation = "session"
        return respond(await self._about(context_of(request).token))

    async def begin_session(self, request: Request) -> Response:
        """Exchange a token for a session, where the store has tokens."""
        context = context_of(request)
        context.operation = "session"
        check_own_page(request.headers)
        body = parse_body(await json_body(request), context.limits.depth, context.limits.values)
        secret = body.get("token") if isinstance(body, dict) else None
        if not isinstance(secret, str):
            raise ParamError("token", "…", "must be a text: what 'priming token new' printed")
        needed, token = await self._authenticator.check(secret)
        if needed and token is None:
            raise Refused(401, "unauthorised", "that is no valid token: 'priming token new' makes one")
        value = self._sessions.begin(secret) if needed else ""
        return respond(await self._about(token), headers={"Set-Cookie": cookie(request.headers, value)})

    async def end_session(self, request: Request) -> Response:
        """End the session of the request."""
        context_of(request).operation = "session"
        check_own_page(request.headers)
        self._sessions.end(request.headers)
        return respond(await self._about(None), headers={"Set-Cookie": cookie(request.headers, "")})

    async def _about(self, token: Token | None) -> dict[str, Any]:
        return await self._workers.run(partial(self._session, token))

    def _session(self, token: Token | None) -> dict[str, Any]:
        """What the page may know: whether it needs a token, has one, and the namespaces that it may show."""
        settings, needed = self._service.settings, self._tokens.needed()
        first = "default" if settings is None else settings["store.namespace"]
        if token is not None and token.namespace != EVERYWHERE:
            names = [token.namespace]
        else:
            names = [] if needed and token is None else self._namespaces(first)
        fields = ("id", "namespace", "name", "kind")
        return {
            "needed": needed,
            "token": token and {field: getattr(token, field) for field in fields},
            "namespaces": names,
            "namespace": first if first in names or not names else names[0],
            "version": VERSION,
            "profiles": [*profiles.ALL],
            "terms": [*TERMS],
        }

    def _namespaces(self, first: str) -> list[str]:
        """The namespaces that there are; a role of PostgreSQL that may not list them sees the first."""
        names = {first}
        with suppress(StoreError):
            names.update(self._tokens.namespaces())
        return sorted(names)
