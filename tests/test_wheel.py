"""The library alone: a wheel without what stands on it, in an environment with the base's dependencies."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEIGHBOURS = {path.name for path in (ROOT / "src").glob("priming_*")}
ROOMS = sorted(
    path.name
    for path in (ROOT / "src" / "priming").iterdir()
    if path.name[0] != "_" and (ROOT / "tests" / path.name).is_dir()
)
FOLDERS = ("src", "tests", "docs", "demo", "benchmarks")
"""What a checkout has of the repository: nothing that was built or made beside it, where temporary files may lie."""
RUN = ("cli", "embedding", "llm", "operations", "verbs")
"""The rooms whose tests are run here: where extras and neighbours are missed. The others' tests are collected."""
TOOLS = ("pytest", "pytest-timeout", "hypothesis")
"""What the tests themselves need."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository in which only the library is left."""
    folder = tmp_path_factory.mktemp("library") / "priming"
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "priming_*"))
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
    venv.create(folder)
    interpreter = folder / "bin" / "python"
    pip(interpreter, "install", "--quiet", "--no-compile", checkout, *TOOLS)
    return interpreter


def pip(python, *arguments):
    """What pip of this environment prints of another, which needs none of its own."""
    command = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    return subprocess.run([*command, *arguments], check=True, stdout=subprocess.PIPE).stdout


def imported(path):
    """The packages that a file of tests imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def answer(python, program, *arguments):
    """The words that a program prints."""
    done = subprocess.run([python, "-c", program, *arguments], check=True, capture_output=True, text=True)
    return {*done.stdout.split()}


def present(python, names):
    """Those of some packages that an environment has."""
    probe = "import sys, importlib.util as u; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
    return answer(python, probe, *sorted(names))


def test_the_base_is_what_is_declared_and_nothing_that_stands_on_it(python):
    packages = {package["name"].lower() for package in json.loads(pip(python, "list", "--format=json"))}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert {re.split(r"[^\w.-]", line)[0].lower() for line in declared} <= packages
    assert present(python, NEIGHBOURS) == set()


def test_the_tests_of_the_library_pass_without_what_stands_on_it(checkout, python):
    """Files of its tests import no neighbour; those that import an oracle or an extra run where these are."""
    files = [path for room in ROOMS for path in (checkout / "tests" / room).rglob("*.py")]
    needs = {path: {*imported(path)} - {"priming", "tests"} for path in files}
    assert [path for path in files if needs[path] & NEIGHBOURS] == []
    missing = set.union(*needs.values()) - answer(python, "import sys; print(*sys.stdlib_module_names)")
    missing -= present(python, missing)
    ignored = [f"--ignore={path}" for path in files if needs[path] & missing]
    assert len(ignored) < len(files) / 10
    others = [f"--deselect=tests/{room}/" for room in ROOMS if room not in RUN]
    done = subprocess.run(
        [
            *(python, "-m", "pytest", "-m", "not slow and not extra", "-p", "no:cacheprovider"),
            *(*ignored, *others, *(f"tests/{room}" for room in ROOMS)),
        ],
        cwd=checkout,
        env={name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:]
