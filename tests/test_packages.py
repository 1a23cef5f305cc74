"""The library stands alone, and what stands on it imports one way."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
MAY_IMPORT = {
    "priming": set(),
    "priming_agents": {"priming"},
    "priming_loop": {"priming"},
    "priming_lab": {"priming"},
    "priming_server": {"priming"},
}


def imported(package):
    """The packages of this distribution that a package imports anywhere, inside functions too, by file."""
    for path in sorted((SOURCE / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                root = name.partition(".")[0]
                if root.startswith("priming") and root != package:
                    yield root, str(path.relative_to(SOURCE))


def test_every_package_is_named_here():
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == set(MAY_IMPORT)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_it_stands_on(package):
    assert [(root, path) for root, path in imported(package) if root not in MAY_IMPORT[package]] == []
