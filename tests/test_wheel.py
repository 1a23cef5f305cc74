"""The library alone: a wheel without what stands on it, in an environment with the base's dependencies."""

import ast
import json
import os
import re
import shutil
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = sorted(
    path.name for path in (ROOT / "src" / "priming").iterdir() if (ROOT / "tests" / path.name).is_dir()
)
TOOLS = ("pytest", "hypothesis")
"""What the tests themselves need."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository in which only the library is left."""
    folder = tmp_path_factory.mktemp("library") / "priming"
    ignored = shutil.ignore_patterns("__pycache__", ".git", ".venv*", ".*_cache", ".hypothesis", "priming_*")
    shutil.copytree(ROOT, folder, ignore=ignored)
    project = folder / "pyproject.toml"
    text = re.sub(
        r"^packages = \[.*\]$", 'packages = ["src/priming"]', project.read_text("utf-8"), flags=re.MULTILINE
    )
    lines = [line for line in text.splitlines() if not re.search(r'= "priming_\w+[.:]', line)]
    project.write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def python(checkout, tmp_path_factory):
    """The interpreter of an environment that has the wheel, what it requires, and the tools of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    install = [interpreter, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*install, checkout, *TOOLS], check=True)
    return interpreter


def imported(path):
    """The packages that a file of tests imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_the_base_is_what_is_declared_and_nothing_that_stands_on_it(python):
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True)
    packages = {package["name"].lower() for package in json.loads(listed.stdout)}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert {re.split(r"[^\w.-]", line)[0].lower() for line in declared} <= packages
    search = "import importlib.util as u; print([n for n in {!r} if u.find_spec(n)])"
    names = [path.name for path in (ROOT / "src").iterdir() if path.name.startswith("priming_")]
    done = subprocess.run([python, "-c", search.format(names)], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_the_tests_of_the_library_pass_without_what_stands_on_it(checkout, python):
    """Files of tests that import an extra, an oracle or a neighbour are those of the extra or the neighbour."""
    names = subprocess.run(
        [python, "-c", "import sys; print(*sys.stdlib_module_names)"], check=True, capture_output=True
    )
    installed = {*names.stdout.decode().split(), "priming", "tests"}
    probe = "import sys, importlib.util as u; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
    files = [path for room in ROOMS for path in (checkout / "tests" / room).rglob("*.py")]
    needed = sorted({name for path in files for name in imported(path)} - installed)
    done = subprocess.run([python, "-c", probe, *needed], check=True, capture_output=True, text=True)
    installed |= {*done.stdout.split()}
    beyond = [path for path in files if not {*imported(path)} <= installed]
    folders = {path.parent for path in beyond if path.name == "conftest.py"}
    ignored = [f"--ignore={path}" for path in (*beyond, *folders) if path.name != "conftest.py"]
    assert len(beyond) < len(files) / 5
    run = [python, "-m", "pytest", "-q", "-m", "not slow and not extra", "-p", "no:cacheprovider", *ignored]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
    tests = subprocess.run(
        [*run, *(f"tests/{room}" for room in ROOMS)],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert tests.returncode == 0, tests.stdout[-6000:]
