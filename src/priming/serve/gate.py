"""What every request passes: who sends it, from where, how often; and what is logged, counted and traced of it."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import uuid4

from opentelemetry import trace
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, TracerProvider
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from priming import __version__
from priming.access import EVERYWHERE, Token
from priming.config.params.server import ServerParams
from priming.engine.tokens import Tokens
from priming.errors import PrimingError
from priming.serve import logs
from priming.serve.answers import Refused, refusal
from priming.serve.limits import Buckets, limited, too_large
from priming.serve.metrics import Metrics

OPEN = ("/health", "/ready", "/docs", "/openapi.json")
"""Paths that need no token: they say nothing of what is remembered, nor who asked for it."""

ALIVE = ("/health", "/ready")
"""Those that a supervisor asks: they count against nobody's rate."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_GONE = 499
"""The status in the log of a request whose sender went away: no answer has it."""


@dataclass(slots=True)
class Visit:
    """A request on its way: who sends it, and what is known of it so far."""

    request_id: str
    client: str
    secret: str | None = None
    token: Token | None = None
    operation: str = "other"
    namespace: str | None = None
    status: int = 0
    code: str | None = None
    everywhere: bool = False
    """Whether it may use all namespaces: where no token is needed, or its token is for all of them."""

    def enter(self, namespace: str, operation: str) -> None:
        """Go to a namespace; ``Refused`` if its token is of another."""
        self.operation = operation
        if self.token is not None and not self.token.may_use(namespace):
            raise Refused(403, "forbidden", "the token is not for this namespace: use one that is")
        self.namespace = namespace


def visit_of(request: Request) -> Visit:
    """The visit that a request belongs to: whatever is mounted finds its token there."""
    visit: Visit = request.scope["state"]["visit"]
    return visit


class Doors:
    """Who may come in: the tokens, asked at each request, so that one that is revoked is refused at once."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="priming-doors")

    async def ask(self, secret: str | None) -> tuple[bool, Token | None]:
        """Whether a token is needed, and the one that the secret belongs to."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._ask, secret)

    def _ask(self, secret: str | None) -> tuple[bool, Token | None]:
        needed = self._tokens.needed()
        return needed, self._tokens.admitted(secret) if needed and secret is not None else None

    async def still(self, visit: Visit) -> bool:
        """Whether who was let in would still be."""
        needed, token = await self.ask(visit.secret)
        return token is not None if visit.token is not None else not needed

    async def close(self) -> None:
        """Let the thread go."""
        await asyncio.to_thread(self._pool.shutdown)


class Gate:
    """The middleware that every request passes, those to what is mounted as well."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        doors: Doors,
        params: ServerParams,
        metrics: Metrics,
        names_only: bool,
        tracers: TracerProvider | None = None,
    ) -> None:
        self.app, self._doors, self._params, self._metrics = app, doors, params, metrics
        self._names_only = names_only
        self._buckets = Buckets(params)
        self._tracer = trace.get_tracer("priming", __version__, tracer_provider=tracers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        visit = _visit(scope, headers)
        scope.setdefault("state", {})["visit"] = visit
        began = time.perf_counter()
        self._metrics.in_flight.inc()
        try:
            with self._tracer.start_as_current_span(
                "priming.request", extract(headers), SpanKind.SERVER, record_exception=False
            ) as span:
                await self._answer(visit, headers, scope, receive, _marked(send, visit))
                span.update_name(f"priming.{visit.operation}")
                span.set_attribute("http.response.status_code", visit.status)
                span.set_attribute("priming.request_id", visit.request_id)
                if visit.namespace is not None:
                    span.set_attribute("priming.namespace", visit.namespace)
        finally:
            self._metrics.in_flight.dec()
            self._tell(visit, scope["method"], time.perf_counter() - began)

    async def _answer(
        self, visit: Visit, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let the request in; whatever goes wrong becomes an answer, unless one was begun already."""
        try:
            await self._admit(visit, headers, scope)
            await self.app(scope, limited(receive, self._params), send)
            return
        except Refused as error:
            refused = error
        except PrimingError as error:
            logs.write(logging.ERROR, "the store failed", error=error, request_id=visit.request_id)
            refused = refusal(error, everywhere=visit.everywhere)
        except ClientDisconnect:
            visit.status = visit.status or _GONE
            return
        except Exception as error:  # noqa: BLE001 - the outermost handler: a bug must not end the server
            logs.write(logging.ERROR, "a bug", error=error, request_id=visit.request_id)
            said = f"a bug: the server's log has it under request {visit.request_id}"
            refused = Refused(500, "internal", said)
        if not visit.status:
            visit.code = refused.code
            await refused.response()(scope, receive, send)

    async def _admit(self, visit: Visit, headers: Headers, scope: Scope) -> None:
        """Who may not come in is ``Refused``."""
        needed, visit.token = await self._doors.ask(visit.secret)
        visit.everywhere = visit.token.namespace == EVERYWHERE if visit.token else not needed
        if scope["path"] not in ALIVE:
            self._buckets.take(visit.token.id if visit.token else visit.client)
        if not needed and self._names_only:
            _refuse_other_sites(headers, scope["scheme"])
        if needed and visit.token is None and scope["path"] not in OPEN:
            raise Refused(
                401,
                "unauthorised",
                "a token is needed that is known and was not revoked: 'priming token new' makes one,"
                " and it is sent as Authorization: Bearer TOKEN",
                {"WWW-Authenticate": 'Bearer realm="priming"'},
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._params.body_bytes:
            raise too_large(self._params)

    def _tell(self, visit: Visit, method: str, seconds: float) -> None:
        self._metrics.answered(visit.operation, visit.status, seconds)
        logs.write(
            logging.INFO,
            "request",
            request_id=visit.request_id,
            method=method,
            operation=visit.operation,
            namespace=visit.namespace,
            token=visit.token.id if visit.token else None,
            status=visit.status,
            code=visit.code,
            ms=round(seconds * 1000, 2),
        )


def _visit(scope: Scope, headers: Headers) -> Visit:
    asked = headers.get("x-request-id", "")
    request_id = asked if _REQUEST_ID.fullmatch(asked) else uuid4().hex
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    client = scope.get("client")
    return Visit(
        request_id,
        client=client[0] if client else "local",
        secret=secret.strip() if scheme.lower() == "bearer" else None,
    )


def _marked(send: Send, visit: Visit) -> Send:
    """Note the status of the answer, and give it the headers that every one has."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            visit.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = visit.request_id
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sent


def _refuse_other_sites(headers: Headers, scheme: str) -> None:
    """Without tokens, a page of another site that a browser shows must not get in, whatever its name leads to."""
    host = headers.get("host", "")
    if not _is_loopback(host.rsplit(":", 1)[0] if not host.endswith("]") else host):
        said = "the Host header must be localhost or a loopback address where no token is needed"
        raise Refused(403, "forbidden", said)
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"{scheme}://{host}".lower():
        raise Refused(403, "forbidden", "requests of other sites need a token: 'priming token new' makes one")


def _is_loopback(name: str) -> bool:
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
