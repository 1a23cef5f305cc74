"""HTTP: the operations as routes, each a ``LocalService.call`` in a thread after ``server.auth``; jobs, metrics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Any
from urllib.parse import quote

from opentelemetry.trace import TracerProvider
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from priming.config.caller import Caller, calling
from priming.config.params.limits import SOCKET
from priming.config.params.services import SERVER, ServerParams
from priming.config.variables import VERSION
from priming.core.arguments.checks import check_name
from priming.errors import NotFound, PrimingError
from priming.operations import local_socket, schema
from priming.operations.connection import JSON, JSON_LINES
from priming.operations.local_http import json_bytes, reason_header
from priming.operations.service import LocalService, reason_of
from priming.types import Clock, Progress, SystemClock
from priming.verbs.op import Op
from priming.verbs.rows import BY_NAME, SERVED, meant
from priming_server import openapi, telemetry
from priming_server.access.auth import Authenticator, RequestContext, RequestMiddleware, context_of
from priming_server.access.sessions import BrowserSessions
from priming_server.access.tokens import Tokens
from priming_server.health import MadeOnce, Readiness
from priming_server.jobs import Job, Jobs, ProgressStream, events, json_line
from priming_server.limits import WorkerPool, json_body
from priming_server.page.routes import WebPage
from priming_server.responses import Refused, parse_body, refusal, respond
from priming_server.scheduler import Scheduler

Endpoint = Callable[[Request], Awaitable[Response]]
_CODES = {405: "method_not_allowed"}


def create_app(
    service: LocalService,
    tokens: Tokens,
    *,
    params: ServerParams = SERVER,
    names_only: bool = True,
    greeting: Mapping[str, str] | None = None,
    sleep_every: timedelta | None = None,
    mounts: Sequence[Route] = (),
    tracers: TracerProvider | None = None,
    clock: Clock | None = None,
) -> DescribedApp:
    """Return the application over the memories of a service.

    Args:
        service: answers the calls; it and the tokens are closed by the caller, after the server.
        tokens: who may use it; while there never was a token, everybody may.
        params: limits and patience.
        names_only: whether the Host header must then name this machine: a Unix socket needs no such guard.
        greeting: what its store is: ``/ready`` says whether that file is still in its place.
        sleep_every: how often the open namespaces sleep by themselves; None: never.
        mounts: other applications to be served beside it, behind the same middleware: ``auth.context_of`` has their
            client, whose ``enter`` refuses a token of another namespace.
        tracers: where OpenTelemetry's spans go; None: wherever it is configured to.
        clock: where the present comes from.

    """
    server = ServerState(service, tokens, params, clock or SystemClock(), sleep_every)
    server.greeting = greeting
    page = WebPage(service, tokens, server.workers, server.authenticator, server.sessions, server.jobs)
    app = DescribedApp(
        routes=[*_operations(server), *_jobs(server), *_of_server(server), *page.routes(), *mounts],
        lifespan=lambda _: server.lifespan(),
        middleware=[
            Middleware(
                RequestMiddleware,
                authenticator=server.authenticator,
                sessions=server.sessions,
                params=params,
                metrics=server.metrics,
                names_only=names_only,
                tracers=tracers,
            )
        ],
        exception_handlers={Refused: _refused, PrimingError: _failed, HTTPException: _no_route},
    )
    app.router.redirect_slashes = False
    app.state.server = server
    return app


class DescribedApp(Starlette):
    """An application that describes its routes."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        return openapi.document()


class ServerState:
    """The state shared by the routes of a server: ``draining`` once its end is announced, ``ending`` for calls."""

    def __init__(
        self,
        service: LocalService,
        tokens: Tokens,
        params: ServerParams,
        clock: Clock,
        every: timedelta | None,
    ) -> None:
        self.service, self.tokens, self.params = service, tokens, params
        self.workers, self.authenticator = WorkerPool(params), Authenticator(tokens)
        self.sessions = BrowserSessions()
        self.ending = Event()
        self.draining = False
        self.readiness = Readiness(tokens.is_writable, params.ready_seconds)
        self.greeting: Mapping[str, str] | None = None
        """What its store is, once the store exists: the greeting of the socket beside it."""
        self.jobs = Jobs(service, params, clock)
        self.scheduler = Scheduler(service, every, clock)
        self.metrics = telemetry.Metrics(
            namespaces=lambda: len(service.namespaces), jobs=lambda: self.jobs.unfinished
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Hold what runs beside the routes; at the end wait for calls, and for jobs until their next step."""
        looks = asyncio.create_task(self.scheduler.run(self.params.look_seconds))
        try:
            yield
        finally:
            self.stop()
            looks.cancel()
            await asyncio.gather(looks, return_exceptions=True)
            await self.jobs.close()
            await self.workers.close()
            await self.authenticator.close()
            await self.readiness.close()

    def observe(
        self, operation: str, namespace: str | None, code: str | None, status: int, seconds: float
    ) -> None:
        """Count and log an answer at the store's socket; greetings, which clients send first, at debug only."""
        level = logging.DEBUG if operation in local_socket.ABOUT else logging.INFO
        self.metrics.answered(operation, status, seconds, level, namespace=namespace, code=code)
        if namespace is not None and status == 200 and BY_NAME[operation].answers == "Receipt":
            self.jobs.forget(namespace)

    def stop(self) -> None:
        """Ask long calls to end after their current step."""
        self.ending.set()
        self.jobs.stop()
        self.scheduler.stop.set()


def _operations(server: ServerState) -> list[Route]:
    return [Route(f"/v1/{{namespace}}/{op.name}", _operation(server, op), methods=["POST"]) for op in SERVED]


def _operation(server: ServerState, op: Op) -> Endpoint:
    """Return the endpoint of an operation."""

    async def answer(request: Request) -> Response:
        context = context_of(request)
        namespace = _enter(request, op.name, op.needs)
        call = partial(
            _carry_out,
            server.service,
            namespace,
            op,
            await json_body(request),
            caller=context.caller(f"http {op.name}"),
            limits=context.limits,
            operation_id=request.headers.get("idempotency-key") if op.writes and not op.long else None,
            forgiving=request.headers.get("prefer") == "handling=lenient",
        )
        if op.long and request.headers.get("accept") == JSON_LINES:
            server.workers.check(namespace)
            stream = ProgressStream(context, server.ending, SOCKET.between, json_line)
            lines = stream.lines(server.workers, namespace, lambda progress: call(progress)[0])
            return StreamingResponse(lines, media_type=JSON_LINES)
        answer, reason = await server.workers.run(partial(call, None), namespace, long=op.long)
        if op.answers == "Receipt":
            server.jobs.forget(namespace)
        return Response(json_bytes(answer), headers=reason_header(reason), media_type=JSON)

    return answer


def _carry_out(
    service: LocalService,
    namespace: str,
    op: Op,
    body: bytes,
    progress: Progress | None,
    *,
    caller: Caller,
    limits: ServerParams,
    operation_id: str | None,
    forgiving: bool,
) -> tuple[Any, str | None]:
    """Return the answer of an operation to the body of a request, and the reason why it is empty."""
    arguments = parse_body(body, limits.depth, limits.values)
    schema.refuse_own(op, arguments)
    with calling(caller):
        answer = service.call(
            namespace, op.name, arguments, forgiving=forgiving, progress=progress, operation_id=operation_id
        )
        return answer, reason_of(service, namespace, op, answer)


def _jobs(server: ServerState) -> list[Route]:
    def job_of(request: Request, operation: str) -> Job:
        """Return the job in the path, whose operation the token may call."""
        job = server.jobs.find(_enter(request, operation), request.path_params["id"])
        context_of(request).check_kind(BY_NAME[job.operation].needs)
        return job

    async def show(request: Request) -> Response:
        return respond(job_of(request, "job").as_dict())

    async def drop(request: Request) -> Response:
        job = job_of(request, "job_drop")
        return respond(server.jobs.drop(job.namespace, job.id).as_dict())

    async def follow(request: Request) -> Response:
        job = job_of(request, "job_events")
        after = request.headers.get("last-event-id", "")
        number = int(after) if after.isdecimal() and len(after) < 16 else -1
        still_admitted = partial(server.authenticator.still_admits, context_of(request))
        stream = events(job, number, server.params.ping_seconds, still_admitted)
        return StreamingResponse(stream, media_type="text/event-stream")

    path = "/v1/{namespace}/jobs"
    return [
        *(Route(f"{path}/{op.name}", _job(server, op), methods=["POST"]) for op in SERVED if op.long),
        Route(f"{path}/{{id}}", show),
        Route(f"{path}/{{id}}", drop, methods=["DELETE"]),
        Route(f"{path}/{{id}}/events", follow),
    ]


def _job(server: ServerState, op: Op) -> Endpoint:
    """Return the endpoint that begins an operation as a job."""

    async def begin(request: Request) -> Response:
        namespace = _enter(request, f"{op.name}_job", op.needs)
        body = await json_body(request)
        check = partial(_checked, namespace, op, body, context_of(request))
        arguments = await server.workers.run(check, namespace)
        context = context_of(request)
        caller = context.caller(f"http {op.name}")
        job = server.jobs.begin(namespace, op.name, arguments, caller, everywhere=context.everywhere)
        return respond(job.as_dict(), 202, {"Location": f"/v1/{quote(namespace, safe='')}/jobs/{job.id}"})

    return begin


def _checked(namespace: str, op: Op, body: bytes, context: RequestContext) -> Any:
    """Return a request that was checked: its errors are answered at once, not by the job."""
    check_name("namespace", namespace)
    request = parse_body(body, context.limits.depth, context.limits.values)
    schema.arguments(op, request)
    return request


def _enter(request: Request, operation: str, needs: str = "read") -> str:
    """Return the namespace of a request, whose sender may use it."""
    namespace: str = request.path_params["namespace"]
    context_of(request).enter(namespace, operation, needs)
    return namespace


def _of_server(server: ServerState) -> list[Route]:
    description = MadeOnce(partial(server.workers.run, lambda: json_bytes(openapi.document())))
    page = MadeOnce(partial(server.workers.run, lambda: openapi.docs_page(openapi.document())))

    async def health(request: Request) -> Response:
        context_of(request).operation = "health"
        return respond({"status": "alive", "version": VERSION})

    async def ready(request: Request) -> Response:
        context_of(request).operation = "ready"
        if server.draining or server.ending.is_set():
            raise Refused(
                503, "stopping", "the server is stopping: ask another, or this again once restarted"
            )
        local_socket.check_in_place(server.greeting)
        return respond({"status": "ready", "version": VERSION, "writable": await server.readiness.check()})

    async def figures(request: Request) -> Response:
        context = context_of(request)
        context.operation = "metrics"
        if not context.everywhere:
            raise Refused(403, "forbidden", "the metrics cover all namespaces: use a token for *")
        return Response(server.metrics.text(), media_type=telemetry.METRICS_TYPE)

    async def document(request: Request) -> Response:
        context_of(request).operation = "openapi"
        return Response(await description.get(), media_type=JSON)

    async def docs(request: Request) -> Response:
        context_of(request).operation = "docs"
        return Response(await page.get(), 200, {"Content-Security-Policy": openapi.DOCS_POLICY}, "text/html")

    routes = {
        "/health": health,
        "/healthz": health,
        "/ready": ready,
        "/readyz": ready,
        "/metrics": figures,
        "/openapi.json": document,
        "/docs": docs,
    }
    return [Route(path, endpoint) for path, endpoint in routes.items()]


async def _refused(request: Request, error: Exception) -> Response:
    """Answer beside the route: what passes through middleware is kept, with its body, until a collection."""
    assert isinstance(error, Refused)
    context_of(request).code = error.code
    return error.response()


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, PrimingError)
    return await _refused(request, refusal(error, everywhere=context_of(request).everywhere))


async def _no_route(request: Request, error: Exception) -> Response:
    """Refuse an unknown path or method, in the form of every error."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        near = meant(request.url.path.rpartition("/")[2].replace("-", "_"))
        is_served = near is not None and BY_NAME[near] in SERVED
        hint = f"did you mean POST /v1/{{namespace}}/{near}? See" if is_served else "see"
        return await _failed(request, NotFound(f"there is nothing here: {hint} /docs and /openapi.json"))
    code = _CODES.get(error.status_code, "bad_param")
    message = f"{request.method} is not allowed for this path" if error.status_code == 405 else error.detail
    return await _refused(request, Refused(error.status_code, code, message, error.headers))
