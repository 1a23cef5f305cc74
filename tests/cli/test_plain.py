"""A command that is its verb: what the signature and the docstring make of it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from tests.rows import each_row
from typer.testing import CliRunner

from priming.cli.command import create, group
from priming.cli.plain import plain
from priming.verbs.rows import OPS


@pytest.fixture
def message(shell):
    """Runs a plain command of a verb, for which no command is written."""

    def run(verb, *words):
        app = group("Memory")
        plain(app, verb)
        command = create(SimpleNamespace(GROUPS=(app,)))
        done = CliRunner().invoke(command, ["--url", shell.url, "--embedder", "hashed", verb, *words])
        assert done.exit_code == 0, (done.stdout, done.stderr)
        return done.stdout

    return run


def test_every_type_of_argument_can_be_typed(message):
    words = ["--tag", "a", "--tag", "b", "--metadata", '{"colour": "red"}', "--importance", ".7"]
    words += ["--occurred-at", "2026-03-01", "--kind", "fact", "--no-echo-guard", "--key", "port"]
    message("remember", "The port is 8080.", *words)
    document = json.loads(message("get", "port", "--json"))
    assert (document["tags"], document["metadata"], document["importance"]) == (
        ["a", "b"],
        {"colour": "red"},
        0.7,
    )
    assert (document["kind"], document["occurred_at"][:4]) == ("fact", "2026")
    assert json.loads(message("list", "--kind", "fact", "--json"))[0]["key"] == "port"


def test_the_help_is_the_docstring(message):
    shown = message("fading", "--help")
    assert "List important memories that are about to be forgotten." in shown
    assert "--below X" in shown
    assert "Maximum retrievability in a week; 0.75 by default" in shown


def test_an_answer_without_lines_of_its_own_is_shown_by_its_type(message):
    message("remember", "The port is 8080.", "--key", "port")
    assert message("get", "port").startswith("port\n  The port is 8080.\n")
    assert "duplicate" in message("remember", "The port is 8080.")
    assert "\nmemories " in message("status")
    assert message("forget", "port").splitlines()[0].split()[1] == "forget"


@each_row("op", [op for op in OPS if op.verb])
def test_a_command_can_be_made_of_every_verb_of_the_library(op):
    if op.at.startswith("priming."):
        app = group("Memory")
        plain(app, op.name)
        shown = CliRunner().invoke(create(SimpleNamespace(GROUPS=(app,))), [op.command, "--help"])
        assert op.declared.summary.split()[0] in shown.stdout
