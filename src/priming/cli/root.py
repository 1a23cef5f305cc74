"""What all commands stand below: the options of the command line as a whole, and its errors."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from typer import Option

from priming import __version__
from priming.cli.failures import Commands
from priming.cli.options import EmbedderName, Global, Json, Namespace, NoServer, ProfileName, Url


def made() -> typer.Typer:
    """The command line without commands."""
    app = typer.Typer(
        name="priming",
        cls=Commands,
        help="Associative memory for AI agents.",
        epilog="--url, --namespace, --profile, --embedder, --global, --no-server and --json may stand before or after"
        " the command. Exit status: 0 done, 1 a failure, 2 bad input, 130 interrupted.",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    return app


def root(
    context: typer.Context,
    # What is not used here is read from the context by each command.
    url: Url = None,  # noqa: ARG001
    namespace: Namespace = None,  # noqa: ARG001
    profile: ProfileName = None,  # noqa: ARG001
    embedder: EmbedderName = None,  # noqa: ARG001
    everywhere: Global = False,  # noqa: ARG001
    as_json: Json = False,
    file_only: NoServer = False,  # noqa: ARG001
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
