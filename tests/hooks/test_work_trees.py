"""A linked work tree of git uses the store of its repository, by commands, hooks and setup, and outlives nothing."""

import json
import shutil
import subprocess

import pytest
from tests.cli.conftest import invoke

from priming_agents.calls import new_call
from priming_agents.command import Work, respond

RULE = "Always use tabs in Makefiles from now on."


def git(folder, *arguments):
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "one")
    return folder


@pytest.fixture
def repository(tmp_path, model):
    return shutil.copytree(model, tmp_path / "repository")


def trees(tmp_path, layout, repository):
    """Two work trees in which somebody works, and the folder in which their store belongs."""
    if layout == "linked":
        git(repository, "worktree", "add", "../tree")
        return repository, tmp_path / "tree", repository
    if layout == "inside":
        git(repository, "worktree", "add", "trees/one")
        return repository, repository / "trees" / "one", repository
    bare = tmp_path / ("bare.git" if layout == "bare" else "project/.bare")
    bare.parent.mkdir(exist_ok=True)
    git(tmp_path, "clone", "--bare", "repository", bare)
    git(bare, "worktree", "add", "../tree")
    if layout == "bare":
        git(bare, "worktree", "add", "-b", "two", "../two")
        return tmp_path / "two", tmp_path / "tree", bare
    (bare.parent / ".git").write_text("gitdir: ./.bare\n")
    return bare.parent, bare.parent / "tree", bare.parent


@pytest.mark.parametrize(
    ("first", "settings"), [("remember", True), ("hook", False), ("hook", True), ("setup", False)]
)
@pytest.mark.parametrize("layout", ["linked", "inside", "bare", "hidden"])
def test_work_trees_share_the_store_of_their_repository(
    tmp_path, repository, monkeypatch, layout, first, settings
):
    other, tree, home = trees(tmp_path, layout, repository)
    if settings:
        (tree / ".priming").mkdir()
        (tree / ".priming" / "config.toml").write_text('[store]\nnamespace = "default"\n')
    (tree / "deep").mkdir()
    monkeypatch.chdir(tree / "deep" if first != "setup" else tree)
    if first == "remember":
        assert invoke(["remember", "The disk is full."]).exit_code == 0
    elif first == "setup":
        assert invoke(["setup", "claude-code", "--yes"]).exit_code == 0
    payload = {"session_id": "s", "cwd": str(tree), "prompt": RULE}
    work = Work(new_call())
    respond("prompt", json.dumps(payload).encode(), attended=True, work=work)
    work.hosts.close()
    assert [*tmp_path.rglob("memory.db")] == [home / ".priming" / "memory.db"]
    git(other, "worktree", "remove", "--force", tree)
    monkeypatch.chdir(other)
    assert "tabs in Makefiles" in invoke(["active"]).stdout
