"""The command line: ``priming COMMAND``, with every command."""

from __future__ import annotations

from priming import extensions
from priming.cli.command import create
from priming.cli.groups import care, feedback, graph, history, mcp, memory, recall, rules, sleep, stores

app = create(
    *(recall, memory, feedback, rules, history, graph, mcp, care, stores, sleep),
    *extensions.load(extensions.COMMANDS),
)
"""The modules in the order of the help."""


def main() -> None:
    """Run the command line."""
    app(prog_name="priming")


if __name__ == "__main__":
    main()
