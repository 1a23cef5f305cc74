"""The surfaces by name: how the command line starts a server without importing one.

The rooms beside each other never import each other (ARCHITECTURE.md); this table is where they meet, as importers
meet in entry points.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from priming.errors import ParamError

SURFACES: Mapping[str, str] = {
    "http": "priming.serve.http:run",
    "ipc": "priming.serve.ipc:run",
    "mcp": "priming.serve.mcp:run",
    "hook": "priming.hooks.command:run",
}
"""Name → ``module:function``. Each function takes keyword arguments only, and returns when the surface is done."""


def run(name: str, /, **options: Any) -> Any:
    """Run the surface of that name, its module loaded only now."""
    if name not in SURFACES:
        raise ParamError("surface", name, f"must be one of {', '.join(SURFACES)}")
    module, _, function = SURFACES[name].partition(":")
    return getattr(import_module(module), function)(**options)
