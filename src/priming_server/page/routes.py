"""The routes of the page: its files, its session, and its drawing of the graph."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from priming.config import profiles
from priming.config.caller import calling
from priming.config.variables import VERSION
from priming.core.arguments.checks import check_count
from priming.errors import NotFound, ParamError, StoreError
from priming.operations import schema
from priming.operations.connection import JSON
from priming.operations.local_http import json_bytes
from priming.operations.service import LocalService
from priming.recall.candidates import TERMS
from priming.serialization import encode
from priming.types import EVERYWHERE, Token
from priming.verbs.op import Op
from priming_server.access.auth import Authenticator, RequestContext, context_of
from priming_server.access.sessions import BrowserSessions, check_own_page, cookie
from priming_server.access.tokens import Tokens
from priming_server.health import MadeOnce
from priming_server.jobs import Jobs
from priming_server.limits import WorkerPool, json_body
from priming_server.page import site
from priming_server.page.drawing import DRAWING, drawing
from priming_server.page.listing import ENTRIES, LISTING, entries, listing
from priming_server.responses import Refused, parse_body, respond

_TOKEN, _MOST_DAYS = ("namespace", "name", "kind", "days"), 36_500
"""What a token is made of, and the longest time for which it can be."""


class WebPage:
    """The page over the memories of a service; a method for each of its routes."""

    def __init__(
        self,
        service: LocalService,
        tokens: Tokens,
        workers: WorkerPool,
        authenticator: Authenticator,
        sessions: BrowserSessions,
        jobs: Jobs,
    ) -> None:
        self._service, self._tokens, self._workers = service, tokens, workers
        self._authenticator, self._sessions, self._jobs = authenticator, sessions, jobs
        self._files = MadeOnce(partial(workers.run, lambda: site.read(site.folder())))

    def routes(self) -> list[Route]:
        """Return its routes."""
        verbs = ((DRAWING, drawing), (LISTING, listing), (ENTRIES, entries))
        return [
            Route("/", self.show),
            Route(f"/page/{site.ASSETS}{{name}}", self.show),
            *(
                Route(f"/page/{op.name}/{{namespace}}", partial(self.read, op, verb), methods=["POST"])
                for op, verb in verbs
            ),
            Route("/page/jobs/{namespace}", self.list_jobs),
            Route("/session", self.about_session),
            Route("/session", self.begin_session, methods=["POST"]),
            Route("/session", self.end_session, methods=["DELETE"]),
            Route("/page/tokens", self.list_tokens),
            Route("/page/tokens", self.new_token, methods=["POST"]),
            Route("/page/tokens/{id}", self.revoke_token, methods=["DELETE"]),
        ]

    async def show(self, request: Request) -> Response:
        """Answer with a file of the page."""
        context_of(request).operation = "page"
        name = request.path_params.get("name")
        path = site.INDEX if name is None else f"{site.ASSETS}{name}"
        response = site.answer(request, await self._files.get(), path)
        if response is None:
            raise NotFound("the page has no such file: load the page again")
        return response

    async def read(self, op: Op, verb: Callable[..., Any], request: Request) -> Response:
        """Answer with what only the page reads of a namespace."""
        context, namespace = context_of(request), request.path_params["namespace"]
        context.enter(namespace, op.name)
        answer = partial(self._read, op, verb, namespace, await json_body(request), context)
        return Response(await self._workers.run(answer, namespace), media_type=JSON)

    def _read(
        self, op: Op, verb: Callable[..., Any], namespace: str, body: bytes, context: RequestContext
    ) -> bytes:
        values = schema.arguments(op, parse_body(body, context.limits.depth, context.limits.values))
        with calling(context.caller("page")), self._service.memory(namespace) as memory:
            return json_bytes(verb(memory, **values))

    async def list_jobs(self, request: Request) -> Response:
        """Answer with the jobs of a namespace, the latest first, without what came of them."""
        namespace = request.path_params["namespace"]
        context_of(request).enter(namespace, "jobs")
        return respond([{**job.as_dict(), "result": None} for job in self._jobs.of(namespace)])

    async def list_tokens(self, request: Request) -> Response:
        """Answer with the tokens of the store, for who may do everything."""
        _enter_tokens(request)
        return respond({"tokens": encode(await self._workers.run(self._tokens.list))})

    async def new_token(self, request: Request) -> Response:
        """Make a token; its secret is in this answer and nowhere else."""
        context = _enter_tokens(request)
        body = parse_body(await json_body(request), context.limits.depth, context.limits.values)
        if not isinstance(body, dict) or body.keys() - {*_TOKEN}:
            raise ParamError("body", "…", f"must be an object with {', '.join(_TOKEN)}")
        values: dict[str, Any] = {**dict.fromkeys(_TOKEN), **body}
        days = values.pop("days")
        lasts = None if days is None else timedelta(days=check_count("days", days, 1, _MOST_DAYS))
        created = await self._workers.run(partial(self._tokens.new, **values, lasts=lasts))
        return respond({"token": encode(created.token), "secret": created.secret}, 201)

    async def revoke_token(self, request: Request) -> Response:
        """Revoke a token."""
        _enter_tokens(request)
        revoke = partial(self._tokens.revoke, request.path_params["id"])
        return respond(encode(await self._workers.run(revoke)))

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
        """Return what the page may know: whether it needs a token, has one, and the namespaces that it may show."""
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
        """Return the namespaces that there are; a role of PostgreSQL that may not list them sees the first."""
        names = {first}
        with suppress(StoreError):
            names.update(self._tokens.namespaces())
        return sorted(names)


def _enter_tokens(request: Request) -> RequestContext:
    """Return the context of a request of the page, from who may do everything: without tokens, from this machine."""
    context = context_of(request)
    context.operation = "tokens"
    check_own_page(request.headers)
    if not context.everywhere or not context.may("admin"):
        rule = (
            "tokens are for who may do everything: sign in with one of 'priming token new '*' --kind admin'"
        )
        raise Refused(403, "forbidden", rule)
    return context
