"""The middleware of all requests: authentication, rate and origin checks, the log, metrics and traces.

Tokens are read at each request, so that a revoked one is refused at once, and revoking the last does not open
the server. Only a client with a valid token learns that a namespace is not its own (403, not 401).
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from opentelemetry import trace
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, TracerProvider
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from priming.config.caller import Caller
from priming.config.environment import USER
from priming.config.params.services import ServerParams
from priming.config.values import dataclass
from priming.config.variables import VERSION
from priming.core.arguments.normal_forms import normalized
from priming.errors import PrimingError
from priming.types import EVERYWHERE, Token
from priming_server.access.sessions import SAFE, BrowserSessions, check_own_page
from priming_server.access.tokens import Tokens
from priming_server.limits import Bodies, RateLimiter, limited, too_large
from priming_server.responses import Refused, bug, refusal
from priming_server.telemetry import Metrics

ALIVE = ("/health", "/ready", "/healthz", "/readyz")
"""Paths that a supervisor polls: they do not count against a rate."""

OPEN = (*ALIVE, "/docs", "/openapi.json", "/", "/session")
OPEN_BELOW = "/page/assets/"
"""Paths that need no token: they reveal nothing about memories."""

_SCHEMES = ("bearer", "token")
"""How a token may be announced: mem0's client says Token."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TWO_LENGTHS = (
    "Content-Length and Transfer-Encoding must not be sent together, since a proxy may read another of them than the"
    " server: send either"
)
_GONE = 499
"""The status in the log of a request whose client went away: no response has it."""


@dataclass(slots=True)
class RequestContext:
    """A request under way: who sends it, within which limits, and what is logged of it."""

    request_id: str
    client: str
    limits: ServerParams
    secret: str | None = None
    by_page: bool = False
    """Whether the secret is that of a session of the page, which a browser adds to whatever asks for it."""
    token: Token | None = None
    operation: str = "other"
    namespace: str | None = None
    status: int = 0
    code: str | None = None
    everywhere: bool = False
    """Whether it may use all namespaces: where no token is needed, or its token is for all of them."""

    @property
    def holder(self) -> str:
        """Whom its limits count for: its token, or its address where it has none."""
        return self.client if self.token is None else self.token.id

    def caller(self, via: str) -> Caller:
        """Return the caller, as its token identifies it."""
        name = None if self.token is None else self.token.name or self.token.id
        if name is None:
            return Caller(USER, via, everywhere=self.everywhere)
        return Caller(f"token {name}", via, everywhere=self.everywhere, identified=True)

    def enter(self, namespace: str, operation: str, needs: str = "read") -> None:
        """Enter a namespace; ``Refused`` if the token is for another, or of a lesser kind than it needs."""
        self.operation = operation
        if self.token is not None and not self.token.may_use(namespace):
            raise Refused(403, "forbidden", "the token is not for this namespace: use one that is")
        self.check_kind(needs)
        self.namespace = namespace

    def may(self, needs: str) -> bool:
        """Tell whether the caller may do what needs a token of that kind."""
        return self.token is None or self.token.may(needs)

    def check_kind(self, needs: str) -> None:
        """Raise ``Refused`` if the token is of a lesser kind."""
        if self.token is not None and not self.may(needs):
            message = (
                f"this needs a token of the kind {needs!r}, and yours is of the kind {self.token.kind!r}:"
                f" 'priming token new NAMESPACE --kind {needs}' makes one"
            )
            raise Refused(403, "forbidden", message)


def context_of(request: Request) -> RequestContext:
    """Return the context of a request; mounted applications find its token there."""
    context: RequestContext = request.scope["state"]["context"]
    return context


class Authenticator:
    """Checks tokens, at each request, so that a revoked token is refused at once."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="priming-auth")

    async def check(self, secret: str | None) -> tuple[bool, Token | None]:
        """Tell whether a token is needed, and the one that the secret belongs to."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._check, secret)

    def _check(self, secret: str | None) -> tuple[bool, Token | None]:
        needed = self._tokens.needed()
        return needed, self._tokens.admitted(secret) if needed and secret is not None else None

    async def still_admits(self, context: RequestContext) -> bool:
        """Tell whether a client that was admitted would still be admitted."""
        needed, token = await self.check(context.secret)
        return token is not None if context.token is not None else not needed

    async def close(self) -> None:
        """Release the thread."""
        await asyncio.to_thread(self._pool.shutdown)


class RequestMiddleware:
    """The middleware that every request passes, requests to mounted applications as well."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticator: Authenticator,
        sessions: BrowserSessions,
        params: ServerParams,
        metrics: Metrics,
        names_only: bool,
        tracers: TracerProvider | None = None,
    ) -> None:
        self.app, self._authenticator, self._params, self._metrics = app, authenticator, params, metrics
        self._names_only, self._sessions = names_only, sessions
        self._rates, self._bodies = RateLimiter(params), Bodies(params)
        self._tracer = trace.get_tracer("priming", VERSION, tracer_provider=tracers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with the reason for refusing it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope = {**scope, "path": normalized("NFC", scope["path"])}  # as namespaces are stored
        context = self._context(scope, headers)
        scope["state"]["context"] = context
        began = time.perf_counter()
        self._metrics.in_flight.inc()
        try:
            with self._tracer.start_as_current_span(
                "priming.request", extract(headers), SpanKind.SERVER, record_exception=False
            ) as span:
                await self._answer(context, headers, scope, receive, _with_headers(send, context))
                span.update_name(f"priming.{context.operation}")
                span.set_attribute("http.response.status_code", context.status)
                span.set_attribute("priming.request_id", context.request_id)
                if context.namespace is not None:
                    span.set_attribute("priming.namespace", context.namespace)
        finally:
            self._metrics.in_flight.dec()
            self._record(context, scope, time.perf_counter() - began)

    def _context(self, scope: Scope, headers: Headers) -> RequestContext:
        scope.setdefault("state", {})
        own_id = headers.get("x-request-id", "")
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        sent = secret.strip() if scheme.lower() in _SCHEMES else None
        of_page = self._sessions.token(headers) if sent is None else None
        client = scope.get("client")
        return RequestContext(
            own_id if _REQUEST_ID.fullmatch(own_id) else uuid4().hex,
            client=client[0] if client else "local",
            limits=self._params,
            secret=of_page if sent is None else sent,
            by_page=of_page is not None,
        )

    async def _answer(
        self, context: RequestContext, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Pass the request on; an error becomes a response, unless one was begun already."""
        try:
            await self._admit(context, headers, scope)
            with self._bodies.of(context.holder) as take:
                await self.app(scope, limited(receive, context.limits, take), send)
            return
        except Refused as error:
            refused = error
        except PrimingError as error:
            refused = refusal(error, everywhere=context.everywhere)
        except ClientDisconnect:
            context.status = context.status or _GONE
            return
        except Exception as error:  # noqa: BLE001 - the outermost handler: a bug must not end the server
            refused = bug(error, f"request {context.request_id}", request_id=context.request_id)
        if not context.status:
            context.code = refused.code
            await refused.response()(scope, receive, send)

    async def _admit(self, context: RequestContext, headers: Headers, scope: Scope) -> None:
        """Check the client, its rate and its body's length; ``Refused`` if one of them is not acceptable."""
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Refused(400, "bad_param", _TWO_LENGTHS, {"Connection": "close"})
        if scope["path"] not in ALIVE:
            await self._authenticate(context, headers, scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > context.limits.body_bytes:
            raise too_large(context.limits)

    async def _authenticate(self, context: RequestContext, headers: Headers, scope: Scope) -> None:
        needed, context.token = await self._authenticator.check(context.secret)
        context.everywhere = context.token.namespace == EVERYWHERE if context.token else not needed
        self._rates.take(context.holder)
        if not needed and self._names_only:
            _refuse_other_sites(headers, scope["scheme"])
        if needed and context.by_page and scope["method"] not in SAFE:
            check_own_page(headers)
        if needed and context.token is None and not _is_open(scope["path"]):
            raise Refused(
                401,
                "unauthorised",
                "a valid token is needed: 'priming token new' makes one; send it as Authorization: Bearer TOKEN",
                {"WWW-Authenticate": 'Bearer realm="priming"'},
            )

    def _record(self, context: RequestContext, scope: Scope, seconds: float) -> None:
        """Count and log a request."""
        self._metrics.answered(
            context.operation,
            context.status,
            seconds,
            logging.INFO,
            request_id=context.request_id,
            method=scope["method"],
            namespace=context.namespace,
            token=context.token.id if context.token else None,
            code=context.code,
        )


def _is_open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_BELOW)


def _with_headers(send: Send, context: RequestContext) -> Send:
    """Note the status of the response, and add the headers that every response has."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            context.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = context.request_id
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sent


def _refuse_other_sites(headers: Headers, scheme: str) -> None:
    """Refuse, without tokens, pages of other sites in a browser, even if their name leads to this machine."""
    host = headers.get("host", "")
    if not is_loopback(host.rsplit(":", 1)[0] if not host.endswith("]") else host):
        message = "the Host header must be localhost or a loopback address where no token is needed"
        raise Refused(403, "forbidden", message)
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"{scheme}://{host}".lower():
        raise Refused(
            403, "forbidden", "requests from other sites need a token: 'priming token new' makes one"
        )


def is_loopback(name: str) -> bool:
    """Tell whether an address, or the name of a host, leads to this machine only."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
