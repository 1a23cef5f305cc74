"""The command line: ``priming COMMAND``."""

from __future__ import annotations

from priming.cli import (
    ablating,
    behaving,
    benching,
    care,
    configuring,
    curating,
    graph,
    hooking,
    judging,
    looping,
    mcp,
    packs,
    practising,
    reading,
    reviewing,
    serving,
    sleeping,
    timing,
    writing,
)
from priming.cli.root import made

app = made()
for part in (
    writing.app,
    reading.app,
    judging.app,
    behaving.app,
    curating.app,
    care.app,
    practising.app,
    sleeping.app,
    ablating.app,
    timing.app,
    reviewing.app,
    configuring.app,
    benching.app,
    mcp.app,
    hooking.app,
    serving.app,
):
    app.add_typer(part)
app.add_typer(looping.app, name="loop", help="Reason, act and learn: pursue an objective with an agent.")
app.add_typer(graph.app, name="graph", help="Draw the graph, and work on its links.")
app.add_typer(judging.run, name="run", help="Pieces of work, judged by what became of their output.")
app.add_typer(serving.token, name="token", help="Who may use a server of the store.")
app.add_typer(packs.app, name="pack", help="Hand on behaviours, and take in those of others.")


def main() -> None:
    """Run the command line."""
    app(prog_name="priming")


if __name__ == "__main__":
    main()
