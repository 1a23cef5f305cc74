"""A whole setup and its removal: the store of the project, and what is reported."""

import subprocess

import pytest

from priming import Memory
from priming.config.settings import load
from priming_agents.setup import files, work


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A new repository, which is the working folder, on a machine without any agent."""
    repository = tmp_path / "my shop"
    (repository / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    return repository


def test_a_setup_creates_a_store_that_git_ignores_and_the_second_changes_nothing(folder):
    first = work.plan_setup("claude-code", load({}), user=False)
    assert first.store_action == work.CREATE
    first.carry_out()
    store = folder / ".priming" / "memory.db"
    assert store.stat().st_size > 0
    assert (folder / ".priming" / ".gitignore").read_text() == "*\n"
    again = work.plan_setup("claude-code", load({}), user=False)
    assert again.is_empty
    assert again.database == store
    other = work.plan_setup("gemini", load({}), user=False)
    assert other.store_action is None


def test_the_store_is_at_the_root_of_the_repository(folder, monkeypatch):
    monkeypatch.chdir(folder / "src")
    work.plan_setup("codex", load({}), user=False).carry_out()
    assert (folder / ".priming" / "memory.db").is_file()
    assert (folder / "src" / ".codex" / "hooks.json").is_file()


def test_a_setup_for_the_user_or_where_hooks_create_no_store_creates_none(monkeypatch):
    assert work.plan_setup("codex", load({}), user=True).store_action is None
    monkeypatch.setenv("PRIMING_HOOKS_CREATE", "off")
    assert work.plan_setup("codex", load({}), user=False).store_action is None


def test_the_removal_deletes_an_unused_store_and_leaves_nothing_behind(folder):
    before = sorted(folder.rglob("*"))
    work.plan_setup("gemini", load({}), user=False).carry_out()
    removal = work.plan_removal("gemini", load({}), user=False)
    assert removal.store_action == work.DELETE
    removal.carry_out()
    assert sorted(folder.rglob("*")) == before
    assert work.plan_removal("gemini", load({}), user=False).is_empty


def test_the_removal_keeps_a_store_in_which_anything_was_stored(folder):
    work.plan_setup("opencode", load({}), user=False).carry_out()
    with Memory.open() as memory:
        memory.remember("The key is under the mat.", key="key")
        memory.undo("last")
    removal = work.plan_removal("opencode", load({}), user=False)
    assert removal.store_action is None
    removal.carry_out()
    assert (folder / ".priming" / "memory.db").is_file()
    assert files.configured_files("opencode", "project") == []


def test_a_store_with_files_of_others_beside_it_leaves_them_their_folder(folder):
    work.plan_setup("cursor", load({}), user=False).carry_out()
    (folder / ".priming" / "notes.txt").write_text("mine")
    work.plan_removal("cursor", load({}), user=False).carry_out()
    assert [path.name for path in (folder / ".priming").iterdir()] == ["notes.txt"]
