"""The command that speaks MCP with an agent, on stdin and stdout."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from priming.cli.completing import one_of
from priming.cli.options import Place
from priming.cli.verb import Answer, verb
from priming.errors import ParamError

TOOLS = ("default", "full")

app = typer.Typer()


@verb(app)
def mcp(
    place: Place,
    tools: Annotated[
        str,
        Option(
            "--tools",
            metavar="SET",
            help="default: the eight that agents need; full: every operation",
            autocompletion=one_of(TOOLS),
        ),
    ] = "default",
) -> Answer:
    """Speak MCP on stdin and stdout: an agent starts this, and it ends with the agent."""
    from priming.server import mcp as server

    if place.as_json:
        raise ParamError(
            "--json", True, "cannot stand with mcp, which answers by its own protocol: leave it out"
        )
    server.run(service=place.service, namespace=place.chosen_namespace(), tools=tools)
    return Answer(None, ())
