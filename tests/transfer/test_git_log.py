"""The history of a repository, read from a recorded output of ``git log``: without git, and without a process."""

import io
from contextlib import contextmanager

from priming.transfer import git_log
from priming.transfer.git import CO_CHANGED, ChangeCounts, Repository

LOG = (
    b"commit\0a1\0Ada\x002026-03-01T09:00:00+01:00\0Add the parser\n\0\0\n2\t0\ta.py\x001\t0\tb.py\0"
    b"commit\0b2\0Ada\x002026-03-02T09:00:00+01:00\0Rename it\n\0\0\n3\t1\ta.py\0-\t-\t\0b.py\0c.py\0"
)


def history(monkeypatch, tmp_path, edge=()):
    @contextmanager
    def recorded(_path, _hashes, _shown):
        yield io.BytesIO(LOG)

    monkeypatch.setattr(git_log, "_log", recorded)
    return list(
        git_log.history(Repository(tmp_path, tmp_path, "shop", bool(edge), frozenset(edge)), ["a1", "b2"])
    )


def test_commits_have_their_author_time_message_and_changes(monkeypatch, tmp_path):
    first, second = history(monkeypatch, tmp_path)
    assert (first.hash, first.author, first.message) == ("a1", "Ada", "Add the parser\n")
    assert [(change.path, change.added) for change in first.changes] == [("a.py", 2), ("b.py", 1)]
    renamed = second.changes[1]
    assert (renamed.path, renamed.before, renamed.added) == ("c.py", "b.py", 0)
    assert first.at < second.at


def test_the_first_commits_of_a_shallow_clone_have_no_changes(monkeypatch, tmp_path):
    first, second = history(monkeypatch, tmp_path, edge=["a1"])
    assert first.changes == []
    assert len(second.changes) == 2


def test_files_that_change_together_are_linked(monkeypatch, tmp_path):
    counts = ChangeCounts()
    for commit in history(monkeypatch, tmp_path):
        counts.add_commit(commit)
    ties = {(tie.source, tie.target, tie.relation) for tie in counts.ties()}
    assert ("file:a.py", "file:b.py", CO_CHANGED) in ties
