"""What the doctor says of agents that are set up."""

import json

from priming.cli.options import StoreOptions
from priming_agents.setup import checks

from ..programs import install


def looked(shell):
    """The checks of agents: (status, detail, remedy) of each; and the exit status."""
    done = shell.run("doctor", "--json")
    rows = [row for row in json.loads(done.stdout) if row["name"] == "agents"]
    return [(row["status"], row["detail"], row["remedy"]) for row in rows], done.exit_code


def test_an_agent_that_is_set_up_whole_is_well_and_one_whose_command_is_missing_fails(shell, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    shell.ask("setup", "cursor", "--yes", "--shared")
    result, status = looked(shell)
    assert result[0][0] == "fail"
    assert "priming" in result[0][1]
    assert status == 1
    shell.ask("setup", "cursor", "--yes")
    result, status = looked(shell)
    assert (result[0][0], status) == ("ok", 0)
    (shell.folder / ".cursor" / "hooks.json").unlink()
    result, status = looked(shell)
    assert (result[0][0], status) == ("warn", 0)
    assert result[0][2] == "priming setup cursor --project"


def test_the_program_of_an_agent_that_is_set_up_is_checked_and_no_others(shell, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    shell.ask("setup", "codex", "--yes")

    def program():
        _, check = checks.agent_checks(StoreOptions())
        return check

    missing = "codex: codex is not on the PATH here; Codex 0.154.0 or newer is needed"
    assert (program().status, program().detail) == ("ok", missing)
    path = install(tmp_path, "codex", "codex-cli 0.118.0")
    install(tmp_path, "claude", "1.0.0")
    assert program().status == "fail"
    assert program().detail.startswith(f"codex: Codex 0.118.0 at {path}: ")
    assert "0.154.0 or newer" in program().detail
    assert program().remedy == "npm install -g @openai/codex"
    install(tmp_path, "codex", "none")
    assert program().status == "warn"
    install(tmp_path, "codex", "codex-cli 0.169.0")
    assert program().status == "ok"


def test_where_no_agent_is_set_up_that_is_well(shell):
    result, status = looked(shell)
    assert ([row[0] for row in result], status) == (["ok"], 0)
