"""Where the store is, by argument, environment and default."""

from pathlib import Path

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.config.environment import AgentSettings, agent_settings, global_folder, global_store, locate
from priming.config.store_urls import Location, url_of


@each_row(
    ("url", "path"),
    [
        ("sqlite:///notes.db", Path("notes.db")),
        ("sqlite:///a/b.db", Path("a/b.db")),
        ("sqlite:////var/lib/notes.db", Path("/var/lib/notes.db")),
        ("sqlite:///with%20space.db", Path("with space.db")),
        ("sqlite://", None),
        ("sqlite:///", None),
    ],
)
def test_three_slashes_are_relative_and_four_absolute(url, path):
    assert locate(url) == Location("sqlite", path)


def test_power_loss_is_survived_on_request():
    assert locate("sqlite:///notes.db?synchronous=FULL").synchronous == "full"


@each_row(
    "url",
    [
        "notes.db",
        "mysql://host/db",
        "sqlite://host/x.db",
        "sqlite:///:memory:",
        "sqlite:///x.db?mode=ro",
        "sqlite:///x?synchronous=off",
    ],
)
def test_another_url_is_refused_with_what_would_do(url):
    with pytest.raises(ParamError, match="url"):
        locate(url)


def test_the_environment_names_the_store_unless_an_argument_does(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # no work tree, which has the store of its repository
    monkeypatch.setenv("PRIMING_URL", "sqlite:///env.db")
    assert locate(None).path == Path("env.db")
    assert locate("sqlite:///given.db").path == Path("given.db")
    monkeypatch.delenv("PRIMING_URL")
    assert locate(None).path == Path(".priming/memory.db")


def test_the_global_store_is_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("PRIMING_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert global_store() == tmp_path / ".priming" / "memory.db"


def test_another_folder_for_the_global_store_is_taken_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path))
    assert global_store() == tmp_path / "memory.db"


@each_row("path", ["notes.db", "/var/lib/notes.db", "/with space/50%?x#y.db"])
def test_the_url_of_a_path_leads_to_it(path):
    assert locate(url_of(Path(path))) == Location("sqlite", Path(path))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a store, and a folder deep in it."""
    monkeypatch.delenv("PRIMING_URL", raising=False)
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path / "home"))
    (tmp_path / "project" / ".priming").mkdir(parents=True)
    (tmp_path / "project" / ".priming" / "memory.db").touch()
    (tmp_path / "project" / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "src" / "deep")
    return tmp_path / "project"


def test_the_store_of_a_project_is_found_from_any_folder_in_it(project):
    assert locate(None).path == project / ".priming" / "memory.db"


def test_a_repository_of_its_own_has_a_store_of_its_own(project):
    (project / "src" / ".git").mkdir()
    assert locate(None).path == Path(".priming/memory.db")


def test_the_store_of_all_projects_is_none_of_a_project(project, monkeypatch):
    monkeypatch.setenv("PRIMING_HOME", str(project / ".priming"))
    assert locate(None).path == Path(".priming/memory.db")


def test_settings_alone_make_a_folder_a_project(project):
    (project / ".priming" / "memory.db").rename(project / ".priming" / "config.toml")
    assert locate(None).path == project / ".priming" / "memory.db"


def test_a_store_in_the_folder_itself_comes_first(project, monkeypatch):
    monkeypatch.chdir(project)
    assert locate(None).path == Path(".priming/memory.db")


@pytest.fixture
def agentless(monkeypatch):
    """An environment that names no agent."""
    for name in ("PRIMING_AGENT", "PRIMING_MODEL", "PRIMING_AGENT_KEY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_where_nothing_names_an_agent_there_is_none(agentless):
    assert agent_settings() == AgentSettings()
    agentless.setenv("PRIMING_AGENT", "")
    assert agent_settings() == AgentSettings()


def test_the_environment_names_the_agent_unless_an_argument_does(agentless):
    agentless.setenv("PRIMING_AGENT", "claude -p")
    agentless.setenv("PRIMING_AGENT_KEY", "secret")
    assert agent_settings() == AgentSettings("claude -p", None, "secret")
    assert agent_settings("other").command == "other"
    assert agent_settings(model="http://localhost/v1,qwen3") == AgentSettings(
        None, "http://localhost/v1,qwen3", "secret"
    )
    assert agent_settings("").command == ""


def test_two_agents_are_one_too_many(agentless):
    with pytest.raises(ParamError, match=r"^--agent = 'claude': conflicts with --model, which also names"):
        agent_settings("claude", "http://localhost/v1,qwen3")
    agentless.setenv("PRIMING_AGENT", "claude")
    agentless.setenv("PRIMING_MODEL", "http://localhost/v1,qwen3")
    with pytest.raises(ParamError, match=r"^PRIMING_AGENT = 'claude': conflicts with PRIMING_MODEL"):
        agent_settings()


def test_the_key_is_not_shown(agentless):
    agentless.setenv("PRIMING_AGENT_KEY", "secret")
    assert "secret" not in repr(agent_settings("claude"))


def test_the_file_that_arc_names_is_the_store_unless_an_argument_or_our_own_variable_says_otherwise(
    monkeypatch, tmp_path
):
    monkeypatch.delenv("PRIMING_URL", raising=False)
    monkeypatch.setenv("ARC_DB_PATH", str(tmp_path / "an arc.db"))
    assert locate(None).path == tmp_path / "an arc.db"
    assert locate("sqlite:///given.db").path == Path("given.db")
    monkeypatch.setenv("PRIMING_URL", "sqlite:///env.db")
    assert locate(None).path == Path("env.db")


def test_home_is_read_in_the_variables_that_name_files(monkeypatch):
    monkeypatch.delenv("PRIMING_URL", raising=False)
    monkeypatch.setenv("HOME", "/home/kim")
    monkeypatch.setenv("ARC_DB_PATH", "~/arc.db")
    monkeypatch.setenv("PRIMING_HOME", "~/memories")
    assert locate(None).path == Path("/home/kim/arc.db")
    assert global_folder() == Path("/home/kim/memories")


def test_a_variable_of_arc_that_is_set_to_nothing_is_not_set(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRIMING_URL", raising=False)
    monkeypatch.setenv("ARC_DB_PATH", "")
    assert locate(None).path == Path(".priming/memory.db")
