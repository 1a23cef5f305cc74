"""No circle of imports, among files or among folders: imports in functions and those for type checkers count too."""

import importlib.util
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("house", Path(__file__).with_name("house.py"))
sys.modules["house"] = house = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(house)

HOUSE = house.House()
FOLDERS = sorted({file.path.parent for file in HOUSE.files})
TIED = ("priming_agents.",)
"""What is still tied among itself."""


def imports(measured):
    """By module, the modules of the package that it imports anywhere in its text."""
    return {name: file.imports(measured.modules) for name, file in measured.modules.items()}


def inside(folder, measured):
    """What lies in a folder, each file and each folder with all in it as one, and what of it each imports."""
    parts = {
        name: file.path.relative_to(folder).parts[0]
        for name, file in measured.modules.items()
        if file.path.is_relative_to(folder)
    }
    graph = defaultdict(set)
    for name, imported in imports(measured).items():
        for other in imported:
            if name in parts and other in parts and not (name.startswith(TIED) and other.startswith(TIED)):
                graph[parts[name]] |= {parts[other]} - {parts[name]}
    return graph


def circle(graph):
    """One circle of a graph, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_file_is_part_of_a_circle():
    graph = imports(HOUSE)
    assert circle({name: graph[name] for name in graph if not name.startswith(TIED)}) == []


@pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda folder: folder.relative_to(HOUSE.package.parent).as_posix()
)
def test_no_file_or_folder_of_a_folder_is_part_of_a_circle(folder):
    assert circle(inside(folder, HOUSE)) == []


@pytest.mark.parametrize(
    "line",
    [
        "import priming.a.one\n",
        "def f():\n    from priming.a import one\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from priming.a.one import One\n",
    ],
    ids=["module", "function", "types"],
)
def test_a_circle_is_seen_however_a_file_imports(tmp_path, line):
    package = tmp_path / "src" / "priming"
    for name, text in {"a/one": "import priming.a.two\n", "a/two": "", "b": line}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).with_suffix(".py").write_text(text)
    assert circle(inside(package, house.House(tmp_path))) == []
    (package / "a/two.py").write_text("import priming.b\n")
    measured = house.House(tmp_path)
    assert set(circle(imports(measured))) == {"priming.a.one", "priming.a.two", "priming.b"}
    assert set(circle(inside(package, measured))) == {"a", "b.py"}
