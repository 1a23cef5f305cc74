"""The commands ``setup`` and ``hook``; what is written is tested in tests/hooks."""

import json

import pytest


@pytest.fixture(autouse=True)
def home(shell, monkeypatch):
    """A home folder of the test's own."""
    monkeypatch.setenv("HOME", str(shell.folder / "home"))


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_setup_shows_the_changes_and_asks_before_it_writes(shell):
    before = contents(shell.folder)
    done = shell.run("setup", "claude-code", stdin="n\n")
    assert done.exit_code == 1
    assert '+    "priming": {' in done.stdout
    assert f"+++ {shell.folder}/.mcp.json" in done.stdout
    assert "nothing was written" in done.stderr
    assert contents(shell.folder) == before
    done = shell.run("setup", "claude-code", stdin="y\n")
    assert done.exit_code == 0
    assert (shell.folder / ".mcp.json").is_file()


def test_setup_writes_for_a_program_only_with_yes(shell):
    before = contents(shell.folder)
    planned = shell.ask("setup", "cursor")
    assert not planned["written"]
    assert "+++" in planned["files"][0]["diff"]
    assert contents(shell.folder) == before
    done = shell.ask("setup", "cursor", "--yes")
    assert done == {**planned, "written": True}
    assert shell.ask("setup", "cursor", "--yes") == {**done, "files": [], "written": False}
    assert shell.ask("setup", "cursor", "--remove", "--yes")["written"]
    assert contents(shell.folder) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["emacs"], "must be one of"), (["cursor", "--user", "--project"], "cannot be combined with --project")],
)
def test_setup_refuses_bad_arguments(shell, arguments, message):
    done = shell.run("setup", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_setup_refuses_a_file_that_it_cannot_parse(shell):
    (shell.folder / ".mcp.json").write_text(json.dumps([]))
    done = shell.run("setup", "claude-code", "--yes")
    assert done.exit_code == 2
    assert ".mcp.json" in done.stderr
