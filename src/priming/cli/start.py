"""The start of the command line: what is called often is loaded alone, since loading all takes as long again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module

QUICK: Mapping[str, str] = {
    "active": "behaving",
    "forget": "writing",
    "learn": "behaving",
    "link": "writing",
    "list": "reading",
    "not-relevant": "judging",
    "not-useful": "judging",
    "recall": "reading",
    "remember": "writing",
    "show": "reading",
    "status": "care",
    "supersede": "writing",
    "used": "judging",
}
"""What is called often, and the module of ``priming.cli`` that has it; with all else, all modules are loaded."""


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["hook"]:
        from priming.hooks.command import run_plain

        if run_plain(sys.argv[1:]):
            return
    module = QUICK.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if module is None:
        from priming.cli.main import main as everything

        everything()
        return
    from priming.cli.root import made

    app = made()
    app.add_typer(import_module(f"priming.cli.{module}").app)
    app(prog_name="priming")
