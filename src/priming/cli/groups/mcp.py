"""The command that serves MCP to an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from priming.cli.command import Answer, command, group
from priming.cli.options import AgentOptions, StoreOptions
from priming.cli.parse import complete
from priming.config.words import TOOL_GROUPS
from priming.errors import ParamError
from priming.operations import table

if TYPE_CHECKING:
    from priming.config.settings import Settings

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
GROUPS = (app,)


@command(app)
def mcp(store: StoreOptions, tools: Tools = None) -> Answer:
    """Serve MCP on stdin and stdout. An agent starts this command, and it ends with the agent."""
    from priming.mcp import beside, stdio

    if store.as_json:
        raise ParamError(
            "--json", True, "cannot be combined with mcp, which has its own protocol: leave it out"
        )
    settings = store.settings()
    groups, namespace = chosen_tools(tools, settings), str(settings["store.namespace"])
    with beside.side_by_side(store.location(), namespace, groups) as offers:
        stdio.run(
            service=store.service,
            namespace=namespace,
            groups=groups,
            agent=AgentOptions().load,
            offers=offers,
        )
    return Answer(None, ())


def chosen_tools(tools: str | None, settings: Settings) -> str:
    """Return the groups of tools of the option, else those of the settings."""
    if tools is None:
        return str(settings["mcp.tools"])
    table.tools(tools, "--tools")
    return tools
