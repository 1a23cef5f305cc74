"""Imports point left only.

vocabulary ← core ← { store, embed, agents } ← engine ← loop ← { operations, transfer, bench }
← { server, serve, interop } ← cli
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
    ("store", "embed", "llm"),
    ("engine",),
    ("memory",),
    ("loop",),
    ("operations", "transfer", "bench"),
    ("server", "serve", "interop"),
    ("cli",),
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


BESIDE = {"memory": "memory", "namespace": "engine"}
"""The rooms of files beside the folders that are not of the vocabulary."""


def room(parts):
    """The room that a module of ours is in: the folder's name, or the vocabulary for a file beside the folders."""
    if parts and (ROOT / parts[0]).is_dir():
        return parts[0]
    return BESIDE.get(parts[0].removesuffix(".py"), "vocabulary") if parts else "vocabulary"


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


def test_only_the_engine_and_the_sessions_of_the_loop_touch_the_store():
    touching = {room(path.relative_to(ROOT).parts) for path in FILES if "store" in ours(path)}
    assert touching <= {"store", "engine", "loop"}
    in_loop = {path.name for path in (ROOT / "loop").glob("*.py") if "store" in ours(path)}
    assert in_loop == {"session_store.py"}


def test_only_the_engine_the_loop_and_the_command_line_touch_the_agents():
    touching = {room(path.relative_to(ROOT).parts) for path in FILES if "llm" in ours(path)}
    assert touching <= {"llm", "engine", "loop", "cli"}


def test_rooms_side_by_side_never_import_each_other():
    for layer in LAYERS:
        for path in FILES:
            here = room(path.relative_to(ROOT).parts)
            if here in layer:
                assert not (ours(path) - {here}) & set(layer), name(path)


def module(path):
    """The dotted name of a file."""
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def at_import(node):
    """The statements that run when a module is imported, and those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from at_import(child)


def imports():
    """By module of ours, the modules of ours that it imports, for type checkers too; not those inside functions."""
    modules = {module(path): path for path in FILES}
    graph = {}
    for name, path in modules.items():
        edges = set()
        for node in at_import(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                edges |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                edges |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        graph[name] = sorted(edges & modules.keys())
    return graph


@pytest.mark.parametrize("start", ["priming.namespace", "priming.memory"])
def test_no_circle_of_imports_leads_through_the_namespace_or_memory(start):
    graph = imports()
    reached, ahead = set(), list(graph[start])
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += graph[name]
    assert start not in reached


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
