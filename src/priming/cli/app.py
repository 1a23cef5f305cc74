"""The command line: ``priming COMMAND``, with every command."""

from __future__ import annotations

from priming.cli import fleet
from priming.cli.command import create
from priming.cli.groups import (
    care,
    feedback,
    graph,
    history,
    loop,
    measure,
    memory,
    recall,
    rules,
    server,
    sleep,
    stores,
)

app = create(
    recall, memory, feedback, rules, history, graph, loop, server, care, stores, sleep, fleet, measure
)
"""The modules in the order of the help."""


def main() -> None:
    """Run the command line."""
    app(prog_name="priming")


if __name__ == "__main__":
    main()
