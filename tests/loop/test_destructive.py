"""What a person is asked about whatever was agreed: commands and files that cannot be had back."""

import pytest

from priming.config.params.loop import LoopParams
from priming.loop.destructive import why_destructive
from priming.looping import TaskPlan


@pytest.mark.parametrize(
    "command",
    [
        "rm -r build",
        "/bin/rm build",
        "sh -c 'cd build && rm -r .'",
        'echo "$(rm x)"',
        "make; git -C here push origin",
        "git reset --hard",
        "sqlite3 x.db 'DROP TABLE memories'",
        "sudo pytest",
        "mkfs.ext4 disk",
    ],
)
def test_a_command_that_destroys_is_seen_wherever_it_stands(command):
    assert why_destructive(TaskPlan("Tidy up", verify=command)) is not None


@pytest.mark.parametrize(
    "command",
    [None, "pytest -q", "pytest tests/test_rm.py", "git status", "push git", "grep removed x", "npm test"],
)
def test_other_commands_are_left_alone(command):
    assert why_destructive(TaskPlan("Check it", verify=command)) is None


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../other/x.py", "~/.bashrc", ".env", "deep/.env", "./.git/config", "keys/a.pem"]
)
def test_files_that_are_precious_or_elsewhere_are_seen(path):
    assert path in why_destructive(TaskPlan("Change it", (path,)))


@pytest.mark.parametrize("path", ["src/app.py", "environment.py", "docs/env.md"])
def test_other_files_are_left_alone(path):
    assert why_destructive(TaskPlan("Change it", (path,))) is None


def test_the_lists_are_parameters():
    params = LoopParams(destructive=("make deploy",), precious=())
    assert why_destructive(TaskPlan("Ship it", verify="make -j2 deploy"), params) is not None
    assert why_destructive(TaskPlan("Tidy up", (".env",), "rm x"), params) is None
