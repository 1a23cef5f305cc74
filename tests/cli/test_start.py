"""The start of the command line: it is light, and a command that is loaded alone is the same command."""

from __future__ import annotations

import ast
import json
import sys
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer.main
from tests.rows import each_row

from priming.cli.command import create
from priming.cli.start import GROUPS, QUICK, build
from priming.extensions import COMMANDS

from .conftest import root

HEAVY = (
    "numpy",
    "tokenizers",
    "rich",
    "priming.memory",
    "priming.recall",
    "priming.storage",
    "priming.embedding",
)
START = [sys.executable, "-c", "from priming.cli.start import main; main()"]
LOADED = """
import sys
from priming.cli.start import main
try:
    main()
except SystemExit:
    print([name for name in sys.modules if name.startswith("priming.cli.")], file=sys.stderr)
    raise
"""


def imports(module):
    """The modules that a module of Priming imports when it is loaded."""
    statements = list(ast.parse(Path(find_spec(module).origin).read_text("utf-8")).body)
    while statements:
        node = statements.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name for name in inner if name.startswith("priming.") and is_module(name))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            statements += node.body


def is_module(name):
    parent, _, child = name.rpartition(".")
    spec = find_spec(parent)
    return spec.submodule_search_locations is not None and find_spec(f"{parent}.{child}") is not None


def test_loading_all_commands_loads_no_heavy_library():
    waiting = [f"priming.cli.groups.{name}" for name in GROUPS]
    waiting += ["priming.cli.start", *(point.value for point in entry_points(group=COMMANDS))]
    reached = set()
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += imports(module) if module.startswith("priming") else ()
    assert {point.value for point in entry_points(group=COMMANDS)} < reached
    assert [name for name in reached if name.startswith(HEAVY)] == []


def test_only_the_command_that_is_called_is_declared_and_all_if_there_is_none_of_the_name():
    every = root().commands
    for name in ("stats", "graph", "forget"):
        assert [*typer.main.get_command(build(name)).commands] == [name]
    assert [*typer.main.get_command(build("no-such")).commands] == [*every]


@each_row("name", QUICK)
def test_a_command_that_is_loaded_alone_takes_the_same_options(name):
    module = import_module(f"priming.cli.groups.{QUICK[name]}")
    alone = typer.main.get_command(create(module))
    command, same = alone.commands[name], root().commands[name]
    assert [*typer.main.get_command(create(module, only=name)).commands] == [name]
    assert command.help == same.help
    assert [(each.name, each.help) for each in command.params] == [
        (each.name, each.help) for each in same.params
    ]


@pytest.mark.slow
def test_a_command_that_is_loaded_alone_does_the_same(shell):
    done = shell.process("remember", "Ada wrote it.", "--key", "ada", "--json", command=START)
    assert json.loads(done.stdout)["key"] == "ada"
    done = shell.process("--json", "show", "ada", command=START)
    assert json.loads(done.stdout)["content"] == "Ada wrote it."
    done = shell.process("show", "nobody", "--json", command=START)
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (2, "not_found")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["stats"], ["graph", "dot"], ["no-such-command"], []])
def test_all_other_commands_start_too(shell, words):
    assert shell.process(*words, command=START).returncode == shell.process(*words).returncode


@pytest.mark.slow
def test_a_frequent_command_is_loaded_alone(shell):
    done = shell.process("recall", "--help", command=[sys.executable, "-c", LOADED])
    loaded = done.stderr.decode().splitlines()[-1]
    assert "priming.cli.groups.recall" in loaded
    assert "priming.cli.groups.memory" not in loaded
