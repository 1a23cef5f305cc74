"""A command that is loaded alone is the same command."""

import json
import sys

import pytest
import typer.main

from priming.cli.app import app
from priming.cli.start import QUICK

QUICKLY = [sys.executable, "-c", "from priming.cli.start import main; main()"]
ALONE = """
import sys
from priming.cli.start import main
try:
    main()
except SystemExit as done:
    print([name for name in sys.modules if name.startswith("priming.cli.")], file=sys.stderr)
    raise
"""


def test_what_is_called_often_is_where_the_table_says():
    commands = typer.main.get_command(app).commands
    homes = {name: commands[name].callback.__wrapped__.__module__ for name in QUICK}
    assert homes == {name: f"priming.cli.{module}" for name, module in QUICK.items()}


@pytest.mark.parametrize("name", QUICK)
def test_its_help_is_the_same(shell, name):
    wanted = shell.run(name, "--help")
    done = shell.process(name, "--help", command=QUICKLY)
    assert done.returncode == wanted.exit_code == 0
    words = done.stdout.decode().split()
    assert words[3:] == wanted.stdout.split()[3:]  # but for the usage's name of the program


def test_it_does_the_same(shell):
    done = shell.process("remember", "Ada wrote it.", "--key", "ada", "--json", command=QUICKLY)
    assert json.loads(done.stdout)["key"] == "ada"
    done = shell.process("--json", "show", "ada", command=QUICKLY)
    assert json.loads(done.stdout)["content"] == "Ada wrote it."
    done = shell.process("show", "nobody", "--json", command=QUICKLY)
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (2, "not_found")


@pytest.mark.parametrize("words", [["stats"], ["graph", "dot"], ["no-such-command"], []])
def test_all_else_works_too(shell, words):
    assert shell.process(*words, command=QUICKLY).returncode == shell.process(*words).returncode


def test_it_is_loaded_alone(shell):
    done = shell.process("recall", "--help", command=[sys.executable, "-c", ALONE])
    loaded = done.stderr.decode().splitlines()[-1]
    assert "priming.cli.reading" in loaded
    assert "priming.cli.writing" not in loaded
