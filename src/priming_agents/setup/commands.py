"""The commands of agents: hook and setup."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from priming.cli.command import FAILURE, Answer, command, group
from priming.cli.groups.care import Tools
from priming.cli.options import StoreOptions, Yes
from priming.cli.output import DIM, OK, WARN, Part, ask, choose, confirm, line
from priming.cli.parse import complete
from priming.errors import ParamError
from priming.verbs import rows as table
from priming_agents.agents import AGENTS, EVENTS
from priming_agents.setup import agent_config, clients, files, work

if TYPE_CHECKING:
    from priming_agents.setup.work import SetupWork

NOTES = {
    "claude-code": "Claude Code reads it at its next start, and asks once whether the project's servers may run.",
    "cursor": "Cursor reads it when it is saved; open a new chat.",
    "codex": "Codex runs it once you trust the project and its hooks: start codex here once, and it asks for both.",
    "gemini": "Gemini CLI asks for trust in the folder: start it here once, or set GEMINI_CLI_TRUST_WORKSPACE=true.",
    "opencode": "opencode reads it at its next start.",
}

CAPTURE = (
    "Store a memory of each session of your agents (what you asked, the last answer, files, commits; no secrets),"
    " in all your projects? [yes/no/later] "
)
app = group("Server")
GROUPS = (app,)


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
    from priming_agents.command import run

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
    capture: Annotated[
        str | None,
        Option(
            "--capture",
            metavar="on|off",
            help="Store a memory of each session, in all projects; asked by default",
        ),
    ] = None,
    remove: Annotated[bool, Option("--remove", help="Remove what setup added, and nothing else")] = False,
    yes: Yes = False,
) -> Answer:
    """Add Priming to a coding agent: MCP server, hooks, and a store. Shows the changes and asks first."""
    _check_options(store, agent, project=project, user=user, shared=shared, tools=tools)
    if capture not in (None, "on", "off"):
        raise ParamError("--capture", capture, "must be on or off")
    if yes and not user and not remove:
        from priming.config.settings import load
        from priming.maintenance.adoption import content_of

        if (content := content_of(load(store.overrides()))).paths:
            ask(content, yes=True)
    settings = store.settings()
    if remove:
        plan = work.plan_removal(agent, settings, user=user)
    else:
        plan = work.plan_setup(agent, settings, user=user, shared=shared, tools=tools)
    asks = not (yes or remove or store.as_json) and settings["hooks.capture"] == "ask"
    if plan.is_empty:
        _settle_capture(capture, asks=asks)
        return Answer({**plan.report(), "written": False}, _unchanged(plan, remove=remove))
    if store.as_json and not yes:
        return Answer({**plan.report(), "written": False}, ())
    if not yes:
        typer.echo("\n".join(files.difference(change) for change in plan.changes), nl=False)
        if not confirm(_question(plan)):
            typer.echo("nothing was written", err=True)
            raise typer.Exit(FAILURE)
    plan.carry_out()
    _settle_capture(capture, asks=asks)
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


def _settle_capture(value: str | None, *, asks: bool) -> None:
    """Write whether sessions are stored, by the option or by an answer; no answer leaves the question."""
    if value is None and asks:
        value = {"y": "on", "n": "off"}.get(choose(CAPTURE, "yes", "no", "later"))
    if value is not None:
        work.set_capture(value)


def _question(plan: SetupWork) -> str:
    """Return what a person is to agree to."""
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
    """Yield the command that the agent runs, the store, whether sessions are stored, and the agent's own program."""
    from priming.config.settings import load
    from priming_agents.context import project_of

    if plan.store_action is None and plan.database is not None:
        yield line((f"store    {plan.database}", DIM))
    folder = Path.cwd()
    if plan.scope == files.PROJECT and (root := project_of(folder)) != folder:
        yield line((f"An agent that starts in {root} does not read these files: run setup there too.", WARN))
    yield line((f"command  {shlex.join(plan.command)}", DIM))
    state = load()["hooks.capture"]
    yield line((f"capture  {state}", DIM), ("  sessions are not stored: --capture on" * (state != "on"), DIM))
    if plan.command == (agent_config.NAME,):
        yield line(("It must be on the PATH of whatever starts the agent.", DIM))
    client, installation = clients.CLIENTS[plan.agent], plan.installation
    if installation is None:
        yield line((f"{client.program} is not on the PATH: {client.needed} ({client.upgrade})", WARN))
    elif installation.problem is not None:
        yield line((f"{installation.label}: {installation.problem}", WARN))
    else:
        yield line((f"agent    {installation.label}", DIM))
