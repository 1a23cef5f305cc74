"""Imports point left only.

vocabulary ← core ← { store, embed, agents } ← engine ← loop ← { api, bench } ← { serve, cli, interop, fleet }
"""

import ast
import re
from pathlib import Path

import pytest

import priming

ROOT = Path(priming.__file__).parent
LAYERS = (
    ("vocabulary",),
    ("core",),
    ("store", "embed", "agents"),
    ("engine",),
    ("loop",),
    ("api", "bench"),
    ("serve", "cli", "interop", "fleet"),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
IMPURE = {
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "time",
}


def room(parts):
    """The room that a module of ours is in: the folder's name, or the vocabulary for a file beside the folders."""
    return parts[0] if parts and (ROOT / parts[0]).is_dir() else "vocabulary"


def imported(path):
    """Every module that a file imports, wherever in it, as parts of its name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by a relative name"
            yield from ([*node.module.split("."), alias.name] for alias in node.names)


def ours(path):
    """The rooms that a file imports from."""
    return {room(parts[1:]) for parts in imported(path) if parts[0] == "priming"}


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports_point_left_only(path):
    here = room(path.relative_to(ROOT).parts)
    assert here in RANK, f"{here} is no room of ARCHITECTURE.md"
    for there in ours(path) - {here}:
        assert RANK[there] < RANK[here], f"{here} imports {there}"


def test_only_the_engine_touches_the_store():
    touching = {room(path.relative_to(ROOT).parts) for path in FILES if "store" in ours(path)}
    assert touching <= {"store", "engine"}


def test_only_the_engine_and_the_loop_touch_the_agents():
    touching = {room(path.relative_to(ROOT).parts) for path in FILES if "agents" in ours(path)}
    assert touching <= {"agents", "engine", "loop"}


def test_rooms_side_by_side_never_import_each_other():
    for layer in LAYERS:
        for path in FILES:
            here = room(path.relative_to(ROOT).parts)
            if here in layer:
                assert not (ours(path) - {here}) & set(layer), name(path)


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "core"], ids=name)
def test_the_core_reads_no_clock_disk_log_or_chance(path):
    assert not {parts[0] for parts in imported(path)} & IMPURE


def reads_a_variable(node):
    """Whether a node asks for a variable of the environment: os.getenv, os.environ[…] or os.environ.get."""
    if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "get"):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "environ"
    return isinstance(node, ast.Attribute) and node.attr == "getenv"


def test_settings_are_read_from_the_environment_in_one_place():
    reading = {
        name(path)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if reads_a_variable(node)
    }
    assert reading == {"config.py"}


def test_no_pattern_repeats_a_group_possessively_which_python_before_3_11_5_does_wrongly():
    wrong = re.compile(r"\)(?:[*+?]|\{[\d,{}]+\})\+|\(\?>")
    patterns = {
        (name(path), node.value)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value
    }
    assert [(file, text) for file, text in sorted(patterns) if wrong.search(text)] == []
