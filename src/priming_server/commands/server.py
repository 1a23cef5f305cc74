"""The commands of servers: serve and token."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from priming.cli import parse
from priming.cli.command import Answer, command, group, respond
from priming.cli.groups.care import Tools, chosen_tools
from priming.cli.options import StoreOptions, argument, flag, option
from priming.cli.output import DIM, KEY, OK, Part, Table, line, timestamp
from priming.config.words import TOKEN_KINDS
from priming.errors import MissingExtra, ParamError

if TYPE_CHECKING:
    from priming.types import Token
    from priming_server.access.tokens import Tokens

_TOKEN_COLUMNS = ("id", "namespace", "name", "kind", "created", "last used", "expires", "revoked")

app = group("Server")
tokens_app = group("Server", "token", "Create, list and revoke access tokens of a server.")
GROUPS = (app, tokens_app)


@command(app)
def serve(
    store: StoreOptions,
    host: Annotated[
        str | None,
        option("--host", "ADDRESS", "Address to listen on; 127.0.0.1 by default. Others require a token"),
    ] = None,
    port: Annotated[
        int | None, option("--port", "N", "Port; 7777 by default, 0 for any free port", min=0, max=65535)
    ] = None,
    uds: Annotated[Path | None, option("--uds", "PATH", "Listen on this Unix socket instead")] = None,
    local: Annotated[
        bool,
        flag("--local", "Listen only at the socket beside the store, for your own processes; needs no extra"),
    ] = False,
    idle: Annotated[
        str | None, option("--idle", "TIME", "With --local: end after this time without a call, such as 30m")
    ] = None,
    sleep_every: Annotated[
        str | None, option("--sleep-every", "TIME", "Interval of automatic sleep: 90s, 30m, 8h, 1d")
    ] = None,
    tools: Tools = None,
    rate: Annotated[
        float | None,
        option("--rate", "N", "Maximum requests per second of a client; 500 by default, 0: no limit"),
    ] = None,
    stop: Annotated[
        bool, flag("--stop", "End the running server of the store instead, also one that a session started")
    ] = False,
) -> Answer:
    """Serve the store over HTTP, with all its namespaces, until Ctrl-C. Requests in progress are finished."""
    if stop:
        return _stopped(store)
    elsewhere = {"--host": host, "--port": port, "--uds": uds, "--sleep-every": sleep_every, "--rate": rate}
    _check_local(local, idle, {**elsewhere, "--tools": tools})
    settings = store.settings(servers=True)

    def ready(address: str) -> None:
        page = "" if local or uds else "a browser shows its page; "
        text = line(f"listening at {address}", ("" if local else f"  {page}Ctrl-C ends it", DIM))
        respond(store, Answer({"listening": address}, [text]))

    if local:
        from priming_server.commands import local as at_socket

        lasts = parse.optional_duration("--idle", idle)
        at_socket.run(settings.store_url, settings, idle=lasts, params=settings.server, ready=ready)
        return Answer({"listening": None}, [line(("ended", DIM))])
    with MissingExtra("server", "priming serve"):
        from priming_server import process

    process.run(
        url=settings.store_url,
        profile=settings["store.profile"],
        settings=settings,
        host=settings["server.host"] if host is None else host,
        port=settings["server.port"] if port is None else port,
        uds=uds,
        sleep_every=parse.optional_duration("--sleep-every", sleep_every),
        tools=chosen_tools(tools, settings),
        params=settings.server if rate is None else replace(settings.server, rate=rate),
        ready=ready,
    )
    return Answer({"listening": None}, [line(("ended", DIM))])


@command(app, "open")
def open_page(
    store: StoreOptions,
    port: Annotated[
        int | None, option("--port", "N", "Port; by default 7777, or any that is free", min=0, max=65535)
    ] = None,
    browser: Annotated[
        bool, flag("--browser/--no-browser", "Open a browser, or only print the address")
    ] = True,
) -> Answer:
    """Show the store's page in a browser: of the server that runs, else of one on this machine until Ctrl-C."""
    settings = store.settings(servers=True)
    name = settings["store.namespace"]
    view = f"/#/recall?{urlencode({'ns': name})}"

    def show(address: str, note: str = "") -> Answer:
        if browser:
            threading.Thread(target=webbrowser.open, args=(address + view,), daemon=True).start()
        return Answer({"page": address + view}, [line(f"the page is at {address}{view}", (note, DIM))])

    running = _running(store)
    if running is not None:
        return show(running)
    with MissingExtra("server", "priming open"):
        from priming_server import process

    process.run(
        url=settings.store_url,
        profile=settings["store.profile"],
        settings=settings,
        port=process.free_port(settings["server.port"]) if port is None else port,
        tools=settings["mcp.tools"],
        params=settings.server,
        level="warning",
        ready=lambda address: respond(store, show(address, "  Ctrl-C ends it")),
    )
    return Answer({"page": None}, [line(("ended", DIM))])


def _running(store: StoreOptions) -> str | None:
    """Return the address of a server of the store that runs on this machine."""
    from priming.config.params.limits import SOCKET

    state = store.server(SOCKET.look)
    return None if state is None else state.get("address")


def _check_local(local: bool, idle: str | None, elsewhere: Mapping[str, Any]) -> None:
    """Refuse options of a server at an address with ``--local``, and ``--idle`` without it."""
    if idle is not None and not local:
        raise ParamError("--idle", idle, "needs --local: a server at an address runs until it is ended")
    for name, value in elsewhere.items():
        if local and value is not None:
            raise ParamError(name, value, "cannot be combined with --local: leave one out")


def _stopped(store: StoreOptions) -> Answer:
    """End the server that runs at the socket of the store."""
    from priming.operations import local_socket

    path = store.socket()
    ended = path is not None and local_socket.end_server(path)
    lines = [line(("ended the server of the store", OK) if ended else ("no server of the store runs", DIM))]
    return Answer({"ended": ended}, lines)


@command(tokens_app)
def new(
    store: StoreOptions,
    granted: Annotated[
        str, argument("NAMESPACE", "The namespace it gives access to; '*' for all namespaces")
    ],
    name: Annotated[str | None, option("--name", "TEXT", "Name of its holder")] = None,
    kind: Annotated[
        str,
        option(
            "--kind",
            "KIND",
            "What it may do: read, write (by default), or admin: also purge, roll back, restore, export",
            TOKEN_KINDS,
        ),
    ] = "write",
    expires: Annotated[
        str | None, option("--expires", "TIME", "After how long it is refused: 12h, 30d; never by default")
    ] = None,
) -> Answer:
    """Create a token and show it, once. From the first token on, a server of the store requires a token."""
    lasts = parse.optional_duration("--expires", expires)
    with _tokens(store) as tokens:
        token = tokens.new(granted, name, kind=kind, lasts=lasts)
    note = "only its digest is stored: it cannot be shown again"
    return Answer(token, [line(token.secret), line((note, DIM))])


@command(tokens_app, "list")
def list_(store: StoreOptions) -> Answer:
    """List tokens, also revoked ones, without their secrets."""
    with _tokens(store) as tokens:
        rows = tokens.list()
    return Answer(rows, _token_rows(rows))


@command(tokens_app)
def revoke(
    store: StoreOptions,
    token_id: Annotated[str, argument("ID", "The id that 'token list' shows")],
) -> Answer:
    """Revoke a token for good: servers refuse it from now on."""
    with _tokens(store) as tokens:
        token = tokens.revoke(token_id)
    return Answer(token, [line(f"revoked {token.id}")])


@command(tokens_app, "read-only")
def read_only(
    store: StoreOptions,
    refused: Annotated[
        str | None, argument("NAMESPACE", "The namespace; without it, all that are read-only are listed")
    ] = None,
    off: Annotated[bool, flag("--off", "Accept writes again")] = False,
) -> Answer:
    """Make a namespace read-only: whatever would change it is refused, from the owner too, and reading goes on."""
    with _tokens(store) as tokens:
        if refused is None and off:
            raise ParamError("--off", True, "needs the namespace that writes are accepted to again")
        names = tokens.read_only() if refused is None else tokens.set_read_only(refused, on=not off)
    rows = [line((name, KEY)) for name in names]
    return Answer({"read_only": names}, rows or [line(("no namespace is read-only", DIM))])


def _tokens(store: StoreOptions) -> Tokens:
    from priming_server.access.tokens import Tokens

    return Tokens(store.location())


def _token_rows(tokens: Sequence[Token]) -> Iterator[Part]:
    rows: list[tuple[Any, ...]] = [
        (
            token.id,
            token.namespace,
            token.name or "",
            token.kind,
            timestamp(token.created_at),
            timestamp(token.used_at),
            timestamp(token.expires_at),
            timestamp(token.revoked_at),
        )
        for token in tokens
    ]
    yield Table(_TOKEN_COLUMNS, tuple(rows)) if rows else line(("no tokens", DIM))
