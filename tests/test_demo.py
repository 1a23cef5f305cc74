"""The demo, run as a newcomer runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from priming import Memory
from priming.text.tokens import terms

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
HIT = re.compile(r"^ ?\d+\. [+-]\d\.\d{3}  \S+", re.MULTILINE)
FOUND = re.compile(
    r"“([^”]+)” brought up, at rank (\d+), “[^”]+” \((\S+)\), reached by (\S+ ─[^(]+) \([\d.]+\)\."
)


def git(folder, *words, at=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {
        f"GIT_{role}_{part}": "ada@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *words], cwd=folder, env=kept | who | dates | plain, check=True, capture_output=True
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
    settings = {"COLUMNS": "80", "PRIMING_URL": "sqlite:////nowhere/at/all.db", **environment}
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return done.stdout.decode()


def assert_three_answers(output):
    """Three questions, each with its time, hits, components and how they were reached, on 80 columns."""
    assert len(re.findall(r"^recalled in [\d.]+ ms: refresh [\d.]+ · evidence", output, re.MULTILINE)) == 3
    assert len(HIT.findall(output)) >= 9
    assert len(re.findall(r"^    activation [\d.]+ · ", output, re.MULTILINE)) >= 9
    assert re.search(
        r"^    (an anchor: matched by the question itself|reached by \S+ ─)", output, re.MULTILINE
    )
    assert re.search(r"Imported in [\d.]+ s: [\d,]+ new memories", output)
    assert re.search(r"The whole demo took [\d.]+ s\.", output)
    assert max(map(len, output.split("\n"))) <= 80


def pointed_out(output):
    """What the demo says was found without a word in common: question, rank, key, path."""
    closing = output.split("Found without a word in common", 1)[1]
    return FOUND.findall(" ".join(closing.split()))


def test_the_demo_asks_a_history_three_questions_and_keeps_its_store(history, tmp_path):
    store = tmp_path / "kept here" / "memory.db"
    output = demo("--repository", history, "--store", store)
    assert_three_answers(output)
    assert f"The git history of {history.name}: 25 commits." in output
    assert str(store) in "".join(output.split("\n"))
    found = pointed_out(output)
    assert found
    with Memory.open(f"sqlite:///{store}") as memory:
        for question, rank, key, path in found:
            record = memory.get(key)
            assert not set(terms(question)) & set(terms(f"{record.content} {record.speaker}"))
            hit = memory.recall(question).hits[int(rank) - 1]
            assert hit.memory.key == key
            assert path.startswith(hit.path[0].source)
            assert path.endswith(f"→ {key}")


def test_the_demo_run_again_on_a_kept_store_finds_everything_there(history, tmp_path):
    store = tmp_path / "memory.db"
    demo("--repository", history, "--store", store)
    again = demo("--repository", history, "--store", store, PYTHONIOENCODING="ascii")
    assert re.search(r"Imported in [\d.]+ s: 0 new memories, .*there already", " ".join(again.split()))
    assert len(HIT.findall(again)) >= 9


def test_without_a_history_the_demo_asks_the_standard_library(tmp_path):
    output = demo("--repository", tmp_path)
    assert_three_answers(output)
    assert "No history to use: " in output
    assert "must be a git repository" in " ".join(output.split())
    assert "the standard library's documentation strings instead" in output
    assert pointed_out(output)
    assert "Its store was temporary and is gone." in " ".join(output.split())


def test_a_shallow_history_is_told_and_not_used(history, tmp_path):
    git(tmp_path, "clone", "--quiet", "--depth=3", history.as_uri(), "shallow")
    output = demo("--repository", tmp_path / "shallow")
    assert "No history to use: it is shallow, cut off after 3 commits." in output
    assert_three_answers(output)
