"""HTTP: the operations of the table as routes, with jobs, figures and a page that describes it all.

A route carries out ``Host.call`` in a thread; what every request passes before stands in ``priming.serve.gate``.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from opentelemetry.trace import TracerProvider
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from priming import __version__
from priming.api import wire
from priming.api.host import Host
from priming.api.ops import SERVED, Op
from priming.checks import check_name
from priming.config.params.server import SERVER, ServerParams
from priming.config.settings import Settings
from priming.engine.tokens import Tokens
from priming.errors import NotFound, PrimingError
from priming.serve import logs, metrics, openapi, page
from priming.serve.answers import JSON, Refused, parsed, refusal, respond, written
from priming.serve.gate import Doors, Gate, visit_of
from priming.serve.jobs import Jobs, events
from priming.serve.limits import Work
from priming.serve.nights import Nights
from priming.serve.running import listening, loopback, refuse_strangers, serve, socket_beside
from priming.types import Clock, SystemClock

Endpoint = Callable[[Request], Awaitable[Response]]
_ABOUT = "An associative memory for AI agents: what it remembers, recalls and learns, by namespace."
_CODES = {404: "not_found", 405: "method_not_allowed"}
_HEALTH = {
    "type": "object",
    "required": ["status", "version"],
    "properties": {"status": {"type": "string"}, "version": {"type": "string"}},
}


During = Callable[[], AbstractAsyncContextManager[Any]]


def run(
    url: str | None = None,
    *,
    profile: str = "priming",
    settings: Settings | None = None,
    host: str = "127.0.0.1",
    port: int = 7777,
    uds: str | Path | None = None,
    sleep_every: timedelta | None = None,
    params: ServerParams = SERVER,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a store until SIGTERM or SIGINT; ``ready`` is called with the address once it listens.

    Args:
        url: the store.
        profile: the profile of its recalls.
        settings: those of retrieval and of the log; None: the defaults.
        host: the address to listen at; another than a loopback address needs a token.
        port: 0 lets the system choose.
        uds: the path of a Unix socket to listen at instead.
        sleep_every: let the namespaces that are open sleep by themselves, so often.
        params: limits and patience.
        ready: told where it listens.

    Raises:
        ParamError: an address that is none.
        Conflict: one that is taken, or one that other machines reach while the store has no token.

    """
    from priming.serve.mcp_http import mounted

    path = None if uds is None else Path(uds)
    with Tokens(url) as tokens, closing(Host(url, profile=profile, settings=settings)) as memories:
        if path is None:
            refuse_strangers(tokens, host)
        with listening(host, port, path) as listener:
            made = app(
                memories,
                tokens,
                params=params,
                names_only=path is None and loopback(host),
                sleep_every=sleep_every,
                mounts=[mounted(memories, params)],
                companions=[partial(socket_beside, memories)],
            )
            logs.begin(level="info" if settings is None else settings["service.log_level"])
            where = str(path) if path else _address(listener)
            serve(made, listener, params, partial(ready or _silent, where))


def _address(listener: socket.socket) -> str:
    """Where it listens, as a URL."""
    name, port = listener.getsockname()[:2]
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _silent(where: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Mounted:
    """Another application at a path of the server, within the same gate; an object, since a function is no ASGI.

    Who asks it is found by ``priming.serve.gate.visit_of``: its ``enter`` refuses a token of another namespace.
    ``during`` is entered while the server runs.
    """

    path: str
    app: ASGIApp
    during: During | None = None


def app(
    host: Host,
    tokens: Tokens,
    *,
    params: ServerParams = SERVER,
    names_only: bool = True,
    sleep_every: timedelta | None = None,
    mounts: Sequence[Mounted] = (),
    companions: Sequence[During] = (),
    tracers: TracerProvider | None = None,
    clock: Clock | None = None,
) -> FastAPI:
    """The application over the memories of a host.

    Args:
        host: answers the calls; it and the tokens are closed by the caller, after the server.
        tokens: who may come in; while there never was one, everybody may.
        params: limits and patience.
        names_only: whether the Host header must then name this machine: a Unix socket needs no such guard.
        sleep_every: let the namespaces that are open sleep by themselves, so often; None: never.
        mounts: other applications to be served beside it.
        companions: entered while the server runs.
        tracers: where OpenTelemetry's spans go; None: wherever it is configured to.
        clock: where the present comes from.

    """
    server = _Server(host, tokens, params, clock or SystemClock(), sleep_every)
    made = FastAPI(
        title="Priming",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lambda _: server.during([*companions, *(one.during for one in mounts if one.during)]),
    )
    made.state.server = server
    _route_operations(made, server)
    _route_jobs(made, server)
    _route_server(made, server)
    made.router.routes.extend(Route(one.path, one.app) for one in mounts)
    made.add_middleware(
        Gate,
        doors=server.doors,
        params=params,
        metrics=server.metrics,
        names_only=names_only,
        tracers=tracers,
    )
    made.add_exception_handler(Refused, _refused)
    made.add_exception_handler(PrimingError, _failed)
    made.add_exception_handler(HTTPException, _no_route)
    return made


class _Server:
    """What the routes of one server share."""

    def __init__(
        self, host: Host, tokens: Tokens, params: ServerParams, clock: Clock, sleep_every: timedelta | None
    ) -> None:
        self.host, self.tokens, self.params = host, tokens, params
        self.work, self.doors = Work(params), Doors(tokens)
        self.jobs = Jobs(host, params, clock)
        self.nights = None if sleep_every is None else Nights(host, sleep_every, clock)
        self.metrics = metrics.Metrics(
            namespaces=lambda: len(host.namespaces), jobs=lambda: self.jobs.unfinished
        )

    @asynccontextmanager
    async def during(self, companions: Sequence[During]) -> AsyncIterator[None]:
        """What goes on while the server runs; at its end calls are waited for, and jobs until their next step."""
        async with AsyncExitStack() as stack:
            for one in companions:
                await stack.enter_async_context(one())
            night = None
            if self.nights is not None:
                night = asyncio.create_task(self.nights.watch(self.params.look_seconds))
            try:
                yield
            finally:
                self.stop()
                if night is not None:
                    night.cancel()
                    await asyncio.gather(night, return_exceptions=True)
                await self.jobs.close()
                await self.work.close()
                await self.doors.close()

    def stop(self) -> None:
        """Ask what goes on for long to end after its present step."""
        self.jobs.stop()
        if self.nights is not None:
            self.nights.stop.set()


def _route_operations(made: FastAPI, server: _Server) -> None:
    for op in SERVED:
        path = f"/v1/{{namespace}}/{op.name}"
        made.add_api_route(path, _answering(server, op), methods=["POST"], **openapi.operation(op))


def _answering(server: _Server, op: Op) -> Endpoint:
    """The endpoint of an operation."""

    async def answer(request: Request) -> Response:
        visit = visit_of(request)
        namespace = request.path_params["namespace"]
        visit.enter(namespace, op.name)
        body = await _body(request)
        once = request.headers.get("idempotency-key") if op.writes and not op.long else None
        return Response(
            await server.work.run(partial(_carried_out, server, namespace, op, body, once)), media_type=JSON
        )

    return answer


def _carried_out(server: _Server, namespace: str, op: Op, body: bytes, once: str | None) -> bytes:
    """The answer of an operation as JSON, made in a thread from the body as it came."""
    request = parsed(body, server.params.depth)
    return written(server.host.call(namespace, op.name, request, operation_id=once))


def _route_jobs(made: FastAPI, server: _Server) -> None:
    for op in SERVED:
        if op.long:
            path = f"/v1/{{namespace}}/jobs/{op.name}"
            made.add_api_route(path, _beginning(server, op), methods=["POST"], **openapi.job(op))
    path = "/v1/{namespace}/jobs/{id}"

    async def show(request: Request) -> Response:
        namespace = _entered(request, "job")
        return respond(server.jobs.find(namespace, request.path_params["id"]).told())

    async def drop(request: Request) -> Response:
        namespace = _entered(request, "job_drop")
        return respond(server.jobs.drop(namespace, request.path_params["id"]).told())

    async def follow(request: Request) -> Response:
        namespace = _entered(request, "job_events")
        job = server.jobs.find(namespace, request.path_params["id"])
        after = request.headers.get("last-event-id", "")
        number = int(after) if after.isdecimal() and len(after) < 16 else -1
        welcome = partial(server.doors.still, visit_of(request))
        stream = events(job, number, server.params.ping_seconds, welcome)
        return StreamingResponse(stream, media_type="text/event-stream")

    made.add_api_route(path, show, methods=["GET"], **openapi.of_job("job", "A job as it stands"))
    about = openapi.of_job("job_drop", "Cancel a job after its present step; forget one that is over")
    made.add_api_route(path, drop, methods=["DELETE"], **about)
    about = openapi.of_job("job_events", "What becomes of a job, as it happens", stream=True)
    made.add_api_route(f"{path}/events", follow, methods=["GET"], **about)


def _beginning(server: _Server, op: Op) -> Endpoint:
    """The endpoint that begins an operation as a job."""

    async def begin(request: Request) -> Response:
        namespace = _entered(request, f"{op.name}_job")
        body = await _body(request)
        asked = await server.work.run(partial(_asked, server, namespace, op, body))
        job = server.jobs.begin(namespace, op.name, asked, everywhere=visit_of(request).everywhere)
        return respond(job.told(), 202, {"Location": f"/v1/{quote(namespace, safe='')}/jobs/{job.id}"})

    return begin


def _asked(server: _Server, namespace: str, op: Op, body: bytes) -> Any:
    """A request that was looked at: what is wrong with it is said at once, not by the job."""
    check_name("namespace", namespace)
    request = parsed(body, server.params.depth)
    wire.arguments(op, request)
    return request


def _entered(request: Request, operation: str) -> str:
    """The namespace of a request, whose sender may use it."""
    namespace: str = request.path_params["namespace"]
    visit_of(request).enter(namespace, operation)
    return namespace


async def _body(request: Request) -> bytes:
    """The body of a request, which must say that it is JSON unless there is none."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != JSON:
        raise Refused(415, "unsupported_media_type", f"the Content-Type must be {JSON}")
    return body


def _route_server(made: FastAPI, server: _Server) -> None:
    async def health(request: Request) -> Response:
        visit_of(request).operation = "health"
        return respond({"status": "alive", "version": __version__})

    async def ready(request: Request) -> Response:
        visit_of(request).operation = "ready"
        await server.work.run(server.tokens.needed)
        return respond({"status": "ready", "version": __version__})

    async def figures(request: Request) -> Response:
        visit = visit_of(request)
        visit.operation = "metrics"
        if not visit.everywhere:
            raise Refused(403, "forbidden", "the figures are of all namespaces: use a token for *")
        return Response(server.metrics.text(), media_type=metrics.TYPE)

    async def document(request: Request) -> Response:
        visit_of(request).operation = "openapi"
        return Response(described, media_type=JSON)

    async def docs(request: Request) -> Response:
        visit_of(request).operation = "docs"
        return Response(shown, headers={"Content-Security-Policy": page.POLICY}, media_type="text/html")

    add = made.add_api_route
    add("/health", health, **openapi.of_server("health", "Whether the process is alive", JSON, _HEALTH))
    add("/ready", ready, **openapi.of_server("ready", "Whether the store answers", JSON, _HEALTH))
    add("/metrics", figures, **openapi.of_server("metrics", "Figures for Prometheus", "text/plain"))
    add("/openapi.json", document, include_in_schema=False)
    add("/docs", docs, include_in_schema=False)
    made.openapi_schema = openapi.finished(made.openapi())
    described, shown = written(made.openapi_schema), page.html(made.openapi_schema)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    visit_of(request).code = error.code
    return error.response()


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, PrimingError)
    return await _refused(request, refusal(error, everywhere=visit_of(request).everywhere))


async def _no_route(request: Request, error: Exception) -> Response:
    """What is not there, told as every error is."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await _failed(
            request, NotFound("there is nothing here: /docs and /openapi.json say what there is")
        )
    code = _CODES.get(error.status_code, "bad_param")
    said = f"{request.method} is not for this path" if code == "method_not_allowed" else error.detail
    return await _refused(request, Refused(error.status_code, code, said, error.headers))
