"""What the code imports is declared, for the base or for the extra whose part it is; and nothing else is.

The library stands alone, and what stands on it imports one way.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from tests.rows import each_row

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OWN = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
PARTS = {
    "priming/sleep/deep.py": "sleep",
    "priming_server/postgres/": "postgres",
    "priming_server/fleet/cluster.py": "fleet",
    "priming_server/": "server",
    "priming/embedding/onnx.py": "fastembed",
    "priming/embedding/endpoint.py": "openai",
    "priming/llm/agents.py": "openai",
    "priming/transfer/run.py": "watch",
    "priming_lab/plots.py": "lab",
    "priming_adapters/mem0/rest.py": "server",
    "priming_adapters/langgraph.py": "langgraph",
    "priming_adapters/langchain.py": "langchain",
    "priming_adapters/anthropic_memory.py": "anthropic",
    "priming_adapters/openai_agents.py": "openai-agents",
    "priming_adapters/llama_index.py": "llama-index",
    "priming_adapters/autogen.py": "autogen",
    "priming_adapters/adk.py": "adk",
    "priming_adapters/pydantic_ai.py": "pydantic-ai",
}
"""The files and folders that may import what an extra declares; all others keep to the base."""
EMPTY, NOT_IMPORTED = (
    {"semantic", "onnx"},
    {"all", "adapters", "docs", "test", "test-adapters", "check", "bench"},
)
SHAPES = {extra for part, extra in PARTS.items() if part.startswith("priming_adapters/")} - {"server"}
ABSENT = {
    "langgraph": "langgraph-checkpoint",
    "agents": "openai-agents",
    "llama_index": "llama-index-core",
    "google": "google-adk",
    "pydantic_ai": "pydantic-ai-slim",
}
"""The distributions of packages that are installed for the tests of the adapters alone."""
INSTALLED = packages_distributions()
DISPENSABLE = {"watch"}
"""Extras without which another way is taken."""
UNNAMED = {"ray"}
"""What is imported by its name as text."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(extra: str | None = None) -> set[str]:
    """The distributions that the base declares, or an extra."""
    lines = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    return {normal(re.split(r"[^\w.-]", line)[0]) for line in lines}


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The packages that a file imports anywhere in it, but for those of the standard library."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [str(node.module)]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names:
                yield top


def distribution(top: str) -> set[str]:
    return {normal(name) for name in ([ABSENT[top]] if top in ABSENT else INSTALLED.get(top, [top]))}


@pytest.mark.parametrize("package", sorted(OWN))
def test_a_package_imports_only_what_it_stands_on(package: str) -> None:
    paths = sorted((ROOT / "src" / package).rglob("*.py"))
    own = {(top, path) for path in paths for top in imports(path) if top in OWN - {package}}
    assert {(top, path) for top, path in own if package == "priming" or top != "priming"} == set()


def extra_of(path: Path) -> str | None:
    place = path.relative_to(ROOT / "src").as_posix()
    return next((extra for part, extra in PARTS.items() if place.startswith(part)), None)


@each_row("package", sorted(OWN))
def test_every_import_of_a_package_is_declared(package: str) -> None:
    missing = []
    for path in sorted((ROOT / "src" / package).rglob("*.py")):
        extra = extra_of(path)
        allowed = declared() | (declared(extra) if extra else set())
        missing += [
            f"{path.relative_to(ROOT)} imports {top}, which {extra or 'the base'} does not declare"
            for top in imports(path)
            if top not in OWN and not distribution(top) & allowed
        ]
    assert missing == []


@each_row("extra", [None, *sorted(set(PARTS.values()))])
def test_every_declaration_is_imported(extra: str | None) -> None:
    paths = [path for path in (ROOT / "src").rglob("*.py") if extra is None or extra_of(path) == extra]
    imported = {name for path in paths for top in imports(path) for name in distribution(top)} | UNNAMED
    assert declared(extra) - imported == set()


def test_the_extras_are_those_of_the_parts_and_one_for_all() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {*PARTS.values(), *EMPTY, *NOT_IMPORTED}
    assert all(extras[name] == [] for name in EMPTY)
    (whole,) = extras["all"]
    assert set(whole.partition("[")[2].rstrip("]").split(",")) == {*PARTS.values(), "docs"} - SHAPES
    (shapes,) = extras["adapters"]
    assert set(shapes.partition("[")[2].rstrip("]").split(",")) == SHAPES


def test_an_absent_package_is_requested_by_an_extra_that_exists() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'MissingExtra\(\s*"([\w-]+)"', source))
    named |= set(re.findall(r'^(?:[A-Z]+_)?EXTRA(?:, \w+)? = "([\w-]+)"', source, re.MULTILINE))
    assert named >= set(PARTS.values()) - DISPENSABLE
    assert named <= set(PROJECT["optional-dependencies"])
