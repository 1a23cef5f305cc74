"""Commands that connect other programs: serve, mcp, hook, setup, token."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.command import Answer, command, group, respond
from priming.cli.errors import FAILURE
from priming.cli.options import AgentOptions, StoreOptions, Yes
from priming.cli.output import DIM, KEY, OK, WARN, Part, Table, confirm, line, timestamp
from priming.cli.parse import complete
from priming.config.words import TOKEN_KINDS, TOOL_GROUPS
from priming.errors import ParamError
from priming.hooks.agents import AGENTS
from priming.hooks.setup import agent_config, clients, files, work
from priming.operations import table

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.hooks.setup.work import SetupWork
    from priming.server.tokens import Tokens
    from priming.types import Token

EVENTS = ("session-start", "prompt", "pre-tool", "post-tool", "stop")
NOTES = {
    "claude-code": "Claude Code reads it at its next start, and asks once whether the project's servers may run.",
    "cursor": "Cursor reads it when it is saved; open a new chat.",
    "codex": "Codex runs it once you trust the project and its hooks: start codex here once, and it asks for both.",
    "gemini": "Gemini CLI asks for trust in the folder: start it here once, or set GEMINI_CLI_TRUST_WORKSPACE=true.",
    "opencode": "opencode reads it at its next start.",
}
_TOKEN_COLUMNS = ("id", "namespace", "name", "kind", "created", "last used", "expires", "revoked")

Tools = Annotated[
    str | None,
    Option(
        "--tools",
        metavar="GROUPS",
        help=f"Tools that MCP offers: {', '.join(TOOL_GROUPS)}; several with commas between; core by default",
        autocompletion=complete(TOOL_GROUPS),
    ),
]

app = group("Server")
tokens_app = group("Server", "token", "Create, list and revoke access tokens of a server.")
GROUPS = (app, tokens_app)


@command(app)
def serve(
    store: StoreOptions,
    host: Annotated[
        str | None,
        Option(
            "--host",
            metavar="ADDRESS",
            help="Address to listen on; 127.0.0.1 by default. Others require a token",
        ),
    ] = None,
    port: Annotated[
        int | None,
        Option("--port", metavar="N", min=0, max=65535, help="Port; 7777 by default, 0 for any free port"),
    ] = None,
    uds: Annotated[
        Path | None, Option("--uds", metavar="PATH", help="Listen on this Unix socket instead")
    ] = None,
    sleep_every: Annotated[
        str | None,
        Option("--sleep-every", metavar="TIME", help="Interval of automatic sleep: 90s, 30m, 8h, 1d"),
    ] = None,
    tools: Tools = None,
    rate: Annotated[
        float | None,
        Option(
            "--rate", metavar="N", help="Maximum requests per second of a client; 500 by default, 0: no limit"
        ),
    ] = None,
    stop: Annotated[
        bool,
        Option("--stop", help="End the running servers of the store instead, also that of an agent's hooks"),
    ] = False,
) -> Answer:
    """Serve the store over HTTP, with all its namespaces, until Ctrl-C. Requests in progress are finished."""
    if stop:
        return _stopped(store)
    from priming.server import process

    settings = store.settings(servers=True)
    groups = _groups(tools, settings)

    def ready(address: str) -> None:
        text = line(f"listening at {address}", ("  Ctrl-C ends it, /docs describes it", DIM))
        respond(store, Answer({"listening": address}, [text]))

    process.run(
        url=settings.store_url,
        profile=settings["store.profile"],
        settings=settings,
        host=settings["server.host"] if host is None else host,
        port=settings["server.port"] if port is None else port,
        uds=uds,
        sleep_every=parse.optional_duration("--sleep-every", sleep_every),
        tools=groups,
        params=settings.server if rate is None else replace(settings.server, rate=rate),
        ready=ready,
    )
    return Answer({"listening": None}, [line(("ended", DIM))])


def _stopped(store: StoreOptions) -> Answer:
    """End the servers that run beside the store."""
    from priming.hooks import background
    from priming.operations import local_socket

    where = local_socket.real(store.location())
    ended = []
    if where is not None and where.path is not None and local_socket.available():
        if background.stop(where.path):
            ended.append("hooks")
        if local_socket.end_server(local_socket.socket_path(where.path)):
            ended.append("serve")
    names = {"hooks": "the server of the hooks", "serve": "the server of `priming serve`"}
    lines = [line((f"ended {names[name]}", OK)) for name in ended]
    return Answer({"ended": ended}, lines or [line(("no server of the store runs", DIM))])


@command(app)
def mcp(store: StoreOptions, tools: Tools = None) -> Answer:
    """Serve MCP on stdin and stdout. An agent starts this command, and it ends with the agent."""
    from priming.server.mcp import beside, stdio

    if store.as_json:
        raise ParamError(
            "--json", True, "cannot be combined with mcp, which has its own protocol: leave it out"
        )
    settings = store.settings()
    groups, namespace = _groups(tools, settings), str(settings["store.namespace"])
    with beside.side_by_side(store.location(), namespace, groups) as offers:
        stdio.run(
            service=store.service,
            namespace=namespace,
            groups=groups,
            agent=AgentOptions().load,
            offers=offers,
        )
    return Answer(None, ())


@command(app)
def hook(
    store: StoreOptions,
    event: Annotated[str, Argument(metavar="EVENT", help=", ".join(EVENTS), autocompletion=complete(EVENTS))],
    agent: Annotated[
        str | None,
        Option(
            "--agent",
            metavar="NAME",
            help=f"{', '.join(AGENTS)}; recognised from its JSON by default",
            autocompletion=complete(AGENTS),
        ),
    ] = None,
) -> Answer:
    """Answer a hook of a coding agent: JSON on stdin, the answer on stdout. The exit status is always 0."""
    from priming.hooks.command import run

    options: dict[str, Any] = {
        name.removeprefix("store."): value for name, (value, _) in store.overrides().items()
    }
    run(event=event, agent=agent, server=not store.file_only, **options)
    raise typer.Exit


@command(app)
def setup(
    store: StoreOptions,
    agent: Annotated[str, Argument(metavar="AGENT", help=", ".join(AGENTS), autocompletion=complete(AGENTS))],
    project: Annotated[
        bool, Option("--project", help="For the project in this folder, which is the default")
    ] = False,
    user: Annotated[bool, Option("--user", help="For all projects of this user")] = False,
    shared: Annotated[
        bool,
        Option(
            "--shared", help="Write the command as priming, not by its path: for files that a team commits"
        ),
    ] = False,
    tools: Tools = None,
    remove: Annotated[bool, Option("--remove", help="Remove what setup added, and nothing else")] = False,
    yes: Yes = False,
) -> Answer:
    """Add Priming to a coding agent: MCP server, hooks, and a store. Shows the changes and asks first."""
    _check_options(store, agent, project=project, user=user, shared=shared, tools=tools)
    if yes and not user and not remove:
        from priming.config.settings import load
        from priming.maintenance.adoption import content_of

        content_of(load(store.overrides())).settle(adopt=True)
    settings = store.settings()
    if remove:
        plan = work.plan_removal(agent, settings, user=user)
    else:
        plan = work.plan_setup(agent, settings, user=user, shared=shared, tools=tools)
    if plan.is_empty:
        return Answer({**plan.report(), "written": False}, _unchanged(plan, remove=remove))
    if store.as_json and not yes:
        return Answer({**plan.report(), "written": False}, ())
    if not yes:
        typer.echo("\n".join(files.difference(change) for change in plan.changes), nl=False)
        if not confirm(_question(plan)):
            typer.echo("nothing was written", err=True)
            raise typer.Exit(FAILURE)
    plan.carry_out()
    return Answer({**plan.report(), "written": True}, _carried_out(plan, remove=remove))


def _check_options(
    store: StoreOptions, agent: str, *, project: bool, user: bool, shared: bool, tools: str | None
) -> None:
    """Refuse an unknown agent, and options that contradict each other."""
    if agent not in AGENTS:
        raise ParamError("agent", agent, f"must be one of {', '.join(AGENTS)}")
    for option, other in (("--project", project), ("--shared", shared)):
        if other and user:
            raise ParamError("--user", True, f"cannot be combined with {option}: leave one out")
    if store.url is not None or store.everywhere:
        rule = "cannot be combined with setup, whose hooks use the project's store: set PRIMING_URL instead"
        raise ParamError("--global" if store.everywhere else "--url", store.url or True, rule)
    if tools is not None:
        table.tools(tools, "--tools")


def _question(plan: SetupWork) -> str:
    """What a person is to agree to."""
    count = len(plan.changes)
    parts = [f"write {'this file' if count == 1 else f'these {count} files'}"] if count else []
    if plan.store_action is not None:
        kind = "store" if plan.store_action == work.CREATE else "unused store"
        parts.append(f"{plan.store_action} the {kind} {plan.database}")
    question = ", and ".join(parts)
    return f"{question[0].upper()}{question[1:]}? [y/N] "


def _unchanged(plan: SetupWork, *, remove: bool) -> Iterator[Part]:
    state = "it is not set up" if remove else "it is already set up: nothing was changed"
    yield line((f"{plan.agent}: {state}", DIM))
    if not remove:
        yield from _where(plan)


def _carried_out(plan: SetupWork, *, remove: bool) -> Iterator[Part]:
    for change in plan.changes:
        yield line(("removed" if change.after is None else "written", OK), f"  {change.path}")
    if plan.store_action == work.CREATE:
        yield line(("created", OK), f"  {plan.database}", ("  a store, which git ignores", DIM))
    elif plan.store_action == work.DELETE:
        yield line(("removed", OK), f"  {plan.database}", ("  a store, in which nothing was stored", DIM))
    elif remove and plan.database is not None:
        yield line((f"the store stays, with what it remembers: {plan.database}", DIM))
    if not remove:
        yield from _where(plan)
        yield line((NOTES[plan.agent], DIM))


def _where(plan: SetupWork) -> Iterator[Part]:
    """The command that the agent runs, the store, and the agent's own program."""
    from priming.hooks.context import project_of

    if plan.store_action is None and plan.database is not None:
        yield line((f"store    {plan.database}", DIM))
    folder = Path.cwd()
    if plan.scope == files.PROJECT and (root := project_of(folder)) != folder:
        yield line((f"An agent that starts in {root} does not read these files: run setup there too.", WARN))
    yield line((f"command  {shlex.join(plan.command)}", DIM))
    if plan.command == (agent_config.NAME,):
        yield line(("It must be on the PATH of whatever starts the agent.", DIM))
    client, installation = clients.CLIENTS[plan.agent], plan.installation
    if installation is None:
        yield line((f"{client.program} is not on the PATH: {client.needed} ({client.upgrade})", WARN))
    elif installation.problem is not None:
        yield line((f"{installation.label}: {installation.problem}", WARN))
    else:
        yield line((f"agent    {installation.label}", DIM))


def _groups(tools: str | None, settings: Settings) -> str:
    """The groups of tools of the option, else of the settings."""
    if tools is None:
        return str(settings["mcp.tools"])
    table.tools(tools, "--tools")
    return tools


@command(tokens_app)
def new(
    store: StoreOptions,
    granted: Annotated[
        str, Argument(metavar="NAMESPACE", help="The namespace it gives access to; '*' for all namespaces")
    ],
    name: Annotated[str | None, Option("--name", metavar="TEXT", help="Name of its holder")] = None,
    kind: Annotated[
        str,
        Option(
            "--kind",
            metavar="KIND",
            help="What it may do: read, write (by default), or admin: also purge, roll back, restore, export",
            autocompletion=complete(TOKEN_KINDS),
        ),
    ] = "write",
    expires: Annotated[
        str | None,
        Option("--expires", metavar="TIME", help="After how long it is refused: 12h, 30d; never by default"),
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
    token_id: Annotated[str, Argument(metavar="ID", help="The id that 'token list' shows")],
) -> Answer:
    """Revoke a token for good: servers refuse it from now on."""
    with _tokens(store) as tokens:
        token = tokens.revoke(token_id)
    return Answer(token, [line(f"revoked {token.id}")])


@command(tokens_app, "read-only")
def read_only(
    store: StoreOptions,
    refused: Annotated[
        str | None,
        Argument(metavar="NAMESPACE", help="The namespace; without it, all that are read-only are listed"),
    ] = None,
    off: Annotated[bool, Option("--off", help="Accept writes again")] = False,
) -> Answer:
    """Make a namespace read-only: whatever would change it is refused, from the owner too, and reading goes on."""
    with _tokens(store) as tokens:
        if refused is None and off:
            raise ParamError("--off", True, "needs the namespace that writes are accepted to again")
        names = tokens.read_only() if refused is None else tokens.set_read_only(refused, on=not off)
    rows = [line((name, KEY)) for name in names]
    return Answer({"read_only": names}, rows or [line(("no namespace is read-only", DIM))])


def _tokens(store: StoreOptions) -> Tokens:
    from priming.server.tokens import Tokens

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
