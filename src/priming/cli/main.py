"""The command line: ``priming COMMAND``."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from typer import Option

from priming import __version__
from priming.cli import (
    behaving,
    care,
    curating,
    graph,
    judging,
    packs,
    practising,
    reading,
    reviewing,
    sleeping,
    timing,
    writing,
)
from priming.cli.failures import Commands
from priming.cli.options import Global, Json, Namespace, ProfileName, Url

app = typer.Typer(
    name="priming",
    cls=Commands,
    help="Associative memory for AI agents.",
    epilog="--url, --namespace, --profile, --global and --json may stand before or after the command."
    " Exit status: 0 done, 1 a failure, 2 bad input, 130 interrupted.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (
    writing.app,
    reading.app,
    judging.app,
    behaving.app,
    curating.app,
    care.app,
    practising.app,
    sleeping.app,
    timing.app,
    reviewing.app,
):
    app.add_typer(part)
app.add_typer(graph.app, name="graph", help="Draw the graph, and work on its links.")
app.add_typer(judging.run, name="run", help="Pieces of work, judged by what became of their output.")
app.add_typer(packs.app, name="pack", help="Hand on behaviours, and take in those of others.")


@app.callback()
def root(
    context: typer.Context,
    # What is not used here is read from the context by each command.
    url: Url = None,  # noqa: ARG001
    namespace: Namespace = None,  # noqa: ARG001
    profile: ProfileName = None,  # noqa: ARG001
    everywhere: Global = False,  # noqa: ARG001
    as_json: Json = False,
    version: Annotated[bool, Option("--version", help="Print the version and exit")] = False,
) -> None:
    """Associative memory for AI agents."""
    if version:
        typer.echo(json.dumps({"version": __version__}) if as_json else f"priming {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        if as_json:
            context.fail("Missing command.")
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line."""
    app(prog_name="priming")


if __name__ == "__main__":
    main()
