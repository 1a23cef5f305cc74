"""Where the store is, by argument, environment and default."""

from pathlib import Path

import pytest

from priming import ParamError
from priming.config import Location, global_store, locate, setting, url_of


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


def test_the_environment_names_the_store_unless_an_argument_does(monkeypatch):
    monkeypatch.setenv("PRIMING_URL", "sqlite:///env.db")
    assert locate(None).path == Path("env.db")
    assert locate("sqlite:///given.db").path == Path("given.db")
    monkeypatch.delenv("PRIMING_URL")
    assert locate(None).path == Path(".priming/memory.db")


def test_an_argument_comes_before_the_environment_and_that_before_the_default(monkeypatch):
    monkeypatch.setenv("PRIMING_PROFILE", "ethos")
    assert setting("profile", None, "priming") == "ethos"
    assert setting("profile", "poc", "priming") == "poc"
    monkeypatch.delenv("PRIMING_PROFILE")
    assert setting("profile", None, "priming") == "priming"


def test_the_global_store_is_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("PRIMING_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert global_store() == tmp_path / ".priming" / "memory.db"


def test_another_folder_for_the_global_store_is_taken_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path))
    assert global_store() == tmp_path / "memory.db"


@pytest.mark.parametrize("path", ["notes.db", "/var/lib/notes.db", "/with space/50%?x#y.db"])
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


def test_a_store_in_the_folder_itself_comes_first(project, monkeypatch):
    monkeypatch.chdir(project)
    assert locate(None).path == Path(".priming/memory.db")
