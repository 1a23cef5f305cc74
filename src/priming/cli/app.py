"""The command line: ``priming COMMAND``, with every command."""

from __future__ import annotations

from functools import cache

import typer

from priming import extensions
from priming.cli.command import create
from priming.cli.groups import care, feedback, graph, history, mcp, memory, recall, rules, sleep, stores

app: typer.Typer
"""The command line with every command."""


@cache
def build(only: str = "") -> typer.Typer:
    """Return the command line, with its modules in the order of the help."""
    own = (recall, memory, feedback, rules, history, graph, mcp, care, stores, sleep)
    return create(*own, *extensions.load(extensions.COMMANDS), only=only)


def __getattr__(name: str) -> typer.Typer:
    if name == "app":
        return build()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main(only: str = "") -> None:
    """Run the command line; with ``only``, the name of a command, no more than that is built."""
    build(only)(prog_name="priming")


if __name__ == "__main__":
    main()
