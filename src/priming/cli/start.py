"""The entry point of ``priming``: frequent commands are loaded alone, since loading all takes as long again."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module

QUICK: Mapping[str, str] = {
    "active": "rules",
    "forget": "memory",
    "learn": "rules",
    "link": "memory",
    "list": "memory",
    "not-relevant": "feedback",
    "not-useful": "feedback",
    "recall": "recall",
    "remember": "memory",
    "show": "memory",
    "status": "care",
    "supersede": "memory",
    "used": "feedback",
}
"""Frequent commands, with their modules in ``priming.cli.groups``; for all others every module is loaded."""


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["hook"]:
        from priming.hooks.client import run_plain

        if run_plain(sys.argv[1:]):
            os._exit(
                0
            )  # all is written and closed; to take the interpreter apart would be a tenth of the time
    module = QUICK.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if module is None:
        from priming.cli.app import main as run_any

        run_any()
        return
    from priming.cli.command import create

    create(import_module(f"priming.cli.groups.{module}"))(prog_name="priming")


if __name__ == "__main__":
    main()
