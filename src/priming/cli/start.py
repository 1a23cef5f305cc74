"""The entry point of ``priming``: frequent commands are loaded alone, since loading all takes as long again.

``app`` is the command line with every command.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import typer

    app: typer.Typer

GROUPS = ("recall", "memory", "feedback", "rules", "history", "graph", "care", "stores", "sleep")
"""The modules of the library's commands in ``priming.cli.groups``, in the order of the help."""
QUICK: Mapping[str, str] = {
    "active": "rules",
    "forget": "memory",
    "learn": "rules",
    "link": "memory",
    "list": "memory",
    "mcp": "care",
    "not-relevant": "feedback",
    "not-useful": "feedback",
    "recall": "recall",
    "remember": "memory",
    "show": "memory",
    "status": "care",
    "supersede": "memory",
    "used": "feedback",
}
"""Frequent commands, with their modules; for all others every module is loaded."""
_HOOKS = "priming_agents", "client"
"""What answers hooks, where it is installed."""
_built: dict[str, typer.Typer] = {}
_VALUED = ("--url", "--namespace", "--profile", "--embedder", "--set")
"""The options before a command whose value is the next argument."""


def command_of(arguments: Sequence[str]) -> str:
    """Return the command among arguments, behind the options that may come before it; empty if there is none.

    >>> command_of(["--url", "sqlite:///list", "--json", "recall", "tea"]), command_of(["--namespace"])
    ('recall', '')
    """
    words = iter(arguments)
    for word in words:
        if word in _VALUED:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def build(only: str = "") -> typer.Typer:
    """Return the command line; of ``only`` one command, if there is that."""
    if only not in _built:
        _built[only] = _build(only)
    return _built[only]


def _build(only: str) -> typer.Typer:
    from priming import extensions
    from priming.cli.command import create

    names = (QUICK[only],) if only in QUICK else GROUPS
    own = [import_module(f"priming.cli.groups.{name}") for name in names]
    return create(*own, *(() if only in QUICK else extensions.load(extensions.COMMANDS)), only=only)


def __getattr__(name: str) -> typer.Typer:
    if name == "app":
        return build()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["hook"] and _run_hook(sys.argv[1:]):
        os._exit(0)  # all is written: to take the interpreter apart would be a tenth of the time
    build(command_of(sys.argv[1:]))(prog_name="priming")


def _run_hook(arguments: Sequence[str]) -> bool:
    """Run a hook by its module's name: to look up the entry points would take longer than a hook may."""
    try:
        client = import_module(".".join(_HOOKS))
    except ModuleNotFoundError as error:
        if error.name != _HOOKS[0]:
            raise
        return False
    return bool(client.run_plain(arguments))


if __name__ == "__main__":
    main()
