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

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from opentelemetry.trace import TracerProvider
from starlette.exceptions import HTTPException
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
_ABOUT = "An associative memory for AI agents: what it remembers, recalls and learns, by namespace."
_CODES = {405: "method_not_allowed"}
_TEXT = {"type": "string"}
_HEALTH = {
    "type": "object",
    "required": ["status", "version"],
    "properties": {"status": _TEXT, "version": _TEXT, "writable": {"type": "boolean"}},
}


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
) -> FastAPI:
    """The application over the memories of a service.

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
    app = DescribedApp(
        title="Priming",
        version=VERSION,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lambda _: server.lifespan(),
    )
    app.state.server = server
    _route_operations(app, server)
    _route_jobs(app, server)
    _route_server(app, server)
    WebPage(service, tokens, server.workers, server.authenticator, server.sessions, server.jobs).add_to(app)
    app.router.routes.extend(mounts)
    app.add_middleware(
        RequestMiddleware,
        authenticator=server.authenticator,
        sessions=server.sessions,
        params=params,
        metrics=server.metrics,
        names_only=names_only,
        tracers=tracers,
    )
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(PrimingError, _failed)
    app.add_exception_handler(HTTPException, _no_route)
    return app


class DescribedApp(FastAPI):
    """An application whose OpenAPI document has the schemas of the table, made when it is first asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._described: list[Callable[[], APIRoute]] = []

    def add_operation(self, path: str, endpoint: Endpoint, about: Callable[[], dict[str, Any]]) -> None:
        """Add a route; only for the document does FastAPI take in what is said of it, which is most of its time."""
        self.add_route(path, endpoint, methods=["POST"])
        self._described.append(lambda: APIRoute(path, endpoint, methods=["POST"], **about()))

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        if self.openapi_schema is None:
            routes = [*(described() for described in self._described), *self.routes]
            document = get_openapi(
                title=self.title, version=self.version, description=self.description, routes=routes
            )
            self.openapi_schema = openapi.finished(document)
        return self.openapi_schema


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
        """What runs beside the routes; at the end it waits for calls, and for jobs until their next step."""
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
        self.metrics.answered(operation, status, seconds)
        telemetry.write(
            logging.DEBUG if operation in local_socket.ABOUT else logging.INFO,
            "request",
            operation=operation,
            namespace=namespace,
            status=status,
            code=code,
            ms=round(seconds * 1000, 2),
        )
        if namespace is not None and status == 200 and BY_NAME[operation].answers == "Receipt":
            self.jobs.forget(namespace)

    def stop(self) -> None:
        """Ask long calls to end after their current step."""
        self.ending.set()
        self.jobs.stop()
        self.scheduler.stop.set()


def _route_operations(app: DescribedApp, server: ServerState) -> None:
    for op in SERVED:
        path = f"/v1/{{namespace}}/{op.name}"
        app.add_operation(path, _operation(server, op), partial(openapi.operation, op))


def _operation(server: ServerState, op: Op) -> Endpoint:
    """The endpoint of an operation."""

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
        answer, reason = await server.workers.run(partial(call, None), namespace)
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


def _route_jobs(app: DescribedApp, server: ServerState) -> None:
    for op in SERVED:
        if op.long:
            path = f"/v1/{{namespace}}/jobs/{op.name}"
            app.add_operation(path, _job(server, op), partial(openapi.job, op))
    path = "/v1/{namespace}/jobs/{id}"

    def job_of(request: Request, operation: str) -> Job:
        """The job in the path, whose operation the token may call."""
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

    app.add_api_route(path, show, methods=["GET"], **openapi.of_job("job", "The current state of a job"))
    about = openapi.of_job("job_drop", "Cancel a job after its current step; forget a finished one")
    app.add_api_route(path, drop, methods=["DELETE"], **about)
    about = openapi.of_job("job_events", "The progress and the end of a job, as they happen", stream=True)
    app.add_api_route(f"{path}/events", follow, methods=["GET"], **about)


def _job(server: ServerState, op: Op) -> Endpoint:
    """The endpoint that begins an operation as a job."""

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
    """A request that was checked: its errors are answered at once, not by the job."""
    check_name("namespace", namespace)
    request = parse_body(body, context.limits.depth, context.limits.values)
    schema.arguments(op, request)
    return request


def _enter(request: Request, operation: str, needs: str = "read") -> str:
    """The namespace of a request, whose sender may use it."""
    namespace: str = request.path_params["namespace"]
    context_of(request).enter(namespace, operation, needs)
    return namespace


def _route_server(app: FastAPI, server: ServerState) -> None:
    description = MadeOnce(partial(server.workers.run, lambda: json_bytes(app.openapi())))
    page = MadeOnce(partial(server.workers.run, lambda: openapi.docs_page(app.openapi())))

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

    add = app.add_api_route
    add("/health", health, **openapi.of_server("health", "Whether the process is alive", JSON, _HEALTH))
    add("/ready", ready, **openapi.of_server("ready", "Whether it can be used", JSON, _HEALTH))
    add("/healthz", health, include_in_schema=False)
    add("/readyz", ready, include_in_schema=False)
    add("/metrics", figures, **openapi.of_server("metrics", "Metrics for Prometheus", "text/plain"))
    add("/openapi.json", document, include_in_schema=False)
    add("/docs", docs, include_in_schema=False)


async def _refused(request: Request, error: Exception) -> Response:
    """Answer inside of FastAPI's exit stacks, which keep what passes through, with its body, until a collection."""
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
