"""Small programs that stand where an agent's own program would, and state a version."""

from __future__ import annotations

import sys
from pathlib import Path


def install(folder: Path, name: str, printed: str) -> Path:
    """Write a program that prints a text for ``--version`` and fails for anything else."""
    path = folder / name
    lines = [f"#!{sys.executable} -SE", "import sys", "sys.argv[1:] == ['--version'] or sys.exit(2)"]
    path.write_text("\n".join([*lines, f"print({printed!r})"]) + "\n")
    path.chmod(0o755)
    return path
