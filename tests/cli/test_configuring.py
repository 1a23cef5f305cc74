"""``priming config``, and commands that settings shape."""

import json

import pytest


@pytest.fixture
def home(shell, monkeypatch):
    """The user's folder."""
    folder = shell.folder / "home"
    folder.mkdir()
    monkeypatch.setenv("PRIMING_HOME", str(folder))
    monkeypatch.delenv("PRIMING_URL", raising=False)
    return folder


def of_project(shell, text):
    (shell.folder / ".priming").mkdir(exist_ok=True)
    (shell.folder / ".priming" / "config.toml").write_text(text, "utf-8")


def settings(shell, *arguments):
    return {one["name"]: one for one in shell.ask("config", *arguments)}


def test_every_setting_is_shown_with_its_source_and_what_it_shadows(shell, home):
    (home / "config.toml").write_text("[retrieval]\niterations = 2\n")
    of_project(shell, "[retrieval]\niterations = 4\n")
    found = settings(shell, "--profile", "ethos")
    assert found["retrieval.iterations"] == {
        "name": "retrieval.iterations",
        "value": 4,
        "source": ".priming/config.toml:2",
        "shadows": [[f"{home}/config.toml:2", 2], ["default", 3]],
    }
    assert (found["store.profile"]["value"], found["store.profile"]["source"]) == ("ethos", "--profile")
    assert (found["store.url"]["value"], found["store.url"]["source"]) == (shell.url, "PRIMING_URL")
    assert found["server.body_bytes"]["source"] == "default"


def test_people_see_a_table_without_the_limits_that_nobody_chose(shell, home):
    (home / "config.toml").write_text("[server]\nrate = 20\n")
    shown = shell.run("config").stdout
    (rate,) = [row.split() for row in shown.splitlines() if row.startswith("server.rate ")]
    assert rate == ["server.rate", "20", f"{home}/config.toml:2", "500", "(default)"]
    assert "server.body_bytes" not in shown
    assert "limits of the server are the default" in shown


def test_a_secret_is_not_shown(shell, monkeypatch):
    monkeypatch.setenv("PRIMING_AGENT_KEY", "sk-123")
    assert settings(shell)["agent.key"]["value"] == "set"
    assert "sk-123" not in shell.run("config").stdout


def test_what_is_wrong_is_listed_by_check_and_stops_everything_else(shell, home):
    (home / "config.toml").write_text("[retrieval]\niteration = 2\niterations = -1\n")
    done = shell.run("config", "--check", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == [
        f"{home}/config.toml:2: retrieval.iteration is not a setting: did you mean iterations?",
        f"{home}/config.toml:3: retrieval.iterations = -1: must be ≥ 0",
    ]
    for command in (["config"], ["list"], ["recall", "x"]):
        done = shell.run(*command)
        assert done.exit_code == 2
        assert "did you mean iterations?; " in done.stderr


def test_check_is_content_where_nothing_is_wrong(shell, home):
    assert home.is_dir()
    done = shell.run("config", "--check")
    assert (done.exit_code, done.stdout) == (0, "nothing is wrong\n")


def test_the_files_choose_store_namespace_and_profile_of_a_command(shell, home):
    assert home.is_dir()
    of_project(shell, '[store]\nurl = "sqlite:///own.db"\nnamespace = "shop"\nprofile = "ethos"\n')
    done = shell.process("remember", "The disk was full.", "--json", environment={"PRIMING_URL": ""})
    assert done.returncode == 2
    assert b"PRIMING_URL = ''" in done.stderr
    shell.process("remember", "The disk was full.", environment={"PRIMING_URL": None})
    status = json.loads(shell.process("status", "--json", environment={"PRIMING_URL": None}).stdout)
    assert (status["namespace"], status["profile"], status["memories"]) == ("shop", "ethos", 1)
    assert (shell.folder / ".priming" / "own.db").is_file()


def test_the_global_store_heeds_no_project(shell, home):
    of_project(shell, '[store]\nnamespace = "shop"\n')
    (home / "config.toml").write_text('[store]\nnamespace = "mine"\n')
    assert shell.ask("status")["namespace"] == "shop"
    assert settings(shell, "--global")["store.namespace"]["value"] == "mine"


def test_debug_logs_the_steps_of_a_spread_to_stderr(shell, home, monkeypatch):
    assert home.is_dir()
    for text in ("the disk was full", "the disk is full again"):
        shell.ask("remember", text, "--session", "monday")
    monkeypatch.setenv("PRIMING_SERVICE_LOG_LEVEL", "debug")
    done = shell.run("recall", "disk", "--json")
    steps = json.loads(shell.run("recall", "disk", "--json", "--trace").stdout)["spread"]
    said = [json.loads(row.partition(": step ")[2].partition(": ")[2]) for row in done.stderr.splitlines()]
    assert said == [pytest.approx(one, rel=1e-5) for one in steps]
    monkeypatch.delenv("PRIMING_SERVICE_LOG_LEVEL")
    assert shell.run("recall", "disk", "--json").stderr == ""
