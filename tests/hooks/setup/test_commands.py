"""The commands ``setup`` and ``hook``; what is written is tested beside this."""

import json
import tomllib

import pytest
from tests.rows import each_row

from ..programs import install


@pytest.fixture(autouse=True)
def programs(shell, monkeypatch, tmp_path_factory):
    """A home folder of the test's own, and a folder that is the whole PATH."""
    folder = tmp_path_factory.mktemp("programs")
    monkeypatch.setenv("HOME", str(shell.folder / "home"))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def contents(folder):
    files = {path for path in folder.rglob("*") if path.is_file() and path.name != "key"}  # of this machine
    return {path: path.read_bytes() for path in files}


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


@pytest.mark.parametrize(
    ("answer", "options", "value", "text"),
    [
        ("yes", (), "on", ""),
        ("yes", (), "on", "[hooks]\nserver = 'off'\ncapture = 'ask'"),
        ("yes", (), "on", "hooks.server = 'off'\n"),
        ("n", (), "off", "[store]\nprofile = 'poc'\n"),
        ("n", (), "off", "hooks.server = 'off'\n"),
        ("later", (), "ask", ""),
        ("", (), "ask", "[hooks]\nserver = 'off'\ncapture = 'ask'"),
        ("", ("--capture", "on"), "on", "[store]\nprofile = 'poc'\n"),
        ("", ("--capture", "off", "--yes"), "off", "[hooks]\nserver = 'off'\ncapture = 'ask'"),
        ("", ("--yes",), "ask", "hooks.server = 'off'\n"),
    ],
)
def test_setup_asks_once_whether_sessions_are_stored_and_shows_the_answer(
    shell, home, answer, options, value, text
):
    path = home / ".priming" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = shell.run("setup", "claude-code", *options, stdin=f"y\n{answer}\n" if answer else "y\n")
    assert done.exit_code == 0
    assert f"capture  {value}" in done.stdout
    before = tomllib.loads(text)
    after = tomllib.loads(path.read_text())
    assert after.get("hooks", {}).get("capture", "ask") == value
    assert {**before, "hooks": {**before.get("hooks", {}), "capture": value}} == {
        **after,
        "hooks": {**after.get("hooks", {}), "capture": value},
    }
    again = shell.run("setup", "claude-code", stdin="")
    assert ("Store a memory of each session" in again.stderr) == (value == "ask")


@pytest.mark.parametrize("text", ["[ hooks ]\nserver = 'off'\n", "hooks = {server = 'off'}\n", "= broken\n"])
def test_settings_of_a_form_that_is_not_understood_stay_as_they_are(shell, home, text):
    path = home / ".priming" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = shell.run("setup", "claude-code", "--yes", "--capture", "on")
    assert done.exit_code == 2
    assert "by hand" in done.stderr or "broken" in text
    assert path.read_text() == text


def test_setup_writes_for_a_program_only_with_yes(shell):
    before = contents(shell.folder)
    planned = shell.ask("setup", "cursor")
    assert not planned["written"]
    assert "+++" in planned["files"][0]["diff"]
    assert contents(shell.folder) == before
    done = shell.ask("setup", "cursor", "--yes")
    assert done == {**planned, "written": True}
    unchanged = {"files": [], "written": False, "store": {"path": done["store"]["path"], "action": None}}
    assert shell.ask("setup", "cursor", "--yes") == {**done, **unchanged}
    assert shell.ask("setup", "cursor", "--remove", "--yes")["written"]
    assert contents(shell.folder) == before


@each_row(
    ("arguments", "message"),
    [
        (["emacs"], "must be one of"),
        (["cursor", "--user", "--project"], "cannot be combined with --project"),
        (["cursor", "--user", "--shared"], "cannot be combined with --shared"),
        (["cursor", "--capture", "ask"], "must be on or off"),
        (["cursor", "--url", "sqlite:///other.db"], "cannot be combined with setup"),
    ],
)
def test_setup_refuses_bad_arguments(shell, arguments, message):
    done = shell.run("setup", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_setup_says_where_the_store_the_command_and_the_agents_program_are(shell, programs):
    path = install(programs, "claude", "2.1.197 (Claude Code)")
    done = shell.run("setup", "claude-code", "--yes")
    lines = done.stdout.splitlines()
    assert f"created  {shell.folder}/memory.db  a store, which git ignores" in lines
    assert f"agent    Claude Code 2.1.197 at {path}" in lines
    (command,) = [line.removeprefix("command  ") for line in lines if line.startswith("command  ")]
    assert json.loads((shell.folder / ".mcp.json").read_text())["mcpServers"]["priming"]["command"] == command
    assert command.startswith("/")
    before = contents(shell.folder)
    again = shell.run("setup", "claude-code", "--yes")
    assert again.stdout.splitlines()[0] == "claude-code: it is already set up: nothing was changed"
    assert contents(shell.folder) == before


def test_setup_below_the_root_of_a_repository_says_who_reads_its_files(shell, monkeypatch):
    (shell.folder / ".git").mkdir()
    warning = f"An agent that starts in {shell.folder} does not read these files: run setup there too."
    assert warning not in shell.run("setup", "gemini", "--yes").stdout
    (shell.folder / "lib").mkdir()
    monkeypatch.chdir(shell.folder / "lib")
    for _ in range(2):
        assert warning in shell.run("setup", "claude-code", "--yes").stdout.splitlines()
    assert warning not in shell.run("setup", "claude-code", "--user", "--yes").stdout


def test_setup_for_a_team_names_the_command_and_says_what_that_needs(shell):
    done = shell.run("setup", "gemini", "--shared", "--yes")
    assert "It must be on the PATH of whatever starts the agent." in done.stdout
    assert "gemini is not on the PATH: Gemini CLI 0.27.0 or newer is needed" in done.stdout
    settings = json.loads((shell.folder / ".gemini" / "settings.json").read_text())
    assert settings["mcpServers"]["priming"]["command"] == "priming"


def test_setup_refuses_a_version_that_cannot_load_it_and_removes_all_the_same(shell, programs):
    shell.ask("setup", "opencode", "--yes")
    before = contents(shell.folder)
    install(programs, "opencode", "1.0.152")
    done = shell.run("setup", "opencode", "--yes")
    assert done.exit_code == 2
    assert "opencode 1.0.152 at" in done.stderr
    assert "1.3.17 or newer" in done.stderr
    assert contents(shell.folder) == before
    assert shell.ask("setup", "opencode", "--remove", "--yes")["written"]


def test_setup_refuses_a_file_that_it_cannot_parse(shell):
    (shell.folder / ".mcp.json").write_text(json.dumps([]))
    done = shell.run("setup", "claude-code", "--yes")
    assert done.exit_code == 2
    assert ".mcp.json" in done.stderr
