"""What other packages add to the library, found by their entry points; where none is installed, nothing is added.

To look them up takes as long as a recall, so whatever has to be quick asks the library's own names first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from priming.errors import PrimingError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = "priming.commands"
"""Modules with ``GROUPS`` of commands for the command line, in the order of their names."""
OPERATIONS = "priming.operations"
"""Tuples of ``Op``: what servers offer beside the library's verbs, and ``Memory`` has as methods."""
CHECKS = "priming.checks"
"""Functions that ``priming doctor`` calls, each with the options of the store."""
LOCAL = "priming.local"
"""What a server answers below ``/local`` at its store's socket: each is called with the ``LocalServer``, and makes a
function from a request to an answer, both as JSON."""
CONVERSATIONS = "priming.mcp"
"""What ``priming mcp --compat`` answers a client by: each is called with the ``McpClient``, and has ``answer`` as
``McpConversation`` has it."""
MOUNTS = "priming.mounts"
"""ASGI applications that the server serves at their ``path``, behind the same middleware: the client of a request is
in ``scope["state"]["context"]``, whose ``enter`` refuses a token of another namespace."""
IMPORTERS = "priming.importers"
"""Functions that read a format."""


def names(group: str) -> list[str]:
    """Return the names of a group, in order."""
    return sorted({point.name for point in _points(group, tuple(sys.path))})


def load(group: str, name: str | None = None) -> Iterator[Any]:
    """Load what is registered in a group, or under one name of it, in the order of the names.

    Raises:
        PrimingError: it cannot be loaded.

    """
    for point in _points(group, tuple(sys.path)):
        if name not in (None, point.name):
            continue
        try:
            yield point.load()
        except (ImportError, AttributeError) as error:
            kind = group.removeprefix("priming.").removesuffix("s")
            message = f"the {kind} {point.name!r} ({point.value}) cannot be loaded: {error}"
            raise PrimingError(message) from error


@cache
def _points(group: str, _path: tuple[str, ...]) -> Sequence[EntryPoint]:
    """Return what is installed on a path, by name: it is read once, as each look reads the files of every package."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda point: point.name)
