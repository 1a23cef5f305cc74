"""Real git repositories, and a distribution of importers installed for one test, as files on the path."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from priming import Memory
from priming.embedding.protocol import HashedEmbedder
from priming.transfer.importers import Skipped

MODULE = """
import json
from priming.transfer.importers import Entry, Tie

def lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            if value == "stop":
                raise KeyboardInterrupt
            yield Tie(**value) if "relation" in value else Entry(value)

def wrong(path):
    yield {"content": "neither an Entry nor a Tie"}
"""


def strictly(items):
    """Items of which none is skipped: the first that is raises its error."""
    for item in items:
        if isinstance(item, Skipped):
            raise item.error
        yield item


class Work:
    """A repository made by the real git, with the author and the date of each commit given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words, at="2026-03-01T09:00:00+01:00", author="Ada Byron", stdin=None):
        who = {"NAME": author, "EMAIL": "someone@example.org", "DATE": at}
        named = {
            f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in who.items()
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", "-c", "commit.gpgSign=false", *words],
            cwd=self.folder,
            env={**inherited, **named, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, name, text):
        file = Path(os.fsdecode(os.fsencode(self.folder) + b"/" + name)) if isinstance(name, bytes) else None
        file = file or self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def commit(self, message, files=(), **who):
        """Commit ``files`` (name → text, or names whose text is the message); the commit's hash."""
        for name in files:
            self.write(name, files[name] if isinstance(files, dict) else f"{message}\n{name!r}\n")
        self.git("add", "--all")
        raw = message if isinstance(message, bytes) else message.encode()
        options = ("--quiet", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "--file=-")
        self.git("commit", *options, stdin=raw, **who)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path / "work")


@pytest.fixture
def memory():
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as opened:
        yield opened


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Importers ``lines``, ``wrong``, ``gone`` and ``typo``, as real entry points."""
    site = tmp_path / "site"
    about = site / "mail_importers-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "mail_importers.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mail-importers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[priming.importers]\nlines = mail_importers:lines\nwrong = mail_importers:wrong\n"
        "gone = no_such_module:read\ntypo = mail_importers:lnes\n"
    )
    monkeypatch.syspath_prepend(str(site))
    return site
