"""The demo, run as a newcomer runs it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.cli.conftest import invoke

from priming import Memory

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "demo" / "demo.py"
SUBJECTS = """
    Add a reader for invoices|Parse amounts with a decimal comma|Refuse negative totals
    Send reminders by e-mail|Retry the mail server when it is busy|Back off between attempts
    Write the handbook|Translate the handbook into German|Cache exchange rates for a day
    Drop stale rates at midnight in Frankfurt|Print on A4 paper|Fit long addresses into the envelope
    Check postcodes of the Netherlands|Speed up the search for customers|Show a bar while exporting
    Keep the cursor where it was|Sort names by the Danish alphabet|Colour overdue items red
    Lock the ledger during an audit|Round interest to the nearest cent|Warn before deleting a folder
    Forget passwords after logout|Compress archives older than a year|Log who approved a payment
    Accept umlauts in search
"""
HISTORY = [subject.strip() for line in SUBJECTS.strip().split("\n") for subject in line.split("|")]
TIMED = re.compile(r"^\$ (priming .*?)  +[\d.]+ m?s$", re.MULTILINE)
HEADING = re.compile(r"^(?=\d\. .* ─+$)", re.MULTILINE)


def git(folder, *words, at=None):
    rest = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {
        f"GIT_{role}_{part}": "ada@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *words], cwd=folder, env=rest | who | dates | plain, check=True, capture_output=True
    )


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A repository of 25 commits, five a day."""
    folder = tmp_path_factory.mktemp("ledger")
    git(folder, "init", "--quiet")
    for i, subject in enumerate(HISTORY):
        (folder / f"part{i % 4}.py").write_text(subject)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", subject, at=f"2026-03-0{1 + i // 5}T09:{i:02}:00Z")
    return folder


def demo(*words, **environment):
    command = [sys.executable, "-W", "error", str(DEMO), *map(str, words)]
    settings = {"COLUMNS": "100", "PRIMING_URL": "sqlite:////nowhere/at/all.db", **environment}
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.fixture(scope="module")
def notes(history):
    """What the demo says of that history."""
    return demo("--repository", history)


def scenes(output):
    """The scenes by their headings: each timed, in half a screen of 100 columns."""
    parts = HEADING.split(output.partition("\nThe whole demo took")[0])[1:]
    for part in parts:
        assert TIMED.search(part), part
        assert part.rstrip().count("\n") < 20, part
    assert max(map(len, output.split("\n"))) <= 100
    assert re.search(r"^The whole demo took [\d.]+ m?s ─", output, re.MULTILINE)
    return {part.split("─")[0].split(". ", 1)[1].strip(): " ".join(part.split()) for part in parts}


NOTES = (
    "An answer that shares no word with the question",
    "A wrong hit, marked",
    "A corrected rule, in force",
)
FILES, MOVED = "The files that a task will touch", "Where something is, though its file has moved"


def test_the_reason_is_the_second_hit_over_a_name_and_no_plain_method_brings_it_so_high(notes):
    answer = scenes(notes)[NOTES[0]]
    assert (
        "2 printer Tomas, 20 Feb The printer at the pier is called Tern. It needs paper 80 mm wide, and"
        in answer
    )
    assert "tern-dark ─mentions→ entity:tern ─mentions→ printer" in answer
    plain = re.search(r"BM25 (not at all|\d+), vectors (\d+), both (\d+)\.", answer)
    assert all(place == "not at all" or int(place) > 2 for place in plain.groups())


def test_the_wrong_hit_stood_above_the_reason_and_is_gone_after_the_verdict(notes):
    answer = scenes(notes)[NOTES[1]]
    assert "bluefin-contract Ruth, 09 Feb wrong: what payments cost" in answer
    assert "cards-refused ─mentions→ entity:bluefin ─mentions→ bluefin-contract" in answer
    right_before, right_now = map(
        int, re.search(r"bluefin-hour +place (\d+) before, place (\d+) now", answer).groups()
    )
    wrong_before = int(re.search(r"bluefin-contract +place (\d+) before, not returned now", answer).group(1))
    assert wrong_before < right_before
    assert right_now < right_before


def test_the_agent_hears_the_rule_and_after_the_correction_only_its_reversal(notes):
    answer = scenes(notes)[NOTES[2]]
    before, after = (part.split("$ ")[0] for part in answer.split("$ priming active")[1:])
    assert 'directive: "Restart the fare-api in the lunch break."' in before
    assert "Never restart the fare-api in the lunch break." in after
    assert "directive" not in after
    assert after.count("the agent hears") == 1


def test_the_command_line_reads_every_command_that_is_shown(notes):
    for line in TIMED.findall(notes):
        result = invoke([*shlex.split(line)[1:], "--help"])
        assert result.exit_code == 0, f"{line}: {result.stderr}"


def test_a_history_is_asked_for_the_files_of_commits_that_are_imported_after_the_answer(history, tmp_path):
    store = tmp_path / "kept here" / "memory.db"
    output = demo("--repository", history, "--store", store)
    answer = scenes(output)
    assert list(answer) == [NOTES[0], FILES, *NOTES[1:]]
    assert f"Imported the git history of {history.name} in" in answer[FILES]
    assert "but for the newest commits: 20 commits" in answer[FILES]
    assert re.search(r"1 part\d\.py (✓ touched )?commit:[0-9a-f]{12} “[^”]+” ─touches→ it", answer[FILES])
    assert re.search(
        r"It is the best of 5 such tasks: on average, \d+ % of what a commit touched", answer[FILES]
    )
    assert "Imported the 5 commits left, in" in answer[FILES]
    assert quote(str(store)) in "".join(output.split("\n"))
    with Memory.open(f"sqlite:///{store}", namespace="history") as memory:
        assert memory.stats().memories["episode"]["active"] == 25
    again = demo("--repository", history, "--store", store, PYTHONIOENCODING="ascii")
    assert "A corrected rule, in force" in again
    assert "An earlier run marked bluefin-contract: it is not returned any more." in " ".join(again.split())


def test_without_a_history_the_demo_says_so_and_goes_on_with_the_notes(tmp_path):
    output = demo("--repository", tmp_path)
    answer = scenes(output)
    assert list(answer) == [NOTES[0], FILES, *NOTES[1:]]
    assert "No git history to use: the folder is no git repository with commits" in answer[FILES]
    assert '1 discounts.py "A dog and a child together were charged twice."' in answer[FILES]
    assert "Its store was temporary and is gone." in output


def test_a_shallow_history_is_not_used(history, tmp_path):
    git(tmp_path, "clone", "--quiet", "--depth=3", history.as_uri(), "shallow")
    answer = scenes(demo("--repository", tmp_path / "shallow"))
    assert "No git history to use: it is shallow, cut off after 3 commits." in answer[FILES]


def test_this_repository_is_asked_where_things_are_that_have_moved():
    output = demo()
    if "No git history to use" in output:
        pytest.skip("this copy of the repository has no whole history")
    answer = scenes(output)[MOVED]
    assert "1 src/priming/text/dates.py" in answer
    assert "─renamed-to→ file:src/priming/text/dates.py" in answer
