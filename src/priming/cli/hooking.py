"""Commands for coding agents: what their hooks call, and what puts Priming into their configuration."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli.agent_files import AGENTS, PROJECT, USER, difference, launcher, plan, write
from priming.cli.completing import one_of
from priming.cli.failures import FAILURE
from priming.cli.options import Place
from priming.cli.screen import Part, line
from priming.cli.verb import Answer, verb
from priming.cli.writing import agreed
from priming.errors import ParamError

EVENTS = ("session-start", "prompt", "pre-tool", "post-tool", "stop")
NOTES = {
    "claude-code": "Claude Code reads it at its next start, and asks once whether the project's servers may run.",
    "cursor": "Cursor reads it when it is saved; open a new chat.",
    "codex": "Codex runs new hooks only once they are trusted: /hooks shows them.",
    "opencode": "opencode reads it at its next start.",
}

app = typer.Typer()


@verb(app)
def hook(
    place: Place,
    event: Annotated[str, Argument(metavar="EVENT", help=", ".join(EVENTS), autocompletion=one_of(EVENTS))],
    agent: Annotated[
        str | None,
        Option(
            "--agent",
            metavar="NAME",
            help=f"{', '.join(AGENTS)}; read from its JSON if not given",
            autocompletion=one_of(AGENTS),
        ),
    ] = None,
) -> Answer:
    """Answer a hook of a coding agent: its JSON on stdin, its answer on stdout. Exit status 0, whatever happens."""
    from priming.serve import hooks

    named = {name.removeprefix("store."): value for name, (value, _) in place.options().items()}
    hooks.run(event=event, agent=agent, server=not place.file_only, **named)
    raise typer.Exit


@verb(app)
def setup(
    place: Place,
    agent: Annotated[str, Argument(metavar="AGENT", help=", ".join(AGENTS), autocompletion=one_of(AGENTS))],
    project: Annotated[
        bool, Option("--project", help="For the project in this folder; so if not given")
    ] = False,
    user: Annotated[bool, Option("--user", help="For all projects of this user")] = False,
    remove: Annotated[bool, Option("--remove", help="Take out what was put in, and nothing else")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask")] = False,
) -> Answer:
    """Put Priming into a coding agent's configuration: MCP server and hooks. Shows what it would write, and asks."""
    if agent not in AGENTS:
        raise ParamError("agent", agent, f"must be one of {', '.join(AGENTS)}")
    if project and user:
        raise ParamError("--user", True, "cannot stand with --project: leave one out")
    scope = USER if user else PROJECT
    changes = plan(agent, scope, remove=remove)
    shown = [{"path": str(one.path), "diff": difference(one)} for one in changes]
    done = {"agent": agent, "scope": scope, "command": launcher(scope), "files": shown}
    if not changes:
        said = "nothing of it is there" if remove else "it is set up already"
        return Answer({**done, "written": False}, [line((f"{agent}: {said}", "dim"))])
    if place.as_json and not yes:
        return Answer({**done, "written": False}, ())
    if not yes:
        typer.echo("\n".join(one["diff"] for one in shown), nl=False)
        if not agreed(f"Write {'this file' if len(changes) == 1 else f'these {len(changes)} files'}? [y/N] "):
            typer.echo("nothing was written", err=True)
            raise typer.Exit(FAILURE)
    write(changes)
    told: list[Part] = [
        line(("removed" if one.after is None else "written", "green"), f"  {one.path}") for one in changes
    ]
    return Answer({**done, "written": True}, told if remove else [*told, line((NOTES[agent], "dim"))])


@verb(app)
def doctor(place: Place) -> Answer:
    """Say what is wrong with the installation, and how to mend it. Exit status 1 if anything fails."""
    from priming.cli import checks, render_checks

    found = checks.all_of(place)
    failed = any(one.status == checks.FAIL for one in found)
    return Answer(found, render_checks.checks(found), FAILURE if failed else 0)
