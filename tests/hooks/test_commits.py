"""A commit settles the session's runs, whatever git printed: by git's own log, or by the agent's report."""

import subprocess

import pytest

ZERO, MAIL = "0" * 40, "Ann <ann@example.org>"


def log(project, *entries, git=".git"):
    """Write to git's log of HEAD as git does."""
    path = project.folder / git / "logs" / "HEAD"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for seconds, text in entries:
            file.write(f"{ZERO} {ZERO[1:]}1 {MAIL} {seconds} +0100\t{text}\n")


def run(project, command, *entries, response=None, git=".git", before=True):
    """Run a command between two hooks, which writes entries to git's log."""
    tool = {"tool_name": "Bash", "tool_input": {"command": command}}
    if before:
        project.hook("pre-tool", **tool)
    log(project, *entries, git=git)
    project.hook("post-tool", **tool, tool_response=response or {"stdout": "", "stderr": ""})


def settled(project):
    with project.memory() as memory:
        return memory.run_list()[-1].settled


@pytest.fixture
def begun(project):
    """A project in a session that was shown something."""
    assert project.text("session-start", source="startup")
    return project


NOW = 2_000_000_000


@pytest.mark.parametrize(
    ("command", "entry"),
    [
        ("git commit -q -m x", "commit: x"),
        ("git commit -qam 'Mend the gate' > /dev/null", "commit (initial): Mend the gate"),
        ("git add -A && git commit --quiet --amend --no-edit", "commit (amend): x"),
        ("git merge --quiet --no-edit topic", "commit (merge): Merge branch 'topic'"),
        ("git cherry-pick abc", "cherry-pick: x"),
        ("git revert --no-edit HEAD", "revert: Revert x"),
        ("make publish", "commit: Release 1.2"),
        ("./save.sh", "commit: x"),
    ],
)
def test_a_commit_in_gits_log_settles_the_run_though_nothing_was_printed(begun, command, entry):
    log(begun, (1, "commit: an earlier one"))
    run(begun, command, (NOW, entry))
    assert settled(begun) == "used"


@pytest.mark.parametrize(
    ("command", "entry"),
    [
        ("git checkout topic", "checkout: moving from main to topic"),
        ("git reset --hard HEAD~1", "reset: moving to HEAD~1"),
        ("git pull -q", "pull: Fast-forward"),
        ("git merge topic", "merge topic: Fast-forward"),
    ],
)
def test_a_head_that_moves_without_a_commit_settles_nothing(begun, command, entry):
    run(begun, command, (NOW, entry))
    assert settled(begun) is None


@pytest.mark.parametrize("command", ["git commit -q -m x", "git commit --dry-run", "ls"])
def test_a_commit_before_the_command_settles_nothing(begun, command):
    log(begun, (NOW, "commit: by somebody else"))
    run(begun, command)
    assert settled(begun) is None


def test_a_commit_counts_from_the_beginning_of_the_session_where_no_hook_saw_the_command_begin(begun):
    run(begun, "git commit -q -m x", (1, "commit: before the session"), before=False)
    assert settled(begun) is None
    with begun.memory() as memory:
        assert memory.run_list()


def test_a_commit_that_no_hook_saw_begin_settles_the_run(begun):
    run(begun, "git commit -q -m x", (NOW, "commit: x"), before=False)
    assert settled(begun) == "used"


def test_commands_that_run_side_by_side_do_not_hide_a_commit(begun):
    begun.hook("pre-tool", tool_name="Bash", tool_input={"command": "git commit -q -m x"})
    log(begun, (NOW, "commit: x"))
    begun.hook("pre-tool", tool_name="Bash", tool_input={"command": "ls"})
    begun.hook("post-tool", tool_name="Bash", tool_input={"command": "git commit -q -m x"}, tool_response={})
    assert settled(begun) == "used"


@pytest.mark.parametrize(
    "command", ["git -C lib commit -q -m x", "cd lib && git commit -q -m x", "cd 'lib'; ./save"]
)
def test_a_commit_in_another_repository_that_the_command_names_counts(begun, command):
    (begun.folder / "lib" / ".git").mkdir(parents=True)
    run(begun, command, (NOW, "commit: x"), git="lib/.git")
    assert settled(begun) == "used"


def test_a_commit_in_a_work_tree_counts(begun):
    (begun.folder / "tree").mkdir()
    (begun.folder / "tree" / ".git").write_text("gitdir: ../.git/worktrees/tree\n")
    run(begun, "cd tree && git commit -q -m x", (NOW, "commit: x"), git=".git/worktrees/tree")
    assert settled(begun) == "used"


def test_the_clients_own_report_of_a_commit_settles_the_run(begun):
    commit = {"sha": "f5dd3dd", "kind": "committed"}
    run(begun, "./save", response={"stdout": "", "stderr": "", "gitOperation": {"commit": commit}})
    assert settled(begun) == "used"


@pytest.mark.parametrize(
    "operation", [None, [], {}, {"push": {"branch": "main"}}, {"commit": None}, {"commit": {}}]
)
def test_any_other_report_settles_nothing(begun, operation):
    run(begun, "./save", response={"stdout": "", "gitOperation": operation})
    assert settled(begun) is None


def test_a_line_that_only_quotes_a_commit_settles_nothing(begun):
    run(begun, "cat notes", response={"stdout": "[main 1a2b3c4] x\n 1 file changed"})
    assert settled(begun) is None


@pytest.mark.slow
def test_git_itself_writes_that_log(begun):
    environment = {
        "HOME": str(begun.folder),
        "PATH": "/usr/bin:/bin:/usr/local/bin",
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def git(*words):
        names = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        subprocess.run(["git", *names, *words], cwd=begun.folder, env=environment, check=True, timeout=60)

    (begun.folder / ".git").rmdir()
    git("init", "-q", ".")
    for command in (("checkout", "-q", "-b", "topic"), ("commit", "-q", "--allow-empty", "-m", "x")):
        tool = {"tool_name": "Bash", "tool_input": {"command": " ".join(["git", *command])}}
        assert settled(begun) is None
        begun.hook("pre-tool", **tool)
        git(*command)
        begun.hook("post-tool", **tool, tool_response={"stdout": ""})
    assert settled(begun) == "used"
